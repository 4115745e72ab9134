"""tau-ARGUS metadata (``.rda``) for records and for ready tables, and the dimensions it describes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tacit.data.cells.dimension import TOTAL, Dimension
from tacit.data.hierarchies.argus import hrc_faults, lead_depth, read_cdl
from tacit.errors import HierarchyError, UnreadableFile
from tacit.io import argus_metadata as meta
from tacit.io.lines import numbered, text_of, whole, write_lines

SAME = {
    "RECODABLE": "RECODEABLE",
    "COST": "COSTVAR",
    "PFILE": "PFILE_FREQ",
    "SUPPRESSWEIGHT": "SUPPRESSPRIORITY",
}
#: Keywords that may stand before the first variable.
OF_FILE = {"SEPARATOR", "SPSS", "SAFE", "UNSAFE", "PROTECT", "NAMESINFRONT"}
#: Keywords that only a ready table has.
OF_TABLES = {"FREQUENCY", "MAXSCORE", "STATUS", "SHADOW", "COSTVAR", "LOWERPL", "UPPERPL"}
#: Of these, a ready table has at most one each.
ONCE = ("SHADOW", "COSTVAR", "FREQUENCY", "LOWERPL", "UPPERPL", "STATUS")

KEYWORD = re.compile(r"<\s*([A-Za-z_]+)\s*>([^<]*)")


@dataclass(frozen=True)
class Variable:
    """One variable: where it stands, its missing codes, and its keywords with their words."""

    name: str
    start: int | None = None
    length: int | None = None
    missing: tuple[str, ...] = ()
    keywords: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def has(self, keyword: str) -> bool:
        """Return True when the keyword stands under the variable."""
        return keyword in self.keywords

    def word(self, keyword: str) -> str | None:
        """Return the first word after a keyword."""
        return next(iter(self.keywords.get(keyword, ())), None)

    def numbers(self, keyword: str) -> tuple[float, ...]:
        """Return the numbers after a keyword."""
        words = self.keywords.get(keyword, ())
        return tuple(float(w) for w in words if re.fullmatch(r"-?\d+(\.\d+)?", w))

    @property
    def total(self) -> str:
        """Return the code of the total."""
        return self.word("TOTCODE") or TOTAL

    @property
    def decimals(self) -> int:
        """Return the decimals of a number."""
        return int(next(iter(self.numbers("DECIMALS")), 0))

    @property
    def spans(self) -> bool:
        """Return True for a spanning variable."""
        return self.has("RECODEABLE")

    @property
    def is_value(self) -> bool:
        """Return True for the cell value of a ready table."""
        return self.has("NUMERIC") and not OF_TABLES & set(self.keywords)


@dataclass(frozen=True)
class Description:
    """A whole description; without a separator records are of fixed format."""

    variables: tuple[Variable, ...]
    separator: str | None = None
    tabular: bool = False
    spss: bool = False
    names_in_front: bool = False
    letters: Mapping[str, str] = field(default_factory=dict)
    source: str = "memory"

    def variable(self, name: str) -> Variable:
        """Return the variable of that name; upper and lower case are the same where that is clear."""
        exact = [v for v in self.variables if v.name == name]
        near = exact or [v for v in self.variables if v.name.casefold() == name.casefold()]
        if len(near) != 1:
            known = ", ".join(v.name for v in self.variables)
            raise UnreadableFile(
                f"{Path(self.source).name!r} describes no variable {name!r}; it has {known}"
            )
        return near[0]

    def first(self, keyword: str) -> Variable | None:
        """Return the first variable with a keyword."""
        return next((v for v in self.variables if v.has(keyword)), None)


def read_rda(path: str | Path, *, tabular: bool | None = None) -> Description:
    """Read tau-ARGUS metadata.

    Parameters
    ----------
    path
        The ``.rda`` file.
    tabular
        Whether it describes a ready table (True) or records (False); by default found from its
        keywords and header lines.

    Raises
    ------
    UnreadableFile
        Naming the line that is wrong.
    """
    file = Path(path)
    if file.is_file() and file.read_bytes()[:6].startswith(meta.R_FILES):
        raise UnreadableFile(f"{file.name!r} is a data file of R, not a tau-ARGUS description")
    lines = [
        (n, line)
        for n, raw in numbered(file)
        if not (line := raw.replace('"\t"', '"\\t"').replace("\t", " ").strip()).startswith("//")
    ]
    if tabular is None:
        tabular = looks_tabular(line for _, line in lines)
    of_file: dict[str, tuple[str, ...]] = {}
    heads: list[tuple[int, list[str]]] = []
    keywords: list[dict[str, tuple[str, ...]]] = []
    for number, line in lines:
        if not line.startswith("<"):
            heads.append((number, meta.tokens(line)))
            keywords.append({})
            continue
        found = [(k.upper(), tuple(meta.tokens(rest))) for k, rest in KEYWORD.findall(line)]
        if not found:
            raise UnreadableFile(f"{file.name!r}, line {number}: not a keyword in angle brackets")
        for keyword, words in found:
            if not heads and keyword not in OF_FILE:
                raise UnreadableFile(
                    f"{file.name!r}, line {number}: <{keyword}> is not known before the first variable"
                )
            own = keywords[-1] if heads else of_file
            own[SAME.get(keyword, keyword)] = words
    separator = next(iter(of_file.get("SEPARATOR", ())), ",") if "SEPARATOR" in of_file else None
    if separator is None and tabular:
        separator = ","
    elif separator == "\\t":
        separator = "\t"
    variables = tuple(
        header(words, own, f"{file.name!r}, line {n}", tabular=tabular, free=separator is not None)
        for (n, words), own in zip(heads, keywords, strict=True)
    )
    letters = {k: of_file[k][0] for k in ("SAFE", "UNSAFE", "PROTECT") if of_file.get(k)}
    made = Description(
        variables,
        separator,
        tabular,
        "SPSS" in of_file,
        "NAMESINFRONT" in of_file,
        letters,
        str(file),
    )
    require_sound(made)
    return made


def looks_tabular(lines: Iterable[str]) -> bool:
    """Tell a description of a ready table: by its keywords, or by headers without a length."""
    heads = []
    for line in lines:
        if not line.startswith("<"):
            heads.append(meta.tokens(line)[1:])
            continue
        for keyword, _ in KEYWORD.findall(line):
            name = SAME.get(keyword.upper(), keyword.upper())
            if name in OF_TABLES or name in {"SAFE", "UNSAFE", "PROTECT"}:
                return True
    return bool(heads) and not any(rest and rest[0].isdigit() for rest in heads)


def header(
    words: Sequence[str],
    keywords: Mapping[str, tuple[str, ...]],
    where: str,
    *,
    tabular: bool,
    free: bool,
) -> Variable:
    """Make a variable from the line that opens it."""
    name, *rest = words
    wanted = 0 if tabular else 1 if free else 2
    numbers = rest[:wanted]
    if len(numbers) < wanted or not all(n.isdigit() and int(n) > 0 for n in numbers):
        form = "name length" if free else "name start length"
        raise UnreadableFile(f"{where}: a variable is described as '{form} [missing codes]'")
    missing = tuple(code.strip() for code in rest[wanted : wanted + 2] if code.strip())
    length = int(numbers[-1]) if numbers else None
    if length is not None and any(len(code) > length for code in missing):
        raise UnreadableFile(f"{where}: a missing code of {name!r} is longer than its field")
    return Variable(name, int(numbers[0]) if wanted == 2 else None, length, missing, dict(keywords))


def require_sound(description: Description) -> None:
    """Refuse variables that are described twice, and ready tables without values."""
    file = Path(description.source).name
    names = [v.name for v in description.variables]
    if not names:
        raise UnreadableFile(f"{file!r} describes no variables")
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise UnreadableFile(f"{file!r} describes {twice!r} more than once")
    if not description.tabular:
        return
    for keyword in ONCE:
        if sum(v.has(keyword) for v in description.variables) > 1:
            raise UnreadableFile(f"{file!r} has more than one <{keyword}>")
    if not any(v.is_value or v.has("FREQUENCY") for v in description.variables):
        raise UnreadableFile(f"{file!r} describes neither a cell value nor a frequency")


# -- dimensions ----------------------------------------------------------------------------------


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
    """Make a dimension from a hierarchy file: one code a line, its depth shown by leading marks.

    Parameters
    ----------
    path
        The ``.hrc`` file; the total has no line in it.
    name
        The variable; by default the file's name.
    lead
        The string that is repeated once a level.
    total
        The code of the total.
    strip
        Remove blanks around codes; False keeps leading ones, as fixed columns have them.
    extra
        Codes directly below the total that the file does not list, such as missing codes.
    labels
        Longer names of codes.
    """
    entries = []
    for number, line in numbered(path):
        depth, code = lead_depth(line.lstrip("\ufeff"), lead)
        entries.append((number, depth, code.strip() if strip else code.rstrip()))
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

    Parameters
    ----------
    variable
        The description.
    codes
        Codes that occur in the data; the total is passed over.
    folder
        Where hierarchy files and code lists are looked up.
    ordered
        Put the codes of a flat variable in order; False keeps the order in which they occur.
    """
    occurring = [c for c in dict.fromkeys(codes) if c not in {variable.total, ""}]
    absent = [c for c in variable.missing if c in occurring]
    labels = code_labels(variable, folder)
    file = variable.word("HIERCODELIST")
    levels = [int(x) for x in variable.numbers("HIERLEVELS")]
    if file:
        found = meta.beside(folder, file)
        if found is None:
            raise UnreadableFile(f"no hierarchy {file!r} of {variable.name!r} in {str(folder)!r}")
        lead = variable.word("HIERLEADSTRING") or "@"
        made = hrc_dimension(
            found, variable.name, lead=lead, total=variable.total, extra=absent, labels=labels
        )
        unknown = [c for c in occurring if c not in made.position]
        if unknown:
            raise HierarchyError(
                f"{len(unknown)} codes of {variable.name!r} do not stand in {found.name!r}, "
                f"the first is {unknown[0]!r}"
            )
        return made
    if levels:
        return digit_dimension(
            variable.name,
            occurring,
            levels,
            total=variable.total,
            missing=variable.missing,
            labels=labels,
        )
    width = max((len(c) for c in occurring), default=0)
    if ordered:
        rest = sorted((c for c in occurring if c not in absent), key=lambda c: c.rjust(width))
        occurring = [*rest, *absent]
    return Dimension.flat(variable.name, occurring, total=variable.total, labels=labels)


