"""Allowlists accept what is listed in every harmless spelling, and nothing that another reader could take elsewhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.allowed import KINDS, Accounts, Domains, Paths, Urls, Values, is_iban, percent_decoded
from policies.allowed.hosts import host

IBAN = "DE89370400440532013000"

DOMAINS = Domains.of(["example.com", "*.example.org", "bücher.example"])
URLS = Urls.of(
    ["https://api.example.com/v1/", "http://localhost:8080", "https://*.example.org/hooks", "wss://b\u00fccher.example"]
)
PATHS = Paths.of(["/srv/reports", "drafts/"])
ACCOUNTS = Accounts.of([IBAN, "0012 3456"])
VALUES = Values.of(["north", "Süd"])

YES = [
    (DOMAINS, "anna@example.com"),
    (DOMAINS, "anna.b+tag@EXAMPLE.com"),
    (DOMAINS, "a@x.example.org"),
    (DOMAINS, "a@x.y.example.org"),
    (DOMAINS, "a@BÜCHER.example"),
    (DOMAINS, "a@xn--bcher-kva.example"),
    (URLS, "https://api.example.com/v1"),
    (URLS, "https://api.example.com/v1/"),
    (URLS, "HTTPS://API.example.com:443/v1/orders?id=1#top"),
    (URLS, "https://api.example.com/v1/a%20b"),
    (URLS, "https://api.example.com/%76%31/x"),
    (URLS, "http://localhost:8080"),
    (Urls.of(["http://h:65535"]), "http://h:65535/"),
    (URLS, "http://localhost:8080/any/where?x"),
    (URLS, "https://a.example.org/hooks/1"),
    (URLS, "wss://xn--bcher-kva.example/"),
    (PATHS, "/srv/reports"),
    (PATHS, "/srv/reports/"),
    (PATHS, "/srv//reports/./2026/x.pdf"),
    (PATHS, "drafts/a b.txt"),
    (PATHS, "./drafts"),
    (ACCOUNTS, IBAN),
    (ACCOUNTS, "de89 3704 0044 0532 0130 00"),
    (ACCOUNTS, "00123456"),
    (ACCOUNTS, "0012-3456"),
    (VALUES, "north"),
    (VALUES, "Süd"),
]
NO = [
    (DOMAINS, "anna@example.com.evil.net"),
    (DOMAINS, "anna@evilexample.com"),
    (DOMAINS, "anna@sub.example.com"),
    (DOMAINS, "anna@example.org"),
    (DOMAINS, "anna@evil.net@example.com"),
    (DOMAINS, "anna%evil.net@example.com"),
    (DOMAINS, "evil.net!anna@example.com"),
    (DOMAINS, '"anna@evil.net"@example.com'),
    (DOMAINS, "anna@example.com, eve@evil.net"),
    (DOMAINS, "anna@example.com\nbcc: eve@evil.net"),
    (DOMAINS, "Anna <anna@example.com>"),
    (DOMAINS, "anna@example.com."),
    (DOMAINS, "anna@ex\u0430mple.com"),  # a Cyrillic letter
    (DOMAINS, "anna@example\uff0ecom"),
    (DOMAINS, "anna@exam\u00adple.com"),
    (DOMAINS, "@example.com"),
    (DOMAINS, "example.com"),
    (DOMAINS, ".a@example.com"),
    (DOMAINS, ""),
    (URLS, "https://api.example.com/"),
    (URLS, "https://api.example.com/v10"),
    (URLS, "http://api.example.com/v1/"),
    (URLS, "https://api.example.com:8443/v1/"),
    (URLS, "https://user@api.example.com/v1/"),
    (URLS, "https://api.example.com@evil.net/v1/"),
    (URLS, "https://api.example.com:443@evil.net/v1/"),
    (URLS, "https://api.example.com\\@evil.net/v1/"),
    (URLS, "https://evil.net\\.api.example.com/v1/"),
    (URLS, "https://evil.net#.api.example.com/v1/"),
    (URLS, "https://api.example.com.evil.net/v1/"),
    (URLS, "https://api.example.com/v1/../admin"),
    (URLS, "https://api.example.com/v1/%2e%2e/admin"),
    (URLS, "https://api.example.com/v1/.%2E/admin"),
    (URLS, "https://api.example.com/v1/..;/admin"),
    (URLS, "https://api.example.com/v1/%252e%252e/admin"),
    (URLS, "https://api.example.com/v1/..%2fadmin"),
    (URLS, "https://api.example.com/v1/a%5cb"),
    (URLS, "https://api.example.com/v1/%EF%BC%8E%EF%BC%8E/admin"),
    (URLS, "https://api.example.com/v1/a%EF%BC%8Fb"),
    (URLS, "https://api.example.com/v1//admin"),
    (URLS, "https://api.example.com/v1/a\tb"),
    (URLS, "https://api.example.com/v1?a=\tb"),
    (URLS, "https://api.example.com/v1?a=b c"),
    (URLS, "https://api.example.com/v1#\x7f"),
    (URLS, "https://api.example.com/v1?" + "a" * 8_192),
    (URLS, " https://api.example.com/v1/"),
    (URLS, "https://api.example.com/v1/\u2025/x"),
    (URLS, "https://api.example.com%2fv1/"),
    (URLS, "https:api.example.com/v1/"),
    (URLS, "//api.example.com/v1/"),
    (URLS, "https:///api.example.com/v1/"),
    (URLS, "javascript:alert(1)//api.example.com/v1/"),
    (URLS, "https://example.org/hooks"),
    (URLS, "http://localhost:08080@evil/"),
    (URLS, "http://localhost"),
    (URLS, "http://localhost:0/"),
    (Urls.of(["http://h"]), "http://h:65536/"),
    (URLS, "http://[::1]:8080/"),
    (PATHS, "/srv"),
    (PATHS, "/srv/reports2"),
    (PATHS, "/srv/reports/../secrets"),
    (PATHS, "srv/reports"),
    (PATHS, "/drafts"),
    (PATHS, "//srv/reports"),
    (PATHS, "/srv/reports\\..\\x"),
    (PATHS, "/srv/reports/\uff0e\uff0e/x"),
    (PATHS, "/srv/reports/\u2025/x"),
    (PATHS, "/srv/reports/a\uff0fb"),
    (PATHS, "~/drafts"),
    (PATHS, "drafts\x00.txt"),
    (PATHS, ""),
    (PATHS, "."),
    (ACCOUNTS, "DE89370400440532013001"),
    (ACCOUNTS, "DE8937040044053201300"),
    (ACCOUNTS, "123456"),
    (ACCOUNTS, "\uff10\uff10\uff11\uff12\uff13\uff14\uff15\uff16"),
    (ACCOUNTS, ""),
    (VALUES, "North"),
    (VALUES, "Su\u0308d"),
]


@pytest.mark.parametrize(("matcher", "text"), YES, ids=lambda value: value if isinstance(value, str) else None)
def test_a_listed_thing_is_accepted_in_its_harmless_spellings(matcher: Domains, text: str) -> None:
    """Case, default ports, spaces in account numbers, punycode and useless slashes make no difference."""
    assert matcher.accepts(text)


@pytest.mark.parametrize(("matcher", "text"), NO, ids=lambda value: ascii(value) if isinstance(value, str) else None)
def test_what_is_not_listed_or_could_be_read_otherwise_is_not_accepted(matcher: Domains, text: str) -> None:
    """Other hosts, schemes, ports and places; and every spelling with which a reader can be led elsewhere."""
    assert not matcher.accepts(text)


@given(st.text(max_size=60), st.sampled_from([DOMAINS, URLS, PATHS, ACCOUNTS, VALUES]))
def test_any_text_has_an_answer(text: str, matcher: Domains) -> None:
    """No text raises, however it is made."""
    assert matcher.accepts(text) in (True, False)


PIECES = st.sampled_from(
    [
        "https://",
        "api.example.com",
        "@",
        ":",
        "443",
        "/",
        "v1",
        "..",
        ".",
        "%2e",
        "\\",
        "#",
        "?",
        "evil.net",
        "//",
        ";",
        "%",
    ]
)


@given(st.lists(PIECES, max_size=9).map("".join))
def test_an_accepted_url_is_fetched_from_the_listed_host(text: str) -> None:
    """Whatever is put together from the parts of attacks: accepted means this very authority and a path below."""
    if URLS.accepts(text):
        authority = text.partition("://")[2].replace("?", "/").replace("#", "/").partition("/")[0]
        assert authority in ("api.example.com", "api.example.com:443")
        path = text.partition("://")[2].partition("#")[0].partition("?")[0].partition("/")[2]
        assert path.split("/")[0] == "v1"
        assert ".." not in percent_decoded(path).split("/")


@given(st.text("abc", max_size=3), st.text("abc/", max_size=6))
def test_adding_an_entry_only_adds(entry: str, text: str) -> None:
    """A list with one entry more accepts all that it did."""
    if entry:
        assert Paths.of(["a/b", entry]).accepts(text) >= Paths.of(["a/b"]).accepts(text)


@pytest.mark.parametrize(
    "text",
    [
        "straße.example",
        "ς.example",
        "a\u200db.example",
        "a..b",
        "-a.example",
        "a-.example",
        "a_b",
        "a b",
        "\uff41.example",
        "x" * 64 + ".example",
        "",
    ],
)
def test_a_host_of_two_readings_is_none(text: str) -> None:
    """What IDNA 2003 and 2008 map differently, what hides a character, and what DNS cannot carry."""
    with pytest.raises(ValueError, match="host name"):
        host(text)


@pytest.mark.parametrize("number", ["GB82WEST12345698765432", "FR1420041010050500013M02606", "NO9386011117947", IBAN])
def test_an_iban_is_its_country_its_length_and_its_checksum(number: str) -> None:
    """The registry's own examples are IBANs; with any one digit changed, or one more, they are not."""
    assert is_iban(number)
    assert not is_iban(number + "0")
    for place in range(2, len(number)):
        if number[place].isdigit():
            assert not is_iban(number[:place] + str((int(number[place]) + 1) % 10) + number[place + 1 :])


@given(st.text(max_size=30))
def test_percent_decoding_is_total_and_undoes_encoding(text: str) -> None:
    """Any text is decoded once; what was encoded comes back."""
    percent_decoded(text)
    encoded = "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "replace"))
    assert percent_decoded(encoded) == text.encode("utf-8", "replace").decode()


def test_every_kind_reads_its_entries() -> None:
    """An entry that means nothing is refused by each kind but `values`, which take a text as it is."""
    for kind, matcher in KINDS.items():
        if kind == "values":
            assert matcher.of([" "]).accepts(" ")
        else:
            with pytest.raises(ValueError, match=r"."):
                matcher.of([" "])
