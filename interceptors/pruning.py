"""What survives of a result: the fields that a policy keeps, within its caps. What survives keeps its spelling.

Absent paths stay absent: nothing is made up in the place of what a result does not have. A string that holds a JSON
object or list counts as what it holds, and stays a string.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from policies.expressions import EACH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from policies.upkeep import Path, Upkeep

Tree: TypeAlias = "dict[str, Tree]"
"""Paths by their steps; an empty one is the end of a path."""

DEPTH_MAX: Final = 200  # of a document that is looked into; what lies deeper is taken as it is

_object = msgspec.json.Decoder(dict[str, msgspec.Raw])
_list = msgspec.json.Decoder(list[msgspec.Raw])
_any = msgspec.json.Decoder(msgspec.Raw)
_string = msgspec.json.Decoder(str)
_encode = msgspec.json.Encoder().encode
_NOTHING: Final[Tree] = {}


def pruned(text: str, upkeep: Upkeep, *, is_error: bool = False) -> str:
    """The text of a result as it may go up; the text itself where nothing of it goes.

    A text that is no JSON object or list is only cut. An error is not looked into: it says itself what it is.
    """
    kept = text
    if (upkeep.keep or upkeep.drop or upkeep.max_items is not None) and text.lstrip()[:1] in ("{", "[", '"'):
        kept = _looked_into(text, upkeep, is_error=is_error)
    return kept if upkeep.max_bytes is None else cut(kept, upkeep.max_bytes)


def cut(text: str, bytes_max: int) -> str:
    """The beginning of a text, and how much of it there was, together within the bound."""
    data = text.encode(errors="surrogatepass")
    if len(data) <= bytes_max:
        return text
    said = f"\n[cut: the result had {len(data)} bytes]"
    return data[: max(0, bytes_max - len(said))].decode(errors="ignore") + said


def _looked_into(text: str, upkeep: Upkeep, *, is_error: bool) -> str:
    try:
        raw = text.strip().encode()
        _any.decode(raw)
    except (UnicodeEncodeError, msgspec.DecodeError, RecursionError):
        return text
    if raw.startswith(b'"') and _held(raw) is None:
        return text
    found = raw
    if not is_error and not _says_error(raw):
        if upkeep.keep:
            found = _kept(found, _tree(upkeep.keep), 0) or b"{}"
        if upkeep.drop:
            found = _dropped(found, _tree(upkeep.drop), 0)
    if upkeep.max_items is not None:
        found = _capped(found, upkeep.max_items, 0)
    return text if found is raw else found.decode()


def _tree(paths: Iterable[Path]) -> Tree:
    """Of two paths one of which begins the other the shorter one holds."""
    whole = set(paths)
    root: Tree = {}
    for path in whole:
        if any(path[:length] in whole for length in range(1, len(path))):
            continue
        node = root
        for step in path:
            node = node.setdefault(step, {})
    return root


def _says_error(raw: bytes) -> bool:
    """As `settlement` reads it: `error` that is neither null, false nor empty, or `isError: true`."""
    if (held := _held(raw)) is not None:
        return _says_error(held)
    if not raw.startswith(b"{"):
        return False
    members = _object.decode(raw)
    if any(bytes(members.get(key, b"")) == b"true" for key in ("isError", "is_error")):
        return True
    return bytes(members.get("error", b"null")) not in (b"null", b"false", b'""', b"0", b"{}", b"[]")


def _kept(raw: bytes, tree: Tree, depth: int) -> bytes | None:
    """What of a value lies on these paths; None for nothing."""
    if not tree or depth > DEPTH_MAX:
        return raw
    if (held := _held(raw)) is not None:
        return _in_string(raw, held, lambda inner: _kept(inner, tree, depth + 1))
    if raw.startswith(b"["):
        if (each := tree.get(EACH)) is None:
            return None
        return _joined(_kept(bytes(item), each, depth + 1) or b"{}" for item in _list.decode(raw))
    if not raw.startswith(b"{"):
        return None
    found: dict[str, bytes] = {}
    for name, value in _object.decode(raw).items():
        if name in tree and (inner := _kept(bytes(value), tree[name], depth + 1)) is not None:
            found[name] = inner
    return _object_of(found)


def _dropped(raw: bytes, tree: Tree, depth: int) -> bytes:
    """A value without what lies on these paths."""
    if depth > DEPTH_MAX:
        return raw
    if (held := _held(raw)) is not None:
        return _in_string(raw, held, lambda inner: _dropped(inner, tree, depth + 1)) or raw
    if raw.startswith(b"["):
        each = tree.get(EACH)
        if each is None:
            return raw
        return b"[]" if not each else _joined(_dropped(bytes(item), each, depth + 1) for item in _list.decode(raw))
    if not raw.startswith(b"{"):
        return raw
    members = _object.decode(raw)
    gone = [name for name in tree if name in members]
    if not gone:
        return raw
    found: dict[str, bytes] = {}
    for name, value in members.items():
        inner = tree.get(name)
        if inner is None:
            found[name] = bytes(value)
        elif inner:
            found[name] = _dropped(bytes(value), inner, depth + 1)
    return _object_of(found)


def _capped(raw: bytes, items_max: int, depth: int) -> bytes:
    """A value whose lists have at most so many items, and say how many more there were."""
    if depth > DEPTH_MAX:
        return raw
    if (held := _held(raw)) is not None:
        return _in_string(raw, held, lambda inner: _capped(inner, items_max, depth + 1)) or raw
    if raw.startswith(b"["):
        items = [bytes(item) for item in _list.decode(raw)]
        inner = [_capped(item, items_max, depth + 1) for item in items[:items_max]]
        if len(items) > items_max:
            inner.append(_encode(f"[{len(items) - items_max} more items left out]"))
        elif all(new is old for new, old in zip(inner, items, strict=True)):
            return raw
        return _joined(inner)
    if not raw.startswith(b"{"):
        return raw
    members = {name: bytes(value) for name, value in _object.decode(raw).items()}
    found = {name: _capped(value, items_max, depth + 1) for name, value in members.items()}
    return raw if all(found[name] is members[name] for name in members) else _object_of(found)


def _held(raw: bytes) -> bytes | None:
    """The JSON object or list that a string holds; None for any other value."""
    if not raw.startswith(b'"'):
        return None
    text = _string.decode(raw).strip()
    if text[:1] not in ("{", "["):
        return None
    try:
        data = text.encode()
        _any.decode(data)
    except (UnicodeEncodeError, msgspec.DecodeError, RecursionError):
        return None
    return data


def _in_string(raw: bytes, held: bytes, change: Callable[[bytes], bytes | None]) -> bytes | None:
    found = change(held)
    return raw if found is held else None if found is None else _encode(found.decode())


def _object_of(members: dict[str, bytes]) -> bytes:
    return b"{" + b",".join(_encode(name) + b":" + value for name, value in members.items()) + b"}"


def _joined(items: Iterable[bytes]) -> bytes:
    return b"[" + b",".join(items) + b"]"
