"""The policy in force, looked at anew for each decision: one atomic revision with everything compiled from it.

A broken edit keeps the last good revision for `policy_stale_seconds_max`, loudly; then writes are refused until it is
mended. A new revision is in force only after its change was recorded.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from interceptors.pipeline import Pipeline
from policies.files import read_snapshot
from policies.loader import load_snapshot
from policies.model import Batch
from policies.problems import DocumentError
from policies.secrets import SecretError
from proxy.config import ConfigError
from proxy.fact_sources import FactSource, fact_source
from proxy.permissions import WritableByOthersError, refuse_writable
from proxy.tokens import token_digests

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    from policies.model import Policy
    from proxy.environment import Environment

RETRY_SECONDS = 1.0
"""How soon a broken policy is read again although its files look unchanged (a secret may have come back)."""
_ATTEMPTS = 5


class PolicyUnusableError(Exception):
    """The policy cannot be put in force; one `file:line` message a line, without a secret."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision, whole: decide with `pipeline`, read with `facts`, recognise callers by `tokens` (their digests),
    and who proposes on the admin listener by `operators`.

    `together` are the tools of which one refused call refuses all of its turn.
    """

    policy: Policy
    pipeline: Pipeline
    tokens: Mapping[str, bytes]
    facts: Mapping[str, FactSource]
    operators: Mapping[str, bytes] = field(default_factory=dict)
    together: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        tools = self.policy.tools.items()
        together = frozenset(key for key, tool in tools if tool.batch is Batch.ALL_OR_NOTHING)
        object.__setattr__(self, "together", together)


class InForce(msgspec.Struct, frozen=True):
    """What a decision goes by. `is_available` False: the policy has been broken for too long, every write is refused
    (`policy_unavailable`). `problem` is why an edit is not in force, empty where none is."""

    revision: Revision
    is_available: bool = True
    problem: str = ""


class PolicySource:
    """One for the process. `load` reads; `changed` is awaited with each revision before it is used, the first included;
    `failed` is told each reading that could not be used.

    What `changed` raises comes out of `current`: a change without its receipt is no change.
    """

    def __init__(
        self,
        path: Path,
        load: Callable[[], Revision],
        *,
        changed: Callable[[Revision], Awaitable[None]],
        failed: Callable[[str], None],
        monotonic: Callable[[], float],
    ) -> None:
        self._path = path
        self._load = load
        self._changed = changed
        self._failed = failed
        self._monotonic = monotonic
        self._reading = asyncio.Lock()
        self._revision: Revision | None = None
        self._good: InForce | None = None  # while nothing is broken
        self._look = _Look((), ())
        self._problem = ""
        self._broken_since: float | None = None
        self._tried_at = 0.0

    async def start(self) -> Revision:
        """The first revision.

        Raises:
            PolicyUnusableError: there is none.
        """
        async with self._reading:
            await self._read()
        if self._revision is None:
            raise PolicyUnusableError(self._problem)
        return self._revision

    def unchanged(self) -> InForce | None:
        """The revision to decide by at this moment, where nothing changed; else `current` must read."""
        return None if self._is_due() else self.last()

    async def current(self) -> InForce:
        """The revision to decide by at this moment. Where nothing changed it does not wait."""
        for _ in range(_ATTEMPTS):
            if not self._is_due():
                break
            async with self._reading:
                if self._is_due():
                    await self._read()
        return self.last()

    def last(self) -> InForce:
        """What `current` last found, without looking."""
        assert self._good is not None, "started"
        if self._broken_since is None:
            return self._good
        age = self._monotonic() - self._broken_since
        revision = self._good.revision
        return InForce(revision, age <= revision.policy.policy_stale_seconds_max, self._problem)

    def _is_due(self) -> bool:
        if self._broken_since is not None and self._monotonic() - self._tried_at >= RETRY_SECONDS:
            return True
        return self._look.is_past()

    async def _read(self) -> None:
        """Reads, and puts in force or notes what is wrong. What changes while it reads is seen by the next look."""
        before = self._problem, self._look
        look, loaded = await asyncio.to_thread(self._load_steady)
        self._tried_at = self._monotonic()
        if isinstance(loaded, str):
            self._look = look
            self._problem = loaded
            if self._broken_since is None:
                self._broken_since = self._tried_at
            if (loaded, look) != before:
                self._failed(loaded)
            return
        if self._revision is None or loaded.policy.revision != self._revision.policy.revision:
            await self._changed(loaded)
        self._revision, self._good = loaded, InForce(loaded)
        self._look = look
        self._broken_since = None
        self._problem = ""

    def _load_steady(self) -> tuple[_Look, Revision | str]:
        """A revision, or why there is none, and what its files looked like from before it was read until after."""
        # In a mounted ConfigMap `..data` is what is swapped.
        swapped = self._path / "..data"
        files = self._revision.policy.files if self._revision is not None else ()
        for _ in range(_ATTEMPTS):
            look = _Look.at((self._path, swapped, *files))
            loaded = self._attempt()
            is_folder = os.path.isdir(self._path)  # noqa: PTH112 - never raises
            if isinstance(loaded, Revision) and loaded.policy.files != files:
                files = loaded.policy.files
            elif not look.is_past():
                return look if is_folder else look.without(swapped), loaded
        return look, "the files change while they are read"

    def _attempt(self) -> Revision | str:
        try:
            return self._load()
        except (DocumentError, SecretError, ConfigError, WritableByOthersError) as error:
            return str(error)
        except OSError as error:
            return f"{self._path}: cannot be read: {(error.strerror or 'input error').lower()}"


def revision_loader(
    path: Path, environment: Environment, key: bytes, check: Callable[[Policy], None]
) -> Callable[[], Revision]:
    """How `serve` reads a policy: its files may not be others' to write, its secrets must be there, and `check` must
    agree (`connected.check_together`). `key` is of the state folder, for the digests of tokens."""

    def load() -> Revision:
        snapshot = read_snapshot(path)
        refuse_writable(path, snapshot.paths)
        policy = load_snapshot(snapshot)
        refuse_writable(path, policy.files)  # the lists that it names, too
        check(policy)
        return compile_revision(policy, environment, key)

    return load


def compile_revision(policy: Policy, environment: Environment, key: bytes) -> Revision:
    """Everything that a policy connects with.

    Raises:
        SecretError: a reference stands for nothing.
        DocumentError: a URL is none, or two identities have one token.
    """
    tokens, operators = token_digests(policy, environment, key)
    facts: dict[str, FactSource] = {}
    for name, fact in policy.facts.items():
        try:
            facts[name] = fact_source(fact, environment)
        except SecretError as error:
            raise SecretError(f"{fact.origin}: facts.{name}: {error}") from None
    return Revision(policy, Pipeline(policy), tokens, facts, operators)


@dataclass(frozen=True, slots=True)
class _Look:
    """What `stat` says of some paths: cheap, and different after any change of them.

    A folder's own entry shows files that come and go; the time of a change of status cannot be set back as the time of
    a modification can.
    """

    paths: tuple[str, ...]
    found: tuple[tuple[int, int, int, int] | None, ...]

    @classmethod
    def at(cls, paths: tuple[Path, ...]) -> _Look:
        names = tuple(dict.fromkeys(map(os.fspath, paths)))
        return cls(names, tuple(map(_stat, names)))

    def without(self, path: Path) -> _Look:
        """The same look, which asks for one path less each time."""
        kept = [(each, found) for each, found in zip(self.paths, self.found, strict=True) if each != str(path)]
        return _Look(tuple(each for each, _ in kept), tuple(found for _, found in kept))

    def is_past(self) -> bool:
        return self.found != tuple(map(_stat, self.paths))


def _stat(path: str) -> tuple[int, int, int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - half the time of Path.stat, and asked before each decision
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
