"""Where credentials stand in a request, and that the gate's own key replaces all of them."""

from __future__ import annotations

import pytest

from proxy.credentials import CREDENTIAL_HEADERS, Credential, presented, replaced
from proxy.headers import read_request_headers


def _headers(*pairs: tuple[str, str]):
    return read_request_headers([(n.encode(), v.encode()) for n, v in pairs])


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("X-Api-Key", "k", Credential("x-api-key", "k")),
        ("Authorization", "Bearer k", Credential("authorization", "k")),
        ("authorization", "bEaReR   k ", Credential("authorization", "k")),
        ("Authorization", "Basic dTpw", Credential("authorization", "Basic dTpw")),
        ("Api-Key", "k", Credential("api-key", "k")),
        ("X-Goog-Api-Key", "k", Credential("x-goog-api-key", "k")),
    ],
)
def test_each_header_that_carries_a_credential_is_read(name: str, value: str, expected: Credential) -> None:
    """The four places where the official clients put a key, a bearer token without its scheme."""
    assert presented(_headers((name, value))) == (expected,)


@pytest.mark.parametrize("value", ["", " ", "Bearer ", "bearer", "Bearer  "])
def test_an_empty_credential_and_a_bare_scheme_are_none(value: str) -> None:
    """Nothing can never equal a token."""
    assert presented(_headers(("Authorization", value))) == ()


@pytest.mark.parametrize(
    ("provider", "shown", "key", "expected"),
    [
        ("anthropic", "authorization", "sk-ant-api03-x", ("x-api-key", "sk-ant-api03-x")),
        ("anthropic", "x-api-key", "sk-ant-oat01-x", ("authorization", "Bearer sk-ant-oat01-x")),
        ("openai", "x-api-key", "sk-x", ("authorization", "Bearer sk-x")),
        ("openai", "api-key", "azure", ("api-key", "azure")),
        ("gemini", "authorization", "g", ("x-goog-api-key", "g")),
        ("other", "x-api-key", "o", ("x-api-key", "o")),
        ("other", None, "o", ("authorization", "Bearer o")),
    ],
)
def test_the_gates_key_takes_the_form_that_the_provider_reads(
    provider: str, shown: str | None, key: str, expected: tuple[str, str]
) -> None:
    """Clients and providers need not agree on the header; the provider's reading counts."""
    credentials = (Credential(shown, "client"),) if shown else ()
    pairs = ((shown, "client"),) if shown else ()

    assert replaced(pairs, key, provider=provider, credentials=credentials) == (expected,)


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini", "other"])
def test_no_presented_credential_goes_up_beside_the_gates_key(provider: str) -> None:
    """A client that shows a credential in every place has all of them taken out; the rest keeps its order."""
    pairs = (("a", "1"), *((name.upper(), f"client-{name}") for name in CREDENTIAL_HEADERS), ("b", "2"))
    credentials = presented(_headers(*pairs))

    up = replaced(pairs, "gate-key", provider=provider, credentials=credentials)

    assert (up[0], up[-1], len(up)) == (("a", "1"), ("b", "2"), 3)
    assert not any("client" in value for _, value in up)


def test_a_credential_does_not_show_its_secret() -> None:
    """A log line or a traceback that prints the value prints no secret."""
    assert "sesame" not in repr(Credential("x-api-key", "sesame"))
