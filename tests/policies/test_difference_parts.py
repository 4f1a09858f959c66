"""The parts of a difference: what is told of records, people, cells and texts, and what is never told."""

from __future__ import annotations

from policies import load_policy_text
from policies.difference import difference
from policies.difference.answers import told_batch, told_on_refusal
from policies.difference.cases import told_cases
from policies.difference.facts import told_facts, told_fields, told_session
from policies.difference.people import may_use, told_people
from policies.difference.readings import told_readings
from policies.difference.spoken import told_claims, told_not_user, told_pass_types
from policies.difference.tools import tool_sentences
from policies.difference.words import read_as

HEAD = "language: 1\npolicy: p\n"
FACT = (
    "facts: {f: {key: {pattern: a}, http: 'https://x/{key}%s', headers: {authorization: '%s'}, fields: {x: string}}}\n"
)
CASES = """\
session: {case: {jwt: case}, who: {jwt: sub}}
tools: {t: {arguments: {n: {type: number}}}, u: {arguments: {n: {type: number}}}}
cases: {case: session.case, owner_keeps: [%s], cells: {%s}}
"""


def test_a_secret_is_never_told() -> None:
    """Neither a query nor the value of a header, whichever changed: an author may have written a secret there."""
    one = load_policy_text(HEAD + FACT % ("?key=sk-one", "Bearer sk-two"))
    for query, header in (("?key=sk-three", "Bearer sk-two"), ("?key=sk-one", "Bearer sk-four")):
        other = load_policy_text(HEAD + FACT % (query, header))
        found = list(told_facts(one.facts, other.facts))

        assert len(found) == 1
        assert "sk-" not in found[0]


def test_a_record_that_is_new_is_told_whole() -> None:
    """Where it is read, what happens without it, and each of its fields."""
    (fact,) = load_policy_text(HEAD + FACT % ("", "x")).facts.values()

    where = "read from https://x/{key}; where there is no such record: passed to a person (facts_incomplete)"
    assert list(told_facts({}, {"f": fact})) == [
        f"There is a fact f: {where}.",
        "The field x of the fact f is read, too: string at x.",
    ]
    was = read_as(fact.fields["x"])
    assert list(told_fields(fact.fields, {}, "f")) == [f"The field x of f is read no more; it was {was}."]


def test_what_is_signed_no_more_is_told() -> None:
    """A field of the session that goes away takes its claim along."""
    old = load_policy_text(HEAD + "session: {who: {jwt: user.id}}\n")

    assert list(told_session(old.session, {})) == [
        "session.who is signed no more; it was the claim user.id (jwt), string."
    ]


def test_cells_that_come_and_go_are_told() -> None:
    """With what may be done in them, and where a person decides again."""
    old = load_policy_text(HEAD + CASES % ("x", "a: {t: {}}, b: {}"))
    new = load_policy_text(HEAD + CASES % ("", "a: {t: {}}, c: {t: {}, u: {}}"))

    assert list(told_cases(old, new)) == [
        "A person decides not always any more in the case x.",
        "There is no cell b any more: a person decides.",
        "There is a cell c: t, u.",
    ]


def test_who_may_propose_is_told_by_the_names_of_the_policy() -> None:
    """Tools as they are spelled, not as they are compared."""
    policy = "tools: {Pay_Out: {}, t: {}}\noperators: {desk: {token: '${T}'%s}}\n"
    old, new = (load_policy_text(HEAD + policy % more) for more in ("", ", tools: [Pay_Out]"))

    assert may_use(new, new.people.operators["desk"].tools) == "Pay_Out"
    assert list(told_people(old, new)) == ["desk may propose Pay_Out instead of every tool."]


def test_what_is_said_beside_calls_is_told_one_by_one() -> None:
    """A type, a pattern and a claim that went away, and those that came."""
    old = load_policy_text(HEAD + "pass_types: [a, b]\nnot_user: [x, y]\ntools: {t: {}}\nclaims: {t: [done]}\n")
    new = load_policy_text(HEAD + "pass_types: [b, c]\nnot_user: [y, z]\ntools: {t: {}}\nclaims: {t: [paid]}\n")

    assert list(told_pass_types(old.pass_types, new.pass_types)) == [
        "Content of the type a passes unjudged no more.",
        "Content of the type c passes unjudged now.",
    ]
    assert list(told_not_user(old.not_user, new.not_user)) == [
        "What matches x in a user's text may be the user's own words again.",
        "What matches z in a user's text is not the user's own words.",
    ]
    assert list(told_claims(old, new)) == ["A text claims the work of t where it matches paid, instead of done."]


def test_each_language_of_a_reply_is_told_for_itself() -> None:
    """One that is left alone is not repeated; one that goes away falls back."""
    reasons = "reasons: {r: {category: policy, reply: {en: 'No.', %s}}}\n"
    old, new = (load_policy_text(HEAD + reasons % more) for more in ("de: Nein.", "fr: Non."))

    assert difference(old, new) == [
        'The customer reads for r (de) the words of another language, or of its category instead of "Nein.".',
        'The customer reads for r (fr) "Non." instead of the words of another language, or of its category.',
    ]


def test_a_tool_is_told_under_the_name_that_it_is_given() -> None:
    """Each part of it: who answers, what is read of results, and what has no part in common with its own name."""
    tool = "tools: {t: {result: {fields: {paid: number}}%s}}\n"
    old, new = (load_policy_text(HEAD + tool % more) for more in ("", ", on_refusal: model, batch: all_or_nothing"))
    before, after = old.tools["t"], new.tools["t"]

    assert list(tool_sentences(old, new, before, after, "it")) == [
        told_on_refusal("it", before, after),
        told_batch("it", after),
    ]
    assert list(told_readings(old, new, before, after, "it")["result"]()) == []
