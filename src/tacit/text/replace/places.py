"""Addresses, hospitals, employers and clubs: telling words are invented, generic words stay."""

from __future__ import annotations

import re

from tacit.text.reading import marks as m
from tacit.text.reading.lexicon import Lexicon
from tacit.text.reading.tokens import tokenise
from tacit.text.reading.words import cues
from tacit.text.replace.invent import Inventor, like_case

CUES = cues("places")
PROPER = cues("proper")


ZIP = re.compile(r"(?<!\d)(\d{3})\d{2}(?:-\d{4})?(?!\d)")
UK = re.compile(
    r"(?<![A-Za-z0-9])([A-Z]{1,2})\d[A-Z\d]?[ ]{0,2}\d[A-Z]{2}(?![A-Za-z0-9])", re.IGNORECASE
)
KEPT = m.STREET | m.UNIT | m.BOX | m.SAINT
THINGS = m.HOSPITAL | m.COMPANY | m.CLUB | m.SAINT


def replace_address(text: str, lexicon: Lexicon, inventor: Inventor) -> str:
    """Return an invented address: ZIP to three digits and 00, postcode to its area, state kept."""
    made, at = [], 0
    marks = sorted([*ZIP.finditer(text), *UK.finditer(text)], key=lambda f: f.start())
    german = lexicon.knowledge.pack.language == "de"
    for found in marks:
        if found.start() < at:
            continue
        leading = found.re is ZIP and found.start() == 0 and not german
        if leading and found.end() < len(text) - 3:
            continue
        made.append(replace_words(text[at : found.start()], lexicon, inventor, KEPT | m.STATE))
        if found.re is UK:
            made.append(found[1].upper())
        else:
            made.append("00000" if found[1] in CUES.restricted and not german else f"{found[1]}00")
        at = found.end()
    made.append(replace_words(text[at:], lexicon, inventor, KEPT | m.STATE))
    return "".join(made)


def replace_thing(text: str, lexicon: Lexicon, inventor: Inventor) -> str:
    """Return an invented hospital, firm or club: St. John's Hospital becomes St. Alder's Hospital."""
    return replace_words(text, lexicon, inventor, THINGS)


def replace_words(text: str, lexicon: Lexicon, inventor: Inventor, kept: int) -> str:
    """Return a text whose words are invented, but for words that carry a kept mark and small words."""
    tokens = tokenise(text)
    made, at = [], 0
    changed = False
    last = len(tokens.words) - 1
    tokens_at = zip(tokens.words, tokens.starts, tokens.ends, strict=True)
    for place, (word, start, end) in enumerate(tokens_at):
        made.append(text[at:start])
        at = end
        low = word.lower()
        if word.isdecimal():
            made.append(inventor.digits(word, "house"))
            changed = True
        elif not word[0].isalpha() or is_kept(word, lexicon, kept, place, last, changed):
            made.append(word)
        else:
            made.append(like_case(inventor.word(low, "last"), word))
            changed = True
    made.append(text[at:])
    return "".join(made)


def is_kept(word: str, lexicon: Lexicon, kept: int, place: int, last: int, changed: bool) -> bool:
    """Return True for a small or generic word: a compass point, the street's or firm's word at the end, a state, Saint at the start."""
    marks, low = lexicon(word).marks, word.lower()
    if low in PROPER.small or low == "s" or (len(low) <= 4 and low in CUES.compass):
        return True
    if marks & m.SAINT & kept and place == 0 and last > 0:
        return True
    if marks & m.STATE & kept:
        return word.isupper() or place > 0
    return bool(marks & kept & ~m.SAINT) and (
        changed or (place == 0 and bool(marks & (m.UNIT | m.BOX | m.CLUB | m.HOSPITAL)))
    )
