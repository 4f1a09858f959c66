"""The `webhooks` section: who hears of new cases, and who gets approved calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yarl

from policies.secrets import SecretError
from proxy.config import ConfigError
from proxy.webhooks import WebhookTarget, webhook_key

if TYPE_CHECKING:
    from proxy.environment import Environment
    from proxy.settings import Settings, WebhookSettings


def connect_webhooks(settings: Settings, environment: Environment) -> tuple[WebhookTarget | None, WebhookTarget | None]:
    """The receivers of cases and of calls. Raises `ConfigError`; no value is shown."""
    webhooks = settings.webhooks
    return (
        _target("webhooks.escalations", webhooks.escalations, environment),
        _target("webhooks.deliveries", webhooks.deliveries, environment),
    )


def _target(where: str, webhook: WebhookSettings | None, environment: Environment) -> WebhookTarget | None:
    if webhook is None:
        return None
    try:
        return WebhookTarget(_url(environment.expand(webhook.url)), webhook_key(environment.expand(webhook.key)))
    except (SecretError, ValueError) as error:
        raise ConfigError(f"{where}: {error}") from None


def _url(text: str) -> str:
    """An absolute URL; it may have a query, in which some chat tools want their token. `ValueError`, without it."""
    try:
        url = yarl.URL(text, encoded=True)
        is_valid = url.scheme in ("http", "https") and bool(url.host) and url.port is not None
    except ValueError:
        is_valid = False
    if not is_valid or "#" in text or not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("a webhook needs an absolute http:// or https:// URL, in ASCII, without a fragment")
    if "@" in url.raw_authority:
        raise ValueError("the URL of a webhook carries no user and no password")
    return text
