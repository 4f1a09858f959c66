"""The name of a conversation: the configured header, known clients' headers, then what the body names; else none."""

from __future__ import annotations

import itertools

import pytest

from proxy.headers import RequestHeaders, read_request_headers
from proxy.sessions import KNOWN_HEADERS, conversation_of
from proxy.wire.dialect import RequestView
from proxy.wire.envelope import EnvelopeError

ANYWHERE = "x-desk-ticket"


def view(metadata: bytes = b"", cache_key: bytes = b"") -> RequestView:
    return RequestView(metadata=metadata, cache_key=cache_key)


def header(name: str, value: str) -> RequestHeaders:
    return RequestHeaders(((name, value),), {name: [value]})


NOTHING = RequestHeaders((), {})
SOURCES = [
    (header(ANYWHERE, "v"), view()),
    *((header(name, "v"), view()) for name in KNOWN_HEADERS),
    (NOTHING, view(b'{"session_id":"v"}')),
    (NOTHING, view(b'{"conversation_id":"v"}')),
    (NOTHING, view(cache_key=b'"v"')),
]


def name(headers: RequestHeaders, request: RequestView, configured: str | None = ANYWHERE) -> str:
    return conversation_of(headers, request, configured)


def test_each_source_names_a_conversation_of_its_own() -> None:
    """The same words from two sources are two names; a name is a digest that does not show them."""
    names = [name(*source) for source in SOURCES]
    assert len(set(names)) == len(SOURCES)
    assert all(len(each) == 32 and set(each) <= set("0123456789abcdef") for each in names)
    assert names == [name(*source) for source in SOURCES]


@pytest.mark.parametrize(("first", "second"), list(itertools.pairwise(range(len(SOURCES)))))
def test_the_order_in_which_sources_count(first: int, second: int) -> None:
    """Of two sources in one request the earlier one names it."""
    headers = [SOURCES[place][0] for place in (first, second)]
    views = [SOURCES[place][1] for place in (first, second)]
    both = RequestHeaders((), {key: value for one in headers for key, value in one.by_name.items()})
    parts = [part.metadata[1:-1] for part in views if part.metadata]
    metadata = b"{" + b",".join(parts) + b"}" if parts else b""
    request = view(metadata, next((part.cache_key for part in views if part.cache_key), b""))
    assert name(both, request) == name(*SOURCES[first])


def test_a_header_that_is_not_configured_names_nothing() -> None:
    """Only the header of the configuration counts beside the known ones."""
    assert name(header(ANYWHERE, "v"), view(), None) == ""
    assert name(header(KNOWN_HEADERS[0], "v"), view(), None) == name(header(KNOWN_HEADERS[0], "v"), view())


@pytest.mark.parametrize(("length", "is_named"), [(0, False), (1, True), (200, True), (201, False)])
def test_a_name_in_a_header_has_a_length(length: int, is_named: bool) -> None:
    """An empty value names nothing, one beyond the bound neither; then the next source counts."""
    headers = header(KNOWN_HEADERS[0], "v" * length)
    assert bool(name(headers, view())) is is_named
    behind = view(b'{"session_id":"v"}')
    assert (name(headers, behind) == name(NOTHING, behind)) is not is_named


@pytest.mark.parametrize(
    "request_view",
    [
        view(),
        view(b"{}"),
        view(b'{"user_id":"v"}'),
        view(b'{"session_id":""}'),
        view(b'{"session_id":5}'),
        view(b'{"session_id":null,"conversation_id":{}}'),
        view(b'["session_id"]'),
        view(b'"session_id"'),
        view(cache_key=b'""'),
        view(cache_key=b"7"),
        view(cache_key=b"null"),
    ],
)
def test_what_is_no_name_names_nothing(request_view: RequestView) -> None:
    """Empty texts and other values do not put requests of several conversations under one name."""
    assert name(NOTHING, request_view) == ""


def test_a_session_that_is_no_text_leaves_the_next_source() -> None:
    """The conversation of the metadata and the cache key count where the session says nothing."""
    assert name(NOTHING, view(b'{"session_id":"","conversation_id":"v"}')) == name(*SOURCES[-2])
    assert name(NOTHING, view(b'{"session_id":""}', b'"v"')) == name(*SOURCES[-1])


@pytest.mark.parametrize("metadata", [b'{"session_id":"a","session_id":"b"}', b'{"session_id":"\\ud800"}'])
def test_metadata_with_two_readings_is_refused(metadata: bytes) -> None:
    """What names the conversation is read strictly, and the error is the request's."""
    with pytest.raises(EnvelopeError):
        name(NOTHING, view(metadata))


def test_the_names_count_in_any_case() -> None:
    """Fields of a request are found by their names in lower case, however the client spells them."""
    headers = read_request_headers([(b"X-Session-Id", b"v")])
    assert name(headers, view()) == name(header("x-session-id", "v"), view())
