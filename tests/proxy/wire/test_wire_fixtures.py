"""Our own exchanges and wire quirks: the calls that are read, and what leaves, are what stands beside the bytes."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import ollama
import openai
import pytest
import yaml
from botocore.exceptions import EventStreamError

from interceptors.calls import Call, ToolCall
from proxy.wire.positional import is_positional
from proxy.wire.registry import DIALECTS
from tests.proxy.wire import sdks
from tests.replay import allow, bytewise, deny, replay

ROOT = Path(__file__).resolve().parents[3] / "fixtures"
FOLDERS = [
    (dialect, folder.parent) for dialect in DIALECTS for folder in sorted(ROOT.glob(f"{dialect.name}/*/meta.yaml"))
]


def stated(call: Call) -> dict[str, Any]:
    said = {"arguments": call.raw} if isinstance(call, ToolCall) else {"malformed": call.cause.name.lower()}
    return {"id": "" if is_positional(call.id) else call.id, "name": call.name, **said}


def load(folder: Path) -> tuple[dict[str, Any], bytes]:
    meta = yaml.safe_load((folder / "meta.yaml").read_text(encoding="utf-8"))
    (response,) = folder.glob("response.*")
    return meta, response.read_bytes()


@pytest.mark.parametrize(("dialect", "folder"), FOLDERS, ids=lambda one: getattr(one, "name", None))
def test_a_fixture_is_read_as_it_says(dialect: Any, folder: Path) -> None:
    """Its calls in order, and whether it leaves unchanged, in canonical form, or breaks where all is allowed."""
    meta, data = load(folder)
    assert meta["synthetic"] is True
    assert meta["quirk"]
    result = replay(dialect, data, allow, streamed=meta["streamed"])
    assert [stated(call) for call in sorted(result.calls, key=lambda call: call.position)] == meta["calls"]
    left = "broken" if result.breach else "unchanged" if result.data == data else "canonical"
    assert left == meta["allowed"]
    assert meta.get("breach") == (result.breach.name.lower() if result.breach else None)


@pytest.mark.parametrize(("dialect", "folder"), FOLDERS, ids=lambda one: getattr(one, "name", None))
def test_a_fixture_holds_its_calls_back(dialect: Any, folder: Path) -> None:
    """Denied, no id and no arguments leave, byte by byte or at once; a client finds no call and reads to the end."""
    meta, data = load(folder)
    result = replay(dialect, data, deny, streamed=meta["streamed"])
    for call in meta["calls"]:
        assert not call["id"] or f'"{call["id"]}"'.encode() not in result.data
    if meta["streamed"]:
        assert replay(dialect, bytewise(data), deny).data == result.data
    if result.breach is None:
        with contextlib.suppress(
            openai.LengthFinishReasonError, ollama.ResponseError, EventStreamError, RuntimeError
        ):  # a turn that was cut
            assert not sdks.calls_found(dialect, result.data, streamed=meta["streamed"])


def test_each_dialect_has_fixtures() -> None:
    """None is left out of the recorded cases; one that another host speaks too shares them."""
    assert {dialect.continuation for dialect, _ in FOLDERS} == {dialect.continuation for dialect in DIALECTS}
