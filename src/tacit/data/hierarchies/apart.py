"""Labels that stand for different groups on different levels, told apart by their level."""

from __future__ import annotations

from collections.abc import Sequence

Rows = Sequence[Sequence[str]]


def name_apart(rows: Rows, *, nested: bool = True) -> tuple[list[list[str]], int]:
    """Give every group a label of its own; return the paths and the number of groups renamed.

    A label may stand on several levels for the same ground values, as padding makes it. Where it stands for
    others, a released label would have two meanings: the higher group then gets its level added, as in
    ``8 (level 2)``.

    Parameters
    ----------
    rows
        Paths of even depth, ground value first.
    nested
        Rename a group also when it holds the lower one of the same label; False where labels were repeated
        to fill short paths.
    """
    renamed = [list(row) for row in rows]
    if not rows or len({len(row) for row in rows}) > 1:
        return renamed, 0
    columns = list(zip(*rows, strict=True))
    labels = [set(column) for column in columns]
    taken = set().union(*labels)
    #: For each label: the groups it stands for so far, and the names they got.
    groups: dict[str, list[tuple[frozenset[str], str]]] = {}
    count = 0
    for level, column in enumerate(columns):
        elsewhere = set().union(*labels[:level], *labels[level + 1 :])
        members: dict[str, list[int]] = {}
        for i, label in enumerate(column):
            if label in elsewhere:
                members.setdefault(label, []).append(i)
        for label, places in members.items():
            group = frozenset(columns[0][i] for i in places)
            known = groups.setdefault(label, [])
            name = next((n for g, n in known if g == group), None)
            if name is None:
                name = label
                if known and (nested or not all(g <= group for g, _ in known)):
                    name = free_label(f"{label} (level {level})", taken)
                    taken.add(name)
                    count += 1
                known.append((group, name))
            if name != label:
                for i in places:
                    renamed[i][level] = name
    return renamed, count


def free_label(label: str, taken: set[str]) -> str:
    """Return the label, with primes added while another group bears it."""
    while label in taken:
        label += "'"
    return label
