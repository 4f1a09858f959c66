"""What is asked of a policy with every request, and answered once for each of its revisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from policies.model import Policy


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
