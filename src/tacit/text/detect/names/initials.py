"""Initials of those who wrote, signed or typed: a line of them, after a slash, after by and per."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import word_end
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("initials")


#: Tokens of a line that is too long to be initials and a time.
LONG_LINE = 30
#: Tokens of a date and a time after initials, at most.
STAMP = 10


@detector("line of initials", m.LINE)
def find_initial_lines(page: Page, i: int) -> Iterable[Candidate]:
    """Find a line of initials only, perhaps two persons' with a slash, a dash before or a time after."""
    return initial_line(page, i) if len(page.words[i]) <= 3 else ()


def initial_line(page: Page, i: int) -> Iterator[Candidate]:
    """Yield the initials of which the line at token i consists."""
    line = page.lines[i]
    if i + LONG_LINE < page.size and page.lines[i + LONG_LINE] == line:
        return
    j = i
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
        if page.low(j) in ("/", ":") and page.together(i, j):
            j += 1
            continue
        break
    if (
        j < page.size
        and page.lines[j] == line
        and (
            page.infos[j].shape != "d" or (j + STAMP < page.size and page.lines[j + STAMP] == line)
        )
    ):
        return
    final = j >= page.size or page.lines[j] > line + 1
    medical = sum(1 for start, _, _ in groups if page.marks(start) & m.MEDICAL)
    if medical and (j < page.size or medical == 2):
        return
    for start, end, dotted in groups:
        sure = 0.85 if dotted or len(groups) > 1 else 0.5 if medical else 0.82 if final else 0.4
        yield cut(page, start, end, "name", sure, "line of initials", person=True)


@detector("initials at the end", m.SHORT | m.LETTER)
def find_initials_at_end(page: Page, i: int) -> Iterator[Candidate]:
    """Find initials with full stops between a sentence and the end of its line, and those before a name on its own line."""
    if page.low(i + 1) != "." or not page.joined(i) or page.marks(i) & m.TITLE:
        return
    if is_joined_signature(page, i):
        yield cut(page, i, word_end(page, i + 2), "name", 0.85, "line of initials", person=True)
        return
    new = i == 0 or page.lines[i - 1] != page.lines[i]
    if not new and page.low(i - 1) not in (".", "!", "?", ")"):
        return
    end, dotted = take_initials(page, i)
    if dotted and (end >= page.size or page.lines[end] != page.lines[i]):
        yield cut(page, i, end, "name", 0.85, "line of initials", person=True)
    elif new:
        j = end if dotted else i + 2
        after = page.word_at(j)
        if (
            after is not None
            and page.together(i, j)
            and after.shape in "CUMl"
            and len(after.low) > 2
            and (after.shape != "l" or page.lower)
            and not after.marks & (m.HEAD | m.DOSE | m.MEDICAL)
            and page.gap(j - 1) < 2
            and ends_name(page, j)
        ):
            yield cut(page, i, word_end(page, j), "name", 0.85, "line of initials", person=True)


def is_joined_signature(page: Page, i: int) -> bool:
    """Return True for a letter, a full stop and a name that end a line, with or without a degree: i.fyfe, k.yang rn."""
    j = i + 2
    if (
        j >= page.size
        or not page.joined(i + 1)
        or (i and page.joined(i - 1))
        or len(page.low(i)) > 1
    ):
        return False
    info = page.infos[j]
    if info.shape not in "lCM" or len(info.low) < 3 or info.medical or info.marks & m.MEDICAL:
        return False
    if info.common >= 11 and info.last < 9:
        return False
    end = word_end(page, j)
    while page.together(j, end) and page.marks(end) & (m.SUFFIX | m.ROLE) and end < j + 6:
        end += 1
    return ends_line(page, page.skip_dot(end))


def ends_line(page: Page, j: int) -> bool:
    """Return True when token j stands on another line than the one before it, or there is none."""
    return j >= page.size or page.lines[j] != page.lines[j - 1]


@detector("surname and initial", m.SHORT)
def find_surname_and_initial(page: Page, j: int) -> Iterator[Candidate]:
    """Find a surname, a comma and an initial that end a field: (LARKIN, E), Moss, J.R."""
    i = j - 2
    if page.low(j - 1) != "," or page.infos[j].shape != "I" or not page.together(i, j):
        return
    info = page.infos[i]
    if (
        info.shape not in "UCM"
        or len(info.low) < 3
        or not page.joined(i)
        or page.gap(i + 1) > 1
        or info.marks & (m.STOP | m.MONTH | m.WEEKDAY | m.MEDICAL | m.DRUG | m.STATE | m.HEAD)
    ):
        return
    end = page.skip_dot(j + 1)
    if page.low(j) + page.low(end) in CUES.unmeant:
        return
    if end < page.size and page.infos[end].shape == "I" and page.together(j, end):
        end = page.skip_dot(end + 1)
    runs_on = page.together(j, end) and page.infos[end].shape in "lCUMd" and page.gap(end - 1) < 2
    if runs_on and not follows_bed(page, i):
        return
    listed = info.last >= 8 and info.index >= 0
    yield cut(page, i, end, "name", 0.85 if listed or not info.common else 0.5, "last, first")


