"""`provider_tools` in a policy: read strictly, told in sentences, told when it changes."""

from __future__ import annotations

import pytest

from policies import PolicyError, load_policy_text
from policies.difference import difference
from policies.explain import explain
from policies.foreign import ProviderTool

HEAD = "language: 1\npolicy: p\n"


def test_names_are_folded_and_words_are_closed() -> None:
    """One tool has one word, however it is spelled; another word than the three is an error."""
    policy = load_policy_text(HEAD + "provider_tools: {Web-Search: strip, mcp/wiki: allow}\n")
    assert dict(policy.provider_tools) == {"websearch": ProviderTool.STRIP, "mcp/wiki": ProviderTool.ALLOW}
    with pytest.raises(PolicyError, match="one tool"):
        load_policy_text(HEAD + "provider_tools: {web_search: strip, WebSearch: allow}\n")
    with pytest.raises(PolicyError, match="expected one of"):
        load_policy_text(HEAD + "provider_tools: {web_search: off}\n")


def test_they_are_told() -> None:
    """Who signs the policy reads what runs at the provider, and what changes."""
    old = load_policy_text(HEAD + "provider_tools: {web_search: strip}\n")
    new = load_policy_text(HEAD + "provider_tools: {web_search: allow, container: refuse}\n")
    assert "websearch: taken out of every request." in explain(old, None)
    assert difference(old, new) == [
        (
            "The provider's own tool websearch: allowed (it runs at the provider, and is recorded, not judged); before:"
            " taken out of every request."
        ),
        ("The provider's own tool container: a request that has it is refused; before: as `unknown_tools` says."),
    ]
