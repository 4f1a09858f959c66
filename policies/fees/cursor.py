"""A place among the atoms of a text, and what was read so far."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from policies.fees.atoms import Number
from policies.fees.candidate import ReferenceKind, TimeUnit
from policies.fees.lexicon import Comparator, DayOf, Position, Side, Sign
from policies.fees.reading import ReadReference
from policies.fees.text import Span

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from policies.fees.atoms import Atom, Content
    from policies.fees.lexicon import Lexicon
    from policies.fees.reading import Item

_PREFIXES = {Sign.FROM: Comparator(Side.START, True), Sign.UPTO: Comparator(Side.END, True)}


class Cursor:
    """Looks at atoms by their index, articles left out. An index outside of them holds nothing."""

    def __init__(self, found: Sequence[Atom], lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.items: list[Item] = []
        self._atoms = tuple(atom for atom in found if atom.content is not Sign.ARTICLE)
        self._after_article = {after.span.start for one, after in pairwise(found) if one.content is Sign.ARTICLE}

    def __len__(self) -> int:
        return len(self._atoms)

    def add(self, item: Item) -> None:
        self.items.append(item)

    def content(self, index: int) -> Content:
        return self._atoms[index].content if 0 <= index < len(self._atoms) else None

    def text(self, index: int) -> str:
        return self._atoms[index].text if index < len(self._atoms) else ""

    def number(self, index: int) -> Decimal | None:
        content = self.content(index)
        return content.value if isinstance(content, Number) else None

    def unit(self, index: int) -> TimeUnit | None:
        content = self.content(index)
        return content if isinstance(content, TimeUnit) else None

    def span(self, start: int, end: int) -> Span:
        """From the atom at `start` to the one before `end`."""
        return Span(self._atoms[start].span.start, self._atoms[end - 1].span.end)

    def follows_article(self, index: int) -> bool:
        return self._atoms[index].span.start in self._after_article

    def comparator(self, index: int, position: Position) -> Comparator | None:
        """What bounds a number on this side of it."""
        content = self.content(index)
        if isinstance(content, Comparator):
            return content if content.position in (position, Position.EITHER) else None
        return _PREFIXES.get(content) if position is Position.BEFORE and isinstance(content, Sign) else None

    def reference(self, index: int) -> int:
        """The index after "before departure", or `index` itself."""
        kind = self.content(index + 1)
        is_named = isinstance(kind, ReferenceKind) or (isinstance(kind, DayOf) and kind.days == 0)
        return index + 2 if self.content(index) in (Sign.BEFORE, Sign.OF) and is_named else index

    def note_references(self, start: int, end: int) -> None:
        """Records which dates the atoms name."""
        for atom in self._atoms[start:end]:
            if isinstance(atom.content, ReferenceKind | DayOf):
                kind = atom.content.kind if isinstance(atom.content, DayOf) else atom.content
                self.add(ReadReference(kind, atom.span))
