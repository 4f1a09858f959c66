"""The shared byte: one for all processes of a state folder, 0 at first, and never an accident when it cannot be had."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from proxy.store.errors import StateFolderError
from proxy.store.flags import shared_byte


def test_a_new_byte_is_zero_and_for_the_owner_alone(tmp_path: Path) -> None:
    """A file that is made has one byte, 0, and no rights for others."""
    path = tmp_path / "flag"
    with shared_byte(path) as byte:
        assert (len(byte), byte[0]) == (1, 0)
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_one_mapping_sets_the_other_sees(tmp_path: Path) -> None:
    """The mappings share memory: neither is flushed, and each sees the other's last value."""
    with shared_byte(tmp_path / "flag") as one, shared_byte(tmp_path / "flag") as other:
        one[0] = 7
        assert other[0] == 7
        other[0] = 0
        assert one[0] == 0


def test_another_process_sees_it(tmp_path: Path, root: Path) -> None:
    """The byte reaches across processes while both have it mapped."""
    path = tmp_path / "flag"
    program = (
        "import sys, pathlib; from proxy.store.flags import shared_byte; b = shared_byte(pathlib.Path(sys.argv[1]))"
    )
    with shared_byte(path) as byte:
        byte[0] = 1
        command = [sys.executable, "-c", f"{program}; assert b[0] == 1; b[0] = 9", str(path)]
        subprocess.run(command, cwd=root, check=True, timeout=60)
        assert byte[0] == 9


def test_a_byte_outlives_its_mapping(tmp_path: Path) -> None:
    """Opening it again keeps the value; a longer file is cut to its first byte."""
    path = tmp_path / "flag"
    path.write_bytes(b"\x05\x06\x07")
    with shared_byte(path) as byte:
        assert byte[0] == 5
    assert path.read_bytes() == b"\x05"


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    """Mapping a byte fifty times costs no descriptor once each mapping is closed."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(50):
        shared_byte(tmp_path / "flag").close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("name", ["missing/flag", "folder"])
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, name: str) -> None:
    """No folder, or a folder in its place: an error of the state folder that names the file and says why."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(StateFolderError, match=f"{name}.* cannot be used: (No such file|Is a directory)"):
        shared_byte(tmp_path / name)
