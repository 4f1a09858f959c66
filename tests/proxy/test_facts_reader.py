"""Facts are read fresh, from where the policy says, within bounds, and whatever happens is an answer."""

from __future__ import annotations

import asyncio
import gzip
import os
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from interceptors.context import FactDocument, FactFailed, FactFailure, FactKey, FactResult
from policies.loader import load_policy_text
from policies.patterns import Pattern
from policies.problems import DocumentError
from policies.secrets import SecretError
from proxy.environment import Environment
from proxy.fact_sources import FactSource, FileReading, HttpReading, fact_source
from proxy.facts_reader import FactsReader
from proxy.limits import Limits

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LIMITS = Limits(fact_bytes_max=2048, fact_failures_max=3, fact_cool_down_ms=200)
ANY = Pattern.compile("(?s).*")


class Back:
    """A back end that answers as it is told, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.answer = web.Response
        self.status = 200
        self.body = b'{"id": "A1", "paid": 10.50}'
        self.sent: dict[str, str] = {}
        self.delay = 0.0
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.raw_path)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        if self.delay:
            await asyncio.sleep(self.delay)
        return web.Response(status=self.status, body=self.body, headers=self.sent)

    def source(
        self, path: str = "/orders/{key}", timeout: float = 2.0, key: Pattern = ANY, **headers: str
    ) -> FactSource:
        return FactSource("order", key, timeout, HttpReading(self.url + path, headers))


@asynccontextmanager
async def _serving(back: Back) -> AsyncIterator[Back]:
    app = web.Application()
    app.router.add_route("*", "/{any:.*}", back.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    back.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield back
    finally:
        await runner.cleanup()


@pytest.fixture
async def back() -> AsyncIterator[Back]:
    async with _serving(Back()) as served:
        yield served


@pytest.fixture
async def reads() -> list[tuple[str, FactFailure | None]]:
    return []


@pytest.fixture
async def reader(reads: list[tuple[str, FactFailure | None]]) -> AsyncIterator[FactsReader]:
    made = FactsReader(LIMITS, lambda: NOW, lambda fact, failure: reads.append((fact, failure)))
    yield made
    await made.close()


async def _one(reader: FactsReader, source: FactSource, key: str = "A1") -> FactResult:
    return (await reader.read([FactKey("order", key)], {"order": source}))[FactKey("order", key)]


def _failure(result: FactResult) -> FactFailure | None:
    return result.failure if isinstance(result, FactFailed) else None


async def test_a_record_is_read_exactly_and_with_its_time(back: Back, reader: FactsReader) -> None:
    """Numbers keep their spelling; the headers of the policy go along, and nothing of anybody else's."""
    result = await _one(reader, back.source(authorization="Bearer sesame"))

    assert result == FactDocument({"id": "A1", "paid": Decimal("10.50")}, NOW)
    assert back.asked == ["/orders/A1"]
    assert back.headers[0]["authorization"] == "Bearer sesame"
    assert back.headers[0]["accept-encoding"] == "identity"
    assert "cookie" not in back.headers[0]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, None),
        (404, FactFailure.MISSING),
        (410, FactFailure.MISSING),
        (201, FactFailure.UNAVAILABLE),
        (204, FactFailure.UNAVAILABLE),
        (206, FactFailure.UNAVAILABLE),
        (301, FactFailure.UNAVAILABLE),
        (302, FactFailure.UNAVAILABLE),
        (307, FactFailure.UNAVAILABLE),
        (400, FactFailure.UNAVAILABLE),
        (401, FactFailure.UNAVAILABLE),
        (403, FactFailure.UNAVAILABLE),
        (429, FactFailure.UNAVAILABLE),
        (500, FactFailure.UNAVAILABLE),
        (503, FactFailure.UNAVAILABLE),
    ],
)
async def test_each_status_has_one_meaning(
    back: Back, reader: FactsReader, reads: list, status: int, expected: FactFailure | None
) -> None:
    """Only 200 is a record, only 404 and 410 say that there is none; each read is counted."""
    back.status, back.sent = status, {"Location": "/elsewhere"}
    if status == 204:
        back.body = b""

    assert _failure(await _one(reader, back.source())) is expected
    assert reads == [("order", expected)]


