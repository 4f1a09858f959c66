"""What crosses the gate in header fields: nothing that two servers read differently, nothing that is the gate's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.headers import (
    CONSUMED_PREFIX,
    HOP_BY_HOP,
    METHOD_OVERRIDE,
    SINGLE,
    HeadersRefusedError,
    asks_for_upgrade,
    headers_down,
    headers_up,
    read_request_headers,
)

SESSION = "x-session"

Raw = list[tuple[bytes, bytes]]


@pytest.mark.parametrize("name", sorted(SINGLE | {SESSION}))
@pytest.mark.parametrize("second", [str.lower, str.upper, str.title])
def test_a_single_valued_field_twice_is_refused_in_any_case(name: str, second) -> None:
    """Two values of a field that frames, types or authorises the request are never chosen between."""
    raw: Raw = [(name.encode(), b"1"), (second(name).encode(), b"1")]

    with pytest.raises(HeadersRefusedError, match="more than once"):
        read_request_headers(raw, session_header=SESSION)


@pytest.mark.parametrize(
    "name", sorted(n for n in SINGLE | HOP_BY_HOP | METHOD_OVERRIDE | {SESSION, "x-callgate-mode"} if "-" in n)
)
def test_an_underscore_spelling_of_a_field_that_matters_is_refused(name: str) -> None:
    """A server behind that reads `_` as `-` would see a field that was not examined here."""
    with pytest.raises(HeadersRefusedError, match="another spelling"):
        read_request_headers([(name.replace("-", "_").encode(), b"1")], session_header=SESSION)


@pytest.mark.parametrize("name", sorted(METHOD_OVERRIDE))
def test_a_method_override_is_refused(name: str) -> None:
    """The method is the request line's; a field cannot make a GET of a POST."""
    with pytest.raises(HeadersRefusedError, match="method"):
        read_request_headers([(name.title().encode(), b"DELETE")])


@pytest.mark.parametrize("name", sorted((SINGLE - HOP_BY_HOP) | {SESSION, "x-callgate-tenant"}))
def test_connection_may_not_name_an_end_to_end_field(name: str) -> None:
    """`Connection: x-api-key` would have a field taken out that the decision rests on."""
    raw: Raw = [(b"Connection", b"keep-alive, " + name.upper().encode())]

    with pytest.raises(HeadersRefusedError, match="end-to-end"):
        read_request_headers(raw, session_header=SESSION)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (b"X-A", b"a\r\nX-Api-Key: other"),
        (b"X-A", b"a\nb"),
        (b"X-A", b"a\0b"),
        (b"X-A", b"\xff\xfe"),
        (b"X\xc3\xa4", b"1"),
        (b"X A", b"1"),
        (b"X-A:", b"1"),
        (b"", b"1"),
    ],
)
def test_a_field_that_is_not_well_formed_is_refused_and_not_shown(name: bytes, value: bytes) -> None:
    """Line breaks, NUL, bytes that are no UTF-8, names that are no token: refused, the value in no message."""
    with pytest.raises(HeadersRefusedError) as refusal:
        read_request_headers([(name, value)])

    assert "other" not in str(refusal.value)


def test_what_is_not_listed_goes_up_verbatim_in_order_and_as_often_as_it_came() -> None:
    """Unknown fields, betas, repeated fields and odd case are the client's and the provider's business."""
    raw: Raw = [
        (b"Host", b"127.0.0.1:8080"),
        (b"anthropic-beta", b"a-2025-01-01"),
        (b"X-Api-Key", b"k"),
        (b"anthropic-BETA", b"b-2025-01-01"),
        (b"User-Agent", b"sdk/1.0 (caf\xc3\xa9)"),
        (b"Accept-Encoding", b"gzip, br"),
        (b"Content-Length", b"12"),
        (b"Content-Type", b"application/json"),
        (b"Content-Encoding", b"gzip"),
        (b"Expect", b"100-continue"),
        (b"Cookie", b"a=1"),
    ]

    up = headers_up(read_request_headers(raw))

    assert up == (
        ("anthropic-beta", "a-2025-01-01"),
        ("X-Api-Key", "k"),
        ("anthropic-BETA", "b-2025-01-01"),
        ("User-Agent", "sdk/1.0 (café)"),
        ("Content-Type", "application/json"),
        ("Content-Encoding", "gzip"),
        ("Cookie", "a=1"),
        ("Accept-Encoding", "identity"),
    )


