"""What a request to Bedrock asks for: its tools, the form of its answer, and its URL (WIRE.md 5).

Tools stand in `toolConfig`, in what is handed on to the model's own vendor, and as references inside messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import re2

from interceptors.context import DeclaredTool
from proxy.wire import envelope
from proxy.wire.anthropic_tools import tools_of
from proxy.wire.dialect import DeclaredTools, OutputFormat, declared_tools
from proxy.wire.kept import kept
from proxy.wire.members import may_mention

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from proxy.wire.paths import Address

TOOL_CONFIG: Final = "toolConfig"
MODEL_FIELDS: Final = "additionalModelRequestFields"
_SIGNED: Final = "X-Amz-Signature"


_ID: Final = "[a-zA-Z0-9](?:[.]?[a-zA-Z0-9:-])*"
_OWN: Final = (
    "(?:imported-model|provisioned-model|custom-model-deployment|inference-profile|application-inference-profile|"
    f"default-prompt-router|prompt-router|prompt)/{_ID}|custom-model/{_ID}/[a-z0-9]{{12}}"
)
_ARN: Final = re2.compile(
    f"arn:aws(?:-[a-z-]{{1,20}})?:(?:bedrock:[a-z0-9-]{{1,20}}:(?::foundation-model/{_ID}|[0-9]{{12}}:(?:{_OWN}))|"
    f"sagemaker:[a-z0-9-]{{1,20}}:[0-9]{{12}}:endpoint/{_ID})"
)
"""By which a model may be named (botocore's `ConversationalModelId`). No part of it is a dot segment."""
_PROMPT: Final = ":prompt/"


def model_of(at: Address) -> str:
    """The model that the path names, as it is spelled elsewhere."""
    return _spelled(at.variables.get("model", ""))


def without_arn(path: str) -> str | None:
    """A path whose model is an ARN, with a name in its place that holds no escaped slash; None for any other."""
    start, root, model, way = path.split("/") if path.count("/") == 3 else ("", "", "", "")
    return f"{start}/{root}/arn/{way}" if root == "model" and _ARN.fullmatch(_spelled(model)) else None


def is_arn(model: str) -> bool:
    return model.startswith("arn:")


def stored_prompt(model: str) -> tuple[str, ...]:
    """A prompt that the provider keeps stands for the model: what tools it brings, nobody here can read."""
    return ("prompt",) if is_arn(model) and _PROMPT in model else ()


def _spelled(model: str) -> str:
    for escape, character in (("%3A", ":"), ("%3a", ":"), ("%2F", "/"), ("%2f", "/")):
        model = model.replace(escape, character)
    return model


def refuse_query(query: str) -> None:
    """Raise `envelope.EnvelopeError` for any query: these calls have none."""
    if _SIGNED.lower() in query.lower():
        raise envelope.EnvelopeError("the URL is signed (AWS Signature Version 4): send a bearer key in a header")
    if query:
        raise envelope.EnvelopeError("the query is no part of this call")


def request_tools(raw: Mapping[str, bytes], body: bytes, model: str) -> DeclaredTools:
    """All tools of a Converse request. `raw` are the members of `body`."""
    inline: tuple[str, ...] = ()
    if may_mention(body, b"toolAddition", b"\\u0041"):
        inline = tuple(_inline(raw.get("messages", b"[]")))
    prompt = ("prompt",) if raw.get("promptVariables", b"null") != b"null" else stored_prompt(model)
    return _declared(raw.get(TOOL_CONFIG, b"null"), raw.get(MODEL_FIELDS, b"null"), (*inline, *prompt))


def output(raw: Mapping[str, bytes]) -> OutputFormat | None:
    """`outputConfig.textFormat`, where it is a schema, which stands there as a text."""
    config = envelope.value_of(raw.get("outputConfig", b"null"))
    stated: Any = config
    for member in ("textFormat", "structure", "jsonSchema"):
        stated = stated.get(member) if isinstance(stated, dict) else None
    if not isinstance(stated, dict) or not isinstance(stated.get("schema"), str):
        return None
    name = stated.get("name")
    return OutputFormat(name if isinstance(name, str) else "", stated["schema"].encode())


@kept
def _declared(config: bytes, more: bytes, beside: tuple[str, ...]) -> DeclaredTools:
    """By the bytes of the members: an agent declares the same tools with every request."""
    declared: list[DeclaredTool] = []
    provider: list[str] = []
    tools = envelope.members(config).get("tools", b"null") if config.startswith(b"{") else b"null"
    for element in envelope.list_or_none(tools):
        for kind, tool in envelope.members(element).items():
            if kind == "toolSpec":
                declared += _spec(envelope.members(tool))
            elif kind == "systemTool":
                provider.append(_text(envelope.members(tool), "name") or kind)
            elif kind != "cachePoint":
                provider.append(kind)
    if more.startswith(b"{"):
        vendor = tools_of(more, envelope.members(more))
        declared += vendor.by_name.values()
        provider += vendor.provider
    return declared_tools(declared, tuple(dict.fromkeys([*provider, *beside])))


def _spec(tool: Mapping[str, bytes]) -> Iterator[DeclaredTool]:
    schema = tool.get("inputSchema", b"null")
    name = _text(tool, "name")
    if name:
        yield DeclaredTool(name, envelope.members(schema).get("json") if schema.startswith(b"{") else None)


def _inline(messages: bytes) -> Iterator[str]:
    """The servers whose tools are added inside messages; any other reference is to a tool that is declared."""
    for message in envelope.list_or_none(messages):
        for block in envelope.list_or_none(envelope.members(message).get("content", b"null")):
            addition = envelope.members(block).get("toolAddition")
            value = envelope.value_of(addition) if addition is not None else None
            tool = value.get("tool") if isinstance(value, dict) else None
            if isinstance(tool, dict) and tool.get("serverName"):
                yield f"mcp/{tool['serverName']}"


def _text(members: Mapping[str, bytes], name: str) -> str:
    value = envelope.value_of(members[name]) if name in members else ""
    return value if isinstance(value, str) else ""
