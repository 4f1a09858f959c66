"""The quoted scalars of block text (`block_text`): over lines, with their escapes and folded breaks."""

from __future__ import annotations

from typing import Final

_SIMPLE: Final = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "\t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    " ": " ",
    '"': '"',
    "/": "/",
    "\\": "\\",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}
_HEX: Final = {"x": 2, "u": 4, "U": 8}


class BlockTextError(ValueError):
    """The text is none that a serializer writes. The message quotes nothing of it."""


def quoted(first: str, lines: list[str], at: int, indent: int) -> tuple[str, int]:
    """The scalar that begins with the quote of `first`, whose next line is `lines[at]`; and the line behind its end.

    Its lines are indented further than `indent`, empty ones aside. Raises `BlockTextError`.
    """
    mark = first[0]
    found: list[str] = []
    line, breaks = first[1:], -1  # breaks: of lines since the last that held something; -1 on the first line
    while True:
        end = _end(line, mark)
        part = line if end < 0 else line[:end]
        is_joined = mark == '"' and end < 0 and _is_open(part)
        body = part[:-1] if is_joined else (part if end >= 0 else part.rstrip(" "))
        found.append(_broken(breaks) + _unescaped(body, mark) if body or end >= 0 or breaks < 0 else "")
        if end >= 0:
            if line[end + 1 :].strip(" "):
                raise BlockTextError("something stands behind a quoted scalar")
            return "".join(found), at
        breaks = _next_breaks(breaks, is_empty=not body and breaks >= 0, is_joined=is_joined)
        if at >= len(lines):
            raise BlockTextError("a quoted scalar is not closed")
        line = lines[at].lstrip(" ")
        if line and len(lines[at]) - len(line) <= indent:
            raise BlockTextError("a quoted scalar is not closed before the next entry")
        at += 1


def _next_breaks(breaks: int, *, is_empty: bool, is_joined: bool) -> int:
    if is_joined:
        return 0
    return breaks + 1 if is_empty else 1


def _broken(breaks: int) -> str:
    """What `breaks` line ends stand for: none, a space, or one break less."""
    if breaks <= 0:
        return ""
    return " " if breaks == 1 else "\n" * (breaks - 1)


def _end(line: str, mark: str) -> int:
    """Where the closing quote stands, -1 where it does not stand in this line."""
    at = 0
    while at < len(line):
        if line[at] == "\\" and mark == '"':
            at += 2
        elif line[at] != mark:
            at += 1
        elif mark == "'" and line[at + 1 : at + 2] == "'":
            at += 2
        else:
            return at
    return -1


def _is_open(line: str) -> bool:
    """Whether the line ends with a backslash that escapes its break."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _unescaped(text: str, mark: str) -> str:
    if mark == "'":
        return text.replace("''", "'")
    if "\\" not in text:
        return text
    found: list[str] = []
    at = 0
    while at < len(text):
        if text[at] != "\\":
            end = text.find("\\", at)
            end = len(text) if end < 0 else end
            found.append(text[at:end])
            at = end
            continue
        kind = text[at + 1 : at + 2]
        length = _HEX.get(kind, 0)
        found.append(_hex(text[at + 2 : at + 2 + length], length) if length else _simple(kind))
        at += 2 + length
    return "".join(found)


def _simple(kind: str) -> str:
    if kind not in _SIMPLE:
        raise BlockTextError("an escape is none that is known")
    return _SIMPLE[kind]


def _hex(digits: str, length: int) -> str:
    if len(digits) != length or not all(digit in "0123456789abcdefABCDEF" for digit in digits):
        raise BlockTextError("an escape is cut off")
    code = int(digits, 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise BlockTextError("an escape is no character")
    return chr(code)
