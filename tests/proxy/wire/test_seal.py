"""Seals: what a client gives back opens to exactly what was sealed, and no provider's signature looks like one."""

from __future__ import annotations

import base64
import string

from hypothesis import given
from hypothesis import strategies as st

from proxy.ledger.vault import new_hidden_id
from proxy.wire.seal import SEALED, opened, sealed

MARKS = st.text(string.ascii_letters + string.digits + "_", min_size=1, max_size=40)


@given(MARKS, st.text())
def test_a_seal_opens_to_what_was_sealed(mark: str, signature: str) -> None:
    """Mark and signature come back, dots of the signature and a seal inside a seal included."""
    text = sealed(mark, signature)
    assert text.startswith(SEALED)
    assert opened(text) == (mark, signature)
    assert opened(sealed("outer", text)) == ("outer", text)


@given(st.binary(max_size=64))
def test_no_signature_of_a_provider_begins_like_a_seal(data: bytes) -> None:
    """Base64, plain or for addresses, never has the dot that ends the beginning of a seal."""
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        assert not encode(data).decode().startswith(SEALED)
        assert "." not in encode(data).decode()


def test_the_id_of_an_entry_can_be_a_mark() -> None:
    """An id has none of what would end a mark early."""
    mark = new_hidden_id()
    assert opened(sealed(mark, "c2ln")) == (mark, "c2ln")


def test_a_torn_seal_has_no_signature() -> None:
    """What a client cut off opens to what is left, and never to a signature that was not there."""
    assert opened(f"{SEALED}mark") == ("mark", "")
    assert opened(SEALED) == ("", "")
