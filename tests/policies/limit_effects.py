"""For each key of limits and settlement two policies that differ in it, and in nothing else that matters."""

from __future__ import annotations

HEAD = """\
time_zone: Europe/Berlin
reasons: {r: {category: policy}, s: {category: policy}}
facts:
  f:
    key: {pattern: '[a-z]+'}
    file: f.json
    fields: {paid: {money: USD, unit: minor}, gone: {money: USD, unit: minor}}
"""
TOOL = (
    HEAD + "tools: {t: {facts: {f: args.a}, arguments: {a: {pattern: '[a-z]+'}, b: {pattern: '[a-z]+'},"
    " n: {money: USD, unit: major}}, limits: [%s]%s}}\n"
)


def tool(limit: str, more: str = "") -> str:
    return TOOL % (f"{{{limit}}}", more)


SUM = "forbid: r, sum: args.n, max: 100.00 USD"
ONCE = "forbid: r, once_per: args.a"
STATUS = ", result: {fields: {status: string}}, not_executed_when: result.status == 'no'"

EFFECTS: dict[tuple[str, str], tuple[str, str]] = {
    ("TOOL", "limits"): (TOOL % ("", ""), tool(SUM)),
    ("TOOL", "result"): (
        tool(
            SUM, ", result: {fields: {x: string, status: {at: x, type: string}}}, not_executed_when: result.x == 'no'"
        ),
        tool(SUM, ", result: {fields: {x: {at: status, type: string}}}, not_executed_when: result.x == 'no'"),
    ),
    ("TOOL", "not_executed_when"): (tool(SUM, STATUS.partition(", not_")[0]), tool(SUM, STATUS)),
    ("TOOL", "settle_within"): (tool(SUM), tool(SUM, ", settle_within: 1h")),
    ("TOOL", "inject"): (tool(ONCE), tool(ONCE, ", inject: key")),
    ("DEFAULTS", "limits"): (
        TOOL % ("", ""),
        TOOL % ("", "") + "defaults: {limits: [{forbid: r, count: true, max: 0}]}\n",
    ),
    ("DEFAULTS", "settle_within"): (tool(SUM), tool(SUM) + "defaults: {settle_within: 1h}\n"),
    ("RESULT", "fields"): (
        tool(SUM, STATUS),
        tool(SUM, STATUS.replace("status: string", "status: {at: x, type: string}")),
    ),
    ("RESULT", "format"): (
        tool(SUM, STATUS.replace("}}", "}, format: json}")),
        tool(SUM, STATUS.replace("}}", "}, format: yaml}")),
    ),
    ("LIMIT", "forbid"): (
        tool(SUM.replace("100", "1").replace("forbid: r", "escalate: r")),
        tool(SUM.replace("100", "1")),
    ),
    ("LIMIT", "escalate"): (
        tool(SUM.replace("100", "1")),
        tool(SUM.replace("100", "1").replace("forbid: r", "escalate: r")),
    ),
    ("LIMIT", "sum"): (tool("forbid: r, count: true, max: 1"), tool("forbid: r, sum: args.n, max: 1.00 USD")),
    ("LIMIT", "count"): (tool("forbid: r, sum: args.n, max: 1.00 USD"), tool("forbid: r, count: true, max: 1")),
    ("LIMIT", "value"): (tool(SUM), tool(SUM.replace("sum", "value"))),
    ("LIMIT", "once_per"): (tool("forbid: r, once_per: args.b"), tool(ONCE)),
    ("LIMIT", "per"): (tool(SUM), tool(f"{SUM}, per: args.a")),
    ("LIMIT", "within"): (tool(SUM), tool(f"{SUM}, within: 1h")),
    ("LIMIT", "each"): (tool(SUM), tool(f"{SUM}, each: month")),
    ("LIMIT", "max"): (tool(SUM), tool(SUM.replace("100.00 USD", "f.paid"))),
    ("LIMIT", "fact_counts"): (tool(SUM), tool(f"{SUM}, fact_counts: f.gone")),
}
