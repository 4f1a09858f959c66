"""The request's own schema: offline, linear, bounded, and silent about values."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from interceptors.schema import (
    SCHEMA_BYTES_MAX,
    SCHEMAS_KEPT_MAX,
    UnusableSchemaError,
    Violation,
    _validator,
    violation,
)

if TYPE_CHECKING:
    from pathlib import Path

    from interceptors.calls import Json

OBJECT = b'{"type":"object","properties":{"a":{"type":"integer","maximum":5},"o":{"required":["x"]}},"required":["a"]}'


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"a": 1}, None),
        ({"a": Decimal("1.0")}, None),
        ({}, Violation("a", "required")),
        ({"a": "secret"}, Violation("a", "type")),
        ({"a": True}, Violation("a", "type")),
        ({"a": 10**30}, Violation("a", "maximum")),
        ({"a": 1, "o": {}}, Violation("o.x", "required")),
    ],
)
def test_the_first_violation_is_told_by_place_and_keyword(
    arguments: dict[str, Json], expected: Violation | None
) -> None:
    """Never by the value that violates."""
    found = violation(OBJECT, arguments)
    assert found == expected
    assert "secret" not in str(found)


@pytest.mark.parametrize(
    "schema",
    [
        b"",
        b"[]",
        b"null",
        b'{"type":"object"',
        b'{"type":"object","type":"string"}',
        b'{"type":"nonsense"}',
        b'{"$ref":"file:///etc/passwd"}',
        b'{"$ref":"http://127.0.0.1:1/schema"}',
        b'{"$ref":"#/definitions/none"}',
        b'{"$schema":"http://127.0.0.1:1/meta"}',
        b'{"pattern":"(?=a)b"}',
        b'{"pattern":"(a)\\\\1"}',
        b'{"pattern":"(a{1000}){1000}"}',
        b'{"a":' * 70 + b"1" + b"}" * 70,
        b'{"description":"' + b"x" * SCHEMA_BYTES_MAX + b'"}',
    ],
)
def test_a_schema_that_cannot_be_checked_offline_and_in_bounds_is_unusable(schema: bytes) -> None:
    """Broken, reaching out, with patterns that are not linear, too deep or too large: an error, never a pass."""
    with pytest.raises(UnusableSchemaError):
        violation(schema, {"a": 1})


def test_a_schema_reads_no_file(tmp_path: Path) -> None:
    """Not even one that is there and is a valid schema."""
    file = tmp_path / "schema.json"
    file.write_text("true")
    with pytest.raises(UnusableSchemaError):
        violation(b'{"$ref":"%s"}' % file.as_uri().encode(), {})


@pytest.mark.parametrize("schema", [b"{}", b"true", b'{"$schema":"http://json-schema.org/draft-07/schema#"}'])
def test_an_open_schema_accepts(schema: bytes) -> None:
    """The drafts that agents use are known without fetching them."""
    assert violation(schema, {"a": 1}) is None


def test_a_hostile_pattern_takes_linear_time() -> None:
    """`(a+)+$` on a long text that almost matches."""
    schema = b'{"properties":{"a":{"pattern":"^(a+)+$"}}}'
    start = time.process_time()
    assert violation(schema, {"a": "a" * 5_000 + "!"}) == Violation("a", "pattern")
    assert time.process_time() - start < 10


def test_compiled_schemas_are_bounded() -> None:
    """A client that declares a new schema with each request does not fill the memory."""
    for index in range(SCHEMAS_KEPT_MAX * 2):
        violation(b'{"title":"%d"}' % index, {})
    assert _validator.cache_info().currsize == SCHEMAS_KEPT_MAX
