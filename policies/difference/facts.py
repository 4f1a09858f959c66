"""What changes in the records that are read, and in what the application signs, in sentences."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from policies.difference.figures import moved, names_of_both
from policies.difference.meaning import changed, meaning
from policies.difference.words import OUTCOMES, read_as
from policies.model import FileSource, HttpSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from policies.fact_fields import FactField
    from policies.model import Fact, SessionField


def told_facts(before: Mapping[str, Fact], after: Mapping[str, Fact]) -> Iterator[str]:
    """Of each fact what is read from where, for how long, and what happens where there is no record."""
    for name in names_of_both(before, after):
        if name not in after:
            yield f"The fact {name} is no fact of the policy any more; it was read from {_source(before[name].source)}."
        elif name not in before:
            fact = after[name]
            where = f"read from {_source(fact.source)}; where there is no such record: {_missing(fact)}"
            yield f"There is a fact {name}: {where}."
            yield from told_fields({}, fact.fields, f"the fact {name}")
        else:
            yield from _fact(name, before[name], after[name])


def _fact(name: str, before: Fact, after: Fact) -> Iterator[str]:
    for field in changed(before, after):
        match field:
            case "key":
                yield f"A key of the fact {name} is of the form {after.key.source} instead of {before.key.source}."
            case "source":
                yield from _sources(name, before.source, after.source)
            case "timeout_seconds":
                what = f"How many seconds the source of the fact {name} may take"
                yield moved(what, _seconds(before), _seconds(after))
            case "missing":
                yield (
                    f"Where there is no such record of the fact {name} the call is {_missing(after)} instead of"
                    f" {_missing(before)}."
                )
            case _:
                yield from told_fields(before.fields, after.fields, f"the fact {name}")


def _seconds(fact: Fact) -> Decimal:
    return Decimal(str(fact.timeout_seconds)).normalize()


def _missing(fact: Fact) -> str:
    ruling, reason = fact.missing
    return f"{OUTCOMES[ruling]} ({reason})"


def _sources(name: str, before: HttpSource | FileSource, after: HttpSource | FileSource) -> Iterator[str]:
    now, then = _source(after), _source(before)
    if now != then:
        yield f"The fact {name} is read from {now} instead of {then}."
    elif isinstance(before, HttpSource) and isinstance(after, HttpSource):
        if before.url.source != after.url.source:
            yield f"The fact {name} is read from {now} with another query."
        for header in names_of_both(before.headers, after.headers):
            if header not in before.headers:
                yield f"The fact {name} is asked for with a header {header}, too."
            elif header not in after.headers:
                yield f"The fact {name} is asked for without a header {header}."
            elif before.headers[header].source != after.headers[header].source:
                yield f"The fact {name} is asked for with another value in the header {header}."
    else:
        yield f"The fact {name} is read from another folder's {now.removeprefix('the ')}."


def _source(source: HttpSource | FileSource) -> str:
    if isinstance(source, FileSource):
        return f"the file {source.path.name}"
    return source.url.source.partition("?")[0]  # a query may hold a credential


def told_fields(before: Mapping[str, FactField], after: Mapping[str, FactField], of: str) -> Iterator[str]:
    """Of each field of `of` where it is read, and as what."""
    for field in names_of_both(before, after):
        if field not in after:
            yield f"The field {field} of {of} is read no more; it was {read_as(before[field])}."
        elif field not in before:
            yield f"The field {field} of {of} is read, too: {read_as(after[field])}."
        elif meaning(before[field]) != meaning(after[field]):
            now, then = read_as(after[field]), read_as(before[field])
            yield f"The field {field} of {of} is read as {now} instead of {then}."


def told_session(before: Mapping[str, SessionField], after: Mapping[str, SessionField]) -> Iterator[str]:
    """Of each signed field from which claim it comes."""
    for name in names_of_both(before, after):
        if name not in after:
            yield f"session.{name} is signed no more; it was {_claim(before[name])}."
        elif name not in before:
            yield f"session.{name} is signed, too: {_claim(after[name])}."
        elif meaning(before[name]) != meaning(after[name]):
            yield f"session.{name} is {_claim(after[name])} instead of {_claim(before[name])}."


def _claim(field: SessionField) -> str:
    return f"the claim {'.'.join(field.at)} ({field.source.value}), {field.type.kind.value}"
