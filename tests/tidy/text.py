"""House rules on text: nothing left for later, nothing of one machine, no silenced checker without its reason."""

from __future__ import annotations

import io
import re
import tokenize
from typing import TYPE_CHECKING

from tests.tidy.rule import Rule
from tests.tidy.source import Finding, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

# Put together from parts, or this file would break its own rules.
LATER = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"]) + r")\b")
PLACES = ("root", "work", r"home/\w+", r"Users/\w+")
MACHINE = re.compile(r"(?<![\w.~$}])/(?:" + "|".join(PLACES) + r")\b")
# `noqa: CODE` or `type: ignore[code]`, and then at least two words of why.
SILENCED = re.compile(r"#\s*(?:noqa|type:\s*ignore|pragma:|ruff:|mypy:)")
REASONED = re.compile(
    r"#\s*(?:noqa:\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*|type:\s*ignore\[[\w, -]+\]|pragma: no cover)\W+\w+\W+\w+"
)


def _matches(pattern: re.Pattern[str], problem: str, source: Source) -> Iterator[Finding]:
    for number, line in enumerate(source.text.split("\n"), 1):
        if found := pattern.search(line):
            yield Finding(source.name, number, problem.format(found.group().strip()))


def _nothing_for_later(source: Source) -> Iterator[Finding]:
    yield from _matches(LATER, "says {}: do it, or open an issue", source)


def _no_machine(source: Source) -> Iterator[Finding]:
    yield from _matches(MACHINE, "names {}, a place of one machine", source)


def _silence_has_reason(source: Source) -> Iterator[Finding]:
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.COMMENT and SILENCED.search(token.string) and not REASONED.search(token.string):
            yield Finding(source.name, token.start[0], f"silences a checker without a reason: {token.string}")


RULES = (
    Rule(
        "nothing is left for later",
        "what is not done is an issue, not a word in a file",
        lambda source: True,
        _nothing_for_later,
        planted=(("proxy/planted.py", "# TO" + "DO: later\n"), ("docs/planted.md", "FIX" + "ME\n")),
        innocent=(("docs/planted.md", "a todo list, and GOTODOWN\n"),),
    ),
    Rule(
        "no path of one machine",
        "no file names a place that exists on one machine only",
        lambda source: True,
        _no_machine,
        planted=(
            ("docs/planted.md", "see /ro" + "ot/notes\n"),
            ("proxy/planted.py", "HERE = '/wo" + "rk/main'\n"),
            ("docs/planted.md", "/ho" + "me/anna/callgate\n"),
        ),
        innocent=(("docs/planted.md", "GET /v1/work/1, ~/home, $HOME/root, docs/home/index.md\n"),),
    ),
    Rule(
        "silence has a reason",
        "a checker is silenced for one finding, with its code and with why",
        lambda source: source.path.suffix == ".py",
        _silence_has_reason,
        planted=(
            ("proxy/planted.py", "x = 1  # no" + "qa\n"),
            ("proxy/planted.py", "x = 1  # no" + "qa: E501\n"),
            ("proxy/planted.py", "x = 1  # type" + ": ignore[misc]\n"),
            ("proxy/planted.py", "x = 1  # type" + ": ignore # the stubs are wrong\n"),
        ),
        innocent=(
            ("proxy/planted.py", "x = 1  # noqa: S105 no secret, the name of a header\n"),
            ("proxy/planted.py", "x = 1  # type: ignore[misc] # the stubs are wrong\n"),
            ("proxy/planted.py", "x = '# no" + "qa'\n"),
        ),
    ),
)
