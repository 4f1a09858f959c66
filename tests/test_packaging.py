"""What is installed is what was tested: the wheel is whole, imports by itself, and each dependency is pinned."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("policies", "interceptors", "proxy")
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-build.lock")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
IMPORT_ALL = """
import importlib, pathlib, sys
root = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(root))
for path in sorted(root.glob("*/**/*.py")):
    parts = path.relative_to(root).with_suffix("").parts
    if parts[0].endswith(".dist-info") or parts[-1] == "__main__":
        continue
    module = importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    assert pathlib.Path(module.__file__).is_relative_to(root), module.__file__
    print(module.__name__)
"""


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this checkout and unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=100)
    (wheel,) = (folder / "dist").glob("callgate-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def _files(folder: Path) -> set[str]:
    paths = (path for package in PACKAGES for path in (folder / package).rglob("*"))
    return {path.relative_to(folder).as_posix() for path in paths if path.is_file() and "__pycache__" not in path.parts}


def _requirements(text: str) -> dict[str, list[str]]:
    """The lock's requirements by their line (`name==version ; marker`), each with the options that follow it."""
    found: dict[str, list[str]] = {}
    for line in text.split("\n"):
        words = line.strip().removesuffix("\\").strip()
        if not words or words.startswith("#"):
            continue
        if line.startswith((" ", "-")):
            found.setdefault(next(reversed(found), ""), []).append(words)
        else:
            found[words] = []
    return found


def loose(text: str) -> list[str]:
    """What of a lock is not pinned: no exact version, no hash, or an option that is no hash (an index, a link)."""
    return [
        requirement
        for requirement, options in _requirements(text).items()
        if "==" not in requirement.partition(";")[0]
        or "://" in requirement
        or not options
        or any(not option.startswith("--hash=sha256:") for option in options)
    ]


def test_the_wheel_holds_every_file_of_the_packages(unpacked: Path) -> None:
    """Sources, packs, migrations and type markers: all of it, and nothing else."""
    assert _files(unpacked) == _files(ROOT)
    assert {path.name for path in unpacked.iterdir()} == {
        *PACKAGES,
        f"callgate-{PROJECT['project']['version']}.dist-info",
    }


def test_the_wheel_holds_packs_and_migrations(unpacked: Path) -> None:
    """The policy that the demo runs and the numbered migrations of the store are in the wheel."""
    files = _files(unpacked)

    assert "policies/packs/refund-desk/policy.yaml" in files
    assert [name for name in files if name.startswith("proxy/store/") and name.endswith(".sql")]
    assert "proxy/console/templates/case.html" in files
    assert {"proxy/console/static/console.css", "proxy/console/static/htmx.LICENSE.txt"} <= files
    assert {f"{package}/py.typed" for package in PACKAGES} <= files


def test_every_module_imports_from_the_wheel(unpacked: Path) -> None:
    """In a clean interpreter each module of the wheel imports by itself, from the wheel and not from the checkout."""
    command = [sys.executable, "-I", "-W", "error", "-c", IMPORT_ALL, str(unpacked)]

    done = subprocess.run(command, cwd=unpacked, capture_output=True, text=True, check=False, timeout=100)

    assert done.returncode == 0, done.stderr
    assert {"policies.model", "interceptors.calls", "proxy.wire"} <= set(done.stdout.split())


def test_the_command_is_installed(unpacked: Path) -> None:
    """The wheel declares `callgate`, and it names a function that is there."""
    (metadata,) = unpacked.glob("*.dist-info")
    module, function = PROJECT["project"]["scripts"]["callgate"].split(":")
    program = (
        f"import sys; sys.path.insert(0, sys.argv[1]); from {module} import {function}; assert callable({function})"
    )

    assert f"callgate = {module}:{function}" in (metadata / "entry_points.txt").read_text()
    subprocess.run([sys.executable, "-I", "-c", program, str(unpacked)], cwd=unpacked, check=True, timeout=60)


def test_the_licence_is_in_the_wheel(unpacked: Path) -> None:
    """Whoever has the wheel has the licence."""
    (licence,) = unpacked.glob("*.dist-info/licenses/LICENSE")

    assert licence.read_text() == (ROOT / "LICENSE").read_text()
    assert "Apache License" in licence.read_text()


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_pin_by_hash(lock: str) -> None:
    """Each requirement of a lock has one version and its hashes; no index, link or path is named."""
    text = (ROOT / lock).read_text()

    assert len(_requirements(text)) > 5
    assert loose(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "a==1\n",
        "a>=1 \\\n    --hash=sha256:00\n",
        "a==1 \\\n    --hash=md5:00\n",
        "a==1 \\\n    --hash=sha256:00\n--extra-index-url https://example.com/simple\n",
        "--index-url https://example.com/simple\na==1 \\\n    --hash=sha256:00\n",
        "a @ https://example.com/a.whl \\\n    --hash=sha256:00\n",
    ],
)
def test_a_loose_lock_is_found(text: str) -> None:
    """No hash, no exact version, a weak hash, an index or a link: each is found."""
    assert loose(text)


def test_locks_agree() -> None:
    """What ships and what builds are the versions, with the hashes, that are tested."""
    locks = {name: _requirements((ROOT / name).read_text()) for name in LOCKS}
    tested = {line.partition(" ")[0]: set(hashes) for line, hashes in locks["requirements-dev.lock"].items()}

    for name in ("requirements.lock", "requirements-build.lock"):
        shipped = {line.partition(" ")[0]: set(hashes) for line, hashes in locks[name].items()}
        assert {pin for pin, hashes in shipped.items() if tested.get(pin) != hashes} == set()


def test_the_build_backend_is_one_version() -> None:
    """An isolated build, the lock and the contributors' environment use the same hatchling."""
    (backend,) = PROJECT["build-system"]["requires"]

    assert PROJECT["dependency-groups"]["build"] == [backend]
    assert backend in PROJECT["dependency-groups"]["dev"]
    assert any(line.startswith(backend) for line in _requirements((ROOT / "requirements-build.lock").read_text()))


def test_packages_are_named_one_by_one() -> None:
    """The import packages have common names, so nothing is discovered: the list is explicit."""
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"] == {"packages": list(PACKAGES)}


def test_the_changelog_knows_this_version() -> None:
    """The version that is built has its entry."""
    assert f"## [{PROJECT['project']['version']}]" in (ROOT / "CHANGELOG.md").read_text()
