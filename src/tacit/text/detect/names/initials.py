"""Initials of those who wrote, signed, typed or acted: a line of them, after a slash, after by and per, before a verb."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import word_end
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page, Word
from tacit.text.reading.words import cues

CUES = cues("initials")

#: Tokens of a line that is too long to be initials and a time.
LONG_LINE = 30
#: Tokens of a date and a time after initials, at most.
STAMP = 10
#: Marks of letters that mean something else.
MEANT = m.any_of("suffix dose head state number ward stop")
UNLIKE = MEANT | m.MEDICAL | m.TITLE
#: Marks of words that are no surname before an initial.
NO_SURNAME = m.any_of("stop month weekday medical drug state head")
#: What may be joined to initials of somebody who acts.
AFTER_INITIALS = frozenset((".", ",", ")", ":", "'", "’"))


def written(page: Page, i: int, j: int, evidence: float, source: str = "") -> Candidate:
    """Return the candidate of the initials of somebody who wrote."""
    return cut(page, i, j, "name", evidence, source or "initials of a writer", person=True)


@detector("line of initials", m.LINE)
def find_initial_lines(page: Page, i: int) -> Iterator[Candidate]:
    """Find a line of initials only, perhaps two persons' with a slash, a dash before or a time after."""
    if len(page.words[i]) > 3:
        return
    line, j = page.lines[i], i
    if i + LONG_LINE < page.size and page.lines[i + LONG_LINE] == line:
        return
    while page.low(j) in ("-", "–", "—", "~", "/") and j < i + 3:
        j += 1
    groups = []
    last = page.lines[-1] == line
    for _ in range(2):
        end, dotted = take_initials(page, j, anything=last)
        if end == j or page.lines[j] != line:
            return
        groups.append((j, end, dotted))
        j = end
        if page.low(j) not in ("/", ":") or not page.together(i, j):
            break
        j += 1
    if j < page.size and page.lines[j] == line:
        long = j + STAMP < page.size and page.lines[j + STAMP] == line
        if page.infos[j].shape != "d" or long:
            return
    final = j >= page.size or page.lines[j] > line + 1
    medical = sum(1 for start, _, _ in groups if page.marks(start) & m.MEDICAL)
    if medical and (j < page.size or medical == 2):
        return
    for start, end, dotted in groups:
        sure = 0.85 if dotted or len(groups) > 1 else 0.5 if medical else 0.82 if final else 0.4
        yield written(page, start, end, sure, "line of initials")


@detector("initials at the end", m.SHORT | m.LETTER)
def find_initials_at_end(page: Page, i: int) -> Iterator[Candidate]:
    """Find initials with full stops between a sentence and the end of its line, and those before a name on its own line."""
    if page.low(i + 1) != "." or not page.joined(i) or page.marks(i) & m.TITLE:
        return
    if is_joined_signature(page, i):
        yield written(page, i, word_end(page, i + 2), 0.85, "line of initials")
        return
    new = page.opens_line(i)
    if not new and page.low(i - 1) not in (".", "!", "?", ")"):
        return
    end, dotted = take_initials(page, i)
    if dotted and (end >= page.size or page.lines[end] != page.lines[i]):
        yield written(page, i, end, 0.85, "line of initials")
    elif new:
        j = end if dotted else i + 2
        after = page.near(i, j)
        if after is not None and is_surname_after(page, j, after):
            yield written(page, i, word_end(page, j), 0.85, "line of initials")


def is_surname_after(page: Page, j: int, info: Word) -> bool:
    """Return True for a name at token j, right after initials."""
    if info.shape not in "CUMl" or len(info.low) < 3 or (info.shape == "l" and not page.lower):
        return False
    if info.marks & (m.HEAD | m.DOSE | m.MEDICAL) or page.gap(j - 1) > 1:
        return False
    # Its line ends, or a number, a degree or a comma follows.
    after = page.near(j, word_end(page, j))
    return after is None or after.shape == "d" or after.low == "," or bool(after.marks & m.SUFFIX)


