"""What operations own, after reading: frozen, complete, with references to secrets and no secret in it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from proxy.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from policies.secrets import Expandable
    from proxy.session_header import JwtAlgorithm

SESSION_HEADER = "x-callgate-session"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a listener stands. Port 0 lets the system choose."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it. A name other than `localhost` could mean anything."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Role(Enum):
    """What a person may do on the admin listener; each includes the ones before it."""

    VIEWER = "viewer"
    REVIEWER = "reviewer"
    OWNER = "owner"

    def includes(self, other: Role) -> bool:
        order = list(Role)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, slots=True)
class Person:
    """`token` is a reference or a text; it is expanded by `serve` only."""

    name: str
    role: Role
    token: Expandable


@dataclass(frozen=True, slots=True)
class AdminSettings:
    """Without `persons` one owner's token is made at first start."""

    listen: Address
    persons: Mapping[str, Person]


@dataclass(frozen=True, slots=True)
class UpstreamSettings:
    """Without `key` the client's own credential passes through."""

    name: str
    url: Expandable
    key: Expandable | None


@dataclass(frozen=True, slots=True)
class JwtSettings:
    algorithm: JwtAlgorithm
    key: Expandable


@dataclass(frozen=True, slots=True)
class HmacSettings:
    key: Expandable


@dataclass(frozen=True, slots=True)
class SessionHeaderSettings:
    """`name` is in lower case."""

    name: str
    form: JwtSettings | HmacSettings


PassThrough: TypeAlias = "tuple[str, str]"
"""A method and a raw path that may pass unexamined, with a receipt."""


@dataclass(frozen=True, slots=True)
class Retain:
    """How long records are kept, by class."""

    receipts: timedelta = timedelta(days=400)
    payloads: timedelta = timedelta(days=90)
    ledger: timedelta = timedelta(days=30)  # after a hidden turn was last needed


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """`key` signs what is sent."""

    url: Expandable
    key: Expandable


@dataclass(frozen=True, slots=True)
class Webhooks:
    """Who hears of new cases, and who gets approved calls; None: nobody."""

    escalations: WebhookSettings | None = None
    deliveries: WebhookSettings | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything `serve` is told. `policy` and `state` are as named, relative ones to the working folder (flags) or to
    the configuration file's folder."""

    policy: Path
    state: Path
    upstreams: Mapping[str, UpstreamSettings]
    listen: Address = Address("127.0.0.1", 8080)
    admin: AdminSettings = field(default_factory=lambda: AdminSettings(Address("127.0.0.1", 0), {}))
    session_header: SessionHeaderSettings | None = None
    conversation_header: str | None = None  # in lower case
    pass_through: frozenset[PassThrough] = frozenset()
    limits: Limits = field(default_factory=Limits)
    retain: Retain = field(default_factory=Retain)
    webhooks: Webhooks = field(default_factory=Webhooks)
