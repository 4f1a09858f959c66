"""The first look at a request: what it asks for costs what is new in it.

A history of megabytes comes again with each request, and something behind it. How requests begin is known again by a
digest of their bytes (`wire/stem`); nothing of them is kept but numbers, for one tenant and dialect each.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from proxy.wire import envelope
from proxy.wire.members import may_mention
from proxy.wire.paths import NOWHERE, Address
from proxy.wire.prefix import Names, owner_of
from proxy.wire.seal import seals_in
from proxy.wire.stem import LONG_BYTES, Stem, Stems, newest_said
from proxy.wire.tail import ASSISTANT

if TYPE_CHECKING:
    from proxy.wire.dialect import Dialect, RequestView

STEMS_MAX: Final = 4096
"""Of all conversations; some 300 bytes each."""
_TRIES_MAX: Final = 4
_PLACES_MAX: Final = 128  # at which a known stem may end, from the end of a request
_BETWEEN: Final = b"," + ASSISTANT


class Viewing:
    """One for the process. It is used on the event loop, and in threads."""

    def __init__(self, stems_max: int = STEMS_MAX) -> None:
        self._stems_max = stems_max
        self._known: OrderedDict[bytes, Stem] = OrderedDict()
        self._sizes: Counter[int] = Counter()
        self._lock = threading.Lock()
        self._names = Names()

    def view(self, dialect: Dialect, body: bytes, at: Address = NOWHERE, tenant: str = "") -> RequestView:
        """What `dialect.request` says, and the stems of the request. Raises `envelope.EnvelopeError`, as that does."""
        if dialect.message_words is None or len(body) < LONG_BYTES:
            return dialect.request(body, at)
        owner = owner_of(dialect, tenant)
        known = self._longest(owner, body)
        part = None if known is None else known.rest(body)
        if known is not None and part is not None and not _says_more(dialect, part):
            view = dialect.request(part, at)
            if part.startswith(view.messages, known.opens):
                return self._behind(body, owner, part, view, known)
        return self._whole(dialect, body, owner, dialect.request(body, at))

    def _whole(self, dialect: Dialect, body: bytes, owner: bytes, view: RequestView) -> RequestView:
        """With the stem that the next request will begin with, where the form of this one says where that is."""
        if view.opens is None:
            return view
        seals, newest = seals_in(body), None
        if (ends := _newest_said(view.messages)) and not _says_more(dialect, body):
            size = view.opens + ends
            own = seals_in(body[:size]) if any(seals) else seals
            one = Stem(self._names.of(owner, body, size), view.opens, size, own)
            newest = self._remembered(one)
        return replace(view, is_sealed=seals.may_be_sealed, stems=Stems(None, newest))

    def _behind(self, body: bytes, owner: bytes, part: bytes, view: RequestView, known: Stem) -> RequestView:
        """Of a request that begins with a known stem; the view is that of the `part` behind it."""
        seals, newest = known.seals.beside(seals_in(part)), None
        if (ends := _newest_said(view.messages)) is not None:
            newest = known
            if ends:
                own = known.seals.beside(seals_in(part[: known.opens + ends]))
                one = Stem(self._names.of(owner, body, known.size + ends), known.opens, known.size + ends, own)
                newest = self._remembered(one)
        return replace(view, is_sealed=seals.may_be_sealed, stems=Stems(known, newest))

    def _remembered(self, one: Stem) -> Stem:
        with self._lock:
            if one.name not in self._known:
                self._sizes[one.size] += 1
            self._known[one.name] = one
            self._known.move_to_end(one.name)
            if len(self._known) > self._stems_max:
                _, oldest = self._known.popitem(last=False)
                self._sizes[oldest.size] -= 1
                if not self._sizes[oldest.size]:
                    del self._sizes[oldest.size]
        return one

    def _longest(self, owner: bytes, body: bytes) -> Stem | None:
        """The longest known stem that a request begins with."""
        place, tries = len(body), 0
        for _ in range(_PLACES_MAX):
            place = body.rfind(_BETWEEN, 0, place)
            if place < 0 or tries == _TRIES_MAX or not self._sizes:
                return None
            if place not in self._sizes:
                continue
            tries += 1
            name = self._names.of(owner, body, place)
            with self._lock:
                if (found := self._known.get(name)) is not None:
                    self._known.move_to_end(name)
                    return found
        return None


def _says_more(dialect: Dialect, body: bytes) -> bool:
    """Whether messages of a request may say more of it than what was said."""
    return bool(dialect.message_words) and may_mention(body, *dialect.message_words or ())


def _newest_said(messages: bytes) -> int | None:
    try:
        return newest_said(messages)
    except envelope.EnvelopeError:
        return None  # its provider's to refuse