def is_joined_signature(page: Page, i: int) -> bool:
    """Return True for a letter, a full stop and a name that end a line, with or without a degree: i.fyfe, k.yang rn."""
    j = i + 2
    if j >= page.size or not page.joined(i + 1) or (i and page.joined(i - 1)):
        return False
    info = page.infos[j]
    if len(page.low(i)) > 1 or info.shape not in "lCM" or len(info.low) < 3:
        return False
    if info.medical or info.marks & m.MEDICAL or (info.common >= 11 and info.last < 9):
        return False
    end = word_end(page, j)
    while page.together(j, end) and page.marks(end) & (m.SUFFIX | m.ROLE) and end < j + 6:
        end += 1
    return page.ends_line(page.skip_dot(end))


@detector("surname and initial", m.SHORT)
def find_surname_and_initial(page: Page, j: int) -> Iterator[Candidate]:
    """Find a surname, a comma and an initial that end a field: (LARKIN, E), Moss, J.R."""
    i = j - 2
    info = page.near(j, i)
    if info is None or page.low(j - 1) != "," or page.infos[j].shape != "I":
        return
    if info.shape not in "UCM" or len(info.low) < 3 or info.marks & NO_SURNAME:
        return
    end = page.skip_dot(j + 1)
    unmeant = page.low(j) + page.low(end) in CUES.unmeant
    if unmeant or not page.joined(i) or page.gap(i + 1) > 1:
        return
    if end < page.size and page.infos[end].shape == "I" and page.together(j, end):
        end = page.skip_dot(end + 1)
    runs_on = page.together(j, end) and page.infos[end].shape in "lCUMd" and page.gap(end - 1) < 2
    if runs_on:
        # After the number of a bed with which the line begins: BED 4 BROWN, J.
        bed = i > 1 and page.together(i - 2, i) and page.infos[i - 1].shape == "d"
        if not bed or page.low(i - 2) not in CUES.beds or not page.opens_line(i - 2):
            return
    listed = info.last >= 8 and info.index >= 0
    yield cut(page, i, end, "name", 0.85 if listed or not info.common else 0.5, "last, first")


@detector("initials with full stops", m.SHORT)
def find_dotted_initials(page: Page, i: int) -> Iterator[Candidate]:
    """Find capital initials with full stops that do something or stand apart: T.M., a minor; A.D. says."""
    if page.infos[i].shape != "I" or page.low(i + 1) != "." or (i and page.joined(i - 1)):
        return
    end, dotted = take_initials(page, i)
    if dotted and not page.pack.nouns_capital:
        after = page.near(i, end)
        acts = after and (after.marks & m.ACTS or after.low in (",", "'", "’", ")"))
        yield cut(page, i, end, "name", 0.82 if acts else 0.5, "initials")


@detector("initials after a slash", m.SLASH)
def find_initials_after(page: Page, i: int) -> Iterator[Candidate]:
    """Find initials with full stops after a slash: moss/j.c."""
    if page.low(i) == "/" and page.joined(i):
        end, dotted = take_initials(page, i + 1)
        if dotted and page.together(i, i + 1):
            yield written(page, i + 1, end, 0.85)


@detector("initials of a writer", m.SLASH)
def find_writers(page: Page, i: int) -> Iterator[Candidate]:
    """Find the initials of whoever wrote or typed, at the end of a line: /yhr, JS/kl."""
    j = i + 1
    info = page.near(i, j)
    if info is None or info.shape not in "lUIC" or not page.joined(i):
        return
    led = i > 0 and page.joined(i - 1)
    if led:
        opens = page.infos[i - 1].shape == "U" and page.opens_line(i - 1)
        if not opens or len(page.low(i - 1)) not in (2, 3):
            return
    end = j + 1
    while end < min(page.size, j + 6) and page.joined(end - 1):
        if page.low(end) != "." and page.infos[end].shape != "I":
            break
        end += 1
    if end < page.size and page.lines[end] == page.lines[j]:
        return
    letters = sum(len(page.low(k)) for k in range(j, end) if page.low(k) != ".")
    strange = not info.common and not info.medical and not info.marks & (m.SUFFIX | m.DOSE)
    if 2 <= letters <= 4 and strange:
        yield written(page, i - 1 if led else j, end, 0.82)


