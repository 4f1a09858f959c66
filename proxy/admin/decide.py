"""`POST /decide`: calls that no model proposes go the way of those that one does (guarantee G11).

An operator of the policy shows its token; whose data the call is about says the application's signed header, never the
body. The answer is what a gate would have done with the call: whoever gets an allow runs it, and says what came of it.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import orjson
from aiohttp import hdrs

from interceptors.calls import Proposer, ToolCall
from interceptors.history import PastResult
from interceptors.results import structured_result
from interceptors.settlement import state_of
from interceptors.strict_json import canonical, digest
from proxy.admin.answers import RefusedError, answered, json_of
from proxy.headers import HeadersRefusedError, read_request_headers
from proxy.identity import token_digest
from proxy.judge import Scene
from proxy.records import delivered
from proxy.session_header import SessionHeaderError
from proxy.store import Settlement
from proxy.store.ids import new_exchange_id
from proxy.subjects import subject_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiohttp import web

    from interceptors.calls import Json
    from policies.approvals import Operator
    from proxy.admin.app import Collaborators
    from proxy.judge import Judge, Judgment
    from proxy.policy_source import Revision
    from proxy.session_header import SessionVerifier

DIALECT: Final = "decide"
_ID_LENGTH_MAX: Final = 200
_NAME_LENGTH_MAX: Final = 256
_MINUTE: Final = 60.0


@dataclass(slots=True)
class Rates:
    """How many proposals each operator made of late: a bucket that fills evenly."""

    per_minute_max: int
    _buckets: dict[str, tuple[float, float]] = field(default_factory=dict)

    def takes(self, name: str, now: float) -> bool:
        """Whether one more is within the rate. `now` is monotonic, in seconds."""
        left, at = self._buckets.get(name, (float(self.per_minute_max), now))
        left = min(float(self.per_minute_max), left + (now - at) * self.per_minute_max / _MINUTE)
        self._buckets[name] = (left - 1 if left >= 1 else left, now)
        return left >= 1


@dataclass(frozen=True, slots=True)
class Deciding:
    """What the route decides with. `tenant_key` is of the state folder, for the digests of tokens."""

    judge: Judge
    session: SessionVerifier | None
    tenant_key: bytes
    per_minute_max: int


class Decide:
    """Two routes for the operators of the policy."""

    def __init__(self, collaborators: Collaborators) -> None:
        self._collaborators = collaborators
        self._rates: Rates | None = None

    @property
    def _with(self) -> Deciding:
        assert self._collaborators.deciding is not None
        return self._collaborators.deciding

    async def decided(self, request: web.Request) -> web.Response:
        """Decide one call; an allowed one holds what it uses of each limit, unless it is a dry run."""
        revision, operator = await self._operator(request)
        body = await json_of(request, {"tool", "arguments"}, optional={"id", "dry_run"})
        is_dry = _flag(body, "dry_run")
        call = _call(body)
        scene = self._scene(request, revision, operator)
        judge = self._with.judge
        judged = (await judge.decide({0: call}, scene))[0]
        if is_dry:
            return answered({**_decision_json(judged, call.id), "dryRun": True})
        recorded = (await judge.record({0: judged}, scene))[0]
        if recorded.receipt:
            judge.outcomes.add([delivered(recorded, scene, judge.clock())])
        return answered(_decision_json(recorded, call.id))

    async def resulted(self, request: web.Request) -> web.Response:
        """What came of an allowed call: it settles what the call holds, as an agent's result does."""
        revision, operator = await self._operator(request)
        body = await json_of(request, {"result"}, optional={"is_error"})
        wanted = request.match_info["id"]
        rows = (await self._with.judge.store.released_calls(operator.name, [wanted])).get(wanted, ())
        if not rows:
            raise RefusedError(404, "not_found", "no call of this id was allowed to you")
        row, now = rows[-1], self._with.judge.clock()
        tool = revision.policy.tool(row.tool) or revision.policy.unknown_tool
        past = PastResult(wanted, body["result"], _flag(body, "is_error"), 0, is_new=True)
        state = state_of(revision.policy, tool, past, now)
        await self._with.judge.store.settle([Settlement(row.receipt, state, digest(body["result"]))], at=now)
        return answered({"id": wanted, "receipt": row.receipt, "state": state.value})

    async def _operator(self, request: web.Request) -> tuple[Revision, Operator]:
        """Who proposes; 401 for anybody else, 429 for too many."""
        revision = (await self._with.judge.policy.current()).revision
        values = request.headers.getall(hdrs.AUTHORIZATION, [])
        scheme, _, token = values[0].partition(" ") if len(values) == 1 else ("", "", "")
        name = self._recognised(revision, token.strip()) if scheme.lower() == "bearer" else ""
        if not name:
            raise RefusedError(401, "unauthorized", "an operator's token is required: Authorization: Bearer TOKEN")
        if self._rates is None:
            self._rates = Rates(self._with.per_minute_max)
        if not self._rates.takes(name, time.monotonic()):
            raise RefusedError(429, "too_many", "more proposals in a minute than decide_per_minute_max")
        return revision, revision.policy.people.operators[name]

    def _recognised(self, revision: Revision, token: str) -> str:
        """The operator's name, empty for nobody; every digest is compared, in constant time."""
        shown, found = token_digest(token, self._with.tenant_key), ""
        for name, known in revision.operators.items():
            if secrets.compare_digest(known, shown):
                found = name
        return found

    def _scene(self, request: web.Request, revision: Revision, operator: Operator) -> Scene:
        claims = self._claims(request)
        return Scene(
            exchange=new_exchange_id(self._with.judge.clock()),
            dialect=DIALECT,
            model="",
            tenant=operator.name,
            identity=None,
            subject=subject_of(claims, revision.policy, self._with.judge.store),
            claims=claims,
            proposer=Proposer(operator.kind.value),
            operator=operator.name,
        )

    def _claims(self, request: web.Request) -> Mapping[str, Json]:
        """For whom: the claims of the signed header; none where it is not there, and 401 where it proves nothing."""
        session = self._with.session
        if session is None:
            return {}
        try:
            fields = read_request_headers(request.raw_headers, session_header=session.name)
            return session.subject(fields, self._with.judge.clock())
        except HeadersRefusedError as error:
            raise RefusedError(400, "invalid", str(error)) from None
        except SessionHeaderError as error:
            raise RefusedError(401, "invalid_session", str(error)) from None


