"""Whose data a request is about, as the store keeps it: by the first field that `session` of the policy names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interceptors.calls import Json
    from policies.model import Policy
    from proxy.store import Store


def subject_of(claims: Mapping[str, Json], policy: Policy, store: Store) -> str:
    """The keyed digest of the subject; empty where the claims do not hold it."""
    for session_field in policy.session.values():
        value: Json = dict(claims)
        for step in session_field.at:
            value = value.get(step) if isinstance(value, dict) else None
        return store.subject_digest(value) if isinstance(value, str) and value else ""
    return ""
