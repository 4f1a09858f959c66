"""What a provider answered: the head as it came, and the body as it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from proxy.http1.heads import RawHeaders
    from proxy.http1.incoming import Incoming


class UpstreamLostError(ConnectionError):
    """The connection to a provider failed, or what came on it is no HTTP."""


class _Connection(Protocol):
    def leave(self, body: Incoming) -> None: ...


class Answer:
    """`raw_headers` in order, as they came; `content_length` as it was stated, None where it was not."""

    __slots__ = ("_asked", "_connection", "content", "content_length", "raw_headers", "status")

    def __init__(
        self,
        status: int,
        raw_headers: RawHeaders,
        content_length: int | None,
        content: Incoming,
        connection: _Connection,
    ) -> None:
        self.status = status
        self.raw_headers = raw_headers
        self.content_length = content_length
        self.content = content
        self._connection = connection
        self._asked: dict[bytes, list[str]] = {}

    def every(self, name: bytes) -> list[str]:
        """The values of the fields of that name (lower case)."""
        found = self._asked.get(name)
        if found is None:  # of the fields of an answer two or three are asked for
            size = len(name)
            named = [value for raw, value in self.raw_headers if len(raw) == size and raw.lower() == name]
            found = self._asked[name] = [value.decode("utf-8", "surrogateescape") for value in named]
        return found

    def get(self, name: bytes) -> str | None:
        """The value of the first field of that name (lower case)."""
        found = self.every(name)
        return found[0] if found else None

    @property
    def content_type(self) -> str:
        """In lower case, without parameters; empty where there is none."""
        return (self.get(b"content-type") or "").partition(";")[0].strip().lower()

    async def read(self) -> bytes:
        """All of the body that was not read."""
        parts = []
        while data := await self.content.readany():
            parts.append(data)
        return b"".join(parts)

    def close(self) -> None:
        """Nothing more is wanted of it. A connection on which more would come cannot be used again."""
        self._connection.leave(self.content)
