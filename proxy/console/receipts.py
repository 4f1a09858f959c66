"""Receipts: a list with filters, one with all of its records, and the proof of the chains."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import orjson

from interceptors.chain import commit_to, link, stamp
from interceptors.kinds import Kind
from interceptors.verification import LIMITS
from policies.model import Ruling
from proxy.admin.answers import RefusedError
from proxy.console.decided import read_decided
from proxy.console.doorkeeper import Doorkeeper, Visit, only
from proxy.console.earlier import decided_by
from proxy.store import payload_of
from proxy.store.glances import reservations_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import Enum

    from aiohttp import web

    from interceptors.chain import Sealed
    from interceptors.kinds import MoneyState
    from proxy.store import Reader, ReceiptLine

PAGE: Final = 50
_FILTERS: Final = ("kind", "tool", "ruling", "customer", "since", "until")


class Receipts:
    """Pages about what was decided."""

    def __init__(self, keeper: Doorkeeper) -> None:
        self._keeper = keeper
        self._verifying = asyncio.Lock()

    async def listed(self, visit: Visit) -> web.StreamResponse:
        query = visit.request.query
        only(query, *_FILTERS, "before")
        asked = _asked(query)

        def read(reader: Reader) -> tuple[tuple[ReceiptLine, ...], dict[str, tuple[str, MoneyState]]]:
            customer = query.get("customer", "").strip()
            subject = reader.subject_digest(customer) if customer else None
            lines = reader.receipts(limit=PAGE + 1, subject=subject, **asked)
            names = [line.receipt for line in lines]
            return lines, reader.ask(lambda connection: reservations_of(connection, names))

        lines, held = await self._keeper.collaborators.store.read(read)
        filters = {name: query[name] for name in _FILTERS if query.get(name)}
        values = {
            "lines": lines[:PAGE],
            "held": held,
            "query": {name: query.get(name, "") for name in _FILTERS},
            "filters": filters,
            "older": lines[PAGE - 1].place if len(lines) > PAGE else None,
            "kinds": [kind.value for kind in Kind if kind.is_opening],
            "rulings": [ruling.value for ruling in Ruling],
        }
        return await self._keeper.page(visit, "receipts.html", values)

    async def show(self, visit: Visit) -> web.StreamResponse:
        only(visit.request.query)
        wanted = visit.request.match_info["id"]

        def read(reader: Reader) -> tuple[tuple[Sealed, ...], dict[str, tuple[str, MoneyState]]]:
            return reader.receipt(wanted), reader.ask(lambda connection: reservations_of(connection, [wanted]))

        records, held = await self._keeper.collaborators.store.read(read)
        if not records:
            raise RefusedError(404, "not_found", "there is no such receipt")
        policy = (await self._keeper.collaborators.policy.current()).revision.policy
        opening = payload_of(records[0])
        decided = None
        if opening is not None and records[0].kind == Kind.DECIDED.value:
            decided = read_decided(opening, await decided_by(self._keeper.collaborators.store, opening, policy))
        values = {
            "receipt": wanted,
            "records": [_record(one) for one in records],
            "decided": decided,
            "payload": opening or {},
            "outcome": next((one.kind for one in reversed(records) if Kind(one.kind).is_outcome), ""),
            "held": held.get(wanted),
        }
        return await self._keeper.page(visit, "receipt.html", values)

    async def chain(self, visit: Visit) -> web.StreamResponse:
        """Every chain is verified now: one at a time, since it reads all records."""
        only(visit.request.query)
        async with self._verifying:
            report = await self._keeper.collaborators.store.read(lambda reader: reader.verify())
        return await self._keeper.page(visit, "chain.html", {"report": report, "limits": LIMITS})


def _record(one: Sealed) -> dict[str, Any]:
    payload = payload_of(one)
    fits = link(one) == one.hash and (
        one.payload is None or (one.salt is not None and commit_to(one.payload, one.salt) == one.commitment)
    )
    text = None if payload is None else orjson.dumps(payload, option=orjson.OPT_INDENT_2, default=str).decode()
    return {"kind": one.kind, "time": one.time, "writer": one.writer, "seq": one.seq, "text": text, "fits": fits}


def _asked(query: Mapping[str, str]) -> dict[str, Any]:
    before = query.get("before", "")
    if before and not (before.isascii() and before.isdecimal() and len(before) < 19):
        raise RefusedError(400, "invalid", "'before' is a number")
    until = _day("until", query)
    return {
        "before": int(before) if before else None,
        "kind": _one_of(Kind, "kind", query),
        "tool": query.get("tool", "").strip() or None,
        "ruling": _one_of(Ruling, "ruling", query),
        "since": None if (since := _day("since", query)) is None else stamp(since),
        "until": None if until is None else stamp(until + timedelta(days=1)),
    }


def _one_of(kind: type[Enum], name: str, query: Mapping[str, str]) -> Enum | None:
    try:
        return kind(query[name]) if query.get(name) else None
    except ValueError:
        raise RefusedError(400, "invalid", f"{name!r} is none of its values") from None


def _day(name: str, query: Mapping[str, str]) -> datetime | None:
    """The beginning of a day, UTC."""
    try:
        return datetime.combine(date.fromisoformat(query[name]), datetime.min.time(), UTC) if query.get(name) else None
    except ValueError:
        raise RefusedError(400, "invalid", f"{name!r} is a day such as 2026-03-01") from None
