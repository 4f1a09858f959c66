"""The subject of an exchange: claims that the application signed and put into one header.

Two forms. `jwt`: a JWS in compact form, its algorithm pinned by the configuration. `hmac`: `v1.PAYLOAD.MAC`, where
PAYLOAD is a JSON object in base64url without padding and MAC the lower-case hex HMAC-SHA-256 of `v1.PAYLOAD` under the
key. In both an `exp` or `nbf` claim (seconds since 1970) must hold. Messages name the header, never its value.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

import jwt
import orjson
from jwt.algorithms import get_default_algorithms

from interceptors.strict_json import StrictJsonError, parse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from interceptors.calls import Json
    from proxy.headers import RequestHeaders

_VERSION = "v1"
_HEADER_BYTES_MAX = 16 * 1024
# The application's clock may run a little ahead; an expiry gets no such grace.
_NOT_BEFORE_LEEWAY_SECONDS = 5


class JwtAlgorithm(Enum):
    """The algorithms that a configuration may pin. `none` is not one."""

    HS256 = "HS256"
    HS384 = "HS384"
    HS512 = "HS512"
    RS256 = "RS256"
    RS384 = "RS384"
    RS512 = "RS512"
    ES256 = "ES256"
    ES384 = "ES384"
    ES512 = "ES512"

    @property
    def secret_bytes_min(self) -> int | None:
        """RFC 7518, 3.2: a secret is at least as long as the hash. None where the key is a public one."""
        return int(self.value[2:]) // 8 if self.value.startswith("HS") else None


class SessionHeaderError(Exception):
    """The header is there and does not prove a subject. The answer is 401; no call is judged without it."""


class SessionKeyError(ValueError):
    """A key that cannot be used with its algorithm. Said at start; the message holds no part of the key."""


@dataclass(frozen=True, slots=True)
class JwtKey:
    algorithm: JwtAlgorithm
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class HmacKey:
    key: str = field(repr=False)


SessionKey: TypeAlias = "JwtKey | HmacKey"
_HMAC_SECRET_BYTES_MIN = 32


@dataclass(frozen=True, slots=True)
class SessionVerifier:
    """Reads one header (`name`, lower case) under one key.

    Raises:
        SessionKeyError: the key does not fit.
    """

    name: str
    key: SessionKey

    def __post_init__(self) -> None:
        match self.key:
            case JwtKey(algorithm, key):
                _check_jwt_key(algorithm, key)
            case HmacKey(key):
                _check_secret(key, _HMAC_SECRET_BYTES_MIN)

    def subject(self, headers: RequestHeaders, now: datetime) -> Mapping[str, Json]:
        """The signed claims; empty where the header is absent.

        Raises:
            SessionHeaderError: twice, too long, not signed by this key, expired, not valid yet, or not one JSON object.
        """
        values = list(headers.every(self.name))
        if not values:
            return {}
        if len(values) > 1:
            raise SessionHeaderError(f"the header {self.name!r} occurs more than once")
        value = values[0].strip()
        if len(value) > _HEADER_BYTES_MAX or not value.isascii():
            raise self._refused("is not valid")
        payload = self._jwt_payload(value, self.key) if isinstance(self.key, JwtKey) else self._hmac_payload(value)
        try:
            claims = parse(payload)
        except StrictJsonError:
            raise self._refused("does not hold one strict JSON object") from None
        if not isinstance(claims, dict):
            raise self._refused("does not hold one strict JSON object")
        self._check_times(claims, now)
        return claims

    def _jwt_payload(self, value: str, key: JwtKey) -> bytes:
        try:
            token = jwt.PyJWS(algorithms=[key.algorithm.value]).decode_complete(
                value, key.key, algorithms=[key.algorithm.value]
            )
        except (jwt.InvalidTokenError, jwt.InvalidKeyError):
            raise self._refused("is not valid") from None
        if "crit" in token["header"]:  # RFC 7515, 4.1.11: an extension that must be understood
            raise self._refused("asks for an extension that is not supported")
        payload: bytes = token["payload"]
        return payload

    def _hmac_payload(self, value: str) -> bytes:
        version, _, rest = value.partition(".")
        encoded, _, mac = rest.partition(".")
        expected = _mac(encoded, self.key.key)
        if version != _VERSION or not hmac.compare_digest(mac, expected):
            raise self._refused("is not valid")
        try:
            return base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_", validate=True)
        except binascii.Error:
            raise self._refused("is not valid") from None

    def _check_times(self, claims: Mapping[str, Json], now: datetime) -> None:
        moment = Decimal(str(now.timestamp()))
        expires, starts = (self._time(claims, name) for name in ("exp", "nbf"))
        if expires is not None and moment >= expires:
            raise self._refused("has expired")
        if starts is not None and moment < starts - _NOT_BEFORE_LEEWAY_SECONDS:
            raise self._refused("is not valid yet")

    def _time(self, claims: Mapping[str, Json], name: str) -> Decimal | None:
        if name not in claims:
            return None
        value = claims[name]
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise self._refused(f"states {name!r} as something else than seconds")
        return Decimal(value)

    def _refused(self, why: str) -> SessionHeaderError:
        return SessionHeaderError(f"the header {self.name!r} {why}")


def sign_session(claims: Mapping[str, str | int], key: JwtKey | HmacKey) -> str:
    """A value of the session header, as an application makes it. For `RS*` and `ES*` the key is the private one."""
    payload = orjson.dumps(dict(claims))
    match key:
        case JwtKey(algorithm, secret):
            return jwt.PyJWS().encode(payload, secret, algorithm=algorithm.value)
        case HmacKey(secret):
            encoded = base64.urlsafe_b64encode(payload).rstrip(b"=").decode()
            return f"{_VERSION}.{encoded}.{_mac(encoded, secret)}"


def _mac(encoded: str, key: str) -> str:
    return hmac.new(key.encode(), f"{_VERSION}.{encoded}".encode(), hashlib.sha256).hexdigest()


def _check_jwt_key(algorithm: JwtAlgorithm, key: str) -> None:
    minimum = algorithm.secret_bytes_min
    if minimum is not None:
        _check_secret(key, minimum)
    problem = f"the key is not one for {algorithm.value}"
    try:
        prepared = get_default_algorithms()[algorithm.value].prepare_key(key)
    except (jwt.InvalidKeyError, ValueError, TypeError):
        raise SessionKeyError(problem) from None
    # A private key would verify as well; it does not belong into the gate.
    if minimum is None and hasattr(prepared, "private_bytes"):
        raise SessionKeyError(f"the key for {algorithm.value} must be the public one")


def _check_secret(key: str, bytes_min: int) -> None:
    if len(key.encode()) < bytes_min:
        raise SessionKeyError(f"the key is shorter than {bytes_min} bytes")
