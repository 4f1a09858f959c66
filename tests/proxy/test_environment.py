"""References get the values of the process's environment and files, and of nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from policies.secrets import Expandable, SecretError
from proxy.environment import SECRET_BYTES_MAX, process_environment

if TYPE_CHECKING:
    from pathlib import Path


def test_variables_and_files_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`${VAR}` from the environment, `${file:}` from the disk, without its last newline."""
    monkeypatch.setenv("CALLGATE_TEST_NAME", "anna")
    (tmp_path / "token").write_text("sesame\n")
    text = Expandable.parse(f"${{CALLGATE_TEST_NAME}}:${{file:{tmp_path}/token}}")

    assert process_environment().expand(text) == "anna:sesame"


@pytest.mark.parametrize("content", [b"\xff\xfe", b"", b"a" * (SECRET_BYTES_MAX + 1), b"two\nlines", b"a\0b", None])
def test_a_file_that_is_no_secret_is_an_error_that_shows_nothing(tmp_path: Path, content: bytes | None) -> None:
    """Not text, empty, too large, of several lines, not there: named, not shown."""
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(SecretError) as refusal:
        process_environment().expand(Expandable.parse(f"${{file:{path}}}"))

    assert str(path) in str(refusal.value)
    assert "lines" not in str(refusal.value)


def test_a_key_in_pem_form_keeps_its_lines(tmp_path: Path) -> None:
    """What is no header value may have several lines."""
    (tmp_path / "key.pem").write_text("-----BEGIN\nx\n-----END\n")
    text = Expandable.parse(f"${{file:{tmp_path}/key.pem}}")

    assert process_environment().expand_text(text) == "-----BEGIN\nx\n-----END"
