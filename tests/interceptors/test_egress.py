"""The list of secrets finds what it names, five ways each, and not what only looks like it; also decoded once."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interceptors.decoding import decoded
from interceptors.egress_list_v1 import CANDIDATES_MAX, DETECTORS, found_in
from policies.model import Ruling
from tests.interceptors.builders import context, decided, pipeline, proposal

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def word(length: int, alphabet: str = LETTERS) -> str:
    """A made-up tail of a token: no real one has it."""
    return (alphabet * (length // len(alphabet) + 1))[:length]


def luhn(body: str) -> str:
    """The number with its check digit."""
    total = sum(sum(divmod(int(digit) * (2 - place % 2), 10)) for place, digit in enumerate(reversed(body)))
    return body + str(-total % 10)


def wrong(number: str) -> str:
    return number[:-1] + str((int(number[-1]) + 1) % 10)


def iban(country: str, bban: str) -> str:
    """With its checksum."""
    turned = "".join(str(int(character, 36)) for character in f"{bban}{country}00")
    return f"{country}{98 - int(turned) % 97:02}{bban}"


def grouped(number: str, mark: str = " ") -> str:
    return mark.join(number[start : start + 4] for start in range(0, len(number), 4))


def jwt(header: str) -> str:
    parts = (header, '{"sub":"anna"}')
    return ".".join(urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts) + "." + word(43)


# Put together from parts, or this file would be what scanners of repositories look for.
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
DASHES = "-" * 5
VISA, AMEX, MASTER = luhn("4000123412341" + "23"), luhn("3400" + "1234123412"), luhn("510012341234123")
GERMAN, BRITISH = iban("DE", "370400440532013001"), iban("GB", "WEST12345698765433")

HITS = {
    "card": [VISA, grouped(VISA), f"pay {grouped(VISA, '-')} 12/27", AMEX, f"2026 {grouped(MASTER)} 999"],
    "iban": [
        GERMAN,
        grouped(GERMAN),
        f"to {grouped(GERMAN)} please",
        BRITISH.lower(),
        f"NO12 is no account, {GERMAN}, is",
    ],
    "private_key": [
        f"{DASHES}BEGIN {kind}PRIVATE KEY{block}{DASHES}"
        for kind, block in [("", ""), ("RSA ", ""), ("EC ", ""), ("OPENSSH ", ""), ("PGP ", " BLOCK")]
    ],
    "aws_access_key": [
        prefix + word(16, UPPER) for prefix in ("AK" + "IA", "AS" + "IA", "AB" + "IA", "AC" + "CA", "id=AK" + "IA")
    ],
    "aws_secret_key": [
        f"{name}{word(40)}"
        for name in (
            "aws_secret_access_key=",
            "AWS_SECRET_ACCESS_KEY: ",
            'aws_secret_key = "',
            "aws secret key:",
            "awsSecretKey='",
        )
    ],
    "google_key": [
        f"{before}AI{'za'}{word(35)}{after}"
        for before, after in [("", ""), ("key=", ""), ('"', '"'), ("", "&x"), ("(", ")")]
    ],
    "google_token": ["ya" + "29." + word(n) for n in (20, 60, 150)]
    + ["GOC" + "SPX-" + word(28), "x GOC" + "SPX-" + word(28) + "."],
    "github_token": [f"gh{kind}_" + word(36) for kind in "pous"] + ["github" + "_pat_" + word(22) + "_" + word(59)],
    "gitlab_token": [f"gl{kind}-" + word(20) for kind in ("pat", "dt", "rt", "ptt", "soat")],
    "slack_token": [f"xox{kind}-" + word(24, "0123456789-") for kind in "bpa"]
    + ["xapp-" + "1-A0123456789-" + word(13, "0123456789") + "-" + word(64, "0123456789abcdef")]
    + ["https://hooks.slack" + ".com/services/T01234567/B01234567/" + word(24)],
    "stripe_key": [f"{kind}_" + word(24) for kind in ("sk_live", "sk_test", "rk_live", "rk_test", "whsec")],
    "anthropic_key": [f"sk-ant-{kind}-" + word(95) for kind in ("api03", "admin01", "api04", "sid01", "oat01")],
    "openai_key": [f"sk-{kind}-" + word(48) for kind in ("proj", "svcacct", "admin")]
    + ["sk-" + word(48), "sk-" + word(20) + "T3Blbk" + "FJ" + word(20)],
    "jwt": [jwt(header) for header in ('{"alg":"HS256"}', '{"alg":"none"}', '{"typ":"JWT","alg":"RS256"}')]
    + ["Bearer " + jwt('{"alg":"ES256","kid":"1"}'), "token=" + jwt('{"alg":"HS512"}') + "&x"],
}
NEAR = {
    "card": [wrong(VISA), "9" + VISA[1:], VISA + "1", f"order-{VISA[:12]}", f"a{VISA}b"],
    "iban": [
        wrong(GERMAN),
        GERMAN + "1",
        f"X{GERMAN}",
        "ZZ" + GERMAN[2:],
        "DE12 is the best of all the ways there are",
    ],
    "private_key": [
        f"{DASHES}BEGIN PUBLIC KEY{DASHES}",
        f"{DASHES}BEGIN CERTIFICATE{DASHES}",
        f"{DASHES}END PRIVATE KEY{DASHES}",
        "begin private key",
        f"{DASHES}BEGIN PRIVATE KEYS{DASHES}",
    ],
    "aws_access_key": [
        "AK" + "IA" + word(15, UPPER),
        "AK" + "IA" + word(17, UPPER),
        "ak" + "ia" + word(16, UPPER),
        "AK" + "IA" + "1" * 16,
        "XAK" + "IA" + word(16, UPPER),
    ],
    "aws_secret_key": [
        word(40),
        f"secret={word(40)}",
        f"aws_secret_access_key={word(39)}",
        f"aws_secret_access_key={word(41)}",
        "aws secret access key",
    ],
    "google_key": [
        "AI" + "za" + word(34),
        "AI" + "za" + word(36),
        "xAI" + "za" + word(35),
        "ai" + "za" + word(35),
        "AI" + "za",
    ],
    "google_token": [
        "ya" + "29." + word(19),
        "ya" + "29" + word(30),
        "ya" + "30." + word(30),
        "GOC" + "SPX-" + word(27),
        "GOC" + "SPX-" + word(29),
    ],
    "github_token": [
        "gh" + "p_" + word(35),
        "gh" + "x_" + word(36),
        "gh" + "p-" + word(36),
        "github" + "_pat_" + word(22),
        "xgh" + "p_" + word(36),
    ],
    "gitlab_token": [
        "gl" + "pat-" + word(19),
        "gl" + "pat_" + word(20),
        "gl" + "xyz-" + word(20),
        "xgl" + "pat-" + word(20),
        "gitlab-" + word(20),
    ],
    "slack_token": [
        "xox" + "b-123",
        "xox" + "z-" + word(24),
        "xox" + "b_" + word(24),
        "https://hooks.slack" + ".com/services/",
        "fxox" + "b-" + word(24),
    ],
    "stripe_key": [
        "sk_live" + "_" + word(15),
        "sk_prod" + "_" + word(24),
        "pk_live" + "_" + word(24),
        "desk_live" + "_" + word(24),
        "whsec" + "_" + word(23),
    ],
    "anthropic_key": [
        "sk-ant" + "-api03-" + word(23),
        "sk-ant" + "-" + word(40),
        "sk-ants" + "-api03-" + word(40),
        "task-ant" + "-api03-" + word(40),
        "sk_ant" + "_api03_" + word(40),
    ],
    "openai_key": [
        "sk-" + "proj-" + word(23),
        "sk-" + word(47),
        "sk-" + word(49),
        "task-" + word(48),
        "sk-" + "other-" + word(30),
    ],
    "jwt": [
        jwt('{"typ":"JWT"}'),
        jwt('["alg"]'),
        jwt('{"alg":'),
        jwt('{"alg":"HS256"}').partition(".")[0],
        "eyJ" + "x.eyJ" + "x.x",
    ],
}


def test_each_detector_has_its_examples() -> None:
    """Five hits and five near misses for every detector of the list."""
    names = {detector.name for detector in DETECTORS}
    assert names == HITS.keys() == NEAR.keys()
    assert all(len(set(texts)) == 5 for table in (HITS, NEAR) for texts in table.values())


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in HITS.items() for text in texts])
def test_a_secret_is_found(name: str, text: str) -> None:
    """As it stands, amid other text, in full-width characters, and with characters that cannot be seen in it."""
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)
    for shown in (text, f"see: {text} (thanks)", wide, text[:3] + "\u200b" + text[3:]):
        assert name in found_in(shown)


@pytest.mark.parametrize(
    ("first", "length"),
    [
        ("4", 13),
        ("4", 16),
        ("4", 19),
        ("51", 16),
        ("55", 16),
        ("2221", 16),
        ("2720", 16),
        ("34", 15),
        ("37", 15),
        ("6011", 16),
        ("65", 16),
        ("644", 16),
        ("649", 16),
        ("36", 14),
        ("38", 14),
        ("39", 14),
        ("300", 14),
        ("305", 14),
        ("3528", 16),
        ("3589", 16),
        ("62", 16),
        ("62", 17),
        ("62", 18),
        ("62", 19),
    ],
)
def test_a_card_is_of_an_issuers_range_and_length(first: str, length: int) -> None:
    """The ends of each range are cards; one digit more or less is none, though its sum is right."""
    for size, is_card in ((length, True), (length - 1, (first, length - 1) in SIZES), (length + 1, False)):
        number = luhn((first + "0" * 20)[: size - 1])
        assert (found_in(number) == ("card",)) is (is_card or (first, size) in SIZES)


SIZES = {("62", 16), ("62", 17), ("62", 18), ("62", 19)}


@pytest.mark.parametrize("first", ["50", "56", "2220", "2721", "35", "6012", "643", "306", "3527", "3590", "60", "66"])
def test_a_number_that_no_issuer_has_is_no_card(first: str) -> None:
    """Right beside each range, at every length that a card may have, with a right sum."""
    for size in range(13, 20):
        assert found_in(luhn((first + "0" * 20)[: size - 1])) == ()


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in NEAR.items() for text in texts])
def test_a_near_miss_is_not_found(name: str, text: str) -> None:
    """What lacks a character, a checksum or a boundary is not it."""
    assert name not in found_in(text)


@pytest.mark.parametrize("name", HITS)
def test_a_secret_is_found_in_what_it_was_coded_into(name: str) -> None:
    """Base64 in both alphabets, with and without padding and line breaks, and percent-encoding, each once."""
    text = f"note: {HITS[name][0]}; thanks"
    coded = b64encode(text.encode()).decode()
    forms = [
        coded,
        coded.rstrip("="),
        urlsafe_b64encode(text.encode()).decode(),
        "\n".join(coded[start : start + 20] for start in range(0, len(coded), 20)),
        f"data:text/plain;base64,{coded}",
        quote(text, safe=""),
        "".join(f"%{byte:02x}" for byte in text.encode()),
    ]
    for form in forms:
        assert any(name in found_in(reading) for reading in decoded(form)), form


@given(st.text(max_size=200) | st.text("eyJ.-_DE89 4012%+/=AI\ud800\u200b", max_size=200))
def test_any_text_is_looked_at(text: str) -> None:
    """No text raises, and none that is short and harmless is slow enough to be noticed by the deadline of this test."""
    for reading in (text, *decoded(text)):
        assert isinstance(found_in(reading), tuple)


def test_a_text_of_countless_candidates_counts_as_found() -> None:
    """What cannot be looked at in bounded time does not pass."""
    assert found_in("4 " * (CANDIDATES_MAX + 20)) == ("card",)
    assert "iban" in found_in("DE12, " * (CANDIDATES_MAX + 20))
    assert found_in("4 " * 100 + "DE12, " * 100) == ()


POLICY = """
reasons: {leak: {category: policy, reply: "Not that."}}
unknown_tools: allow
defaults: {effect: read, egress: {list: v1}}
tools:
  open: {egress: allow}
  own: {egress: {list: v1, forbid: leak}}
  send:
    arguments:
      to: {type: string, egress: allow}
      body: {type: string, optional: true}
      parts: {optional: true, list: {object: {text: string, key: {type: string, optional: true, egress: allow}}}}
      card: {type: integer, optional: true}