@detector("typist", m.SLASH)
def find_typists(page: Page, i: int) -> Iterator[Candidate]:
    """Find initials of who dictated and who typed at the end of a text: bq/lmr."""
    if page.low(i) != "/" or i + 2 != page.size or not i:
        return
    if not (page.joined(i) and page.joined(i - 1)) or not page.together(i - 1, i + 1):
        return
    apart = page.opens_line(i - 1) or page.gap(i - 2) > 1
    parts = (page.infos[i - 1], page.infos[i + 1])
    if apart and all(2 <= len(p.low) <= 4 and not p.common and not p.medical for p in parts):
        yield from (written(page, k, k + 1, 0.82, "typist") for k in (i - 1, i + 1))


@detector("initials by", m.SIGNS)
def find_initials_by(page: Page, i: int) -> Iterator[Candidate]:
    """Find initials after by, per, signed, checked."""
    if not page.together(i, i + 1) or page.joined(i):
        return
    if page.low(i) in CUES.writes:
        yield from initials_of_writer(page, i)
    end, dotted = take_initials(page, i + 1)
    if end > i + 1 and (page.low(i) not in ("by", "per") or dotted or is_signed_by(page, i, end)):
        yield written(page, i + 1, end, 0.82 if dotted else 0.5)


def initials_of_writer(page: Page, i: int) -> Iterator[Candidate]:
    """Yield two or three letters after typed or dictated, be they small or a medical abbreviation: typed 15/01/24 mw."""
    j = i + 1
    while page.together(i, j) and j < i + 8:
        if page.infos[j].shape != "d" and page.low(j) not in ":./-":
            break
        j += 1
    info = page.near(i, j)
    if info is None or info.shape not in "lU" or page.joined(j - 1):
        return
    if not 2 <= len(info.low) <= 3 or info.low in CUES.no_initials or info.common >= 13:
        return
    if closes_field(page, j + 1):
        yield written(page, j, j + 1, 0.85)


def closes_field(page: Page, j: int) -> bool:
    """Return True at the end of a line or column, or before a mark that ends a field."""
    return page.ends_line(j) or page.apart(j) or page.low(j) in (".", ",", ";", "/", ")", "|")


def is_signed_by(page: Page, i: int, end: int) -> bool:
    """Return True where by and per name who did something: seen by MK, per AB; but not positive by IHC."""
    if page.low(i) == "per":
        return closes_field(page, end)
    before = page.near(i, i - 1)
    if before is None or before.marks & (m.SIGNS | m.HEADER | m.MEETS):
        return True
    return closes_field(page, end) and before.low.endswith("ed")


def take_initials(page: Page, i: int, *, anything: bool = False) -> tuple[int, bool]:
    """Return the end of two to four initials at i, or i, and whether they have full stops.

    Where nothing else can stand, they may be letters that mean something in medicine (``anything``).
    """
    j = i
    while j - i < 8 and page.is_letter(j) and page.low(j + 1) == "." and page.joined(j):
        if j > i and page.apart(j):
            break
        j += 2
    runs_on = j < page.size and page.joined(j - 1) and page.infos[j].shape in "lCUM"
    if 4 <= j - i <= 8 and not runs_on:
        return (i, False) if page.low(i) + page.low(i + 2) in CUES.unmeant else (j, True)
    info = page.word_at(i)
    if info is None or info.shape != "U" or not 2 <= len(info.low) <= 3 or info.common >= 10:
        return i, False
    if info.marks & (MEANT if anything else MEANT | m.MEDICAL):
        return i, False
    joined = i + 1 < page.size and page.joined(i) and page.low(i + 1) not in ("/", ":", ".")
    return (i, False) if joined else (i + 1, False)


