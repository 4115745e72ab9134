"""Names with which lines begin: rows of lists and boards, speakers of chats and transcripts."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from tacit.text.detect.names.header_field import is_ordinary
from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import BARRED, take_name
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("rows")


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
    return (info.shape == "d" and len(info.low) < 5) or info.low in CUES.labels


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
    return after.low in CUES.sexes or bool(after.marks & m.AGE)


@detector("speaker", m.LINE)
def find_speakers(page: Page, i: int) -> Iterable[Candidate]:
    """Find who speaks in a chat or a transcript: [07:52] ayesha: anyone seen; Goran > level 4.1."""
    return speaker_at(page, i) if could_be_speech(page, i) else ()


def speaker_at(page: Page, i: int) -> Iterator[Candidate]:
    """Yield who speaks in the line that begins at token i."""
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
    return (
        text.find(label, stop, stop + TALK) >= 0
        or text.find(label, max(0, start - TALK), start) >= 0
    )


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
