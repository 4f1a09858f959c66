"""A change of the policy that a person's answer suggests: text in, text out. Nobody but the policy's owner applies it.

What people approve, a rule need not pass on any more; what they reject, it can refuse by itself. Edits are surgical:
comments and order stay. A rule whose text is not found where it was read gives no proposal, rather than a guess.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Final

from policies.difference import difference
from policies.expressions.syntax import Comparator, Comparison, Path
from policies.files import Snapshot
from policies.lint import lint
from policies.loader import load_snapshot
from policies.model import Ruling
from policies.problems import DocumentError
from policies.values import Money, render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from policies.model import Policy, Rule

_RULE_LINES_MAX: Final = 12


class ProposalError(Exception):
    """No change can be proposed; the message says why."""


@dataclass(frozen=True, slots=True)
class Case:
    """What was answered: the call's tool, the rule that passed it on, its money argument and the money."""

    tool: str
    rule: str
    argument: str
    amount: Money


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """`sentences` say what changes, `findings` what looks wrong in the result and did not before."""

    diff: str
    sentences: tuple[str, ...]
    findings: tuple[str, ...]


def propose(policy: Policy, texts: Mapping[str, str], case: Case, *, approved: bool) -> ProposedChange:
    """The change, read back and compared. `texts` are the files of `policy` by name. Raises `ProposalError`."""
    tool = policy.tool(case.tool)
    rule = next((one for one in tool.rules if one.id == case.rule), None) if tool is not None else None
    if tool is None or rule is None or rule.ruling is not Ruling.ESCALATE:
        raise ProposalError("no rule of the policy in force passed this call on: a limit, a cell or a check did")
    files = {name: text.split("\n") for name, text in texts.items()}
    if approved:
        _raise(policy, files, rule, case)
    else:
        _refuse(policy, files, rule, case)
    after = {name: "\n".join(lines) for name, lines in files.items()}
    changed = _read(policy, after)
    sentences = tuple(difference(_read(policy, texts), changed))
    if not sentences:
        raise ProposalError("the change would change nothing")
    known = {str(finding.message) for finding in lint(policy)}
    findings = tuple(finding.message for finding in lint(changed) if finding.message not in known)
    return ProposedChange(_diff(texts, after), sentences, findings)


def _raise(policy: Policy, files: dict[str, list[str]], rule: Rule, case: Case) -> None:
    """The rule passes on what is above this amount only: by its constant, else by a condition more."""
    constant = _constant_above(policy, rule, case)
    if constant is not None:
        origin = policy.constant_origins[constant]
        old, new = render(policy.constants[constant]), render(case.amount)
        line = _lines(files, origin.file)[origin.line - 1]
        if line.count(old) == 1:
            _lines(files, origin.file)[origin.line - 1] = line.replace(old, new)
            return
    if rule.when is not None and rule.unless is None:
        _replace(files, rule, rule.when.source, f"({rule.when.source}) and {_path(case)} > {render(case.amount)}")
    elif rule.unless is not None and rule.when is None:
        _replace(files, rule, rule.unless.source, f"({rule.unless.source}) or {_path(case)} <= {render(case.amount)}")
    else:
        raise ProposalError("the rule has no single condition that could be narrowed")


def _constant_above(policy: Policy, rule: Rule, case: Case) -> str | None:
    """The constant of a rule that says `args.amount > constants.NAME` and no more: it is never lowered."""
    tree = rule.when.tree if rule.when is not None and rule.unless is None else None
    if not isinstance(tree, Comparison) or tree.comparator is not Comparator.MORE:
        return None
    left, right = tree.left, tree.right
    if not isinstance(left, Path) or not isinstance(right, Path) or left.steps != ("args", case.argument):
        return None
    name = right.steps[1] if right.steps[0] == "constants" and len(right.steps) == 2 else ""
    value = policy.constants.get(name)
    if not isinstance(value, Money) or value.currency != case.amount.currency or name not in policy.constant_origins:
        return None
    if value.amount >= case.amount.amount:
        raise ProposalError("the rule passes no such amount on any more")
    return name


def _refuse(policy: Policy, files: dict[str, list[str]], rule: Rule, case: Case) -> None:
    """A rule behind this one refuses what it passes on from this amount on, with a reason of its own."""
    if rule.when is None or rule.unless is not None:
        raise ProposalError("the rule has no `when` alone that a refusal could repeat")
    lines = _lines(files, rule.origin.file)
    start = rule.origin.line - 1
    dash = lines[start].find("- ")
    if dash < 0 or lines[start][:dash].strip():
        raise ProposalError(f"{rule.origin}: the rules do not stand in lines of their own")
    end = start + 1
    while end < len(lines) and len(lines[end]) - len(lines[end].lstrip()) > dash and lines[end].strip():
        end += 1
    reason = f"{rule.reason}_refused"
    indent = " " * dash
    condition = f"({rule.when.source}) and {_path(case)} >= {render(case.amount)}"
    lines[end:end] = [f"{indent}- forbid: {reason}", f"{indent}  when: {condition}"]
    if reason not in policy.reasons:
        _add_reason(policy, files, reason)


def _add_reason(policy: Policy, files: dict[str, list[str]], reason: str) -> None:
    """Before the first one. A reason's origin may be the line below its code."""
    first = min(policy.reasons.values(), key=lambda one: (one.origin.file, one.origin.line))
    lines = _lines(files, first.origin.file)
    for number in (first.origin.line - 1, first.origin.line - 2):
        line = lines[max(0, number)]
        indent = line[: len(line) - len(line.lstrip())]
        if indent and line.lstrip().startswith(f"{first.code}:"):
            lines.insert(number, f"{indent}{reason}: {{category: policy}}")
            return
    raise ProposalError(f"{first.origin}: the reasons do not stand in lines of their own")


def _replace(files: dict[str, list[str]], rule: Rule, old: str, new: str) -> None:
    lines = _lines(files, rule.origin.file)
    start = rule.origin.line - 1
    found = [n for n in range(start, min(len(lines), start + _RULE_LINES_MAX)) if old in lines[n]]
    if not found or lines[found[0]].count(old) != 1:
        raise ProposalError(f"{rule.origin}: the condition is not found in the text")
    lines[found[0]] = lines[found[0]].replace(old, new)


def _lines(files: dict[str, list[str]], origin_file: str) -> list[str]:
    name = FilePath(origin_file).name
    if name not in files:
        raise ProposalError(f"the text of {name!r} is not known")
    return files[name]


def _path(case: Case) -> str:
    return f"args.{case.argument}"


def _read(policy: Policy, texts: Mapping[str, str]) -> Policy:
    folder = policy.files[0].parent if policy.files else FilePath()
    try:
        encoded = tuple((name, text.encode()) for name, text in texts.items())
        return load_snapshot(Snapshot(encoded, (), folder, ()))
    except DocumentError as error:
        raise ProposalError(f"the change would be no valid policy: {error}") from None


def _diff(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    found: list[str] = []
    for name in sorted(before):
        found += unified_diff(_kept(before[name]), _kept(after[name]), f"a/{name}", f"b/{name}")
    return "".join(found)


def _kept(text: str) -> Sequence[str]:
    """The lines with their line feeds; a last one without is marked as `diff` does."""
    lines = [f"{line}\n" for line in text.split("\n")]
    if lines[-1] == "\n":
        return lines[:-1]
    return [*lines[:-1], f"{lines[-1]}\\ No newline at end of file\n"]
