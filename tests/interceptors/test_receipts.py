"""Records and their chain: complete, canonical, stable across versions, proof against change."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from interceptors import kinds, operations, receipts
from interceptors.calls import Proposer
from interceptors.chain import GENESIS, Head, ReceiptError, Sealed, canonical, commit_to, link, seal, stamp, start
from interceptors.decisions import Decision, FactRead, Verdict
from interceptors.edits import Compacted
from interceptors.receipts import (
    AbortCause,
    Aborted,
    Answered,
    Decided,
    Edit,
    Edited,
    Erased,
    ErasureCause,
    Halted,
    HandedOff,
    Held,
    Kind,
    MoneyState,
    Observed,
    PolicyChanged,
    Pruned,
    Refused,
    Released,
    Remark,
    Remarked,
    Reserved,
    Resumed,
    Settled,
    SettlementCause,
    Span,
    Substituted,
    Unexamined,
    decided_record,
    subject_of,
)
from interceptors.strict_json import parse_envelope
from interceptors.verification import LIMITS, Fault, Finding, spans_from, spans_of, uncovered, verify
from policies.model import Category, Mode, Ruling
from proxy.store.export import from_line, to_line

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from interceptors.calls import Json
    from interceptors.receipts import Record

NOW = datetime(2026, 11, 30, 12, 0, 0, 250_000, tzinfo=UTC)
WRITER = "w_00000000000000000000000000"
GOLDEN = "db257d8f4b47e4cb4cb8d8a3950646df360b6827c5027fb1dc464574ef9eb524"
GOLDEN_FIRST = {
    13: "35eb22fe5496102c58196074eefc4d9cb123a3300fb6d756afdbcaf3699a3cee",
    15: "9aebe97df3faacda8d72150104d834bc03c662efa20a1bf2371786b1c89bc5e0",
    16: "ae9c767269abf52e09938d121c4bf1c1829d47b2210449f25066f50060c72c7d",
    17: "9e817e10d598d0e4f5887e07a7f54cc45f55c23303729485affb944a53d7cda5",
    18: "dccf600eb915a3d9f3e580659589b97ce32f46b1b461eae11ef7a1e84801a672",
    19: "aa2d6fb9259dac5273e3c2ee277ba86f98db677a068d02865e1441b345ef6ffd",
}  # lines, as once written
GOLDEN_HEAD = "w_00000000000000000000000000:20:4ca4b12800825ee7455854370f35549315a0181ee0b8e4497d6c7ef8c7e6a2a0"

DECISION = Decision(
    ruling=Ruling.ESCALATE,
    tool="process_refund",
    is_write=True,
    reason="over_limit",
    category=Category.ESCALATED,
    verdicts=(
        Verdict("shape", Ruling.ALLOW),
        Verdict("rules", Ruling.ESCALATE, "over_limit", "process_refund.rules[1]", "args.amount is over the limit"),
    ),
    facts=(FactRead("order", "A1234", NOW, {"paid": "847.00 USD", "delivered_at": "2026-11-20T09:00:00Z"}),),
    arguments={"order_id": "A1234", "amount": Decimal("847.00"), "note": "«redacted»", "lines": [1, 2**70, None, True]},
    digest="d" * 64,
    policy="refund-desk",
    revision="e" * 64,
)


def _decided(decision: Decision = DECISION) -> Decided:
    return decided_record(
        decision,
        receipt="rc_01KB9VQ2YTJ8C0000000000001",
        time=NOW,
        exchange="ex_1",
        turn=3,
        position=1,
        tenant="support-bot",
        identity="support-bot",
        subject="5" * 64,
        proposer=Proposer.MODEL,
        dialect="anthropic-messages",
        model="a-model",
        call_id="toolu_01",
        mode=Mode.ENFORCE,
        latencies={"screen": 1, "facts": 38, "decide": 1},
        result='{"isError":true}',
    )


def _one_of_each() -> tuple[Record, ...]:
    """A record of every kind, as the golden chain holds them."""
    rc, ex, sub = "rc_01KB9VQ2YTJ8C0000000000001", "ex_1", "5" * 64
    return (
        PolicyChanged(receipt="rc_01KB9VQ2YTJ8C0000000000000", time=NOW, policy="refund-desk", revision="e" * 64),
        structs.replace(_decided(), escalation="esc_01KB9VQ2YTJ8C0000000000002"),
        Substituted(
            receipt=rc, time=NOW, exchange=ex, result="naïve \u2028 “reply”", subject=sub, latencies={"write": 2}
        ),
        structs.replace(
            _decided(structs.replace(DECISION, ruling=Ruling.ALLOW, reason="", category=None)),
            identity=None,
            subject="",
        ),
        Released(receipt=rc, time=NOW, exchange=ex, verbatim=False),
        Aborted(receipt=rc, time=NOW, exchange=ex, cause=AbortCause.CONFLICT, detail="a later event on its index"),
        Unexamined(
            receipt="rc_2", time=NOW, exchange=ex, tenant="t", method="GET", path="/v1/models", upstream="openai"
        ),
        Observed(
            receipt="rc_3",
            time=NOW,
            exchange=ex,
            tenant="t",
            dialect="openai-chat",
            model="m",
            tool="web",
            where="request",
        ),
        Refused(
            receipt="rc_4", time=NOW, exchange=ex, tenant="t", dialect="openai-chat", status=400, reason="malformed"
        ),
        Halted(receipt="rc_5", time=NOW, by="anna", reason="wrong amounts"),
        Resumed(receipt="rc_6", time=NOW + timedelta(hours=1), by="ben"),
        Erased(receipt="rc_7", time=NOW, by="anna", cause=ErasureCause.SUBJECT, spans=(Span(WRITER, 3, 3),)),
        Pruned(receipt="rc_8", time=NOW, by="retention", spans=(Span("w_OTHER", 1, 9),)),
        Reserved(
            receipt=rc,
            time=NOW,
            reservation="rs_01KB9VQ2YTJ8C0000000000003",
            held=(Held(limit="process_refund.limits[0]", amount="60.00 USD"), Held(limit="t.limits[1]", amount="1")),
            settle_by=NOW + timedelta(minutes=15),
            again=True,
            injected="f" * 64,
            subject=sub,
        ),
        Settled(
            receipt=rc,
            time=NOW + timedelta(minutes=1),
            reservation="rs_01KB9VQ2YTJ8C0000000000003",
            state=MoneyState.NOT_EXECUTED,
            cause=SettlementCause.PERSON,
            result="9" * 64,
            by="anna",
            reason="the bank says that nothing was paid",
            subject=sub,
        ),
        Remarked(
            receipt="rc_9",
            time=NOW,
            exchange=ex,
            tenant="t",
            dialect="openai-chat",
            model="m",
            remark=Remark.FALSE_CLAIM,
            tool="process_refund",
            replaced=True,
            policy="refund-desk",
            revision="e" * 64,
            subject=sub,
        ),
        Edited(
            receipt="rc_9",
            time=NOW,
            exchange=ex,
            tenant="t",
            dialect="anthropic-messages",
            model="m",
            edit=Edit.THINKING_TAKEN_OUT,
            count=2,
        ),
        Answered(
            receipt=rc,
            time=NOW + timedelta(minutes=2),
            escalation="esc_01KB9VQ2YTJ8C0000000000002",
            by="anna",
            approves=True,
            reason="the parcel was lost",
            grant="gr_01KB9VQ2YTJ8C0000000000004",
            expires=NOW + timedelta(days=1),
            subject=sub,
        ),
        HandedOff(
            receipt="rc_01KB9VQ2YTJ8C0000000000013",
            time=NOW,
            exchange=ex,
            tenant="acme",
            identity=None,
            subject=sub,
            dialect="anthropic-messages",
            model="claude-sonnet-5-5",
            policy="refund-desk",
            revision="8" * 64,
            language="de",
            phrase="ich will zum chef",
            reason="handoff",
            result="Jemand ruft Sie an.",
            facts=(FactRead("account", "cus_1", NOW, {}),),
            escalation="esc_01KB9VQ2YTJ8C0000000000014",
        ),
        Compacted(
            receipt="rc_9",
            time=NOW,
            exchange=ex,
            tenant="t",
            dialect="anthropic-messages",
            model="m",
            edit=Edit.COMPACTED,
            count=2,
            bytes_saved=4000,
            tokens_saved=1000,
            subject=sub,
            tokens_before=1500,
            tokens_after=500,
        ),
    )


def _chain(records: Iterable[Record], writer: str = WRITER) -> list[Sealed]:
    """Sealed with salts that follow from the place, which only a test may do."""
    chain, head = [], start(writer)
    for record in records:
        salt = hashlib.sha256(f"{writer} {head.seq + 1}".encode()).digest()
        chain.append(seal(record, canonical(record), after=head, salt=salt))
        head = chain[-1].head
    return chain


def _faults(chain: Iterable[Sealed], noted: Iterable[Head] = ()) -> list[tuple[Fault, int]]:
    return [(finding.fault, finding.seq) for finding in verify(chain, pruned={}, noted=noted).findings]


def test_a_decided_record_holds_all_of_its_decision() -> None:
    """Every field of a decision that is evidence is in the record; the reply and its words are in the result."""
    kept = {"digest": "argument_digest"}
    left_out = {"reply", "message", "next", "summary"}  # in `result`, and in the case
    left_out |= {"asks"}  # in the case: its rows and facts are in `verdicts` and `facts`
    left_out |= {"obligations"}  # what they hold is in the `reserved` record

    record = _decided()

    for name in Decision.__struct_fields__:
        if name not in left_out:
            assert getattr(record, kept.get(name, name)) == getattr(DECISION, name)


def test_the_payload_says_what_was_decided_in_words() -> None:
    """A payload reads without this code: words for enums, UTC times, numbers as spelled, each verdict with its rule."""
    payload: Any = parse_envelope(canonical(_decided()))

    assert (payload["ruling"], payload["category"], payload["mode"], payload["proposer"]) == (
        "escalate",
        "escalated",
        "enforce",
        "model",
    )
    assert [verdict["rule"] for verdict in payload["verdicts"]] == ["", "process_refund.rules[1]"]
    assert payload["facts"][0]["as_of"] == "2026-11-30T12:00:00.250000Z"
    assert b'"amount":847.00' in canonical(_decided())


def test_canonical_bytes_do_not_depend_on_the_order_of_keys() -> None:
    """Two records that say the same are the same bytes, in whatever order and mapping their parts came."""
    record = _decided()
    turned = structs.replace(
        record,
        arguments=dict(reversed(list(cast("dict[str, Json]", record.arguments).items()))),
        latencies=MappingProxyType(dict(reversed(list(record.latencies.items())))),
    )

    assert canonical(turned) == canonical(record)


@pytest.mark.parametrize(
    "bad", ["\ud800", Decimal("NaN"), {1: "x"}, object(), b"\xff\x00".decode("utf-8", "surrogateescape")]
)
def test_what_has_no_canonical_form_is_refused_without_its_value(bad: Any) -> None:
    """A value that strict JSON cannot bear is an error whose message does not hold it."""
    with pytest.raises(ReceiptError, match=r"^a decided record cannot be written as JSON$"):
        canonical(structs.replace(_decided(), arguments={"secret": bad}))


def test_times_are_utc_and_sort_as_text() -> None:
    """A time is UTC with microseconds at a fixed width; one without an offset is refused."""
    assert stamp(datetime(2026, 1, 2, 1, tzinfo=timezone(timedelta(hours=2)))) == "2026-01-01T23:00:00.000000Z"
    with pytest.raises(ReceiptError, match="without an offset"):
        stamp(NOW.replace(tzinfo=None))
    times = [NOW + timedelta(microseconds=step * 333_333) for step in range(20)]
    assert [stamp(time) for time in times] == sorted(stamp(time) for time in times)


def test_each_kind_has_one_record_type() -> None:
    """The set of kinds is closed: every kind has exactly one type, and every type is in the golden chain."""
    types = [
        value
        for module in (receipts, operations)
        for value in vars(module).values()
        if isinstance(value, type) and isinstance(getattr(value, "kind", None), Kind)
    ]

    assert {one.kind for one in set(types)} == set(Kind)
    assert len(set(types)) == len(Kind)
    assert {record.kind for record in _one_of_each()} == set(Kind)
    assert kinds.Kind is Kind


def test_subjects_are_of_records_about_customers() -> None:
    """A record is about a subject exactly if it is not an operator's; payloads of the two live differently long."""
    for record in _one_of_each():
        has_subject = hasattr(record, "subject")
        assert has_subject != record.kind.is_administrative
        assert subject_of(record) == getattr(record, "subject", "")