"""
SECRET = HITS["anthropic_key"][0]


@pytest.mark.parametrize(
    ("name", "arguments", "ruling", "detail"),
    [
        ("send", '{"to": "SECRET"}', Ruling.ALLOW, ""),
        ("send", '{"to": "x", "body": "SECRET"}', Ruling.FORBID, "argument 'body': anthropic_key"),
        ("send", '{"to": "x", "body": "CODED"}', Ruling.FORBID, "argument 'body': anthropic_key (encoded)"),
        (
            "send",
            '{"to": "x", "parts": [{"text": "a"}, {"text": "SECRET"}]}',
            Ruling.FORBID,
            "argument 'parts[1].text': anthropic_key",
        ),
        ("send", '{"to": "x", "parts": [{"text": "a", "key": "SECRET"}]}', Ruling.ALLOW, ""),
        ("send", '{"to": "x", "card": CARD}', Ruling.FORBID, "argument 'card': card"),
        ("own", '{"x": {"y": ["SECRET"]}}', Ruling.FORBID, "argument 'x.y[0]': anthropic_key"),
        ("own", '{"SECRET": 1}', Ruling.FORBID, "the name of an argument: anthropic_key"),
        ("open", '{"x": "SECRET"}', Ruling.ALLOW, ""),
        ("other", '{"x": "SECRET"}', Ruling.FORBID, "argument 'x': anthropic_key"),
        ("other", '{"x": "fine", "y": [null, true, 1.5]}', Ruling.ALLOW, ""),
    ],
)
def test_a_call_with_a_secret_is_forbidden_but_where_it_may_leave(
    name: str, arguments: str, ruling: Ruling, detail: str
) -> None:
    """Every argument under `egress` is looked at, numbers and names too; `allow` exempts a tool or an argument."""
    text = (
        arguments.replace("SECRET", SECRET).replace("CODED", b64encode(SECRET.encode()).decode()).replace("CARD", VISA)
    )
    decision = decided(pipeline(POLICY).screen(proposal(name, text), context()))
    assert decision.ruling is ruling
    assert decision.reason == {"own": "leak"}.get(name, "sensitive_data" if detail else "")
    rows = [row.detail for row in decision.verdicts if row.interceptor == "egress" and row.detail]
    assert rows == ([detail] if detail else [])
    assert SECRET not in "".join(row.detail for row in decision.verdicts) + decision.message + decision.reply


def test_the_list_that_was_looked_at_stands_in_the_record() -> None:
    """A call that passed says by which version; a tool without `egress` has no such row."""
    rows = {
        name: [
            row.rule
            for row in decided(pipeline(POLICY).screen(proposal(name), context())).verdicts
            if row.interceptor == "egress"
        ]
        for name in ("own", "open")
    }
    assert rows == {"own": ["egress.v1"], "open": []}
