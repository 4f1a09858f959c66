"""What is wrong with a file: one problem, many of them as an error, and a collector that lets reading go on."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.model import Origin


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake of a file. `path` leads to it from the top of the document and is empty for the whole file."""

    origin: Origin
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.origin}: {self.path}: {self.message}" if self.path else f"{self.origin}: {self.message}"


class DocumentError(ValueError):
    """A file that says something it may not say. `str()` gives one `file:line: path: message` a line."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


class Problems:
    """Collects what is wrong with a document while reading goes on."""

    def __init__(self) -> None:
        self._found: list[Problem] = []

    def add(self, origin: Origin, path: str, message: str) -> None:
        self._found.append(Problem(origin, path, message))

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Keep the `DocumentError` of the block and go on behind it."""
        try:
            yield
        except DocumentError as error:
            self._found.extend(error.problems)

    def __bool__(self) -> bool:
        return bool(self._found)

    def __len__(self) -> int:
        return len(self._found)

    @property
    def found(self) -> tuple[Problem, ...]:
        """In the order of the file, each once."""
        unique = dict.fromkeys(self._found)
        return tuple(sorted(unique, key=lambda problem: (problem.origin.file, problem.origin.line)))
