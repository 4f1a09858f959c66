"""What is asked with every request and answered once: for each revision of a policy, or for each head of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar, TypeVarTuple, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from policies.model import Policy
    from proxy.headers import RequestHeaders

T = TypeVar("T")
Others = TypeVarTuple("Others")


class OncePerRevision:
    """`ask`, remembered for the policy that was asked last: one is in force at a time."""

    def __init__(self, ask: Callable[[Policy], bool]) -> None:
        self._ask = ask
        self._last: tuple[Policy, bool] | None = None

    def __call__(self, policy: Policy) -> bool:
        last = self._last
        if last is not None and last[0] is policy:
            return last[1]
        answer = self._ask(policy)
        self._last = (policy, answer)  # one assignment: threads see the pair or the one before
        return answer


class OncePerHead(Generic[T, *Others]):
    """`work`, a pure function of a request's fields and of `others`, remembered with the fields for the others that it
    was asked with last: the same fields come with each request of a connection. What it raises is not remembered."""

    def __init__(self, work: Callable[[RequestHeaders, *Others], T]) -> None:
        self._work = work

    def __call__(self, fields: RequestHeaders, *others: *Others) -> T:
        kept = fields.kept.get(self)
        if kept is not None and kept[0] == others:
            return cast("T", kept[1])
        answer = self._work(fields, *others)
        fields.kept[self] = (others, answer)
        return answer