def test_the_golden_chain_is_what_this_version_writes(root: Path) -> None:
    """Stored chains stay verifiable: the same records give the same lines for ever.

    A difference is a new schema number, with this one still read; a line of the file is never edited, and a new kind of
    record is a line behind all others.
    """
    golden = (root / "fixtures" / "receipts" / "chain_v1.jsonl").read_bytes()

    written = b"".join(to_line(record) + b"\n" for record in _chain(_one_of_each()))

    assert written == golden
    assert hashlib.sha256(golden).hexdigest() == GOLDEN
    for count, digest in GOLDEN_FIRST.items():
        assert hashlib.sha256(b"".join(line + b"\n" for line in golden.split(b"\n")[:count])).hexdigest() == digest


def test_the_golden_chain_verifies(root: Path) -> None:
    """What stands in the file verifies as it stands, and its head is the one that was noted."""
    lines = (root / "fixtures" / "receipts" / "chain_v1.jsonl").read_bytes().split(b"\n")
    chain = [from_line(line) for line in lines if line]

    report = verify(chain, pruned={}, noted=[Head.parse(GOLDEN_HEAD)])

    assert (report.findings, report.records, [str(head) for head in report.heads]) == ((), len(Kind) + 2, [GOLDEN_HEAD])


@given(payload=st.binary(max_size=3000), salt=st.binary(max_size=100) | st.binary(min_size=32, max_size=32))
def test_a_commitment_is_the_hmac_of_the_standard_library(payload: bytes, salt: bytes) -> None:
    """It is worked out from two hashes, for the time that takes; for any salt and payload it is the same."""
    assert commit_to(payload, salt) == hmac.digest(salt, payload, "sha256").hex()


