"""ARGUS descriptions (``.rda``, ``.rds``): of records, for mu- and tau-ARGUS, and of ready tables.

First the keywords of the file (``<SEPARATOR>``), then one header line per variable (name, start, length,
missing codes; no start in free format, neither in a ready table) followed by its keywords in angle
brackets.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tacit.data.cells.dimension import TOTAL
from tacit.errors import UnreadableFile
from tacit.io.lines import iterate_numbered, open_atomically, write_lines

#: Spellings of one keyword.
SAME = {
    "RECODABLE": "RECODEABLE",
    "COST": "COSTVAR",
    "PFILE": "PFILE_FREQ",
    "SUPPRESSWEIGHT": "SUPPRESSPRIORITY",
}
#: Keywords that may stand before the first variable.
OF_FILE = {"SEPARATOR", "SPSS", "NAMESINFRONT"}
#: Letters of the status of a cell, before the first variable of a ready table.
LETTERS = {"SAFE", "UNSAFE", "PROTECT"}
#: Keywords that only a ready table has.
OF_TABLES = {"FREQUENCY", "MAXSCORE", "STATUS", "SHADOW", "COSTVAR", "LOWERPL", "UPPERPL"}
#: Of these, a ready table has at most one each.
ONCE = ("SHADOW", "COSTVAR", "FREQUENCY", "LOWERPL", "UPPERPL", "STATUS")

#: What R's binary files begin with; R uses the same extensions.
R_FILES = (b"RDX", b"RDA", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"X\n", b"A\n")

TOKEN = re.compile(r'"([^"]*)"|(\S+)')
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

    def number(self, keyword: str) -> int | None:
        """Return the whole number after a keyword."""
        word = self.word(keyword)
        return int(word) if word is not None and re.fullmatch(r"-?\d+", word) else None

    @property
    def width(self) -> int:
        """Return the characters of a field."""
        return self.length or 1

    @property
    def numeric(self) -> bool:
        """Return True for a variable of numbers; a weight is one even where that is not said."""
        return self.has("NUMERIC") or self.has("WEIGHT") or self.has("RECORDKEY")

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
    """Read a description of ARGUS.

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
    if file.is_file() and file.read_bytes()[:6].startswith(R_FILES):
        raise UnreadableFile(
            f"{file.name!r} is a data file of R, not a description of ARGUS; "
            "save it from R as CSV or Parquet"
        )
    lines = [
        (n, line)
        for n, raw in iterate_numbered(file)
        if not (line := raw.replace('"\t"', '"\\t"').replace("\t", " ").strip()).startswith("//")
    ]
    if tabular is None:
        tabular = looks_tabular(line for _, line in lines)
    of_file: dict[str, tuple[str, ...]] = {}
    heads: list[tuple[int, list[str]]] = []
    keywords: list[dict[str, tuple[str, ...]]] = []
    for number, line in lines:
        if not line.startswith("<"):
            heads.append((number, tokens(line)))
            keywords.append({})
            continue
        found = [(k.upper(), tuple(tokens(rest))) for k, rest in KEYWORD.findall(line)]
        if not found:
            raise UnreadableFile(f"{file.name!r}, line {number}: not a keyword in angle brackets")
        for keyword, words in found:
            if not heads and keyword not in (OF_FILE | LETTERS if tabular else OF_FILE):
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
    flags = ("SPSS" in of_file, "NAMESINFRONT" in of_file)
    made = Description(variables, separator, tabular, *flags, letters, str(file))
    require_sound(made)
    return made


def looks_tabular(lines: Iterable[str]) -> bool:
    """Tell a description of a ready table: by its keywords, or by headers without a length."""
    heads = []
    for line in lines:
        if not line.startswith("<"):
            heads.append(tokens(line)[1:])
            continue
        for keyword, _ in KEYWORD.findall(line):
            name = SAME.get(keyword.upper(), keyword.upper())
            if name in OF_TABLES or name in LETTERS:
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
    """Refuse variables that are described twice or share characters of a record, and ready tables without values."""
    file = Path(description.source).name
    names = [v.name for v in description.variables]
    if not names:
        raise UnreadableFile(f"{file!r} describes no variables")
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise UnreadableFile(f"{file!r} describes {twice!r} more than once")
    if not description.tabular:
        placed = sorted(
            (v.start, v.start + v.width, v.name)
            for v in description.variables
            if v.start is not None
        )
        for (_, end, one), (start, _, other) in itertools.pairwise(placed):
            if start < end:
                raise UnreadableFile(f"{file!r}: {one!r} and {other!r} overlap in the record")
        return
    for keyword in ONCE:
        if sum(v.has(keyword) for v in description.variables) > 1:
            raise UnreadableFile(f"{file!r} has more than one <{keyword}>")
    if not any(v.is_value or v.has("FREQUENCY") for v in description.variables):
        raise UnreadableFile(f"{file!r} describes neither a cell value nor a frequency")


def tokens(line: str) -> list[str]:
    """Return the words of a line; a word in quotes may hold blanks."""
    return [quoted or plain for quoted, plain in TOKEN.findall(line)]


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
        codes = [f'"{c}"' if description.tabular else write_word(c) for c in v.missing]
        lines.append(" ".join([write_word(v.name), *numbers, *codes]))
        for keyword, words in v.keywords.items():
            shown = [w if re.fullmatch(r"-?[\d.]+", w) else f'"{w}"' for w in words]
            lines.append(" ".join([f"  <{keyword}>", *shown]))
    with open_atomically(path) as room:
        write_lines(room, lines)


def write_word(word: str) -> str:
    """Return a word for a description, in quotes where it needs them."""
    return f'"{word}"' if not word or re.search(r'[\s,|()<"]', word) else word
