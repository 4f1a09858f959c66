"""Agent frameworks, unchanged, through the gate to a provider double that knows nothing of it."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from tests.clients.agents import AGENTS
from tests.clients.running import gate, missing, mock_provider
from tests.clients.scenarios import (
    ANNOUNCED,
    BYE,
    FINISHED,
    ORDERS,
    REPLY,
    TOLD,
    OnRefusal,
    Scene,
    fixtures,
    policy,
    write_fixtures,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.clients.running import Gate, Mock

# One loop for all of them: some frameworks keep their connections for the process.
pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(bool(missing()), reason=missing() or "the clients run"),
    # Some leave their connections open at the end of the process.
    # The mock provider ends a turn of Gemini's by a reason that Gemini does not have; the SDK says so and goes on.
    pytest.mark.filterwarnings("ignore:FUNCTION_CALL is not a valid FinishReason"),
    pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mock]:
    folder = tmp_path_factory.mktemp("mock")
    write_fixtures(folder / "fixtures.json", fixtures(ORDERS))
    with mock_provider(folder, folder / "fixtures.json") as running:
        yield running


@pytest.fixture(scope="module")
def gates(mock: Mock, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[OnRefusal, Gate]]:
    folder = tmp_path_factory.mktemp("gates")
    with (
        gate(folder / "code", policy(OnRefusal.CODE, [ORDERS.refused]), mock) as code,
        gate(folder / "model", policy(OnRefusal.MODEL, [ORDERS.refused]), mock) as model,
    ):
        yield {OnRefusal.CODE: code, OnRefusal.MODEL: model}


# What the user reads for the first message, the tools that run, and how often the provider is asked for it.
EXPECTED: dict[tuple[Scene, OnRefusal], tuple[list[str], list[str], int]] = {
    (Scene.ALLOWED, OnRefusal.CODE): ([ANNOUNCED, FINISHED], ["lookup_order"], 2),
    (Scene.ALLOWED, OnRefusal.MODEL): ([ANNOUNCED, FINISHED], ["lookup_order"], 2),
    (Scene.REFUSED, OnRefusal.CODE): ([ANNOUNCED, REPLY], [], 1),
    (Scene.REFUSED, OnRefusal.MODEL): ([ANNOUNCED, TOLD], [], 2),
    (Scene.PARALLEL, OnRefusal.CODE): ([ANNOUNCED, REPLY, FINISHED], ["lookup_order"], 2),
    (Scene.PARALLEL, OnRefusal.MODEL): ([ANNOUNCED, FINISHED], ["lookup_order"], 2),
}


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("on_refusal", OnRefusal, ids=lambda one: one.value)
@pytest.mark.parametrize("scene", Scene, ids=lambda one: one.value)
@pytest.mark.parametrize("name", AGENTS)
async def test_an_agent_framework_takes_its_turns_through_the_gate(
    mock: Mock, gates: Mapping[OnRefusal, Gate], name: str, scene: Scene, on_refusal: OnRefusal, streamed: bool
) -> None:
    """It shows what the policy says, runs what is allowed and nothing else, and its next request is a valid history."""
    mark = uuid.uuid4().hex
    said, ran, asked = EXPECTED[scene, on_refusal]
    messages = [f"{scene.value} {mark}", f"and then? {mark}"]
    seen = await AGENTS[name](gates[on_refusal].url, messages, streamed=streamed)
    assert seen.ran == ran
    assert len(seen.shown) == 2
    places = [seen.shown[0].index(text) for text in said]
    assert places == sorted(places)
    assert seen.shown[1].strip() == BYE
    requests = mock.asked(mark)
    assert len(requests) == asked + 1
    assert all(request["response"]["status"] == 200 for request in requests)
    assert ("for_people" in str(requests[-1]["body"])) is (on_refusal is OnRefusal.MODEL and scene is not Scene.ALLOWED)
