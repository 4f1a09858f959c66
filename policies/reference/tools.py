"""Tools and their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policies.reference.rows import Reference

if TYPE_CHECKING:
    from collections.abc import Mapping

REFERENCE: Final[Mapping[str, Reference]] = {
    "TOOL": Reference(
        ("key", "type", "default", "what it says"),
        {
            "effect": (
                "{choices}",
                "`write`",
                "whether it changes something; a halt, and a policy that is broken for too long, stop writes",
            ),
            "on_refusal": (
                "{choices}",
                "`code` for writes, `model` for reads and for [autonomous](#identities) identities",
                (
                    "who answers in the place of a refused call. `code`: the reason's reply, and the turn ends. "
                    "`model`: the model gets the refusal as the call's result and goes on, in the same response; "
                    "what the client did not see is kept and put back on each later request. The third identical "
                    "refusal of a conversation ends the turn by code (`repeated`)"
                ),
            ),
            "batch": (
                "{choices}",
                "`independent`",
                (
                    "`all_or_nothing`: in a turn that calls this tool, one refused call refuses all "
                    "(`refused_together`); none leaves before all are judged"
                ),
            ),
            "facts": (
                "mapping from fact to key",
                "none",
                (
                    "which facts its rules read, each with its key: an argument, a session field or a field of "
                    "another fact. `args.lines[*].sku` reads one record for each, and the fact is then a list"
                ),
            ),
            "arguments": (
                "mapping",
                "none",
                (
                    "its [arguments](#arguments). With it, an argument that is not named is refused; without it, "
                    "only the JSON Schema that the request itself declares is checked"
                ),
            ),
            "rules": ("list", "none", "its [rules](#rules); without any, the tool is allowed"),
            "limits": (
                "list",
                "none",
                "its [limits](#limits): what its calls may add up to, and what may be done once",
            ),
            "result": (
                "mapping",
                "none",
                (
                    "what may be read of its [results](#what-becomes-of-held-money), and [what of them goes "
                    "up](#the-history-that-goes-up)"
                ),
            ),
            "not_executed_when": (
                "condition over `result` and `constants`",
                "none",
                "a result of which this holds frees what its call held; without it, no result does",
            ),
            "settle_within": (
                "duration, at most `30d`",
                "`15m`",
                "a call without a result for so long is `unknown`; it goes with a limit that holds something",
            ),
            "inject": (
                "argument",
                "none",
                "the argument that the key of the intent is put into; it goes with `once_per`",
            ),
            "fee_schedule": (
                "mapping",
                "none",
                (
                    "an amount of its calls must be the refund that a text of terms gives: [fee "
                    "schedules](#fee-schedules)"
                ),
            ),
            "egress": (
                "mapping, or `allow`",
                "that of `defaults`",
                (
                    "the [secrets and personal data](#what-may-not-leave) that may not leave in its arguments; "
                    "`allow`: any may"
                ),
            ),
            "escalation": (
                "mapping from name to template",
                "none",
                (
                    "what the person reads who gets the case: [summaries](#replies-and-summaries). `gather` is no "
                    "line: it lists facts of the tool that the person gets field by field"
                ),
            ),
            "confidence": (
                "number of `args`, or mapping",
                "none",
                "how sure the model says it is: [asking first](#asking-first)",
            ),
            "confirm": (
                "`user`, or a mapping",
                "none",
                "the customer must say yes to exactly this call: [asking first](#asking-first)",
            ),
            "on_approval": ("{choices}", "`next_time`", "how a call goes on that people approved: [people](#people)"),
            "escalate_with": (
                "tool, or mapping",
                "that of `defaults`",
                (
                    "the agent's own escalation tool: a call that is passed to people becomes a call of it: "
                    "[people](#people)"
                ),
            ),
            "reads": (
                "mapping from kind to argument",
                "none",
                (
                    "of a tool that reads: the things that its result tells of, such as `order: args.order_id` "
                    "([freshness](#the-history-that-goes-up))"
                ),
            ),
            "writes": ("mapping from kind to argument", "none", "of a tool that writes: the things that it changes"),
            "closes_topic": (
                "boolean",
                "`false`",
                (
                    "a call of it closes a matter, as a write that was executed does "
                    "([compaction](#the-history-that-goes-up))"
                ),
            ),
        },
    ),
    "ARGUMENT": Reference(
        ("key", "type", "goes with", "what it says"),
        {
            "type": ("{choices}", "alone, `pattern`, `one_of`", "its type"),
            "pattern": ("RE2 pattern", "", "a text that matches as a whole; no `^` or `$` is needed"),
            "one_of": ("list", "", "one of these texts; with `type`, of these numbers"),
            "money": (
                "ISO 4217 code",
                "`unit`",
                (
                    'an exact amount: a number, or a text such as `"120.00"`. No exponent, no separators, no sign '
                    "but `-`, never more digits than the currency has"
                ),
            ),
            "unit": ("{choices}", "`money`", "required: 120.00 is `major`, 12000 is `minor`"),
            "list": ("an argument", "", "a list whose elements are all of that kind"),
            "object": ("mapping of arguments", "", "an object with these fields and no others"),
            "min": (
                "a value of the type",
                "`type`, `money`",
                "the least; money must be above zero where nothing else is said",
            ),
            "max": ("a value of the type", "`type`, `money`", "the most"),
            "optional": (
                "`true`, `false`",
                "all",
                "it may be missing; default `false`. A rule that reads a missing one fires as `facts_incomplete`",
            ),
            "from": (
                "a source, or a list of them",
                "texts, numbers, money, dates",
                "[where its value comes from](#where-a-value-comes-from); of several sources one is enough",
            ),
            "allow": ("mapping", "texts", "the [list](#lists) on which its value stands"),
            "egress": (
                "`allow`",
                "all",
                "it is not looked at for [what may not leave](#what-may-not-leave), nor is what it holds",
            ),
        },
    ),
    "ALLOW": Reference(
        ("key", "type", "what passes"),
        {
            "domains": (
                "a list",
                (
                    "one bare e-mail address in one of these domains; `*.example.com` are the names below it, and "
                    "not itself"
                ),
            ),
            "urls": (
                "a list",
                (
                    "an `http`, `https`, `ws` or `wss` URL with this scheme, host and port, at this path or below. "
                    "No user information, dot segments, encoded slashes or backslashes; query and fragment are free. "
                    "`https://*.example.com/` are the hosts below"
                ),
            ),
            "paths": (
                "a list",
                "this path or one below it; none with `..` or a backslash. Where links lead is not known",
            ),
            "accounts": (
                "a list",
                "this account: an IBAN with its checksum, or digits; spaces and hyphens do not count",
            ),
            "values": ("a list", "this very text"),
            "forbid": ("reason", "what the refusal says; default `not_allowed`"),
        },
    ),
    "LIST": Reference(
        ("key", "type", "what it says"),
        {
            "file": ("name", "a file in the folder of the policy; not a path, and no `.yaml`"),
        },
    ),
    "EGRESS": Reference(
        ("key", "type", "default", "what it says"),
        {
            "list": ("{choices}", "required", "the version of the list"),
            "forbid": ("reason", "`sensitive_data`", "what the refusal says"),
        },
    ),
}
