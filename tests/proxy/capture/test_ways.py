"""Where a captured connection may go."""

from __future__ import annotations

import pytest

from proxy.capture.ways import IntoGate, Nowhere, StraightOn, Way, Ways

WAYS = Ways.of(["llm.example=own"], ["api.github.com", "*.pypi.example", "api.openai.com"])


@pytest.mark.parametrize(
    ("host", "port", "way"),
    [
        ("api.anthropic.com", 443, IntoGate("anthropic")),
        ("API.Anthropic.com", 443, IntoGate("anthropic")),
        ("api.openai.com", 443, IntoGate("openai")),  # the egress list opens no way round the gate
        ("llm.example", 443, IntoGate("own")),
        ("api.github.com", 443, StraightOn()),
        ("files.pypi.example", 8443, StraightOn()),
    ],
)
def test_a_host_goes_where_the_lists_say(host: str, port: int, way: Way) -> None:
    """A provider goes into the gate, however it is spelled and whatever the egress list says."""
    assert WAYS.way(host, port) == way


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("api.anthropic.com", 80),
        ("api.anthropic.com.", 443),
        ("api.anthropic.com.evil.example", 443),
        ("evil.example", 443),
        ("pypi.example", 443),
        ("api.github.com@evil.example", 443),
        ("160.79.104.10", 443),
        ("", 443),
        ("api。anthropic。com", 443),
    ],
)
def test_every_other_host_goes_nowhere(host: str, port: int) -> None:
    """An address, another port, a root dot, another full stop: none of them is a way round."""
    assert isinstance(WAYS.way(host, port), Nowhere)


@pytest.mark.parametrize(
    ("sni", "header", "passes"),
    [
        ("api.anthropic.com", "api.anthropic.com", True),
        ("api.anthropic.com", "api.openai.com", False),
        ("api.github.com", "api.github.com", False),
        ("", "api.anthropic.com", False),
    ],
)
def test_a_redirected_connection_reaches_a_provider_or_nothing(sni: str, header: str, passes: bool) -> None:
    """Where a firewall redirects, the names are the agent's own words: they lead to the gate or nowhere."""
    assert isinstance(WAYS.redirected(sni, header, 443), IntoGate) is passes


@pytest.mark.parametrize(
    ("providers", "egress", "problem"),
    [
        (["api.x.example"], [], "expected HOST=NAME"),
        (["api.x.example=a/b"], [], "expected HOST=NAME"),
        (["a b=c"], [], "not a host name"),
        ([], ["*.com"], "top-level"),
        ([], ["https://x.example"], "not a host name"),
    ],
)
def test_a_wrong_list_is_told(providers: list[str], egress: list[str], problem: str) -> None:
    """No entry is skipped in silence."""
    with pytest.raises(ValueError, match=problem):
        Ways.of(providers, egress)
