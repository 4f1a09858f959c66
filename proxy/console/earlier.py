"""Policies that are not in force any more, read again from the texts that were kept of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from policies.files import Snapshot
from policies.loader import load_snapshot
from policies.problems import DocumentError
from proxy.store.revisions import find

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interceptors.calls import Json
    from policies.model import Policy
    from proxy.store import Store


async def decided_by(store: Store, payload: Mapping[str, Json], in_force: Policy) -> Policy:
    """The policy that decided this, where it is known; else the one in force, whose revision is then another."""
    wanted = str(payload.get("revision", ""))
    if wanted == in_force.revision:
        return in_force
    kept = await store.read(lambda reader: reader.ask(lambda connection: find(connection, wanted)))
    if kept is None:
        return in_force
    earlier = await asyncio.to_thread(read_again, tuple(sorted(kept.files.items())), folder_of(in_force), wanted)
    return earlier or in_force


def folder_of(policy: Policy) -> Path:
    """Where the lists that a policy names stand."""
    return policy.files[0].parent if policy.files else Path()


@lru_cache(maxsize=8)
def read_again(files: tuple[tuple[str, str], ...], folder: Path, revision: str) -> Policy | None:
    """The policy of these texts under its own revision; None where this version cannot read it. It blocks."""
    texts = tuple((name, text.encode()) for name, text in files)
    try:
        return replace(load_snapshot(Snapshot(texts, (), folder, ())), revision=revision)
    except DocumentError:
        return None
