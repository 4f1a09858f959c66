"""Lists in files next to a policy: read once, one entry a line, part of the revision and of what is watched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from policies import PolicyError, load_policy
from policies.lists import Lists

if TYPE_CHECKING:
    from pathlib import Path

POLICY = """\
language: 1
policy: p
tools: {t: {arguments: {mail: {type: string, allow: {domains: {file: partners.txt}}}}}}
"""


def write(folder: Path, entries: str | None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    if entries is not None:
        (folder / "partners.txt").write_bytes(entries.encode())
    return folder


def accepts(path: Path, address: str) -> bool:
    arguments = load_policy(path).tools["t"].arguments
    assert arguments is not None
    allow = arguments["mail"].allow
    assert allow is not None
    return allow.accepts(address)


@pytest.mark.parametrize("name", ["", "policy.yaml"], ids=["folder", "file"])
def test_a_list_is_read_from_the_file_beside_the_policy(tmp_path: Path, name: str) -> None:
    """One entry a line; comments, empty lines, white space around, a mark of order and CRLF are no entries."""
    path = write(tmp_path, "\ufeff# partners\r\n\r\n  a.example \r\n*.b.example\n") / name
    assert accepts(path, "x@a.example")
    assert accepts(path, "x@c.b.example")
    assert not accepts(path, "x@partners")


def test_a_list_is_part_of_the_revision_and_is_watched(tmp_path: Path) -> None:
    """An edit of a list is another revision; its file is among those whose change is looked for."""
    one, two = write(tmp_path / "one", "a.example\n"), write(tmp_path / "two", "b.example\n")
    assert load_policy(one).revision != load_policy(two).revision
    assert load_policy(one / "policy.yaml").revision == load_policy(one).revision
    assert load_policy(one).files == (one / "policy.yaml", one / "partners.txt")


def test_a_mounted_list_is_of_the_policys_revision(tmp_path: Path) -> None:
    """In a mounted ConfigMap the list is read through the same resolved link as the policy."""
    write(tmp_path / "..1", "a.example\n")
    (tmp_path / "..data").symlink_to("..1")
    for name in ("policy.yaml", "partners.txt"):
        (tmp_path / name).symlink_to(f"..data/{name}")
    assert accepts(tmp_path, "x@a.example")
    assert accepts(tmp_path / "policy.yaml", "x@a.example")


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (None, "policy.yaml:3: tools.t.arguments.mail.allow.domains.file: 'partners.txt' cannot be read: no such file"),
        ("a.example\nb.example\na.example\n", "partners.txt:3: stands here and in line 1"),
        ("a\u200b.example\n", "partners.txt:1: a character that cannot be seen"),
        ("a b\n", "tools.t.arguments.mail.allow.domains: 'a b': not a host name"),
    ],
)
def test_a_list_that_cannot_be_used_is_a_problem_of_the_policy(
    tmp_path: Path, entries: str | None, message: str
) -> None:
    """A list that is not there, or says what it cannot mean, keeps the policy from being put in force."""
    with pytest.raises(PolicyError) as caught:
        load_policy(write(tmp_path, entries))
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["../x", "/etc/x", ".x", "a/b", "x.yaml", "x.yml", "", "a b", "x\n"])
def test_a_list_stands_next_to_the_policy(tmp_path: Path, name: str) -> None:
    """No name leads out of the folder, to a hidden file, or to what is policy itself."""
    with pytest.raises(ValueError, match="is no name of a list"):
        Lists(tmp_path).read(name)


def test_a_list_is_text(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are refused."""
    (tmp_path / "x").write_bytes(b"\xff")
    with pytest.raises(ValueError, match="is not UTF-8"):
        Lists(tmp_path).read("x")


def test_an_empty_list_allows_nothing(tmp_path: Path) -> None:
    """A list without entries is no list without effect."""
    path = write(tmp_path, "# nobody\n")
    assert not accepts(path, "x@a.example")
