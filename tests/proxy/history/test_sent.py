"""What went up as it came is known when it comes again: by its tenant, and by its bytes as far as is looked."""

from __future__ import annotations

from proxy.history.sent import Sent


def test_a_request_is_known_by_its_bytes_and_its_tenant() -> None:
    """When it first went up; one that is longer, or differs at its beginning or its end, is another."""
    sent = Sent()
    body = b"{" + b"x" * 50_000 + b"}"
    sent.add("t", body, 1.0)
    sent.add("t", body, 2.0)
    assert sent.at("t", body) == 1.0
    assert sent.at("u", body) is None
    others = (body + b" ", b"[" + body[1:], body[:-1] + b"]", b"")
    assert [sent.at("t", other) for other in others] == [None] * 4


def test_what_is_remembered_is_bounded() -> None:
    """The oldest is forgotten first."""
    sent = Sent(requests_max=2)
    for number in range(3):
        sent.add("t", b"%d" % number, float(number))
    assert [sent.at("t", b"%d" % number) for number in range(3)] == [None, 1.0, 2.0]
