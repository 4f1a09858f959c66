"""`make drift`: what the newest SDKs know that the locked ones do not, and whether the gate's tables do.

`python -m tests.drift.difference NEWEST.json`, where the file is what `surface.py` printed beside the newest SDKs.
Ends with 1 where something is new that no table knows.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.drift.endpoints import endpoints
from tests.drift.known import KNOWN
from tests.drift.surface import surface


def lines(locked: dict[str, list[str]], newest: dict[str, list[str]]) -> tuple[list[str], int]:
    """The differences as text, and how many of the new names no table knows."""
    told, unknown = [], 0
    tables = {name: set(known) for name, known in KNOWN.items()}
    for one in endpoints():
        tables.setdefault(f"endpoints {one.provider}", set()).add(one.sdk_name)
    for name in sorted({*locked, *newest}):
        before, after = set(locked.get(name, ())), set(newest.get(name, ()))
        told += [f"- {name}: {gone}" for gone in sorted(before - after)]
        for new in sorted(after - before):
            is_known = new in tables.get(name, set())
            unknown += not is_known
            told.append(f"+ {name}: {new}{'' if is_known else '   (in no table)'}")
    return told, unknown


def main() -> int:
    newest = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    told, unknown = lines(surface(), newest)
    print("\n".join(told) or "no difference to the newest SDKs")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
