"""Marks: what a word may be, as bits of one number, so that a detector is called only where its cue stands."""

from __future__ import annotations

import functools
import operator

_bits: dict[str, int] = {}


def mark(name: str) -> int:
    """Return the bit of a mark; a new name gets a new bit."""
    return _bits.setdefault(name, 1 << len(_bits))


def any_of(names: str) -> int:
    """Return the bits of several marks together."""
    return functools.reduce(operator.or_, (_bits[name.replace("_", " ")] for name in names.split()))


#: Marks by look.
DIGIT = mark("digit")
AT = mark("@")
COLON_SLASH = mark("://")
BRACKET = mark("bracket")
CAPITAL = mark("capital")
#: A word all in capitals; at most two letters with a capital; a capitalised word that no list holds.
UPPER = mark("upper")
SHORT = mark("short")
STRANGE = mark("strange")
#: Numbers of at most four digits; of five, of three or ten digits; from 90 to 125.
FEW = mark("few digits")
FIVE = mark("five digits")
GROUP = mark("three or ten digits")
AGED = mark("90 to 125")
#: The first word of a line, whatever it is.
LINE = mark("line")
#: Marks by list.
FIRST = mark("first name")
LAST = mark("last name")
PLACE = mark("place")
MEDICAL = mark("medical")
EPONYM = mark("eponym")
DRUG = mark("drug")
COMMON = mark("common")
#: Marks by cue words of the language pack.
TITLE = mark("title")
SUFFIX = mark("suffix")
HEADER = mark("header")
GREETING = mark("greeting")
CLOSING = mark("closing")
RELATION = mark("relation")
ROLE = mark("role")
CALLED = mark("called")
MONTH = mark("month")
WEEKDAY = mark("weekday")
BORN = mark("born")
STREET = mark("street")
UNIT = mark("unit")
BOX = mark("box")
STATE = mark("state")
LIVES = mark("lives")
PHONE = mark("phone")
NUMBER = mark("number")
HOSPITAL = mark("hospital")
COMPANY = mark("company")
WORKS = mark("works")
CLUB = mark("club")
AGE = mark("age")
HEAD = mark("head")
DOSE = mark("dose")
STOP = mark("stop")
PARTICLE = mark("particle")
OFFICE = mark("office")
SAINT = mark("saint")
WARD = mark("ward")
PREPOSITION = mark("preposition")
NUMBER_WORD = mark("number word")
MEETS = mark("meets")
ACTS = mark("acts")
SLASH = mark("slash")
#: Words before a nickname, before initials, of a form's fields, and before a clause.
KNOWN_AS = mark("known as")
SIGNS = mark("signs")
NAME_PART = mark("name part")
CLAUSE = mark("clause")
#: One small letter.
LETTER = mark("letter")
#: A word of the lists of names that may be one as it is written.
NAMED = mark("named")
#: A word that is a score or a measurement before a number.
SCORE = mark("score")
#: The first word of a medical expression of several words.
PHRASE = mark("phrase")
#: Words with which people say who they are.
INTRODUCES = mark("introduces")
#: Words after a surname, of a person as somebody's other half, and of animals that have names.
FAMILY = mark("family")
OTHER = mark("other")
PET = mark("pet")
