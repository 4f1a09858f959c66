"""What others did or do: results of calls that were not released here, and tools that the provider executes."""

from __future__ import annotations

from enum import Enum


class UnknownResults(Enum):
    """What happens to the result of a call that this gate did not release. It grounds and settles nothing anyway."""

    PASS = "pass"  # noqa: S105 - a word of the policy language
    NOTICE = "notice"  # the model reads that nobody vouches for it
    REFUSE = "refuse"  # the request is refused


class ProviderTool(Enum):
    """What happens to a request that hands the model a tool which somebody else than the agent executes.

    Such a tool has run before its call can be read, so the request is the place to decide.
    """

    ALLOW = "allow"  # it passes, and is receipted as observed
    STRIP = "strip"  # it is taken out of the request
    REFUSE = "refuse"  # the request is refused
