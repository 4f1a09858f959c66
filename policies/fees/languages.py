"""The languages that quotations may be declared in."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from policies.fees.candidate import Language
from policies.fees.english import ENGLISH
from policies.fees.german import GERMAN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from policies.fees.lexicon import Lexicon

LEXICONS: Mapping[Language, Lexicon] = MappingProxyType({Language.ENGLISH: ENGLISH, Language.GERMAN: GERMAN})
