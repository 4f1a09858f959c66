"""Whether chains of records are what was written: each fault with its place, and what no chain can show.

Records are read once, in order; memory grows with the faults and the erasures, not with the records.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from interceptors.chain import DIGEST, SCHEMA, Head, Sealed, commit_to, link, start
from interceptors.receipts import Kind, Span
from interceptors.strict_json import StrictJsonError, parse_envelope

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LIMITS = (
    "a cut tail: records removed from the end of a chain leave no trace in it; compare with a head noted outside",
    "a whole chain removed, or rewritten from some record to its end: compare with a head noted outside",
    "a record that was never written",
    "what an erased payload said, or whether it was erased on a person's order",
    "what agents and back ends did: only what the gate decided and let out",
)
"""What verification cannot show, for people to read beside its result."""


class Fault(Enum):
    """What is wrong with a record. The value is for people."""

    ALTERED = "the record was altered: it does not fit its hash"
    REMOVED = "records before this one were removed"
    REORDERED = "the record is out of its order"
    UNLINKED = "the record does not follow from the one before it"
    PAYLOAD_ALTERED = "the payload does not fit its commitment"
    PAYLOAD_MISSING = "the payload is missing and no record tells of its erasure"
    UNKNOWN_FORMAT = "the record is of a format that this version does not know"
    CUT = "the chain ends before a head that was noted"
    HEAD_DIFFERS = "the chain holds another record than the head that was noted"


@dataclass(frozen=True, slots=True)
class Finding:
    fault: Fault
    writer: str
    seq: int
    receipt: str = ""

    def __str__(self) -> str:
        where = f"{self.writer}:{self.seq}"
        return f"{where} ({self.receipt}): {self.fault.value}" if self.receipt else f"{where}: {self.fault.value}"


@dataclass(frozen=True, slots=True)
class Report:
    """`records` were read, `erased` of them have no payload. `heads` are the ends of the chains, to be noted outside.

    `pruned` are the places up to which chains were removed at the end of their retention: taken as given.
    `unchecked` are noted heads that lie in a removed stretch.
    """

    records: int
    erased: int
    findings: tuple[Finding, ...]
    heads: tuple[Head, ...]
    pruned: tuple[Head, ...] = ()
    unchecked: tuple[Head, ...] = ()

    @property
    def is_intact(self) -> bool:
        return not self.findings


def verify(records: Iterable[Sealed], *, pruned: Mapping[str, Head], noted: Iterable[Head] = ()) -> Report:
    """Check every chain. `records` come by writer, each writer's by number as stored.

    `pruned` holds for each writer the last place that retention removed. `noted` are heads that were kept outside.
    """
    check = _Check(pruned, noted)
    for record in records:
        check.take(record)
    return check.report()


class _Check:
    def __init__(self, pruned: Mapping[str, Head], noted: Iterable[Head]) -> None:
        self._pruned = pruned
        self._noted = {(head.writer, head.seq): head for head in noted}
        self._heads: dict[str, Head] = dict(pruned)
        self._findings: list[Finding] = []
        self._missing: list[Span] = []
        self._erased: list[Span] = []
        self._count = 0
        self._without_payload = 0
        self._last_hashes: tuple[str, ...] = ()  # of the last record: as stored, and as it should be
        self._writer: str | None = None

    def take(self, record: Sealed) -> None:
        self._count += 1
        if record.writer != self._writer:
            self._writer = record.writer
            self._last_hashes = (self._before(record.writer).hash,)
        last = self._heads.get(record.writer, start(record.writer))
        if not self._is_known(record):
            self._find(Fault.UNKNOWN_FORMAT, record)
        hash_due = link(record)
        if not hmac.compare_digest(hash_due, record.hash):
            self._find(Fault.ALTERED, record)
        self._check_place(record, last)
        self._check_payload(record)
        self._check_noted(record.head)
        self._last_hashes = (record.hash, hash_due)
        self._heads[record.writer] = record.head

    def _before(self, writer: str) -> Head:
        return self._pruned.get(writer, start(writer))

    @staticmethod
    def _is_known(record: Sealed) -> bool:
        return record.schema == SCHEMA and record.digest == DIGEST and record.kind in _KINDS

    def _check_place(self, record: Sealed, last: Head) -> None:
        if record.seq <= last.seq:
            self._find(Fault.REORDERED, record)
        elif record.seq > last.seq + 1:
            self._find(Fault.REMOVED, record)
        elif record.prev not in self._last_hashes:
            self._find(Fault.UNLINKED, record)

    def _check_payload(self, record: Sealed) -> None:
        if record.payload is None and record.salt is None:
            self._miss(record)
            return
        if not _fits(record):
            self._find(Fault.PAYLOAD_ALTERED, record)
        elif record.kind == Kind.ERASED.value and record.payload is not None:
            self._erased += spans_of(record.payload)

    def _miss(self, record: Sealed) -> None:
        self._without_payload += 1
        last = self._missing[-1] if self._missing else None
        if last is not None and last.writer == record.writer and last.last + 1 == record.seq:
            self._missing[-1] = Span(record.writer, last.first, record.seq)
        else:
            self._missing.append(Span(record.writer, record.seq, record.seq))

    def _check_noted(self, head: Head) -> None:
        noted = self._noted.pop((head.writer, head.seq), None)
        if noted is not None and noted.hash != head.hash:
            self._findings.append(Finding(Fault.HEAD_DIFFERS, head.writer, head.seq))

    def _find(self, fault: Fault, record: Sealed) -> None:
        self._findings.append(Finding(fault, record.writer, record.seq, record.receipt))

    def report(self) -> Report:
        for anchor in self._pruned.values():
            self._check_noted(anchor)
        unchecked = []
        for noted in self._noted.values():
            if noted.seq <= self._before(noted.writer).seq:
                unchecked.append(noted)
            else:
                self._findings.append(Finding(Fault.CUT, noted.writer, noted.seq))
        for span in uncovered(self._missing, self._erased):
            for seq in range(span.first, span.last + 1):
                self._findings.append(Finding(Fault.PAYLOAD_MISSING, span.writer, seq))
        return Report(
            records=self._count,
            erased=self._without_payload,
            findings=tuple(sorted(self._findings, key=lambda finding: (finding.writer, finding.seq))),
            heads=tuple(self._heads.values()),
            pruned=tuple(self._pruned.values()),
            unchecked=tuple(unchecked),
        )


def _fits(record: Sealed) -> bool:
    if record.payload is None or record.salt is None:
        return False
    return hmac.compare_digest(commit_to(record.payload, record.salt), record.commitment)


_KINDS = frozenset(kind.value for kind in Kind)


def spans_of(payload: bytes) -> tuple[Span, ...]:
    """The spans that the payload of an `erased` or `pruned` record names; none where it cannot be read."""
    try:
        document = parse_envelope(payload)
    except StrictJsonError:
        return ()
    named = document.get("spans") if isinstance(document, dict) else None
    found = []
    for item in named if isinstance(named, list) else []:
        if isinstance(item, dict):
            writer, first, last = item.get("writer"), item.get("first"), item.get("last")
            if isinstance(writer, str) and isinstance(first, int) and isinstance(last, int):
                found.append(Span(writer, first, last))
    return tuple(found)


def spans_from(places: Iterable[tuple[str, int]]) -> tuple[Span, ...]:
    """The fewest spans that hold exactly these places (writer and number), in order."""
    merged: list[Span] = []
    for writer, seq in sorted(places):
        if merged and merged[-1].writer == writer and seq <= merged[-1].last + 1:
            merged[-1] = Span(writer, merged[-1].first, seq)
        else:
            merged.append(Span(writer, seq, seq))
    return tuple(merged)


def uncovered(spans: Iterable[Span], covers: Iterable[Span]) -> tuple[Span, ...]:
    """What is left of `spans` when all that `covers` hold is taken out."""
    by_writer: dict[str, list[Span]] = {}
    for cover in sorted(covers):
        by_writer.setdefault(cover.writer, []).append(cover)
    left = []
    for span in spans:
        first = span.first
        covering = by_writer.get(span.writer, [])
        for cover in covering:
            if first > span.last or cover.first > span.last:
                break
            if cover.last < first:
                continue
            if cover.first > first:
                left.append(Span(span.writer, first, cover.first - 1))
            first = cover.last + 1
        if first <= span.last:
            left.append(Span(span.writer, first, span.last))
    return tuple(left)
