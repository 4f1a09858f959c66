"""`callgate decide`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import orjson

from interceptors.calls import Call, Cause, MalformedToolCall, Proposal, Proposer, ToolCall
from interceptors.context import Context, FactKey, FactResult
from interceptors.decisions import Decision, Needs
from interceptors.pipeline import Pipeline
from interceptors.strict_json import StrictJsonError, parse
from policies.model import Ruling
from policies.problems import DocumentError
from policies.secrets import SecretError
from proxy.clock import utc_now
from proxy.commands.common import CommandError, ExitCode, MissingInputError, failing_on, policy_option, read_policy
from proxy.environment import process_environment
from proxy.fact_sources import FactSource, fact_source
from proxy.facts_reader import FactsReader
from proxy.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping

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
@click.option("--identity", metavar="NAME", help="Who asks, where the policy has identities.")
def decide(*, policy_path: Path, tool: str, arguments_text: str, session: str, identity: str | None) -> None:
    """Decide one call, as the gate would, and print why.

    Facts are read for real, with the secrets that they need. Nothing is recorded, and no tool runs. Exits with 0 for
    allow, 10 for forbid, 11 for escalate, 12 for clarify, and 3 where a secret that a fact needs is missing.
    """
    policy = read_policy(policy_path)
    if policy.identities and identity not in policy.identities:
        raise CommandError(f"--identity: one of {', '.join(policy.identities)} is needed")
    if identity is not None and not policy.identities:
        raise CommandError("--identity: the policy has no identities")
    context = Context(
        now=utc_now(), tenant=identity or "cli", identity=identity, subject=_subject(_text("--session", session))
    )
    proposal = Proposal(_call(tool, _text("--arguments", arguments_text)), Proposer.OPERATOR)
    decision = asyncio.run(_decided(policy, proposal, context))
    click.echo(orjson.dumps(_shown(decision), option=orjson.OPT_INDENT_2, default=str).decode())
    sys.exit(_EXIT[decision.ruling])


async def _decided(policy: Policy, proposal: Proposal, context: Context) -> Decision:
    pipeline = Pipeline(policy)
    answer = pipeline.screen(proposal, context)
    facts: dict[FactKey, FactResult] = {}
    reader = FactsReader(Limits(), utc_now, lambda *_: None)
    try:
        for _ in range(_ROUNDS_MAX):
            if isinstance(answer, Decision):
                return answer
            facts |= await reader.read(answer.facts, await asyncio.to_thread(_sources, policy, answer))
            answer = pipeline.decide(proposal, context, facts)
    finally:
        await reader.close()
    raise CommandError("the decision asks for facts without end")


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
            }
            for v in decision.verdicts
        ],
        "facts": [
            {"fact": f.fact, "key": f.key, "asOf": f.as_of.isoformat(), "fields": dict(f.fields)}
            for f in decision.facts
        ],
        "summary": dict(decision.summary),
        "argumentDigest": decision.digest,
        "policy": decision.policy,
        "revision": decision.revision,
    }
