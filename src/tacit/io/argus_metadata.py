"""The record description of mu-ARGUS: ``.rda`` and ``.rds`` files and ``.cdl`` code lists.

First an optional ``<SEPARATOR>``, then one header line a variable (name, start, length, missing codes;
no start in free format) followed by its keywords in angle brackets.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tacit.errors import UnreadableFile

TOKEN = re.compile(r'"([^"]*)"|(\S+)')

#: What R's binary files begin with; R uses the same endings.
R_FILES = (b"RDX", b"RDA", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"X\n", b"A\n")

SAME = {"RECODEABLE": "RECODABLE", "SUPPRESSWEIGHT": "SUPPRESSPRIORITY"}


@dataclass(frozen=True)
class Variable:
    """One variable: where it stands, its missing codes, and its keywords with what follows them."""

    name: str
    start: int | None
    length: int
    missing: tuple[str, ...] = ()
    keywords: tuple[tuple[str, str], ...] = ()

    def has(self, keyword: str) -> bool:
        """Return True when the keyword stands under the variable."""
        return any(SAME.get(k, k) == keyword for k, _ in self.keywords)

    def argument(self, keyword: str) -> str | None:
        """Return the first word after a keyword."""
        for found, rest in self.keywords:
            if SAME.get(found, found) == keyword:
                return next(iter(tokens(rest)), None)
        return None

    def number(self, keyword: str) -> int | None:
        """Return the number after a keyword."""
        word = self.argument(keyword)
        return int(word) if word is not None and re.fullmatch(r"-?\d+", word) else None

    @property
    def numeric(self) -> bool:
        """Return True for a variable of numbers; a weight is one even where that is not said."""
        return self.has("NUMERIC") or self.has("WEIGHT") or self.has("RECORDKEY")


@dataclass(frozen=True)
class Metadata:
    """A whole description; without a separator the records are of fixed format."""

    variables: tuple[Variable, ...]
    separator: str | None = None


def tokens(line: str) -> list[str]:
    """Return the words of a line; a word in quotes may hold blanks."""
    return [quoted or plain for quoted, plain in TOKEN.findall(line)]


def decode(path: Path, encoding: str = "utf-8") -> str:
    """Return a file's text: UTF-8, or else the 8-bit encoding that Windows programs write."""
    content = path.read_bytes()
    choices = (
        (encoding,)
        if encoding.lower() not in {"utf-8", "utf8"}
        else ("utf-8-sig", "cp1252", "latin-1")
    )
    for choice in choices:
        try:
            return content.decode(choice)
        except (UnicodeDecodeError, LookupError):
            continue
    raise UnreadableFile(f"{path.name!r} is not {encoding} text")


def lines_of(text: str) -> list[str]:
    """Return lines without their ends; only CR, LF and both end a line, whatever the encoding."""
    return re.split(r"\r\n|\n|\r", text)


def parse(path: Path, encoding: str = "utf-8") -> Metadata:
    """Read a description, or say in which line it is not one."""
    if path.read_bytes()[:6].startswith(R_FILES):
        raise UnreadableFile(
            f"{path.name!r} is a data file of R, not a mu-ARGUS description; save it from R as CSV or Parquet"
        )
    separator: str | None = None
    variables: list[Variable] = []
    for number, raw in enumerate(lines_of(decode(path, encoding)), 1):
        line = raw.replace("\t", " ").strip()
        if not line or line.startswith("//"):
            continue
        if not line.startswith("<"):
            variables.append(header(line, path, number, free=separator is not None))
            continue
        keyword, _, rest = line[1:].partition(">")
        keyword = keyword.strip().upper()
        if variables:
            last = variables[-1]
            variables[-1] = Variable(
                last.name,
                last.start,
                last.length,
                last.missing,
                (*last.keywords, (keyword, rest.strip())),
            )
        elif keyword == "SEPARATOR":
            separator = next(iter(TOKEN.findall(rest)), (",", ""))[0] or rest.strip() or ","
        else:
            raise UnreadableFile(
                f"{path.name!r}, line {number}: <{keyword}> is not known before the first variable of a record file"
            )
    if not variables:
        raise UnreadableFile(f"{path.name!r} describes no variables")
    check(variables, path)
    return Metadata(tuple(variables), separator)


def header(line: str, path: Path, number: int, *, free: bool) -> Variable:
    """Read the line that opens a variable."""
    name, *rest = tokens(line)
    n_numbers = 1 if free else 2
    numbers = rest[:n_numbers]
    if len(numbers) < n_numbers or not all(n.isdigit() and int(n) > 0 for n in numbers):
        wanted = "name length" if free else "name start length"
        raise UnreadableFile(
            f"{path.name!r}, line {number}: a variable is described as '{wanted} [missing codes]'"
        )
    missing = tuple(code.strip() for code in rest[n_numbers : n_numbers + 2] if code.strip())
    return Variable(name, None if free else int(numbers[0]), int(numbers[-1]), missing)


def check(variables: Sequence[Variable], path: Path) -> None:
    """Refuse a variable that is described twice, and two that share characters."""
    names = [v.name for v in variables]
    double = sorted({n for n in names if names.count(n) > 1})
    if double:
        raise UnreadableFile(f"{path.name!r} describes {double[0]!r} more than once")
    placed = sorted((v.start, v.start + v.length, v.name) for v in variables if v.start is not None)
    for (_, end, one), (start, _, other) in itertools.pairwise(placed):
        if start < end:
            raise UnreadableFile(f"{path.name!r}: {one!r} and {other!r} overlap in the record")


def beside(folder: Path, name: str) -> Path | None:
    """Return a file of that name in a folder, upper and lower case being the same."""
    plain = re.split(r"[\\/]", name)[-1].casefold()
    return (
        next((p for p in sorted(folder.iterdir()) if p.name.casefold() == plain), None)
        if folder.is_dir()
        else None
    )


def code_list(path: Path, encoding: str = "utf-8") -> dict[str, str]:
    """Read a code list: ``code,label`` a line."""
    pairs = (line.partition(",") for line in lines_of(decode(path, encoding)) if line.strip())
    return {
        code.strip().strip('"'): label.strip().strip('"') for code, comma, label in pairs if comma
    }


def write_word(word: str) -> str:
    """Return a word for a description, in quotes where it needs them."""
    return f'"{word}"' if not word or re.search(r'[\s,|()<"]', word) else word
