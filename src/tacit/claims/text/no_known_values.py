"""The claim that nothing of what is known of a person stands in the text about that person.

For each known value:

- of a date, the day in the usual ways of writing; month and year alone may stand;
- a value of several words, or with digits, as a whole in any case;
- of a value without digits, such as a name, each word of three letters or more where the text writes it with a capital
  letter (in lower case it is an ordinary word: long, rose), titles and words such as Street left out;
- of a number of five digits or more, its digits, whatever separates them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw

from tacit.claims import Claim, check_for
from tacit.claims.texts import record_blocks

WORD = re.compile(r"[^\W\d_]+")
#: Marks of no width, with which a name looks whole and is not found.
UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
DATE = re.compile(r"((?:19|20)\d\d)-(\d\d?)-(\d\d?)(?:[T ].*)?$|(\d\d?)/(\d\d?)/((?:19|20)\d\d)$")
#: Words of names and addresses that tell nothing by themselves.
GENERIC = frozenset(
    """mrs miss prof dame lord lady von van der den del dos the and for saint sir jun sen street road
    avenue lane drive place court square house hospital clinic centre center infirmary surgery
    university college school department ward company limited north south east west upper lower county
    city town general""".split()  # noqa: SIM905 - easier to read
)
MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905 - easier to read
)


@check_for("no-known-values", of=("corpus", "records"))
def shows_no_known_value(view: Any, claim: Claim) -> bool:
    """Return True when no text holds a value of its own record."""
    if not isinstance(view, nw.LazyFrame):
        return not any(holds_known(d.text, d.record) for d in view.documents if d.record)
    held = set(view.collect_schema().names())
    known = [c for c in claim.parameters["known"] if c in held]
    if not known:
        return True
    for table in record_blocks(view, [*claim.columns, *known]):
        values = {c: table.column(c).to_pylist() for c in table.column_names}
        for column in claim.columns:
            for i, text in enumerate(values[column]):
                if text and holds_known(text, {c: values[c][i] for c in known}):
                    return False
    return True


def holds_known(text: str, record: Mapping[str, Any]) -> bool:
    """Return True when a value of the record stands in the text."""
    text = UNSEEN.sub("", text)
    capital: set[str] | None = None
    plain = digits = ""
    for value in record.values():
        said = "" if value is None else " ".join(str(value).split()).lower()
        day = DATE.match(said)
        plain = plain or f" {' '.join(text.lower().split())} "
        if day:
            if any(form in plain for form in ways_of_writing(day)):
                return True
            continue
        numbers = "".join(c for c in said if "0" <= c <= "9")
        words = WORD.findall(said)
        if (len(words) > 1 or (numbers and len(said) > 4)) and stands_alone(said, plain):
            return True
        if words and not numbers:
            if capital is None:
                capital = {w.lower() for w in WORD.findall(text) if w[0].isupper()}
            if any(len(w) >= 3 and w not in GENERIC and w in capital for w in words):
                return True
        if len(numbers) >= 5 and len(words) <= 1:
            if not digits:
                # Numbers without what separates their digits, apart from each other.
                joined = re.sub(r"(?<=[0-9])[-./ ()](?=[0-9])", "", text)
                digits = re.sub(r"[^0-9 ]", " ", joined)
            if numbers in digits:
                return True
    return False


def stands_alone(value: str, text: str) -> bool:
    """Return True when a value stands in a text, and not as a part of words or numbers."""
    at = text.find(value)
    while at >= 0:
        if not (text[at - 1].isalnum() or text[at + len(value)].isalnum()):
            return True
        at = text.find(value, at + 1)
    return False


def ways_of_writing(day: re.Match[str]) -> list[str]:
    """Return a date as it is usually written, in lower case."""
    if day[1]:
        year, one, two = int(day[1]), int(day[2]), int(day[3])
        pairs = [(one, two)]
    else:
        year, one, two = int(day[6]), int(day[4]), int(day[5])
        pairs = [(m, d) for m, d in ((one, two), (two, one)) if m <= 12]
    found = []
    for month, dom in pairs:
        if not 1 <= month <= 12:
            continue
        name = MONTHS[month - 1]
        found += [
            f"{year}-{month:02d}-{dom:02d}",
            f"{month}/{dom}/{year}",
            f"{month:02d}/{dom:02d}/{year}",
            f"{dom}/{month}/{year}",
            f"{dom:02d}/{month:02d}/{year}",
            f"{dom:02d}.{month:02d}.{year}",
            f"{name} {dom}, {year}",
            f"{dom} {name} {year}",
            f"{name[:3]} {dom}, {year}",
            f"{dom} {name[:3]} {year}",
        ]
    return found
