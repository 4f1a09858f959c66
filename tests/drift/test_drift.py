"""A new endpoint, item or tool type of an SDK fails the build until somebody has decided what the gate does with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from proxy.wire.gemini import GEMINI
from proxy.wire.openai_responses import OPENAI_RESPONSES
from proxy.wire.paths import Address
from tests.drift.difference import lines
from tests.drift.endpoints import SAYS, endpoints, treatment
from tests.drift.known import GEMINI_TOOLS, KNOWN, RESPONSES_TOOLS
from tests.drift.surface import surface

if TYPE_CHECKING:
    from proxy.wire.dialect import Dialect

PROVIDERS = ("anthropic", "openai", "gemini", "ollama", "bedrock", "vertex", "azure")
SURFACE = surface()


@pytest.mark.parametrize("name", KNOWN)
def test_every_type_of_the_sdk_stands_in_a_closed_table(name: str) -> None:
    """What a provider sends or takes is known before it arrives; a type that is not here is held as an unknown call."""
    assert SURFACE[name], "the reading of the SDK found nothing, which proves nothing"
    assert set(SURFACE[name]) - KNOWN[name] == set()


_TOOLS = [
    *((OPENAI_RESPONSES, {"type": kind, "name": "t"}, name) for kind, name in RESPONSES_TOOLS.items()),
    *(
        (GEMINI, {kind: [{}] if kind in ("mcpServers", "functionDeclarations") else {}}, name)
        for kind, name in GEMINI_TOOLS.items()
    ),
]


@pytest.mark.parametrize(("dialect", "tool", "name"), _TOOLS, ids=lambda value: value if isinstance(value, str) else "")
def test_every_tool_of_the_sdk_is_the_clients_or_has_a_name(
    dialect: Dialect, tool: dict[str, object], name: str
) -> None:
    """Whose hands a tool is: the closed lists are not a wish either."""
    at = Address("/v1beta/models/{model}:generateContent", {"model": "m"}, "")
    view = dialect.request(orjson.dumps({"model": "m", "tools": [tool]}), at)
    assert view.tools.provider == ((name,) if name else ())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_endpoint_of_the_sdk_stands_in_the_table(provider: str) -> None:
    """An endpoint nobody has looked at is refused; this says that somebody must look at it."""
    known = {one.sdk_name for one in endpoints() if one.provider == provider}
    found = set(SURFACE[f"endpoints {provider}"])
    assert len(found) > 7
    assert found - known == set()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_gate_does_what_the_table_says(provider: str) -> None:
    """The table is not a wish: each row is asked of the router."""
    rows = [one for one in endpoints() if one.provider == provider]
    assert {one.treatment for one in rows} <= set(SAYS)
    wrong = {one.sdk_name: (one.treatment, treatment(one)) for one in rows if treatment(one) != one.treatment}
    assert wrong == {}


def test_no_endpoint_stands_in_the_table_twice() -> None:
    """Two rows could say two things."""
    rows = [(one.provider, one.sdk_name) for one in endpoints()]
    assert len(rows) == len(set(rows))


def test_the_difference_names_what_is_new_and_whether_a_table_knows_it() -> None:
    """`make drift` fails for what nobody has decided on, and for nothing else."""
    locked = {"blocks anthropic": ["text", "gone"]}
    told, unknown = lines(locked, {"blocks anthropic": ["text", "tool_use", "hologram"]})
    assert told == [
        "- blocks anthropic: gone",
        "+ blocks anthropic: hologram   (in no table)",
        "+ blocks anthropic: tool_use",
    ]
    assert unknown == 1
