"""`callgate capture` before it starts: what is missing or wrong is told, and nothing runs."""

from __future__ import annotations

import importlib.util
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from proxy.capture.run import fingerprint
from proxy.commands import capture as command

if TYPE_CHECKING:
    from pathlib import Path


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(command.capture, ["--state", "state", *words])
    return result.exit_code, result.stderr


@pytest.mark.skipif(importlib.util.find_spec("mitmproxy") is not None, reason="the extra is installed here")
def test_without_the_extra_it_says_what_to_install() -> None:
    """No traceback of an import."""
    code, said = run()
    assert code == 2
    assert "pip install 'callgate[capture]'" in said


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--listen", "nowhere"], "is no address"),
        (["--gate", "ftp://x"], "absolute http:// or https:// URL"),
        (["--provider", "x"], "expected HOST=NAME"),
        (["--egress", "*.com"], "top-level"),
        (["--transparent", "--egress", "x.example"], "has no effect with --transparent"),
    ],
)
def test_what_is_wrong_is_told(monkeypatch: pytest.MonkeyPatch, words: list[str], problem: str) -> None:
    """Each wrong word ends it with 2 before anything listens."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    code, said = run(*words)
    assert code == 2
    assert problem in said


def test_the_fingerprint_is_the_certificates(tmp_path: Path) -> None:
    """It is what other tools show, so that a person can compare."""
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.now(UTC)
    name = x509.Name([])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "ca.pem"
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    expected = certificate.fingerprint(hashes.SHA256()).hex(":").upper()
    assert fingerprint(file) == expected
