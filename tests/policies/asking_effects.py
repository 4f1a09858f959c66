"""For each key of cases, confidence and confirmation two policies that differ in it, and in nothing else."""

from __future__ import annotations

HEAD = """\
session: {case: {jwt: case}, segment: {jwt: segment}, id: {jwt: sub}}
reasons: {r: {category: policy}}
facts: {f: {key: {pattern: '[a-z]+'}, file: f.json, fields: {kind: string}}}
tools:
  classify: {effect: read, arguments: {case: {one_of: [a, b]}, other: {one_of: [a, b]}}}
  decide: {effect: read, arguments: {case: {one_of: [a, b]}}}
  t: {arguments: {n: {type: number}, m: {type: number}}}
"""
CELL = "{value: args.n, max: 5, rules: [{forbid: r}]}"


def cases(case: str = "session.case", cells: str = f"{{a: {{t: {CELL}}}}}", more: str = "") -> str:
    return f"{HEAD}cases: {{case: {case}, cells: {cells}{more}}}\n"


def action(keys: str) -> str:
    return cases(cells=f"{{a: {{t: {{{keys}}}}}}}")


def asking(keys: str) -> str:
    return f"{HEAD}  u: {{arguments: {{c: {{type: number}}, d: {{type: number}}}}{keys}}}\n"


BY_TOOL = "{tool: classify, argument: case}"
IN_CELLS = "{a/x: {t: {}}}"

EFFECTS: dict[tuple[str, str], tuple[str, str]] = {
    ("TOP", "cases"): (HEAD, cases()),
    ("TOP", "reply_language"): (HEAD, f"{HEAD}reply_language: de\n"),
    ("CASES", "case"): (cases("session.case"), cases("session.segment")),
    ("CASES", "segment"): (
        cases(cells=IN_CELLS, more=", segment: session.segment"),
        cases(cells=IN_CELLS, more=", segment: session.case"),
    ),
    ("CASES", "facts"): (cases(), cases(more=", facts: {f: session.id}")),
    ("CASES", "ceiling"): (cases(), cases(more=", ceiling: {t: 5}")),
    ("CASES", "owner_keeps"): (cases(), cases(more=", owner_keeps: [b]")),
    ("CASES", "cells"): (cases(), cases(cells="{a: {}}")),
    ("CASE_SOURCE", "tool"): (cases(BY_TOOL), cases(BY_TOOL.replace("tool: classify", "tool: decide"))),
    ("CASE_SOURCE", "argument"): (cases(BY_TOOL), cases(BY_TOOL.replace("argument: case", "argument: other"))),
    ("ACTION", "value"): (action("value: args.n"), action("value: args.m")),
    ("ACTION", "max"): (action("value: args.n"), action("value: args.n, max: 5")),
    ("ACTION", "rules"): (action("value: args.n"), action("value: args.n, rules: [{forbid: r}]")),
    ("TOOL", "confidence"): (asking(""), asking(", confidence: args.c")),
    ("TOOL", "confirm"): (asking(""), asking(", confirm: user")),
    ("CONFIRM", "when"): (asking(", confirm: {when: args.c > 1}"), asking(", confirm: {when: args.c > 2}")),
    ("CONFIDENCE", "value"): (asking(", confidence: {value: args.c}"), asking(", confidence: {value: args.d}")),
    ("CONFIDENCE", "clarify_below"): (
        asking(", confidence: {value: args.c}"),
        asking(", confidence: {value: args.c, clarify_below: 0.9}"),
    ),
    ("CONFIDENCE", "escalate_below"): (
        asking(", confidence: {value: args.c}"),
        asking(", confidence: {value: args.c, escalate_below: 0.5}"),
    ),
}
