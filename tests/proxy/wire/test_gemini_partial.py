"""Arguments that are streamed by path: one rule, and whatever would need another is in dispute (G5)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.gemini_partial import STEPS_MAX, DisputedError, PartialArguments
from tests.proxy.wire import gemini_turns

values = st.recursive(
    st.text(st.sampled_from('Zqé\u2028"'), min_size=1, max_size=8) | st.integers(0, 10**15) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, min_size=1, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, min_size=1),
    max_leaves=6,
)


def put_together(*fragments: dict[str, Any]) -> str:
    made = PartialArguments()
    for fragment in fragments:
        made.take(json.dumps(fragment, ensure_ascii=False).encode())
    return made.text()


@given(st.dictionaries(st.sampled_from("abc"), values, min_size=1), st.integers(0, 99))
def test_what_was_taken_apart_is_put_together(arguments: dict[str, Any], seed: int) -> None:
    """Any arguments, streamed leaf by leaf with strings in pieces, are the same arguments again."""
    assert json.loads(put_together(*gemini_turns.fragments_of(arguments, seed))) == arguments


def test_a_number_keeps_its_spelling() -> None:
    """What is judged is the number as it stood on the wire, not a float's."""
    made = PartialArguments()
    made.take(b'{"jsonPath": "$.amount", "numberValue": 500.00000000000000001}')
    assert made.text() == '{"amount":500.00000000000000001}'


def test_names_in_brackets_are_names() -> None:
    """Both spellings of a path that need no escape are read."""
    assert put_together({"jsonPath": "$['a']", "stringValue": "x"}, {"jsonPath": '$["b"][0]', "boolValue": True}) == (
        '{"a":"x","b":[true]}'
    )


GOES_ON = {"jsonPath": "$.a", "stringValue": "x", "willContinue": True}


@pytest.mark.parametrize(
    "fragments",
    [
        pytest.param([{"jsonPath": "$", "stringValue": "x"}], id="the root"),
        pytest.param([{"jsonPath": "a", "stringValue": "x"}], id="no path"),
        pytest.param([{"stringValue": "x"}], id="without a path"),
        pytest.param([{"jsonPath": "$.a.*", "stringValue": "x"}], id="a wildcard"),
        pytest.param([{"jsonPath": "$..a", "stringValue": "x"}], id="any depth"),
        pytest.param([{"jsonPath": "$['a\\'b']", "stringValue": "x"}], id="an escape"),
        pytest.param([{"jsonPath": "$.a[0", "stringValue": "x"}], id="an open bracket"),
        pytest.param([{"jsonPath": "$.a[01]", "numberValue": 1}], id="a place with a zero"),
        pytest.param([{"jsonPath": "$.a[1]", "numberValue": 1}], id="a gap in a list"),
        pytest.param([{"jsonPath": "$[0]", "numberValue": 1}], id="arguments that are a list"),
        pytest.param([{"jsonPath": "$.a" + ".b" * STEPS_MAX, "numberValue": 1}], id="too deep"),
        pytest.param([{"jsonPath": "$.a", "numberValue": 1}, {"jsonPath": "$.a", "numberValue": 2}], id="set twice"),
        pytest.param([{"jsonPath": "$.a", "stringValue": "x"}] * 2, id="a string set twice"),
        pytest.param(
            [{"jsonPath": "$.a", "numberValue": 1}, {"jsonPath": "$.a.b", "numberValue": 2}], id="into a leaf"
        ),
        pytest.param(
            [{"jsonPath": "$.a[0]", "numberValue": 1}, {"jsonPath": "$.a.b", "numberValue": 2}], id="two kinds"
        ),
        pytest.param([GOES_ON], id="a string without its end"),
        pytest.param([GOES_ON, {"jsonPath": "$.b", "numberValue": 1}], id="another path while a string is open"),
        pytest.param([GOES_ON, {"jsonPath": "$.a", "numberValue": 1}], id="a string that goes on as a number"),
        pytest.param([{"jsonPath": "$.a", "stringValue": "x", "numberValue": 1}], id="two values"),
        pytest.param([{"jsonPath": "$.a", "stringValue": 1}], id="a string that is a number"),
        pytest.param([{"jsonPath": "$.a", "numberValue": "1"}], id="a number that is a string"),
        pytest.param([{"jsonPath": "$.a", "numberValue": 1, "willContinue": True}], id="a number that goes on"),
    ],
)
def test_what_clients_read_differently_is_in_dispute(fragments: list[dict[str, Any]]) -> None:
    """Nothing of it is guessed: the call becomes malformed."""
    with pytest.raises((DisputedError, KeyError, TypeError)):
        put_together(*fragments)
