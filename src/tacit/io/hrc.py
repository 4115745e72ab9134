"""Dimensions from tau-ARGUS descriptions: hierarchy files (``.hrc``), digits of codes, code lists (``.cdl``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.data.cells.dimension import TOTAL, Dimension
from tacit.data.hierarchies.argus import (
    first_leaves,
    hrc_faults,
    lead_depth,
    merge_only_children,
)
from tacit.errors import HierarchyError, UnreadableFile
from tacit.io.lines import (
    decode,
    file_beside,
    iterate_numbered,
    lines_of,
    open_atomically,
    write_lines,
)
from tacit.io.rda import Variable
from tacit.reveal import reveal


def hrc_dimension(
    path: str | Path,
    name: str | None = None,
    *,
    lead: str = "@",
    total: str = TOTAL,
    strip: bool = True,
    extra: Iterable[str] = (),
    labels: Mapping[str, str] | None = None,
) -> Dimension:
    """Make a dimension from a hierarchy file: one code per line, its depth shown by leading marks.

    A code that stands at several places is read as tau-ARGUS reads it: records belong to the first place
    without children; an only child with the code of its parent is the same cell. The total has no line in the file;
    ``lead`` is repeated once a level; ``strip`` removes blanks around codes, of which fixed columns have leading ones;
    ``extra`` are codes directly below the total that the file does not list, such as missing codes.
    """
    entries = []
    for number, line in iterate_numbered(path):
        depth, code = lead_depth(line.lstrip("\ufeff"), lead)
        entries.append((number, depth, code.strip() if strip else code.rstrip()))
    entries = merge_only_children(first_leaves(entries))
    faults = hrc_faults(entries)
    if faults:
        raise HierarchyError(f"file {Path(path).name!r} is not a valid hierarchy", faults)
    listed = {code for _, _, code in entries}
    lines = [(depth, code) for _, depth, code in entries if code != total]
    if total in listed:
        raise HierarchyError(
            f"file {Path(path).name!r} lists the total {total!r}, which has no line of its own"
        )
    lines += [(0, code) for code in dict.fromkeys(extra) if code not in listed]
    return Dimension.from_tree(name or Path(path).stem, lines, total=total, labels=labels)


def digit_paths(code: str, levels: Sequence[int]) -> list[str]:
    """Return the codes above a code and itself, coarsest first: ``12345`` by 3 1 1 is 123, 1234, 12345."""
    width = sum(levels)
    padded = code.rjust(width)
    ends = [sum(levels[: i + 1]) for i, size in enumerate(levels) if size > 0]
    return [padded[:end].strip() for end in ends]


def digit_dimension(
    name: str,
    codes: Iterable[str],
    levels: Sequence[int],
    *,
    total: str = TOTAL,
    missing: Iterable[str] = (),
    labels: Mapping[str, str] | None = None,
) -> Dimension:
    """Make a dimension from codes whose leading digits are their parents.

    Missing codes stand directly below the total.
    """
    own = list(dict.fromkeys(codes))
    apart = [c for c in dict.fromkeys(missing) if c in own]
    width = sum(levels)
    long = next((c for c in own if len(c) > width), None)
    if long is not None:
        raise HierarchyError(
            f"the code {long!r} of {name!r} is longer than the {width} digits of its levels"
        )
    lines: list[tuple[int, str]] = []
    seen: set[str] = set()
    for code in sorted((c for c in own if c not in apart), key=lambda c: c.rjust(width)):
        for depth, step in enumerate(digit_paths(code, levels)):
            if step and step not in seen:
                seen.add(step)
                lines.append((depth, step))
    lines += [(0, code) for code in apart]
    return Dimension.from_tree(name, lines, total=total, labels=labels)


def dimension_of(
    variable: Variable, codes: Iterable[str], folder: Path, *, ordered: bool = True
) -> Dimension:
    """Make the dimension of a spanning variable from its description and the codes that occur.

    Hierarchy files and code lists are looked up in ``folder``. The codes of a flat variable are put in order, or
    stay in the order in which they occur.
    """
    occurring = [c for c in dict.fromkeys(codes) if c not in {variable.total, ""}]
    absent = [c for c in variable.missing if c in occurring]
    labels = code_labels(variable, folder)
    file = variable.word("HIERCODELIST")
    levels = [int(x) for x in variable.numbers("HIERLEVELS")]
    if file:
        found = file_beside(folder, file)
        if found is None:
            raise UnreadableFile(f"no hierarchy {file!r} of {variable.name!r} in {str(folder)!r}")
        lead = variable.word("HIERLEADSTRING") or "@"
        made = hrc_dimension(
            found, variable.name, lead=lead, total=variable.total, extra=absent, labels=labels
        )
        unknown = [c for c in occurring if c not in made.position]
        if unknown:
            raise HierarchyError(
                f"{len(unknown)} codes of {variable.name!r} do not stand in {found.name!r}. "
                + reveal(f"Codes that {found.name!r} lacks", unknown)
            )
        return made
    if levels:
        known: dict[str, Any] = {"total": variable.total, "labels": labels}
        return digit_dimension(variable.name, occurring, levels, missing=variable.missing, **known)
    width = max((len(c) for c in occurring), default=0)
    if ordered:
        rest = sorted((c for c in occurring if c not in absent), key=lambda c: c.rjust(width))
        occurring = [*rest, *absent]
    return Dimension.flat(variable.name, occurring, total=variable.total, labels=labels)


def code_labels(variable: Variable, folder: Path) -> dict[str, str]:
    """Return the labels of a variable's codes, where it names a code list that is there."""
    listed = variable.word("CODELIST")
    found = file_beside(folder, listed) if listed else None
    return code_list(found) if found is not None else {}


def code_list(path: Path, encoding: str = "utf-8") -> dict[str, str]:
    """Read a code list: ``code,label`` a line."""
    pairs = (line.partition(",") for line in lines_of(decode(path, encoding)) if line.strip())
    bare = (
        (code.strip().strip('"'), label.strip().strip('"')) for code, comma, label in pairs if comma
    )
    return dict(bare)


def write_hrc(dimension: Dimension, path: str | Path, *, lead: str = "@") -> None:
    """Write a dimension that is a tree as a hierarchy file."""
    if not dimension.is_tree or any(s.signs for s in dimension.sums):
        raise HierarchyError(
            f"the dimension {dimension.name!r} is not a plain tree; a .hrc file holds trees only"
        )
    children = {s.parent: s.children for s in dimension.sums}
    lines: list[str] = []
    stack = [(0, c) for c in reversed(children.get(dimension.total, ()))]
    while stack:
        depth, code = stack.pop()
        lines.append(lead * depth + dimension.codes[code])
        stack += [(depth + 1, c) for c in reversed(children.get(code, ()))]
    clash = next((c for c in dimension.codes if c.startswith(lead)), None)
    if clash is not None:
        raise HierarchyError(
            f"the code {clash!r} begins with the leading string {lead!r}; choose another"
        )
    with open_atomically(path) as room:
        write_lines(room, lines)
