"""What changes in what is said beside calls, and in what others execute, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policies.difference.figures import names_of_both
from policies.difference.meaning import meaning
from policies.explain_foreign import WORDS
from policies.texts import TextCalls

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from policies.asking import ReplyLanguage
    from policies.foreign import ProviderTool
    from policies.model import Policy
    from policies.patterns import Pattern
    from policies.texts import Structured

_TEXT_CALLS: Final = {TextCalls.PASS: "leaves", TextCalls.FORBID: "does not leave"}


def told_text_calls(before: TextCalls, after: TextCalls) -> str:
    return f"A text in the shape of a call {_TEXT_CALLS[after]}; before: {_TEXT_CALLS[before]}."


def told_language(before: ReplyLanguage | None, after: ReplyLanguage | None) -> str:
    return f"The customer is answered in {_language(after)} instead of {_language(before)}."


def _language(wanted: ReplyLanguage | None) -> str:
    if wanted is None:
        return "English"
    return f"the language that session.{wanted.field} names" if wanted.field else wanted.tag


def told_pass_types(before: frozenset[str], after: frozenset[str]) -> Iterator[str]:
    yield from (f"Content of the type {one} passes unjudged no more." for one in sorted(before - after))
    yield from (f"Content of the type {one} passes unjudged now." for one in sorted(after - before))


def told_not_user(before: tuple[Pattern, ...], after: tuple[Pattern, ...]) -> Iterator[str]:
    gone = {one.source for one in before} - {one.source for one in after}
    came = {one.source for one in after} - {one.source for one in before}
    yield from (f"What matches {one} in a user's text may be the user's own words again." for one in sorted(gone))
    yield from (f"What matches {one} in a user's text is not the user's own words." for one in sorted(came))


def told_structured(old: Policy, new: Policy) -> Iterator[str]:
    before, after = old.structured, new.structured
    for name in names_of_both(before, after):
        one, other = before.get(name), after.get(name)
        what = f"Answers in the form of the schema {name} are judged"
        if other is None and one is not None:
            yield f"{what} no more; they were calls of {_tool(old, one)}."
        elif one is None and other is not None:
            yield f"{what} as calls of {_tool(new, other)}."
        elif one is not None and other is not None and one != other:
            yield f"{what} as calls of {_tool(new, other)} instead of {_tool(old, one)}."


def _tool(policy: Policy, structured: Structured) -> str:
    return policy.tools[structured.tool].name


def told_claims(old: Policy, new: Policy) -> Iterator[str]:
    for key in names_of_both(old.claims, new.claims):
        before, after = _sources(old.claims.get(key, ())), _sources(new.claims.get(key, ()))
        name = (new.tool(key) or old.tools[key]).name
        if meaning(before) == meaning(after):
            continue
        if not after:
            yield f"No text claims the work of {name} any more; one that matches {before} did."
        elif not before:
            yield f"A text that matches {after} claims the work of {name}."
        else:
            yield f"A text claims the work of {name} where it matches {after}, instead of {before}."


def _sources(patterns: tuple[Pattern, ...]) -> str:
    return " or ".join(sorted(pattern.source for pattern in patterns))


def told_provider_tools(before: Mapping[str, ProviderTool], after: Mapping[str, ProviderTool]) -> Iterator[str]:
    unnamed = "as `unknown_tools` says"
    for name in names_of_both(before, after):
        one, other = before.get(name), after.get(name)
        if one is not other:
            now = unnamed if other is None else WORDS[other]
            then = unnamed if one is None else WORDS[one]
            yield f"The provider's own tool {name}: {now}; before: {then}."