_OFFSETS = st.timedeltas(timedelta(hours=-23), timedelta(hours=23)).map(timezone) | st.just(UTC)


@given(time=st.datetimes(timezones=_OFFSETS).filter(lambda time: 1 < time.year < 9999), whole=st.booleans())
def test_a_stamp_is_the_time_in_utc_in_fixed_width(time: datetime, whole: bool) -> None:
    """For any time and offset: what the standard library writes, and it reads back as the same moment."""
    time = time.replace(microsecond=0) if whole else time
    told = stamp(time)
    assert told == time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    assert (len(told), datetime.fromisoformat(told)) == (27, time)


def test_hashes_are_what_the_documentation_says() -> None:
    """The commitment is the HMAC-SHA-256 of the payload under its salt; the link covers each field of the header."""
    [record] = _chain([_decided()])
    assert record.payload is not None
    assert record.salt is not None

    assert record.commitment == commit_to(record.payload, record.salt)
    assert (record.seq, record.prev) == (1, GENESIS)
    for name in ("schema", "digest", "writer", "seq", "prev", "kind", "receipt", "time", "commitment"):
        value = getattr(record, name)
        assert link(replace(record, **{name: value + (1 if isinstance(value, int) else "x")})) != record.hash


CHAIN = _chain([_decided() for _ in range(8)])
places = st.integers(0, len(CHAIN) - 1)


