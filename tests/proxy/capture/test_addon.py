"""The addon on flows that have only what it may look at."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from proxy.capture.addon import Redirect
from proxy.capture.ways import Ways

WAYS = Ways.of([], ["api.github.com"])


def flow(host: str, said: str = "", *, port: int = 443, scheme: str = "https", sni: str = "") -> Any:
    request = SimpleNamespace(
        host=host, port=port, scheme=scheme, pretty_host=said or host, path="/v1/messages?beta=true", headers={}
    )
    return SimpleNamespace(request=request, response=None, client_conn=SimpleNamespace(sni=sni or host))


def redirect(*, is_transparent: bool = False) -> Redirect:
    return Redirect(WAYS, "http://127.0.0.1:8080", lambda reason: reason, is_transparent=is_transparent)


def test_a_providers_flow_is_sent_to_its_upstream_at_the_gate() -> None:
    """Its path stays as it was, behind the upstream's name; it leaves in the clear, for this machine's gate only."""
    one = flow("api.anthropic.com")
    redirect().requestheaders(one)
    assert one.response is None
    where = (one.request.scheme, one.request.host, one.request.port, one.request.path)
    assert where == ("http", "127.0.0.1", 8080, "/anthropic/v1/messages?beta=true")
    assert one.request.headers["host"] == "127.0.0.1:8080"


@pytest.mark.parametrize(
    "one",
    [
        flow("evil.example"),
        flow("api.anthropic.com", "evil.example"),
        flow("evil.example", "api.anthropic.com"),
        flow("api.github.com", "api.anthropic.com"),
        flow("api.anthropic.com", port=80, scheme="http"),
        flow("api.github.com"),  # decrypted, which no flow to it should be
    ],
    ids=lambda one: f"{one.request.host} {one.request.pretty_host} {one.request.scheme}",
)
def test_every_other_flow_is_refused(one: Any) -> None:
    """Whatever name is believed, no reading of it leads past the gate."""
    redirect().requestheaders(one)
    assert isinstance(one.response, str)


def test_what_fails_refuses() -> None:
    """mitmproxy lets a flow pass when an addon raises: the refusal stands before anything that could."""
    one = flow("api.anthropic.com")
    del one.request.pretty_host
    with pytest.raises(AttributeError):
        redirect().requestheaders(one)
    assert one.response == "refused"


def test_a_redirected_flow_goes_by_its_handshake() -> None:
    """In transparent mode the address says nothing: the names of handshake and request must be one provider's."""
    good = flow("160.79.104.10", "api.anthropic.com", sni="api.anthropic.com")
    redirect(is_transparent=True).requestheaders(good)
    assert good.response is None
    for bad in (flow("160.79.104.10", "api.anthropic.com"), flow("1.2.3.4", "api.github.com", sni="api.github.com")):
        redirect(is_transparent=True).requestheaders(bad)
        assert bad.response is not None


@pytest.mark.parametrize(
    ("tunnel", "sni", "passes"),
    [
        ("api.github.com", "api.github.com", True),
        ("api.github.com", None, True),
        ("api.github.com", "evil.example", False),
        ("api.anthropic.com", "api.anthropic.com", False),
    ],
)
def test_only_a_listed_hosts_own_handshake_passes_undecrypted(tunnel: str, sni: str | None, passes: bool) -> None:
    """Another name in the handshake than in the tunnel could be another host behind one address."""
    server = SimpleNamespace(address=(tunnel, 443))
    data: Any = SimpleNamespace(
        context=SimpleNamespace(server=server), client_hello=SimpleNamespace(sni=sni), ignore_connection=False
    )
    redirect().tls_clienthello(data)
    assert data.ignore_connection is passes
