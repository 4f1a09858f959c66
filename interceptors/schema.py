"""The request's own JSON Schema of a tool: checked offline, in linear time, of bounded size (DESIGN 4, stage 1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import jsonschema_rs

from interceptors.names import shown
from interceptors.strict_json import StrictJsonError, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interceptors.calls import Json

SCHEMA_BYTES_MAX: Final = 131_072
"""A longer schema is not read: its tool cannot be checked, and is refused where the policy names it."""
SCHEMAS_KEPT_MAX: Final = 128
"""Compiled validators in memory, least recently used first to go. Keyed by the schema's bytes, so never stale."""
PATTERN_BYTES_MAX: Final = 1 << 20


class UnusableSchemaError(ValueError):
    """Too large, no strict JSON, no valid schema, or it refers to elsewhere or has a pattern that is not linear."""


@dataclass(frozen=True, slots=True)
class Violation:
    """Where the arguments break the schema. `path` is dotted, `keyword` the schema's; neither holds a value."""

    path: str
    keyword: str

    def __str__(self) -> str:
        where = f"argument {self.path!r}" if self.path else "the arguments"
        return f"{where}: is missing" if self.is_missing else f"{where}: the schema's {self.keyword!r} is violated"

    @property
    def is_missing(self) -> bool:
        return self.keyword == "required"


def violation(schema: bytes, arguments: Mapping[str, Json]) -> Violation | None:
    """The first violation that the validator finds, or None. Raises `UnusableSchemaError`.

    Formats are not asserted, which is the standard's default. Patterns run on the linear engine: a schema with
    look-around or back-references is unusable, for checking it without a bound is no option.
    """
    if len(schema) > SCHEMA_BYTES_MAX:
        raise UnusableSchemaError(f"the schema is larger than {SCHEMA_BYTES_MAX} bytes")
    validator = _validator(schema)
    if isinstance(validator, str):
        raise UnusableSchemaError(validator)
    if validator.is_valid(arguments):
        return None
    error = next(iter(validator.iter_errors(arguments)))
    steps = [str(step) if isinstance(step, int) else shown(step) for step in error.instance_path]
    keyword = str(error.schema_path[-1]) if error.schema_path else ""
    if keyword == "required":
        steps.append(shown(str(error.kind.property)))
    return Violation(".".join(steps), shown(keyword))


@lru_cache(maxsize=SCHEMAS_KEPT_MAX)
def _validator(schema: bytes) -> Any:
    """A validator, or why there is none: failures are kept too, or a broken schema would be compiled each time."""
    try:
        value: Any = parse(schema)
        return jsonschema_rs.validator_for(
            value,
            offline=True,
            pattern_options=jsonschema_rs.RegexOptions(size_limit=PATTERN_BYTES_MAX, dfa_size_limit=PATTERN_BYTES_MAX),
        )
    except StrictJsonError:
        return "the schema is not strict JSON"
    except ValueError as error:
        return f"the schema is not usable ({type(error).__name__})"
