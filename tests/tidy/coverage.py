"""House rules on the tests as a whole: each module of the product is imported by one, and their names are unique."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from tests.tidy.names import imports
from tests.tidy.source import Finding, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def untested(product: Iterable[Source], tests: Iterable[Source]) -> Iterator[Finding]:
    """Modules that no test imports, and that are no part of one that is: a module of its own folder that imports it.

    One step only: what is two steps from any test is tested by nobody in particular. A module without a statement of
    its own (a package's docstring) needs none.
    """
    product = list(product)
    reached = _reached(tests)
    for source in [one for one in product if one.module in reached]:
        folder = source.module if source.path.name == "__init__.py" else source.module.rpartition(".")[0]
        reached |= {name for name in _reached([source]) if name.startswith(f"{folder}.")}
    for source in product:
        if _has_code(source) and source.module not in reached:
            yield Finding(source.name, 1, "no test imports it")


def _reached(sources: Iterable[Source]) -> set[str]:
    imported = {found.name for source in sources for found in imports(source) if not found.for_types}
    # `from proxy.wire import sse` names the module, `from proxy.wire.sse import Framer` something in it.
    return imported | {name.rpartition(".")[0] for name in imported}


def _has_code(source: Source) -> bool:
    return any(not isinstance(node, ast.Expr | ast.Import | ast.ImportFrom) for node in source.tree.body)


def ill_named(tests: Iterable[Source]) -> Iterator[Finding]:
    """Tests are found by unique file names: no packages, no name twice."""
    tests = list(tests)
    counts = Counter(test.path.name for test in tests if test.path.name.startswith("test_"))
    for test in tests:
        if test.path.name == "__init__.py":
            yield Finding(test.name, 1, "tests are no package")
        elif counts[test.path.name] > 1:
            yield Finding(test.name, 1, "another test file has the same name")
