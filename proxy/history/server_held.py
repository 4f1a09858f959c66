"""Conversations that the provider keeps: what is old in them cannot be told, nor replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.upkeep import ServerHeld, ages, needs_whole
from proxy.wire import envelope

if TYPE_CHECKING:
    from policies.model import Policy
    from proxy.history.view import View


class ServerHeldError(envelope.EnvelopeError):
    """The request goes on with what the provider keeps, under a policy that edits what is old."""

    reason = "server_held"


def refuse_held(view: View, policy: Policy) -> None:
    """Raises `ServerHeldError` where the policy says so."""
    if view.transcript.is_continued and policy.history.server_held is ServerHeld.REFUSE and needs_whole(policy):
        what = (
            "nobody can tell which results in it are out of date" if ages(policy) else "nothing in it can be summed up"
        )
        raise ServerHeldError(
            f"the provider keeps the history of this conversation, so that {what}: send the whole history with each "
            "request"
        )
