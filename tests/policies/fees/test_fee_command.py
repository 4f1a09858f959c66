"""`callgate fees`: exit codes, what is printed where, and files that are no candidate."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from policies.fees import SUPPORTED_SCOPE
from proxy.commands.fees import fees
from proxy.commands.fees_files import BYTES_MAX
from tests.policies.fees.drafts import GOLDEN, NAMES

if TYPE_CHECKING:
    from pathlib import Path

WALKS = GOLDEN / "harbour-walks"
COURSE = GOLDEN / "abendkurs"
KNOWN = {
    "--paid": "399.00",
    "--price": "399.00 EUR",
    "--departure": "2026-07-01",
    "--cancelled-at": "2026-06-16T23:00:00Z",
    "--zone": "Europe/Berlin",
}


def run(*arguments: str | Path, **more: str) -> Result:
    return CliRunner().invoke(
        fees, [str(argument) for argument in arguments] + [part for pair in more.items() for part in pair]
    )


def files(folder: Path) -> tuple[Path, Path]:
    return folder / "source.txt", folder / "candidate.json"


def compute(folder: Path = WALKS, *flags: str, **options: str) -> Result:
    return run("compute", *files(folder), *flags, **options)


@pytest.mark.parametrize("name", NAMES)
def test_each_golden_schedule_is_valid(name: str) -> None:
    """The command says so with the digest of the source, and exits with 0."""
    result = run("validate", *files(GOLDEN / name))

    assert result.exit_code == 0
    assert f"valid: schedule {name}, " in result.stdout


def test_notices_stand_on_standard_error() -> None:
    """What the source says beside the rules is told, and is no part of the answer."""
    result = run("validate", *files(WALKS))

    assert result.stderr == "notice: source.txt:3:48 [83,98): the source also states 'within two days'\n"


def test_a_refused_candidate_exits_with_2(tmp_path: Path) -> None:
    """Every problem on its own line, with document, line, column and span; nothing is computed."""
    text = (WALKS / "source.txt").read_text(encoding="utf-8").replace("50 %", "55 %")
    (tmp_path / "source.txt").write_text(text, encoding="utf-8")
    for command in ("validate", "explain", "compute"):
        result = run(command, tmp_path / "source.txt", WALKS / "candidate.json")

        assert (result.exit_code, result.stdout) == (2, "")
        assert (
            "callgate: source.txt:7:1 [175,229): interval 2: the quotation does not stand in the source"
            in result.stderr
        )


def test_the_amount_and_its_evidence() -> None:
    """Text for people: amounts, days, interval, quotation with its place, scope."""
    result = compute(**KNOWN)

    assert result.exit_code == 0
    assert result.stdout.splitlines()[:4] == [
        "refund 79.80 EUR, fee 319.20 EUR, paid 399.00 EUR",
        "cancelled on 2026-06-17, 14 days before 2026-07-01",
        "interval 3 of schedule harbour-walks: a fee of 80 % of the price",
        "evidence: source.txt:8:1 [231,284): '14 to 1 days before departure: 80 % of the tour price'",
    ]
    assert result.stdout.endswith("\n".join(SUPPORTED_SCOPE) + "\n")


def test_the_amount_as_json() -> None:
    """The same for programs: amounts are texts, so that no reader rounds them."""
    shown = json.loads(compute(WALKS, "--json", **KNOWN).stdout)

    assert (shown["fee"], shown["refund"], shown["paid"], shown["currency"]) == ("319.20", "79.80", "399.00", "EUR")
    assert shown["evidence"]["stated"] == ["start 14 day, included", "end 1 day, included", "80 percent"]
    assert (shown["daysBefore"], shown["evidence"]["interval"], shown["evidence"]["line"]) == (14, 3, 8)


@pytest.mark.parametrize(
    ("missing", "name"),
    [
        ("--paid", "paid amount"),
        ("--price", "price"),
        ("--departure", "departure date"),
        ("--cancelled-at", "cancellation time"),
        ("--zone", "time zone of the cancellation"),
    ],
)
def test_a_missing_input_exits_with_3(missing: str, name: str) -> None:
    """No amount is guessed: the input is named, in both forms."""
    options = {key: value for key, value in KNOWN.items() if key != missing}

    plain, shown = compute(**options), compute(WALKS, "--json", **options)

    assert (plain.exit_code, shown.exit_code, plain.stdout) == (3, 3, "")
    assert f"callgate: blocked: the {name} is missing\n" in plain.stderr
    assert json.loads(shown.stdout) == {"blocked": name, "cause": "missing", "message": f"the {name} is missing"}


def test_the_reference_date_is_the_schedules_own() -> None:
    """A course needs the date of the event; a departure date does not stand in for it."""
    assert "the event date is missing" in compute(COURSE, **KNOWN).stderr
    result = compute(COURSE, **{**KNOWN, "--event": "2026-07-01", "--paid": "399.00 CHF", "--price": "399.00"})
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--paid", "1e3", "--paid: not a plain decimal number"),
        ("--paid", "399,00", "--paid: not a plain decimal number"),
        ("--departure", "01.07.2026", "--departure: not a date such as 2026-01-31"),
        ("--departure", "2026-02-30", "--departure: "),
        ("--cancelled-at", "2026-06-16T23:00:00", "--cancelled-at: not a timestamp with an offset"),
        ("--zone", "Mars/Olympus", "--zone: unknown time zone 'Mars/Olympus'"),
        ("--zone", "../../etc/passwd", "--zone: unknown time zone"),
    ],
)
def test_unreadable_options_exit_with_2(option: str, value: str, says: str) -> None:
    """What is given must be readable in one way only."""
    result = compute(**{**KNOWN, option: value})

    assert result.exit_code == 2
    assert says in result.stderr


def test_another_currency_blocks() -> None:
    """Money in a currency that the schedule is not in is never converted."""
    result = compute(**{**KNOWN, "--paid": "399.00 USD"})

    assert result.exit_code == 3
    assert "the paid amount is in another currency than the schedule: USD, not EUR" in result.stderr


def test_a_schedule_in_sentences() -> None:
    """What finance signs: each interval with the words it rests on."""
    result = run("explain", *files(COURSE))

    assert result.exit_code == 0
    assert result.stdout.splitlines()[1] == (
        "cancelled 31 days or more before the event date: no fee"
        " (source.txt:3:3 [47,98): 'bis einschließlich 31 Tage vor Kursbeginn kostenlos')"
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"{", "not strict JSON"),
        (b'{"schedule": "a", "schedule": "b"}', "not strict JSON"),
        (b"\xff", "not UTF-8"),
        (b"[]", "candidate: input should be"),
        (b'{"schedule": "a", "extra": 1}', "extra: extra inputs are not permitted"),
        (b" " * (BYTES_MAX + 1), "larger than"),
    ],
)
def test_files_that_are_no_candidate(tmp_path: Path, content: bytes, says: str) -> None:
    """Exit code 2 and the path in the candidate; never a traceback."""
    path = tmp_path / "candidate.json"
    path.write_bytes(content)

    result = run("validate", WALKS / "source.txt", path)

    assert (result.exit_code, result.stdout) == (2, "")
    assert f"callgate: {path}: {says}" in result.stderr


def test_a_file_that_is_not_there() -> None:
    """One line, exit code 2."""
    result = run("validate", "nowhere.txt", WALKS / "candidate.json")

    assert (result.exit_code, result.stderr) == (2, "callgate: nowhere.txt: no such file or directory\n")
