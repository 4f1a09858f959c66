"""The keys of `callgate.yaml` and what may stand in them. It expands no secret and opens no connection."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from policies.problems import DocumentError, Problems
from policies.secrets import Expandable, SecretError
from policies.yaml_reader import read_yaml
from proxy.config_values import header_name, parse_address, person_name, retention, route, upstream_name, upstream_url
from proxy.limits import LIMITS, LIMITS_LATER, Limits
from proxy.session_header import JwtAlgorithm
from proxy.settings import (
    SESSION_HEADER,
    Address,
    AdminSettings,
    HmacSettings,
    JwtSettings,
    PassThrough,
    Person,
    Retain,
    Role,
    SessionHeaderSettings,
    UpstreamSettings,
    Webhooks,
    WebhookSettings,
)

if TYPE_CHECKING:
    from pathlib import Path

    from policies.nodes import Node

LISTEN = Address("127.0.0.1", 8080)
ADMIN = AdminSettings(Address("127.0.0.1", 0), {})

_KEYS = (
    "listen",
    "admin",
    "upstreams",
    "session_header",
    "conversation_header",
    "policy",
    "state",
    "pass_through",
    "limits",
    "retain",
    "webhooks",
)


@dataclass(slots=True)
class Found:
    """What has been read so far; a required part may still be missing."""

    policy: Path | None = None
    state: Path | None = None
    upstreams: dict[str, UpstreamSettings] = field(default_factory=dict)
    listen: Address = LISTEN
    admin: AdminSettings = ADMIN
    session_header: SessionHeaderSettings | None = None
    conversation_header: str | None = None
    pass_through: frozenset[PassThrough] = frozenset()
    limits: Limits = field(default_factory=Limits)
    retain: Retain = field(default_factory=Retain)
    webhooks: Webhooks = field(default_factory=Webhooks)


def read_config_file(path: Path) -> Found:
    """What the file says. Relative paths in it are relative to its folder.

    Raises:
        OSError: it cannot be read.
        DocumentError: it says something it may not say.
    """
    data = path.read_bytes()
    root = read_yaml(data, path.name).mapping()
    folder = path.parent
    found = Found()
    problems = Problems()
    with problems.collect():
        root.check_keys(_KEYS)
    for key, node in root.entries.items():
        with problems.collect():
            _read_key(found, key, node, folder)
    if problems:
        raise DocumentError(problems.found)
    return found


def _read_key(found: Found, key: str, node: Node, folder: Path) -> None:
    match key:
        case "listen":
            found.listen = node.convert(parse_address)
        case "admin":
            found.admin = _admin(node)
        case "upstreams":
            found.upstreams = _upstreams(node)
        case "session_header":
            found.session_header = _session_header(node)
        case "conversation_header":
            found.conversation_header = node.convert(header_name)
        case "policy":
            found.policy = folder / node.text()
        case "state":
            found.state = folder / node.text()
        case "pass_through":
            found.pass_through = frozenset(item.convert(route) for item in node.sequence())
        case "limits":
            found.limits = _limits(node)
        case "retain":
            found.retain = _retain(node)
        case "webhooks":
            found.webhooks = _webhooks(node)


def _admin(node: Node) -> AdminSettings:
    admin = node.mapping()
    admin.check_keys(("listen", "persons"))
    listen = admin.get("listen")
    persons = admin.get("persons")
    return AdminSettings(
        listen.convert(parse_address) if listen is not None else ADMIN.listen,
        _persons(persons) if persons is not None else {},
    )


def _persons(node: Node) -> dict[str, Person]:
    persons: dict[str, Person] = {}
    for name, entry in node.mapping().entries.items():
        person = entry.mapping()
        person.check_keys(("token", "role"))
        entry.apply(person_name, name)
        persons[name] = Person(name, person.require("role").choice(Role), _secret(person.require("token")))
    if not persons:
        node.fail("names nobody: leave it out, and one owner's token is made at first start")
    return persons


def _upstreams(node: Node) -> dict[str, UpstreamSettings]:
    upstreams: dict[str, UpstreamSettings] = {}
    for name, entry in node.mapping().entries.items():
        upstream = entry.mapping()
        upstream.check_keys(("url", "key"))
        entry.apply(upstream_name, name)
        key = upstream.get("key")
        upstreams[name] = UpstreamSettings(
            name,
            upstream.require("url").convert(upstream_url),
            _secret(key) if key is not None else None,
        )
    return upstreams


def _session_header(node: Node) -> SessionHeaderSettings:
    header = node.mapping()
    header.check_keys(("name", "jwt", "hmac"))
    name = header.get("name")
    jwt, hmac = header.get("jwt"), header.get("hmac")
    form: JwtSettings | HmacSettings
    if jwt is not None and hmac is None:
        section = jwt.mapping()
        section.check_keys(("algorithm", "key"))
        form = JwtSettings(section.require("algorithm").choice(JwtAlgorithm), _secret(section.require("key")))
    elif hmac is not None and jwt is None:
        section = hmac.mapping()
        section.check_keys(("key",))
        form = HmacSettings(_secret(section.require("key")))
    else:
        header.fail("needs one of jwt and hmac")
    return SessionHeaderSettings(name.convert(header_name) if name is not None else SESSION_HEADER, form)


def _limits(node: Node) -> Limits:
    section = node.mapping()
    rows = {info.name: info for info in LIMITS}
    section.check_keys(rows, later=LIMITS_LATER)
    values = {name: value.integer(rows[name].minimum, rows[name].maximum) for name, value in section.entries.items()}
    return Limits(**values)


def _retain(node: Node) -> Retain:
    section = node.mapping()
    section.check_keys(("receipts", "payloads", "ledger"))
    values = {name: value.convert(retention) for name, value in section.entries.items()}
    retain = Retain(**values)
    if retain.payloads > retain.receipts:
        section.fail("payloads cannot be kept longer than the receipts they belong to")
    return retain


def _webhooks(node: Node) -> Webhooks:
    section = node.mapping()
    section.check_keys(("escalations", "deliveries"))
    return Webhooks(**{name: _webhook(entry) for name, entry in section.entries.items()})


def _webhook(node: Node) -> WebhookSettings:
    section = node.mapping()
    section.check_keys(("url", "key"))
    return WebhookSettings(_secret(section.require("url")), _secret(section.require("key")))


def _secret(node: Node) -> Expandable:
    try:
        text = node.text()
    except DocumentError:
        node.fail("must be a text, in quotes")  # what stands there instead may be a secret too: it is not shown
    try:
        return Expandable.parse(text)
    except SecretError as error:
        node.fail(str(error))
