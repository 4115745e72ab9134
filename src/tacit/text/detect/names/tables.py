"""Names by their place and their look: columns, rows and speakers; runs of capitalised words, spelt letters, digits for letters."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from tacit.text.detect.names.cued import is_ordinary, turned_end
from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import BARRED, take_name
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page, Word
from tacit.text.reading.words import cues, words

# -- columns whose heading says that they hold people, or that hold names elsewhere ----------------


COLUMNS = cues("columns")


#: Marks of words with which no cell of a name begins.
NO_CELL = BARRED | m.MEDICAL | m.EPONYM | m.PLACE
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
    for line in (*text.split("\n"), ""):
        divided = "  " in line.strip() or "|" in line or "\t" in line
        if divided and len(line) <= LONGEST:
            lines.append((start, line))
        else:
            if len(lines) > 1:
                heads: list[int] = []
                rows = (read_row(line, place, heads) for place, line in lines)
                # Rules of dashes are no rows.
                yield [row for row in rows if row]
            lines = []
        start += len(line) + 1


def read_row(line: str, start: int, heads: list[int]) -> Row:
    """Return the cells of one line, numbered where bars divide them or all are there, else by where they begin."""
    cells: list[Cell] = []
    at = 0
    for number, part in enumerate(GAP.split(line)):
        left = line.find(part, at) if part else at
        at = left + len(part)
        if any(c.isalnum() for c in part):
            cells.append(Cell(number, start + left, start + at))
    if "|" in line:
        return cells
    if len(cells) == len(heads):
        return [c._replace(column=k) for k, c in enumerate(cells)]
    return [c._replace(column=place_column(c.start - start, heads)) for c in cells]


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
        evidence = 0.85 if column in headed else 0.6 if holds_names(page, cells) else 0.0
        for cell in cells if evidence else ():
            yield from names_in_cell(page, cell, evidence)


def find_heading(page: Page, rows: list[Row]) -> tuple[int, set[int]]:
    """Return the row after the heading, 0 where there is none, and the columns that it says to hold people."""
    for number, row in enumerate(rows[:3]):
        found = set()
        for cell in row:
            # Named nurse, subj init, Seen by.
            text = page.text[cell.start : cell.end].lower()
            parts = words(text.replace("/", " ").replace("(s)", " ").replace(".", " "))
            if parts & COLUMNS.people and parts <= COLUMNS.people | COLUMNS.fillers:
                found.add(cell.column)
        if found:
            return number + 1, found
    return 0, set()


def holds_names(page: Page, cells: list[Cell]) -> bool:
    """Return True when two cells of a column or more, and two in five of them, begin with a word that is a name."""
    if len(cells) < 2:
        return False
    sure = 0
    for cell in cells:
        j = bisect_left(page.starts, cell.start)
        info = page.word_at(j)
        if info is None or not page.capital(j) or info.marks & NO_CELL:
            continue
        if info.marks & m.NAMED and info.index >= 5 and max(info.first, info.last) >= 9:
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


# -- rows of lists and boards, speakers of chats and transcripts -----------------------------------


ROWS = cues("rows")


DASHES = frozenset("-–—")

UNNAMED = BARRED | m.MEDICAL | m.DRUG | m.STATE | m.CLUB | m.COMPANY
#: A time, perhaps in brackets; who speaks; a colon or an arrow.
SIGNS = frozenset(":>»")
SPEAKER = re.compile(
    r"(?P<time>[\[(]?\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?: ?[ap]m)?[\])]?[ \t]{0,3}[-–]?[ \t]{0,3})?"
    r"(?P<who>[^\W\d_][\w'’.-]{0,20}(?: [^\W\d_][\w'’.-]{0,20})?) ?(?P<mark>[:>»])[ \t]"
)


@detector("row of a list", m.LINE)
def find_row_names(page: Page, i: int) -> Iterator[Candidate]:
    """Find a name at the start of a row, before an age and a sex, a dash, or the next column: 4. Tattersall 95F."""
    j = i
    while j < i + 6 and is_label(page, j) and page.together(i, j + 1):
        j += 1
    info = page.infos[j]
    if info.shape not in "CUM" or (info.marks & UNNAMED and info.index < 5) or len(info.low) < 2:
        return
    if page.pack.nouns_capital or not could_be_row(page, j):
        return
    end = take_name(page, j, cued=True, most=3)
    if end == j and info.first >= 6 and page.low(j + 2) == "." and page.infos[j + 1].shape == "I":
        end = j + 3
    if end == j or not page.together(j, end):
        return
    evidence = row_evidence(page, i, j, end)
    if evidence:
        yield cut(page, j, end, "name", evidence, "row of a list", person=evidence > 0.8)


def could_be_row(page: Page, i: int) -> bool:
    """Return True when a wide gap, a dash or an age stands among the first words of the line at token i."""
    infos, lines, starts, ends = page.infos, page.lines, page.starts, page.ends
    for k in range(i + 1, min(i + 7, page.size)):
        if lines[k] != lines[i]:
            return False
        if starts[k] - ends[k - 1] > 1 or (infos[k].shape == "d" and is_aged(page, k)):
            return True
        if infos[k].low in DASHES and starts[k] > ends[k - 1]:
            return True
    return False


def is_label(page: Page, j: int) -> bool:
    """Return True for a token of a row's number: a number, a mark, a word such as bed."""
    info = page.infos[j]
    return (info.shape == "d" and len(info.low) < 5) or info.low in ROWS.labels


