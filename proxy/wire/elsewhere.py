"""Routes on which the model gets hands that no response of a create call shows (WIRE.md 7).

What comes back of a batch, a thread or a realtime session holds calls that nobody judged. Each has a name, and the
policy decides on it as on a tool of the provider. Every other route that is not mediated is refused unless the
configuration names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from proxy.wire.paths import variables_of

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A family of routes of one provider: paths without `/v1`, with `{}` for one segment, by their methods."""

    provider: str
    name: str
    routes: Mapping[str, tuple[str, ...]]


FAMILIES: Final = (
    Elsewhere(
        "anthropic",
        "batches",
        {
            "POST": ("/messages/batches", "/messages/batches/{a}/cancel"),
            "GET": ("/messages/batches", "/messages/batches/{a}", "/messages/batches/{a}/results"),
            "DELETE": ("/messages/batches/{a}",),
        },
    ),
    Elsewhere("openai", "batches", {"POST": ("/batches", "/batches/{a}/cancel"), "GET": ("/batches", "/batches/{a}")}),
    Elsewhere(
        "openai",
        "realtime",
        {
            "POST": (
                "/realtime/calls",
                "/realtime/calls/{a}/accept",
                "/realtime/calls/{a}/hangup",
                "/realtime/calls/{a}/refer",
                "/realtime/calls/{a}/reject",
                "/realtime/client_secrets",
                "/realtime/sessions",
                "/realtime/transcription_sessions",
                "/realtime/translations/client_secrets",
            )
        },
    ),
    Elsewhere(
        "openai",
        "threads",
        {
            "POST": (
                "/assistants",
                "/assistants/{a}",
                "/threads",
                "/threads/runs",
                "/threads/{a}",
                "/threads/{a}/messages",
                "/threads/{a}/messages/{b}",
                "/threads/{a}/runs",
                "/threads/{a}/runs/{b}",
                "/threads/{a}/runs/{b}/cancel",
                "/threads/{a}/runs/{b}/submit_tool_outputs",
            ),
            "GET": (
                "/assistants",
                "/assistants/{a}",
                "/threads/{a}",
                "/threads/{a}/messages",
                "/threads/{a}/messages/{b}",
                "/threads/{a}/runs",
                "/threads/{a}/runs/{b}",
                "/threads/{a}/runs/{b}/steps",
                "/threads/{a}/runs/{b}/steps/{c}",
            ),
            "DELETE": ("/assistants/{a}", "/threads/{a}", "/threads/{a}/messages/{b}"),
        },
    ),
)


def elsewhere(method: str, path: str) -> Elsewhere | None:
    """The family that `path` belongs to, with its `/v1` or without."""
    bare = path.removeprefix("/v1")
    for family in FAMILIES:
        if any(variables_of(pattern, bare) is not None for pattern in family.routes.get(method, ())):
            return family
    return None
