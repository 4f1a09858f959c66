"""The two ways in which an expression fails: at load, with a column, and at run time, with the path that was read."""

from __future__ import annotations


class ExpressionError(ValueError):
    """The text is no expression of the language, or its types do not fit. `column` counts from 1."""

    def __init__(self, message: str, column: int = 1) -> None:
        super().__init__(f"{message} (column {column})")
        self.message = message
        self.column = column


class EvaluationError(ValueError):
    """The expression has no value here. The message names paths and kinds, never a value.

    `path` is the dotted path that could not be read, empty where the fault lies in a computation.
    """

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path


class Mismatch(Exception):  # noqa: N818 - not an error of its own: one of the two above is made of it
    """Kinds that do not go together. The checker gives it a column, the evaluator makes it an `EvaluationError`."""
