"""The languages in which customers can ask for a person, and what they read where the policy gives no reply."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from policies.handoff_words.form import Words
from policies.handoff_words.germanic import DUTCH, ENGLISH, GERMAN
from policies.handoff_words.romance import FRENCH, ITALIAN, SPANISH

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FULL_REPLIES", "LANGUAGES", "REPLIES", "Words"]

LANGUAGES: Final[Mapping[str, Words]] = MappingProxyType(
    {"en": ENGLISH, "de": GERMAN, "fr": FRENCH, "es": SPANISH, "it": ITALIAN, "nl": DUTCH}
)
REPLIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "en": "I have passed you on to a colleague, a person, who will get back to you.",
        "de": "Ich habe Ihr Anliegen an eine Kollegin oder einen Kollegen übergeben. Ein Mensch meldet sich bei Ihnen.",
        "fr": "J'ai transmis votre demande à un collègue, une vraie personne, qui reviendra vers vous.",
        "es": "He pasado su petición a un compañero, una persona, que se pondrá en contacto con usted.",
        "it": "Ho passato la Sua richiesta a un collega, una persona, che La ricontatterà.",
        "nl": "Ik heb uw vraag doorgegeven aan een collega, een mens, die contact met u opneemt.",
    }
)
"""What the customer reads where the policy gives no reply."""
FULL_REPLIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "en": "All our colleagues are busy at the moment. Please ask for one again in a few minutes.",
        "de": "Zurzeit sind alle im Gespräch. Bitte fragen Sie in einigen Minuten noch einmal.",
        "fr": "Tous nos collègues sont occupés pour le moment. Veuillez réessayer dans quelques minutes.",
        "es": "En este momento todos nuestros compañeros están ocupados. Vuelva a intentarlo en unos minutos.",
        "it": "Al momento tutti i colleghi sono occupati. Riprovi tra qualche minuto.",
        "nl": "Op dit moment zijn al onze collega's in gesprek. Probeer het over enkele minuten opnieuw.",
    }
)
"""Where people can take no other case."""
