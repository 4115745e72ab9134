"""Villages and small places that no list holds: Stainforth-on-Wye, Nickel Creek, Okafor Nagar, lived Ashwick."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import BARRED
from tacit.text.proper import back_proper, forward_proper, is_plain
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("village")
PROPER = cues("proper")


TERRAIN = m.mark("terrain")
HITHER = m.mark("hither")
#: What goes on with the name of a firm or a practice: Nickel Creek Imaging.
LONGER = m.HOSPITAL | m.COMPANY | m.CLUB | m.mark("care") | m.mark("firm") | m.mark("body")

#: Ends of the names of towns and villages, in Britain, Ireland, America, India and elsewhere.
ENDINGS = (
    "ton", "ham", "bury", "ford", "wick", "worth", "thorpe", "ville", "burg", "burgh", "borough", "shire", "field", "mouth", "combe",
    "dale", "stead", "mere", "chester", "caster", "minster", "pool", "hurst", "leigh", "bourne", "holme", "well", "brook", "bridge",
    "nagar", "pur", "abad", "patti", "palli", "halli", "ganj", "gaon", "giri", "wadi", "garh", "kot", "kirk", "wood", "stow", "firth",
)  # fmt: skip


@detector("place with joints", m.SLASH, languages=("en",))
def find_jointed_places(page: Page, i: int) -> Iterator[Candidate]:
    """Find Stainforth-on-Wye: a small word between two capitals, with hyphens."""
    hyphens = page.low(i) == "-" and page.low(i + 2) == "-"
    if i < 1 or not hyphens or page.low(i + 1) not in PROPER.joints:
        return
    if not (page.joined(i - 1) and page.joined(i) and page.joined(i + 1) and page.joined(i + 2)):
        return
    small = page.infos[i + 1].shape == "l" or is_plain(page, i)
    if not small or page.infos[i - 1].shape not in "CMUl" or page.infos[i + 3].shape not in "CMUl":
        return
    capitals = page.capital(i - 1) and page.capital(i + 3)
    if not capitals and not (is_plain(page, i) and not page.infos[i - 1].common):
        return
    start = back_proper(page, i, 2) if not is_plain(page, i) else i - 1
    yield cut(page, min(start, i - 1), i + 4, "address", 0.88 if capitals else 0.65, "village")


@detector("place by its last word", TERRAIN, languages=("en",))
def find_terrain(page: Page, i: int) -> Iterator[Candidate]:
    """Find Nickel Creek, Okafor Nagar, Wannaroo Siding: capitalised words before a word of the land."""
    if not (page.capital(i) or is_plain(page, i)):
        return
    start = back_proper(page, i, 3)
    while start < i and page.infos[start].shape == "p":
        start += 1
    before = page.infos[i - 1] if start < i else None
    if before is None or before.medical or (before.marks & BARRED and before.index < 3):
        return
    after = page.near(i, i + 1)
    if after is not None and after.marks & (m.HEAD | LONGER):
        small = after.marks & LONGER and after.shape == "l" and not is_plain(page, i)
        if not small:
            return
        return
    placed = page.low(start - 1) in CUES.placed or page.marks(start - 1) & m.LIVES
    part = page.marks(start - 2) & (m.DIGIT | m.STREET | m.UNIT)
    listed = page.low(start - 1) == "," and part
    strange = not before.common or bool(before.marks & m.PLACE and before.index >= -3)
    if is_plain(page, i):
        evidence = 0.68 if strange and (placed or listed) else 0.5 if strange or placed else 0.0
    elif placed or listed:
        evidence = 0.85
    else:
        evidence = 0.65 if strange or i - start > 1 else 0.5
    if evidence:
        # Ash Narrows First Nation
        end = i + 3 if page.low(i + 1) == "first" and page.low(i + 2) == "nation" else i + 1
        yield cut(page, start, end, "address", evidence, "village")


@detector("place of nobody's list", HITHER, languages=("en",))
def find_strange_places(page: Page, i: int) -> Iterator[Candidate]:
    """Find a capitalised word of no list after from, in, near or to, where people come from or live."""
    j = i + 1
    if j >= page.size or page.infos[j].shape not in "CM" or page.lines[j] != page.lines[i]:
        return
    info = page.infos[j]
    barred = info.marks & (BARRED | m.STATE | m.EPONYM | m.DRUG) and not info.marks & m.SAINT
    if barred or info.medical:
        return
    end = forward_proper(page, j, 3)
    if end <= j or page.marks(end) & m.HEAD or info.first >= 8:
        return
    if page.marked(j, end, m.HOSPITAL | m.CLUB | m.COMPANY | m.MEDICAL | m.TITLE):
        return
    led = any(page.low(k) in CUES.leads for k in range(max(0, i - 3), i) if page.together(k, i))
    ending = page.infos[end - 1].low.endswith(ENDINGS) and len(page.infos[end - 1].low) > 5
    strange = not info.common and info.last < 14
    if not strange and not led:
        return
    if page.low(end) == "via" and page.together(j, end + 1):
        end = max(end, forward_proper(page, end + 1, 2))
    evidence = 0.55 + (0.27 if led else 0.0) + (0.2 if ending and strange else 0.0)
    if not led and page.low(i) in ("to", "of", "from") and not ending:
        evidence = 0.4
    yield cut(page, j, end, "address", min(evidence, 0.85), "village")
