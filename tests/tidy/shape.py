"""House rules on the shape of the code: sizes, with lists that may only shrink, and docstrings."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tests.tidy.ratchet import FUNCTIONS, MODULES
from tests.tidy.rule import Rule, inside
from tests.tidy.source import PRODUCT, Finding, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

MODULE_LINES_SOFT, MODULE_LINES_HARD, DIALECT_LINES_HARD = 250, 400, 550
FUNCTION_LINES_SOFT, FUNCTION_LINES_HARD = 40, 70
# One dialect is one file, table and rendering in one; what several of them share is no dialect.
NOT_DIALECTS = ("__init__", "assembly", "dialect", "events", "strict_json", "sse")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_dialect(source: Source) -> bool:
    """Whether it is a dialect's file, which may be longer than others."""
    return str(source.path.parent) == "proxy/wire" and source.path.stem not in NOT_DIALECTS


def functions(source: Source) -> Iterator[tuple[str, Function]]:
    """Every function with its qualified name: `proxy/gate.py:Gate.receive`."""

    def walk(node: ast.AST, path: tuple[str, ...]) -> Iterator[tuple[str, Function]]:
        for child in ast.iter_child_nodes(node):
            inner = (*path, child.name) if isinstance(child, Function | ast.ClassDef) else path
            if isinstance(child, Function):
                yield f"{source.name}:{'.'.join(inner)}", child
            yield from walk(child, inner)

    yield from walk(source.tree, ())


def length(function: Function) -> int:
    """Lines from `def` to the end, docstring included."""
    return (function.end_lineno or function.lineno) - function.lineno + 1


def _module_size(source: Source) -> Iterator[Finding]:
    hard = DIALECT_LINES_HARD if is_dialect(source) else MODULE_LINES_HARD
    soft = DIALECT_LINES_HARD if is_dialect(source) else MODULES.get(source.name, MODULE_LINES_SOFT)
    if source.lines > hard:
        yield Finding(source.name, 1, f"has {source.lines} lines, more than {hard}: it holds several ideas")
    elif source.lines > soft:
        yield Finding(source.name, 1, f"has {source.lines} lines, more than {soft}: split it, or say so in the ratchet")


def _function_size(source: Source) -> Iterator[Finding]:
    for name, function in functions(source):
        lines, soft = length(function), FUNCTIONS.get(name, FUNCTION_LINES_SOFT)
        if lines > FUNCTION_LINES_HARD:
            yield Finding(source.name, function.lineno, f"{name} has {lines} lines, more than {FUNCTION_LINES_HARD}")
        elif lines > soft:
            yield Finding(source.name, function.lineno, f"{name} has {lines} lines, more than {soft}")


def _has_docstring(source: Source) -> Iterator[Finding]:
    if source.text.strip() and not ast.get_docstring(source.tree):
        yield Finding(source.name, 1, "has no docstring: say what the file knows and what it refuses to know")


def _tests_state_claims(source: Source) -> Iterator[Finding]:
    for name, function in functions(source):
        if function.name.startswith("test_") and not ast.get_docstring(function):
            yield Finding(source.name, function.lineno, f"{name} has no docstring: state the claim it tests")


def _function_of(lines: int) -> str:
    return '"""A file."""\n\n\nasync def long():\n' + "    call()\n" * (lines - 1)


RULES = (
    Rule(
        "modules are small",
        f"a module has at most {MODULE_LINES_SOFT} lines, {MODULE_LINES_HARD} where the ratchet says so",
        inside(*PRODUCT),
        _module_size,
        planted=(
            ("proxy/planted.py", "x = 1\n" * (MODULE_LINES_SOFT + 1)),
            ("proxy/wire/sse.py", "x = 1\n" * (MODULE_LINES_HARD + 1)),
            ("proxy/wire/planted.py", "x = 1\n" * (DIALECT_LINES_HARD + 1)),
        ),
        innocent=(
            ("proxy/planted.py", "x = 1\n" * MODULE_LINES_SOFT),
            ("proxy/wire/planted.py", "x = 1\n" * DIALECT_LINES_HARD),
        ),
    ),
    Rule(
        "functions are small",
        f"a function has at most {FUNCTION_LINES_SOFT} lines, {FUNCTION_LINES_HARD} where the ratchet says so",
        inside(*PRODUCT),
        _function_size,
        planted=(
            ("proxy/planted.py", _function_of(FUNCTION_LINES_SOFT + 1)),
            ("proxy/planted.py", _function_of(FUNCTION_LINES_HARD + 1)),
        ),
        innocent=(("proxy/planted.py", _function_of(FUNCTION_LINES_SOFT)),),
    ),
    Rule(
        "modules have docstrings",
        "each module says what it knows",
        inside(*PRODUCT, "tests", "benchmarks"),
        _has_docstring,
        planted=(("proxy/planted.py", "x = 1\n"), ("tests/planted.py", "# a comment is none\nx = 1\n")),
        innocent=(("proxy/planted.py", '"""A claim."""\n'), ("proxy/planted/__init__.py", "")),
    ),
    Rule(
        "tests state their claim",
        "each test says in its docstring what must hold",
        inside("tests"),
        _tests_state_claims,
        planted=(
            ("tests/planted.py", "def test_it():\n    assert run()\n"),
            ("tests/planted.py", "class TestIt:\n    async def test_it(self):\n        assert run()\n"),
        ),
        innocent=(("tests/planted.py", 'def test_it():\n    """It runs."""\n    assert run()\n'),),
    ),
)
