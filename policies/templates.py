"""Reply templates: text with `{expression}` parts, in which only typed scalars may stand."""

from __future__ import annotations

from dataclasses import dataclass

from policies.expressions import Environment, Scope


@dataclass(frozen=True, slots=True)
class Template:
    """`paths` are the dotted paths that its parts read, `functions` what they call. `{{` and `}}` are braces."""

    source: str
    paths: frozenset[tuple[str, ...]]
    functions: frozenset[str]

    @classmethod
    def compile(cls, source: str, scope: Scope) -> Template:
        """`ExpressionError` for a bad part, and for one that could be free text, a list or a record."""
        raise NotImplementedError

    @property
    def needs_time_zone(self) -> bool:
        """Whether a part counts days on a calendar."""
        raise NotImplementedError

    def render(self, environment: Environment) -> str:
        """`EvaluationError` where a part has no value."""
        raise NotImplementedError
