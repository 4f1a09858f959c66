"""Messages of `application/vnd.amazon.eventstream`, as the provider frames its events."""

from __future__ import annotations

import binascii
from typing import Final

CONTENT_TYPE: Final = "application/vnd.amazon.eventstream"


def event(name: str, payload: bytes) -> bytes:
    return _message({":event-type": name, ":content-type": "application/json", ":message-type": "event"}, payload)


def exception(name: str, payload: bytes) -> bytes:
    headers = {":exception-type": name, ":content-type": "application/json", ":message-type": "exception"}
    return _message(headers, payload)


def _message(headers: dict[str, str], payload: bytes) -> bytes:
    head = b""
    for name, value in headers.items():
        head += len(name).to_bytes(1, "big") + name.encode()
        head += b"\x07" + len(value).to_bytes(2, "big") + value.encode()
    whole = (len(head) + len(payload) + 16).to_bytes(4, "big") + len(head).to_bytes(4, "big")
    whole += binascii.crc32(whole).to_bytes(4, "big") + head + payload
    return whole + binascii.crc32(whole).to_bytes(4, "big")
