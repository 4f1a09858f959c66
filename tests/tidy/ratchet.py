"""What is larger than the house likes. Numbers here only fall, and an entry that is no longer needed must go."""

from __future__ import annotations

# By path, in lines.
MODULES: dict[str, int] = {
    "policies/model.py": 314,
    "proxy/exchange.py": 363,
    "proxy/gate.py": 396,
    "proxy/listener.py": 331,
}

# By path and qualified name (`proxy/gate.py:Gate.receive`), in lines.
FUNCTIONS: dict[str, int] = {}