def test_the_gates_own_fields_and_the_session_header_stay_here() -> None:
    """`x-callgate-*` and the signed subject are consumed, whatever their case."""
    raw: Raw = [(b"X-Callgate-Mode", b"x"), (b"X-Session", b"v1.a.b"), (b"x-callgates", b"not ours")]

    up = headers_up(read_request_headers(raw, session_header=SESSION), session_header=SESSION)

    assert up == (("x-callgates", "not ours"), ("Accept-Encoding", "identity"))


def test_hop_by_hop_fields_and_those_connection_names_are_stripped_both_ways() -> None:
    """RFC 9110, 7.6.1: none of them is for the next hop."""
    raw: Raw = [(name.encode(), b"1") for name in sorted(HOP_BY_HOP - {"connection"})]
    raw += [(b"Connection", b"close, X-Private"), (b"x-private", b"1"), (b"X-Kept", b"1")]

    up = headers_up(read_request_headers(raw))
    down = headers_down(raw)

    assert up == (("X-Kept", "1"), ("Accept-Encoding", "identity"))
    assert down == (("X-Kept", "1"),)


def test_a_decoded_body_goes_up_without_its_content_encoding() -> None:
    """A body that was decoded must not be announced as encoded."""
    raw: Raw = [(b"Content-Encoding", b"gzip"), (b"Content-Type", b"application/json")]

    up = headers_up(read_request_headers(raw), decoded=True)

    assert [name for name, _ in up] == ["Content-Type", "Accept-Encoding"]


def test_a_provider_cannot_speak_for_the_gate_or_name_a_way_round_it() -> None:
    """`x-callgate-*` from above would forge a receipt id; `alt-svc` would name another origin. Cookies stay apart."""
    raw: Raw = [
        (b"X-Callgate-Receipt", b"rc_forged"),
        (b"Alt-Svc", b'h3="api.example.com:443"'),
        (b"Content-Length", b"5"),
        (b"Set-Cookie", b"a=1"),
        (b"Set-Cookie", b"b=2"),
        (b"request-id", b"req_1"),
    ]

    down = headers_down(raw)

    assert down == (("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("request-id", "req_1"))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ([(b"Upgrade", b"websocket"), (b"Connection", b"Upgrade")], True),
        ([(b"Connection", b"keep-alive, UPGRADE")], True),
        ([(b"Upgrade", b"h2c")], True),
        ([(b"Connection", b"keep-alive")], False),
    ],
)
def test_an_upgrade_is_seen_in_either_field(raw: Raw, expected: bool) -> None:
    """A connection that speaks another protocol would not be read."""
    assert asks_for_upgrade(read_request_headers(raw)) is expected


_NAMES = st.sampled_from(
    sorted(
        {n for n in HOP_BY_HOP | SINGLE if n != "connection"}
        | {"x-callgate-a", "X-CALLGATE-b", "accept-encoding", "expect", "X-Other", "anthropic-beta", SESSION}
    )
)


@given(st.lists(st.tuples(_NAMES, st.text("abc ", max_size=4)), max_size=12))
def test_whatever_comes_nothing_of_the_gates_or_of_this_hop_goes_up(fields: list[tuple[str, str]]) -> None:
    """For any mix: refused, or no consumed, hop-by-hop or framing field goes up, and the one encoding is identity."""
    try:
        headers = read_request_headers([(n.encode(), v.encode()) for n, v in fields], session_header=SESSION)
    except HeadersRefusedError:
        return

    up = headers_up(headers, session_header=SESSION)

    names = [name.lower() for name, _ in up]
    assert not {*names} & (HOP_BY_HOP | {"host", "content-length", "expect", SESSION})
    assert not any(name.startswith(CONSUMED_PREFIX) for name in names)
    assert [value for name, value in up if name.lower() == "accept-encoding"] == ["identity"]
