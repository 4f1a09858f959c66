"""The parts of the documentation that are made from the code. `make docs` writes them; a test compares them.

In a page, `<!-- generated: NAME -->` and `<!-- end -->` enclose such a part.
"""

from __future__ import annotations

import re
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from interceptors.causes import RefusalCause, answer
from interceptors.kinds import AbortCause
from interceptors.verification import LIMITS as CHAIN_LIMITS
from interceptors.verification import Fault
from policies.documents import keys
from policies.json_schema import json_schema
from policies.mutants import tables
from policies.reference import CHOICES, REFERENCE
from policies.system_reasons import DEFAULT_REPLIES, SYSTEM_REASONS
from proxy.limits import LIMITS
from proxy.logs import FIELDS
from tests.docs.pages import ROOT, page_names
from tests.drift.endpoints import SAYS, endpoints

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_PART = re.compile(r"(<!-- generated: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_SAYS = {
    RefusalCause.UNKNOWN_TOOL: "as `unknown_tools` says",
    RefusalCause.FACT_MISSING: "as the fact's `missing` says, else `escalate`",
}


def written(text: str) -> str:
    """The page with every generated part made anew."""
    return _PART.sub(lambda found: found.group(1) + PARTS[found.group(2)]() + found.group(3), text)


def names_in(text: str) -> list[str]:
    return [found.group(2) for found in _PART.finditer(text)]


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _limits() -> str:
    rows = ((f"`{x.name}`", f"{x.default:,}", f"{x.minimum:,} to {x.maximum:,}", x.outcome) for x in LIMITS)
    return _table(("limit", "default", "may be", "what happens"), rows)


def _log_fields() -> str:
    return _table(("field", "what it holds"), ((f"`{name}`", text) for name, text in FIELDS.items()))


def _reasons() -> str:
    rows = (
        (f"`{x.code}`", x.category.value, "yes" if x.category.is_retryable else "no", x.message, x.next)
        for x in SYSTEM_REASONS.values()
    )
    return _table(("reason", "category", "retry helps", "what the agent is told", "and what to do"), rows)


def _replies() -> str:
    rows = ((category.value, text) for category, text in DEFAULT_REPLIES.items())
    return _table(("category", "what the customer reads"), rows)


def _causes() -> str:
    def row(cause: RefusalCause) -> tuple[str, str, str]:
        if cause in _SAYS:
            return cause.value, _SAYS[cause], "`unknown_tool`" if cause is RefusalCause.UNKNOWN_TOOL else "as it says"
        given = answer(cause)
        return cause.value, f"`{given.ruling.value}`", f"`{given.reason}`"

    return _table(("what stands against the call", "outcome", "reason"), map(row, RefusalCause))


def _endpoints() -> str:
    parts = []
    for provider in dict.fromkeys(one.provider for one in endpoints()):
        methods: dict[tuple[str, str], list[str]] = {}
        for one in endpoints():
            if one.provider == provider:
                methods.setdefault((one.path, one.treatment), []).append(one.method)
        rows = ((f"`{path}`", ", ".join(words), says) for (path, says), words in methods.items())
        parts.append(f"## {provider}\n\n" + _table(("path", "methods", "what happens"), rows))
    return "\n".join(parts)


def _treatments() -> str:
    return _table(("word", "what happens"), SAYS.items())


def _later() -> str:
    return ", ".join(f"`{name}`" for name in sorted(keys.LATER)) + ".\n"


def _keys(name: str) -> str:
    """The table of one object of the language: its keys are the loader's own list, their choices those of the model."""
    reference, known = REFERENCE[name], getattr(keys, name)
    lacking = [key for key in known if key not in reference.rows]
    if lacking:
        sys.exit(f"{name}: no row in policies/reference for {', '.join(lacking)}")
    schema = json_schema()
    properties = (schema if name == "TOP" else schema["$defs"][name])["properties"]

    def row(key: str) -> tuple[str, ...]:
        choices = ", ".join(f"`{one}`" for one in properties[key].get("enum", ()))
        return f"`{key}`", *(cell.replace(CHOICES, choices) for cell in reference.rows[key])

    return f"<!-- rows: {name} -->\n" + _table(reference.head, map(row, known))


def _listed(lines: Iterable[str]) -> str:
    return "".join(f"- {line}\n" for line in lines)


def _no_mutants() -> str:
    by_reason: dict[str, list[str]] = {}
    for key, why in tables.UNSEEN.items():
        by_reason.setdefault(why, []).append(f"`{key}`")
    return _table(("key", "why"), ((", ".join(names), why) for why, names in by_reason.items()))


def _help() -> str:
    # In a process of its own: click keeps in a command what an earlier test called it with.
    made = subprocess.run(
        [sys.executable, "-m", "tests.docs.helps"], cwd=ROOT, check=True, capture_output=True, text=True, timeout=60
    )
    return made.stdout


PARTS: dict[str, Callable[[], str]] = {
    **{f"keys-{name.lower().replace('_', '-')}": partial(_keys, name) for name in REFERENCE},
    "abort-causes": lambda: _listed(cause.value for cause in AbortCause),
    "causes": _causes,
    "endpoints": _endpoints,
    "treatments": _treatments,
    "chain-limits": lambda: _listed(CHAIN_LIMITS),
    "faults": lambda: _listed(fault.value for fault in Fault),
    "help": _help,
    "later": _later,
    "limits": _limits,
    "log-fields": _log_fields,
    "no-mutants": _no_mutants,
    "reasons": _reasons,
    "replies": _replies,
}


def main() -> None:
    """Write every generated part of every page."""
    for name in page_names():
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        if (made := written(text)) != text:
            path.write_text(made, encoding="utf-8")
            click.echo(f"{name}: written")


if __name__ == "__main__":
    main()