@given(
    place=places,
    name=st.sampled_from(["kind", "receipt", "time", "prev", "commitment", "hash", "payload", "salt"]),
    at=st.integers(0, 31),
)
def test_any_altered_character_is_found(place: int, name: str, at: int) -> None:
    """One changed character or byte anywhere in a record is found, at that record."""
    value = getattr(CHAIN[place], name)
    at %= len(value)
    other = bytes([value[at] ^ 1]) if isinstance(value, bytes) else chr(ord(value[at]) ^ 1)
    chain = [*CHAIN]
    chain[place] = replace(CHAIN[place], **{name: value[:at] + other + value[at + 1 :]})

    assert _faults(chain)[0][1] == place + 1


@given(place=places)
def test_any_removed_record_but_the_last_is_found(place: int) -> None:
    """Without one record the next one tells; without the last nothing does, which only a noted head shows."""
    chain = CHAIN[:place] + CHAIN[place + 1 :]
    noted = [CHAIN[-1].head]

    if place == len(CHAIN) - 1:
        assert _faults(chain) == []
        assert _faults(chain, noted) == [(Fault.CUT, len(CHAIN))]
    else:
        assert _faults(chain) == [(Fault.REMOVED, place + 2)]


@given(order=st.permutations(range(len(CHAIN))))
def test_any_other_order_is_found(order: list[int]) -> None:
    """A chain verifies in one order only."""
    assert (_faults(CHAIN[place] for place in order) == []) == (order == sorted(order))


