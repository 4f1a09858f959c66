"""The word that holds for a tool of the provider."""

from __future__ import annotations

import pytest

from policies import load_policy_text
from policies.foreign import ProviderTool
from proxy.provider_tools import word_on

HEAD = "language: 1\npolicy: p\nprovider_tools: {web_search: strip}\n"


@pytest.mark.parametrize(
    ("unknown", "name", "word"),
    [
        ("forbid", "Web_Search", ProviderTool.STRIP),
        ("allow", "web-search", ProviderTool.STRIP),
        ("forbid", "container", ProviderTool.REFUSE),
        ("escalate", "container", ProviderTool.REFUSE),
        ("allow", "container", ProviderTool.ALLOW),
    ],
)
def test_the_policys_own_word_goes_before_the_general_one(unknown: str, name: str, word: ProviderTool) -> None:
    """Where `provider_tools` is silent, `unknown_tools` speaks; there is nobody to escalate to before a request."""
    assert word_on(load_policy_text(HEAD + f"unknown_tools: {unknown}\n"), name) is word


@pytest.mark.parametrize("unknown", ["forbid", "escalate", "allow"])
def test_what_only_the_model_brings_is_refused_by_its_name_alone(unknown: str) -> None:
    """Whoever runs the agent chose the model; a policy that names the tool is heard all the same."""
    policy = load_policy_text(HEAD + f"unknown_tools: {unknown}\n")
    assert word_on(policy, "compound", by_model=True) is ProviderTool.ALLOW
    assert word_on(policy, "web_search", by_model=True) is ProviderTool.STRIP
