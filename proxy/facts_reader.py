"""Reads the facts that a decision needs: fresh, at once, within bounds. It never raises; a failure is an answer.

What may be read is the policy's; what an answer means is the decision's. Nothing read here outlives the call of `read`.
"""

from __future__ import annotations

import asyncio
import os
import stat
from typing import TYPE_CHECKING, assert_never

import aiohttp

from interceptors.context import FactDocument, FactFailed, FactFailure, FactKey, FactResult
from interceptors.strict_json import StrictJsonError, parse
from proxy.breaker import Breaker
from proxy.fact_sources import FactSource, FileReading, HttpReading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from interceptors.calls import Json
    from proxy.clock import Clock
    from proxy.limits import Limits

_OFF_LOOP_BYTES_MIN = 32 * 1024
_STEP_BYTES = 64 * 1024
_CONNECTION_FAILED = (aiohttp.ClientError, OSError, ValueError, RuntimeError)


class _FailedError(Exception):
    def __init__(self, failure: FactFailure) -> None:
        super().__init__(failure.value)
        self.failure = failure


class FactsReader:
    """One for the process; made and closed on its loop.

    `counted` is told each read: the fact's name, and None or how it failed.
    """

    def __init__(self, limits: Limits, clock: Clock, counted: Callable[[str, FactFailure | None], None]) -> None:
        self._limits = limits
        self._clock = clock
        self._counted = counted
        self._turns = asyncio.Semaphore(limits.facts_concurrent_max)
        self._breakers: dict[str, Breaker] = {}
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=limits.facts_concurrent_max),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            requote_redirect_url=False,
            timeout=aiohttp.ClientTimeout(total=None),
        )

    async def read(self, keys: Iterable[FactKey], sources: Mapping[str, FactSource]) -> dict[FactKey, FactResult]:
        """Every fact of `keys`, each read once and all at the same time.

        A fact that `sources` does not name, and a key that it does not accept, is `UNAVAILABLE` and `INVALID`, unread.
        """
        unique = list(dict.fromkeys(keys))
        results = await asyncio.gather(*(self._one(key, sources.get(key.fact)) for key in unique))
        return dict(zip(unique, results, strict=True))

    async def close(self) -> None:
        await self._session.close()

    async def _one(self, key: FactKey, source: FactSource | None) -> FactResult:
        as_of = self._clock()
        result: FactResult
        if source is None:
            result = FactFailed(FactFailure.UNAVAILABLE, as_of)
        elif not source.accepts(key.key):
            result = FactFailed(FactFailure.INVALID, as_of)
        else:
            result = await self._in_turn(source, key.key)
        self._counted(key.fact, result.failure if isinstance(result, FactFailed) else None)
        return result

    async def _in_turn(self, source: FactSource, key: str) -> FactResult:
        deadline = asyncio.get_running_loop().time() + source.timeout_seconds
        try:
            async with asyncio.timeout_at(deadline):
                await self._turns.acquire()
        except TimeoutError:
            return FactFailed(FactFailure.TIMEOUT, self._clock())
        as_of = self._clock()
        try:
            return FactDocument(await self._guarded(source, key, deadline), as_of)
        except _FailedError as error:
            return FactFailed(error.failure, as_of)
        except TimeoutError:
            return FactFailed(FactFailure.TIMEOUT, as_of)
        finally:
            self._turns.release()

    async def _guarded(self, source: FactSource, key: str, deadline: float) -> Mapping[str, Json]:
        breaker = self._breakers.setdefault(
            source.name, Breaker(self._limits.fact_failures_max, self._limits.fact_cool_down_ms / 1000)
        )
        loop = asyncio.get_running_loop()
        if not breaker.enter(loop.time()):
            raise _FailedError(FactFailure.UNAVAILABLE)
        try:
            async with asyncio.timeout_at(deadline):
                document = await self._ask(source, key)
        except TimeoutError:
            breaker.failed(loop.time())
            raise
        except _FailedError as error:
            # An answer that is of no use is an answer; the source is there.
            if error.failure is FactFailure.UNAVAILABLE:
                breaker.failed(loop.time())
            else:
                breaker.succeeded()
            raise
        except BaseException:
            breaker.abandoned()
            raise
        breaker.succeeded()
        return document

    async def _ask(self, source: FactSource, key: str) -> Mapping[str, Json]:
        match source.reading:
            case HttpReading():
                return await self._ask_http(source.reading, key)
            case FileReading():
                return await asyncio.to_thread(_ask_file, source.reading, key, self._limits.fact_bytes_max)
            case _:
                assert_never(source.reading)

    async def _ask_http(self, reading: HttpReading, key: str) -> Mapping[str, Json]:
        headers = {"accept": "application/json", **reading.headers, "accept-encoding": "identity"}
        try:
            url = reading.target(key)
            async with self._session.get(url, headers=headers, allow_redirects=False) as response:
                if response.status in (404, 410):
                    raise _FailedError(FactFailure.MISSING)
                if response.status != 200:
                    raise _FailedError(FactFailure.UNAVAILABLE)
                if response.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
                    raise _FailedError(FactFailure.INVALID)
                data = await self._body(response)
        except _CONNECTION_FAILED as error:
            if isinstance(error, TimeoutError):
                raise
            raise _FailedError(FactFailure.UNAVAILABLE) from None
        if len(data) >= _OFF_LOOP_BYTES_MIN:
            return await asyncio.to_thread(_record, data)
        return _record(data)

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        data = bytearray()
        async for chunk in response.content.iter_chunked(_STEP_BYTES):
            data += chunk
            if len(data) > self._limits.fact_bytes_max:
                raise _FailedError(FactFailure.INVALID)
        return bytes(data)


def _record(data: bytes) -> Mapping[str, Json]:
    try:
        value = parse(data)
    except StrictJsonError:
        raise _FailedError(FactFailure.INVALID) from None
    if not isinstance(value, dict):
        raise _FailedError(FactFailure.INVALID)
    return value


def _ask_file(reading: FileReading, key: str, bytes_max: int) -> Mapping[str, Json]:
    one_a_record = reading.is_one_file_a_record
    try:
        data = _read_regular(reading.target(key), bytes_max)
    except FileNotFoundError:
        raise _FailedError(FactFailure.MISSING if one_a_record else FactFailure.UNAVAILABLE) from None
    except (OSError, ValueError):
        raise _FailedError(FactFailure.UNAVAILABLE) from None
    document = _record(data)
    if one_a_record:
        return document
    if key not in document:
        raise _FailedError(FactFailure.MISSING)
    record = document[key]
    if not isinstance(record, dict):
        raise _FailedError(FactFailure.INVALID)
    return record


def _read_regular(path: Path, bytes_max: int) -> bytes:
    # A pipe or a device could block the thread for ever.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("not a regular file")
        data = file.read(bytes_max + 1)
    if len(data) > bytes_max:
        raise _FailedError(FactFailure.INVALID)
    return data