@detector("initials of a doer", m.UPPER)
def find_acting_initials(page: Page, i: int) -> Iterator[Candidate]:
    """Find two or three capital letters where a person acts or signs: F2 MK, MK to chase, ring back at 4. MK."""
    info = page.infos[i]
    if not 2 <= len(info.low) <= 3 or page.lines[i] in page.caps_lines:
        return
    if info.marks & UNLIKE and (info.marks & UNLIKE != m.MEDICAL or not is_graded_doctor(page, i)):
        return
    if info.common >= 10 or (page.joined(i) and page.low(i + 1) not in AFTER_INITIALS):
        return
    evidence = max(initials_before(page, i), initials_after(page, i))
    if evidence:
        yield written(page, i, i + 1, evidence, "initials")


def is_graded_doctor(page: Page, i: int) -> bool:
    """Return True after the grade of a doctor: F2 KP."""
    k = i - 1
    graded = k > 0 and page.infos[k].shape == "d" and page.low(k - 1) in CUES.graded
    return graded and page.joined(k - 1)


def initials_before(page: Page, i: int) -> float:
    """Return how much what stands before token i says that it is somebody's initials."""
    k = i - 1
    if not page.together(k, i):
        return 0.0
    before = page.low(k)
    if before in CUES.roles and page.gap(k) == 1:
        signed = before not in ("by", "per") or is_signed_by(page, k, i + 1)
        return 0.82 if signed else 0.0
    if is_graded_doctor(page, i):
        return 0.82
    last = page.skip_dot(i + 1)
    if not page.ends_line(last):
        return initials_with_role(page, i)
    if before in (".", "!", "?"):
        return 0.6 if last == i + 1 else 0.0
    if before in ("-", "–", "—"):
        return 0.82 if last >= page.size and not page.joined(k) else 0.7
    if before != "/" or not page.together(k - 1, k):
        return 0.0
    shape = page.infos[k - 1].shape
    spaced = not page.joined(k) and (page.low(k - 1) == "." or shape == "U")
    return 0.6 if spaced or (shape in "CUM" and len(page.low(k - 1)) > 3) else 0.0


def initials_with_role(page: Page, i: int) -> float:
    """Return how much a role after initials that end a line says: KDH (resident), TW physio."""
    bracket = page.low(i + 1) == "("
    j = i + 2 if bracket else i + 1
    role = page.near(i, j)
    if role is None or not role.marks & (m.ROLE | m.SUFFIX) or role.low == "pt":
        return 0.0
    opens = page.low(i - 1) in (".", "/", "-", "–", ",", ";")
    return 0.82 if page.ends_line(page.skip_dot(j + 1 + bracket)) and opens else 0.0


def initials_after(page: Page, i: int) -> float:
    """Return how much what stands after token i says that it is somebody's initials."""
    if not page.together(i, i + 1):
        return 0.0
    if page.gap(i) > 1 and page.opens_line(i):
        return 0.5
    after, other = page.low(i + 1), page.near(i, i + 2)
    opens = page.starts_sentence(i) or page.low(i - 1) in (",", "/")
    if after == "/" and page.gap(i) == 1 and opens and other is not None:
        lettered = other.shape == "U" and not other.marks & UNLIKE
        return 0.6 if other.shape == "I" or lettered else 0.0
    if after == "to" and opens and other is not None:
        return 0.82 if other.shape == "l" and other.common and not other.marks & m.STOP else 0.0
    numbers = (k for k in (i + 2, i + 3) if page.marks(k) & m.DIGIT)
    if after in ("is", "was") and any(page.together(i, k) for k in numbers):
        return 0.7
    if page.possessive(i + 1):
        return 0.7 if page.marks(i + 3) & m.RELATION else 0.0
    return 0.5 if after in CUES.does and page.infos[i + 1].shape == "l" else 0.0
