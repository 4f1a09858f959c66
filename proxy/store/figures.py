"""Figures of a stretch of time, added up by the database: no row leaves it for a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

DECIDED_MAX: Final = 100_000
"""So many decisions are looked at, the newest: a page must not read for minutes."""

_BUCKET = "CAST(strftime('%s', substr(time, 1, 19)) AS INTEGER) / ?1 * ?1"
_NEWEST = (
    f"SELECT {_BUCKET} AS bucket, payload FROM records JOIN payloads ON record = id"  # noqa: S608 # own words
    " WHERE kind = 'decided' AND time >= ?2 ORDER BY id DESC LIMIT ?3"
)
_VERDICTS = (
    "SELECT bucket, json_extract(payload, '$.ruling'), json_extract(payload, '$.reason'),"  # noqa: S608 # own words
    " coalesce(json_extract(payload, '$.latencies.hold'), 0), count(*)"
    f" FROM ({_NEWEST}) GROUP BY 1, 2, 3, 4 ORDER BY 1"
)
_MONEY = (
    "WITH wanted (tool, path) AS (VALUES {})"  # noqa: S608 # own words and question marks
    " SELECT bucket, json_extract(payload, '$.ruling'), tool, payload -> path, count(*)"
    f" FROM ({_NEWEST}) JOIN wanted ON tool = json_extract(payload, '$.tool') GROUP BY 1, 2, 3, 4 ORDER BY 1"
)
_HELD = (
    f"SELECT {_BUCKET}, state, held, count(*) FROM reservations"  # noqa: S608 # own words
    " WHERE time >= ?2 GROUP BY 1, 2, 3 ORDER BY 1 LIMIT ?3"
)
_OPEN = "SELECT state, held, count(*) FROM reservations WHERE state IN ('held', 'unknown') GROUP BY 1, 2 LIMIT ?"


def verdicts(connection: sqlite3.Connection, since: str, bucket_seconds: int) -> list[tuple[int, str, str, int, int]]:
    """(beginning of the bucket as seconds since 1970, ruling, reason, ms held, how many), the earliest first."""
    return connection.execute(_VERDICTS, (bucket_seconds, since, DECIDED_MAX)).fetchall()


def amounts(
    connection: sqlite3.Connection, since: str, bucket_seconds: int, arguments: Mapping[str, str]
) -> list[tuple[int, str, str, str | None, int]]:
    """(bucket, ruling, tool, the JSON of its money argument, how many) of tools by the name of that argument."""
    if not arguments:
        return []
    wanted = ", ".join(f"(?{4 + 2 * n}, ?{5 + 2 * n})" for n in range(len(arguments)))
    paths = [text for tool, name in arguments.items() for text in (tool, f'$.arguments."{name}"')]
    return connection.execute(_MONEY.format(wanted), (bucket_seconds, since, DECIDED_MAX, *paths)).fetchall()


def holdings(connection: sqlite3.Connection, since: str, bucket_seconds: int) -> list[tuple[int, str, str, int]]:
    """(bucket, state, what is held as JSON, how many reservations)."""
    return connection.execute(_HELD, (bucket_seconds, since, DECIDED_MAX)).fetchall()


def open_holdings(connection: sqlite3.Connection) -> list[tuple[str, str, int]]:
    """(state, what is held as JSON, how many reservations) of all that is held or unknown."""
    return connection.execute(_OPEN, (DECIDED_MAX,)).fetchall()
