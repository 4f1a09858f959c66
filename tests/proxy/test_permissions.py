"""A policy that others can write decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from proxy.permissions import WritableByOthersError, refuse_writable

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "policies"
    made.mkdir(mode=0o755)
    (made / "policy.yaml").write_text("x")
    (made / "policy.yaml").chmod(0o644)
    return made


@pytest.mark.parametrize("mode", [0o400, 0o444, 0o600, 0o640, 0o644])
def test_a_file_that_only_its_owner_writes_is_accepted(folder: Path, mode: int) -> None:
    """Others may read it."""
    file = folder / "policy.yaml"
    file.chmod(mode)

    refuse_writable(file, (file,))
    refuse_writable(folder, (file,))


@pytest.mark.parametrize(("mode", "who"), [(0o660, "group"), (0o620, "group"), (0o602, "world"), (0o666, "world")])
def test_a_file_that_others_write_is_refused(folder: Path, mode: int, who: str) -> None:
    """The message says who, and what to do."""
    file = folder / "policy.yaml"
    file.chmod(mode)

    with pytest.raises(WritableByOthersError, match=f"{who} can write it .mode 0{mode:o}.: chmod go-w"):
        refuse_writable(file, (file,))


@pytest.mark.parametrize("mode", [0o775, 0o777])
def test_a_folder_in_which_others_can_put_another_file_is_refused(folder: Path, mode: int) -> None:
    """Who can rename in the folder can replace the policy, whatever the file's own mode."""
    folder.chmod(mode)

    for path in (folder, folder / "policy.yaml"):
        with pytest.raises(WritableByOthersError):
            refuse_writable(path, (folder / "policy.yaml",))


def test_a_sticky_folder_around_one_file_is_accepted_and_as_the_policy_refused(folder: Path) -> None:
    """In /tmp others cannot replace a file, but they can add one to a folder that is read whole."""
    folder.chmod(0o1777)

    refuse_writable(folder / "policy.yaml", (folder / "policy.yaml",))
    with pytest.raises(WritableByOthersError):
        refuse_writable(folder, (folder / "policy.yaml",))


def test_a_link_is_followed(folder: Path, tmp_path: Path) -> None:
    """The file that decides counts."""
    target = tmp_path / "elsewhere.yaml"
    target.write_text("x")
    target.chmod(0o666)
    (folder / "policy.yaml").unlink()
    (folder / "policy.yaml").symlink_to(target)

    with pytest.raises(WritableByOthersError):
        refuse_writable(folder, (folder / "policy.yaml",))
