"""The difference of two policies in sentences: what finance reads, and that nothing passes without a word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from policies import load_policy, load_policy_text
from policies.difference import difference
from policies.difference.figures import told_apart
from policies.difference.meaning import meaning
from policies.explain import explain
from policies.values import parse_money
from tests.policies.difference_rows import SAID
from tests.policies.test_loader_mutations import EFFECTS, HEAD

PACK = Path(__file__).parents[2] / "policies/packs/refund-desk/policy.yaml"
TEXT = PACK.read_text(encoding="utf-8")
FIGURES = re.compile(r"[a-z]+\.[a-z]+|[0-9]+(?:\.[0-9]+)?[a-z]?|[A-Z]{3}")
WHAT_TO_DO = (
    "give the key a sentence with its old and its new value in policies/difference, and a row in"
    " tests/policies/difference_rows.py"
)
CEILING = (
    "reasons: {over: {category: escalated}}\n"
    "tools: {process_refund: {arguments: {amount: {money: USD, unit: major}},"
    " limits: [{escalate: over, value: args.amount, max: %s USD}]}}\n"
)


def told(before: str, after: str) -> list[str]:
    return difference(load_policy_text(before), load_policy_text(after))


def changed(old: str, new: str) -> list[str]:
    """The sentences about the refund desk with one text in the place of another."""
    assert old in TEXT
    return told(TEXT, TEXT.replace(old, new, 1))


def test_a_ceiling_that_rises() -> None:
    """The sentence of the design, to the letter."""
    assert told(HEAD + CEILING % "500.00", HEAD + CEILING % "800.00") == [
        "The ceiling of process_refund rises from 500.00 USD to 800.00 USD."
    ]


FIGURE = "The figure by which process_refund is passed to a person (over_limit)"
DAILY = (
    "passed to a person (over_day) where the sum of args.amount of all calls for one session.customer_id in one %s"
    " (America/New_York) would be more than daily (1000.00 USD)"
)
DAY = "the sum of args.amount of all calls for one session.customer_id in one day (America/New_York)"
FINAL = "%s (non_refundable) unless order.refund_eligible is true."
SENTENCES = [
    (
        "daily: 1000.00 USD",
        "daily: 1200.00 USD",
        [
            "The constant daily rises from 1000.00 USD to 1200.00 USD.",
            f"The limit of process_refund (over_day: {DAY}) rises from 1000.00 USD to 1200.00 USD.",
        ],
    ),
    (
        "self_service: 500.00 USD",
        "self_service: 400.00 USD",
        [
            "The constant self_service falls from 500.00 USD to 400.00 USD.",
            f"{FIGURE} falls from 500.00 USD to 400.00 USD.",
        ],
    ),
    (
        "result: {fields: {status: string}}",
        "result: {format: yaml, fields: {status: string}}",
        ["The results of process_refund are read as JSON, or as the YAML that serializers write instead of JSON only."],
    ),
    (
        "each: day, max",
        "each: month, max",
        [f"A limit of process_refund changes. Before: {DAILY % 'day'}. Now: {DAILY % 'month'}."],
    ),
    (
        "      - forbid: non_refundable\n        unless: order.refund_eligible\n",
        "",
        ["A rule less for process_refund: Refused (non_refundable) unless order.refund_eligible is true."],
    ),
    (
        "forbid: non_refundable",
        "escalate: non_refundable",
        [f"A rule of process_refund changes. Before: {FINAL % 'Refused'} Now: {FINAL % 'Passed to a person'}"],
    ),
    (
        "settle_within: 15m",
        "settle_within: 20m",
        ["The time within which process_refund must have a result rises from 15m to 20m."],
    ),
    ("mode: enforce", "mode: halt", ["Every write is refused: the policy is halted."]),
    ("unknown_tools: forbid", "unknown_tools: allow", ["`unknown_tools` changes from forbid to allow."]),
    ("effect: read", "effect: write", ["lookup_order changes something; it was said that it only reads."]),
    ("category: permission", "category: policy", ["The reason not_yours is policy instead of permission."]),
]


@pytest.mark.parametrize(("old", "new", "sentences"), SENTENCES, ids=[row[1] or row[0] for row in SENTENCES])
def test_what_finance_reads(old: str, new: str, sentences: list[str]) -> None:
    """Each change is told by what it does, with both figures."""
    assert changed(old, new) == sentences


def test_a_dropped_limit_is_told() -> None:
    """Whatever a limit held, its loss is a sentence."""
    line = next(line for line in TEXT.split("\n") if "once_per" in line)
    words = "refused (paid_twice) where a call with the same args.order_id and args.amount was executed in the last 1d"
    assert changed(line + "\n", "") == [f"process_refund may be repeated: no more {words}."]


def test_the_same_policy_has_no_difference() -> None:
    """Comments, lines and the order of keys and rules are none."""
    assert changed("# Never more", "# Not more") == []
    lines = re.sub(r"(?m)^ *#.*\n", "", TEXT)
    first = "      - forbid: not_yours\n        unless: order.customer_id == session.customer_id\n"
    at = lines.rindex(first)
    shuffled = lines[:at] + lines[at:].replace(first, "", 1).replace("    limits:", f"{first}    limits:", 1)
    assert told(TEXT, shuffled) == []


@pytest.mark.parametrize("key", EFFECTS, ids=".".join)
def test_a_key_that_changes_is_told_with_what_it_was_and_is(key: tuple[str, str]) -> None:
    """Each key of the language has a sentence of its own, in both directions, and never only that something changes."""
    assert key in SAID, f"{'.'.join(key)}: {WHAT_TO_DO}"
    then, now = SAID[key]
    before, after = (load_policy_text(t if t.startswith("language") else HEAD + t) for t in EFFECTS[key])
    forward, back = " ".join(difference(before, after)), " ".join(difference(after, before))

    assert now in forward
    assert then.lower() in forward.lower()
    assert not re.search(r"`\w+`[^.]* changes\.|changes for", forward + back)
    if then:  # what is told of the way there is told of the way back
        assert set(FIGURES.findall(forward)) == set(FIGURES.findall(back))


def test_no_row_is_left_over() -> None:
    """The words are those of keys that there are."""
    assert SAID.keys() == EFFECTS.keys()


@pytest.mark.parametrize("key", EFFECTS, ids=".".join)
def test_no_key_changes_without_a_word(key: tuple[str, str]) -> None:
    """Each key of the language that alone changes a policy is told, in both directions."""
    before, after = (load_policy_text(t if t.startswith("language") else HEAD + t) for t in EFFECTS[key])
    if meaning(before) == meaning(after):
        pytest.skip("another revision of the same meaning")
    for sentences in (difference(before, after), difference(after, before)):
        assert sentences
        assert all(sentence and not sentence.startswith(" ") for sentence in sentences)


def test_the_sentences_of_one_tool_are_those_of_the_explanation() -> None:
    """A tool that is new is told as `explain` tells it."""
    whole = load_policy(PACK)
    without = load_policy_text(HEAD)
    for tool in whole.tools.values():
        (text,) = (one for one in difference(without, whole) if one.startswith(f"{tool.name} is a tool"))
        assert text.split("\n", 1)[1] in explain(whole, None)


@pytest.mark.parametrize(
    ("old", "new", "figures"),
    [
        ("at most 500.00 USD.", "at most 800.00 USD.", (parse_money("500.00 USD"), parse_money("800.00 USD"))),
        ("at most 500.00 USD.", "at least 800.00 USD.", None),
        ("at most a", "at most b", None),
        ("one", "one more", None),
    ],
)
def test_two_sentences_that_differ_by_a_figure(old: str, new: str, figures: object) -> None:
    """Only one figure, in the same words, is a figure that moved."""
    assert told_apart(old, new) == figures


ONE_TOOL = "tools: {t: {%s}}\n"
ANSWERED = "A refused call of t is answered by"
SURE = "How sure the model says it is of a call of t"
ASKED = "arguments: {a: {type: string}}"
COUNTED = "arguments: {n: {type: number}}"


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("", "on_refusal: model", f"{ANSWERED} the model instead of whoever its effect and the agent say."),
        ("on_refusal: model", "on_refusal: code", f"{ANSWERED} the policy's reply instead of the model."),
        ("", "batch: all_or_nothing", "Where t is called, one refusal of the turn refuses all its calls."),
        ("batch: all_or_nothing", "", "A refusal beside t refuses it no more."),
        (ASKED, f"{ASKED}, confirm: user", "The customer is asked for a yes to t before each call."),
        (
            f"{ASKED}, confirm: user",
            f"{ASKED}, confirm: {{when: args.a == 'x'}}",
            'The customer is asked for a yes to t where args.a is "x" instead of before each call.',
        ),
        (
            f"{COUNTED}, confirm: {{when: args.n > 5}}",
            f"{COUNTED}, confirm: {{when: args.n > 7}}",
            "The figure by which the customer is asked for a yes to t rises from 5 to 7.",
        ),
        (
            f"{COUNTED}, confidence: args.n",
            f"{COUNTED}, confidence: {{value: args.n, clarify_below: 0.90}}",
            "The confidence below which t is asked back rises from 0.80 to 0.90.",
        ),
        (
            f"{COUNTED}, confidence: args.n",
            f"{COUNTED}, confidence: {{value: args.n, escalate_below: 0.50}}",
            "The confidence below which t is passed to a person falls from 0.60 to 0.50.",
        ),
        (
            COUNTED,
            f"{COUNTED}, confidence: args.n",
            f"{SURE} counts now: args.n, asked back below 0.80, for a person below 0.60.",
        ),
        (
            f"{COUNTED}, confidence: args.n",
            f"{COUNTED}, confidence: args.n / 100",
            "How sure the model is of a call of t is what args.n divided by 100 says, instead of args.n.",
        ),
        (
            "escalation: {root_cause: late}",
            "escalation: {root_cause: lost}",
            "A case of t says as root_cause 'lost' instead of 'late'.",
        ),
        ("", "escalation: {root_cause: lost}", "A case of t says as root_cause: 'lost'."),
        (
            "result: {fields: {paid: {money: USD, unit: minor}}}",
            "result: {fields: {paid: {money: USD, unit: major}}}",
            (
                "The field paid of a result of t is read as money in USD (major) at paid"
                " instead of money in USD (minor) at paid."
            ),
        ),
        (
            "result: {fields: {paid: number}}",
            "result: {fields: {paid: number, status: string}}",
            "The field status of a result of t is read, too: string at status.",
        ),
        (f"{ASKED}, confirm: user", ASKED, "The customer is asked for a yes to t no more."),
        (
            "limits: [{forbid: malformed, once_per: args.a}]",
            "limits: [{forbid: malformed, once_per: args.a}], inject: key",
            "The key of the intent is put into key of t.",
        ),
        (
            "limits: [{forbid: malformed, once_per: args.a}], inject: key",
            "limits: [{forbid: malformed, once_per: args.a}]",
            "No key is put into key of t any more.",
        ),
    ],
)
def test_who_answers_and_who_is_asked(before: str, after: str, sentence: str) -> None:
    """One sentence for each way a call may be answered in."""
    assert told(HEAD + ONE_TOOL % before, HEAD + ONE_TOOL % after) == [sentence]


def test_what_changes_for_an_agent_is_told() -> None:
    """Whether a person reads along, and whether its text waits, in words."""
    agents = "identities: {bot: {token: '${T}'%s}}\n"

    assert told(HEAD + agents % "", HEAD + agents % ", autonomous: true") == [
        "What is refused to the agent bot goes to the model."
    ]
    assert told(HEAD + agents % ", hold_text: true", HEAD + agents % "") == ["A text of the agent bot leaves at once."]


def test_how_a_fact_is_found_is_told() -> None:
    """The fact of a tool, by which key it is read, and that it is read no more."""
    fact = "facts: {f: {key: {pattern: a}, file: f.json, fields: {x: string}}}\n"
    tool = f"{fact}tools: {{t: {{arguments: {{a: {{type: string}}, b: {{type: string}}}}%s}}}}\n"
    by_a, by_b = (HEAD + tool % f", facts: {{f: args.{key}}}" for key in "ab")

    assert told(by_a, by_b) == ["t reads the fact f by args.b instead of args.a."]
    assert told(by_a, HEAD + tool % "") == ["t reads the fact f no more."]
    assert told(HEAD + tool % "", by_a) == ["t reads the fact f, too, by args.a."]
