"""The files of the console, read once, off the loop: templates that are compiled by then, and what stands still."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Final

from jinja2 import DictLoader, Environment, StrictUndefined

from proxy.console import wording

if TYPE_CHECKING:
    from collections.abc import Mapping

_FILTERS: Final = ("age", "clock_time", "grouped", "moment", "plain_value", "short", "shown", "spelled", "words_of")
_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".txt": "text/plain"}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """`digest` stands in its address: another content has another one, so that browsers may keep it."""

    body: bytes
    content_type: str
    digest: str


@dataclass(frozen=True, slots=True)
class Assets:
    templates: Environment
    files: Mapping[str, StaticFile]


def load_assets() -> Assets:
    """Read from beside this module, or from the wheel. It blocks."""
    folder = resources.files("proxy.console")
    texts = {one.name: one.read_text(encoding="utf-8") for one in (folder / "templates").iterdir()}
    files = {one.name: _file(one.name, one.read_bytes()) for one in (folder / "static").iterdir()}
    environment = Environment(
        loader=DictLoader(texts),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    for name in _FILTERS:
        environment.filters[name] = getattr(wording, name)
    environment.globals["static"] = {name: f"/console/static/{name}?v={one.digest}" for name, one in files.items()}
    for name in texts:
        environment.get_template(name)
    return Assets(environment, files)


def _file(name: str, body: bytes) -> StaticFile:
    suffix = name[name.rindex(".") :]
    return StaticFile(body, _TYPES[suffix], hashlib.sha256(body).hexdigest()[:16])
