"""The tokens of a policy's identities and operators, as digests: expanded when a revision is put in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.secrets import SecretError
from proxy.identity import token_digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from policies.model import Policy
    from policies.secrets import Expandable
    from proxy.environment import Environment


def token_digests(policy: Policy, environment: Environment, key: bytes) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Those of the identities, and those of the operators, by name. `SecretError` where a reference stands for nothing,
    or where two have one token."""
    identities: dict[str, bytes] = {}
    for name, identity in policy.identities.items():
        where = f"{identity.origin}: identities.{name}.token"
        identities[name] = _digest(where, identity.token, environment, key, identities)
    operators: dict[str, bytes] = {}
    for name, operator in policy.people.operators.items():
        where = f"operators.{name}.token"
        operators[name] = _digest(where, operator.token, environment, key, {**identities, **operators})
    return identities, operators


def _digest(where: str, token: Expandable, environment: Environment, key: bytes, others: Mapping[str, bytes]) -> bytes:
    try:
        digest = token_digest(environment.expand(token), key)
    except SecretError as error:
        raise SecretError(f"{where}: {error}") from None
    if digest in others.values():
        raise SecretError(f"{where}: another identity has the same token")
    return digest
