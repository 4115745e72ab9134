"""What the eighteen identifiers of 45 CFR 164.514(b)(2) look like: words in names of columns, forms of values."""

from __future__ import annotations

import re

#: The identifiers of the rule by letter.
IDENTIFIERS = {
    "A": "names",
    "B": "places smaller than a state",
    "C": "dates finer than years, ages over 89",
    "D": "telephone numbers",
    "E": "fax numbers",
    "F": "electronic mail addresses",
    "G": "social security numbers",
    "H": "medical record numbers",
    "I": "health plan beneficiary numbers",
    "J": "account numbers",
    "K": "certificate and licence numbers",
    "L": "vehicle identifiers and plates",
    "M": "device identifiers and serial numbers",
    "N": "web addresses",
    "O": "internet protocol addresses",
    "P": "biometric identifiers",
    "Q": "photographs of faces",
    "R": "other unique numbers, characteristics or codes",
}


def words_of(*groups: str) -> tuple[frozenset[str], ...]:
    """Return sets of words that must all occur in a name."""
    return tuple(frozenset(group.split()) for group in groups)


#: Words that give a column away by its name; each group must occur as a whole.
NAME_WORDS = (
    ("A", words_of("name", "names", "surname", "firstname", "lastname", "forename", "fullname")),
    (
        "B",
        words_of(
            "address", "addr", "street", "city", "town", "county", "precinct", "geocode", "latitude",
            "longitude", "lat", "lon", "lng", "parish", "village", "municipality", "neighbourhood",
            "neighborhood", "postcode", "postal",
        ),
    ),
    ("D", words_of("phone", "telephone", "tel", "mobile", "cellphone")),
    ("E", words_of("fax")),
    ("F", words_of("email", "mail", "e mail")),
    ("G", words_of("ssn", "social security")),
    ("H", words_of("mrn", "medical record", "chart number", "patient number")),
    ("I", words_of("beneficiary", "member number", "member id", "policy number", "plan number")),
    ("J", words_of("account", "acct", "iban")),
    ("K", words_of("license", "licence", "certificate", "passport")),
    ("L", words_of("vin", "vehicle", "plate")),
    ("M", words_of("serial", "imei", "device id", "device number")),
    ("N", words_of("url", "website", "homepage")),
    ("O", words_of("ip", "ipaddress")),
    ("P", words_of("fingerprint", "voiceprint", "biometric", "retina")),
    ("Q", words_of("photo", "photograph", "image", "picture", "portrait")),
    ("R", words_of("id", "identifier", "uuid", "guid")),
)  # fmt: skip

#: Names whose columns are judged by their values.
ZIP_WORDS = frozenset({"zip", "zipcode", "zcta"})
DATE_WORDS = frozenset(
    {"date", "dob", "birth", "birthday", "birthdate", "admission", "discharge", "death", "admitted"}
)
#: Words that count at the end of a longer one, as names are often run together. ("city" also ends ethnicity.)
ENDS = ("name", "address", "phone", "email", "street", "zip", "zipcode", "postcode", "date", "ssn")
#: Older ages must be one category.
OLDEST = 89

#: Letter, evidence, and the form of values (RE2), for text.
PATTERNS = (
    ("F", "mail addresses", r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+\.[A-Za-z]{2,}"),
    ("N", "web addresses", r"(?i)\b(https?://|www\.)[^\s]+"),
    ("O", "internet addresses", r"\b((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\b"),
    ("G", "numbers in the form of social security numbers", r"\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b"),
    ("D", "telephone numbers", r"(\b|\()[0-9]{3}(\) ?|[-. ])[0-9]{3}[-. ][0-9]{4}\b|\+[0-9]{1,3}[ -]?[0-9][0-9 -]{6,}"),
    ("C", "dates", r"\b[0-9]{4}-[01][0-9](-[0-3][0-9])?\b|(^|[^0-9./])[0-3]?[0-9][/.][0-3]?[0-9][/.]([0-9]{4}|[0-9]{2})($|[^0-9])"),
    ("B", "ZIP codes of nine digits", r"\b[0-9]{5}-[0-9]{4}\b"),
    ("L", "vehicle identification numbers", r"^[A-HJ-NPR-Z0-9]{9}[A-HJ-NPR-TV-Y1-9][A-HJ-NPR-Z0-9]{2}[0-9]{5}$"),
)  # fmt: skip

#: Three-digit ZIP codes with at most 20,000 people in the census of 2000.
SMALL_ZIPS = (
    "036", "059", "063", "102", "203", "556", "692", "790", "821", "823", "830", "831", "878", "879",
    "884", "890", "893",
)  # fmt: skip


def name_words(name: str) -> frozenset[str]:
    """Return the words of a column's name, in lower case, split at signs, digits and capitals; with their ends.

    >>> sorted(name_words("patientZIP_code2"))
    ['code', 'patient', 'zip']
    >>> sorted(name_words("UTILNAME"))
    ['name', 'utilname']
    """
    split = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    words = re.findall(r"[a-z]+", split.lower())
    ends = [end for word in words for end in ENDS if word.endswith(end)]
    return frozenset([*words, *ends])
