"""The house rules. Each is checked on every file, and each is shown to find a violation that is planted for it."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.tidy import bans, imports, shape, text
from tests.tidy.coverage import ill_named, untested
from tests.tidy.ratchet import FUNCTIONS, MODULES
from tests.tidy.source import PRODUCT, Finding, planted, python_files, text_files

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tidy.rule import Rule

RULES = {rule.name: rule for rule in (*imports.RULES, *bans.RULES, *shape.RULES, *text.RULES)}
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
SANS_IO = "import sys, {modules}; print(*sorted({{'aiohttp', 'asyncio', 'socket'}} & set(sys.modules)))"


def _report(findings: list[Finding]) -> str:
    return "\n" + "\n".join(map(str, findings))


@every_rule
def test_the_house_keeps_the_rule(rule: Rule) -> None:
    """No file of the checkout breaks a house rule."""
    files = text_files() if rule in text.RULES else python_files()

    findings = list(rule.findings(files))

    assert findings == [], rule.claim + _report(findings)


@every_rule
def test_the_rule_finds_what_is_planted(rule: Rule) -> None:
    """A rule that finds nothing proves nothing: each planted file is found."""
    assert rule.planted
    missed = [path for path in rule.planted if not list(rule.findings([planted(*path)]))]

    assert missed == []


@every_rule
def test_the_rule_leaves_neighbours_alone(rule: Rule) -> None:
    """What only looks like a violation is none."""
    findings = [finding for path in rule.innocent for finding in rule.findings([planted(*path)])]

    assert findings == []


def test_each_rule_has_its_own_name() -> None:
    """No rule hides another of the same name."""
    rules = (*imports.RULES, *bans.RULES, *shape.RULES, *text.RULES)

    assert [name for name, count in Counter(rule.name for rule in rules).items() if count > 1] == []


def test_the_ratchet_only_tightens() -> None:
    """An entry of the ratchet says how large its subject is, above the soft limit; what has shrunk has left it."""
    sources = {source.name: source for source in python_files()}
    modules = {name: sources[name].lines if name in sources else 0 for name in MODULES}
    lengths = {name: shape.length(function) for one in sources.values() for name, function in shape.functions(one)}
    functions = {name: lengths.get(name, 0) for name in FUNCTIONS}

    assert modules == MODULES
    assert functions == FUNCTIONS
    assert [name for name, lines in modules.items() if lines <= shape.MODULE_LINES_SOFT] == []
    assert [name for name, lines in functions.items() if lines <= shape.FUNCTION_LINES_SOFT] == []


def test_every_module_has_a_test() -> None:
    """Each module of the product is imported by a test, or by a module beside it that is."""
    product = [source for source in python_files() if source.is_in(*PRODUCT)]
    tests = [source for source in python_files() if source.is_in("tests")]

    findings = list(untested(product, tests))

    assert findings == [], _report(findings)


def test_a_module_without_a_test_is_found() -> None:
    """Neither a test of its package nor a like-named module covers it; importing it or a name of it does."""
    lonely = planted("proxy/wire/planted.py", '"""A module."""\nx = 1\n')
    others = [
        planted("tests/test_a.py", "import proxy.wire\n"),
        planted("tests/test_b.py", "from proxy.wire import planted_too\n"),
    ]

    assert [finding.path for finding in untested([lonely], others)] == ["proxy/wire/planted.py"]
    for statement in (
        "import proxy.wire.planted",
        "from proxy.wire import planted",
        "from proxy.wire.planted import x",
    ):
        assert list(untested([lonely], [planted("tests/test_c.py", f"{statement}\n")])) == []
    assert list(untested([planted("proxy/__init__.py", '"""A package."""\n')], [])) == []


def test_a_module_is_tested_with_its_neighbour() -> None:
    """A test of a module covers what it imports from its own folder; not what that imports, nor other folders."""
    chain = [
        planted("policies/one.py", "from policies.two import x\nfrom interceptors.far import y\nz = 1\n"),
        planted("policies/two.py", "from policies.three import x\ny = 1\n"),
        planted("policies/three.py", "x = 1\n"),
        planted("interceptors/far.py", "y = 1\n"),
    ]

    found = untested(chain, [planted("tests/test_one.py", "from policies.one import z\n")])

    assert [finding.path for finding in found] == ["policies/three.py", "interceptors/far.py"]


def test_test_files_have_names_of_their_own() -> None:
    """Test files are found by their names alone."""
    findings = list(ill_named(source for source in python_files() if source.is_in("tests")))

    assert findings == [], _report(findings)


def test_an_ill_named_test_file_is_found() -> None:
    """Two files of one name, and a package of tests, are found."""
    files = [planted("tests/a/test_x.py", ""), planted("tests/b/test_x.py", ""), planted("tests/a/__init__.py", "")]

    assert sorted(finding.path for finding in ill_named(files)) == sorted(file.name for file in files)


def test_wire_and_gate_load_no_event_loop(root: Path) -> None:
    """Not even through what they import do the wire and the gate load asyncio, aiohttp or sockets."""
    modules = [source.module for source in python_files() if source.is_in("proxy/wire", "proxy/gate.py", "proxy/gate")]

    assert _loaded(root, SANS_IO.format(modules=", ".join(modules))) == ""


def test_a_loaded_event_loop_is_seen(root: Path) -> None:
    """The check above can fail: a module that loads asyncio is seen to."""
    assert "asyncio" in _loaded(root, SANS_IO.format(modules="asyncio"))


def _loaded(root: Path, program: str) -> str:
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(root)!r}); {program}"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def test_each_decision_has_a_number_of_its_own(root: Path) -> None:
    """Two notes of one number cannot be named by it."""
    numbers = [path.name.partition("-")[0] for path in (root / "docs/decisions").glob("*.md")]

    assert sorted(numbers) == sorted(set(numbers))
