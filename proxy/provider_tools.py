"""Requests that give the model hands elsewhere: tools that the provider executes, its MCP servers, its containers.

Such a tool has run before its call could be read, so the request is where the policy's word counts: pass it and
receipt it as observed, take it out, or refuse the request.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from policies.foreign import ProviderTool
from policies.model import UnknownTools, folded
from proxy.admission import RefusedError
from proxy.wire import envelope
from proxy.wire.dialect import Fault
from proxy.wire.stripping import stripped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from policies.model import Policy
    from proxy.wire.dialect import Dialect, RequestView
    from proxy.wire.paths import Address


STRIPPED: Final = "stripped"
"""Where a tool was seen that did not go up, for its receipt."""


@dataclass(frozen=True, slots=True)
class Minded:
    """A request after the policy's word: its body and view, the tools that pass, and those that were taken out."""

    body: bytes
    view: RequestView
    passed: tuple[str, ...]
    taken_out: tuple[str, ...]


def word_on(policy: Policy, name: str, *, by_model: bool = False) -> ProviderTool:
    """What holds for one tool of the provider: the policy's own word, else what `unknown_tools` says.

    Which model is asked is its agent's owner's choice, and no tool that a request brings: what only the model brings
    passes where the policy does not name it.
    """
    listed = policy.provider_tools.get(folded(name))
    if listed is not None:
        return listed
    if by_model:
        return ProviderTool.ALLOW
    return ProviderTool.ALLOW if policy.unknown_tools is UnknownTools.ALLOW else ProviderTool.REFUSE


def mind(policy: Policy, dialect: Dialect, body: bytes, view: RequestView, at: Address) -> Minded:
    """Raises `RefusedError` for a tool that is refused, or that cannot be taken out of where it stands."""
    tools = tuple(dict.fromkeys(view.tools.provider))
    words = {name: word_on(policy, name, by_model=name in view.tools.by_model) for name in tools}
    _refuse(policy, [name for name, word in words.items() if word is ProviderTool.REFUSE])
    out = tuple(name for name, word in words.items() if word is ProviderTool.STRIP)
    if not out:
        return Minded(body, view, tools, ())
    try:
        body = stripped(dialect, body, at, frozenset(map(folded, out)))
        view = dialect.request(body, at)
    except envelope.EnvelopeError as error:
        raise RefusedError(Fault.INVALID_REQUEST, "invalid_body", str(error)) from None
    stuck = [name for name in out if name in view.tools.provider]
    if stuck:
        message = f"{_listed(stuck)} stands in a message, the path or the name of the model: it cannot be taken out"
        raise RefusedError(Fault.INVALID_REQUEST, "provider_tool", message)
    return Minded(body, view, tuple(dict.fromkeys(view.tools.provider)), out)


def refuse_unless_allowed(policy: Policy, name: str) -> None:
    """For a route that has nothing to take out of it. Raises `RefusedError`."""
    if word_on(policy, name) is not ProviderTool.ALLOW:
        _refuse(policy, [name])


def _refuse(policy: Policy, names: Sequence[str]) -> None:
    if names:
        by = "provider_tools" if any(folded(name) in policy.provider_tools for name in names) else "unknown_tools"
        message = f"the provider itself executes {_listed(names)}, which this policy does not allow ({by})"
        raise RefusedError(Fault.INVALID_REQUEST, "provider_tool", message)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)
