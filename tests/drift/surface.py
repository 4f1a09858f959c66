"""What the installed SDKs know of their providers: the endpoints they call and the types of their unions.

It needs the SDKs and the standard library alone, so that `make drift` can run it where only the newest SDKs are:
`python surface.py` prints it as JSON. Everything is read from the SDKs' code and types; nothing is called.
"""

from __future__ import annotations

import ast
import gzip
import importlib.util
import json
import re
import sys
import typing
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import Any

VERBS = {"_get": "GET", "_post": "POST", "_put": "PUT", "_patch": "PATCH", "_delete": "DELETE", "_get_api_list": "GET"}
_VARIABLE = re.compile(r"\{+[^}]*\}+")


def surface() -> dict[str, list[str]]:
    """By what it is, `endpoints anthropic` or `output items openai`: the names, sorted."""
    found: dict[str, set[str]] = {
        "endpoints anthropic": _resources("anthropic"),
        "endpoints openai": _resources("openai"),
        "endpoints gemini": _google(),
        "endpoints ollama": _ollama(),
        "endpoints bedrock": _operations(),
        "endpoints vertex": _vertex(),
        "endpoints azure": _azure(),
        **_anthropic_types(),
        **_openai_types(),
        **_google_types(),
        **_bedrock_types(),
    }
    return {name: sorted(names) for name, names in sorted(found.items())}


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None, package
    assert spec.origin is not None, package
    return Path(spec.origin).parent


def _resources(package: str) -> set[str]:
    """`POST /v1/messages`, from the calls of a generated SDK's resources; a variable segment is `{}`."""
    found = set()
    for file in (_folder(package) / "resources").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in VERBS:
                path = _text(node.args[0]) if node.args else None
                if path is not None and path.startswith("/"):
                    given = next((_text(word.value) for word in node.keywords if word.arg == "method"), None)
                    found.add(f"{(given or VERBS[node.func.attr]).upper()} {_plain(path)}")
    return found


def _google() -> set[str]:
    """From the functions that build a path and send it; what stands for a resource's name is `{}`."""
    found = set()
    for file in _folder("google.genai").glob("*.py"):
        if "test" in file.name or file.name.startswith("_"):
            continue
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                methods = {word for node in ast.walk(function) if (word := _sent(node))}
                paths = {word for node in ast.walk(function) if (word := _assigned(node))}
                found |= {f"{method.upper()} /{_plain(path)}" for method in methods for path in paths}
    for file in (_folder("google.genai") / "_gaos").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                words = {word.arg: _text(word.value) for word in node.keywords}
                path, method = words.get("path"), words.get("method")
                if path and method and path.startswith("/"):
                    found.add(f"{method} /{_plain(path.replace('/{api_version}', '', 1).lstrip('/'))}")
    return found


def _sent(node: ast.AST) -> str | None:
    sends = ("request", "async_request", "request_streamed", "async_request_streamed")
    is_sent = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in sends
    return _text(node.args[0]) if isinstance(node, ast.Call) and is_sent and node.args else None


def _assigned(node: ast.AST) -> str | None:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "path":
        return _text(node.value)
    return None


def _ollama() -> set[str]:
    text = (_folder("ollama") / "_client.py").read_text(encoding="utf-8")
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and len(node.args) >= 2:
            words = [_text(argument) for argument in node.args]
            for method, path in pairwise(words):
                if method in ("GET", "POST", "DELETE", "HEAD") and path and path.startswith("/api/"):
                    found.add(f"{method} {_plain(path)}")
    return found


def _bedrock() -> Any:
    folder = _folder("botocore") / "data" / "bedrock-runtime"
    file = next(folder.rglob("service-2.json*"))
    raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return json.loads(raw)


def _operations() -> set[str]:
    ways = [operation["http"] for operation in _bedrock()["operations"].values()]
    return {f"{way['method']} {_plain(way['requestUri'])}" for way in ways}


