"""Hierarchy files: one path per line (CSV, as ARX writes them), and how text files are opened."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from tacit.data.hierarchy import Hierarchy
from tacit.data.paths import require_file
from tacit.errors import UnreadableFile, explain_target

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
    return Hierarchy.from_paths(
        rows, pad=pad, top=top, names=names, where=f"file {Path(path).name!r}", lines=lines
    )


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
