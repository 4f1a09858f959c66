"""A suite that only skips proves nothing."""

from __future__ import annotations

import os

import pytest

from tests.clients.running import missing
from tests.clients.versions import versions


@pytest.mark.skipif(os.environ.get("CALLGATE_CLIENTS") != "required", reason="`make test-clients` asks for the clients")
def test_the_clients_are_here() -> None:
    """Where they are asked for, none of the suite may skip for want of them."""
    assert missing() == ""
    assert all(versions().values())
