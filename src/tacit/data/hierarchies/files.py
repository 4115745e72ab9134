"""Hierarchy files: one path per line (CSV, as ARX writes them), and how text files are opened."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Sequence
from pathlib import Path

from tacit.data.hierarchy import TOP, Hierarchy, pad_paths
from tacit.data.paths import require_file
from tacit.errors import SdcWarning, UnreadableFile, explain_target

#: Tried in this order; labels often hold commas, so the comma comes last.
SEPARATORS = (";", "\t", "|", ",")


def read_csv(
    path: str | Path,
    *,
    separator: str | None = None,
    header: bool = False,
    top: bool | str = False,
    pad: bool = False,
    encoding: str = "utf-8",
) -> Hierarchy:
    """Read a hierarchy of one path per line: the value, then its label at each level.

    Parameters
    ----------
    path
        The file. ARX's hierarchy files have this form, parted by semicolons.
    separator
        What parts the labels; by default found from the file.
    header
        Whether the first line names the levels.
    top
        Add a top above the last column (True adds ``*``). Without it, a last column of several labels
        is refused.
    pad
        Fill short lines by repeating the last label below the top.
    encoding
        How the text is encoded.

    Notes
    -----
    A label that stands for different values on two levels would have two meanings in a release: the higher
    group is renamed, ``8`` to ``8 (level 2)``, with a warning. With ``pad`` a group may bear the label of a
    part of it, as that is how short lines are filled.

    Raises
    ------
    HierarchyError
        With every fault and its line.
    """
    text = read_text(path, encoding)
    mark = separator or guess_separator(text.splitlines()[:50])
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    rows: list[list[str]] = []
    lines: list[int] = []
    for row in reader:
        cells = [cell.strip() for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            rows.append(cells)
            lines.append(reader.line_num)
    names = rows.pop(0) if header and rows else []
    if names:
        lines = lines[1:]
        names += [top if isinstance(top, str) else "top"] if top else []
    if top:
        rows = [[*row, TOP if top is True else top] for row in rows]
    whole = pad_paths([tuple(row) for row in rows]) if pad else rows
    apart, renamed = name_apart(whole, nested=not pad)
    where = f"file {Path(path).name!r}"
    if renamed:
        warnings.warn(
            f"{where}: {renamed} of its groups bear the label of a different group on a lower level. "
            "Their level was added to the label, as in 'x (level 2)'.",
            SdcWarning,
            stacklevel=2,
        )
    return Hierarchy.from_paths(apart, names=names, where=where, lines=lines)


def write_csv(
    hierarchy: Hierarchy, path: str | Path, *, separator: str = ";", header: bool = False
) -> Path:
    """Write a hierarchy as one path per line, the form that :func:`read_csv` and ARX read."""
    target = Path(path)
    with explain_target(target), target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=separator, lineterminator="\n")
        if header:
            writer.writerow(hierarchy.level_names)
        writer.writerows(hierarchy.paths())
    return target


def name_apart(
    rows: Sequence[Sequence[str]], *, nested: bool = True
) -> tuple[list[list[str]], int]:
    """Give every group a label of its own; return the paths and the number of groups renamed.

    A label may stand on several levels for the same ground values, as padding makes it. Where it stands for
    others, a released label would have two meanings: the higher group then gets its level added, as in
    ``8 (level 2)``; a ``nested`` one also when it holds the lower group, unless labels were repeated to fill short paths.
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
                    name = f"{label} (level {level})"
                    while name in taken:
                        name += "'"
                    taken.add(name)
                    count += 1
                known.append((group, name))
            if name != label:
                for i in places:
                    renamed[i][level] = name
    return renamed, count


def guess_separator(lines: list[str]) -> str:
    """Return the separator that occurs equally often on every line; else the most frequent one."""
    filled = [line for line in lines if line.strip()]
    for mark in SEPARATORS:
        counts = {line.count(mark) for line in filled}
        if len(counts) == 1 and counts != {0}:
            return mark
    return max(SEPARATORS, key=lambda mark: sum(line.count(mark) for line in filled))


def read_text(path: str | Path, encoding: str = "utf-8") -> str:
    """Return a file's text, or say why it cannot be read."""
    file = Path(path)
    require_file(file)
    if not file.is_file():
        raise UnreadableFile(f"{file.name!r} is a folder, not a file")
    try:
        return file.read_bytes().decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError:
        raise UnreadableFile(
            f"{file.name!r} is not {encoding} text. Say how it is encoded, e.g. encoding='latin-1'."
        ) from None


def number_lines(text: str) -> list[tuple[int, str]]:
    """Return the lines that are not blank, without their ends, numbered from 1."""
    return [(n, line.rstrip()) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
