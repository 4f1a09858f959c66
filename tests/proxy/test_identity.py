"""Who is asking: exactly one known token, or the keyed digest of what passes through."""

from __future__ import annotations

import stat
import threading
from typing import TYPE_CHECKING

import pytest

from proxy.credentials import Credential
from proxy.identity import Caller, UnknownCredentialError, identify, tenant_key, token_digest
from proxy.store import StateFolderError

if TYPE_CHECKING:
    from pathlib import Path

KEY = b"k" * 32
DIGESTS = {"bot": token_digest("bot-token", KEY), "batch": token_digest("batch-token", KEY)}


@pytest.mark.parametrize("header", ["authorization", "x-api-key", "api-key", "x-goog-api-key"])
def test_a_known_token_is_its_identity_wherever_it_stands(header: str) -> None:
    """The header is the client's habit; the token says who it is."""
    assert identify([Credential(header, "bot-token")], DIGESTS, KEY) == Caller("bot", "bot")


@pytest.mark.parametrize(
    "secrets",
    [
        [],
        ["unknown"],
        ["bot-token "],
        ["BOT-TOKEN"],
        ["bot-toke"],
        ["bot-tokenx"],
        ["bot-token", "batch-token"],
        ["Bearer bot-token"],
    ],
)
def test_no_token_an_unknown_one_and_two_of_two_identities_are_refused(secrets: list[str]) -> None:
    """Nothing near a token is a token, and a request is one identity's."""
    shown = [Credential("x-api-key", secret) for secret in secrets]

    with pytest.raises(UnknownCredentialError) as refusal:
        identify(shown, DIGESTS, KEY)

    assert "token" not in str(refusal.value)


def test_a_stray_second_credential_does_not_hide_the_token() -> None:
    """Claude Code may send an API key beside the token; the token alone counts."""
    shown = [Credential("authorization", "bot-token"), Credential("x-api-key", "sk-ant-x")]

    assert identify(shown, DIGESTS, KEY) == Caller("bot", "bot")


def test_without_identities_the_tenant_is_a_keyed_digest_of_the_credential() -> None:
    """It tells credentials apart, holds none of them, and means nothing in another state folder."""
    one = identify([Credential("x-api-key", "sk-1")], {}, KEY)
    again = identify([Credential("x-api-key", "sk-1")], {}, KEY)
    other = identify([Credential("x-api-key", "sk-2")], {}, KEY)
    elsewhere = identify([Credential("x-api-key", "sk-1")], {}, b"o" * 32)

    assert one == again
    assert one.identity is None
    assert len({one.tenant, other.tenant, elsewhere.tenant, identify([], {}, KEY).tenant}) == 4
    assert "sk-1" not in one.tenant


def test_the_state_folders_key_is_made_once_private_and_whole(tmp_path: Path) -> None:
    """Several processes that start at once share one key; nobody else can read it; no scratch file stays."""
    keys: list[bytes] = []
    threads = [threading.Thread(target=lambda: keys.append(tenant_key(tmp_path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(keys) == 8
    assert len(set(keys)) == 1
    assert len(keys[0]) == 32
    assert [path.name for path in (tmp_path / "keys").iterdir()] == ["tenant.key"]
    assert stat.S_IMODE((tmp_path / "keys" / "tenant.key").stat().st_mode) == 0o600


def test_a_damaged_key_is_an_error_not_a_new_key(tmp_path: Path) -> None:
    """A new key would silently part every tenant from its history."""
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "tenant.key").write_bytes(b"short")

    with pytest.raises(StateFolderError, match="does not hold a key"):
        tenant_key(tmp_path)
