"""Keeps the texts of a policy that came into force, without the credentials that should not stand in them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from policies.files import read_snapshot
from policies.loader import load_snapshot
from policies.model import HttpSource
from policies.problems import DocumentError
from proxy.store import StoreError
from proxy.store.revisions import keep

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from policies.model import Policy
    from policies.secrets import Expandable
    from proxy.store import Store

LEFT_OUT: Final = "(left out)"


async def keep_texts(store: Store, path: Path, policy: Policy, at: datetime) -> None:
    """So that people see later what changed. Where it cannot be done they do not, and nothing else is different."""
    texts = await asyncio.to_thread(policy_texts, path, policy)
    if texts is None:
        return
    try:
        await store.write(lambda transaction: keep(transaction, policy.revision, policy.name, texts, at))
    except StoreError:
        return  # the metric of the store tells


def policy_texts(path: Path, policy: Policy) -> Mapping[str, str] | None:
    """The files of `policy` at `path` by name; None where something else stands there by now. It blocks."""
    try:
        snapshot = read_snapshot(path)
        if load_snapshot(snapshot).revision != policy.revision:
            return None
    except DocumentError:
        return None
    texts = {name: data.decode("utf-8", "replace") for name, data in snapshot.texts}
    for secret in sorted(_plain(policy), key=len, reverse=True):
        texts = {name: text.replace(secret, LEFT_OUT) for name, text in texts.items()}
    return texts


def _plain(policy: Policy) -> Iterator[str]:
    """Values that may be credentials and stand in the policy itself."""
    found: list[Expandable] = [identity.token for identity in policy.identities.values()]
    for fact in policy.facts.values():
        if isinstance(fact.source, HttpSource):
            found += fact.source.headers.values()
    for one in found:
        if not one.references and one.source:
            yield one.source
