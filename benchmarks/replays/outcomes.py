"""What became of a run: one file each, so that an interrupted evaluation goes on where it stopped."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from benchmarks.replays.family import Pack, Run  # noqa: TC001 # Outcome is built from its annotations

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VERSION = 1
"""Of the way in which runs are driven: another one makes earlier results void."""


class Fired(msgspec.Struct, frozen=True):
    """A check or rule that did not allow: its place in the policy, its outcome, its reason."""

    rule: str
    ruling: str
    reason: str


class Judged(msgspec.Struct, frozen=True):
    """One call of the model: what the gate decided and what the recorded back end did.

    `ruling` and `reason` are those of the last decision: where the gate asked the customer first (`asked`), the one
    after the yes. `is_released` says that the agent got the call. `is_error` is None where no result was recorded.
    """

    turn: int
    place: int
    call: str
    tool: str
    is_write: bool
    ruling: str
    reason: str
    fired: tuple[Fired, ...]
    asked: bool
    is_released: bool
    is_error: bool | None


class Outcome(msgspec.Struct, frozen=True):
    """`differing` counts results that the stepped databases gave otherwise than the recording has them."""

    run: str
    pack: str
    calls: tuple[Judged, ...]
    exchanges: int
    differing: int
    odd: int
    """Calls that were released without an allow, or held back with one: the gate broke its word."""


class Results:
    """The outcomes of one family in a folder: one folder a pack and revision, one file a run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, run: Run, pack: Pack) -> Outcome | None:
        """What an earlier evaluation found; None where there is none, or where it was interrupted while writing."""
        try:
            return msgspec.json.decode(self._path(run, pack).read_bytes(), type=Outcome)
        except (FileNotFoundError, msgspec.DecodeError):
            return None

    def keep(self, run: Run, pack: Pack, outcome: Outcome) -> None:
        path = self._path(run, pack)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_bytes(msgspec.json.encode(outcome))
        part.replace(path)

    def _path(self, run: Run, pack: Pack) -> Path:
        return self._folder / f"{pack.name}-{revision(pack)}" / f"{run.id}.json"


UNREAD = ("README.md", "policy_test.yaml")
"""Files of a pack on which no decision rests."""
_REVISIONS: dict[str, str] = {}


def revision(pack: Pack) -> str:
    """What the results of a pack depend on, beside the data: its files, and how runs are driven."""
    known = _REVISIONS.get(pack.name)
    if known is None:
        digest = hashlib.sha256(f"{VERSION}".encode())
        for name, data in sorted(_contents(pack)):
            digest.update(f"{name}\0{len(data)}\0".encode() + data)
        known = _REVISIONS[pack.name] = digest.hexdigest()[:12]
    return known


def _contents(pack: Pack) -> Iterator[tuple[str, bytes]]:
    for path in pack.folder.iterdir():
        if path.is_file() and path.name not in pack.files and path.name not in UNREAD:
            yield path.name, path.read_bytes()
    for name, text in pack.files.items():
        yield name, text.encode()
