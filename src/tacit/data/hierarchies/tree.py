"""Hierarchies written as trees or level by level: nested lists, YAML files, mappings."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tacit.data.hierarchies.files import read_text
from tacit.data.hierarchy import TOP, Hierarchy, ground_label, list_faults
from tacit.errors import HierarchyError, UnreadableFile


@dataclass(frozen=True)
class Node:
    """A label with what stands below it, and its line in a file."""

    label: str
    children: tuple[Node, ...] = ()
    line: int = 0


def from_tree(tree: Any, *, top: bool | str = False, pad: bool = False) -> Hierarchy:
    """Return the hierarchy of a nested mapping: top, groups, ground values.

    Parameters
    ----------
    tree
        A mapping of labels to what stands below them: a mapping, or a list of ground values:
        ``{"*": {"Europe": ["FR", "DE"], "Asia": ["JP"]}}``.
    top
        Add a top above the outermost labels (True adds ``*``).
    pad
        Bring ground values to the same depth by repeating the label below the top.
    """
    return from_nodes(list(plain_nodes(tree)), top=top, pad=pad, where="the tree", in_file=False)


def read_yaml(
    path: str | Path, *, top: bool | str = False, pad: bool = False, encoding: str = "utf-8"
) -> Hierarchy:
    """Read a hierarchy from a YAML file of nested mappings and lists: top, groups, ground values.

    Everything is read as text, so that ``NO`` is Norway and ``01`` keeps its zero.

    Parameters
    ----------
    path
        The file.
    top
        Add a top above the outermost labels (True adds ``*``).
    pad
        Bring ground values to the same depth by repeating the label below the top.
    encoding
        How the text is encoded.

    Raises
    ------
    HierarchyError
        With every fault and its line.
    """
    name = Path(path).name
    try:
        root = yaml.compose(read_text(path, encoding), Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = f" (line {error.problem_mark.line + 1})" if error.problem_mark else ""
        raise UnreadableFile(f"{name!r} is not valid YAML{line}") from None
    except RecursionError:
        raise UnreadableFile(f"{name!r} is nested too deeply") from None
    if root is None:
        raise UnreadableFile(f"the file {name!r} is empty")
    return from_nodes(
        list(yaml_nodes(root)), top=top, pad=pad, where=f"file {name!r}", in_file=True
    )


def from_levels(
    levels: Sequence[Mapping[Any, Any]] | Mapping[str, Mapping[Any, Any]],
    *,
    top: bool | str = False,
) -> Hierarchy:
    """Return the hierarchy given by one mapping per level, from the labels below to the labels of the level.

    Parameters
    ----------
    levels
        The mappings, lowest first; or named: ``{"region": {"FR": "Europe", ...}, ...}``. The first one's
        keys are the ground values.
    top
        Add a top above the last level (True adds ``*``).
    """
    named = isinstance(levels, Mapping)
    maps = [
        {ground_label(old): ground_label(new) for old, new in level.items()}
        for level in (levels.values() if isinstance(levels, Mapping) else levels)
    ]
    if not maps:
        raise HierarchyError("from_levels: no level is given")
    faults = [
        f"level {n}: {missing} labels of the level below have no label here"
        for n, (below, level) in enumerate(itertools.pairwise(maps), 2)
        if (missing := len(set(below.values()) - set(level)))
    ]
    if faults:
        raise HierarchyError("the levels are not a valid hierarchy", faults)
    names = ["value", *map(str, levels)] if named else []
    if names and top:
        names.append("suppressed")
    paths = [
        list(itertools.accumulate(maps, lambda label, level: level[label], initial=value))
        for value in maps[0]
    ]
    return Hierarchy.from_paths(paths, top=top, names=names, where="the mapping of levels")


def from_nodes(
    nodes: Sequence[Node], *, top: bool | str, pad: bool, where: str, in_file: bool
) -> Hierarchy:
    """Return the hierarchy of a forest of nodes; several trees need a top."""
    if len(nodes) > 1 and top is False:
        message = f"it has {len(nodes)} tops where one is needed (top=True adds '{TOP}' above them)"
        raise HierarchyError(f"{where} is not a valid hierarchy", [message])
    above = () if top is False else (TOP if top is True else str(top),)
    found = [entry for node in nodes for entry in leaf_entries(node, above)]
    repeated = repeated_faults(found, in_file)
    if repeated:
        raise HierarchyError(f"{where} is not a valid hierarchy", repeated)
    return Hierarchy.from_paths(
        [path for path, _ in found],
        pad=pad,
        where=where,
        lines=[line for _, line in found] if in_file else None,
    )


def leaf_entries(node: Node, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the path of each ground value below a node, ground first, and its line."""
    path = (node.label, *above)
    if not node.children:
        yield path, node.line
    for child in node.children:
        yield from leaf_entries(child, path)


def repeated_faults(found: Sequence[tuple[tuple[str, ...], int]], in_file: bool) -> list[str]:
    """Return a fault for each ground value that is written twice."""
    seen: dict[str, int] = {}
    faults = []
    for i, (path, line) in enumerate(found, 1):
        if path[0] in seen:
            place = f"line {line}" if in_file else f"ground value {i}"
            faults.append(f"{place}: its value already has a path")
        seen.setdefault(path[0], line)
    return list_faults(faults)


def plain_nodes(tree: Any) -> Iterator[Node]:
    """Yield the nodes of nested mappings and lists."""
    if tree is None:
        return
    if isinstance(tree, Mapping):
        for label, below in tree.items():
            yield Node(ground_label(label), tuple(plain_nodes(below)))
    elif isinstance(tree, list | tuple | set | frozenset):
        for item in tree:
            yield from plain_nodes(item)
    else:
        yield Node(ground_label(tree))


def yaml_nodes(node: yaml.Node) -> Iterator[Node]:
    """Yield the nodes of a YAML document, every scalar as it is written."""
    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, below in node.value:
            yield Node(str(key.value), tuple(yaml_nodes(below)), key.start_mark.line + 1)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from yaml_nodes(item)
    elif node.tag != "tag:yaml.org,2002:null":
        yield Node(str(node.value), (), line)
