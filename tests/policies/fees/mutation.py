"""A mutation run for fee schedules: flips one operator, number or condition at a time; a test must fail.

    python -m tests.policies.fees.mutation                 # every module of `MODULES`
    python -m tests.policies.fees.mutation engine          # one
    python -m tests.policies.fees.mutation fee_schedule    # the interceptor

A mutant lives in fresh modules: the mutated one and all that import it, the tests included. It is killed where a test
fails; examples of hypothesis are not run, so that a kill never hangs on chance.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import signal
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
MODULES = (
    "minor",
    "schedule",
    "coverage",
    "engine",
    "matching",
    "evidence",
    "validator",
    "notices",
    "clauses",
    "reader",
    "atoms",
    "text",
    "placing",
    "fee_schedule",
)
INTERCEPTOR = "fee_schedule"
"""The module of `interceptors`; its tests stand there, and the pipeline that holds it is made anew with it."""
_HELPERS = ("drafts", "refusals", "construct_cases", "item_cases")
_TESTS = (
    "test_fee_golden",
    "test_fee_coverage",
    "test_fee_engine",
    "test_fee_reader",
    "test_fee_candidate",
    "test_fee_refusals",
    "test_fee_placing",
)
_FIRST = {
    "engine": "test_fee_engine",
    "minor": "test_fee_engine",
    "schedule": "test_fee_coverage",
    "coverage": "test_fee_coverage",
    "candidate": "test_fee_candidate",
    "placing": "test_fee_placing",
    **dict.fromkeys(("reader", "cursor", "day_terms", "fee_terms", "clauses", "atoms", "text"), "test_fee_reader"),
}
SECONDS_MAX = 2
_PACKAGE = "policies.fees"
_TEST_PACKAGE = "tests.policies.fees"

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
}
_FLAGS = ("frozen", "slots", "strict", "order")  # of dataclasses and `zip`: no decision hangs on them
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Mutant:
    """One change, `change`, of the node at `index` in the order of `ast.walk`."""

    module: str
    line: int
    text: str  # of the line, which is how an equivalent is listed
    change: str
    index: int

    def __str__(self) -> str:
        return f"{self.module}.py:{self.line}: {self.change}: {self.text}"

    def tree(self) -> ast.Module:
        """The module with the change in it."""
        tree = ast.parse(_source(self.module))
        target = next(itertools.islice(ast.walk(tree), self.index, None))
        edited = dict(_edits(target))[self.change]
        target.__class__ = edited.pop("__class__", target.__class__)
        target.__dict__.update(edited)
        return ast.fix_missing_locations(tree)


def _path(module: str) -> Path:
    folder = ROOT / "interceptors" if module == INTERCEPTOR else ROOT / "policies" / "fees"
    return folder / f"{module}.py"


def _source(module: str) -> str:
    return _path(module).read_text(encoding="utf-8")


def mutants(module: str) -> Iterator[Mutant]:
    """Every mutant of a module."""
    source = _source(module)
    lines = source.splitlines()
    tree = ast.parse(source)
    flags = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg in _FLAGS}
    for index, node in enumerate(ast.walk(tree)):
        line = getattr(node, "lineno", 0)
        for change, _ in () if id(node) in flags else _edits(node):
            yield Mutant(module, line, lines[line - 1].strip(), change, index)


def _edits(node: ast.AST) -> Iterator[tuple[str, dict[str, Any]]]:
    match node:
        case ast.Compare():
            for at, operator in enumerate(node.ops):
                for other in _COMPARISONS[type(operator)]:
                    ops = [*node.ops[:at], other(), *node.ops[at + 1 :]]
                    yield f"{type(operator).__name__} to {other.__name__}{f' at {at}' if at else ''}", {"ops": ops}
        case ast.BoolOp():
            other_op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield f"{type(node.op).__name__} to {type(other_op).__name__}", {"op": other_op}
        case ast.BinOp() if type(node.op) in _ARITHMETIC and not _is_text(node):
            yield f"{type(node.op).__name__} flipped", {"op": _ARITHMETIC[type(node.op)]()}
        case ast.Constant(value=bool()):
            yield f"{node.value} flipped", {"value": not node.value}
        case ast.Constant(value=int()):
            yield f"{node.value} one more", {"value": node.value + 1}
        case ast.Name() if node.id in _NAMES and isinstance(node.ctx, ast.Load):
            yield f"{node.id} to {_NAMES[node.id]}", {"id": _NAMES[node.id]}
        case ast.Name(id="ROUND_HALF_UP", ctx=ast.Load()):
            yield "half even", {"__class__": ast.Constant, "value": "ROUND_HALF_EVEN"}
        case ast.If():
            if not _is_type_checking(node.test):
                yield "condition never", {"test": ast.Constant(value=False)}
                yield "condition always", {"test": ast.Constant(value=True)}
        case ast.IfExp():
            yield "condition never", {"test": ast.Constant(value=False)}
            yield "condition always", {"test": ast.Constant(value=True)}
        case ast.UnaryOp(op=ast.Not()):
            yield (
                "not removed",
                {"op": ast.UAdd(), "operand": ast.Call(ast.Name("bool", ast.Load()), [node.operand], [])},
            )


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr | ast.Constant) and not _is_number(side) for side in (node.left, node.right)
    )


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "TYPE_CHECKING"


@cache
def _code(path: Path) -> CodeType:
    return compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True)


@cache
def _imports(path: Path) -> frozenset[str]:
    """The modules of the package that a file imports when it runs."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_PACKAGE):
            found.add(node.module or "")
            if node.module == _PACKAGE:
                found |= {f"{_PACKAGE}.{alias.name}" for alias in node.names}
    return frozenset(found)