def row_evidence(page: Page, i: int, j: int, end: int) -> float:
    """Return how much what follows a word at the start of a row says that it is a name."""
    if is_aged(page, end):
        return 0.85 if not is_ordinary(page, j, end) or j > i else 0.5
    if page.low(end - 1) == "." and page.infos[end - 2].shape == "I" and end == j + 3:
        return 0.82 if page.infos[j].common < 12 and not page.joined(end - 1) else 0.0
    if is_ordinary(page, j, end):
        return 0.0
    dashed = page.low(end) in DASHES and not page.joined(end - 1)
    wide = page.starts[end] - page.ends[end - 1] > 1
    if not dashed and not wide:
        return 0.0
    before = page.infos[end - 1]
    if before.shape == "I" and end > j + 1:
        return 0.82
    if dashed and not page.infos[j].common and page.lexicon.sounds_medical(page.low(j)) < 0.2:
        return 0.65
    return 0.6 if j > i else 0.5 if dashed else 0.3


def is_aged(page: Page, j: int) -> bool:
    """Return True for an age with a sex or a unit at token j: 88F, 34 M, (4 yrs), 17 y."""
    if page.low(j) in (",", "("):
        j += 1
    info, after = page.word_at(j), page.word_at(j + 1)
    if info is None or after is None or info.shape != "d" or len(info.low) > 3:
        return False
    if page.lines[j + 1] != page.lines[j] or page.gap(j) > 1:
        return False
    return after.low in ROWS.sexes or bool(after.marks & m.AGE)


@detector("speaker", m.LINE)
def find_speakers(page: Page, i: int) -> Iterator[Candidate]:
    """Find who speaks in a chat or a transcript: [07:52] ayesha: anyone seen; Goran > level 4.1."""
    if not could_be_speech(page, i):
        return
    found = SPEAKER.match(page.text, page.starts[i])
    if found is None:
        return
    j = bisect_left(page.starts, found.start("who"))
    end = bisect_left(page.starts, found.end("who"))
    parts = page.infos[j:end]
    unnamed = BARRED if found["time"] else UNNAMED | m.NAME_PART
    if not parts or any(p.marks & unnamed for p in parts if p.index < 6):
        return
    if not found["time"] and parts[0].marks & m.ROLE and parts[0].first < 14:
        return
    evidence = speaker_evidence(page, j, found["time"] is not None, found["mark"])
    if evidence < 0.8 and found["mark"] == ":" and speaks_again(page, j, end):
        evidence = 0.85
    if evidence:
        yield cut(page, j, end, "name", evidence, "speaker", person=evidence > 0.8)


#: Characters within which somebody speaks again, before or after.
TALK = 1500


def speaks_again(page: Page, j: int, end: int) -> bool:
    """Return True for a name, or a word of no list, with which another line near by begins as well."""
    info = page.infos[j]
    if info.shape not in "CM" or (info.first < 8 and (info.common or info.marks & m.MEDICAL)):
        return False
    if info.common >= 12 and info.index < 3:
        return False
    start, stop = page.starts[j], page.ends[end - 1]
    label = "\n" + page.text[start:stop] + ":"
    text = page.text
    earlier = text.find(label, max(0, start - TALK), start) >= 0
    return earlier or text.find(label, stop, stop + TALK) >= 0


