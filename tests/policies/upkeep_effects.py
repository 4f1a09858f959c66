"""For each key about the history that goes up two policies that differ in it, and in nothing else."""

from __future__ import annotations

READ = "tools: {t: {effect: read, arguments: {a: string}%s}}\n"
WRITE = "tools: {t: {arguments: {a: string}%s}}\n"
RESULT = READ % ", result: {%s}"
RULE = RESULT % "errors: [{match: %s, as: %s}]"

EFFECTS: dict[tuple[str, str], tuple[str, str]] = {
    ("TOP", "resume_after"): ("", "resume_after: 30m\n"),
    ("TOP", "broken_pairs"): ("broken_pairs: repair\n", "broken_pairs: refuse\n"),
    ("TOP", "server_held"): ("resume_after: 30m\n", "resume_after: 30m\nserver_held: notice\n"),
    ("TOP", "compact_above"): ("", "compact_above: 4000\n"),
    ("TOOL", "closes_topic"): (READ % "", READ % ", closes_topic: true"),
    ("TOOL", "reads"): (READ % "", READ % ", reads: {order: args.a}"),
    ("TOOL", "writes"): (WRITE % "", WRITE % ", writes: {order: args.a}"),
    ("RESULT", "keep"): (RESULT % "keep: [a]", RESULT % "keep: [a, b]"),
    ("RESULT", "drop"): (RESULT % "keep: [a]", RESULT % "keep: [a], drop: [a.c]"),
    ("RESULT", "max_bytes"): (RESULT % "keep: [a]", RESULT % "keep: [a], max_bytes: 1000"),
    ("RESULT", "max_items"): (RESULT % "keep: [a]", RESULT % "keep: [a], max_items: 10"),
    ("RESULT", "errors"): (RESULT % "keep: [a]", RESULT % "keep: [a], errors: standard"),
    ("RESULT", "fresh_for"): (RESULT % "keep: [a]", RESULT % "keep: [a], fresh_for: 0"),
    ("RESULT_ERROR", "match"): (RULE % ("down", "transient"), RULE % ("off", "transient")),
    ("RESULT_ERROR", "as"): (RULE % ("down", "transient"), RULE % ("down", "permanent")),
}
