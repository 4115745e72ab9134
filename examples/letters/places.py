"""Towns, streets, hospitals, employers and clubs, all invented from parts."""

from __future__ import annotations

from functools import cache
from random import Random

from letters import names
from letters.numbers import digits, letters_of
from letters.reading import read_words

LISTS = read_words("places")


def pick(rng: Random, what: str) -> str:
    """Return one of a list."""
    return rng.choice(LISTS[what])


@cache
def surnames(split: str) -> tuple[str, ...]:
    """Return surnames after which streets and firms are named."""
    return names.for_split(names.LISTS["surnames"], split)


def draw_town(rng: Random) -> str:
    """Return a town."""
    u = rng.random()
    if u < 0.25:
        return pick(rng, "real towns")
    town = pick(rng, "town heads") + pick(rng, "town ends")
    if u > 0.85:
        town = (
            rng.choice(
                (
                    "Upper",
                    "Lower",
                    "Great",
                    "Little",
                    "Port",
                    "St.",
                    "Mount",
                    "Lake",
                    "Fort",
                    "West",
                    "North",
                )
            )
            + " "
            + town
        )
    elif u > 0.8:
        town += rng.choice(
            (
                " Heights",
                " Falls",
                " Springs",
                "-on-Sea",
                "-upon-Tarn",
                " Beach",
                " Park",
                " Junction",
            )
        )
    return town


def draw_street(rng: Random, country: str, split: str) -> str:
    """Return house number and street."""
    u = rng.random()
    name = (
        pick(rng, "street names")
        if u < 0.5
        else rng.choice(surnames(split))
        if u < 0.75
        else pick(rng, "town heads") + pick(rng, "town ends")
        if u < 0.9
        else f"{pick(rng, 'town heads')} {pick(rng, 'street names')}"
    )
    number = rng.randrange(1, 400) if rng.random() < 0.8 else rng.randrange(1000, 19999)
    if country == "de":
        return f"{name.replace(' ', '')}{rng.choice(('straße', 'str.', 'weg', 'gasse', 'allee', 'platz'))} {rng.randrange(1, 180)}{rng.choice(('', '', '', 'a', 'b'))}"
    if rng.random() < 0.12:
        return draw_odd_street(rng, name, number, split)
    if country == "us":
        compass = rng.choice(("", "", "", "", "N. ", "South ", "NW "))
        flat = rng.choice(
            ("", "", "", "", ", Apt 4B", ", Apt. 12", ", Suite 210", " #3", ", Unit 7")
        )
        return f"{number} {compass}{name} {pick(rng, 'street words us')}{flat}"
    flat = rng.choice(("", "", "", "Flat 2, ", "Flat 14B, ", "The Old Forge, ", "Rose Cottage, "))
    house = number if number < 400 else number % 100 + 1
    letter = rng.choice("ABab") if rng.random() < 0.1 else ""
    word = rng.choice((*LISTS["street words uk"], "Rd", "St", "Ave", "Cres"))
    return f"{flat}{house}{letter} {name} {word}"


def draw_odd_street(rng: Random, name: str, number: int, split: str) -> str:
    """Return an address line of another form than number, name and street word."""
    owner = rng.choice(surnames(split))
    return rng.choice(
        (
            f"{pick(rng, 'routes')} {rng.randrange(1, 90)}{rng.choice(('', f' Box {rng.randrange(10, 400)}'))}",
            f"{name} {rng.choice(('House', 'Farm', 'Cottage', 'Lodge', 'Court', 'Towers'))}, {pick(rng, 'street names')} {pick(rng, 'street words uk')}",
            f"Unit {rng.randrange(1, 40)}/{number} {name} {pick(rng, 'street words us')}",
            f"Plot {rng.randrange(1, 300)}, {owner} {pick(rng, 'streets of India')}",
            f"{rng.randrange(1, 90)}/{rng.randrange(1, 40)} {name} {pick(rng, 'streets of India')}",
            f"Block {rng.choice('ABCD')}, Flat {rng.randrange(1, 60)}, {name} {rng.choice(('House', 'Court', 'Point'))}",
            f"{number} rue {owner}",
            f"the corner of {name} and {pick(rng, 'street names')}",
            f"{pick(rng, 'street names')} {pick(rng, 'street words uk')}",
            f"Lot {rng.randrange(1, 90)}, {name} Trailer Park",
            f"{number} {rng.choice(('Calle', 'Avenida', 'Camino', 'Via', 'Heol', 'Rue'))} {name}",
        )
    )


def draw_postcode(rng: Random) -> str:
    """Return a UK postcode."""
    return f"{letters_of(rng, rng.randint(1, 2))}{rng.randrange(1, 30)} {rng.randrange(1, 9)}{letters_of(rng, 2)}"


