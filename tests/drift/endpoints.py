"""The table of every known endpoint of each provider: `fixtures/endpoints.tsv`, as data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from proxy import routes
from proxy.wire.registry import DIALECTS

TABLE = Path(__file__).parents[2] / "fixtures" / "endpoints.tsv"
SAYS = {
    "mediated": "every call in its answer is judged",
    "passes": "passes, receipted as `unexamined`: it neither returns nor executes calls",
    "named batches": "the policy decides: `provider_tools: {batches: ...}`, else `unknown_tools`",
    "named realtime": "the policy decides: `provider_tools: {realtime: ...}`, else `unknown_tools`",
    "named threads": "the policy decides: `provider_tools: {threads: ...}`, else `unknown_tools`",
    "refused": "refused (404), unless `pass_through` of the configuration names it",
}
_PREFIX = {"gemini": "/v1beta", "vertex": "/v1"}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`path` has `{}` for what varies; `treatment` is a key of `SAYS`."""

    provider: str
    method: str
    path: str
    treatment: str

    @property
    def sdk_name(self) -> str:
        """As `surface` spells it."""
        return f"{self.method} {self.path}"

    @property
    def probe(self) -> str:
        """A path of it, as it would stand in a request line."""
        path = self.path
        if self.provider == "gemini" and path.startswith("/{}"):
            path = path.replace("/{}", "/models/x1", 1)
        return _PREFIX.get(self.provider, "") + path.replace("{}", "x1")


def endpoints() -> list[Endpoint]:
    head, *lines = TABLE.read_text(encoding="utf-8").rstrip("\n").split("\n")
    assert head.split("\t") == ["provider", "method", "path", "treatment"]
    return [Endpoint(*line.split("\t")) for line in lines]


def treatment(endpoint: Endpoint) -> str:
    """What the gate does with it, with every provider configured and nothing passed through."""
    upstreams = {dialect.provider for dialect in DIALECTS}
    way = routes.route(endpoint.method, endpoint.probe, endpoint.provider, upstreams, ())
    match way:
        case routes.Mediated():
            return "mediated"
        case routes.Unexamined(hand=""):
            return "passes"
        case routes.Unexamined(hand=hand):
            return f"named {hand}"
        case _:
            return "refused"