async def test_a_redirect_is_not_followed_and_a_cookie_not_kept(back: Back, reader: FactsReader) -> None:
    """A source that can send the gate elsewhere, or mark it, would choose what the gate believes."""
    back.sent = {"Set-Cookie": "a=1; Path=/"}
    await _one(reader, back.source())
    back.status, back.sent = 302, {"Location": f"{back.url}/orders/OTHER"}
    await _one(reader, back.source())

    assert back.asked == ["/orders/A1", "/orders/A1"]
    assert "cookie" not in back.headers[1]


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        (b"", {}),
        (b"not json", {}),
        (b'["A1"]', {}),
        (b"null", {}),
        (b'{"id": "A1", "id": "A2"}', {}),
        (b'{"paid": NaN}', {}),
        (b'{"id": "A1"} trailing', {}),
        (b'{"id": "\xff"}', {}),
        (b"[" * 2000, {}),
        (b'{"a": "' + b"x" * 4096 + b'"}', {}),
        (gzip.compress(b'{"id": "A1"}', mtime=0), {"Content-Encoding": "gzip"}),
    ],
)
async def test_what_is_not_one_strict_object_within_its_bound_is_invalid(
    back: Back, reader: FactsReader, body: bytes, sent: dict[str, str]
) -> None:
    """A fact that two parsers could read in two ways authorises nothing."""
    back.body, back.sent = body, sent

    assert _failure(await _one(reader, back.source())) is FactFailure.INVALID


async def test_a_slow_source_times_out_and_a_dead_one_is_unavailable(back: Back, reader: FactsReader) -> None:
    """Both within the fact's own time-out."""
    back.delay = 5
    slow = await _one(reader, back.source(timeout=0.05))
    dead = await _one(reader, replace(back.source(), reading=HttpReading("http://127.0.0.1:1/{key}", {})))

    assert (_failure(slow), _failure(dead)) == (FactFailure.TIMEOUT, FactFailure.UNAVAILABLE)


@pytest.mark.parametrize(
    "key", ["", ".", "..", "A\n", "A\0", "A\x7f", "\ud800", "A1 ", "a1", "../A1", "A1/../B2", "A" * 600]
)
async def test_a_key_that_its_pattern_does_not_accept_is_never_asked_for(
    back: Back, reader: FactsReader, key: str
) -> None:
    """Defence in depth: whatever let it come this far."""
    result = await _one(reader, back.source(key=Pattern.compile("[A-Z][0-9]+")), key)

    assert _failure(result) is FactFailure.INVALID
    assert back.asked == []


@pytest.mark.parametrize("key", [".", "..", ""])
async def test_a_key_that_is_a_step_of_a_path_is_refused_whatever_the_pattern(
    back: Back, reader: FactsReader, key: str
) -> None:
    """Percent-encoding does not help there: a dot is sent as a dot."""
    assert _failure(await _one(reader, back.source(), key)) is FactFailure.INVALID
    assert back.asked == []


@pytest.mark.parametrize(
    ("key", "asked"),
    [
        ("A/B", "/orders/A%2FB"),
        ("A?b=c", "/orders/A%3Fb%3Dc"),
        ("A#b", "/orders/A%23b"),
        ("../x", "/orders/..%2Fx"),
        ("%2e%2e", "/orders/%252e%252e"),
        ("A;b", "/orders/A%3Bb"),
        ("é", "/orders/%C3%A9"),
        ("a b", "/orders/a%20b"),
        ("a\\b", "/orders/a%5Cb"),
        ("a@b:c", "/orders/a%40b%3Ac"),
        ("{key}", "/orders/%7Bkey%7D"),
    ],
)
async def test_a_key_is_one_segment_on_the_wire(back: Back, reader: FactsReader, key: str, asked: str) -> None:
    """Nothing in a key ends the segment, begins a query, or is decoded twice."""
    await _one(reader, back.source(), key)

    assert back.asked == [asked]


@given(key=st.text(min_size=1, max_size=20))
def test_whatever_the_key_the_target_is_one_segment_below_the_same_host(key: str) -> None:
    """Scheme, host, port, the segments around it and the query are the policy's, for any key that is accepted."""
    source = FactSource("order", ANY, 1.0, HttpReading("https://h.example:8443/a/{key}/b?x=1", {}))
    if not source.accepts(key):
        return

    url = source.reading.target(key)

    assert (url.scheme, url.host, url.port, url.raw_query_string, url.raw_fragment) == (
        "https",
        "h.example",
        8443,
        "x=1",
        "",
    )
    segments = url.raw_path.split("/")
    assert (segments[1], segments[3], len(segments)) == ("a", "b", 4)
    assert segments[2] not in ("", ".", "..")


