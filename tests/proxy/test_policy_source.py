"""The policy in force is the one on the disk; where that one is broken, the last good one, and not for long."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from policies.model import Mode
from proxy.environment import Environment
from proxy.policy_source import PolicySource, PolicyUnusableError, Revision, revision_loader

if TYPE_CHECKING:
    from pathlib import Path

KEY = b"k" * 32


def _text(name: str, more: str = "") -> str:
    return f"language: 1\npolicy: {name}\npolicy_stale_seconds_max: 60\n{more}"


class Scene:
    """A source on a real folder, with a clock that is set and a list of what it told."""

    def __init__(self, path: Path, variables: dict[str, str] | None = None) -> None:
        self.path = path
        self.now = 1000.0
        self.changes: list[str] = []
        self.failures: list[str] = []
        self.loads = 0
        self.variables = variables or {}
        self.refusing: BaseException | None = None
        load = revision_loader(path, Environment(self.variables.get, self._no_file), KEY, lambda policy: None)

        def counted() -> Revision:
            self.loads += 1
            return load()

        self.source = PolicySource(
            path, counted, changed=self._changed, failed=self.failures.append, monotonic=lambda: self.now
        )

    @staticmethod
    def _no_file(path: str) -> str:
        raise FileNotFoundError(path)

    async def _changed(self, revision: Revision) -> None:
        if self.refusing is not None:
            raise self.refusing
        self.changes.append(revision.policy.name)

    async def name(self) -> str:
        return (await self.source.current()).revision.policy.name


@pytest.fixture
def file(tmp_path: Path) -> Path:
    tmp_path.chmod(0o755)
    path = tmp_path / "policy.yaml"
    path.write_text(_text("one"))
    path.chmod(0o644)
    return path


async def test_a_change_is_in_force_at_the_next_decision_and_recorded_first(file: Path) -> None:
    """Nobody waits for a poll; nothing is read again where nothing changed."""
    scene = Scene(file)
    await scene.source.start()
    loads = scene.loads
    for _ in range(5):
        assert await scene.name() == "one"
    assert scene.loads == loads

    file.write_text(_text("two"))

    assert await scene.name() == "two"
    assert scene.changes == ["one", "two"]


@pytest.mark.parametrize("broken", ["language: 1\npolicy: [", "", "language: 1\npolicy: x\nunknown: 1\n", None])
async def test_a_broken_edit_keeps_the_last_good_revision_for_a_while_then_nothing(
    file: Path, broken: str | None
) -> None:
    """Loud once for each edit; past the limit unavailable until it is mended; a deleted policy is a broken one."""
    scene = Scene(file)
    await scene.source.start()

    if broken is None:
        file.unlink()
    else:
        file.write_text(broken)
    first = await scene.source.current()
    scene.now += 60
    last = await scene.source.current()
    scene.now += 1
    gone = await scene.source.current()

    assert [state.is_available for state in (first, last, gone)] == [True, True, False]
    assert {state.revision.policy.name for state in (first, last, gone)} == {"one"}
    assert "policy.yaml" in gone.problem
    assert len(scene.failures) == 1

    file.write_text(_text("two"))
    file.chmod(0o644)
    mended = await scene.source.current()
    assert (mended.is_available, mended.problem, mended.revision.policy.name) == (True, "", "two")


@pytest.mark.parametrize(("seconds", "is_available"), [("60", True), ("5", False)])
async def test_how_long_a_broken_edit_is_lived_with_is_the_policys_word(
    file: Path, seconds: str, is_available: bool
) -> None:
    """`policy_stale_seconds_max` alone decides whether a write may still be judged six seconds later."""
    file.write_text(_text("one").replace(": 60", f": {seconds}"))
    scene = Scene(file)
    await scene.source.start()
    file.write_text("language: 1\npolicy: [")
    await scene.source.current()
    scene.now += 6

    assert (await scene.source.current()).is_available is is_available


async def test_each_broken_edit_is_told_and_the_time_runs_from_the_first(file: Path) -> None:
    """Editing on does not buy more time."""
    scene = Scene(file)
    await scene.source.start()
    for number in range(3):
        file.write_text(f"language: 1\npolicy: x\nunknown_{number}: 1\n")
        await scene.source.current()
        scene.now += 25

    assert len(scene.failures) == 3
    assert not (await scene.source.current()).is_available


async def test_a_broken_policy_at_start_is_an_error_with_its_line(file: Path) -> None:
    """There is no last good revision to fall back on."""
    file.write_text("language: 1\npolicy: x\nunknwon: 1\n")

    with pytest.raises(PolicyUnusableError, match=r"policy\.yaml:3"):
        await Scene(file).source.start()


async def test_the_revision_is_one_snapshot_with_everything_compiled_from_it(file: Path) -> None:
    """Pipeline, tokens and facts are of the same bytes."""
    scene = Scene(file, {"BOT": "bot-token-of-some-length"})
    file.write_text(_text("one", "identities: {bot: {token: '${BOT}'}}\n"))
    revision = await scene.source.start()

    assert revision.pipeline.policy is revision.policy
    assert list(revision.tokens) == ["bot"]
    assert b"bot-token" not in revision.tokens["bot"]


async def test_a_secret_that_is_not_there_breaks_the_edit_and_mends_itself(file: Path) -> None:
    """The files look the same, so a broken policy is tried again every second."""
    scene = Scene(file)
    await scene.source.start()
    file.write_text(_text("two", "identities: {bot: {token: '${BOT}'}}\n"))

    state = await scene.source.current()
    assert "${BOT} is not set" in state.problem
    scene.variables["BOT"] = "bot-token"
    assert await scene.name() == "one"
    scene.now += 1.5
    assert await scene.name() == "two"


async def test_two_identities_with_one_token_are_refused(file: Path) -> None:
    """Neither could be told from the other."""
    file.write_text(_text("one", "identities: {a: {token: '${T}'}, b: {token: '${T}'}}\n"))

    with pytest.raises(PolicyUnusableError, match="same token"):
        await Scene(file, {"T": "token"}).source.start()


@pytest.mark.parametrize("mode", [0o664, 0o666])
async def test_a_file_that_others_can_write_is_no_policy(file: Path, mode: int) -> None:
    """At start it is an error, later a broken edit."""
    scene = Scene(file)
    await scene.source.start()
    file.chmod(mode)
    state = await scene.source.current()

    assert "can write it" in state.problem
    with pytest.raises(PolicyUnusableError, match="can write it"):
        await Scene(file).source.start()


async def test_a_change_without_its_receipt_is_no_change(file: Path) -> None:
    """Where the store is down the old revision stays, and who decides hears of it."""
    scene = Scene(file)
    await scene.source.start()
    file.write_text(_text("two"))
    scene.refusing = OSError("down")

    with pytest.raises(OSError, match="down"):
        await scene.source.current()
    assert scene.source.last().revision.policy.name == "one"

    scene.refusing = None
    assert await scene.name() == "two"


async def test_decisions_at_the_same_time_read_once(file: Path) -> None:
    """A hundred waiting calls do not load a policy a hundred times."""
    scene = Scene(file)
    await scene.source.start()
    file.write_text(_text("two"))
    loads = scene.loads

    names = await asyncio.gather(*(scene.name() for _ in range(100)))

    assert set(names) == {"two"}
    assert scene.loads == loads + 1
    assert scene.changes == ["one", "two"]


async def test_a_folder_is_watched_for_edits_new_files_and_removed_ones(tmp_path: Path) -> None:
    """Each way to change a folder is a new revision at the next decision."""
    folder = tmp_path / "policies"
    folder.mkdir(mode=0o755)
    (folder / "a.yaml").write_text(_text("one"))
    (folder / "b.yaml").write_text("reasons: {r1: {category: policy}}\n")
    scene = Scene(folder)
    revisions = [(await scene.source.start()).policy.revision]

    (folder / "b.yaml").write_text("reasons: {r2: {category: policy}}\n")
    revisions.append((await scene.source.current()).revision.policy.revision)
    (folder / "c.yaml").write_text("constants: {limit: 1}\n")
    revisions.append((await scene.source.current()).revision.policy.revision)
    (folder / "c.yaml").unlink()
    revisions.append((await scene.source.current()).revision.policy.revision)

    assert len(set(revisions)) == 3
    assert revisions[1] == revisions[3]
    assert scene.failures == []


async def test_a_swapped_mount_is_a_new_revision(tmp_path: Path) -> None:
    """A ConfigMap's files are links through `..data`, which is what changes."""
    mount = tmp_path / "mount"
    mount.mkdir(mode=0o755)
    for number, mode in ((1, "enforce"), (2, "halt")):
        (mount / f"..{number}").mkdir(mode=0o755)
        (mount / f"..{number}" / "policy.yaml").write_text(_text("one", f"mode: {mode}\n"))
    (mount / "..data").symlink_to("..1")
    (mount / "policy.yaml").symlink_to("..data/policy.yaml")
    scene = Scene(mount)
    assert (await scene.source.start()).policy.mode is Mode.ENFORCE

    (mount / "..tmp").symlink_to("..2")
    (mount / "..tmp").rename(mount / "..data")

    assert (await scene.source.current()).revision.policy.mode is Mode.HALT


