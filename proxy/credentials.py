"""Where a request carries its credential, and how the gate's own key takes that place on the way up.

It never compares and never logs; who a credential stands for is `identity`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proxy.headers import Pairs, RequestHeaders

CREDENTIAL_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
# Anthropic takes an OAuth value as a bearer token and an API key in `x-api-key` only (WIRE.md 1.10).
_ANTHROPIC_OAUTH_PREFIX = "sk-ant-oat"
_SIGNATURE_SCHEME = "AWS4-"


@dataclass(frozen=True, slots=True)
class Credential:
    """A secret and the header (lower case) that carried it. The secret is without its `Bearer `."""

    header: str
    secret: str = field(repr=False)


def presented(headers: RequestHeaders) -> tuple[Credential, ...]:
    """Every credential of the request, in the order of `CREDENTIAL_HEADERS`. An empty value is none."""
    found: list[Credential] = []
    for name in CREDENTIAL_HEADERS:
        if name not in headers.by_name:
            continue
        secret = headers.by_name[name][0].strip()
        if name == "authorization":
            scheme, _, token = secret.partition(" ")
            secret = token.strip() if scheme.lower() == "bearer" else secret
        if secret:
            found.append(Credential(name, secret))
    return tuple(found)


def refuse_signature(headers: RequestHeaders) -> None:
    """Raise `SignedError` for a request that is signed instead of bearing a credential (WIRE.md 5)."""
    if (headers.get("authorization") or "").strip().upper().startswith(_SIGNATURE_SCHEME):
        raise SignedError(
            "the request is signed (AWS Signature Version 4): the signature covers its method, path, host and body, so "
            "a gate cannot send it on to another host, or change it, without signing it anew. Send a bearer key "
            "(AWS_BEARER_TOKEN_BEDROCK) instead, or let the gate hold the key (upstreams.NAME.key) and send it its own "
            "token as one"
        )


class SignedError(Exception):
    """The credential of a request is a signature of the whole of it. The answer is 403."""


def replaced(pairs: Pairs, key: str, *, provider: str, credentials: tuple[Credential, ...]) -> Pairs:
    """The fields with every credential taken out and `key` put in, in the form that `provider` reads.

    `provider` is the dialect's (`anthropic`, `openai`, ...). A provider that is not known gets the header in which the
    client presented its own credential, else a bearer token.
    """
    header = _header_for(key, provider, credentials)
    value = f"Bearer {key}" if header == "authorization" else key
    kept = [(name, content) for name, content in pairs if name.lower() not in CREDENTIAL_HEADERS]
    first = next((i for i, (name, _) in enumerate(pairs) if name.lower() in CREDENTIAL_HEADERS), len(kept))
    kept.insert(first, (header, value))
    return tuple(kept)


def _header_for(key: str, provider: str, credentials: tuple[Credential, ...]) -> str:
    shown = credentials[0].header if credentials else "authorization"
    if provider == "anthropic":
        return "authorization" if key.startswith(_ANTHROPIC_OAUTH_PREFIX) else "x-api-key"
    if provider == "openai":
        return "api-key" if shown == "api-key" else "authorization"
    if provider == "gemini":
        return "x-goog-api-key"
    if provider == "bedrock":
        return "authorization"
    return shown
