"""A candidate from the text of a file."""

from __future__ import annotations

import jiter

from policies.fees.candidate import Candidate, CandidateError, read_candidate


def parse_candidate(text: str) -> Candidate:
    """A candidate from strict JSON: no duplicate key, nothing behind the document, exact numbers.

    Raises `CandidateError`.
    """
    try:
        value = jiter.from_json(
            text.encode(),
            allow_inf_nan=False,
            cache_mode="none",
            catch_duplicate_keys=True,
            float_mode="decimal",
            partial_mode=False,
        )
    except ValueError as error:
        why = "a lone surrogate" if isinstance(error, UnicodeError) else str(error)
        raise CandidateError((f"candidate: not strict JSON: {why}",)) from None
    return read_candidate(value)