async def test_a_file_replaced_by_one_of_the_same_size_and_time_is_seen(file: Path) -> None:
    """A time of modification can be set back; the file is another one all the same."""
    import os

    scene = Scene(file)
    await scene.source.start()
    before = file.stat()
    other = file.with_name("other")
    other.write_text(_text("two"))
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.rename(file)

    assert await scene.name() == "two"


async def test_a_list_beside_the_policy_is_watched_and_guarded_as_the_policy_is(file: Path) -> None:
    """An edit of a list is a new revision at the next decision; a list that others can write, or that is gone, is a
    broken edit."""
    partners = file.with_name("partners.txt")
    partners.write_text("a.example\n")
    partners.chmod(0o644)
    argument = "{type: string, allow: {domains: {file: partners.txt}}}"
    file.write_text(_text("one") + f"\ntools: {{mail: {{arguments: {{to: {argument}}}}}}}\n")
    scene = Scene(file)
    first = (await scene.source.start()).policy
    assert first.files == (file, partners)

    partners.write_text("b.example\n")
    second = (await scene.source.current()).revision.policy
    assert second.revision != first.revision
    arguments = second.tools["mail"].arguments
    assert arguments is not None
    assert arguments["to"].allow is not None
    assert arguments["to"].allow.accepts("x@b.example")

    partners.chmod(0o666)
    assert "partners.txt: world can write it" in (await scene.source.current()).problem
    partners.chmod(0o644)
    assert not (await scene.source.current()).problem
    partners.unlink()
    state = await scene.source.current()
    assert "'partners.txt' cannot be read" in state.problem
    assert state.revision.policy.revision == second.revision
