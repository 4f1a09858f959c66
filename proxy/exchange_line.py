"""The one line that the log holds of an exchange, as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import orjson
from msgspec.structs import asdict

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXT_LENGTH_MAX: Final = 200
TENANT_LENGTH_MAX: Final = 12


class ExchangeLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One exchange. Empty values are left out of the line, but for those that have to be stated here."""

    exchange: str
    dialect: str = ""
    route: str = ""
    method: str = ""
    status: int
    streamed: bool
    model: str = ""
    tenant: str = ""
    identity: str | None = None
    upstream: str = ""
    receipts: Sequence[str] = msgspec.field(default_factory=list)
    verdicts: Sequence[str] = msgspec.field(default_factory=list)
    hold_ms: int | None = None
    duration_ms: int
    bytes_up: int
    bytes_down: int
    conversation: str = ""
    restored: int = 0
    taken_out: int = 0
    ambiguous: int = 0
    outcome: str = ""
    error: str = ""


_OF_AN_EXCHANGE: Final = {"level": "info", "event": "exchange", "listener": "agent"}
_STATED: Final = frozenset({"status", "streamed", "duration_ms", "bytes_up", "bytes_down"})
_encoder = msgspec.json.Encoder()


def encoded(moment: str, line: ExchangeLine) -> bytes:
    """The line with its end. `moment` is when the exchange ended, in ISO 8601."""
    if not _is_plain(line):
        return orjson.dumps(_told(moment, line), option=orjson.OPT_APPEND_NEWLINE)
    # What is said in the same words each time; behind it the members of the line, without its own brace.
    head = f'{{"time":"{moment}","level":"info","event":"exchange","listener":"agent",'
    return b"%b%b\n" % (head.encode(), _encoder.encode(line)[1:])


def _is_plain(line: ExchangeLine) -> bool:
    """Whether the line is written as it stands: it has no lists, and its texts are few and ASCII."""
    if line.receipts or line.verdicts or line.identity == "" or len(line.tenant) > TENANT_LENGTH_MAX:
        return False
    texts = (line.exchange, line.dialect, line.route, line.method, line.model, line.tenant, line.identity or "")
    joined = "".join((*texts, line.upstream, line.conversation, line.outcome, line.error))
    return len(joined) <= TEXT_LENGTH_MAX and joined.isascii()


def _told(moment: str, line: ExchangeLine) -> dict[str, object]:
    found: dict[str, object] = {"time": moment, **_OF_AN_EXCHANGE}
    for name, value in asdict(line).items():
        if not value:
            if name in _STATED or (name == "hold_ms" and value is not None):
                found[name] = value
        else:
            found[name] = bounded(value)
    if line.tenant:
        found["tenant"] = bounded(line.tenant[:TENANT_LENGTH_MAX])
    return found


def bounded(value: object) -> object:
    """Texts within their length and without lone surrogates, which JSON cannot hold; also in a list."""
    if isinstance(value, str):
        text = value[:TEXT_LENGTH_MAX]
        return text if text.isascii() else text.encode("utf-8", "replace").decode()
    if isinstance(value, list | tuple):
        return [bounded(item) for item in value]
    return value
