"""House rules on what may not be called: lenient parsers, hidden clocks and environments, handlers that hide faults."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tests.tidy.names import aliases, calls, dotted, imports, uses
from tests.tidy.rule import Rule, inside
from tests.tidy.source import PRODUCT, Finding, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Where each may be used after all. Keep these lists short: a file comes in with a reason in its review, or not at all.
DOUBLES = ("proxy/demo",)
COMMAND_LINE = ("proxy/cli.py", "proxy/commands")
READS_ENVIRONMENT = (*COMMAND_LINE, *DOUBLES, "proxy/environment.py")
READS_CLOCK = (*DOUBLES, "proxy/clock.py")
CATCHES_ALL = ("interceptors/pipeline.py", "proxy/exchange.py")
WRITES_TO_TERMINAL = (*COMMAND_LINE, *DOUBLES)
# Lenient parsers may read what the gate itself wrote (its store), never what came over a wire or from a policy.
READS_OUTSIDE_DATA = ("policies", "interceptors", "proxy/wire", "proxy/gate.py", "proxy/facts", "proxy/facts.py")

BROAD = ("Exception", "BaseException")
LENIENT_JSON = ("json.loads", "json.load", "json.JSONDecoder")
LENIENT_JSON_OUTSIDE = ("orjson.loads", "msgspec.json.decode", "pydantic_core.from_json")
LENIENT_YAML = tuple(f"yaml.{kind}_load{many}" for kind in ("safe", "full", "unsafe") for many in ("", "_all"))


def _not_used(*names: str, why: str) -> Callable[[Source], Iterator[Finding]]:
    def check(source: Source) -> Iterator[Finding]:
        for name, node in uses(source):
            if any(name == banned or name.startswith(f"{banned}.") for banned in names):
                yield Finding(source.name, node.lineno, f"uses {name}: {why}")

    return check


def _no_method(method: str, why: str) -> Callable[[Source], Iterator[Finding]]:
    def check(source: Source) -> Iterator[Finding]:
        for node in source.nodes:
            if isinstance(node, ast.Attribute) and node.attr == method:
                yield Finding(source.name, node.lineno, f"uses {method}: {why}")

    return check


def _no_module(module: str, why: str) -> Callable[[Source], Iterator[Finding]]:
    def check(source: Source) -> Iterator[Finding]:
        for found in imports(source):
            if found.is_of(module):
                yield Finding(source.name, found.line, f"imports {module}: {why}")

    return check


def _no_lenient_json_outside(source: Source) -> Iterator[Finding]:
    # A single text has no keys to lose.
    texts = {id(call.func) for _, call in calls(source) if any(_is_text(word) for word in call.keywords)}
    for name, node in uses(source):
        if name in LENIENT_JSON_OUTSIDE and id(node) not in texts:
            yield Finding(source.name, node.lineno, f"uses {name}: it keeps the last of duplicate keys")


def _is_text(word: ast.keyword) -> bool:
    return word.arg == "type" and isinstance(word.value, ast.Name) and word.value.id == "str"


def _strict_jiter(source: Source) -> Iterator[Finding]:
    for name, call in calls(source):
        if name.endswith("jiter.from_json"):
            said = {word.arg: word.value for word in call.keywords}
            for option, wanted in (("catch_duplicate_keys", True), ("allow_inf_nan", False)):
                value = said.get(option)
                if not (isinstance(value, ast.Constant) and value.value is wanted):
                    yield Finding(source.name, call.lineno, f"calls jiter.from_json without {option}={wanted}")


def _no_catch_all(source: Source) -> Iterator[Finding]:
    known = aliases(source)
    for node in source.nodes:
        if isinstance(node, ast.ExceptHandler):
            caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type] if node.type else []
            broad = node.type is None or any(dotted(one, known) in BROAD for one in caught)
            if broad and not _reraises(node):
                yield Finding(source.name, node.lineno, "catches everything: only the pipeline and the exchange may")
    for name, call in calls(source):
        if name == "contextlib.suppress" and any(dotted(one, known) in BROAD for one in call.args):
            yield Finding(source.name, call.lineno, "suppresses everything")


def _reraises(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def _no_print(source: Source) -> Iterator[Finding]:
    for name, call in calls(source):
        if name == "print":
            yield Finding(source.name, call.lineno, "prints: only commands speak to a terminal")


RULES = (
    Rule(
        "no splitlines",
        "lines end with CR, LF or CRLF and nothing else; splitlines breaks at U+2028 and corrupts JSON",
        inside(*PRODUCT),
        _no_method("splitlines", "it breaks lines at U+2028 and others"),
        planted=(("proxy/wire/planted.py", "rows = text.splitlines()\n"), ("proxy/planted.py", "f = str.splitlines\n")),
        innocent=(("proxy/wire/planted.py", "rows = data.split(b'\\n')\n"),),
    ),
    Rule(
        "no lenient JSON parser",
        "json.loads takes duplicate keys, NaN and lone surrogates",
        inside(*PRODUCT, but=DOUBLES),
        _not_used(*LENIENT_JSON, why="it takes duplicate keys and NaN"),
        planted=(
            ("proxy/planted.py", "import json\nvalue = json.loads(text)\n"),
            ("proxy/planted.py", "from json import loads as read\nvalue = read(text)\n"),
            ("policies/planted.py", "import json as j\nparse = j.load\n"),
        ),
        innocent=(("proxy/planted.py", "import json\ntext = json.dumps(value)\n"),),
    ),
    Rule(
        "no lenient JSON parser on outside data",
        "orjson and msgspec silently keep the last of duplicate keys",
        inside(*READS_OUTSIDE_DATA),
        _no_lenient_json_outside,
        planted=(
            ("proxy/wire/planted.py", "import orjson\nvalue = orjson.loads(data)\n"),
            ("proxy/facts.py", "from msgspec import json\nvalue = json.decode(data)\n"),
        ),
        innocent=(
            ("proxy/store.py", "import orjson\nvalue = orjson.loads(row)\n"),
            ("proxy/wire/planted.py", "import msgspec\nkey = msgspec.json.decode(data, type=str)\n"),
        ),
    ),
    Rule(
        "jiter is strict",
        "each use of jiter refuses duplicate keys, NaN and infinities",
        inside(*PRODUCT),
        _strict_jiter,
        planted=(
            ("proxy/wire/planted.py", "import jiter\nvalue = jiter.from_json(data, allow_inf_nan=False)\n"),
            ("proxy/wire/planted.py", "from jiter import from_json\nvalue = from_json(data)\n"),
            (
                "proxy/wire/planted.py",
                "import jiter\nvalue = jiter.from_json(data, allow_inf_nan=True, catch_duplicate_keys=True)\n",
            ),
        ),
        innocent=(
            (
                "proxy/wire/planted.py",
                "import jiter\nvalue = jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=True)\n",
            ),
        ),
    ),
    Rule(
        "no lenient YAML",
        "YAML 1.1 reads `no` as false, 010 as eight and keeps the last of duplicate keys",
        inside(*PRODUCT),
        _not_used(*LENIENT_YAML, why="it reads `no` as false and keeps the last of duplicate keys"),
        planted=(("proxy/config.py", "import yaml\nvalue = yaml.safe_load(text)\n"),),
        innocent=(("policies/planted.py", "import yaml\nnode = yaml.compose(text, Loader=Strict)\n"),),
    ),
    Rule(
        "no wait_for",
        "asyncio.wait_for of Python 3.11 loses a cancellation that comes as what it waits for ends",
        inside(*PRODUCT),
        _not_used("asyncio.wait_for", why="it may lose a cancellation; asyncio.timeout does not"),
        planted=(("proxy/planted.py", "import asyncio\nasyncio.wait_for(it, 1)\n"),),
    ),
    Rule(
        "no re",
        "patterns run on one linear engine",
        inside(*PRODUCT, but=DOUBLES),
        _no_module("re", "it backtracks; patterns run on re2"),
        planted=(("policies/planted.py", "import re\n"), ("proxy/planted.py", "from re import compile\n")),
        innocent=(("policies/planted.py", "import re2\nimport reprlib\n"),),
    ),
    Rule(
        "no evaluation of text as code",
        "the policy language has its own tokenizer; text is never run as Python",
        inside(*PRODUCT),
        _not_used("eval", "exec", "ast.literal_eval", "ast.parse", "pickle", "marshal", why="text is never code"),
        planted=(
            ("policies/planted.py", "value = eval(text)\n"),
            ("policies/planted.py", "from ast import literal_eval\nvalue = literal_eval(text)\n"),
            ("proxy/planted.py", "import pickle\nvalue = pickle.loads(data)\n"),
        ),
        innocent=(("policies/planted.py", "value = expression.evaluate(scope)\n"),),
    ),
    Rule(
        "no wall clock but the clock's",
        "time comes in through the clock, so that a test can set it",
        inside(*PRODUCT, but=READS_CLOCK),
        _not_used(
            "time.time",
            "time.time_ns",
            "datetime.datetime.now",
            "datetime.datetime.utcnow",
            "datetime.datetime.today",
            "datetime.date.today",
            why="time comes in through the clock",
        ),
        planted=(
            ("proxy/planted.py", "import time\nstarted = time.time()\n"),
            ("policies/planted.py", "from datetime import UTC, datetime\nnow = datetime.now(UTC)\n"),
            ("proxy/planted.py", "import datetime as d\ntoday = d.date.today()\n"),
        ),
        innocent=(("proxy/planted.py", "import time\nstarted = time.monotonic()\n"),),
    ),
    Rule(
        "no environment but at the edge",
        "settings are read once, at the edge, and passed down",
        inside(*PRODUCT, but=READS_ENVIRONMENT),
        _not_used("os.environ", "os.getenv", "os.environb", why="settings are read at the edge and passed down"),
        planted=(
            ("proxy/planted.py", "import os\nkey = os.environ['KEY']\n"),
            ("policies/planted.py", "from os import getenv\nkey = getenv('KEY')\n"),
        ),
        innocent=(("proxy/commands/serve.py", "import os\nkey = os.environ['KEY']\n"),),
    ),
    Rule(
        "catch everything in two places only",
        "a fault becomes a recorded refusal in the pipeline or at the top of the exchange, and nowhere is it swallowed",
        inside(*PRODUCT, but=CATCHES_ALL),
        _no_catch_all,
        planted=(
            ("proxy/planted.py", "try:\n    run()\nexcept Exception:\n    pass\n"),
            ("proxy/planted.py", "try:\n    run()\nexcept:\n    pass\n"),
            ("proxy/planted.py", "try:\n    run()\nexcept (ValueError, BaseException) as error:\n    log(error)\n"),
            ("proxy/planted.py", "from contextlib import suppress\nwith suppress(Exception):\n    run()\n"),
        ),
        innocent=(
            ("proxy/planted.py", "try:\n    run()\nexcept BaseException:\n    close()\n    raise\n"),
            ("proxy/planted.py", "try:\n    run()\nexcept (OSError, ValueError):\n    pass\n"),
        ),
    ),
    Rule(
        "no print but in commands",
        "only commands speak to a terminal",
        inside(*PRODUCT, but=WRITES_TO_TERMINAL),
        _no_print,
        planted=(("proxy/planted.py", "print('here')\n"),),
        innocent=(("proxy/planted.py", "pprint('here')\nlog.print('here')\n"),),
    ),
)
