"""Files and folders: one consistent snapshot, one revision, each entry in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from policies import PolicyError, load_policy, load_policy_text, stamp

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "language: 1\npolicy: p\n"


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def told(path: Path) -> str:
    with pytest.raises(PolicyError) as caught:
        load_policy(path)
    return str(caught.value)


def test_a_folder_is_one_policy(tmp_path: Path) -> None:
    """Sections of named entries may be spread; suites, hidden files and others are not policy."""
    folder = write(tmp_path, a=HEAD + "tools: {x: {}}\n", b="tools: {y: {}}\nconstants: {n: 1}\n")
    write(tmp_path, policy_test="not: [a, policy", **{".hidden": "nor: [this"})
    (tmp_path / "notes.txt").write_text("nor this", encoding="utf-8")
    (tmp_path / "c.yml").write_text("owner: me\n", encoding="utf-8")
    policy = load_policy(folder)
    assert set(policy.tools) == {"x", "y"}
    assert policy.owner == "me"
    assert policy.files == (tmp_path / "a.yaml", tmp_path / "b.yaml", tmp_path / "c.yml")
    assert str(policy.tools["y"].origin) == "b.yaml:1"


def test_what_stands_in_two_files_is_refused(tmp_path: Path) -> None:
    """A key, or an entry of a section, stands in one file; the error names both places."""
    folder = write(tmp_path, a=HEAD + "tools: {x: {}}\n", b="policy: q\ntools: {x: {}}\n")
    assert (
        told(folder) == "b.yaml:1: policy: stands here and in a.yaml:2\nb.yaml:2: tools.x: stands here and in a.yaml:3"
    )
    write(tmp_path, b="tools: {X: {}}\n")
    assert "b.yaml:1: tools.X: the tools 'x' and 'X' differ only in case" in told(folder)
    write(tmp_path, b="tools: [x]\n")
    assert "b.yaml:1: tools: expected a mapping" in told(folder)
    write(tmp_path, b="mode: off\n", c="a: [\n")
    assert told(folder).startswith("c.yaml:2: not YAML")


def test_the_revision_is_of_names_and_bytes(tmp_path: Path) -> None:
    """Any change of a byte, of a name, or of where one file ends is another revision; a copy is the same."""
    one = write(tmp_path / "one", a=HEAD, b="owner: me\n")
    revisions = {
        load_policy(path).revision
        for path in (
            one,
            write(tmp_path / "two", a=HEAD + "\n", b="owner: me\n"),
            write(tmp_path / "three", a=HEAD, c="owner: me\n"),
            write(tmp_path / "four", a=HEAD + "owner: me\n"),
        )
    }
    assert len(revisions) == 4
    assert load_policy(write(tmp_path / "five", a=HEAD, b="owner: me\n")).revision == load_policy(one).revision
    assert all(len(revision) == 64 for revision in revisions)


def test_a_mounted_config_map_is_read_through_one_link(tmp_path: Path) -> None:
    """`..data` is resolved once: the files are of one revision, and a swap of the link is seen by `stamp`."""
    write(tmp_path / "..2026_1", a=HEAD, b="owner: old\n")
    write(tmp_path / "..2026_2", a=HEAD, b="owner: new\n", c="mode: halt\n")
    (tmp_path / "..data").symlink_to("..2026_1")
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).symlink_to(f"..data/{name}")
    before = stamp(tmp_path)
    assert load_policy(tmp_path).owner == "old"
    assert load_policy(tmp_path / "a.yaml").name == "p"
    (tmp_path / "..next").symlink_to("..2026_2")
    (tmp_path / "..next").rename(tmp_path / "..data")
    policy = load_policy(tmp_path)
    assert (policy.owner, len(policy.files)) == ("new", 3)
    assert stamp(tmp_path) != before


def test_stamp_sees_every_edit(tmp_path: Path) -> None:
    """A changed, an added and a removed file each give another stamp; nothing else does."""
    folder = write(tmp_path, a=HEAD)
    seen = [stamp(folder)]
    assert stamp(folder) == seen[0]
    write(tmp_path, b="owner: me\n")
    seen.append(stamp(folder))
    write(tmp_path, b="owner: you and me\n")
    seen.append(stamp(folder))
    (tmp_path / "b.yaml").rename(tmp_path / "c.yaml")
    seen.append(stamp(folder))
    assert len(set(seen)) == 4


def test_what_cannot_be_read_is_a_policy_error(tmp_path: Path) -> None:
    """A missing path, an empty folder and a broken link are told, never another exception."""
    assert "no such file or folder" in told(tmp_path / "none.yaml")
    assert "holds no .yaml file" in told(tmp_path)
    (tmp_path / "link.yaml").symlink_to(tmp_path / "nowhere")
    assert "no such file or folder" in told(tmp_path / "link.yaml")


def test_a_file_fact_is_relative_to_the_policy(tmp_path: Path) -> None:
    """The folder of the policy is where relative paths start, also for a single file."""
    text = HEAD + "facts: {f: {key: {pattern: a}, file: data/f.json, fields: {}}}\n"
    expected = tmp_path / "data/f.json"
    write(tmp_path, a=text)
    sources = [load_policy(path).facts["f"].source for path in (tmp_path, tmp_path / "a.yaml")]
    sources.append(load_policy_text(text, folder=tmp_path).facts["f"].source)
    assert [getattr(source, "path", None) for source in sources] == [expected] * 3
