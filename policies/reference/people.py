"""Who may call and decide, what is signed, and what is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policies.reference.rows import Reference

if TYPE_CHECKING:
    from collections.abc import Mapping

REFERENCE: Final[Mapping[str, Reference]] = {
    "IDENTITY": Reference(
        ("key", "type", "default", "what it says"),
        {
            "token": ("text with `${NAME}` or `${file:/path}`", "required", "what the agent shows as its API key"),
            "tools": ("list of tools", "every tool", "the tools it may use; another is `not_permitted`"),
            "autonomous": (
                "`true`, `false`",
                "`false`",
                (
                    "no person reads along: refusals go to the model, also those of writes, where the tool does not "
                    "say otherwise"
                ),
            ),
            "hold_text": (
                "`true`, `false`",
                "`false`",
                (
                    "a text that claims what no released call did does not leave: a reply takes its place "
                    "(`false_claim`): [texts](#texts)"
                ),
            ),
        },
    ),
    "SESSION_FIELD": Reference(
        ("key", "type", "default", "what it says"),
        {
            "jwt": ("path", "one of the two", "the claim of a JSON Web Token: `sub`, or `user.id`"),
            "hmac": (
                "path",
                "one of the two",
                "the key of a JSON object that is signed with HMAC; one policy uses one form",
            ),
            "type": ("{choices}", "`string`", "the claim's type"),
        },
    ),
    "REASON": Reference(
        ("key", "type", "default", "what it says"),
        {
            "category": (
                "{choices}",
                "required",
                (
                    "the kind of refusal. It decides whether a retry can help (`validation` and `transient`: yes), "
                    "and what is said without a `reply`"
                ),
            ),
            "reply": (
                "text, or a text a language",
                "the category's",
                (
                    "what the customer reads: [replies](#replies-and-summaries). Of several languages it is that of "
                    "`reply_language`, else `en`, else the first"
                ),
            ),
        },
    ),
    "SYSTEM_REASON": Reference(
        ("key of a system reason", "type", "default", "what it says"),
        {
            "reply": (
                "text, or a text a language",
                "the category's",
                "what the customer reads where this reason of the gate is given",
            ),
        },
    ),
    "APPROVALS": Reference(
        ("key of `approvals`", "type", "default", "what it says"),
        {
            "approvers": (
                "list of names of persons",
                "every reviewer",
                "who may approve and reject; the names are those of `admin.persons`",
            ),
            "quorum": ("1 to 16", "1", "how many different persons must approve; one refusal is enough"),
            "answer_within": (
                "duration, at most `90d`",
                "`3d`",
                "a case that nobody answered for so long is closed, which is no yes",
            ),
            "valid_for": ("duration, at most `90d`", "`1d`", "how long an approval may be used, and a refusal stands"),
            "open_max": (
                "1 to 100000",
                "none",
                (
                    "with so many cases of this policy open, a call is refused (`queue_full`) instead of passed on; "
                    "a call whose case is open joins it"
                ),
            ),
        },
    ),
    "OPERATOR": Reference(
        ("key of an operator", "type", "default", "what it says"),
        {
            "token": (
                "text with `${NAME}` or `${file:/path}`",
                "required",
                "what it shows; not an agent's, and not another operator's",
            ),
            "kind": (
                "{choices}",
                "`operator`",
                (
                    "whose word its calls are. A person's own call is the yes that `confirm` asks for; a back end's "
                    "is not"
                ),
            ),
            "tools": ("list of tools", "every tool", "which tools it may use"),
        },
    ),
    "ESCALATE_WITH": Reference(
        ("key of `escalate_with`", "type", "default", "what it says"),
        {
            "tool": (
                "tool",
                "required",
                (
                    "the escalation tool, as the policy spells it. It declares its `arguments`, and has no "
                    "`escalate_with` of its own"
                ),
            ),
            "arguments": (
                "mapping from argument to field",
                "those of the same name",
                (
                    "what of the case each argument takes: `tool`, `reason`, `who` (the signed session), "
                    "`root_cause`, `amount`, `evidence` (the facts of `gather`), `recommended_action`, `escalation` "
                    "and `receipt` (ids). Each is a text; `amount` also goes into money"
                ),
            ),
        },
    ),
    "STRUCTURED": Reference(
        ("key of `structured.SCHEMA`", "type", "default", "what it says"),
        {
            "as": (
                "tool",
                "required",
                (
                    "an answer that a request asks for under this name of a schema is judged as a call of this tool: "
                    "allowed it leaves as it was written, refused the reply stands in its place. A tool into which "
                    "the gate puts an argument cannot stand here"
                ),
            ),
        },
    ),
}
