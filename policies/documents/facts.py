"""The `facts` section: where a record is read, by which key, and what may be read from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import re2

from policies.documents import keys
from policies.documents.currency_fields import with_currencies
from policies.documents.scalars import ROOTS, code, currency, dotted_path, expandable, identifier, seconds, simple_type
from policies.expressions import EACH
from policies.fact_fields import FactField
from policies.model import Fact, FileSource, HttpSource, Ruling
from policies.nodes import ScalarNode, joined, listed
from policies.patterns import Pattern
from policies.secrets import Expandable
from policies.values import ANY, TIMESTAMP, Type, Unit, list_of, money_type, record_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from policies.nodes import MappingNode, Node
    from policies.problems import Problems

TIMEOUT_SECONDS = 2.0
TIMEOUT_SECONDS_MAX = 60.0
KEY = "{key}"
MISSING = (Ruling.ESCALATE, "facts_incomplete")

_HEADER = re2.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# Framing and routing belong to the client that asks; the rest would be hidden from the receipt by a proxy on the way.
_HEADERS_FORBIDDEN = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect"}
)


def read_facts(section: Node, folder: Path, problems: Problems) -> dict[str, Fact | None]:
    """Every fact by its name; None for one that is among the problems."""
    found: dict[str, Fact | None] = {}
    for name, node in section.mapping().entries.items():
        found[name] = None
        with problems.collect():
            if name in ROOTS:
                node.fail(f"a fact cannot be named {name!r}: that is a root of expressions")
            node.apply(identifier, name)
            found[name] = _read_fact(name, node.mapping(), folder, problems)
    return found


def fact_type(fact: Fact | None, *, many: bool) -> Type:
    """The type of the root that a fact is in expressions; a fact that could not be read is open."""
    if fact is None:
        return ANY
    record = record_of({name: field.type for name, field in fact.fields.items()})
    return list_of(record) if many else record


def _read_fact(name: str, mapping: MappingNode, folder: Path, problems: Problems) -> Fact:
    with problems.collect():
        mapping.check_keys(keys.FACT, keys.LATER)
    fields: dict[str, FactField] = {}
    with problems.collect():
        fields = read_fields(mapping.require("fields").mapping(), name, problems)
    missing = MISSING
    with problems.collect():
        missing = _read_missing(mapping.get("missing"))
    timeout = TIMEOUT_SECONDS
    with problems.collect():
        timeout = _read_timeout(mapping)
    key = mapping.require("key").mapping()
    key.check_keys(keys.FACT_KEY, keys.LATER)
    pattern = key.require("pattern").convert(Pattern.compile)
    return Fact(name, pattern, _read_source(mapping, folder, problems), timeout, missing, fields, mapping.origin)


def _read_source(mapping: MappingNode, folder: Path, problems: Problems) -> HttpSource | FileSource:
    http, file = mapping.get("http"), mapping.get("file")
    if (http is None) == (file is None):
        mapping.fail("a fact has one source: either `http` or `file`")
    if file is not None:
        for key in ("headers", "timeout"):
            if key in mapping:
                problems.add(mapping.origin_of(key), joined(mapping.path, key), f"{key!r} does not go with 'file'")
        text = file.text()
        if "${" in text:
            file.fail("a reference in the name of a file is not supported: write the path, relative to the policy")
        if "\0" in text:
            file.fail("a path cannot hold a null character")
        return FileSource(folder / text)
    assert http is not None
    url = http.convert(_url)
    headers: dict[str, Expandable] = {}
    node = mapping.get("headers")
    for name, value in node.mapping().entries.items() if node is not None else ():
        with problems.collect():
            headers[_header_name(name, value, headers)] = expandable(value)
    return HttpSource(url, headers)


def _url(text: str) -> Expandable:
    expandable = Expandable.parse(text)
    bare = text
    for reference in expandable.references:
        bare = bare.replace(reference, "x", 1)
    if KEY not in bare:
        raise ValueError("the url must hold {key}: a fact is one record, read by its key")
    rest = bare.replace(KEY, "")
    if "{" in rest or "}" in rest:
        raise ValueError("the url may hold {key} and ${NAME}, no other braces")
    if any(character <= " " or character == "\x7f" for character in text) or "#" in rest or "\\" in rest:
        raise ValueError("the url must not hold a space, a backslash or a fragment")
    scheme, mark, after = bare.partition("://")
    if not mark and not text.startswith("${"):
        raise ValueError("the url must begin with http://, https:// or a reference such as ${ORDERS_URL}")
    if mark and scheme not in ("http", "https", "x"):
        raise ValueError("the url must be http or https")
    authority = (after if mark else bare).replace("?", "/").partition("/")[0]
    if "@" in authority:
        raise ValueError("the url must not hold a user or a password: send them in `headers`")
    if KEY in authority:
        raise ValueError("{key} may stand in the path or the query of the url only")
    return expandable


def _header_name(name: str, node: Node, known: Mapping[str, Expandable]) -> str:
    if not _HEADER.fullmatch(name):
        node.fail(f"{name!r} is no name of a header")
    if name.lower() in _HEADERS_FORBIDDEN:
        node.fail(f"the header {name!r} is not the policy's to set")
    if name.lower() in known:
        node.fail(f"the header {name!r} stands here twice")
    return name.lower()


def _read_timeout(mapping: MappingNode) -> float:
    node = mapping.get("timeout")
    if node is None:
        return TIMEOUT_SECONDS
    timeout = node.convert(seconds)
    if not 0 < timeout <= TIMEOUT_SECONDS_MAX:
        node.fail(f"must be above zero and at most {TIMEOUT_SECONDS_MAX:.0f}s")
    return timeout


def _read_missing(node: Node | None) -> tuple[Ruling, str]:
    if node is None:
        return MISSING
    mapping = node.mapping()
    mapping.check_keys(keys.RULINGS, keys.LATER)
    if len(mapping.entries) != 1:
        mapping.fail(f"expected one of {listed(keys.RULINGS)} with a reason")
    ruling, reason = next(iter(mapping.entries.items()))
    return Ruling(ruling), reason.convert(code)


def read_fields(mapping: MappingNode, root: str, problems: Problems) -> dict[str, FactField]:
    """What may be read of a JSON document, by the names of the fields. `root` is what expressions call it."""
    found: dict[str, FactField] = {}
    for name, node in mapping.entries.items():
        with problems.collect():
            node.apply(identifier, name)
            found[name] = _read_field(name, node)
    return with_currencies(mapping, found, root, problems)


def _read_field(name: str, node: Node) -> FactField:
    if isinstance(node, ScalarNode):
        return FactField(name, (name,), simple_type(node))
    mapping = node.mapping()
    mapping.check_keys(keys.FACT_FIELD, keys.LATER)
    at = mapping.get("at")
    path = (name,) if at is None else at.convert(_listed_path)
    is_list = EACH in path
    kinds = [key for key in ("type", "money", "timestamp") if key in mapping]
    if len(kinds) != 1:
        mapping.fail("a field has one of type, money, timestamp")
    if "unit" in mapping and kinds != ["money"]:
        mapping.require("unit").fail("'unit' goes with 'money' only")
    if "timestamp" in mapping:
        mapping.require("timestamp").one_of(("iso",))
        return FactField(name, path, _many(TIMESTAMP, is_list), timestamp=True)
    if "money" in mapping:
        unit = mapping.require("unit").choice(Unit)
        iso = mapping.require("money").convert(currency)
        return FactField(name, path, _many(money_type(iso), is_list), money_unit=unit, money_currency=iso)
    return FactField(name, path, _many(simple_type(mapping.require("type")), is_list))


def _many(type_: Type, is_list: bool) -> Type:
    return list_of(type_) if is_list else type_


def _listed_path(text: str) -> tuple[str, ...]:
    """`items[*].sku` as keys and `EACH` steps. `ValueError` for an empty step, and where a `[*]` stands alone."""
    steps: list[str] = []
    for part in text.split("."):
        name = part.removesuffix(EACH)
        steps += dotted_path(name) if name == part else (*dotted_path(name), EACH)
    return tuple(steps)
