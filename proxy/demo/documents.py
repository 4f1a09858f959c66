"""The doubles' own way to read JSON: strict, and numbers as they are spelled."""

from __future__ import annotations

from typing import Any

import jiter


def read(data: bytes) -> Any:
    """The document. A number that is no integer keeps its spelling (`str` gives it). `ValueError` if it is not JSON."""
    return jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=True, float_mode="lossless-float")


def read_plain(text: str) -> Any:
    """The same, numbers as Python's own, for documents that are written again."""
    return jiter.from_json(text.encode(), allow_inf_nan=False, catch_duplicate_keys=True)
