"""House rules on who may import whom: the direction policies <- interceptors <- proxy, and what stays without IO."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.tidy.names import calls, imports
from tests.tidy.rule import Rule, inside
from tests.tidy.source import Finding, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NETWORK = (
    "aiohttp",
    "asyncio",
    "http",
    "httptools",
    "requests",
    "selectors",
    "socket",
    "socketserver",
    "ssl",
    "urllib",
    "uvloop",
)
SYSTEM = ("glob", "io", "os", "pathlib", "shutil", "sqlite3", "subprocess", "tempfile", "threading", "time")
FAMILIES = ("anthropic", "bedrock", "chat", "gemini", "ollama", "openai", "responses")
STARTS_THE_APP = ("proxy/__main__.py", "proxy/cli.py", "proxy/commands")


def _no_import_of(*modules: str, types_too: bool = True, why: str) -> Callable[[Source], Iterator[Finding]]:
    def check(source: Source) -> Iterator[Finding]:
        for found in imports(source):
            if found.is_of(*modules) and (types_too or not found.for_types):
                yield Finding(source.name, found.line, f"imports {found.name}: {why}")

    return check


def _no_io(source: Source) -> Iterator[Finding]:
    yield from _no_import_of(*NETWORK, *SYSTEM, types_too=False, why="a decision is a pure function")(source)
    for name, call in calls(source):
        if name == "open":
            yield Finding(source.name, call.lineno, "opens a file: a decision is a pure function")


def _family(module: str) -> str:
    """The dialect in whose family of files a module is; empty for none."""
    name = module.removeprefix("proxy.wire.").partition(".")[0].partition("_")[0]
    return name if module.startswith("proxy.wire.") and name in FAMILIES else ""


def _no_dialect(source: Source) -> Iterator[Finding]:
    for found in imports(source):
        if _family(found.name):
            yield Finding(source.name, found.line, f"imports {found.name}: what it needs of a dialect it asks of all")


RULES = (
    Rule(
        "policies import no layer above",
        "policies know neither interceptors nor proxy",
        inside("policies"),
        _no_import_of("interceptors", "proxy", why="imports run policies <- interceptors <- proxy"),
        planted=(
            ("policies/planted.py", "from interceptors.calls import ToolCall\n"),
            ("policies/planted.py", "def late() -> None:\n    import proxy.gate\n"),
        ),
        innocent=(("policies/planted.py", "from policies.model import Policy\nimport proxying\n"),),
    ),
    Rule(
        "interceptors import no layer above",
        "interceptors do not know the proxy",
        inside("interceptors"),
        _no_import_of("proxy", why="imports run policies <- interceptors <- proxy"),
        planted=(("interceptors/planted.py", "from proxy import gate\n"),),
        innocent=(("interceptors/planted.py", "from policies.model import Policy\nfrom . import calls\n"),),
    ),
    Rule(
        "product imports no test code",
        "what ships needs neither the tests nor their tools",
        inside("policies", "interceptors", "proxy"),
        _no_import_of("tests", "benchmarks", "pytest", "hypothesis", "unittest", why="it does not ship"),
        planted=(("proxy/planted.py", "import pytest\n"), ("proxy/planted.py", "from unittest.mock import Mock\n")),
        innocent=(("proxy/planted.py", "from proxy.testsuite import run\n"),),
    ),
    Rule(
        "interceptors do no IO",
        "a decision touches no network, file, clock, thread or environment",
        inside("interceptors"),
        _no_io,
        planted=(
            ("interceptors/planted.py", "import asyncio\n"),
            ("interceptors/planted.py", "from os import environ\n"),
            ("interceptors/planted.py", "from urllib.request import urlopen\n"),
            ("interceptors/planted.py", "text = open('policy.yaml')\n"),
        ),
        innocent=(
            (
                "interceptors/planted.py",
                "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pathlib import Path\n",
            ),
        ),
    ),
    Rule(
        "policies use no network",
        "a policy is loaded from files and nothing else",
        inside("policies"),
        _no_import_of(*NETWORK, "sqlite3", "subprocess", "threading", why="a policy needs files only", types_too=False),
        planted=(("policies/planted.py", "import aiohttp\n"),),
        innocent=(("policies/planted.py", "from pathlib import Path\n"),),
    ),
    Rule(
        "wire and gate are sans-IO",
        "the wire and the gate are functions from events to commands",
        inside("proxy/wire", "proxy/gate.py", "proxy/gate"),
        _no_import_of(*NETWORK, "os", "sqlite3", "subprocess", "threading", "time", why="it is sans-IO"),
        planted=(
            ("proxy/gate.py", "import asyncio\n"),
            ("proxy/wire/planted.py", "from aiohttp import web\n"),
            ("proxy/wire/planted.py", "import time as clock\n"),
        ),
        innocent=(("proxy/exchange.py", "import asyncio\n"), ("proxy/wire/planted.py", "import jiter\n")),
    ),
    Rule(
        "no file outside a dialect names one",
        "what the gate needs of a dialect it asks of the registry (decision 4)",
        lambda source: source.is_in("proxy") and source.name != "proxy/wire/registry.py" and not _family(source.module),
        _no_dialect,
        planted=(("proxy/planted.py", "from proxy.wire.gemini import GEMINI\n"),),
        innocent=(("proxy/planted.py", "from proxy.wire.registry import DIALECTS\n"),),
    ),
    Rule(
        "doubles share no wire code",
        "the scripted provider cannot make the gate's mistakes, since it shares none of its reading or writing",
        inside("proxy/demo"),
        _no_import_of(
            "proxy.wire", "proxy.gate", "interceptors", why="a double that shares code cannot see its faults"
        ),
        planted=(
            ("proxy/demo/planted.py", "from proxy.wire.sse import Framer\n"),
            ("proxy/demo/planted.py", "from ..wire import sse\n"),
        ),
        innocent=(("proxy/demo/planted.py", "from proxy.demo import script\n"),),
    ),
    Rule(
        "only the command line imports the app",
        "the composition root knows everything, so nothing may know it",
        inside("proxy", but=STARTS_THE_APP),
        _no_import_of("proxy.app", why="only the command line starts the app"),
        planted=(("proxy/exchange.py", "from proxy.app import build\n"), ("proxy/gate.py", "from proxy import app\n")),
        innocent=(("proxy/commands/serve.py", "from proxy.app import build\n"),),
    ),
)
