"""For each key whose effect only an exchange shows two policies that differ in it alone, and the exchange."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proxy.demo.turns import Block, Call, Dialect, Text

if TYPE_CHECKING:
    from proxy.demo.turns import Part

HEAD = "language: 1\npolicy: p\n"
REASONS = "reasons: {r: {category: policy, reply: 'Not that.'}}\n"
WHO = "identities: {i: {token: sk-test@}}\n"


@dataclass(frozen=True, slots=True)
class Exchange:
    """`parts` is the model's turn. `more` are members of the request. `forged`: it brings a result of no known call."""

    before: str
    after: str
    parts: tuple[Part, ...] = (Call("t", "{}"),)
    more: dict[str, Any] = field(default_factory=dict)
    dialect: Dialect = Dialect.ANTHROPIC
    forged: bool = False


def pair(policy: str, before: str, after: str, *parts: Part, **more: Any) -> Exchange:
    """A policy with a gap that is filled in two ways."""
    texts = (HEAD + policy.replace("@", each) for each in (before, after))
    return Exchange(*texts, parts or (Call("t", "{}"),), **more)


REFUSES = REASONS + "tools: {t: {rules: [{forbid: r}]@}, u: {}}\n"
BOTH = (Call("u", "{}"), Call("t", "{}"))
FACTS = REASONS + "facts: {f: {key: {pattern: '[a-z]'}, @, fields: {x: string}}}\n"
FACTS += "tools: {t: {facts: {f: args.a}, rules: [{forbid: r, when: f.x == 'no'}]}}\n"
ASKS = Call("t", '{"a": "k"}')
URL = "http: '${FACTS_URL}/a/{key}'"
SLOW = URL.replace("/a/", "/slow/")
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
FORMAT = {"response_format": {"type": "json_schema", "json_schema": {"name": "intent", "schema": SCHEMA}}}
ANSWER = Text('{"n": 1}')
JUDGES = REASONS + "tools: {t: {rules: [{forbid: r}]}, u: {}}\n"
DONE = Text("I have paid it.")
NOTE = {"type": "server_note", "n": 1}
SEARCH = {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}

EXCHANGES: dict[tuple[str, str], Exchange] = {
    ("TOP", "unknown_results"): pair("@\n", "", "unknown_results: notice", Text("Ok."), forged=True),
    ("TOP", "pass_types"): pair("@\n", "", "pass_types: [server_note]", Block(NOTE, NOTE)),
    ("TOP", "provider_tools"): pair("@\n", "", "provider_tools: {web_search: allow}", Text("Ok."), more=SEARCH),
    ("TOP", "structured"): pair(
        JUDGES + "@\n", "", "structured: {intent: {as: t}}", ANSWER, more=FORMAT, dialect=Dialect.CHAT
    ),
    ("STRUCTURED", "as"): pair(
        JUDGES + "structured: {intent: {as: @}}\n", "t", "u", ANSWER, more=FORMAT, dialect=Dialect.CHAT
    ),
    ("TOP", "text_calls"): pair(JUDGES + "@\n", "", "text_calls: forbid", Text('<tool_call>{"name": "t"}</tool_call>')),
    ("TOP", "claims"): pair(JUDGES + "@\n", "", "claims: {t: ['(?i)i have paid']}", DONE),
    ("IDENTITY", "token"): Exchange(
        HEAD + WHO.replace("@", "") + JUDGES, HEAD + WHO.replace("@", "").replace("sk-test", "sk-other") + JUDGES
    ),
    ("IDENTITY", "hold_text"): pair(WHO + JUDGES + "claims: {t: ['(?i)i have paid']}\n", "", ", hold_text: true", DONE),
    ("IDENTITY", "autonomous"): pair(WHO + JUDGES, "", ", autonomous: true"),
    ("TOOL", "on_refusal"): pair(REFUSES, "", ", on_refusal: model"),
    ("TOOL", "batch"): pair(REFUSES, "", ", batch: all_or_nothing", *BOTH),
    ("DEFAULTS", "on_refusal"): pair(JUDGES + "@\n", "", "defaults: {on_refusal: model}"),
    ("DEFAULTS", "batch"): pair(JUDGES + "@\n", "", "defaults: {batch: all_or_nothing}", *BOTH),
    ("FACT", "http"): pair(FACTS, URL, URL.replace("/a/", "/b/"), ASKS),
    ("FACT", "headers"): pair(FACTS, URL, URL + ", headers: {x-say: 'no'}", ASKS),
    ("FACT", "timeout"): pair(FACTS, SLOW, SLOW + ", timeout: 1s", ASKS),
    ("FACT", "file"): pair(FACTS, "file: f.json", "file: g.json", ASKS),
}
