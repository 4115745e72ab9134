"""What the readers and writers of table files share: text, numbers and whole files."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tacit.arrays import Floats
from tacit.data.paths import require_file
from tacit.engine.text import require_every_record
from tacit.errors import InputError, UnreadableFile
from tacit.io import open_beside

PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def text_of(path: str | Path, encoding: str = "utf-8") -> str:
    """Return a file's text: UTF-8, else the 8-bit encoding of Windows programs, or the one named."""
    file = Path(path)
    require_file(file)
    if file.read_bytes()[:2] in {b"\xff\xfe", b"\xfe\xff"} and encoding == "utf-8":
        encoding = "utf-16"
    return decode(file, encoding)


def decode(path: Path, encoding: str = "utf-8") -> str:
    """Return a file's text: UTF-8, or else the 8-bit encoding that Windows programs write."""
    content = path.read_bytes()
    plain = encoding.lower() in {"utf-8", "utf8"}
    choices = ("utf-8-sig", "cp1252", "latin-1") if plain else (encoding,)
    for choice in choices:
        try:
            return content.decode(choice)
        except (UnicodeDecodeError, LookupError):
            continue
    raise UnreadableFile(f"{path.name!r} is not {encoding} text")


def lines_of(text: str) -> list[str]:
    """Return lines without their ends; only CR, LF and both end a line, whatever the encoding."""
    return re.split(r"\r\n|\n|\r", text)


def file_beside(folder: Path, name: str) -> Path | None:
    """Return a file of that name in a folder, upper and lower case being the same."""
    plain = re.split(r"[\\/]", name)[-1].casefold()
    held = sorted(folder.iterdir()) if folder.is_dir() else []
    return next((p for p in held if p.name.casefold() == plain), None)


def iterate_numbered(path: str | Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers."""
    for number, line in enumerate(lines_of(text_of(path, encoding)), 1):
        if line.strip("\x1a \t"):
            yield number, line


def rows_of(path: str | Path, separator: str, encoding: str = "utf-8") -> list[list[str]]:
    """Return the records of separated text, blanks around fields removed, blank lines left out."""
    text = text_of(path, encoding).replace("\x1a", "")
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=separator != " "
    )
    try:
        raw = [row for row in reader if row]
    except csv.Error:
        raise UnreadableFile(
            f"{Path(path).name!r}, line {reader.line_num}: not separated text"
        ) from None
    if '"' in text:
        require_every_record(
            Path(path), len(raw), separator=separator, quote='"', encoding=encoding, single=False
        )
    return [row for fields in raw if any(row := [field.strip() for field in fields])]


def plain_number(text: str, *, comma: bool = True) -> float | None:
    """Return a number written with a decimal point (or comma), or None."""
    bare = text.strip()
    if comma and bare.count(",") == 1 and "." not in bare:
        bare = bare.replace(",", ".")
    return float(bare) if PLAIN.fullmatch(bare) else None


def number_at(text: str, where: str, *, comma: bool = True) -> float:
    """Return a number, or say where there is none; what stands there instead is not shown."""
    found = plain_number(text, comma=comma)
    if found is None:
        raise UnreadableFile(f"{where}: a number is expected")
    return found


def numbers_of(texts: Sequence[str], where: str, *, comma: bool) -> Floats:
    """Return a column of numbers; empty fields become 0."""
    out = np.zeros(len(texts))
    for i, text in enumerate(texts):
        if text:
            out[i] = number_at(text, f"{where}, record {i + 1}", comma=comma)
    return out


def quote_field(word: str, separator: str = ",", *, always: bool = False) -> str:
    """Return a field of separated text, in quotes where it needs them."""
    if always or separator in word or '"' in word or word != word.strip():
        return '"' + word.replace('"', '""') + '"'
    return word


@contextmanager
def open_atomically(path: str | Path) -> Iterator[Path]:
    """Give a path to write to; what is written appears at the target whole or not at all."""
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"there is no folder {str(target.parent)!r} to write {target.name!r} in")
    with open_beside(target, overwrite=True) as room:
        yield room


def write_lines(path: Path, lines: Sequence[str]) -> None:
    """Write lines of text with plain line ends."""
    path.write_bytes("".join(line + "\n" for line in lines).encode())
