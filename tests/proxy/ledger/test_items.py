"""What was shown under an id: whose it is, what it tells when two share it, and that it is forgotten with the rest."""

from __future__ import annotations

import contextlib
import sqlite3
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from proxy.ledger.items import ItemVault, ShownItems
from proxy.ledger.vault import Vault
from proxy.wire.openai_chat import OPENAI_CHAT
from proxy.wire.openai_responses import OPENAI_RESPONSES
from proxy.wire.turn import KnownItem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SECONDS = 30 * 86400.0
SECRET = b'{"id":"fc_1","type":"function_call","arguments":"4111 1111 1111 1111"}'
BODY = b'{"input": [{"type":"item_reference","id":"fc_1"}]}'


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    with contextlib.closing(Vault(state, SECONDS)) as opened:
        yield opened


@pytest.fixture
def items(vault: Vault) -> ItemVault:
    made = ItemVault(vault)
    made.put("t", "s", [("fc_1", SECRET)], "hg1", NOW)
    return made


def test_an_item_is_found_by_its_id_alone_for_its_own(items: ItemVault) -> None:
    """Within the tenant and for the subject that it was shown to; with the hidden turn that it is a part of."""
    assert items.find("t", "s", ["fc_0", "fc_1"], NOW) == {"fc_1": KnownItem(SECRET, "hg1")}
    for tenant, subject in (("u", "s"), ("t", "r"), ("t", ""), ("ts", "")):
        assert items.find(tenant, subject, ["fc_1"], NOW) == {}


def test_an_id_of_two_items_names_neither(items: ItemVault) -> None:
    """The same item twice is one; another under its id leaves nobody to tell which is meant."""
    items.put("t", "s", [("fc_1", SECRET)], "hg2", NOW)
    assert items.find("t", "s", ["fc_1"], NOW) == {"fc_1": KnownItem(SECRET, "hg1")}
    items.put("t", "s", [("fc_1", b"{}"), ("fc_2", b"{}")], "", NOW)
    assert items.find("t", "s", ["fc_1", "fc_2"], NOW) == {"fc_2": KnownItem(b"{}")}


def test_it_goes_with_its_subject_and_in_time(items: ItemVault, vault: Vault) -> None:
    """It is erased with the subject; what is needed lives on, what is not expires."""
    items.put("t", "other", [("fc_1", SECRET)], "", NOW)
    assert vault.erase("s") == 1
    assert items.find("t", "s", ["fc_1"], NOW) == {}
    late = NOW + timedelta(seconds=SECONDS * 0.9)
    assert items.find("t", "other", ["fc_1"], late) != {}
    assert vault.expire(late + timedelta(seconds=SECONDS * 0.9)) == 0
    assert vault.expire(late + timedelta(seconds=SECONDS * 1.1)) == 1


def test_nothing_of_it_can_be_read_in_the_file(items: ItemVault, vault: Vault, tmp_path: Path) -> None:
    """Neither what it says, nor its id, nor whose it is; a row that was moved under another name does not open."""
    assert items.find("t", "s", ["fc_1"], NOW)
    data = b"".join(path.read_bytes() for path in (tmp_path / "state").glob("ledger.db*"))
    assert SECRET not in data
    assert b"fc_1" not in data
    assert vault.is_empty(), "requests that name nothing do not pay for it"
    with contextlib.closing(sqlite3.connect(tmp_path / "state" / "ledger.db")) as connection:
        connection.execute("UPDATE items SET content = x'00'")
        connection.commit()
    assert items.find("t", "s", ["fc_1"], NOW) == {}


async def test_a_ledger_that_fails_is_one_that_is_lost(items: ItemVault, vault: Vault) -> None:
    """The request goes on as it came, and the failure is told; a dialect whose provider keeps nothing asks nothing."""
    told: list[str] = []
    shown = ShownItems(vault, lambda: NOW, told.append)
    known = await shown.known(OPENAI_RESPONSES, BODY, "t", "s")
    assert b"4111" in known
    assert await shown.known(OPENAI_RESPONSES, BODY, "t", "r") is BODY
    assert await shown.known(OPENAI_CHAT, BODY, "t", "s") is BODY
    with vault.using() as connection:
        connection.execute("DROP TABLE items")
    assert await shown.known(OPENAI_RESPONSES, BODY, "t", "s") is BODY
    await shown.keep([("fc_2", b"{}")], "", "t", "s")
    assert len(told) == 2