def code_labels(variable: Variable, folder: Path) -> dict[str, str]:
    """Return the labels of a variable's codes, where it names a code list that is there."""
    listed = variable.word("CODELIST")
    found = meta.beside(folder, listed) if listed else None
    return read_cdl(found) if found is not None else {}


# -- writing -------------------------------------------------------------------------------------


def write_rda(description: Description, path: str | Path) -> None:
    """Write metadata."""
    lines = []
    if description.separator is not None:
        lines.append(f'<SEPARATOR> "{description.separator}"')
    lines += [f'<{k}> "{letter}"' for k, letter in description.letters.items()]
    if description.names_in_front:
        lines.append("<NAMESINFRONT>")
    for v in description.variables:
        numbers = [str(x) for x in (v.start, v.length) if x is not None]
        codes = [f'"{c}"' if description.tabular else meta.write_word(c) for c in v.missing]
        lines.append(" ".join([meta.write_word(v.name), *numbers, *codes]))
        for keyword, words in v.keywords.items():
            shown = [w if re.fullmatch(r"-?[\d.]+", w) else f'"{w}"' for w in words]
            lines.append(" ".join([f"  <{keyword}>", *shown]))
    with whole(path) as room:
        write_lines(room, lines)


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
    with whole(path) as room:
        write_lines(room, lines)


__all__ = [
    "Description",
    "Variable",
    "digit_dimension",
    "dimension_of",
    "hrc_dimension",
    "read_rda",
    "text_of",
    "write_hrc",
    "write_rda",
]