@given(place=places)
def test_a_record_that_stands_twice_is_found(place: int) -> None:
    """A place of a chain is taken once."""
    assert _faults([*CHAIN[: place + 1], *CHAIN[place:]]) == [(Fault.REORDERED, place + 1)]


@given(place=places, name=st.sampled_from(["kind", "receipt", "time", "hash"]))
def test_one_alteration_is_one_finding(place: int, name: str) -> None:
    """Whether a header or only its hash was altered, the records behind it are not blamed."""
    chain = [*CHAIN]
    chain[place] = replace(CHAIN[place], **{name: "released" if name == "kind" else "0" * 64})

    assert _faults(chain) == [(Fault.ALTERED, place + 1)]


@given(places, places)
def test_swapped_payloads_are_found(one: int, other: int) -> None:
    """Payload and salt of one record do not fit another, though the payloads be equal."""
    chain = [*CHAIN]
    chain[one] = replace(CHAIN[one], payload=CHAIN[other].payload, salt=CHAIN[other].salt)

    assert _faults(chain) == ([] if one == other else [(Fault.PAYLOAD_ALTERED, one + 1)])


@given(place=places)
def test_a_rewritten_end_needs_a_noted_head(place: int) -> None:
    """Who rewrites a chain from some record to its end leaves a chain that verifies; a head kept outside finds it."""
    changed = structs.replace(_decided(), tool="another")
    rewritten = _chain([_decided()] * place + [changed] + [_decided()] * (len(CHAIN) - place - 1))

    assert _faults(rewritten) == []
    assert _faults(rewritten, [CHAIN[-1].head]) == [(Fault.HEAD_DIFFERS, len(CHAIN))]
    assert any("rewritten" in limit for limit in LIMITS)


def test_chains_are_checked_each_for_itself() -> None:
    """A second writer's chain neither helps nor harms the first's."""
    other = _chain([_decided(), _decided()], "w_X")

    report = verify([*CHAIN, *other], pruned={})

    assert (report.findings, report.heads) == ((), (CHAIN[-1].head, other[-1].head))
    assert _faults([*CHAIN, *other[1:]]) == [(Fault.REMOVED, 2)]


