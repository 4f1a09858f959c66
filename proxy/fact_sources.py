"""Where a fact is read: its source with the secrets in place, and where in it a key may stand.

A key comes from a model's argument. It is one path segment, one query value or one part of a file's name, and never
anything that leads elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote

import yarl

from policies.model import FileSource, HttpSource
from policies.problems import DocumentError, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from policies.model import Fact
    from policies.patterns import Pattern
    from proxy.environment import Environment

PLACE = "{key}"
KEY_LENGTH_MAX = 512


@dataclass(frozen=True, slots=True)
class HttpReading:
    """`url` holds the key's place behind its host; headers have their secrets, and names in lower case."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)

    def target(self, key: str) -> yarl.URL:
        """The URL of a key, percent-encoded as one segment, not to be encoded again."""
        return yarl.URL(self.url.replace(PLACE, quote(key, safe="")), encoded=True)


@dataclass(frozen=True, slots=True)
class FileReading:
    """With the key's place in its path a record a file, else one object from keys to records."""

    path: Path

    @property
    def is_one_file_a_record(self) -> bool:
        return PLACE in str(self.path)

    def target(self, key: str) -> Path:
        return self.path.with_name(self.path.name.replace(PLACE, key)) if self.is_one_file_a_record else self.path


Reading: TypeAlias = "HttpReading | FileReading"


@dataclass(frozen=True, slots=True)
class FactSource:
    """A fact of one policy revision, ready to be read."""

    name: str
    key: Pattern
    timeout_seconds: float
    reading: Reading

    def accepts(self, key: str) -> bool:
        """Whether a key may be asked for at all: defence in depth behind the arguments' own patterns."""
        if not key or key in (".", "..") or len(key) > KEY_LENGTH_MAX or not key.isprintable():
            return False
        if isinstance(self.reading, FileReading) and ("/" in key or "\\" in key):
            return False
        return self.key.matches(key)


def fact_source(fact: Fact, environment: Environment) -> FactSource:
    """The source of a fact, its references expanded.

    Raises:
        SecretError: a reference stands for nothing.
        DocumentError: what the URL expands to is none, or the key would stand in its host or fragment.
    """
    reading: Reading
    match fact.source:
        case HttpSource(url, headers):
            expanded = {name: environment.expand(value) for name, value in headers.items()}
            reading = HttpReading(_checked_url(environment.expand(url), fact), expanded)
        case FileSource(path):
            if PLACE in str(path.parent):
                raise _error(fact, "the key may stand in the name of the file only, not in a folder's")
            reading = FileReading(path)
    return FactSource(fact.name, fact.key, fact.timeout_seconds, reading)


def _checked_url(text: str, fact: Fact) -> str:
    # The message shows no part of the URL: it may hold a secret.
    scheme, separator, rest = text.partition("://")
    authority = rest.partition("/")[0].partition("?")[0]
    if scheme not in ("http", "https") or not separator or not authority:
        raise _error(fact, "the URL is not an absolute http:// or https:// one")
    if PLACE in authority or "@" in authority:
        raise _error(fact, "the URL's host holds no key and no user")
    if "#" in text or not text.isascii() or any(character.isspace() or character == "\\" for character in text):
        raise _error(fact, "the URL has no fragment, no space, no backslash, and is ASCII")
    try:
        url = yarl.URL(text.replace(PLACE, "key"), encoded=True)
        valid = bool(url.host) and url.port is not None
    except ValueError:
        valid = False
    if not valid:
        raise _error(fact, "the URL is not an absolute http:// or https:// one")
    return text


def _error(fact: Fact, message: str) -> DocumentError:
    return DocumentError((Problem(fact.origin, f"facts.{fact.name}", message),))