def _call(body: Mapping[str, Json]) -> ToolCall:
    name, arguments, given = body["tool"], body["arguments"], body.get("id")
    if not isinstance(name, str) or not name or len(name) > _NAME_LENGTH_MAX:
        raise RefusedError(400, "invalid", "'tool' must be the name of a tool")
    if not isinstance(arguments, dict):
        raise RefusedError(400, "invalid", "'arguments' must be an object")
    if given is not None and (not isinstance(given, str) or not 0 < len(given) <= _ID_LENGTH_MAX):
        raise RefusedError(400, "invalid", f"'id' must be a text of at most {_ID_LENGTH_MAX} characters")
    id_ = given or f"call_{secrets.token_hex(16)}"
    return ToolCall(name, arguments, canonical(arguments).decode(), id_, 0)


def _flag(body: Mapping[str, Json], key: str) -> bool:
    value = body.get(key, False)
    if not isinstance(value, bool):
        raise RefusedError(400, "invalid", f"{key!r} must be true or false")
    return value


def _decision_json(judgment: Judgment, id_: str) -> dict[str, object]:
    """The answer: on an allow the arguments as they are to be sent, else what stands in the call's place."""
    decision = judgment.decision
    made: dict[str, object] = {"id": id_, "ruling": decision.ruling.value, "tool": decision.tool}
    if judgment.is_allowed:
        call = judgment.as_released or judgment.proposal.call
        assert isinstance(call, ToolCall)
        return {**made, "receipt": judgment.receipt, "arguments": _plain(call.arguments)}
    result = structured_result(decision, judgment.receipt, judgment.escalation)
    return {**made, **{key: value for key, value in result.items() if key != "isError"}, "reply": decision.reply}


def _plain(arguments: Mapping[str, Json]) -> object:
    """As canonical JSON has them: numbers as they were spelled."""
    return orjson.Fragment(canonical(dict(arguments)))
