"""Names that a model wrote, in a form that may stand in a message, a log or a receipt."""

from __future__ import annotations

from typing import Final

NAME_SHOWN_MAX: Final = 128  # characters
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./$")


def is_plain(name: str) -> bool:
    """Whether the name looks like one: short, of ASCII letters, digits and joiners. Free text does not."""
    return 0 < len(name) <= NAME_SHOWN_MAX and _PLAIN.issuperset(name)


def shown(name: str) -> str:
    """The name itself where it is plain, else a mark with its length."""
    return name if is_plain(name) else f"<name of {len(name)} characters>"
