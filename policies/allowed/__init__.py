"""Allowlists: what a value may be, by what it means and not by how it is spelled. Each kind reads its own entries."""

from __future__ import annotations

from policies.allowed.accounts import IBAN_LENGTHS, Accounts, is_iban
from policies.allowed.allowlist import KINDS, Allowlist, Listed, Matcher
from policies.allowed.domains import Domains
from policies.allowed.paths import Paths
from policies.allowed.percent import percent_decoded
from policies.allowed.urls import Urls
from policies.allowed.values import Values

__all__ = [
    "IBAN_LENGTHS",
    "KINDS",
    "Accounts",
    "Allowlist",
    "Domains",
    "Listed",
    "Matcher",
    "Paths",
    "Urls",
    "Values",
    "is_iban",
    "percent_decoded",
]
