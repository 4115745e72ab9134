"""Dates, telephone numbers, identifiers and addresses of the net, in the forms people write."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

from letters.reading import read_words

CALENDAR = read_words("calendar")
MONTHS, SHORT, DAYS = CALENDAR["months"], CALENDAR["short months"], CALENDAR["days"]
DE_MONTHS, DE_DAYS = CALENDAR["months de"], CALENDAR["days de"]

#: Forms of a full date, by the habit of the country.
US_DATES = (
    "mdy4",
    "mdy4",
    "mdy2",
    "MDY",
    "MDY",
    "MdY",
    "iso",
    "mdash",
    "WMDY",
    "mdy0",
    "dMony",
    "iso0",
)
UK_DATES = (
    "dmy4",
    "dmy4",
    "dmy2",
    "DMY",
    "DMY",
    "dMY",
    "DthMY",
    "iso",
    "dots",
    "WDMY",
    "dMony",
    "DofM",
)
DE_DATES = ("dots4", "dots4", "dots2", "D.MY", "D.MY", "iso", "WD.MY")
SHORT_DATES = {
    "us": ("md", "md", "Md", "Md", "Mdth", "Mthed", "Wth"),
    "uk": ("dm", "dm", "dM", "dM", "dthM", "dthM", "thedth", "Wth", "Wdm"),
    "de": ("d.m.", "d.M"),
}


def ordinal(day: int) -> str:
    """Return 1st, 2nd, 3rd."""
    return f"{day}{'th' if 10 < day < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def write_date(d: date, form: str, rng: Random) -> str:
    """Return a date in one form."""
    y2, month, short = f"{d.year % 100:02d}", MONTHS[d.month - 1], SHORT[d.month - 1]
    weekday, german = DAYS[d.weekday()], DE_MONTHS[d.month - 1]
    comma = rng.random() < 0.8
    return {
        "mdy4": lambda: f"{d.month}/{d.day}/{d.year}" if comma else f"{d.month:02d}/{d.day:02d}/{d.year}",
        "mdy0": lambda: f"{d.month:02d}/{d.day:02d}/{d.year}",
        "mdy2": lambda: f"{d.month}/{d.day}/{y2}" if comma else f"{d.month:02d}/{d.day:02d}/{y2}",
        "mdash": lambda: f"{d.month:02d}-{d.day:02d}-{d.year}" if comma else f"{d.month}-{d.day}-{y2}",
        "MDY": lambda: f"{month} {d.day}, {d.year}" if comma else f"{month} {d.day} {d.year}",
        "MdY": lambda: f"{short} {d.day}, {d.year}" if comma else f"{short}. {d.day:02d}, {d.year}",
        "WMDY": lambda: f"{weekday}, {month} {d.day}, {d.year}",
        "iso": lambda: d.isoformat() if comma else f"{d.year}/{d.month:02d}/{d.day:02d}",
        "dmy4": lambda: f"{d.day:02d}/{d.month:02d}/{d.year}" if comma else f"{d.day}/{d.month}/{d.year}",
        "dmy2": lambda: f"{d.day:02d}/{d.month:02d}/{y2}" if comma else f"{d.day}/{d.month}/{y2}",
        "dots": lambda: f"{d.day:02d}.{d.month:02d}.{y2}" if comma else f"{d.day}.{d.month}.{d.year}",
        "DMY": lambda: f"{d.day} {month} {d.year}",
        "dMY": lambda: f"{d.day:02d} {short} {d.year}" if comma else f"{d.day}-{short}-{d.year}",
        "DthMY": lambda: f"{ordinal(d.day)} {month} {d.year}" if comma else f"{ordinal(d.day)} of {month}, {d.year}",
        "WDMY": lambda: f"{weekday} {d.day} {month} {d.year}" if comma else f"{weekday[:3]} {d.day} {short} {y2}",
        "dMony": lambda: f"{d.day:02d}{short.upper()}{d.year}" if comma else f"{d.day:02d}-{short}-{y2}",
        "iso0": lambda: f"{d.year}.{d.month:02d}.{d.day:02d}" if comma else f"{d.year}{d.month:02d}{d.day:02d}",
        "DofM": lambda: f"the {ordinal(d.day)} of {month} {d.year}" if comma else f"{month} the {ordinal(d.day)}, {d.year}",
        "Mthed": lambda: f"{month} the {ordinal(d.day)}",
        "thedth": lambda: f"the {ordinal(d.day)} of {month}",
        "Wth": lambda: f"{weekday[:4] if weekday[0] == 'T' else weekday[:3]} {ordinal(d.day)}" if comma else f"{weekday} the {ordinal(d.day)}",
        "Wdm": lambda: f"{weekday[:3]} {d.day}/{d.month}",
        "md": lambda: f"{d.month}/{d.day}",
        "Md": lambda: f"{month} {d.day}" if comma else f"{short} {d.day}",
        "Mdth": lambda: f"{month} {ordinal(d.day)}",
        "dm": lambda: f"{d.day}/{d.month}",
        "dM": lambda: f"{d.day} {month}" if comma else f"{d.day} {short}",
        "dthM": lambda: f"{ordinal(d.day)} {month}" if comma else f"{ordinal(d.day)} of {month}",
        "dots4": lambda: f"{d.day:02d}.{d.month:02d}.{d.year}" if comma else f"{d.day}.{d.month}.{d.year}",
        "dots2": lambda: f"{d.day:02d}.{d.month:02d}.{y2}",
        "D.MY": lambda: f"{d.day}. {german} {d.year}",
        "WD.MY": lambda: f"{DE_DAYS[d.weekday()]}, {d.day}. {german} {d.year}",
        "d.m.": lambda: f"{d.day:02d}.{d.month:02d}.",
        "d.M": lambda: f"{d.day}. {german}",
    }[form]()  # fmt: skip


def draw_day(rng: Random, first: int = 1994, last: int = 2024) -> date:
    """Return a day of some year."""
    return date(rng.randint(first, last), 1, 1) + timedelta(days=rng.randrange(365))


def write_month(d: date, country: str, rng: Random) -> str:
    """Return month and year, which may stay."""
    if country == "de":
        return rng.choice((f"{DE_MONTHS[d.month - 1]} {d.year}", f"{d.month:02d}/{d.year}"))
    return rng.choice(
        (f"{MONTHS[d.month - 1]} {d.year}",) * 4
        + (
            f"{MONTHS[d.month - 1]} of {d.year}",
            f"{SHORT[d.month - 1]} {d.year}",
            f"{d.month}/{d.year}",
        )
    )


def digits(rng: Random, n: int) -> str:
    """Return n digits, the first not zero."""
    return str(rng.randrange(10 ** (n - 1), 10**n))


def draw_phone(rng: Random, country: str) -> str:
    """Return a telephone number in one of the forms of a country."""
    if country == "us":
        area, a, b = (
            digits(rng, 3),
            rng.choice(("555", digits(rng, 3))),
            f"{rng.randrange(10000):04d}",
        )
        return rng.choice(
            (f"({area}) {a}-{b}", f"({area}) {a}-{b}", f"{area}-{a}-{b}", f"{area}-{a}-{b}", f"{area}.{a}.{b}", f"{area} {a} {b}",
             f"{a}-{b}", f"1-{area}-{a}-{b}", f"+1 {area} {a} {b}", f"({area}){a}-{b}", f"{area}/{a}-{b}", f"{a}.{b}",
             f"{area}-{a}-{b} ext. {rng.randrange(10, 9999)}", f"({area}) {a}-{b} x{rng.randrange(100, 999)}")
        )  # fmt: skip
    if country == "de":
        area = rng.choice(("030", "089", "0221", "06131", "07071", "0351", "0511", "040"))
        return rng.choice(
            (f"{area}/{digits(rng, 6)}", f"{area} {digits(rng, 7)}", f"{area}-{digits(rng, 5)}", f"(+49) {area[1:]} {digits(rng, 6)}",
             f"0{rng.choice(('151', '160', '171', '176'))} {digits(rng, 7)}", f"+49 {area[1:]} {digits(rng, 4)}-{rng.randrange(10, 99)}",
             f"{area} / {rng.randrange(10, 99)} {rng.randrange(10, 99)} {rng.randrange(10, 99)}")
        )  # fmt: skip
    return rng.choice(
        (f"020 {digits(rng, 4)} {digits(rng, 4)}", f"01{digits(rng, 3)} {digits(rng, 6)}", f"07{digits(rng, 3)} {digits(rng, 6)}",
         f"0{digits(rng, 4)} {digits(rng, 3)} {digits(rng, 3)}", f"+44 7{digits(rng, 3)} {digits(rng, 6)}", f"(01{digits(rng, 3)}) {digits(rng, 6)}",
         f"07{digits(rng, 3)} {digits(rng, 3)} {digits(rng, 3)}", f"08{digits(rng, 1)} {digits(rng, 3)} {digits(rng, 4)}", f"04{digits(rng, 2)} {digits(rng, 3)} {digits(rng, 3)}",
         f"(0{digits(rng, 1)}) {digits(rng, 4)} {digits(rng, 4)}", f"+91 {digits(rng, 5)} {digits(rng, 5)}", f"+353 {digits(rng, 2)} {digits(rng, 3)} {digits(rng, 4)}", f"07{digits(rng, 9)}", f"0117 {digits(rng, 3)} {digits(rng, 4)}", f"+44 (0)20 {digits(rng, 4)} {digits(rng, 4)}")
    )  # fmt: skip


def letters_of(rng: Random, n: int) -> str:
    """Return capital letters."""
    return "".join(rng.choices("ABCDEFGHJKLMNPRSTUVWXYZ", k=n))


def draw_record(rng: Random) -> str:
    """Return a record, chart, case, policy or account number."""
    return rng.choice(
        (lambda: digits(rng, 7), lambda: digits(rng, 6), lambda: digits(rng, 8), lambda: f"{rng.randrange(1000000):07d}",
         lambda: f"{digits(rng, 2)}-{digits(rng, 3)}-{digits(rng, 2)}", lambda: f"{digits(rng, 3)}-{digits(rng, 2)}-{digits(rng, 3)}",
         lambda: letters_of(rng, 1) + digits(rng, 6), lambda: letters_of(rng, 2) + digits(rng, 5),
         lambda: f"{letters_of(rng, 2)}-{digits(rng, 2)}-{digits(rng, 5)}", lambda: f"{letters_of(rng, 3)}{digits(rng, 4)}{letters_of(rng, 1)}",
         lambda: f"{digits(rng, 2)}-{letters_of(rng, 1)}-{digits(rng, 4)}", lambda: f"{digits(rng, 4)}/{digits(rng, 2)}",
         lambda: f"{letters_of(rng, 1)}{rng.randrange(10, 25)}-{digits(rng, 5)}", lambda: f"{digits(rng, 3)} {digits(rng, 3)} {digits(rng, 3)}",
         lambda: f"{letters_of(rng, 3)}-{rng.randrange(2010, 2025)}-{digits(rng, 5)}", lambda: f"{letters_of(rng, 1)}/{digits(rng, 4)}/{rng.randrange(10, 25)}",
         lambda: f"{letters_of(rng, 2)}{digits(rng, 4)}", lambda: f"{digits(rng, 2)}.{digits(rng, 4)}.{digits(rng, 1)}", lambda: f"{rng.randrange(10, 25)}{letters_of(rng, 2)}{digits(rng, 5)}",
         lambda: f"{digits(rng, 1)}{letters_of(rng, 2)}{digits(rng, 1)}-{letters_of(rng, 2)}{digits(rng, 1)}-{letters_of(rng, 2)}{digits(rng, 2)}",
         lambda: f"{letters_of(rng, 3)} {digits(rng, 3)} {digits(rng, 3)}", lambda: digits(rng, 5), lambda: digits(rng, 10), lambda: f"{letters_of(rng, 2)}-{digits(rng, 4)}-{letters_of(rng, 1)}",
         lambda: f"{letters_of(rng, 2)} {digits(rng, 6)}", lambda: f"{digits(rng, 4)}-{digits(rng, 4)}")
    )()  # fmt: skip


def draw_national(rng: Random, country: str) -> str:
    """Return a number of social security, health service or health insurance."""
    if country == "us":
        return f"{digits(rng, 3)}-{rng.randrange(10, 99)}-{digits(rng, 4)}"
    if country == "de":
        return letters_of(rng, 1) + digits(rng, 9)
    return rng.choice(
        (
            f"{digits(rng, 3)} {digits(rng, 3)} {digits(rng, 4)}",
            f"{digits(rng, 3)}-{digits(rng, 3)}-{digits(rng, 4)}",
            digits(rng, 10),
        )
    )


def draw_email(rng: Random, first: str, last: str, host: str) -> str:
    """Return an address at one of the hosts reserved for examples."""
    f = "".join(c for c in first.lower() if c.isascii() and c.isalpha()) or "x"
    s = "".join(c for c in last.lower() if c.isascii() and c.isalpha()) or "y"
    user = rng.choice(
        (
            f"{f}.{s}",
            f"{f[0]}{s}",
            f"{f}{s[0]}{rng.randrange(99)}",
            f"{s}_{f}",
            f"{f}{rng.randrange(1950, 2010)}",
            f"{s}{rng.randrange(99)}",
        )
    )
    tail = rng.choice(
        (
            "example.org",
            "example.com",
            "example.net",
            f"{host}.example",
            f"mail.{host}.example",
            "example.co.uk",
        )
    )
    return f"{user}@{tail}"
