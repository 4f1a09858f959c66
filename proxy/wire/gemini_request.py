"""What a Gemini request asks for: its tools, the form of its answer, and the query of its URL (WIRE.md 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from interceptors.context import DeclaredTool
from interceptors.strict_json import canonical
from proxy.wire import envelope
from proxy.wire.dialect import DeclaredTools, OutputFormat, declared_tools
from proxy.wire.kept import kept

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEYS: Final = frozenset({"key", "access_token", "oauth_token"})
_HARMLESS: Final = frozenset({"prettyPrint", "quotaUser", "$userProject"})
_COUNTS: Final = frozenset({"maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"})
"""Of a schema; the protocol buffer writes such numbers as strings."""


def refuse_query(query: str, *, streamed: bool) -> None:
    """Raise `envelope.EnvelopeError` for what is not known to leave the answer's form as it is."""
    alt = []
    for parameter in filter(None, query.split("&")):
        name, _, value = parameter.partition("=")
        if name in _KEYS:
            raise envelope.EnvelopeError(f"the query holds {name!r}: send the key in the header 'x-goog-api-key'")
        if name == "alt":
            alt.append(value)
        elif name not in _HARMLESS:
            raise envelope.EnvelopeError("the query holds a parameter that this gate does not know")
    if streamed and alt != ["sse"]:
        raise envelope.EnvelopeError("a stream that is one JSON array is not supported: add alt=sse to the query")
    if not streamed and alt not in ([], ["json"]):
        raise envelope.EnvelopeError("the query asks for another form of answer than JSON")


def camel(raw: Mapping[str, bytes]) -> dict[str, bytes]:
    """Members by their JSON names; Google also takes them by those of the protocol buffer (`function_call`)."""
    found: dict[str, bytes] = {}
    for member, value in raw.items():
        name = camel_name(member)
        if name in found:
            raise envelope.EnvelopeError("a member stands there under two of its names")
        found[name] = value
    return found


def camel_name(member: str) -> str:
    """`functionCall` for `function_call`."""
    first, *rest = member.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def object_of(raw: bytes) -> dict[str, bytes]:
    """The members of an object; none for any other value."""
    return camel(envelope.members(raw)) if raw.startswith(b"{") else {}


@kept
def request_tools(tools: bytes, cached: bool) -> DeclaredTools:
    """By the bytes of the member: an agent declares the same tools with every request."""
    declared: list[DeclaredTool] = []
    provider: list[str] = ["cached_content"] if cached else []
    for element in [tools] if tools.startswith(b"{") else envelope.list_or_none(tools):
        for kind, content in object_of(element).items():
            if content == b"null" or kind == "computerUse":  # its calls are functions of names that Google chose
                continue
            if kind == "functionDeclarations":
                declared += map(_declared, map(object_of, envelope.list_or_none(content)))
            elif kind == "mcpServers":
                provider += [f"mcp/{_text(object_of(one), 'name')}" for one in envelope.list_or_none(content)]
            else:
                provider.append("".join(f"_{mark.lower()}" if mark.isupper() else mark for mark in kind))
    return declared_tools([tool for tool in declared if tool.name], provider)


def _declared(function: Mapping[str, bytes]) -> DeclaredTool:
    schema = function.get("parametersJsonSchema")
    if schema is None and (stated := function.get("parameters", b"null")).startswith(b"{"):
        schema = canonical(_json_schema(envelope.value_of(stated)))
    return DeclaredTool(_text(function, "name"), schema)


def _json_schema(schema: Any) -> Any:
    """Google's dialect of OpenAPI as JSON Schema: types in capitals, `nullable`, counts as strings."""
    if not isinstance(schema, dict):
        return schema
    found: dict[str, Any] = {}
    for member, value in schema.items():
        name = camel_name(member)
        if name == "type" and isinstance(value, str):
            found |= {} if value == "TYPE_UNSPECIFIED" else {"type": value.lower()}
        elif name in _COUNTS and isinstance(value, str) and value.isdigit():
            found[name] = int(value)
        elif name in ("properties", "defs") and isinstance(value, dict):
            found[name] = {key: _json_schema(one) for key, one in value.items()}
        elif name in ("items", "additionalProperties"):
            found[name] = _json_schema(value)
        elif name == "anyOf" and isinstance(value, list):
            found[name] = [_json_schema(one) for one in value]
        elif name not in ("nullable", "type"):
            found[name] = value
    if schema.get("nullable") is True and "type" in found:
        found["type"] = [found["type"], "null"]
        if isinstance(found.get("enum"), list):
            found["enum"] = [*found["enum"], None]
    return found


def output(raw: Mapping[str, bytes]) -> OutputFormat | None:
    """Of `generationConfig`, where it asks for a schema, which is named by its `title`."""
    config = object_of(raw.get("generationConfig", b"null"))
    if (stated := config.get("responseJsonSchema", b"null")).startswith(b"{"):
        return OutputFormat(_text(envelope.members(stated), "title"), stated)
    if (stated := config.get("responseSchema", b"null")).startswith(b"{"):
        schema = canonical(_json_schema(envelope.value_of(stated)))
        return OutputFormat(_text(envelope.members(stated), "title"), schema)
    return None


def _text(members: Mapping[str, bytes], name: str) -> str:
    value = envelope.value_of(members[name]) if name in members else ""
    return value if isinstance(value, str) else ""
