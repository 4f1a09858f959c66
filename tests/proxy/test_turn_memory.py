"""The memory of a turn: whole within its bound, as many rounds as it may, and what it keeps is what a client cannot."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from proxy.turn_memory import TurnMemory
from proxy.wire.chat_calls import Slot
from proxy.wire.chat_transcript import turns_of
from proxy.wire.chat_turn import CHAT_CONTINUATION
from proxy.wire.events import TEXT_KIND, FrameRead, Key, Material, TextKey
from proxy.wire.sse import Frame
from proxy.wire.transcript import HiddenResult

if TYPE_CHECKING:
    from collections.abc import Sequence

RESULT = HiddenResult("c1", "refund", "function", '{"refused":true}')
