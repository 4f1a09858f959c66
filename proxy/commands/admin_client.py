"""Speaks to the admin listener of a running gate, for the commands that decide."""

from __future__ import annotations

import http.client
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
import orjson

from interceptors.strict_json import StrictJsonError, parse
from proxy.admin.access import ADDRESS_FILE, TOKEN_FILE, AdminFileError, read_token
from proxy.commands.common import CommandError, failing_on, state_option
from proxy.config_values import parse_address

if TYPE_CHECKING:
    from collections.abc import Callable

    from interceptors.calls import Json
    from proxy.settings import Address

TIMEOUT_SECONDS = 30
ANSWER_BYTES_MAX = 1024 * 1024


def admin_options(function: Callable[..., None]) -> Callable[..., None]:
    """`--state`, `--admin` and `--token-file`."""
    function = click.option(
        "--token-file",
        type=click.Path(path_type=Path),
        metavar="PATH",
        help="A file with a person's token.  [default: CALLGATE_TOKEN, or admin.token in the state folder]",
    )(function)
    function = click.option(
        "--admin",
        metavar="HOST:PORT",
        help="The admin listener.  [default: what admin.address in the state folder says]",
    )(function)
    return state_option(function)


def ask(
    method: str, path: str, body: dict[str, str], *, state: Path, admin: str | None, token_file: Path | None
) -> Json:
    """The listener's JSON answer. `CommandError` where there is none, or where it refuses."""
    address, token = _address(state, admin), _token(state, token_file)
    connection = http.client.HTTPConnection(address.host, address.port, timeout=TIMEOUT_SECONDS)
    try:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection.request(method, path, orjson.dumps(body) if body else b"", headers)
        response = connection.getresponse()
        data = response.read(ANSWER_BYTES_MAX)
    except (OSError, http.client.HTTPException):
        raise CommandError(f"no gate answers at {address}: is it running?") from None
    finally:
        connection.close()
    try:
        answer = parse(data)
    except StrictJsonError:
        raise CommandError(f"what answers at {address} is no admin listener") from None
    if response.status != 200:
        raise CommandError(_refusal(answer, response.status))
    return answer


def _refusal(answer: Json, status: int) -> str:
    error = answer.get("error") if isinstance(answer, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    return f"the gate refused: {message if isinstance(message, str) else status}"


def _address(state: Path, admin: str | None) -> Address:
    if admin is not None:
        with failing_on(ValueError):
            return parse_address(admin)
    try:
        return parse_address((state / ADDRESS_FILE).read_text("ascii").strip())
    except (OSError, ValueError):
        raise CommandError(
            f"no gate is running on the state folder {str(state)!r}: name its --admin HOST:PORT"
        ) from None


def _token(state: Path, token_file: Path | None) -> str:
    given = os.environ.get("CALLGATE_TOKEN")
    if token_file is None and given:
        return given
    with failing_on(AdminFileError, OSError):
        return read_token(token_file if token_file is not None else state / TOKEN_FILE)
