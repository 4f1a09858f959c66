"""For each key about the text of a turn two policies that differ in it, and in nothing else."""

from __future__ import annotations

HEAD = "tools: {t: {}, u: {}}\n"
WHO = "identities: {i: {token: '${T}'%s}}\n"

EFFECTS: dict[tuple[str, str], tuple[str, str]] = {
    ("TOP", "structured"): (HEAD, HEAD + "structured: {intent: {as: t}}\n"),
    ("TOP", "text_calls"): (HEAD, HEAD + "text_calls: forbid\n"),
    ("TOP", "claims"): (HEAD, HEAD + "claims: {t: ['(?i)done']}\n"),
    ("IDENTITY", "hold_text"): (WHO % "", WHO % ", hold_text: true"),
    ("STRUCTURED", "as"): (HEAD + "structured: {intent: {as: t}}\n", HEAD + "structured: {intent: {as: u}}\n"),
}
