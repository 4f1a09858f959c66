"""Routes of providers that this gate knows and does not serve, each with why: what to do instead.

They return what the provider keeps, calls and all, as the model wrote it and nobody judged it; or they would not do
what they say.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from proxy.wire.paths import variables_of


class Unserved(NamedTuple):
    method: str
    path: str  # as `paths` writes one
    why: str


_ROOTS: Final = ("/v1/responses", "/responses", "/openai/v1/responses", "/openai/responses")
_STORED: Final = (
    "a stored response holds its calls as the model wrote them, judged or not; keep the answer of the create call, or "
    "go on with 'previous_response_id'"
)
_DELETED: Final = (
    "an answer that went on after a refusal is several at the provider, of which the client knows one; send "
    "'store: false', or delete with the provider's own key"
)
_ITEMS: Final = (
    "the items of a conversation hold calls as the model wrote them, judged or not; send them as the input of a create "
    "call"
)

UNSERVED: Final[tuple[Unserved, ...]] = (
    *(Unserved("GET", f"{root}/{{id}}", _STORED) for root in _ROOTS),
    *(Unserved("DELETE", f"{root}/{{id}}", _DELETED) for root in _ROOTS),
    *(Unserved("POST", f"{root}/{{id}}/cancel", _STORED) for root in _ROOTS),
    *(Unserved("GET", f"{root}/{{id}}/input_items", _STORED) for root in _ROOTS),
    *(
        Unserved(method, path, _ITEMS)
        for method in ("GET", "POST")
        for path in ("/v1/conversations/{id}/items", "/conversations/{id}/items")
    ),
    Unserved("GET", "/v1/chat/completions/{id}", _STORED),
    Unserved("GET", "/chat/completions/{id}", _STORED),
)


def why_unserved(method: str, path: str) -> str:
    """Why a route is not served; empty for one that no table knows."""
    return next((row.why for row in UNSERVED if row.method == method and variables_of(row.path, path) is not None), "")
