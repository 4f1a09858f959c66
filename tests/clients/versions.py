"""`python -m tests.clients.versions`: which agents the client tests run, version by version."""

from __future__ import annotations

import json
from importlib import metadata

from tests.clients.running import NODE

PYTHON = (
    "anthropic",
    "openai",
    "openai-agents",
    "langchain-anthropic",
    "langchain-openai",
    "pydantic-ai-slim",
    "google-genai",
    "ollama",
)


def versions() -> dict[str, str]:
    """By package: the Python ones as they are installed, the others as they are pinned."""
    pinned: dict[str, str] = json.loads((NODE / "package.json").read_text(encoding="utf-8"))["dependencies"]
    return {**{name: metadata.version(name) for name in PYTHON}, **pinned}


if __name__ == "__main__":
    for name, version in sorted(versions().items()):
        print(f"{name:28} {version}")
