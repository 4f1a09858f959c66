"""Settings with their secrets, and what they must agree on with the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from policies.loader import load_policy_text
from proxy.config import ConfigError, Flags, load_settings
from proxy.connected import check_together, connect_settings
from proxy.environment import Environment

if TYPE_CHECKING:
    from pathlib import Path

KEY = "k" * 40
FILE = """\
upstreams: {anthropic: {url: "${URL}", key: "${KEY}"}, openai: {url: https://api.openai.com}}
session_header: {jwt: {algorithm: HS256, key: "${file:/run/session}"}}
admin: {persons: {anna: {token: "${ANNA}", role: owner}, ben: {token: "${BEN}", role: viewer}}}
policy: p.yaml
state: s
"""
GIVEN = {"URL": "https://api.anthropic.com/", "KEY": "sk-secret", "ANNA": "a" * 20, "BEN": "b" * 20}
FILES = {"/run/session": KEY + "\n"}


def _environment(variables: dict[str, str], files: dict[str, str]) -> Environment:
    def read(path: str) -> str:
        if path not in files:
            raise FileNotFoundError(path)
        return files[path]

    return Environment(variables.get, read)


def _settings(folder: Path, text: str = FILE):
    path = folder / "callgate.yaml"
    path.write_text(text)
    return load_settings(Flags(config=path))


def _policy(text: str = ""):
    return load_policy_text(f"language: 1\npolicy: p\n{text}")


def test_every_reference_gets_its_value_and_none_is_printed(tmp_path: Path) -> None:
    """URL, key, session key and tokens; a `repr` that reaches a log shows none of them."""
    connected = connect_settings(_settings(tmp_path), _environment(GIVEN, FILES))

    assert connected.upstreams["anthropic"].url == "https://api.anthropic.com"
    assert connected.upstreams["anthropic"].key == "sk-secret"
    assert connected.upstreams["openai"].key is None
    assert connected.session is not None
    assert [person.token for person in connected.persons] == ["a" * 20, "b" * 20]
    shown = repr(connected) + repr(_settings(tmp_path))
    assert not any(secret in shown for secret in ("sk-secret", KEY, "a" * 20))


@pytest.mark.parametrize(
    ("variables", "files", "said"),
    [
        ({"KEY": None}, {}, "upstreams.anthropic: ${KEY} is not set"),
        ({"KEY": ""}, {}, "upstreams.anthropic: ${KEY} is empty"),
        ({"URL": "ftp://x"}, {}, "upstreams.anthropic: an upstream needs"),
        ({"URL": "https://u:sesame@h"}, {}, "upstreams.anthropic"),
        ({"KEY": "sesame\nX-Injected: 1"}, {}, "upstreams.anthropic: ${KEY} holds a line break"),
        ({"ANNA": None}, {}, "admin.persons.anna: ${ANNA} is not set"),
        ({"ANNA": "sesame"}, {}, "admin.persons.anna: the token is shorter"),
        ({"BEN": "a" * 20}, {}, "admin.persons.ben: the token is another person's"),
        ({}, {"/run/session": "sesame"}, "session_header: the key is shorter"),
        ({}, {"/run/session": None}, "session_header: ${file:/run/session} cannot be read"),
    ],
)
def test_what_is_missing_or_unusable_is_named_and_never_shown(
    tmp_path: Path, variables: dict[str, str | None], files: dict[str, str | None], said: str
) -> None:
    """A start error names the reference; the value, or what is left of it, stays unseen."""
    environment = _environment(
        {k: v for k, v in {**GIVEN, **variables}.items() if v is not None},
        {k: v for k, v in {**FILES, **files}.items() if v is not None},
    )

    with pytest.raises(ConfigError) as refusal:
        connect_settings(_settings(tmp_path), environment)

    assert str(refusal.value).startswith(said)
    assert "sesame" not in str(refusal.value)


IDENTITIES = "identities: {bot: {token: '${BOT}'}}\n"


@pytest.mark.parametrize(
    ("listen", "key", "policy", "said"),
    [
        ("127.0.0.1:1", False, "", None),
        ("0.0.0.0:1", True, "", "listen: 0.0.0.0:1 can be reached"),
        ("0.0.0.0:1", True, IDENTITIES, None),
        ("127.0.0.1:1", True, IDENTITIES, None),
        ("127.0.0.1:1", False, IDENTITIES, "upstreams.openai: with `identities`"),
    ],
)
def test_an_open_listener_needs_identities_and_identities_need_the_gates_key(
    tmp_path: Path, listen: str, key: bool, policy: str, said: str | None
) -> None:
    """Nobody unknown uses a gate that others can reach, and a Callgate token never goes to a provider."""
    text = (
        f"listen: {listen}\nupstreams: {{openai: {{url: https://h{', key: k' if key else ''}}}}}\npolicy: p\nstate: s\n"
    )

    if said is None:
        check_together(_settings(tmp_path, text), _policy(policy))
    else:
        with pytest.raises(ConfigError) as refusal:
            check_together(_settings(tmp_path, text), _policy(policy))
        assert str(refusal.value).startswith(said)


@pytest.mark.parametrize(
    ("header", "source", "fits"),
    [
        ("session_header: {jwt: {algorithm: HS256, key: k}}", "jwt", True),
        ("session_header: {hmac: {key: k}}", "hmac", True),
        ("session_header: {hmac: {key: k}}", "jwt", False),
        ("session_header: {jwt: {algorithm: HS256, key: k}}", "hmac", False),
        ("", "jwt", False),
    ],
)
def test_a_session_field_needs_the_header_that_proves_it(tmp_path: Path, header: str, source: str, fits: bool) -> None:
    """A policy whose subject could never be proven is a start error, not a gate that escalates everything."""
    text = f"upstreams: {{openai: {{url: https://h}}}}\npolicy: p\nstate: s\n{header}\n"
    policy = _policy(f"session: {{customer_id: {{{source}: sub}}}}\n")

    if fits:
        check_together(_settings(tmp_path, text), policy)
    else:
        with pytest.raises(ConfigError, match=r"session\.customer_id"):
            check_together(_settings(tmp_path, text), policy)