def could_be_speech(page: Page, i: int) -> bool:
    """Return True for a line that begins with a time, or with one or two words and a colon or an arrow."""
    info = page.infos[i]
    if info.shape == "d":
        return page.low(i + 1) in (":", ".")
    if info.shape == "p":
        return info.low in "[(" and page.low(i + 2) in (":", ".")
    return page.low(i + 1) in SIGNS or page.low(i + 2) in SIGNS


def speaker_evidence(page: Page, j: int, timed: bool, sign: str) -> float:
    """Return how much a word before a colon or an arrow is believed to be who speaks."""
    info = page.infos[j]
    if timed and sign == ":":
        return 0.85 if info.common < 13 or info.first >= 7 else 0.5
    if sign != ":":
        return 0.6 if info.shape in "CM" and (info.first >= 6 or not info.common) else 0.0
    return 0.6 if info.first >= 8 and info.index >= 4 else 0.0


#: Words that go between the parts of a name.
INNER = frozenset(
    ("of", "the", "and", "&", "on", "upon", "in", "le", "de", "la", "-", "'", "’", "s")
)
#: Marks of words that are no part of such a name, or show that it is a person's.
NOT_PART = (
    m.TITLE | m.MONTH | m.WEEKDAY | m.MEDICAL | m.DRUG | m.EPONYM | m.HEADER | m.SUFFIX | m.PHONE
    | m.NUMBER | m.BORN | m.DOSE | m.GREETING | m.CLOSING | m.AGE | m.STOP
)  # fmt: skip
#: Those that may stand later in one: Well, Care, Spine.
LATER = m.MEDICAL | m.STOP | m.NUMBER | m.PHONE | m.HEADER
#: Words of a name at most.
MOST = 6
#: What it says alone: little less where every word is an ordinary one.
STRANGE_RUN, ORDINARY_RUN = 0.5, 0.35


@detector("proper run", m.CAPITAL, ("en",))
def find_runs(page: Page, i: int) -> Iterator[Candidate]:
    """Two or more capitalised words in a line that also holds small ones."""
    info = page.infos[i]
    if info.marks & NOT_PART or info.shape not in "CM" or i in page.known or page.plain_case(i):
        return
    if page.together(i - 1, i) and page.gap(i - 1) == 1 and is_run_part(page, i - 1):
        return
    end, words = reach(page, i)
    if words < 2 or not stands_in_prose(page, i, end):
        return
    inner = [page.infos[k] for k in range(i, end) if page.infos[k].shape in "CMU"]
    if page.starts_sentence(i) and inner[0].common >= 9:
        return
    if not all(w.first or w.last for w in inner):
        evidence = STRANGE_RUN if any(w.common < 8 for w in inner) else ORDINARY_RUN
        yield cut(page, i, end, "organisation", evidence, "proper run")


def is_run_part(page: Page, i: int, barred: int = NOT_PART) -> bool:
    """Return True for a capitalised word that can be part of the name of a thing."""
    info = page.infos[i]
    return info.shape in "CM" and not info.marks & barred and i not in page.known


def reach(page: Page, i: int) -> tuple[int, int]:
    """Return where the run that begins at token i ends, and how many words it has."""
    end, words, k = i + 1, 1, i + 1
    while k < page.size and words < MOST and k - end < 3 and page.lines[k] == page.lines[i]:
        if page.starts[k] - page.ends[k - 1] > 1:
            break
        if is_run_part(page, k, NOT_PART & ~LATER):
            words, end = words + 1, k + 1
        elif page.low(k) not in INNER:
            break
        k += 1
    return end, words


def stands_in_prose(page: Page, i: int, end: int) -> bool:
    """Return True when small words stand beside the run: it is no heading and no row of a table."""
    near = (*range(max(0, i - 4), i), *range(end, min(page.size, end + 4)))
    small = sum(page.infos[k].shape == "l" and page.lines[k] == page.lines[i] for k in near)
    large = sum(page.infos[k].shape in "CM" and page.lines[k] == page.lines[i] for k in near)
    return small > large and small >= 2


