"""What a yes is, in each language: a text that holds nothing but a yes. Whatever is unclear is none (DESIGN 4).

A text is read as a whole and in one language: its words must be phrases of agreement, at least one of them, and words
of courtesy. Any other word, a question mark, a quotation mark makes it unclear: so every negation, every condition,
every change ("yes, but 50") is no yes, and needs no list of its own.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WORDS_MAX: Final = 12
"""A longer text is more than a yes."""

_PARTING: Final = str.maketrans(dict.fromkeys(".,!;\n\r\t\u00a0\u00a1\u2026\u3002\uff0c\uff01", " "))
_ALIKE: Final = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-"})
_LENGTH_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class Language:
    """Phrases as lower-case words with one space between; no phrase of a language is courtesy and agreement."""

    yes: frozenset[str]
    courtesy: frozenset[str]

    @classmethod
    def of(cls, yes: str, courtesy: str) -> Language:
        return cls(*(frozenset(phrase.strip() for phrase in text.split("|")) for text in (yes, courtesy)))


LANGUAGES: Final[Mapping[str, Language]] = MappingProxyType(
    {
        "en": Language.of(
            "yes|yep|yeah|yup|y|ok|okay|sure|of course|certainly|absolutely|definitely|correct|confirm|confirmed"
            "|i confirm|i do confirm|yes i do|i agree|agreed|go ahead|please go ahead|do it|please do|go for it|proceed"
            "|please proceed|that's correct|that is correct|that's right|that is right|sounds good|yes i confirm"
            "|i approve|approved|all right|alright|by all means",
            "please|thanks|thank you|thank you very much|thanks a lot|many thanks|cheers",
        ),
        "de": Language.of(
            "ja|jawohl|jep|ok|okay|klar|na klar|gern|gerne|sicher|genau|richtig|stimmt|einverstanden|in ordnung"
            "|passt|das passt|bestätigt|bestätige|ich bestätige|ich bestätige das|hiermit bestätige ich"
            "|mach das|mach es|machen sie das|machen sie es|bitte machen|ja natürlich|natürlich|selbstverständlich"
            "|auf jeden fall|das ist richtig|das stimmt|ich bin einverstanden|ich stimme zu|bitte ausführen",
            "bitte|danke|danke schön|dankeschön|vielen dank|danke sehr|besten dank",
        ),
        "fr": Language.of(
            "oui|ouais|ok|d'accord|je suis d'accord|bien sûr|bien sur|certainement|absolument|exact|exactement"
            "|c'est exact|c'est correct|c'est bon|c'est ça|je confirme|confirmé|vas-y|allez-y|allez y"
            "|faites-le|fais-le|volontiers|j'accepte|je suis d'accord avec cela|tout à fait",
            "s'il vous plaît|s'il vous plait|s'il te plaît|s'il te plait|svp|merci|merci beaucoup",
        ),
        "es": Language.of(
            "sí|si|ok|vale|de acuerdo|estoy de acuerdo|claro|claro que sí|claro que si|por supuesto|correcto"
            "|es correcto|exacto|confirmo|lo confirmo|confirmado|sí confirmo|adelante|hazlo|hágalo|hagalo"
            "|está bien|esta bien|acepto|procede|proceda|conforme",
            "por favor|gracias|muchas gracias",
        ),
        "it": Language.of(
            "sì|si|ok|va bene|certo|certamente|d'accord|d'accordo|confermo|lo confermo|confermato|esatto|corretto"
            "|procedi|proceda|proceda pure",
            "per favore|per piacere|grazie|grazie mille",
        ),
        "nl": Language.of(
            "ja|jazeker|ok|oké|oke|akkoord|klopt|dat klopt|zeker|natuurlijk|ik bevestig|ik bevestig dit|bevestigd"
            "|ga je gang|doe maar|ga door",
            "alsjeblieft|alstublieft|dank je|dank u|dank je wel|dank u wel|bedankt",
        ),
    }
)


def is_yes(text: str) -> bool:
    """Whether the whole text is a clear yes in one of the languages. Total and linear."""
    if len(text) > _LENGTH_MAX:
        return False
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_ALIKE).translate(_PARTING)
    words = plain.split()
    return 0 < len(words) <= WORDS_MAX and any(_is_yes(words, language) for language in LANGUAGES.values())


def _is_yes(words: Sequence[str], language: Language) -> bool:
    """Whether the words can be parted into phrases of this language, one of which agrees at least."""
    # reached[i]: what the first i words can be read as; True where the reading holds a yes.
    reached: list[set[bool]] = [{False}, *(set[bool]() for _ in words)]
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1) if reached[start] else ():
            phrase = " ".join(words[start:end])
            if phrase in language.yes:
                reached[end].add(True)
            elif phrase in language.courtesy:
                reached[end] |= reached[start]
    return True in reached[len(words)]
