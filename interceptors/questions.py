"""What the gate asks before a call that needs the customer's yes: made of typed values, in the customer's language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from policies.values import Money, render

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from zoneinfo import ZoneInfo

    from policies.model import Argument

LINES_MAX: Final = 32
"""Values that a question states; how many more there are, it says."""
_REFERENCE_LENGTH: Final = 10


@dataclass(frozen=True, slots=True)
class Words:
    lead: str
    text: str  # in the place of free text, with its length
    more: str
    ask: str


WORDS: Final[Mapping[str, Words]] = MappingProxyType(
    {
        "en": Words(
            "Before I do this, please check:",
            "a text of {} characters",
            "... and {} more",
            'Shall I do exactly this? Please answer "yes" or "no".',
        ),
        "de": Words(
            "Bevor ich das tue, prüfen Sie bitte:",
            "ein Text von {} Zeichen",
            "... und {} weitere",
            "Soll ich genau das tun? Bitte antworten Sie mit „ja“ oder „nein“.",
        ),
        "fr": Words(
            "Avant de le faire, veuillez vérifier :",
            "un texte de {} caractères",
            "... et {} de plus",
            "Dois-je faire exactement cela ? Répondez « oui » ou « non », s'il vous plaît.",
        ),
        "es": Words(
            "Antes de hacerlo, compruebe por favor:",
            "un texto de {} caracteres",
            "... y {} más",
            "¿Hago exactamente esto? Responda «sí» o «no», por favor.",
        ),
    }
)


def question(
    tool: str,
    declared: Mapping[str, Argument],
    values: Mapping[str, object],
    digest: str,
    *,
    languages: Sequence[str],
    lead: str | None,
    zone: ZoneInfo | None,
) -> str:
    """The question, which states every value that cannot be free text. `lead` stands in place of the built-in first
    line; the reference ties the question to `digest`, so that no two askings share one.
    """
    words = next((WORDS[tag] for tag in languages if tag in WORDS), WORDS["en"])
    stated = list(_stated(declared, values, words, zone))
    lines = [f"- {name}: {text}" for name, text in islice(stated, LINES_MAX)]
    if len(stated) > LINES_MAX:
        lines.append(words.more.format(len(stated) - LINES_MAX))
    reference = f"[{digest[:_REFERENCE_LENGTH]}]"
    return "\n".join((lead or words.lead, f"{tool} {reference}", *lines, words.ask))


def _stated(
    declared: Mapping[str, Argument], values: Mapping[str, object], words: Words, zone: ZoneInfo | None
) -> Iterator[tuple[str, str]]:
    for name, argument in declared.items():
        if name in values:
            yield from _value(argument, name, values[name], words, zone)


def _value(
    argument: Argument, path: str, value: object, words: Words, zone: ZoneInfo | None
) -> Iterator[tuple[str, str]]:
    if isinstance(value, tuple) and argument.element is not None:
        for index, item in enumerate(value):
            yield from _value(argument.element, f"{path}[{index}]", item, words, zone)
    elif isinstance(value, Mapping):
        for name, inner in argument.fields.items():
            if name in value:
                yield from _value(inner, f"{path}.{name}", value[name], words, zone)
    elif isinstance(value, str):
        is_bound = (argument.pattern is not None or bool(argument.one_of)) and value.isprintable()
        yield path, value if is_bound else words.text.format(len(value))
    elif (scalar := _scalar(value)) is not None:
        yield path, render(scalar, zone)


def _scalar(value: object) -> Decimal | Money | date | timedelta | bool | None:
    return value if isinstance(value, Decimal | Money | date | timedelta | bool) else None
