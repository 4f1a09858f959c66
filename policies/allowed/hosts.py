"""Names of hosts in one spelling: lower case, each label as DNS carries it (`xn--...`).

What two readers could resolve to two names is no host: a label whose mapping differs between IDNA 2003 and 2008 (sharp
s, final sigma, joiners), other full stops than the ASCII one, percent-encoding, a root dot at the end.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

HOST_LENGTH_MAX: Final = 253
LABEL_LENGTH_MAX: Final = 63
WILDCARD: Final = "*."

_ASCII: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


def host(text: str) -> str:
    """The one spelling of a host name. `ValueError` where it is none; the message holds no part of it."""
    if not text or len(text) > HOST_LENGTH_MAX:
        raise ValueError("not a host name")
    labels = [_label(label) for label in text.split(".")]
    name = ".".join(labels)
    if len(name) > HOST_LENGTH_MAX:
        raise ValueError("not a host name")
    return name


def host_entry(text: str) -> tuple[str, bool]:
    """An entry of a list: the host, and whether it stands for the names below it (`*.example.com`), not itself."""
    if not text.startswith(WILDCARD):
        return host(text), False
    name = host(text.removeprefix(WILDCARD))
    if "." not in name:
        raise ValueError("this allows a whole top-level domain")
    return name, True


def is_listed(name: str, exact: Collection[str], below: Collection[str]) -> bool:
    """`name` is one of `exact`, or lies below one of `below`, at any depth."""
    return name in exact or any(parent in below for parent in _parents(name))


def _parents(name: str) -> Iterator[str]:
    while "." in name:
        name = name.partition(".")[2]
        yield name


def _label(label: str) -> str:
    name = label.lower() if label.isascii() else "xn--" + _mapped(label).encode("punycode").decode("ascii")
    if not name or len(name) > LABEL_LENGTH_MAX or not _ASCII.issuperset(name) or name[0] == "-" or name[-1] == "-":
        raise ValueError("not a host name")
    return name


def _mapped(label: str) -> str:
    """A label of letters beyond ASCII in lower case, where every reader maps it so."""
    name = unicodedata.normalize("NFC", label.lower())
    if unicodedata.normalize("NFKC", name) != name or name.casefold() != name or name.startswith("xn--"):
        raise ValueError("the host name has several readings")
    if any(character not in _ASCII and unicodedata.category(character)[0] not in "LMN" for character in name):
        raise ValueError("not a host name")
    return name