# -- H-U-Y-N-H, K.O.W.A.L, spelled D I N A H -------------------------------------------------------


#: Letters of a name at most, and at least.
MOST_LETTERS, LEAST_LETTERS = 20, 4
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
HYPHENS = frozenset("-–‐‑")


@detector("spelt name", m.SHORT | m.LETTER)
def find_spelt_names(page: Page, i: int) -> Iterator[Candidate]:
    """Find single letters with hyphens between them, as callers spell their names."""
    if page.low(i + 1) not in HYPHENS or len(page.words[i]) != 1 or not page.joined(i):
        return
    if i and page.joined(i - 1) and page.low(i - 1) in HYPHENS:
        return
    end, letters = i + 1, 1
    while letters < MOST_LETTERS and page.low(end) in HYPHENS and page.is_letter(end + 1):
        if not (page.joined(end - 1) and page.joined(end)):
            break
        end += 2
        letters += 1
    if letters < LEAST_LETTERS - 1:
        return
    whole = page.lexicon("".join(page.words[i:end:2]))
    known = whole.first >= 7 or whole.last >= 7
    if whole.low in ALPHABET or ((whole.common or whole.medical) and whole.index < 3):
        return
    if letters >= LEAST_LETTERS or (known and page.low(i - 1) in (",", ".", "spelled", "spelt")):
        yield cut(page, i, end, "name", 0.87, "spelt name", person=True)


# -- C1ifford, Bamgb0se ----------------------------------------------------------------------------


#: Letters for which a digit stands.
LETTERS = {"0": "o", "1": "li", "3": "e", "5": "s", "8": "b"}
#: Tokens of one word at most.
LONGEST_WORD = 7


@detector("misread name", m.FEW)
def find_misread(page: Page, i: int) -> Iterator[Candidate]:
    """Find a capitalised word with a digit for a letter that is a name with the letter, or stands where a name does."""
    if not i or not (page.joined(i - 1) and page.joined(i) and is_read(page, i)):
        return
    # The letters and digits that are joined to the digit.
    start, end = i, i + 1
    while (
        start and i - start < LONGEST_WORD and page.joined(start - 1) and is_read(page, start - 1)
    ):
        start -= 1
    while (
        end < page.size and end - i < LONGEST_WORD and page.joined(end - 1) and is_read(page, end)
    ):
        end += 1
    first = next(k for k in range(start, end) if page.infos[k].shape == "d")
    if end - start < 2 or first != i or page.infos[start].shape not in "CUIM":
        return
    text = page.text[page.starts[start] : page.ends[end - 1]]
    if sum(c.isalpha() for c in text) < 4 or any(c.isupper() for c in text[1:]):
        return
    readings = [page.lexicon(reading) for reading in read_letters(text)]
    if any(w.common >= 9 or w.medical or w.marks & (m.EPONYM | m.DRUG) for w in readings):
        return
    evidence = misread_evidence(page, start, readings)
    yield cut(page, start, end, "name", evidence, "misread name", person=evidence > 0.8)


def is_read(page: Page, i: int) -> bool:
    """Return True for letters and for a digit that may be one."""
    info = page.infos[i]
    if info.shape == "d":
        return len(info.low) < 3 and LETTERS.keys() >= set(info.low)
    return info.shape in "lCUIM"


def read_letters(text: str) -> list[str]:
    """Return a word with letters for its digits, in at most four readings."""
    readings = [""]
    for c in text:
        readings = [r + letter for r in readings for letter in LETTERS.get(c, c)][:4]
    return readings


def misread_evidence(page: Page, start: int, readings: list[Word]) -> float:
    """Return how much a misread word is believed: a name of the lists, a word after a title or after such a name."""
    k = start - 1
    if page.low(k) == ".":
        k -= 1
    if page.together(k, start) and page.marks(k) & (m.TITLE | m.RELATION):
        return 0.92
    numbered = page.infos[start - 2].shape == "d" and page.joined(start - 2)
    if page.together(start - 3, start) and numbered:
        return 0.85
    return 0.82 if any(w.first >= 8 or w.last >= 9 for w in readings) else 0.5
