"""Stage 3: recipients, addresses, places and accounts that the policy lists, and no others (DESIGN 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from interceptors.case import Stage
from interceptors.decisions import Verdict
from policies.model import Ruling

if TYPE_CHECKING:
    from interceptors.case import Case
    from interceptors.guarded import Guarded
    from policies.allowed import Allowlist

_NAME: Final = "allowlists"


class Allowlists:
    """One row for each argument with a list: it passes where every value that stands there is on the list."""

    name = _NAME
    stage = Stage.ALLOWLISTS

    def judge(self, case: Case) -> tuple[Verdict, ...]:
        reading = case.reading
        if reading is None or not case.found.guarded:
            return ()
        return tuple(
            _row(case, place, place.argument.allow, reading.values)
            for place in case.found.guarded
            if place.argument.allow is not None
        )


def _row(case: Case, place: Guarded, allow: Allowlist, arguments: object) -> Verdict:
    rule = place.rule(case.found.tool, "allow")
    for path, value in place.values(arguments):
        if not isinstance(value, str) or not allow.accepts(value):
            return Verdict(_NAME, Ruling.FORBID, allow.reason, rule, f"argument {path!r}: is not on the list")
    return Verdict(_NAME, Ruling.ALLOW, rule=rule)
