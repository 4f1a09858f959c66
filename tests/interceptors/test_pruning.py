"""What survives of a result: exactly what is kept, in its own spelling, within its caps."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interceptors.pruning import cut, pruned
from policies.documents.upkeep import result_path
from policies.upkeep import Upkeep

ORDER = (
    '{"id": "A1", "paid": 1.50, "n": 1e3, "lines": [{"sku": "x", "cost": 2}, {"cost": 3}],'
    ' "by": {"name": "Ann", "iban": 9}}'
)


PAID = '{"paid":1.50}'


def quoted(text: str) -> str:
    return orjson.dumps(text).decode()


def keep(*paths: str, **more: Any) -> Upkeep:
    return Upkeep(keep=tuple(map(result_path, paths)), **more)


def drop(*paths: str, **more: Any) -> Upkeep:
    return Upkeep(drop=tuple(map(result_path, paths)), **more)


@pytest.mark.parametrize(
    ("upkeep", "text", "left"),
    [
        (keep("paid", "n"), ORDER, '{"paid":1.50,"n":1e3}'),
        (keep("by.name"), ORDER, '{"by":{"name":"Ann"}}'),
        (keep("lines[*].sku"), ORDER, '{"lines":[{"sku":"x"},{}]}'),
        (keep("by", "by.name"), ORDER, '{"by":{"name": "Ann", "iban": 9}}'),
        (keep("gone", "id.deeper"), ORDER, "{}"),
        (keep("lines.sku"), ORDER, "{}"),
        (keep("[*].id"), '[{"id": 1, "x": 2}, {"x": 3}]', '[{"id":1},{}]'),
        (keep("id"), '{"error": "gone", "trace": "x"}', '{"error": "gone", "trace": "x"}'),
        (keep("id"), '{"isError": true, "m": 1}', '{"isError": true, "m": 1}'),
        (keep("id"), '{"error": null, "id": 1}', '{"id":1}'),
        (keep("paid"), f" {quoted(ORDER)}\n", quoted('{"paid":1.50}')),
        (keep("of.paid"), f'{{"of": {quoted(ORDER)}, "x": 1}}', f'{{"of":{quoted(PAID)}}}'),
        (keep("[*].text.paid"), f'[{{"type": "text", "text": {quoted(ORDER)}}}]', f'[{{"text":{quoted(PAID)}}}]'),
        (keep("id.paid"), '{"id": "{no JSON"}', "{}"),
        (keep("of"), f'{{"of": {quoted(ORDER)}}}', f'{{"of":{quoted(ORDER)}}}'),
        (drop("of.x"), '{"of": "{\\"x\\": 1, \\"y\\": 2.0}"}', '{"of":"{\\"y\\":2.0}"}'),
        (drop("of.z"), '{"of": "{\\"x\\": 1}", "a": 1}', '{"of":"{\\"x\\": 1}","a":1}'),
        (Upkeep(max_items=1), '{"of": "[1.0, 2]"}', '{"of":"[1.0,\\"[1 more items left out]\\"]"}'),
        (keep("id"), quoted('{"error": "gone"}'), quoted('{"error": "gone"}')),
        (keep("id"), '"no JSON in it"', '"no JSON in it"'),
        (keep("id"), '"{\\ud800}"', '"{\\ud800}"'),
        (keep("id"), "no JSON at all", "no JSON at all"),
        (keep("id"), '{"id": 1} and more', '{"id": 1} and more'),
        (drop("by", "lines[*].cost"), ORDER, '{"id":"A1","paid":1.50,"n":1e3,"lines":[{"sku":"x"},{}]}'),
        (drop("gone", "id.x"), '{"id": 1}', '{"id":1}'),
        (drop("gone"), '{"id": 1}', '{"id": 1}'),
        (drop("lines[*]"), '{"lines": [1, 2]}', '{"lines":[]}'),
        (
            keep("lines", max_items=1),
            ORDER,
            '{"lines":[{"sku":"x","cost":2},"[1 more items left out]"]}'.replace(
                '{"sku":"x","cost":2}', '{"sku": "x", "cost": 2}'
            ),
        ),
        (Upkeep(max_items=2), '{"a": [1, 2]}', '{"a": [1, 2]}'),
        (
            keep("paid", max_bytes=64),
            '{"paid": "' + "x" * 90 + '"}',
            '{"paid":"' + "x" * 23 + "\n[cut: the result had 101 bytes]",
        ),
    ],
)
def test_what_survives(upkeep: Upkeep, text: str, left: str) -> None:
    """Numbers keep their spelling, absent paths stay absent, errors and texts are not looked into."""
    assert pruned(text, upkeep) == left


JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=20,
)
PATHS = st.lists(
    st.sampled_from(["a", "b", "a.b", "a[*]", "a[*].c", "b.c.d", "[*].a", "c[*][*].d"]), min_size=1, max_size=4
)


def kept(value: Any, paths: list[tuple[str, ...]]) -> Any:
    """The same in plain words: what of a value lies on the paths; None for nothing."""
    if () in paths:
        return value
    if isinstance(value, list):
        inner = [path[1:] for path in paths if path[0] == "[*]"]
        if not inner:
            return None
        found = [kept(item, inner) for item in value]
        return [
            {} if each is None and not (item is None and () in inner) else each
            for each, item in zip(found, value, strict=True)
        ]
    if not isinstance(value, dict):
        return None
    rest = {}
    for name, item in value.items():
        inner = [path[1:] for path in paths if path[0] == name]
        if inner and ((found := kept(item, inner)) is not None or (() in inner)):
            rest[name] = found
    return rest


@given(JSON, PATHS)
def test_keep_is_what_it_says(value: Any, paths: list[str]) -> None:
    """Against a model that reads the value and the paths one by one."""
    text = orjson.dumps(value).decode()
    if not isinstance(value, dict | list) or (isinstance(value, dict) and (value.get("error") or value.get("isError"))):
        assert pruned(text, keep(*paths)) == text
        return
    found = kept(value, [result_path(path) for path in paths])
    assert orjson.loads(pruned(text, keep(*paths))) == ({} if found is None else found)


@given(JSON, PATHS, st.integers(1, 3))
def test_pruning_twice_is_pruning_once(value: Any, paths: list[str], items_max: int) -> None:
    """What survives is what survives: nothing more goes when it goes up again."""
    upkeep = keep(*paths)
    once = pruned(orjson.dumps(value).decode(), upkeep)
    assert pruned(once, upkeep) == once
    dropped = pruned(orjson.dumps(value).decode(), drop(*paths))
    assert pruned(dropped, drop(*paths)) == dropped
    assert len(pruned(once, Upkeep(max_bytes=80, max_items=items_max)).encode()) <= 80


@given(st.text(max_size=300), st.integers(64, 200))
def test_a_cut_is_within_its_bound(text: str, bytes_max: int) -> None:
    """In whole characters, and never longer than it may be."""
    found = cut(text, bytes_max)
    assert len(found.encode(errors="surrogatepass")) <= bytes_max
    assert found == text or f"[cut: the result had {len(text.encode(errors='surrogatepass'))} bytes]" in found
