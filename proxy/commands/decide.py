"""`callgate decide`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

import click
import orjson

from interceptors.calls import Call, Cause, MalformedToolCall, Proposal, Proposer, ToolCall
from interceptors.context import Context, FactKey, FactResult
from interceptors.decisions import Decision, Needs, Scheduled
from interceptors.obligations import Ask, Inject, Obligation, Reserve, UseConfirmation, UseGrant, VoidGrant
from interceptors.pipeline import Pipeline
from interceptors.strict_json import StrictJsonError, parse
from interceptors.usage import Usage, UsageKey, unused
from policies.model import Ruling
from policies.problems import DocumentError
from policies.secrets import SecretError
from proxy.clock import utc_now
from proxy.commands.common import CommandError, ExitCode, MissingInputError, failing_on, policy_option, read_policy
from proxy.environment import process_environment
from proxy.fact_sources import FactSource, fact_source
from proxy.facts_reader import FactsReader
from proxy.limits import Limits
from proxy.store import StoreError, open_reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from interceptors.calls import Json
    from policies.model import Policy

_EXIT = {
    Ruling.ALLOW: ExitCode.OK,
    Ruling.FORBID: ExitCode.FORBID,
    Ruling.ESCALATE: ExitCode.ESCALATE,
    Ruling.CLARIFY: ExitCode.CLARIFY,
}
_ROUNDS_MAX = 16


@click.command()
@policy_option
@click.option("--tool", required=True, metavar="NAME", help="The tool that the call names.")
@click.option(
    "--arguments",
    "arguments_text",
    default="{}",
    show_default=True,
    metavar="JSON|@FILE",
    help="The call's arguments, judged as if a model had written them. `@-` reads standard input.",
)
@click.option(
    "--session", default="{}", metavar="JSON|@FILE", help="The subject's claims, as its signed header has them."
)
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The state folder whose limits are counted.  [default: none, as if nothing was used yet]",
)
@click.option("--identity", metavar="NAME", help="Who asks, where the policy has identities.")
def decide(  # one parameter an option
    *, policy_path: Path, tool: str, arguments_text: str, session: str, state: Path | None, identity: str | None
) -> None:
    """Decide one call, as the gate would, and print why.

    Facts are read for real, with the secrets that they need. Nothing is recorded or reserved, and no tool runs; what an
    allowed call would hold is shown. Exits with 0 for
    allow, 10 for forbid, 11 for escalate, 12 for clarify, and 3 where a secret that a fact needs is missing.
    """
    policy = read_policy(policy_path)
    if policy.identities and identity not in policy.identities:
        raise CommandError(f"--identity: one of {', '.join(policy.identities)} is needed")
    if identity is not None and not policy.identities:
        raise CommandError("--identity: the policy has no identities")
    context = Context(
        now=utc_now(),
        tenant=identity or "cli",
        identity=identity,
        subject=_subject(_text("--session", session)),
        answers_kept=state is not None,
    )
    proposal = Proposal(_call(tool, _text("--arguments", arguments_text)), Proposer.MODEL)
    with failing_on(StoreError, OSError):
        decision = asyncio.run(_decided(policy, proposal, context, state))
    click.echo(orjson.dumps(_shown(decision), option=orjson.OPT_INDENT_2, default=str).decode())
    sys.exit(_EXIT[decision.ruling])


async def _decided(policy: Policy, proposal: Proposal, context: Context, state: Path | None) -> Decision:
    pipeline = Pipeline(policy)
    answer = pipeline.screen(proposal, context)
    facts: dict[FactKey, FactResult] = {}
    usages: dict[UsageKey, Usage] = {}
    reader = FactsReader(Limits(), utc_now, lambda *_: None)
    try:
        for _ in range(_ROUNDS_MAX):
            if isinstance(answer, Decision):
                return answer
            if answer.facts:
                facts |= await reader.read(answer.facts, await asyncio.to_thread(_sources, policy, answer))
            usages |= await asyncio.to_thread(_used, state, answer.usages)
            answer = pipeline.decide(proposal, context, facts, usages)
    finally:
        await reader.close()
    raise CommandError("the decision asks for facts without end")


def _used(state: Path | None, keys: Iterable[UsageKey]) -> dict[UsageKey, Usage]:
    if state is None:
        return {key: unused(key) for key in keys}
    with open_reader(state) as reader:
        return reader.usages(keys)


def _sources(policy: Policy, needs: Needs) -> dict[str, FactSource]:
    environment = process_environment()
    sources: dict[str, FactSource] = {}
    for name in {key.fact for key in needs.facts}:
        fact = policy.facts[name]
        try:
            sources[name] = fact_source(fact, environment)
        except SecretError as error:
            raise MissingInputError(f"{fact.origin}: facts.{name}: {error}") from None
        except DocumentError as error:
            raise CommandError(str(error)) from None
    return sources


def _text(option: str, value: str) -> str:
    if not value.startswith("@"):
        return value
    with failing_on(OSError):
        data = sys.stdin.buffer.read() if value == "@-" else Path(value[1:]).read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise CommandError(f"{option}: the file is not UTF-8") from None


def _subject(text: str) -> Mapping[str, Json]:
    try:
        claims = parse(text)
    except (StrictJsonError, UnicodeEncodeError):
        raise CommandError("--session: not strict JSON") from None
    if not isinstance(claims, dict):
        raise CommandError("--session: not a JSON object")
    return claims


def _call(tool: str, text: str) -> Call:
    try:
        arguments = parse(text) if text else {}
    except StrictJsonError as error:
        return MalformedToolCall(tool, error.cause, "", 0)
    if not isinstance(arguments, dict):
        return MalformedToolCall(tool, Cause.NOT_AN_OBJECT, "", 0)
    return ToolCall(tool, arguments, text, "", 0)


def _obligation(obligation: Obligation) -> dict[str, object]:
    match obligation:
        case Reserve():
            return {
                "reserve": [{"limit": one.limit, "amount": one.amount} for one in obligation.charges],
                "settleWithinSeconds": obligation.settle_within.total_seconds(),
                "again": obligation.renews or None,
            }
        case Inject():
            return {"inject": dict(obligation.values), "digest": obligation.digest}
        case Ask():
            return {"ask": "the customer, who has to confirm exactly this call"}
        case UseGrant():
            return {"approvedAs": obligation.escalation, "grant": obligation.grant}
        case VoidGrant():
            return {"voids": obligation.escalation, "since": obligation.why}
        case UseConfirmation():
            return {"confirmedBy": "the customer", "askedAt": obligation.asked_at.isoformat()}
    assert_never(obligation)


def _shown(decision: Decision) -> dict[str, object]:
    return {
        "ruling": decision.ruling.value,
        "reason": decision.reason,
        "category": None if decision.category is None else decision.category.value,
        "isRetryable": decision.is_retryable,
        "tool": decision.tool,
        "isWrite": decision.is_write,
        "reply": decision.reply,
        "message": decision.message,
        "next": decision.next,
        "verdicts": [
            {
                "interceptor": v.interceptor,
                "rule": v.rule,
                "ruling": v.ruling.value,
                "reason": v.reason,
                "detail": v.detail,
                **({"computed": v.computed} if isinstance(v, Scheduled) else {}),
            }
            for v in decision.verdicts
        ],
        "facts": [
            {"fact": f.fact, "key": f.key, "asOf": f.as_of.isoformat(), "fields": dict(f.fields)}
            for f in decision.facts
        ],
        "obligations": [_obligation(one) for one in decision.obligations],
        "summary": dict(decision.summary),
        "argumentDigest": decision.digest,
        "policy": decision.policy,
        "revision": decision.revision,
    }
