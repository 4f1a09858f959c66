"""A small family of invented runs: a till that pays refunds up to what was paid, and asks before it does."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks.replays.family import Applied, Pack, Run
from benchmarks.replays.tables import Bar, Chart, Report, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchmarks.replays.outcomes import Outcome

POLICY = """
language: 1
policy: till
session:
  customer: {jwt: sub}
reasons:
  not_yours: {category: permission}
  too_much: {category: policy}
facts:
  sale:
    key: {pattern: '[A-Z][0-9]{3}'}
    http: "${TILL_URL}/sales/{key}"
    fields: {customer: string, left: {money: EUR, unit: minor}}
tools:
  look_up:
    effect: read
    facts: {sale: args.sale}
    arguments: {sale: {pattern: '[A-Z][0-9]{3}'}}
    rules:
      - {forbid: not_yours, unless: sale.customer == session.customer}
  refund:
    effect: write
    facts: {sale: args.sale}
    arguments:
      sale: {pattern: '[A-Z][0-9]{3}'}
      amount: {money: EUR, unit: minor}
    rules:
      - {forbid: not_yours, unless: sale.customer == session.customer}
      - {forbid: too_much, when: args.amount > sale.left}
    confirm: user
"""


@dataclass(slots=True)
class Till:
    """`left` cents of each sale; Ada is known once she was looked up."""

    left: dict[str, int] = field(default_factory=lambda: {"A100": 500, "B200": 900})
    known: bool = False

    def claims(self) -> Mapping[str, str] | None:
        return {"sub": "ada"} if self.known else None

    def fact(self, kind: str, key: str) -> Mapping[str, Any] | None:
        assert kind == "sales"
        return {"customer": "ada" if key == "A100" else "bob", "left": self.left[key]} if key in self.left else None

    def apply(self, tool: str, arguments: Mapping[str, Any], recorded: str | None) -> Applied:
        self.known = True
        if tool == "refund":
            self.left[arguments["sale"]] -= arguments["amount"]
        told = str(self.left.get(arguments["sale"]))
        return Applied(told, told == "None", recorded is not None and recorded != told)


def call(id_: str, tool: str, **arguments: object) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}


def turn(*calls: Mapping[str, Any], text: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": text, "tool_calls": list(calls)}


def told(id_: str, content: str | None) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content}


def conversation(first: int = 300) -> list[dict[str, Any]]:
    """Two refunds of one sale, then one of another customer's; the second is too much where the first was large."""
    return [
        {"role": "system", "content": "You are a till."},
        {"role": "user", "content": "Refund A100, please."},
        turn(call("c0", "look_up", sale="A100")),
        told("c0", "500"),
        {"role": "assistant", "content": "Shall I?"},
        {"role": "user", "content": "Yes"},
        turn(call("c1", "refund", sale="A100", amount=first)),
        told("c1", str(500 - first)),
        turn(call("c2", "refund", sale="A100", amount=250), call("c3", "refund", sale="B200", amount=1)),
        told("c2", str(250 - first)),
        told("c3", None),
        {"role": "assistant", "content": "Done."},
    ]


class Tills:
    """`worlds` counts how many runs were begun."""

    name = "tills"

    def __init__(self, folder: Path, runs: int = 3) -> None:
        folder.mkdir(exist_ok=True)
        (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
        self._pack = Pack("till", folder, [], "TILL_URL")
        self._runs = [Run(f"till-{number}", "till", conversation(100 * number), {}) for number in range(1, runs + 1)]
        self.worlds: Counter[str] = Counter()

    def packs(self) -> Mapping[str, Pack]:
        return {"till": self._pack}

    def runs(self) -> Sequence[Run]:
        return self._runs

    def world(self, run: Run) -> Till:
        self.worlds[run.id] += 1
        return Till()

    def report(self, outcomes: Sequence[Outcome]) -> Report:
        refused = Counter(one.reason for outcome in outcomes for one in outcome.calls if one.ruling == "forbid")
        rows = [[reason, count, count / len(outcomes)] for reason, count in sorted(refused.items())]
        chart = Chart("refused", ["calls"], [Bar(str(row[0]), [float(str(row[1]))]) for row in rows])
        return Report("Tills", [Table("refused by <reason>", ["reason", "calls", "share"], rows, "a note")], [chart])
