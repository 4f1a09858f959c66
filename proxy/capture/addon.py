"""The mitmproxy addon: it redirects and refuses, and reads nothing. What is judged is judged by the gate.

A flow that is neither for a provider nor on the list is refused before a connection is made. An error in here ends the
flow: mitmproxy would let it pass (its addons fail open), so every hook refuses first and permits last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from proxy.capture.ways import IntoGate, StraightOn, Way, Ways

if TYPE_CHECKING:
    from collections.abc import Callable

    from mitmproxy import http, tls


class Redirect:
    """One for the process. `gate` is the gate's base URL. `refusal` makes the answer that says a reason."""

    def __init__(self, ways: Ways, gate: str, refusal: Callable[[str], Any], *, is_transparent: bool = False) -> None:
        parts = urlsplit(gate)
        assert parts.hostname is not None
        self._ways = ways
        self._scheme, self._host = parts.scheme, parts.hostname
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._refusal = refusal
        self._is_transparent = is_transparent

    def http_connect(self, flow: http.HTTPFlow) -> None:
        """Before a tunnel opens."""
        way = self._ways.way(flow.request.host, flow.request.port)
        if not isinstance(way, IntoGate | StraightOn):
            self._refuse(flow, way.reason)

    def tls_clienthello(self, data: tls.ClientHelloData) -> None:
        """A listed host's bytes are not decrypted. The name in the handshake must be the one of the tunnel."""
        if self._is_transparent:
            return
        address = data.context.server.address
        spelled = data.client_hello.sni or (address[0] if address else "")
        is_same = address is not None and spelled.lower() == str(address[0]).lower()
        if is_same and address is not None and isinstance(self._ways.way(spelled, address[1]), StraightOn):
            data.ignore_connection = True

    def requestheaders(self, flow: http.HTTPFlow) -> None:
        """Decrypted, or never encrypted. A request whose host is another than the tunnel's goes by the stricter one."""
        flow.response = self._refusal("refused")
        way = self._narrowest(flow)
        if isinstance(way, IntoGate):
            flow.request.scheme, flow.request.host, flow.request.port = self._scheme, self._host, self._port
            flow.request.headers["host"] = f"{self._host}:{self._port}"
            flow.request.path = f"/{way.upstream}{flow.request.path}"
            flow.response = None
        elif isinstance(way, StraightOn) and flow.request.scheme == "http":
            flow.response = None
        else:
            self._refuse(flow, getattr(way, "reason", "its traffic is decrypted for no reason"))

    def responseheaders(self, flow: http.HTTPFlow) -> None:
        """Bytes go on as they come."""
        assert flow.response is not None
        flow.response.stream = True

    def _narrowest(self, flow: http.HTTPFlow) -> Way:
        """By where the connection goes, which the client chose first, and by what the request says of itself."""
        request = flow.request
        if self._is_transparent:
            return self._ways.redirected(flow.client_conn.sni or "", request.pretty_host, request.port)
        way = self._ways.way(request.host, request.port)
        said = self._ways.way(request.pretty_host, request.port)
        return way if way == said else self._ways.way("", 0)

    def _refuse(self, flow: http.HTTPFlow, reason: str) -> None:
        flow.response = self._refusal(reason)