@cache
def _order() -> tuple[str, ...]:
    """The package's modules, each after what it imports; the package itself last."""
    files = {f"{_PACKAGE}.{path.stem}": path for path in (ROOT / "policies" / "fees").glob("*.py")}
    package = files.pop(f"{_PACKAGE}.__init__")
    done: list[str] = []
    while len(done) < len(files):
        ready = [name for name in files if name not in done and (_imports(files[name]) & files.keys()) <= set(done)]
        done.extend(sorted(ready))
    assert package.exists()
    return tuple(done)


def _stale(module: str) -> list[str]:
    """The mutated module and all that import it."""
    stale = {f"{_PACKAGE}.{module}"}
    for name in _order():
        if _imports(ROOT / "policies" / "fees" / f"{name.rpartition('.')[2]}.py") & stale:
            stale.add(name)
    return [name for name in _order() if name in stale]


@contextmanager
def _fresh(mutant: Mutant) -> Iterator[None]:
    """`sys.modules` in which the mutant stands where the module stood."""
    if mutant.module == INTERCEPTOR:
        with _fresh_interceptor(mutant):
            yield
        return
    kept = dict(sys.modules)
    for name in _order():
        importlib.import_module(name)  # not all of them are imported by the package itself
    package = ModuleType(_PACKAGE)
    package.__path__ = list(sys.modules[_PACKAGE].__path__)
    for name in _order():
        setattr(package, name.rpartition(".")[2], sys.modules[name])
    try:
        sys.modules[_PACKAGE] = package
        for name in _stale(mutant.module):
            short = name.rpartition(".")[2]
            path = ROOT / "policies" / "fees" / f"{short}.py"
            mutated = short == mutant.module
            code = compile(mutant.tree(), str(path), "exec", dont_inherit=True) if mutated else _code(path)
            setattr(package, short, _run(name, code))
        sys.modules[_PACKAGE] = _filled(package)
        for name in _HELPERS:
            _run(f"{_TEST_PACKAGE}.{name}", _code(ROOT / "tests" / "policies" / "fees" / f"{name}.py"))
        yield
    finally:
        sys.modules.clear()
        sys.modules.update(kept)