def _vertex() -> set[str]:
    """Google's models by the verbs that its SDK knows, and what Anthropic's client makes of its own paths there."""
    place = "/projects/{}/locations/{}/publishers/google/models"
    found = {f"POST {place}{one.removeprefix('POST ')}" for one in _google() if one.startswith("POST /{}:")}
    text = (_folder("anthropic") / "lib" / "vertex" / "_client.py").read_text(encoding="utf-8")
    words = {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)}
    verbs = [word for word in words if isinstance(word, str) and word.endswith("awPredict") and "/" not in word]
    for path in words:
        if isinstance(path, str) and path.startswith("/projects/"):
            found |= {f"POST {_plain(path.replace('{specifier}', verb))}" for verb in verbs}
    return found


def _azure() -> set[str]:
    """What the client for Azure sends to a deployment."""
    from openai.lib.azure import _deployments_endpoints

    return {f"POST /openai/deployments/{{}}{path}" for path in _deployments_endpoints}


def _text(node: ast.AST) -> str | None:
    """The text of a path expression, however the SDK builds it; variables are `{}`."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    if isinstance(node, ast.IfExp):
        return _text(node.body)
    if isinstance(node, ast.Call):
        inner = node.func.value if isinstance(node.func, ast.Attribute) and not node.args else None
        if isinstance(node.func, ast.Attribute) and node.func.attr == "format_map":
            inner = node.func.value
        return _text(inner if inner is not None else node.args[0]) if inner is not None or node.args else None
    return None


def _plain(path: str) -> str:
    return _VARIABLE.sub("{}", path.partition("?")[0])


def _anthropic_types() -> dict[str, set[str]]:
    from anthropic import types
    from anthropic.types import beta

    return {
        "blocks anthropic": _tags(types.ContentBlock) | _tags(beta.BetaContentBlock),
        "deltas anthropic": _tags(types.RawContentBlockDelta) | _tags(beta.BetaRawContentBlockDelta),
        "events anthropic": _tags(types.RawMessageStreamEvent) | _tags(beta.BetaRawMessageStreamEvent),
        "tools anthropic": _tags(types.ToolUnionParam) | _tags(beta.BetaToolUnionParam),
    }


def _openai_types() -> dict[str, set[str]]:
    from openai.types import chat, responses
    from openai.types.responses import response_input_item_param

    return {
        "calls openai-chat": _tags(chat.ChatCompletionMessageToolCallUnion),
        "tools openai-chat": _tags(chat.ChatCompletionToolUnionParam),
        "output items openai-responses": _tags(responses.ResponseOutputItem),
        "input items openai-responses": _tags(response_input_item_param.ResponseInputItemParam),
        "events openai-responses": _tags(responses.ResponseStreamEvent),
        "tools openai-responses": _tags(responses.ToolParam),
    }


def _google_types() -> dict[str, set[str]]:
    from google.genai import types

    return {
        "parts gemini": {field.alias or name for name, field in types.Part.model_fields.items()},
        "tools gemini": {field.alias or name for name, field in types.Tool.model_fields.items()},
        "finish reasons gemini": {str(reason.value) for reason in types.FinishReason},
    }


def _bedrock_types() -> dict[str, set[str]]:
    shapes = _bedrock()["shapes"]
    return {
        "blocks bedrock": set(shapes["ContentBlock"]["members"]),
        "deltas bedrock": set(shapes["ContentBlockDelta"]["members"]),
        "events bedrock": set(shapes["ConverseStreamOutput"]["members"]),
        "stop reasons bedrock": set(shapes["StopReason"]["enum"]),
    }


def _tags(union: Any) -> set[str]:
    """The values of `type` over the members of a union, nested ones included."""
    found: set[str] = set()
    for member in _members(union):
        fields = getattr(member, "model_fields", None)
        hint = fields["type"].annotation if fields and "type" in fields else None
        if fields is None:
            hint = typing.get_type_hints(member).get("type")
        found |= {str(value) for value in _literals(hint)}
    return found


def _members(union: Any) -> list[Any]:
    arguments = typing.get_args(union)
    if isinstance(union, type):
        return [union]
    return [member for argument in arguments for member in _members(argument) if isinstance(member, type)]


def _literals(hint: Any) -> list[Any]:
    if isinstance(hint, str) or hint is None or hint is type(None):
        return [hint] if isinstance(hint, str) else []
    if isinstance(hint, Enum):
        return [hint.value]
    return [value for argument in typing.get_args(hint) for value in _literals(argument)]


if __name__ == "__main__":
    json.dump(surface(), sys.stdout, indent=1)