def follows_bed(page: Page, i: int) -> bool:
    """Return True for a word after the number of a bed with which the line begins: BED 4 BROWN, J."""
    if i < 2 or not page.together(i - 2, i) or page.infos[i - 1].shape != "d":
        return False
    return page.low(i - 2) in CUES.beds and (i == 2 or page.lines[i - 3] != page.lines[i])


@detector("initials with full stops", m.SHORT)
def find_dotted_initials(page: Page, i: int) -> Iterator[Candidate]:
    """Find capital initials with full stops that do something or stand apart: T.M., a minor; A.D. says."""
    if page.infos[i].shape != "I" or page.low(i + 1) != "." or (i and page.joined(i - 1)):
        return
    end, dotted = take_initials(page, i)
    if not dotted or page.pack.nouns_capital:
        return
    after = page.word_at(end)
    acts = (
        after is not None
        and page.together(i, end)
        and (after.marks & m.ACTS or after.low in (",", "'", "’", ")"))
    )
    yield cut(page, i, end, "name", 0.82 if acts else 0.5, "initials")


def ends_name(page: Page, j: int) -> bool:
    """Return True when after the name at j its line ends, or a number, a degree or a comma follows."""
    end = word_end(page, j)
    if not page.together(j, end):
        return True
    return page.infos[end].shape == "d" or page.low(end) == "," or bool(page.marks(end) & m.SUFFIX)


@detector("initials after a slash", m.SLASH)
def find_initials_after(page: Page, i: int) -> Iterator[Candidate]:
    """Find initials with full stops after a slash: moss/j.c."""
    if page.low(i) != "/":
        return
    end, dotted = take_initials(page, i + 1)
    if dotted and page.together(i, i + 1) and page.joined(i):
        yield cut(page, i + 1, end, "name", 0.85, "initials of a writer", person=True)


@detector("initials by", m.SIGNS)
def find_initials_by(page: Page, i: int) -> Iterator[Candidate]:
    """Find initials after by, per, signed, checked."""
    if not page.together(i, i + 1) or page.joined(i):
        return
    if page.low(i) in CUES.writes:
        yield from initials_of_writer(page, i)
    end, dotted = take_initials(page, i + 1)
    if end > i + 1 and (page.low(i) not in ("by", "per") or dotted or is_signed_by(page, i, end)):
        yield cut(
            page, i + 1, end, "name", 0.82 if dotted else 0.5, "initials of a writer", person=True
        )


def initials_of_writer(page: Page, i: int) -> Iterator[Candidate]:
    """Yield two or three letters after typed or dictated, be they small or a medical abbreviation: typed 15/01/24 mw."""
    j = i + 1
    while (
        page.together(i, j) and j < i + 8 and (page.infos[j].shape == "d" or page.low(j) in ":./-")
    ):
        j += 1
    info = page.word_at(j)
    if info is None or not page.together(i, j) or info.shape not in "lU" or page.joined(j - 1):
        return
    if not 2 <= len(info.low) <= 3 or info.low in CUES.no_initials or info.common >= 13:
        return
    if closes_field(page, j + 1):
        yield cut(page, j, j + 1, "name", 0.85, "initials of a writer", person=True)


def closes_field(page: Page, j: int) -> bool:
    """Return True at the end of a line or column, or before a mark that ends a field."""
    if ends_line(page, j) or page.starts[j] - page.ends[j - 1] > 1:
        return True
    return page.low(j) in (".", ",", ";", "/", ")", "|")


def is_signed_by(page: Page, i: int, end: int) -> bool:
    """Return True where by and per name who did something: seen by MK, per AB; but not positive by IHC."""
    if page.low(i) == "per":
        return closes_field(page, end)
    before = page.word_at(i - 1)
    done = (
        before is None
        or not page.together(i - 1, i)
        or before.marks & (m.SIGNS | m.HEADER | m.MEETS)
    )
    return bool(done) or (
        closes_field(page, end) and before is not None and before.low.endswith("ed")
    )


