"""Webhooks: signed, with a time that bounds replays, in the form of Standard Webhooks, which libraries verify.

`webhook-signature` is `v1,` and the base64 of HMAC-SHA-256 over `ID.TIMESTAMP.BODY`. The id stays the same over all
attempts: a receiver that has seen it has seen the message. A receiver refuses a timestamp that is minutes away.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import aiohttp

if TYPE_CHECKING:
    from datetime import datetime

    from proxy.limits import Limits

ANSWER_BYTES_MAX: Final = 1024 * 1024
KEY_BYTES_MIN: Final = 24
_PREFIX: Final = "whsec_"
_AGAIN: Final = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """Who hears of something. `key` signs."""

    url: str = field(repr=False)
    key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Heard:
    """What a receiver answered; `status` is 0 where it did not answer in time."""

    status: int
    body: bytes = b""

    @property
    def is_taken(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_final(self) -> bool:
        """Whether another attempt would change nothing."""
        return self.is_taken or (300 <= self.status < 500 and self.status not in _AGAIN)


def webhook_key(text: str) -> bytes:
    """The key that a secret stands for: `whsec_` and base64, or the text itself. `ValueError` for a short one."""
    if text.startswith(_PREFIX):
        try:
            key = base64.b64decode(text.removeprefix(_PREFIX), validate=True)
        except binascii.Error:
            raise ValueError("the key is not base64 behind whsec_") from None
    else:
        key = text.encode()
    if len(key) < KEY_BYTES_MIN:
        raise ValueError(f"the key is shorter than {KEY_BYTES_MIN} bytes")
    return key


def signed(target: WebhookTarget, message: str, body: bytes, now: datetime) -> dict[str, str]:
    """The headers of one attempt."""
    timestamp = str(int(now.timestamp()))
    mac = hmac.digest(target.key, f"{message}.{timestamp}.".encode() + body, hashlib.sha256)
    return {
        "content-type": "application/json",
        "webhook-id": message,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{base64.b64encode(mac).decode()}",
    }


class Sender:
    """One for the process; made and closed on its loop."""

    def __init__(self, limits: Limits) -> None:
        self._session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=limits.webhook_ms_max / 1000),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
        )

    async def close(self) -> None:
        await self._session.close()

    async def send(self, target: WebhookTarget, message: str, body: bytes, now: datetime, **more: str) -> Heard:
        """One attempt. It raises nothing: no answer is one without a status."""
        headers = signed(target, message, body, now) | {name.replace("_", "-"): value for name, value in more.items()}
        try:
            async with self._session.post(target.url, data=body, headers=headers, allow_redirects=False) as response:
                data = await response.content.read(ANSWER_BYTES_MAX + 1)
                while len(data) <= ANSWER_BYTES_MAX and (rest := await response.content.read(ANSWER_BYTES_MAX)):
                    data += rest
                return Heard(response.status, data)
        except (aiohttp.ClientError, OSError, ValueError):  # a time-out is an OSError
            return Heard(0)
