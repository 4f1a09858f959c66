"""The value of a result, where its tool writes it as a text that is no JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interceptors.block_scalars import BlockTextError
from interceptors.block_text import parse_block_text
from policies.guards import ResultFormat

if TYPE_CHECKING:
    from interceptors.calls import Json
    from policies.model import Tool


def structured(tool: Tool | None, value: Json) -> Json:
    """The list or mapping that a text spells, where the tool says that it writes such texts; else the value itself."""
    if tool is None or tool.result_format is not ResultFormat.YAML or not isinstance(value, str):
        return value
    try:
        return parse_block_text(value)
    except BlockTextError:
        return value
