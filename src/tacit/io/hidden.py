"""What a spreadsheet holds and does not show: hidden columns and rows, of Excel (.xlsx, .xlsm) and OpenDocument files.

The older binary formats (.xls, .xlsb) are not looked into: only their hidden sheets are known.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree as ET

from tacit.storage.packed import DAMAGED, refuse_wide_sheet

OFFICE = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
#: Repeats beyond this end a sheet of OpenDocument: they stand for the empty rest.
MOST = 1_048_576
#: Where a cell of Excel stands.
REFERENCE = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")


@dataclass(frozen=True)
class Hidden:
    """Places of hidden columns and rows, from 0."""

    columns: frozenset[int] = field(default_factory=frozenset)
    rows: frozenset[int] = field(default_factory=frozenset)
    #: How many rows and columns the sheet spans, up to its last cell.
    extent: tuple[int, int] = (0, 0)

    def without(self, rows: list[list[Any]]) -> tuple[list[list[Any]], bool]:
        """Return the cells that are shown, and whether any that hold something are not."""
        if not self.columns and not self.rows:
            return rows, False
        shown = [
            [value for j, value in enumerate(row) if j not in self.columns]
            for i, row in enumerate(rows)
            if i not in self.rows
        ]
        held = sum(value != "" for row in rows for value in row)
        return shown, held > sum(value != "" for row in shown for value in row)


def find_hidden(path: Path, sheet: str) -> Hidden:
    """Return what a sheet does not show; nothing for formats that are not looked into.

    A sheet whose cells lie too far apart for memory is refused.
    """
    found = look_into(path, sheet)
    refuse_wide_sheet(path, sheet, *found.extent)
    return found


def look_into(path: Path, sheet: str) -> Hidden:
    """Return what a sheet does not show, and what it spans."""
    try:
        with zipfile.ZipFile(path) as archive:
            if path.suffix.lower() == ".ods":
                with archive.open("content.xml") as content:
                    return read_open_document(content, sheet)
            place = sheet_place(archive, sheet)
            if place is None or not place.endswith(".xml"):
                return Hidden()
            with archive.open(place) as content:
                return read_excel(content)
    except (*DAMAGED, KeyError, ET.ParseError, ValueError):
        return Hidden()


def sheet_place(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """Return where the archive keeps a sheet."""
    with archive.open("xl/workbook.xml") as book:
        entries = ET.iterparse(book)  # noqa: S314 - nothing is loaded from outside
        named = (e for _, e in entries if plain(e) == "sheet" and e.get("name") == sheet)
        identity = next((e.get(f"{OFFICE}id") for e in named), None)
    with archive.open("xl/_rels/workbook.xml.rels") as links:
        entries = ET.iterparse(links)  # noqa: S314 - nothing is loaded from outside
        target = next((e.get("Target") for _, e in entries if e.get("Id") == identity), None)
    if target is None:
        return None
    return target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"xl/{target}")


def read_excel(content: IO[bytes]) -> Hidden:
    """Return the hidden columns and rows of a sheet of Excel; of no width or height counts as hidden."""
    columns: set[int] = set()
    rows: set[int] = set()
    at = across = 0
    down = right = 0
    for _, element in ET.iterparse(content):  # noqa: S314 - nothing is loaded from outside
        name = plain(element)
        if name == "c":
            place = REFERENCE.fullmatch(element.get("r", ""))
            across = column_number(place[1]) if place else across + 1
            down, right = max(down, int(place[2]) if place else at + 1), max(right, across)
        elif name == "col" and is_shut(element, "width"):
            columns.update(range(int(element.get("min", 1)) - 1, int(element.get("max", 1))))
        elif name == "row":
            at = int(element.get("r", at + 1))
            if is_shut(element, "ht"):
                rows.add(at - 1)
            down, across = max(down, at), 0
            element.clear()
    return Hidden(frozenset(columns), frozenset(rows), (down, right))


def column_number(letters: str) -> int:
    """Return the number of a column, from 1: A is 1, AA is 27."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def is_shut(element: ET.Element, size: str) -> bool:
    """Return True for a column or row that is hidden or has no size."""
    return element.get("hidden") in ("1", "true") or float(element.get(size, 1)) == 0


def read_open_document(content: IO[bytes], sheet: str) -> Hidden:
    """Return the hidden columns and rows of a sheet of an OpenDocument file."""
    columns: set[int] = set()
    rows: set[int] = set()
    inside, across, down = False, 0, 0
    for event, element in ET.iterparse(content, ("start", "end")):  # noqa: S314 - nothing is loaded from outside
        name = plain(element)
        if name == "table":
            inside = event == "start" and attribute(element, "name") == sheet
        elif inside and event == "start" and name == "table-column":
            across = add_places(columns, across, element, "number-columns-repeated")
        elif inside and event == "start" and name == "table-row":
            down = add_places(rows, down, element, "number-rows-repeated")
        elif event == "end" and name == "table-row":
            element.clear()
    return Hidden(frozenset(columns), frozenset(rows))


def refuse_wide_document(path: Path) -> None:
    """Refuse an OpenDocument file with a sheet too wide for memory; they are all read when it is opened."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open("content.xml") as content:
            spans = list(open_document_spans(content))
    except (*DAMAGED, KeyError, ET.ParseError, ValueError):
        return
    for name, rows, columns in spans:
        refuse_wide_sheet(path, name, rows, columns)


def open_document_spans(content: IO[bytes]) -> Iterator[tuple[str, int, int]]:
    """Yield the name of each sheet and the rows and columns up to its last cell that holds something."""
    at = down = bottom = right = 0
    for event, element in ET.iterparse(content, ("start", "end")):  # noqa: S314 - nothing is loaded from outside
        match event, plain(element):
            case "start", "table":
                down = bottom = right = 0
            case "start", "table-row":
                at, down = 0, down + repeats(element, "number-rows-repeated")
            case "end", "table-cell" | "covered-table-cell":
                at += repeats(element, "number-columns-repeated")
                if attribute(element, "value-type") is not None or len(element):
                    bottom, right = down, max(right, at)
            case "end", "table-row":
                element.clear()
            case "end", "table":
                yield attribute(element, "name") or "", bottom, right


def repeats(element: ET.Element, name: str) -> int:
    """Return how often a cell or row stands there."""
    return min(int(attribute(element, name) or 1), MOST)


def add_places(places: set[int], at: int, element: ET.Element, repeated: str) -> int:
    """Add the places of a column or row that is not shown; return the next place."""
    after = at + repeats(element, repeated)
    if attribute(element, "visibility") in ("collapse", "filter"):
        places.update(range(at, after))
    return after


def plain(element: ET.Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def attribute(element: ET.Element, name: str) -> str | None:
    """Return an attribute, whatever its namespace."""
    found: Iterator[str] = (v for k, v in element.items() if k.rpartition("}")[2] == name)
    return next(found, None)
