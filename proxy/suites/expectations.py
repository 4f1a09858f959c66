"""What a case expects, from its text: strictly, and nothing that cannot be so for its outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from interceptors.causes import RefusalCause, answer
from interceptors.context import FactKey
from interceptors.kinds import MoneyState
from policies.model import Category, OnRefusal, Ruling
from policies.nodes import listed
from policies.spelling import parse_duration
from proxy.suites import keys
from proxy.suites.cases import Expected

if TYPE_CHECKING:
    from policies.nodes import MappingNode, Node

_OUTSIDE: Final = (
    RefusalCause.SCHEMA_INVALID_AGAIN,
    RefusalCause.TEXT_CALL,
    RefusalCause.FALSE_CLAIM,
    RefusalCause.REPEATED,
    RefusalCause.POLICY_UNAVAILABLE,
    RefusalCause.STORE_DOWN,
    RefusalCause.HOLD_LIMIT,
    RefusalCause.QUEUE_FULL,
    RefusalCause.REJECTED,
    RefusalCause.APPROVAL_EXPIRED,
    RefusalCause.APPROVAL_VOID,
)
_OF_ALLOWED: Final = ("reserves", "injects", "settle_within", "settles")


def read_expected(mapping: MappingNode) -> Expected:
    """`expect` of a case. `DocumentError` for what an answer of its outcome does not have."""
    mapping.check_keys(keys.EXPECT)
    ruling = mapping.require("outcome").choice(Ruling)
    if ruling is Ruling.ALLOW:
        for key in ("reason", "category", "reply", "answered_by", "summary"):
            if key in mapping:
                mapping.require(key).fail(f"an allowed call has no {key}")
    elif (node := next((mapping.get(key) for key in _OF_ALLOWED if key in mapping), None)) is not None:
        node.fail("only an allowed call holds something")
    reads = mapping.get("reads")
    return Expected(
        ruling=ruling,
        reason=_text(mapping, "reason"),
        category=None if (node := mapping.get("category")) is None else node.choice(Category),
        fired=_names(mapping, "fired"),
        reply=_text(mapping, "reply"),
        reads=None if reads is None else frozenset(fact_key(one.text(), one) for one in reads.sequence()),
        reserves=None if (node := mapping.get("reserves")) is None else _texts(node.mapping()),
        injects=_names(mapping, "injects"),
        answered_by=None if (node := mapping.get("answered_by")) is None else node.choice(OnRefusal),
        settle_within=None if (node := mapping.get("settle_within")) is None else node.convert(parse_duration),
        summary=None if (node := mapping.get("summary")) is None else _texts(node.mapping()),
        settles=None if (node := mapping.get("settles")) is None else _settled(node),
    )


def read_refused(node: Node) -> RefusalCause:
    """What a gate may refuse a call for that no call shows, by the reason that it gives."""
    causes = {answer(cause).reason: cause for cause in _OUTSIDE}
    if node.text() not in causes:
        node.fail(f"expected one of {listed(list(causes))}, got {node.described}")
    return causes[node.text()]


def _settled(node: Node) -> MoneyState:
    state = node.choice(MoneyState)
    if state is MoneyState.HELD:
        node.fail(f"a result settles: expected one of {listed([one.value for one in MoneyState if one is not state])}")
    return state


def _text(mapping: MappingNode, key: str) -> str | None:
    node = mapping.get(key)
    return None if node is None else node.text()


def _names(mapping: MappingNode, key: str) -> frozenset[str] | None:
    node = mapping.get(key)
    return None if node is None else frozenset(one.text() for one in node.sequence())


def _texts(mapping: MappingNode) -> dict[str, str]:
    return {key: node.source() for key, node in mapping.entries.items()}


def fact_key(name: str, node: Node) -> FactKey:
    """`order/A1001` as the key of a record. `node` is where it stands."""
    fact, mark, key = name.partition("/")
    if not mark or not fact or not key:
        node.fail(f"{name!r} is no record: write FACT/KEY, such as order/A1001")
    return FactKey(fact, key)
