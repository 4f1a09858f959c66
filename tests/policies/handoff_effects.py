"""For each key about customers who ask for a person two policies that differ in it, and in nothing else."""

from __future__ import annotations

FACTS = "session: {s: {jwt: sub}}\nfacts: {f: {key: {pattern: a}, file: f.json, fields: {x: string}}}\n"
HANDOFF = FACTS + "handoff: {%s}\n"

EFFECTS: dict[tuple[str, str], tuple[str, str]] = {
    ("TOP", "handoff"): (FACTS, HANDOFF % ""),
    ("HANDOFF", "languages"): (HANDOFF % "", HANDOFF % "languages: [de]"),
    ("HANDOFF", "phrases"): (HANDOFF % "", HANDOFF % "phrases: {en: [ops]}"),
    ("HANDOFF", "facts"): (HANDOFF % "", HANDOFF % "facts: {f: session.s}"),
    ("HANDOFF", "escalation"): (
        HANDOFF % "facts: {f: session.s}",
        HANDOFF % "facts: {f: session.s}, escalation: {gather: [f]}",
    ),
    ("PHRASES", "only"): (HANDOFF % "phrases: {en: [ops]}", HANDOFF % "phrases: {en: {only: [ops]}}"),
}
