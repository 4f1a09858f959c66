"""The subject is proven by a signature or it is nobody's."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from hypothesis import given
from hypothesis import strategies as st

from proxy.headers import read_request_headers
from proxy.session_header import (
    HmacKey,
    JwtAlgorithm,
    JwtKey,
    SessionHeaderError,
    SessionKey,
    SessionKeyError,
    SessionVerifier,
    sign_session,
)

NAME = "x-callgate-session"
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SECRET = "s" * 64
JWT = JwtKey(JwtAlgorithm.HS256, SECRET)
HMAC = HmacKey(SECRET)
BOTH = pytest.mark.parametrize("key", [JWT, HMAC], ids=["jwt", "hmac"])


def _pem(private) -> tuple[str, str]:
    secret = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return secret.decode(), public.decode()


RSA_PRIVATE, RSA_PUBLIC = _pem(rsa.generate_private_key(public_exponent=65537, key_size=2048))
EC_PRIVATE, EC_PUBLIC = _pem(ec.generate_private_key(ec.SECP256R1()))


def _read(key: SessionKey, *values: str, now: datetime = NOW):
    headers = read_request_headers([(NAME.encode(), value.encode()) for value in values])
    return SessionVerifier(NAME, key).subject(headers, now)


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@BOTH
def test_signed_claims_are_the_subject(key: JwtKey | HmacKey) -> None:
    """What the application signed is what rules read."""
    assert _read(key, sign_session({"sub": "C-1", "tier": 2}, key)) == {"sub": "C-1", "tier": 2}


@BOTH
def test_an_absent_header_is_an_empty_subject(key: JwtKey | HmacKey) -> None:
    """Nobody is a subject that no rule mistakes for somebody."""
    assert _read(key) == {}


@pytest.mark.parametrize(
    ("algorithm", "private", "public"),
    [(JwtAlgorithm.RS256, RSA_PRIVATE, RSA_PUBLIC), (JwtAlgorithm.ES256, EC_PRIVATE, EC_PUBLIC)],
)
def test_public_key_algorithms_verify(algorithm: JwtAlgorithm, private: str, public: str) -> None:
    """The application keeps the private key; the gate holds the public one."""
    token = sign_session({"sub": "C-1"}, JwtKey(algorithm, private))

    assert _read(JwtKey(algorithm, public), token) == {"sub": "C-1"}


def test_a_public_key_is_no_secret_for_another_algorithm() -> None:
    """The oldest JWT attack: HS256 keyed with the RS256 public key."""
    header, payload = _b64(b'{"alg":"HS256","typ":"JWT"}'), _b64(b'{"sub":"C-1"}')
    signature = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(
        f"{header}.{payload}".encode(), RSA_PUBLIC.encode()
    )

    with pytest.raises(SessionHeaderError):
        _read(JwtKey(JwtAlgorithm.RS256, RSA_PUBLIC), f"{header}.{payload}.{_b64(signature)}")


@pytest.mark.parametrize("alg", ["none", "None", "NONE", ""])
def test_an_unsigned_token_is_refused(alg: str) -> None:
    """`none` is no signature."""
    header, payload = _b64(b'{"alg":"' + alg.encode() + b'"}'), _b64(b'{"sub":"C-1"}')
    token = f"{header}.{payload}."

    with pytest.raises(SessionHeaderError):
        _read(JWT, token)


def test_another_algorithm_than_the_pinned_one_is_refused() -> None:
    """Even with the same secret."""
    token = sign_session({"sub": "C-1"}, JwtKey(JwtAlgorithm.HS512, SECRET))

    with pytest.raises(SessionHeaderError):
        _read(JWT, token)


@BOTH
def test_another_key_is_refused(key: JwtKey | HmacKey) -> None:
    """A signature proves its key."""
    other = JwtKey(JwtAlgorithm.HS256, "o" * 64) if isinstance(key, JwtKey) else HmacKey("o" * 64)

    with pytest.raises(SessionHeaderError):
        _read(key, sign_session({"sub": "C-1"}, other))


@BOTH
def test_the_header_twice_is_refused(key: JwtKey | HmacKey) -> None:
    """Neither of two subjects is chosen, not even of two equal ones, and not by a comma."""
    token = sign_session({"sub": "C-1"}, key)
    headers = read_request_headers([(NAME.encode(), token.encode()), (NAME.upper().encode(), token.encode())])

    with pytest.raises(SessionHeaderError, match="more than once"):
        SessionVerifier(NAME, key).subject(headers, NOW)
    with pytest.raises(SessionHeaderError):
        _read(key, f"{token},{token}")


@BOTH
@pytest.mark.parametrize(
    ("claims", "valid"),
    [
        ({"exp": int(NOW.timestamp()) + 1}, True),
        ({"exp": int(NOW.timestamp())}, False),
        ({"exp": int(NOW.timestamp()) - 3600}, False),
        ({"nbf": int(NOW.timestamp())}, True),
        ({"nbf": int(NOW.timestamp()) + 3}, True),
        ({"nbf": int(NOW.timestamp()) + 60}, False),
        ({"exp": "tomorrow"}, False),
        ({"exp": str(int(NOW.timestamp()) + 60)}, False),
        ({"nbf": True}, False),
    ],
)
def test_times_hold_where_they_are_stated(key: JwtKey | HmacKey, claims: dict[str, int | str], valid: bool) -> None:
    """An expiry ends at its second; a time that is no number is no time."""
    token = sign_session({"sub": "C-1", **claims}, key)

    if valid:
        assert _read(key, token)["sub"] == "C-1"
    else:
        with pytest.raises(SessionHeaderError):
            _read(key, token)


@BOTH
def test_a_token_ends_while_the_process_runs(key: JwtKey | HmacKey) -> None:
    """The clock is asked at each request."""
    token = sign_session({"sub": "C-1", "exp": int(NOW.timestamp()) + 60}, key)

    assert _read(key, token)
    with pytest.raises(SessionHeaderError, match="expired"):
        _read(key, token, now=NOW + timedelta(minutes=2))


def _signed(payload: bytes, key: SessionKey) -> str:
    if isinstance(key, JwtKey):
        return jwt.PyJWS().encode(payload, key.key, algorithm=key.algorithm.value)
    import hashlib
    import hmac

    body = f"v1.{_b64(payload)}"
    return f"{body}.{hmac.new(key.key.encode(), body.encode(), hashlib.sha256).hexdigest()}"


@BOTH
@pytest.mark.parametrize(
    "payload",
    [b'{"sub":"C-1","sub":"C-2"}', b'["C-1"]', b'"C-1"', b"null", b'{"sub":NaN}', b'{"sub":"C-1"} x', b"", b"\xff"],
)
def test_signed_text_that_is_not_one_strict_object_is_refused(key: JwtKey | HmacKey, payload: bytes) -> None:
    """A claim that stands there twice is not read as either."""
    with pytest.raises(SessionHeaderError):
        _read(key, _signed(payload, key))


@BOTH
def test_numbers_in_claims_are_exact(key: JwtKey | HmacKey) -> None:
    """A claim is compared as it is spelled."""
    assert _read(key, _signed(b'{"limit":0.10}', key)) == {"limit": Decimal("0.10")}


@BOTH
@given(data=st.data())
def test_one_changed_character_is_refused(key: JwtKey | HmacKey, data: st.DataObject) -> None:
    """Whatever is changed of a signed value, the subject is not changed: it is refused, or it means the same."""
    token = sign_session({"sub": "C-1"}, key)
    at = data.draw(st.integers(0, len(token) - 1))
    character = data.draw(st.characters(min_codepoint=33, max_codepoint=126))

    try:
        subject = _read(key, token[:at] + character + token[at + 1 :])
    except SessionHeaderError:
        return

    assert subject == {"sub": "C-1"}


@pytest.mark.parametrize("headers", [{"crit": ["x"], "x": 1}, {"crit": ["b64"], "b64": False}])
def test_an_extension_that_is_not_understood_is_refused(headers: dict[str, object]) -> None:
    """RFC 7515, 4.1.11, and RFC 7797's unencoded payload."""
    token = jwt.PyJWS().encode(b'{"sub":"C-1"}', SECRET, algorithm="HS256", headers=headers)

    with pytest.raises(SessionHeaderError):
        _read(JWT, token)


