"""What a policy says of tools that the provider executes, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policies.foreign import ProviderTool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.model import Policy

WORDS: Final = {
    ProviderTool.ALLOW: "allowed (it runs at the provider, and is recorded, not judged)",
    ProviderTool.STRIP: "taken out of every request",
    ProviderTool.REFUSE: "a request that has it is refused",
}


def provider_lines(policy: Policy) -> Iterator[str]:
    """One line for each tool that is named; the others follow `unknown_tools`."""
    if policy.provider_tools:
        yield "Tools that the provider executes"
    for name, word in policy.provider_tools.items():
        yield f"  {name}: {WORDS[word]}."