async def test_the_calls_of_one_decision_share_a_read_and_the_next_decision_reads_anew(
    back: Back, reader: FactsReader
) -> None:
    """One answer for each (fact, key), kept for nobody."""
    keys = [FactKey("order", "A1"), FactKey("order", "B2"), FactKey("order", "A1")]
    results = await reader.read(keys, {"order": back.source()})
    assert sorted(back.asked) == ["/orders/A1", "/orders/B2"]
    assert set(results) == set(keys)

    await reader.read(keys, {"order": back.source()})
    assert len(back.asked) == 4


async def test_facts_are_read_at_the_same_time_and_no_more_than_allowed(back: Back) -> None:
    """Ten reads of 0.1 s take about 0.1 s, and with two turns about 0.5 s."""
    back.delay = 0.1
    loop = asyncio.get_running_loop()
    for turns, least, most in ((10, 0.09, 0.4), (2, 0.45, 1.5)):
        reader = FactsReader(replace(LIMITS, facts_concurrent_max=turns), lambda: NOW, lambda *_: None)
        started = loop.time()
        results = await reader.read([FactKey("order", f"A{i}") for i in range(10)], {"order": back.source()})
        assert least <= loop.time() - started <= most
        assert all(_failure(result) is None for result in results.values())
        await reader.close()


async def test_waiting_for_a_turn_counts_against_the_time_out(back: Back) -> None:
    """A call is held no longer because others wait too."""
    back.delay = 0.2
    reader = FactsReader(replace(LIMITS, facts_concurrent_max=1), lambda: NOW, lambda *_: None)

    results = await reader.read([FactKey("order", f"A{i}") for i in range(3)], {"order": back.source(timeout=0.3)})
    await reader.close()

    assert sorted(str(_failure(result)) for result in results.values()) == sorted(
        ["None", str(FactFailure.TIMEOUT), str(FactFailure.TIMEOUT)]
    )


async def test_a_source_that_keeps_failing_is_left_alone_and_then_tried(back: Back, reader: FactsReader) -> None:
    """After three failures it is not asked; after the cool-down one read finds it well."""
    back.status = 503
    for _ in range(5):
        assert _failure(await _one(reader, back.source())) is FactFailure.UNAVAILABLE
    assert len(back.asked) == 3

    back.status = 200
    await asyncio.sleep(0.25)
    assert _failure(await _one(reader, back.source())) is None
    assert _failure(await _one(reader, back.source())) is None


async def test_answers_that_are_of_no_use_do_not_open_the_breaker(back: Back, reader: FactsReader) -> None:
    """A customer who asks for orders that do not exist must not shut the others out."""
    back.status = 404
    for _ in range(10):
        await _one(reader, back.source())

    assert len(back.asked) == 10


async def test_a_client_that_leaves_ends_the_read_and_does_not_count_against_the_source(
    back: Back, reader: FactsReader
) -> None:
    """Cancelling is not failing."""
    back.delay = 1
    for _ in range(4):
        task = asyncio.ensure_future(_one(reader, back.source()))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    back.delay = 0

    assert _failure(await _one(reader, back.source())) is None


async def test_a_fact_that_no_source_has_is_unavailable(reader: FactsReader) -> None:
    """It never raises."""
    key = FactKey("nobody", "A1")

    assert _failure((await reader.read([key], {}))[key]) is FactFailure.UNAVAILABLE


def _file(path: Path) -> FactSource:
    return FactSource("order", ANY, 2.0, FileReading(path))


async def test_a_file_holds_one_record_or_all_of_them(tmp_path: Path, reader: FactsReader) -> None:
    """Both forms; what is not there is missing, what is no record is invalid, and no file at all is unavailable."""
    (tmp_path / "A1.json").write_text('{"paid": 1}')
    (tmp_path / "all.json").write_text('{"A1": {"paid": 2}, "B2": 3}')
    (tmp_path / "bad.json").write_text("{")
    one, many, none = (_file(tmp_path / name) for name in ("{key}.json", "all.json", "none.json"))

    assert await _one(reader, one) == FactDocument({"paid": 1}, NOW)
    assert await _one(reader, many) == FactDocument({"paid": 2}, NOW)
    failures = [
        _failure(await _one(reader, source, key))
        for source, key in (
            (one, "Z9"),
            (many, "Z9"),
            (many, "B2"),
            (one, "bad"),
            (none, "A1"),
        )
    ]
    assert failures == [
        FactFailure.MISSING,
        FactFailure.MISSING,
        FactFailure.INVALID,
        FactFailure.INVALID,
        FactFailure.UNAVAILABLE,
    ]