@pytest.mark.parametrize("value", ["", ".", "..", "v1", "v1..", "v2.e30.00", "v1.e30.", "é", "x" * 20_000])
@BOTH
def test_a_value_of_another_form_is_refused(key: JwtKey | HmacKey, value: str) -> None:
    """An empty value is a claim without proof, not an absent header."""
    with pytest.raises(SessionHeaderError):
        _read(key, value)


@pytest.mark.parametrize(
    "key",
    [
        JwtKey(JwtAlgorithm.HS256, "short"),
        JwtKey(JwtAlgorithm.HS512, "s" * 63),
        JwtKey(JwtAlgorithm.HS256, RSA_PUBLIC),
        JwtKey(JwtAlgorithm.RS256, "s" * 64),
        JwtKey(JwtAlgorithm.RS256, RSA_PRIVATE),
        JwtKey(JwtAlgorithm.RS256, EC_PUBLIC),
        JwtKey(JwtAlgorithm.ES256, EC_PRIVATE),
        HmacKey("s" * 31),
        HmacKey(""),
    ],
)
def test_a_key_that_does_not_fit_is_refused_at_start_and_not_shown(key: SessionKey) -> None:
    """Too short, of another kind, or the private half: an error before the first request."""
    with pytest.raises(SessionKeyError) as refusal:
        SessionVerifier(NAME, key)

    assert "BEGIN" not in str(refusal.value)
    assert "sss" not in f"{refusal.value} {key!r}"
