"""The policy in force: its revision, what changed since the last one, what looks wrong in it; and the halt."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice
from typing import TYPE_CHECKING, Final

from policies.difference import difference
from policies.lint import lint
from proxy.console.doorkeeper import Doorkeeper, Visit, go, only
from proxy.console.earlier import folder_of, read_again
from proxy.logs import Event
from proxy.store import proposals
from proxy.store.revisions import newest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aiohttp import web

    from policies.model import Policy
    from proxy.store.revisions import KeptRevision

_SHOWN_MAX: Final = 10
_LINES_MAX: Final = 400


@dataclass(frozen=True, slots=True)
class DiffLine:
    """`tone` is `add`, `cut`, `at`, or empty for what stands around."""

    tone: str
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """From one revision to another: in sentences, where both can be read, and line by line."""

    sentences: tuple[str, ...] | None
    lines: tuple[DiffLine, ...]


class PolicyPages:
    """The page of the policy, and the halt."""

    def __init__(self, keeper: Doorkeeper) -> None:
        self._keeper = keeper

    async def show(self, visit: Visit) -> web.StreamResponse:
        only(visit.request.query)
        with_ = self._keeper.collaborators
        in_force = await with_.policy.current()
        policy = in_force.revision.policy
        kept, proposed = await with_.store.read(
            lambda reader: reader.ask(lambda each: (newest(each, _SHOWN_MAX), proposals.newest(each, _SHOWN_MAX)))
        )
        before = next((one for one in kept if one.revision != policy.revision), None)
        own = next((one for one in kept if one.revision == policy.revision), None)
        change = None
        if before is not None and own is not None:
            change = await asyncio.to_thread(_change, before, own, policy)
        values = {
            "policy": policy,
            "tools": [tool.name for tool in policy.tools.values()],
            "in_force": in_force,
            "findings": await asyncio.to_thread(lint, policy),
            "kept": kept,
            "proposed": proposed,
            "before": before,
            "change": change,
        }
        return await self._keeper.page(visit, "policy.html", values)

    async def halt(self, visit: Visit) -> web.StreamResponse:
        reason, with_ = visit.text("reason"), self._keeper.collaborators
        receipt = await with_.store.halt(by=visit.session.name, reason=reason, at=with_.clock())
        with_.logs.event(Event.HALTED, listener="admin", by=visit.session.name, receipt=receipt)
        return go("/console/policy")

    async def resume(self, visit: Visit) -> web.StreamResponse:
        with_ = self._keeper.collaborators
        receipt = await with_.store.resume(by=visit.session.name, at=with_.clock())
        if receipt is not None:
            with_.logs.event(Event.RESUMED, listener="admin", by=visit.session.name, receipt=receipt)
        return go("/console/policy")


def _change(before: KeptRevision, own: KeptRevision, policy: Policy) -> Change:
    """It reads the lists that the policy names: off the loop."""
    return Change(_sentences(before, policy), tuple(islice(diff_lines(before.files, own.files), _LINES_MAX)))


def _sentences(before: KeptRevision, policy: Policy) -> tuple[str, ...] | None:
    earlier = read_again(tuple(sorted(before.files.items())), folder_of(policy), before.revision)
    return None if earlier is None else tuple(difference(earlier, policy))


def diff_lines(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[DiffLine]:
    """The unified diff of two sets of files, in the order of their names."""
    for name in sorted({*before, *after}):
        old, new = before.get(name, "").split("\n"), after.get(name, "").split("\n")
        for line in unified_diff(old, new, name, name, lineterm=""):
            if line.startswith(("+++", "---", "@@")):
                yield DiffLine("at", line)
            else:
                yield DiffLine({"+": "add", "-": "cut"}.get(line[:1], ""), line)
