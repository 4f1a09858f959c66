"""The top of a policy, and what holds for every tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policies.reference.rows import Reference

if TYPE_CHECKING:
    from collections.abc import Mapping

REFERENCE: Final[Mapping[str, Reference]] = {
    "TOP": Reference(
        ("key", "type", "default", "what it says"),
        {
            "language": ("`1`", "required", "the version of this language"),
            "policy": ("name", "required", "the policy's name, in receipts"),
            "owner": ("text", "none", "who signs changes of it"),
            "mode": ("{choices}", "`enforce`", "`halt`: every write is refused, whatever its rules say"),
            "time_zone": (
                "IANA name",
                "none",
                "the calendar on which days are counted; required where a function counts days",
            ),
            "unknown_tools": (
                "{choices}",
                "`forbid`",
                (
                    "what a call of a tool is answered that the policy does not name. It decides, too, on tools of "
                    "the provider that `provider_tools` does not name: `allow` passes them, `forbid` and `escalate` "
                    "refuse the request"
                ),
            ),
            "unknown_results": (
                "{choices}",
                "`pass`",
                (
                    "what happens to the result of a call that this gate did not release. It grounds and settles "
                    "nothing in any case; `notice` tells the model that nobody vouches for it, in every request that "
                    "holds it; `refuse` answers the request with 400"
                ),
            ),
            "pass_types": (
                "list of names",
                "none",
                (
                    "types of content on the wire that this version does not know, and that pass unjudged; any other "
                    "such type is held and judged as a call of an unknown tool"
                ),
            ),
            "policy_stale_seconds_max": (
                "number, to 86400",
                "`60`",
                (
                    "how long the last good revision decides while an edit is broken; then writes are refused "
                    "(`policy_unavailable`)"
                ),
            ),
            "defaults": ("mapping", "none", "what holds for every tool, unknown ones included: [defaults](#defaults)"),
            "identities": ("mapping", "none", "which agents there are: [identities](#identities)"),
            "session": ("mapping", "none", "what the application signs about the customer: [session](#session)"),
            "reasons": ("mapping", "none", "the reasons that rules may give: [reasons](#reasons)"),
            "constants": ("mapping", "none", "the figures: [constants](#constants)"),
            "facts": ("mapping", "none", "records that are read at the decision: [facts](#facts)"),
            "not_user": (
                "list of RE2 patterns",
                "none",
                (
                    "what of a user's text is not the user's own words, beside what is [built "
                    "in](#where-a-value-comes-from)"
                ),
            ),
            "tools": ("mapping", "none", "the tools and their rules: [tools](#tools)"),
            "cases": (
                "mapping",
                "none",
                "what may be done in which case for which customers, in place of rules: [cases](#cases)",
            ),
            "reply_language": (
                "a field of `session`, or a language tag",
                "`en`",
                "the language of [replies](#replies-and-summaries) and of the gate's own questions",
            ),
            "structured": (
                "mapping",
                "none",
                "answers in the form of a JSON schema that are judged as calls: [texts](#texts)",
            ),
            "text_calls": (
                "{choices}",
                "`pass`",
                (
                    "what happens to a text in the shape of a call. It is receipted in any case; `forbid` holds the "
                    "text, and a reply takes its place (`text_call`)"
                ),
            ),
            "claims": (
                "mapping from tool to patterns",
                "none",
                "what a text says that claims the tool's work is done: [texts](#texts)",
            ),
            "provider_tools": (
                "mapping from name to `allow`, `strip`, `refuse`",
                "none",
                (
                    "what happens to a request that hands the model a tool which somebody else than the agent "
                    "executes: [tools of the provider](#tools-of-the-provider)"
                ),
            ),
            "approvals": (
                "mapping",
                "see [people](#people)",
                "who answers what is passed to people, how many of them, and how long",
            ),
            "operators": (
                "mapping from name to operator",
                "none",
                "who proposes calls through the admin listener, and which tools each may use",
            ),
            "resume_after": (
                "duration, at most `30d`",
                "never",
                (
                    "after so long a pause, what tools read before it is replaced by notices: [the history that goes "
                    "up](#the-history-that-goes-up)"
                ),
            ),
            "broken_pairs": (
                "{choices}",
                "they go up as they came",
                (
                    "what becomes of a request in which a call has no result, or a result no call: [the history that "
                    "goes up](#the-history-that-goes-up)"
                ),
            ),
            "handoff": (
                "mapping, `{}` for all defaults",
                "nobody is asked for",
                (
                    "a customer who asks for a person is answered at once, with a case; the model is not asked: "
                    "[customers who ask for a person](#customers-who-ask-for-a-person)"
                ),
            ),
            "server_held": (
                "{choices}",
                "`refuse`",
                (
                    "what becomes of a request whose history the provider keeps, where what is old in it is to be "
                    "edited: [the history that goes up](#the-history-that-goes-up)"
                ),
            ),
            "compact_above": (
                "100 to 10000000",
                "never",
                (
                    "past so many tokens of a request, estimated, matters that are closed become summaries: "
                    "[the history that goes up](#the-history-that-goes-up)"
                ),
            ),
        },
    ),
    "DEFAULTS": Reference(
        ("key", "type", "default", "what it says"),
        {
            "effect": ("{choices}", "`write`", "of a tool that does not say"),
            "on_refusal": ("{choices}", "`code` for writes, `model` for reads", "of a tool that does not say"),
            "batch": ("{choices}", "`independent`", "of a tool that does not say"),
            "rules": ("list", "none", "judged for every tool"),
            "limits": (
                "list",
                "none",
                (
                    "counted for each tool by itself, and for all that the policy does not name together; `once_per` "
                    "stands in a tool"
                ),
            ),
            "settle_within": ("duration", "`15m`", "of a tool that does not say"),
            "egress": ("mapping, or `allow`", "none", "of a tool that does not say"),
            "escalation": ("mapping", "none", "the summary of a tool that has none"),
            "escalate_with": (
                "tool, or mapping",
                "none",
                "of a tool that does not say, and is no escalation tool itself",
            ),
        },
    ),
}
