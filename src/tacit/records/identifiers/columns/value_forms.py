"""Forms of values that reach one person or one home, whatever their column is called."""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa

#: So many different values are looked at, and this share of them must have the form.
LOOKED_AT, SHARE = 200, 0.5
#: Values in the form of a number for people, in their usual spellings: the whole value, without the spaces in it.
TELEPHONE = re.compile(r"(\+|00)[1-9][0-9]{7,14}|0[1-9][0-9]{8,10}")
INSURANCE = re.compile(r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z][0-9]{6}[A-D]")
POSTCODE = re.compile(r"[A-Z]{1,2}[0-9][A-Z0-9]? [0-9][A-Z]{2}")
IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
CARD = re.compile(r"[0-9]{13,19}")
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
#: Degrees of latitude and longitude to ten metres.
PLACE = re.compile(r"\(?[+-]?[0-9]{1,2}\.[0-9]{4,}[,;]? ?[+-]?[0-9]{1,3}\.[0-9]{4,}\)?")
#: Numbers that states give to people: Italy, Spain (with its letter), Finland (with its sign).
FISCAL = re.compile(r"[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]")
SPANISH = re.compile(r"[XYZ0-9][0-9]{7}[A-Z]")
FINNISH = re.compile(r"[0-9]{6}[-+A-FU-Y][0-9]{3}[0-9A-Y]")
#: A house number before or after a word for a street.
STREETS = "street|st|road|rd|avenue|ave|lane|ln|drive|close|court|crescent|terrace|boulevard|blvd|way|place|square|gardens"
STRASSEN = "straße|strasse|str|weg|allee|gasse|platz|ring|damm|ufer"
STREET = re.compile(
    rf"(?i)\b[0-9]+[a-z]?,? (?:[^\W\d_]+\.? ){{1,3}}(?:{STREETS})\b"
    rf"|(?:{STRASSEN})\.? [0-9]+[a-z]?\b"
    r"|\b(?:rue|via|calle|avenida|viale) .*\b[0-9]+\b|\b[0-9]+,? (?:rue|avenue|boulevard)\b"
)


def form_of(values: pa.Array) -> str:
    """Return what most different values of a text column are, in words; an empty text where that is unknown.

    >>> form_of(pa.array(["GB82 WEST 1234 5698 7654 32", "DE89370400440532013000"]))
    'bank account numbers'
    >>> form_of(pa.array(["DE89370400440532013001", "AB12"]))
    ''
    """
    some = [text.strip() for text in values[:LOOKED_AT].to_pylist()]
    if len(some) < 2:
        return ""
    for what, has_form in FORMS:
        if sum(bool(has_form(text)) for text in some) >= SHARE * len(some):
            return what
    return ""


def is_telephone(text: str) -> bool:
    """Return True for a telephone number that begins with its country or a zero, signs between digits left out."""
    return bool(TELEPHONE.fullmatch(re.sub(r"[\s()/.-]", "", text)))


def is_iban(text: str) -> bool:
    """Return True for an international bank account number whose check digits hold (ISO 13616)."""
    plain = text.replace(" ", "").upper()
    if not IBAN.fullmatch(plain):
        return False
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def is_card(text: str) -> bool:
    """Return True for a number of a payment card whose check digit holds (Luhn)."""
    plain = re.sub(r"[ -]", "", text)
    if not CARD.fullmatch(plain):
        return False
    digits = [int(c) for c in reversed(plain)]
    doubled = (sum(divmod(2 * d, 10)) for d in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def is_insurance_number(text: str) -> bool:
    """Return True for a number of the British national insurance."""
    return bool(INSURANCE.fullmatch(text.replace(" ", "").upper()))


def is_personal_number(text: str) -> bool:
    """Return True for a number that a state gives to one person, where its last sign checks the others.

    >>> [is_personal_number(t) for t in ("12345678Z", "12345678A", "131052-308T")]
    [True, False, True]
    """
    plain = text.replace(" ", "").upper()
    if FISCAL.fullmatch(plain):
        return True
    if SPANISH.fullmatch(plain):
        number = int(str("XYZ".find(plain[0]) if plain[0] in "XYZ" else plain[0]) + plain[1:8])
        return plain[-1] == "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23]
    if FINNISH.fullmatch(plain):
        return plain[-1] == "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(plain[:6] + plain[7:10]) % 31]
    return False


FORMS: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("bank account numbers", is_iban),
    ("numbers of payment cards", is_card),
    ("national insurance numbers", is_insurance_number),
    ("numbers of people", is_personal_number),
    ("marks that are given once", UUID.fullmatch),
    ("places of homes", PLACE.fullmatch),
    ("telephone numbers", is_telephone),
    ("addresses", STREET.search),
    ("postcodes of a few homes", POSTCODE.fullmatch),
)
