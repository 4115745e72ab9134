"""Names in tables: a column whose heading says that it holds people, or that holds names elsewhere."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from tacit.text.detect.names.header_field import is_ordinary, turned_end
from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import BARRED, take_name
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues, words

CUES = cues("columns")


#: Cells are divided by bars, tabs or wide gaps; two lines in a row that hold such, or more, are a table.
GAP = re.compile(r" *\| *| {2,}|\t+ *")
#: Characters of a row, and columns of a table, at most.
LONGEST, MOST_COLUMNS = 400, 40


class Cell(NamedTuple):
    """One cell of a row: its column and its place in the text."""

    column: int
    start: int
    end: int


Row = list[Cell]


@detector("column of names", m.LINE)
def find_column_names(page: Page, i: int) -> Iterator[Candidate]:
    """Find names in the columns of people of all tables; called for every line, it works at the first."""
    if i:
        return
    for rows in read_tables(page.text):
        yield from names_in_table(page, rows)


def read_tables(text: str) -> Iterator[list[Row]]:
    """Yield the rows of each table: of lines one after the other that are divided into cells, two or more."""
    lines: list[tuple[int, str]] = []
    start = 0
    for line in text.split("\n"):
        if is_row(line):
            lines.append((start, line))
        elif lines:
            if len(lines) > 1:
                yield read_rows(lines)
            lines = []
        start += len(line) + 1
    if len(lines) > 1:
        yield read_rows(lines)


def is_row(line: str) -> bool:
    """Return True for a line that a bar, a tab or a wide gap divides."""
    if len(line) > LONGEST:
        return False
    return "  " in line.strip() or "|" in line or "\t" in line


def read_rows(lines: list[tuple[int, str]]) -> list[Row]:
    """Return the rows of a table; rules of dashes are left out."""
    heads: list[int] = []
    rows = [read_row(line, start, heads) for start, line in lines]
    return [row for row in rows if row]


def read_row(line: str, start: int, heads: list[int]) -> Row:
    """Return the cells of one line, numbered where bars divide them or all are there, else by where they begin."""
    barred = "|" in line
    parts: list[tuple[int, int, int]] = []
    at = 0
    for number, part in enumerate(GAP.split(line)):
        left = line.find(part, at) if part else at
        at = left + len(part)
        if any(c.isalnum() for c in part):
            parts.append((number, left, at))
    if barred:
        return [Cell(number, start + left, start + end) for number, left, end in parts]
    if len(parts) == len(heads):
        return [Cell(k, start + left, start + end) for k, (_, left, end) in enumerate(parts)]
    return [Cell(place_column(left, heads), start + left, start + end) for _, left, end in parts]


def place_column(left: int, heads: list[int]) -> int:
    """Return the number of the column that begins at most two characters from a place; a new one where none does."""
    for number, head in enumerate(heads):
        if abs(head - left) <= 2:
            return number
    if len(heads) < MOST_COLUMNS:
        heads.append(left)
    return len(heads) - 1


def names_in_table(page: Page, rows: list[Row]) -> Iterator[Candidate]:
    """Yield the names in the columns that hold people, by their heading or by what stands in them."""
    heading, headed = find_heading(page, rows)
    columns: dict[int, list[Cell]] = {}
    for row in rows[heading:]:
        for cell in row:
            columns.setdefault(cell.column, []).append(cell)
    for column, cells in columns.items():
        if column in headed:
            for cell in cells:
                yield from names_in_cell(page, cell, 0.85)
        elif holds_names(page, cells):
            for cell in cells:
                yield from names_in_cell(page, cell, 0.6)


def find_heading(page: Page, rows: list[Row]) -> tuple[int, set[int]]:
    """Return the row after the heading, 0 where there is none, and the columns that it says to hold people."""
    for number, row in enumerate(rows[:3]):
        found = {cell.column for cell in row if is_heading(page.text[cell.start : cell.end])}
        if found:
            return number + 1, found
    return 0, set()


def is_heading(text: str) -> bool:
    """Return True for the heading of a column of people: named nurse, subj init, Seen by."""
    parts = words(text.lower().replace("/", " ").replace("(s)", " ").replace(".", " "))
    return bool(parts & CUES.people) and parts <= CUES.people | CUES.fillers


def holds_names(page: Page, cells: list[Cell]) -> bool:
    """Return True when two cells of a column or more, and two in five of them, begin with a word that is a name."""
    if len(cells) < 2:
        return False
    sure = 0
    for cell in cells:
        j = bisect_left(page.starts, cell.start)
        info = page.word_at(j)
        if (
            info is not None
            and page.capital(j)
            and info.marks & m.NAMED
            and not info.marks & (BARRED | m.MEDICAL | m.EPONYM | m.PLACE)
            and info.index >= 5
            and max(info.first, info.last) >= 9
        ):
            sure += 1
    return sure >= 2 and sure * 5 >= len(cells) * 2


def names_in_cell(page: Page, cell: Cell, evidence: float) -> Iterator[Candidate]:
    """Yield the name or the initials with which a cell begins."""
    j = bisect_left(page.starts, cell.start)
    while page.marks(j) & m.TITLE and page.together(j, j + 1) and page.starts[j + 1] < cell.end:
        j = page.skip_dot(j + 1)
    if j >= page.size or page.starts[j] >= cell.end or page.infos[j].shape in "dp":
        return
    end = initials_end(page, j, cell.end) if evidence > 0.8 else j
    if end > j:
        # Under Seen by, TB is a person.
        yield cut(page, j, end, "name", evidence, "column of names", person=True)
        return
    end = turned_end(page, j)
    if end == j:
        end = take_name(page, j, cued=True)
        if end > j and is_ordinary(page, j, end):
            known = page.capital(j) and max(page.infos[j].first, page.infos[j].last) >= 8
            evidence = 0.7 if known and evidence > 0.8 else 0.0
    if end > j and evidence and page.ends[end - 1] <= cell.end and not page.infos[j].medical:
        yield cut(page, j, end, "name", evidence, "column of names", person=evidence > 0.6)


def initials_end(page: Page, j: int, stop: int) -> int:
    """Return the end of initials that fill a cell: KLM, T-S, A.B., Grace, W. G. T.; j when there are none."""
    letters, end = 0, j
    while end < page.size and page.starts[end] < stop and end < j + 10:
        info = page.infos[end]
        if info.shape in "UI" and len(info.low) < 4:
            letters += len(info.low)
        elif info.low == "," and end == j + 1:
            letters = 0
        elif info.low not in (".", "-", "/") and not (end == j and page.low(j + 1) == ","):
            return j
        end += 1
    return end if 1 < letters < 5 or (letters == 1 and page.low(j + 1) == ",") else j