@contextmanager
def _fresh_interceptor(mutant: Mutant) -> Iterator[None]:
    kept = dict(sys.modules)
    try:
        _run("interceptors.fee_schedule", compile(mutant.tree(), str(_path(INTERCEPTOR)), "exec", dont_inherit=True))
        _run("interceptors.stages", _code(ROOT / "interceptors" / "stages.py"))
        _run("interceptors.pipeline", _code(ROOT / "interceptors" / "pipeline.py"))
        _run("tests.interceptors.builders", _code(ROOT / "tests" / "interceptors" / "builders.py"))
        yield
    finally:
        sys.modules.clear()
        sys.modules.update(kept)


def _run(name: str, code: CodeType) -> ModuleType:
    module = ModuleType(name)
    module.__file__ = code.co_filename
    sys.modules[name] = module
    exec(code, module.__dict__)
    return module


def _filled(package: ModuleType) -> ModuleType:
    exec(_code(ROOT / "policies" / "fees" / "__init__.py"), package.__dict__)
    return package


def survives(mutant: Mutant) -> bool:
    """Whether no test fails. One that makes a test run for `SECONDS_MAX` is killed."""
    signal.signal(signal.SIGALRM, _out_of_time)
    try:
        return _survives(mutant)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _out_of_time(*_: object) -> None:
    raise TimeoutError


def _survives(mutant: Mutant) -> bool:
    with _fresh(mutant):
        for name in _test_names(mutant.module):
            code = _code(ROOT / f"{name.replace('.', '/')}.py")
            for test, arguments in _tests(_run(name, code)):
                signal.setitimer(signal.ITIMER_REAL, SECONDS_MAX)
                try:
                    test(**arguments)
                except (
                    AssertionError,
                    ArithmeticError,
                    LookupError,
                    TypeError,
                    ValueError,
                    AttributeError,
                    TimeoutError,
                    RecursionError,
                    NameError,
                    pytest.fail.Exception,
                ):
                    return False
    return True


def _test_names(module: str) -> list[str]:
    """The modules of tests, the one first that is most likely to fail."""
    if module == INTERCEPTOR:
        return ["tests.interceptors.test_fee_schedule"]
    ordered = sorted(_TESTS, key=lambda name: name != _FIRST.get(module, "test_fee_refusals"))
    return [f"{_TEST_PACKAGE}.{name}" for name in ordered]


def _tests(module: ModuleType) -> Iterator[tuple[FunctionType, dict[str, Any]]]:
    for name, test in vars(module).items():
        if not name.startswith("test_") or hasattr(test, "hypothesis"):
            continue
        marks = [mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
        for rows in itertools.product(*(_rows(*mark.args) for mark in marks)):
            yield test, {key: value for row in rows for key, value in row.items()}


def _rows(names: str | tuple[str, ...], values: Any) -> list[dict[str, Any]]:
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = []
    for value in values:
        row = getattr(value, "values", value) if type(value).__name__ == "ParameterSet" else value
        is_single = len(keys) == 1 and type(value).__name__ != "ParameterSet"
        rows.append(dict(zip(keys, (row,) if is_single else row, strict=True)))
    return rows


def main(arguments: list[str]) -> int:
    """Prints the survivors that are not listed as equivalent; the exit code is 1 where there are any."""
    from tests.policies.fees.equivalents import EQUIVALENTS

    count, alive = 0, 0
    for module in arguments or MODULES:
        for mutant in mutants(module):
            count += 1
            is_listed = (mutant.module, mutant.text, mutant.change) in EQUIVALENTS
            if survives(mutant) and not is_listed:
                alive += 1
                print(mutant, flush=True)
    print(f"{count} mutants, {alive} alive beside the listed equivalents")
    return 1 if alive else 0


if __name__ == "__main__":
    import policies.fees

    assert policies.fees
    sys.exit(main(sys.argv[1:]))