def draw_region(rng: Random, country: str, town: str) -> str:
    """Return town with what follows it in an address."""
    if country == "de":
        return f"{rng.randrange(10000, 99999)} {town}"
    if country == "us":
        state = pick(rng, "states") if rng.random() < 0.85 else pick(rng, "state names")
        zipcode = digits(rng, 5) + (f"-{digits(rng, 4)}" if rng.random() < 0.1 else "")
        return f"{town}, {state} {zipcode}" if rng.random() < 0.85 else f"{town} {state} {zipcode}"
    u = rng.random()
    if u < 0.08:
        return f"{town}, Co. {pick(rng, 'counties')}"
    if u < 0.14:
        return f"{town} {rng.choice(('NSW', 'VIC', 'QLD', 'SA', 'WA', 'TAS'))} {digits(rng, 4)}"
    if u < 0.2:
        return f"{town} {rng.choice(('-', ''))} {digits(rng, 6)}".replace("  ", " ")
    return f"{town} {draw_postcode(rng)}" if u < 0.6 else f"{town}, {draw_postcode(rng)}"


def draw_hospital(rng: Random, country: str, split: str) -> str:
    """Return a hospital, clinic, surgery or home."""
    stem = rng.choice(
        (
            draw_town(rng),
            draw_town(rng),
            "St. " + pick(rng, "saints") + "'s",
            "St " + pick(rng, "saints") + "'s",
            "Saint " + pick(rng, "saints"),
            rng.choice(surnames(split)),
            rng.choice(
                (
                    "Mercy",
                    "Good Samaritan",
                    "Sacred Heart",
                    "Queen Alexandra",
                    "Bethesda",
                    "Providence",
                    "Lakeside",
                    "Hillcrest",
                )
            ),
        )
    )
    if country == "de":
        return rng.choice(
            (
                f"Klinikum {stem}",
                f"St.-{rng.choice(('Josefs', 'Marien', 'Elisabeth', 'Vinzenz'))}-Krankenhaus",
                f"Universitätsklinikum {stem}",
                f"Kreiskrankenhaus {stem}",
                f"Praxis {stem}",
            )
        )
    if rng.random() < 0.25:
        # As those speak who know it: Mercy General, Brigham's, Tidewater Behavioral.
        return rng.choice(
            (
                f"{stem} {pick(rng, 'hospitals as spoken')}",
                f"{stem} {pick(rng, 'hospitals as spoken')}",
                f"{stem} {pick(rng, 'hospitals as spoken')}",
                stem if stem.endswith("s") else f"{stem}'s",
                f"Royal {draw_town(rng)} {rng.choice(('Hospital', 'Infirmary', 'Free', ''))}".strip(),
                f"{pick(rng, 'brand heads')}{pick(rng, 'brand ends')} {pick(rng, 'hospitals as spoken')}",
                f"{pick(rng, 'trees')} {rng.choice(('Ward', 'Unit', 'Suite', 'Court', 'House', 'Lodge', 'Wing'))}",
                f"University Hospital of {draw_town(rng)}",
            )
        )
    return f"{stem} {pick(rng, 'hospitals us' if country == 'us' else 'hospitals uk')}"


def draw_employer(rng: Random, split: str) -> str:
    """Return a firm."""
    stem = rng.choice(
        (
            rng.choice(surnames(split)),
            draw_town(rng),
            rng.choice(surnames(split)) + " & " + rng.choice(surnames(split)),
            pick(rng, "town heads"),
        )
    )
    u = rng.random()
    end = pick(rng, "firm ends")
    if u < 0.5:
        return f"{stem} {pick(rng, 'trades')} {end}"
    if u < 0.8:
        return f"{stem} {end}"
    if u < 0.86:
        return f"{stem} {pick(rng, 'trades')}"
    if u < 0.92:
        brand = pick(rng, "brand heads") + rng.choice(
            (pick(rng, "brand ends"), pick(rng, "brand ends").lower())
        )
        return rng.choice((brand, f"{brand} {pick(rng, 'shops')}", f"{brand} {end}"))
    return f"{stem} {pick(rng, 'shops')}"


def draw_club(rng: Random, split: str) -> str:
    """Return a team, school, parish or club."""
    u = rng.random()
    if u < 0.3:
        return f"{draw_town(rng)} {pick(rng, 'teams')}"
    if u < 0.36:
        return f"{rng.choice(surnames(split))} {pick(rng, 'teams')}"
    if u < 0.42:
        town = draw_town(rng)
        return rng.choice(
            (
                f"University of {town}",
                f"HMP {town}",
                f"Friends of {town}",
                f"Church of St. {pick(rng, 'saints')}",
                f"{town} No. {rng.randrange(1, 9)} Lodge",
            )
        )
    if u < 0.8:
        return draw_school(rng, split)
    return f"St. {pick(rng, 'saints')}'s {pick(rng, 'parishes')}"


def draw_school(rng: Random, split: str) -> str:
    """Return a school."""
    stem = rng.choice(
        (draw_town(rng), rng.choice(surnames(split)), "St. " + pick(rng, "saints") + "'s")
    )
    return f"{stem} {pick(rng, 'schools')}"
