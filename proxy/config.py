"""Puts `callgate.yaml` and the flags of `serve` together into `Settings`. Flags win."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from policies.problems import DocumentError
from proxy.config_file import Found, read_config_file
from proxy.config_values import parse_address, upstream_name, upstream_url
from proxy.settings import Settings, UpstreamSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

T = TypeVar("T")


class ConfigError(ValueError):
    """The flags or the file say something they may not say. One problem a line."""


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line of `serve` said; None or empty where it said nothing."""

    config: Path | None = None
    listen: str | None = None
    policy: Path | None = None
    upstreams: Sequence[str] = ()
    state: Path | None = None
    admin: str | None = None


def load_settings(flags: Flags) -> Settings:
    """The settings of one `serve`.

    Raises:
        ConfigError: a file or a flag that is wrong, or something required that neither states.
    """
    try:
        found = _read(flags.config) if flags.config is not None else Found()
        merged = _with_flags(found, flags)
    except DocumentError as error:
        raise ConfigError(str(error)) from None
    if merged.policy is None:
        raise ConfigError("a policy is required: --policy PATH, or `policy` in the configuration file")
    if merged.state is None:
        raise ConfigError("a state folder is required: --state DIR, or `state` in the configuration file")
    if not merged.upstreams:
        raise ConfigError("an upstream is required: --upstream NAME=URL, or `upstreams` in the configuration file")
    return Settings(
        policy=merged.policy,
        state=merged.state,
        upstreams=merged.upstreams,
        listen=merged.listen,
        admin=merged.admin,
        session_header=merged.session_header,
        conversation_header=merged.conversation_header,
        pass_through=merged.pass_through,
        limits=merged.limits,
        retain=merged.retain,
        webhooks=merged.webhooks,
    )


def _with_flags(found: Found, flags: Flags) -> Found:
    if flags.policy is not None:
        found.policy = flags.policy
    if flags.state is not None:
        found.state = flags.state
    if flags.listen is not None:
        found.listen = _flag("--listen", parse_address, flags.listen)
    if flags.admin is not None:
        found.admin = replace(found.admin, listen=_flag("--admin", parse_address, flags.admin))
    named: set[str] = set()
    for text in flags.upstreams:
        upstream = _flag("--upstream", _parse_upstream, text)
        if upstream.name in named:
            raise ConfigError(f"--upstream: {upstream.name!r} is given twice")
        named.add(upstream.name)
        before = found.upstreams.get(upstream.name)
        # The file's key belongs to the file's URL: it must not follow to wherever a flag points.
        kept = before.key if before is not None and before.url == upstream.url else None
        found.upstreams[upstream.name] = replace(upstream, key=kept)
    return found


def _flag(name: str, parse: Callable[[str], T], text: str) -> T:
    try:
        return parse(text)
    except ValueError as error:
        raise ConfigError(f"{name}: {error}") from None


def _parse_upstream(text: str) -> UpstreamSettings:
    name, equals, url = text.partition("=")
    if not equals:
        raise ValueError("an upstream is NAME=URL")
    return UpstreamSettings(upstream_name(name), upstream_url(url), None)


def _read(path: Path) -> Found:
    try:
        return read_config_file(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {(error.strerror or 'input error').lower()}") from None