async def test_a_file_is_read_anew_each_time(tmp_path: Path, reader: FactsReader) -> None:
    """A fact is what it is now."""
    (tmp_path / "A1.json").write_text('{"paid": 1}')
    first = await _one(reader, _file(tmp_path / "{key}.json"))
    (tmp_path / "A1.json").write_text('{"paid": 2}')

    assert first != await _one(reader, _file(tmp_path / "{key}.json"))


@pytest.mark.parametrize("key", ["../secret", "/etc/passwd", "a/b", "a\\b", "..", ".", "", "a\0"])
async def test_a_key_never_leaves_its_folder(tmp_path: Path, reader: FactsReader, key: str) -> None:
    """Not upwards, not to the root, not into a folder."""
    (tmp_path / "secret.json").write_text('{"paid": 1}')
    inner = tmp_path / "records"
    inner.mkdir()

    assert _failure(await _one(reader, _file(inner / "{key}.json"), key)) is FactFailure.INVALID


async def test_a_file_that_is_too_large_or_no_file_does_not_hold_the_reader(
    tmp_path: Path, reader: FactsReader
) -> None:
    """A pipe would be waited for until somebody writes into it."""
    os.mkfifo(tmp_path / "A1.json")
    (tmp_path / "B2.json").mkdir()
    (tmp_path / "C3.json").write_text('{"a": "' + "x" * 4096 + '"}')
    source = _file(tmp_path / "{key}.json")

    failures = [_failure(await _one(reader, source, key)) for key in ("A1", "B2", "C3")]

    assert failures == [FactFailure.UNAVAILABLE, FactFailure.UNAVAILABLE, FactFailure.INVALID]


def _declared(http: str) -> str:
    return (
        "language: 1\npolicy: p\nfacts:\n  order:\n    key: {pattern: '[A-Z]+'}\n"
        f"    http: '{http}'\n    headers: {{authorization: 'Bearer ${{TOKEN}}'}}\n    fields: {{paid: number}}\n"
    )


def test_a_source_gets_its_secrets_and_shows_none() -> None:
    """The URL and the headers of the policy, expanded; a `repr` in a log shows neither."""
    fact = load_policy_text(_declared("${URL}/orders/{key}")).facts["order"]

    source = fact_source(fact, Environment({"URL": "http://h:1", "TOKEN": "sesame"}.get, lambda _: ""))

    assert isinstance(source.reading, HttpReading)
    assert str(source.reading.target("A")) == "http://h:1/orders/A"
    assert source.reading.headers == {"authorization": "Bearer sesame"}
    assert "sesame" not in repr(source)
    assert "h:1" not in repr(source)


@pytest.mark.parametrize(
    ("variables", "error"),
    [
        ({"URL": "http://h"}, SecretError),
        ({"TOKEN": "t"}, SecretError),
        ({"URL": "http://h", "TOKEN": "sesame\r\nx: y"}, SecretError),
        ({"URL": "ftp://sesame", "TOKEN": "t"}, DocumentError),
        ({"URL": "sesame", "TOKEN": "t"}, DocumentError),
        ({"URL": "http://u:sesame@h", "TOKEN": "t"}, DocumentError),
        ({"URL": "http://h/#sesame", "TOKEN": "t"}, DocumentError),
        ({"URL": "http://{key}", "TOKEN": "t"}, DocumentError),
        ({"URL": "http://h:sesame", "TOKEN": "t"}, DocumentError),
    ],
)
def test_a_url_or_header_that_expands_to_none_is_an_error_that_shows_nothing(
    variables: dict[str, str], error: type[Exception]
) -> None:
    """A start error, not a request to somewhere."""
    fact = load_policy_text(_declared("${URL}/orders/{key}")).facts["order"]

    with pytest.raises(error) as refusal:
        fact_source(fact, Environment(variables.get, lambda _: ""))

    assert "sesame" not in str(refusal.value)
