"""A request as it came, and the one answer that is given to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.headers import Pairs
    from proxy.http1.heads import Head
    from proxy.http1.incoming import Incoming


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer. The fields state no length; that is the server's to state."""

    status: int
    fields: Pairs = ()
    body: bytes = b""


class Answering(Protocol):
    """How one request is answered: `send` alone, or `begin`, any number of `write`, and `end`.

    All raise `ConnectionError` where the client is gone, and `HeadError` for a head that could be read in two ways.
    """

    @property
    def has_begun(self) -> bool: ...

    async def send(self, reply: Reply) -> None: ...

    async def begin(self, status: int, fields: Pairs, *, length: int | None = None) -> None: ...

    async def write(self, data: bytes) -> None: ...

    async def end(self) -> None: ...

    def abort(self) -> None: ...


class Request:
    """`raw_path` as it stood in the request's line; `answer` is how to answer it."""

    __slots__ = ("answer", "content", "content_length", "head", "method", "raw_path")

    def __init__(
        self,
        method: str,
        raw_path: str,
        head: Head,
        content_length: int | None,
        content: Incoming,
        answer: Answering,
    ) -> None:
        self.method = method
        self.raw_path = raw_path
        self.head = head
        self.content_length = content_length
        self.content = content
        self.answer = answer

    @property
    def fields(self) -> Mapping[str, str]:
        """The value of the last field of each name, which is in lower case; without the length of the body."""
        return self.head.fields

    @property
    def charset(self) -> str | None:
        """That the type of the body states."""
        kind = self.head.fields.get("content-type", "")
        if "charset" not in kind and "CHARSET" not in kind.upper():
            return None
        for parameter in kind.split(";")[1:]:
            name, _, value = parameter.partition("=")
            if name.strip().lower() == "charset":
                return value.strip().strip("\"'")
        return None
