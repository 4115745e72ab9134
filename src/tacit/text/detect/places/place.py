"""Towns with a state and ZIP, postcodes, places where people live, and villages that no list holds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import BARRED, back_proper, could_be_name, forward_proper, is_plain
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("place")


ZIP = re.compile(r"\d{5}(?:-\d{4})?(?![\d-])")


@detector("town, state and ZIP", m.STATE)
def find_states(page: Page, i: int) -> Iterator[Candidate]:
    """Find a town before a state: Boston, MA 02151; Portland, Oregon."""
    info = page.infos[i]
    short = len(info.low) == 2
    if short and info.shape != "U" and not page.lower:
        return
    small = info.marks & (m.SUFFIX | m.STOP | m.MEDICAL | m.PREPOSITION)
    doubtful = short and bool(small or page.plain_case(i))
    j = i + 1
    if page.low(j) in (".", ","):
        j += 1
    close = page.together(i, j) and not page.joined(j - 1)
    found = ZIP.match(page.text, page.starts[j]) if close else None
    k = i
    comma = page.low(k - 1) == ","
    if comma:
        k -= 1
    if not page.together(k - 1, i):
        return
    start = town_start(page, k)
    # Virginia Townsend: a state that is a first name before another word of a name.
    after = page.near(i, i + 1) if info.first >= 8 else None
    named = after is not None and page.gap(i) == 1 and after.shape in "CIMU"
    if not found and (is_titled(page, start) or (named and could_be_name(page, i + 1, True))):
        return
    if start == k:
        if found and short:
            yield Candidate(page.starts[j], found.end(), "address", 0.85, "town, state and ZIP")
        return
    if found and (comma or not info.marks & m.SUFFIX or is_place(page, start, k)):
        yield Candidate(page.starts[start], found.end(), "address", 0.97, "town, state and ZIP")
    elif comma and not page.plain_case(i) and (info.shape == "U" if short else page.capital(i)):
        known = is_place(page, start, k)
        degree = info.marks & m.SUFFIX and page.low(start - 1) not in CUES.leads
        after = page.near(i, i + 1)
        small = info.marks & (m.STOP | m.PREPOSITION)
        runs_on = small and after is not None and after.shape != "p"
        # winter in Ash Palms, AZ
        led = page.low(start - 1) in ("in", "near", "to") and not info.marks & (m.SUFFIX | m.STOP)
        likely = (not doubtful or led) and page.infos[start].first < 8
        if (known and not degree and not runs_on) or likely:
            yield cut(page, start, i + 1, "address", 0.9 if known else 0.82, "town and state")
    elif comma and page.plain_case(i) and not info.marks & (m.SUFFIX | m.STOP | m.PREPOSITION):
        if not is_place(page, start, k) or page.infos[start].common >= 13:
            return
        yield cut(page, start, i + 1, "address", 0.82, "town and state")


def is_titled(page: Page, i: int) -> bool:
    """Return True for a word after a title, which is a person: Dr. Lang, Virginia."""
    before = i - 2 if page.low(i - 1) == "." else i - 1
    return bool(page.marks(before) & m.TITLE) and page.together(before, i)


def is_place(page: Page, i: int, j: int) -> bool:
    """Return True when tokens i up to, without, j are a town of the list."""
    name = "_".join(page.low(k) for k in range(i, j) if page.infos[k].shape != "p")
    return name in page.lexicon.knowledge.places


def town_start(page: Page, k: int) -> int:
    """Return where the town that ends before token k starts."""
    start = back_proper(page, k, 3)
    if start < k and page.plain_case(k - 1):
        start = k - 1
        if page.marks(k - 1) & m.STOP or page.infos[k - 1].shape == "p":
            return k
    while start < k and (
        (page.marks(start) & m.STREET and k - start > 1) or page.low(start) == "."
    ):
        start += 1
    return start


REGION = m.mark("region")


@detector("region and postcode", REGION, languages=("en",))
def find_regions(page: Page, i: int) -> Iterator[Candidate]:
    """Find a town, a state of Australia and four digits: Wirrabeen NSW 2999."""
    j = i + 1
    number = page.near(i, j)
    if number is None or page.infos[i].shape != "U" or page.starts[j] - page.ends[i] != 1:
        return
    if number.shape != "d" or len(page.words[j]) != 4:
        return
    k = i - 1 if page.low(i - 1) == "," else i
    start = back_proper(page, k, 3) if k and page.together(k - 1, i) else k
    if start < k and not page.plain_case(i):
        yield cut(page, start, j + 1, "address", 0.93, "region and postcode")
    elif len(page.low(i)) == 3:
        yield cut(page, i, j + 1, "address", 0.85, "region and postcode")


@detector("postcode", m.SHORT)
def find_postcodes(page: Page, i: int) -> Iterator[Candidate]:
    """Find a postcode of letters and digits, with the town before it."""
    pattern = page.pack.postcode
    if pattern is None or not page.marks(i + 1) & (m.FEW | m.SLASH) or not page.joined(i):
        return
    if page.infos[i].shape not in "UI":
        return
    found = pattern.match(page.text, page.starts[i])
    if found:
        start = page.starts[i]
        k = i - 1 if page.low(i - 1) == "," else i
        town = back_proper(page, k, 3) if page.together(k - 1, i) else k
        if town < k and not page.plain_case(town):
            start = page.starts[parts_before(page, town)]
        yield Candidate(start, found.end(), "address", 0.95, "postcode")


def parts_before(page: Page, start: int) -> int:
    """Return where the parts of an address before a town begin: The Lock House, Towpath, Saltmarsh."""
    for _ in range(3):
        k = start - 1
        if page.low(k) != "," or not page.together(k - 1, start):
            return start
        part = back_proper(page, k, 3)
        if part < k and page.low(part - 1) == "the" and page.infos[part - 1].shape == "C":
            part -= 1
        info = page.infos[part]
        if part >= k or info.first >= 8 or is_titled(page, part) or info.marks & m.MEDICAL:
            return start
        if page.together(part - 1, part) and page.low(part - 1) not in (",", ":", "at", "of", "to"):
            return start
        start = part
    return start


@detector("province", m.mark("province"), languages=("en",))
def find_provinces(page: Page, i: int) -> Iterator[Candidate]:
    """Find a town before a province of Canada: Pointe-aux-Chênes, ON."""
    if page.infos[i].shape != "U" or page.low(i - 1) != "," or page.lines[i] in page.caps_lines:
        return
    after = page.word_at(i + 1)
    if after is not None and page.together(i, i + 1) and after.shape not in "pI":
        return
    start = back_proper(page, i - 1, 3)
    # A town with small words between hyphens goes on before them.
    while start > 3 and page.low(start - 1) == "-" and page.joined(start - 1) and i - start < 10:
        small = page.infos[start - 2].shape == "l" and page.low(start - 3) == "-"
        if not small or page.infos[start - 4].shape not in "CM":
            break
        start -= 4
    if start < i - 1 and page.infos[start].first < 8 and not is_titled(page, start):
        yield cut(page, start, i + 1, "address", 0.85, "town and state")


SETTLED = re.compile(
    r"(?:,? ?(?:(?:Vill(?:age)?|P\.? ?O|Post|P\.? ?S|Teh(?:sil)?|Tal(?:uka?)?|Dist(?:t|rict)?|Brgy|Barangay|Mandal|Thana)"
    r"\.?[:-]? ?)?[A-Z][\w'-]{1,24}+(?: [A-Z][\w'-]{1,24}+){0,2}+){1,5}"
)


@detector("settlement", m.mark("settlement"), languages=("en",))
def find_settlements(page: Page, i: int) -> Iterator[Candidate]:
    """Find a village and what it belongs to: Vill. Kherapur, P.O. Bansi, Dist. Rewa; Brgy San Roque."""
    j = page.skip_dot(i + 1)
    if page.low(j) in (":", "-"):
        j += 1
    if not page.together(i, j) or page.infos[j].shape not in "CM" or page.plain_case(j):
        return
    info = page.infos[j]
    barred = m.STOP | m.TITLE | m.HOSPITAL | m.CLUB | m.ROLE | m.MEDICAL
    if info.common >= 12 or info.marks & barred:
        return
    if page.low(i) in ("district", "village", "suburb", "hamlet") and info.common:
        return
    found = SETTLED.match(page.text, page.starts[j])
    if found:
        start = page.starts[i] if page.infos[i].shape != "l" else page.starts[j]
        yield Candidate(start, found.end(), "address", 0.88, "settlement")


@detector("ZIP", m.FIVE)
def find_zips(page: Page, i: int) -> Iterator[Candidate]:
    """Five digits after the word ZIP, or alone after a comma and a place."""
    before = page.low(i - 2 if page.low(i - 1) in (":", "code") else i - 1)
    found = ZIP.match(page.text, page.starts[i])
    if found and before in ("zip", "zipcode", "code", "plz"):
        start = page.starts[i - 1] if page.low(i - 1) == "zip" else found.start()
        yield Candidate(start, found.end(), "address", 0.95, "ZIP")


@detector("German postcode", m.FIVE, languages=("de",))
def find_german_postcodes(page: Page, i: int) -> Iterator[Candidate]:
    """Five digits and a town: 10115 Berlin."""
    town = page.near(i, i + 1)
    if town is None or town.shape not in "CM" or town.marks & (m.STOP | m.HEAD | m.DOSE):
        return
    end = i + 2
    while page.together(i, end):
        small = page.low(end) in ("am", "an", "der", "im", "-", "/", "ob")
        inner = small and page.together(end, end + 1)
        if not inner and not (page.marks(end) & m.PLACE and page.capital(end)):
            break
        end += 1
    if page.infos[end - 1].shape == "l" and end < page.size and page.infos[end].shape == "C":
        end += 1
    known = page.marks(i + 1) & m.PLACE
    start = i - 2 if page.low(i - 1) == "-" and page.low(i - 2) == "d" and page.joined(i - 1) else i
    yield cut(page, start, end, "address", 0.95 if known else 0.85, "postcode")


@detector("place", m.PLACE)
def find_places(page: Page, i: int) -> Iterator[Candidate]:
    """Find a town of the list after in, from, near, to, at."""
    info = page.infos[i]
    if info.shape not in "CM" or info.marks & (BARRED | m.STATE) or page.marks(i + 1) & m.HEAD:
        return
    if page.low(i - 1) not in CUES.before_place:
        return
    places = page.lexicon.knowledge.places
    for size in range(min(3, page.size - i), 0, -1):
        name = "_".join(page.low(k) for k in range(i, i + size))
        if name in places:
            last = i + size - 1
            if page.infos[last].shape not in "CM" or page.marks(last + 1) & m.HEAD:
                return
            strong = page.low(i - 1) in CUES.strong
            evidence = 0.82 if strong and not info.marks & m.EPONYM else 0.5
            yield cut(page, i, last + 1, "address", evidence, "place")
            return


@detector("home", m.LIVES)
def find_homes(page: Page, i: int) -> Iterator[Candidate]:
    """Lives in, resides at, moved from: the capitalised words after it."""
    j = i + 1
    for k in range(i + 1, min(i + 7, page.size)):
        if page.low(k) in CUES.before_home:
            j = k + 1
            if page.low(k) != "of":
                break
        if page.infos[k].shape == "p" and page.low(k) != ":":
            break
    direct = page.low(i) in ("lives", "lived", "living", "resides")
    direct = direct and i + 1 < page.size and page.gap(i) == 1
    if j == i + 1 and page.low(i) not in ("from", "near", "outside", "visited") and not direct:
        return
    if page.low(j) in ("the", "a"):
        return
    info = page.near(i, j)
    if info is None or info.shape not in "CM":
        return
    if info.marks & (BARRED | m.STATE) and not info.marks & (m.PLACE | m.SAINT):
        return
    end = forward_proper(page, j, 3)
    # Ash Narrows First Nation
    nation = page.low(end) == "nation" and page.low(end - 1) == "first"
    if nation and page.together(end - 1, end):
        end += 1
    if any(page.marks(k) & (m.HOSPITAL | m.CLUB | m.COMPANY) for k in range(j, end + 1)):
        return
    if end > j and not page.marks(end) & m.HEAD and (not page.infos[j].medical or end > j + 1):
        person = page.infos[j].first >= 12 and not page.marks(j) & m.PLACE
        weak = person or page.low(i) in CUES.weak_home
        yield cut(page, j, end, "address", 0.55 if weak else 0.82, "home")


@detector("neighbour's number", m.mark("neighbour"), languages=("en",))
def find_next_doors(page: Page, i: int) -> Iterator[Candidate]:
    """Find the house of a neighbour: neighbour (Ron, no 40), next door at number 42."""
    for j in range(i + 1, min(page.size - 1, i + 9)):
        if not page.together(i, j) or (page.low(j) in (".", ";") and page.low(j - 1) != "no"):
            return
        if page.low(j) in ("no", "number", "no."):
            k = page.skip_dot(j + 1)
            if k < page.size and page.infos[k].shape == "d" and len(page.words[k]) <= 3:
                yield cut(page, j, k + 1, "address", 0.84, "neighbour's number")
            return


@detector("name and house number", m.FEW)
def find_numbered_names(page: Page, i: int) -> Iterator[Candidate]:
    """Find a line that begins with a capitalised word and a number, in a block with a town: Huntington 18."""
    if i == 0 or page.infos[i - 1].shape not in "CM" or page.lines[i - 1] != page.lines[i]:
        return
    start = i - 1
    while page.together(start - 1, i) and page.infos[start - 1].shape in "CM" and i - start < 4:
        start -= 1
    if start and page.together(start - 1, i):
        return
    things = page.marked(start, i, m.MONTH | m.MEDICAL | m.HOSPITAL)
    if things or page.marks(i - 1) & (BARRED | m.MEDICAL | m.UNIT):
        return
    after = page.word_at(i + 1)
    listed = m.BORN | m.PHONE | m.NUMBER
    runs_on = after is not None and page.together(i, i + 1) and after.low != ","
    if after is not None and runs_on and not after.marks & listed:
        return
    line = page.lines[i]
    for k in range(i + 1, min(page.size, i + 24)):
        if page.lines[k] > line + 1:
            return
        zipped = page.lines[k] == line + 1 and page.marks(k) & m.FIVE
        if zipped or (page.marks(k) & m.STATE and page.infos[k].shape == "U"):
            yield cut(page, start, i + 1, "address", 0.85, "name and house number")
            return


VILLAGE = cues("village")
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
        return
    placed = page.low(start - 1) in VILLAGE.placed or page.marks(start - 1) & m.LIVES
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
    led = any(page.low(k) in VILLAGE.leads for k in range(max(0, i - 3), i) if page.together(k, i))
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
