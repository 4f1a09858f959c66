"""`callgate fees extract`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from policies.fees import CandidateError, Refused, Source, read_candidate, validate
from policies.fees.placing import placed
from policies.problems import DocumentError
from policies.secrets import Expandable, SecretError
from proxy.commands.common import CommandError, MissingInputError, failing_on, printable
from proxy.commands.fees_files import notices, text_of
from proxy.config_file import read_config_file
from proxy.config_values import upstream_name, upstream_url
from proxy.environment import process_environment
from proxy.extraction import ExtractionError, Speech, headers, path, proposal, request
from proxy.limits import Limits
from proxy.settings import UpstreamSettings
from proxy.upstream import Upstream, UpstreamUrlError, read_upstream_url, target

if TYPE_CHECKING:
    from collections.abc import Mapping


ANSWER_BYTES_MAX = 4 << 20
"""Of a provider's answer."""

_KEYS = {Speech.ANTHROPIC: "${ANTHROPIC_API_KEY}", Speech.OPENAI: "${OPENAI_API_KEY}"}
_OK = 200
_ENCODER = msgspec.json.Encoder(decimal_format="number")


@click.command("extract")
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--model", required=True, metavar="NAME", help="The model to ask, as its provider calls it.")
@click.option(
    "--upstream",
    metavar="NAME[=URL]",
    help="The provider: an upstream of --config, or one with its URL. [default: the only one of --config]",
)
@click.option("--config", type=click.Path(path_type=Path), metavar="PATH", help="callgate.yaml: upstreams, their keys.")
@click.option(
    "--dialect",
    type=click.Choice([speech.value for speech in Speech]),
    help="How it is spoken to. [default: anthropic for the upstream of that name, else openai]",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Where the candidate goes; a new file.")
def extract(
    *, source: Path, model: str, upstream: str | None, config: Path | None, dialect: str | None, out: Path | None
) -> None:
    """Ask a model how SOURCE is to be read, and hold what it says against the text.

    The model proposes and is not believed: a candidate that the text does not bear out is refused with every reason,
    exit code 2, and no file is made; without --out it is printed all the same, to be mended by hand. The key is that of
    the upstream in --config, else ANTHROPIC_API_KEY or OPENAI_API_KEY.
    """
    if out is not None and out.exists():
        raise CommandError(f"{out}: is there already; a candidate goes into a new file")
    text = Source(source.name, text_of(source))
    settings = _settings(upstream, config)
    speech = Speech(dialect) if dialect is not None else _speech(settings.name)
    url, key = _expanded(settings, speech)
    try:
        proposed = placed(proposal(speech, asyncio.run(_asked(url, key, speech, request(speech, model, text)))), text)
    except ExtractionError as error:
        raise CommandError(f"upstream {settings.name}: {error}") from None
    written = msgspec.json.format(_ENCODER.encode(proposed), indent=2).decode() + "\n"
    if out is None:
        click.echo(written, nl=False)
    _validate(proposed, text)
    if out is not None:
        with failing_on(OSError), out.open("x", encoding="utf-8") as file:
            file.write(written)
        click.echo(f"{out}: valid; read it before you use it: callgate fees explain {source} {out}")


def _settings(upstream: str | None, config: Path | None) -> UpstreamSettings:
    """The upstream that is meant: of the file, or of the flag, whose URL never gets the file's key."""
    name, equals, url = (upstream or "").partition("=")
    if equals:
        try:
            return UpstreamSettings(upstream_name(name), upstream_url(url), None)
        except ValueError as error:
            raise CommandError(f"--upstream: {error}") from None
    found: Mapping[str, UpstreamSettings] = {}
    if config is not None:
        with failing_on(DocumentError, OSError):
            found = read_config_file(config).upstreams
    if not name and len(found) == 1:
        return next(iter(found.values()))
    if name not in found:
        known = ", ".join(found) or "none"
        raise CommandError(f"--upstream: NAME=URL, or the name of an upstream of --config, which has {known}")
    return found[name]


def _speech(name: str) -> Speech:
    return Speech.ANTHROPIC if name == Speech.ANTHROPIC.value else Speech.OPENAI


def _expanded(settings: UpstreamSettings, speech: Speech) -> tuple[str, str]:
    environment = process_environment()
    try:
        url = read_upstream_url(environment.expand(settings.url))
        return url, environment.expand(settings.key or Expandable.parse(_KEYS[speech]))
    except UpstreamUrlError as error:
        raise CommandError(f"upstream {settings.name}: {error}") from None
    except SecretError as error:
        raise MissingInputError(f"upstream {settings.name}: {error}") from None


async def _asked(url: str, key: str, speech: Speech, body: bytes) -> bytes:
    """The body of the provider's answer."""
    limits = Limits()
    upstream = Upstream(limits)
    below = path(speech) if url.endswith("/v1") else f"/v1{path(speech)}"
    try:
        async with asyncio.timeout(limits.exchange_ms_max / 1000):
            seconds = limits.exchange_ms_max / 1000
            answer = await upstream.open("POST", target(url, below), headers(speech, key), body, seconds=seconds)
            try:
                data = await answer.content.readany()
                while len(data) <= ANSWER_BYTES_MAX and (more := await answer.content.readany()):
                    data += more
            finally:
                answer.close()  # also where it was not read to its end
    except OSError as error:
        raise ExtractionError(f"no answer ({type(error).__name__})") from None
    finally:
        await upstream.close()
    if answer.status != _OK:
        raise ExtractionError(f"answered {answer.status}")  # what it says may quote the key
    if len(data) > ANSWER_BYTES_MAX:
        raise ExtractionError(f"the answer is larger than {ANSWER_BYTES_MAX} bytes")
    return data


def _validate(proposed: object, source: Source) -> None:
    try:
        candidate = read_candidate(proposed)
    except CandidateError as error:
        raise CommandError("\n".join(f"proposal: {printable(message)}" for message in error.messages)) from None
    validation = validate(candidate, source)
    notices(validation.notices)
    if isinstance(validation, Refused):
        raise CommandError("\n".join(printable(str(problem)) for problem in validation.problems))
