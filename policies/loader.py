"""Loads a policy: from a file, a folder, or a text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from policies.compile import PolicyError, compile_policy
from policies.documents import keys
from policies.files import Snapshot, read_snapshot
from policies.lists import Lists
from policies.nodes import MappingNode, joined
from policies.problems import DocumentError, Problems
from policies.yaml_reader import read_yaml

if TYPE_CHECKING:
    from policies.model import Origin, Policy
    from policies.nodes import Node


def load_policy(path: Path) -> Policy:
    """The policy at `path`, one file or a folder of files. `PolicyError` tells every problem that was found.

    In a folder each top-level key stands in one file, but the sections of named entries (`tools`, `facts`, `reasons`,
    `constants`, `session`, `identities`) may be spread over several, each entry in one of them. References to secrets
    are not expanded here.
    """
    try:
        snapshot = read_snapshot(path)
    except DocumentError as error:
        raise PolicyError(error.problems) from None
    return load_snapshot(snapshot)


def load_snapshot(snapshot: Snapshot) -> Policy:
    """The policy of bytes that were read before."""
    return compile_document(read_document(snapshot), snapshot)


def read_document(snapshot: Snapshot) -> MappingNode:
    """The one document that the files of a policy are together. `PolicyError` where they are none."""
    problems = Problems()
    roots: list[MappingNode] = []
    for name, data in snapshot.texts:
        with problems.collect():
            roots.append(read_yaml(data, name).mapping())
    if problems:
        raise PolicyError(problems.found)
    try:
        return _merged(roots)
    except DocumentError as error:
        raise PolicyError(error.problems) from None


def compile_document(root: MappingNode, snapshot: Snapshot) -> Policy:
    """The policy of a document that was read from these files."""
    lists = Lists(snapshot.root or snapshot.folder)
    policy = compile_policy(root, snapshot.folder, snapshot.paths, snapshot.revision, lists)
    if not lists.texts:
        return policy
    whole = replace(snapshot, texts=(*snapshot.texts, *sorted(lists.texts.items())))
    files = (*policy.files, *(snapshot.folder / name for name in sorted(lists.texts)))
    return replace(policy, files=files, revision=whole.revision)


def load_policy_text(text: str, name: str = "policy.yaml", folder: Path = Path()) -> Policy:
    """The policy of a text. `name` stands for its file in messages; relative paths start at `folder`."""
    return load_snapshot(Snapshot(((name, text.encode("utf-8", "surrogatepass")),), (), folder, ()))


def _merged(roots: list[MappingNode]) -> MappingNode:
    if len(roots) == 1:
        return roots[0]
    problems = Problems()
    entries: dict[str, Node] = {}
    origins: dict[str, Origin] = {}
    for root in roots:
        for key, node in root.entries.items():
            if key not in entries:
                entries[key], origins[key] = node, root.origin_of(key)
                continue
            with problems.collect():
                if key not in keys.MERGED:
                    _twice(problems, root, key, origins[key])
                else:
                    entries[key] = _joined(entries[key].mapping(), node.mapping(), problems)
    if problems:
        raise DocumentError(problems.found)
    return MappingNode(roots[0].origin, "", entries, origins)


def _joined(first: MappingNode, second: MappingNode, problems: Problems) -> MappingNode:
    for key in second.entries:
        if key in first:
            _twice(problems, second, key, first.origin_of(key))
    return MappingNode(
        first.origin,
        first.path,
        {**first.entries, **second.entries},
        {**first.key_origins, **second.key_origins},
    )


def _twice(problems: Problems, mapping: MappingNode, key: str, first: Origin) -> None:
    problems.add(mapping.origin_of(key), joined(mapping.path, key), f"stands here and in {first}")