def test_an_erased_payload_is_no_fault_where_a_record_tells_of_it() -> None:
    """Without payload and salt a record verifies if an `erased` record of any chain names it; else it is missing."""
    teller = _chain([_one_of_each()[11]], "w_A")  # names record 3
    bare = [*CHAIN]
    bare[2] = replace(bare[2], payload=None, salt=None)
    half = [*CHAIN]
    half[2] = replace(half[2], salt=None)

    told = verify([*teller, *bare], pruned={})

    assert (told.findings, told.erased, told.records) == ((), 1, 9)
    assert _faults(bare) == [(Fault.PAYLOAD_MISSING, 3)]
    assert _faults([*teller, *half]) == [(Fault.PAYLOAD_ALTERED, 3)]


def test_an_altered_teller_tells_nothing() -> None:
    """An `erased` record whose payload was altered excuses no missing payload."""
    [teller] = _chain([_one_of_each()[11]], "w_A")
    assert teller.payload is not None
    forged = replace(teller, payload=teller.payload.replace(b'"last":3', b'"last":4'))
    bare = [*CHAIN]
    bare[2] = replace(bare[2], payload=None, salt=None)

    assert (Fault.PAYLOAD_MISSING, 3) in _faults([forged, *bare])


def test_a_pruned_chain_follows_its_anchor() -> None:
    """What is left of a chain must follow the place up to which it was removed."""
    anchor = CHAIN[3].head

    assert verify(CHAIN[4:], pruned={WRITER: anchor}).findings == ()
    assert verify(CHAIN[5:], pruned={WRITER: anchor}).findings[0].fault is Fault.REMOVED
    assert (
        verify(CHAIN[4:], pruned={WRITER: structs.replace(anchor, hash="f" * 64)}).findings[0].fault is Fault.UNLINKED
    )
    assert verify(CHAIN[4:], pruned={}).findings[0].fault is Fault.REMOVED
    assert verify([], pruned={WRITER: anchor}, noted=[anchor]).findings == ()
    assert verify(CHAIN[4:], pruned={WRITER: anchor}, noted=[CHAIN[1].head]).unchecked == (CHAIN[1].head,)


def test_findings_read_as_sentences() -> None:
    """A finding names the place, the receipt and what is wrong."""
    text = str(Finding(Fault.REMOVED, "w_A", 7, "rc_1"))

    assert text == "w_A:7 (rc_1): records before this one were removed"
    assert str(Head.parse(GOLDEN_HEAD)) == GOLDEN_HEAD


spans = st.lists(
    st.builds(lambda w, a, n: Span(w, a, a + n), st.sampled_from("ab"), st.integers(1, 20), st.integers(0, 6))
)


def _places(some: Iterable[Span]) -> set[tuple[str, int]]:
    return {(span.writer, seq) for span in some for seq in range(span.first, span.last + 1)}


@given(spans, spans)
def test_spans_are_sets_of_places(some: list[Span], covers: list[Span]) -> None:
    """Spans made from places hold exactly these, as few as can be; what is uncovered is the difference of the sets."""
    made = spans_from(_places(some))

    assert _places(made) == _places(some)
    assert all(a.writer != b.writer or a.last + 1 < b.first for a, b in pairwise(made))
    assert _places(uncovered(some, covers)) == _places(some) - _places(covers)
    record = Erased(receipt="rc_1", time=NOW, by="anna", cause=ErasureCause.RETENTION, spans=made)
    assert spans_of(canonical(record)) == made


@pytest.mark.parametrize(
    "payload", [b"", b"[]", b"{}", b'{"spans":1}', b'{"spans":[1,{"writer":"w","first":"1","last":2}]}']
)
def test_a_payload_that_names_no_spans_names_none(payload: bytes) -> None:
    """Whatever stands in the place of a payload, reading its spans does not raise."""
    assert spans_of(payload) == ()