def take_initials(page: Page, i: int, *, anything: bool = False) -> tuple[int, bool]:
    """Return the end of two to four initials at i, or i, and whether they have full stops.

    Where nothing else can stand, they may be letters that mean something in medicine (``anything``).
    """
    j = i
    while (
        j + 1 < page.size
        and j - i < 8
        and len(page.low(j)) == 1
        and page.infos[j].shape in "Il"
        and page.low(j + 1) == "."
        and page.joined(j)
        and (j == i or page.starts[j] - page.ends[j - 1] < 2)
    ):
        j += 2
    if 4 <= j - i <= 8 and not (
        j < page.size and page.joined(j - 1) and page.infos[j].shape in "lCUM"
    ):
        return (i, False) if page.low(i) + page.low(i + 2) in CUES.unmeant else (j, True)
    info = page.word_at(i)
    if (
        info is None
        or info.shape != "U"
        or not 2 <= len(info.low) <= 3
        or info.common >= 10
        or (info.marks & m.MEDICAL and not anything)
        or info.marks & (m.SUFFIX | m.DOSE | m.HEAD | m.STATE | m.NUMBER | m.WARD | m.STOP)
        or (i + 1 < page.size and page.joined(i) and page.low(i + 1) not in ("/", ":", "."))
    ):
        return i, False
    return i + 1, False


AFTER_INITIALS = frozenset((".", ",", ")", ":", "'", "’"))
UNLIKE = m.MEDICAL | m.SUFFIX | m.DOSE | m.HEAD | m.STATE | m.NUMBER | m.WARD | m.STOP | m.TITLE


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
        yield cut(page, i, i + 1, "name", evidence, "initials", person=True)


def is_graded_doctor(page: Page, i: int) -> bool:
    """Return True after the grade of a doctor: F2 KP."""
    k = i - 1
    return (
        k > 0
        and page.infos[k].shape == "d"
        and page.low(k - 1) in CUES.graded
        and page.joined(k - 1)
    )


def initials_before(page: Page, i: int) -> float:
    """Return how much what stands before token i says that it is somebody's initials."""
    k = i - 1
    if not page.together(k, i):
        return 0.0
    if page.low(k) in CUES.roles and page.gap(k) == 1:
        signed = page.low(k) not in ("by", "per") or is_signed_by(page, k, i + 1)
        return 0.82 if signed else 0.0
    if is_graded_doctor(page, i):
        return 0.82
    last = page.skip_dot(i + 1)
    if not ends_line(page, last):
        return initials_with_role(page, i)
    if page.low(k) in (".", "!", "?"):
        return 0.6 if last == i + 1 else 0.0
    if page.low(k) in ("-", "–", "—"):
        return 0.82 if last >= page.size and not page.joined(k) else 0.7
    if page.low(k) != "/" or not page.together(k - 1, k):
        return 0.0
    spaced = not page.joined(k) and (page.low(k - 1) == "." or page.infos[k - 1].shape == "U")
    return 0.6 if spaced or (page.infos[k - 1].shape in "CUM" and len(page.low(k - 1)) > 3) else 0.0


def initials_with_role(page: Page, i: int) -> float:
    """Return how much a role after initials that end a line says: KDH (resident), TW physio."""
    j = i + 2 if page.low(i + 1) == "(" else i + 1
    if (
        not page.together(i, j)
        or not page.infos[j].marks & (m.ROLE | m.SUFFIX)
        or page.low(j) == "pt"
    ):
        return 0.0
    end = j + 2 if page.low(i + 1) == "(" else j + 1
    opens = page.low(i - 1) in (".", "/", "-", "–", ",", ";")
    return 0.82 if ends_line(page, page.skip_dot(end)) and opens else 0.0


def initials_after(page: Page, i: int) -> float:
    """Return how much what stands after token i says that it is somebody's initials."""
    if not page.together(i, i + 1):
        return 0.0
    if page.gap(i) > 1 and (i == 0 or page.lines[i - 1] != page.lines[i]):
        return 0.5
    after = page.low(i + 1)
    opens = page.starts_sentence(i) or page.low(i - 1) in (",", "/")
    if after == "/" and page.gap(i) == 1 and opens and page.together(i, i + 2):
        other = page.infos[i + 2]
        return (
            0.6 if other.shape == "I" or (other.shape == "U" and not other.marks & UNLIKE) else 0.0
        )
    if after == "to" and opens and page.together(i, i + 2):
        verb = page.infos[i + 2]
        return 0.82 if verb.shape == "l" and verb.common and not verb.marks & m.STOP else 0.0
    if after in ("is", "was") and any(
        page.infos[k].shape == "d" for k in (i + 2, i + 3) if page.together(i, k)
    ):
        return 0.7
    if after in ("'", "’") and page.low(i + 2) == "s":
        return 0.7 if page.marks(i + 3) & m.RELATION else 0.0
    return 0.5 if after in CUES.does and page.infos[i + 1].shape == "l" else 0.0
