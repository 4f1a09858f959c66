"""Settings with their secrets in place: what `serve` connects with. It is kept in memory only and prints nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from policies.approvals import OnApproval
from policies.model import SessionSource
from policies.secrets import SecretError
from proxy.config import ConfigError
from proxy.config_webhooks import connect_webhooks
from proxy.session_header import HmacKey, JwtKey, SessionKeyError, SessionVerifier
from proxy.settings import HmacSettings, JwtSettings, Role
from proxy.upstream import UpstreamUrlError, read_upstream_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from policies.model import Policy
    from proxy.environment import Environment
    from proxy.settings import SessionHeaderSettings, Settings
    from proxy.webhooks import WebhookTarget

TOKEN_LENGTH_MIN = 16


@dataclass(frozen=True, slots=True)
class UpstreamTarget:
    """`url` has no `/` at its end; `key` is None where the client's credential passes through."""

    name: str
    url: str
    key: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class PersonToken:
    name: str
    role: Role
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Connected:
    """`persons` is empty where the configuration names none."""

    upstreams: Mapping[str, UpstreamTarget]
    session: SessionVerifier | None
    persons: tuple[PersonToken, ...]
    cases: WebhookTarget | None = None  # hears of new cases
    calls: WebhookTarget | None = None  # gets approved calls


def connect_settings(settings: Settings, environment: Environment) -> Connected:
    """Expands every reference of the settings. It reads files: call it before the loop runs, or in a thread.

    Raises:
        ConfigError: a reference stands for nothing, or what it stands for cannot be used. No value is shown.
    """
    upstreams: dict[str, UpstreamTarget] = {}
    for name, upstream in settings.upstreams.items():
        where = f"upstreams.{name}"
        try:
            url = read_upstream_url(environment.expand(upstream.url))
            key = environment.expand(upstream.key) if upstream.key is not None else None
        except (SecretError, UpstreamUrlError) as error:
            raise ConfigError(f"{where}: {error}") from None
        upstreams[name] = UpstreamTarget(name, url, key)
    session = _session(settings.session_header, environment) if settings.session_header is not None else None
    cases, calls = connect_webhooks(settings, environment)
    return Connected(upstreams, session, _persons(settings, environment), cases, calls)


def check_together(settings: Settings, policy: Policy) -> None:
    """What a policy and the settings must agree on.

    Raises:
        ConfigError: a listener that others can reach without `identities`; identities whose upstream has no key; a
            session field that no configured header could prove; approved calls that nobody would get.
    """
    if not policy.identities and not settings.listen.is_loopback:
        raise ConfigError(
            f"listen: {settings.listen} can be reached from other machines, so the policy needs `identities`"
        )
    if policy.identities:
        for name, upstream in settings.upstreams.items():
            if upstream.key is None:
                raise ConfigError(
                    f"upstreams.{name}: with `identities` in the policy the gate holds the provider's key: set `key`"
                )
    delivers = [tool.name for tool in policy.tools.values() if tool.passed_on.on_approval is OnApproval.DELIVER]
    if delivers and settings.webhooks.deliveries is None:
        raise ConfigError(f"webhooks.deliveries: approved calls of {delivers[0]!r} are to be delivered: set a receiver")
    header = settings.session_header
    given = (
        None if header is None else SessionSource.JWT if isinstance(header.form, JwtSettings) else SessionSource.HMAC
    )
    for session_field in policy.session.values():
        if session_field.source is not given:
            raise ConfigError(
                f"session_header: the policy reads session.{session_field.name} from"
                f" `{session_field.source.value}`, and the configuration has no such header"
            )


def _session(header: SessionHeaderSettings, environment: Environment) -> SessionVerifier:
    try:
        match header.form:
            case JwtSettings(algorithm, key):
                return SessionVerifier(header.name, JwtKey(algorithm, environment.expand_text(key)))
            case HmacSettings(key):
                return SessionVerifier(header.name, HmacKey(environment.expand_text(key)))
    except (SecretError, SessionKeyError) as error:
        raise ConfigError(f"session_header: {error}") from None


def _persons(settings: Settings, environment: Environment) -> tuple[PersonToken, ...]:
    persons: list[PersonToken] = []
    for name, person in settings.admin.persons.items():
        where = f"admin.persons.{name}"
        try:
            token = environment.expand(person.token)
        except SecretError as error:
            raise ConfigError(f"{where}: {error}") from None
        if len(token) < TOKEN_LENGTH_MIN:
            raise ConfigError(f"{where}: the token is shorter than {TOKEN_LENGTH_MIN} characters")
        if any(token == other.token for other in persons):
            raise ConfigError(f"{where}: the token is another person's too")
        persons.append(PersonToken(name, person.role, token))
    return tuple(persons)
