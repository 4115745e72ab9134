"""People of one document: a patient, relatives, those who treat and write; and the ways in which texts name them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Literal

from letters import names

Sex = Literal["F", "M"]


@dataclass
class Person:
    """Somebody who does not exist."""

    first: str
    last: str
    middle: str
    sex: Sex
    entity: str
    #: What is special about the surname, or else about the first name; and about the first name alone.
    style: str = ""
    first_style: str = ""
    nick: str = ""
    title: str = ""
    relation: str = ""


@cache
def pools(split: str) -> dict[str, tuple[str, ...]]:
    """Return the names that documents of a split may use."""
    return {
        "F": names.for_split(names.LISTS["women"], split),
        "M": names.for_split(names.LISTS["men"], split),
        "F word": names.for_split(names.LISTS["women of words"], split),
        "M word": names.for_split(names.LISTS["men of words"], split),
        "last": names.for_split(names.LISTS["surnames"], split),
        "last word": names.for_split(names.LISTS["surnames of words"], split),
        "particle": names.for_split(names.LISTS["surnames with particles"], split),
    }


def draw_person(rng: Random, split: str, entity: str, last: str = "") -> Person:
    """Draw somebody; a relative may share a surname."""
    pool = pools(split)
    sex: Sex = "F" if rng.random() < 0.52 else "M"
    style = ""
    u = rng.random()
    if u < 0.11:
        first, style = rng.choice(pool[f"{sex} word"]), "ordinary word"
    elif u < 0.15:
        first, style = names.invent_first(rng), "rare"
    else:
        first = rng.choice(pool[sex])
        if rng.random() < 0.03:
            first += "-" + rng.choice(pool[sex]) if "-" not in first else ""
            style = "hyphen"
    first_style = style
    if not last:
        last, kind = draw_surname(rng, pool)
        style = kind or style
    middle = rng.choice("ABCDEFGHJKLMNPRSTVW") if rng.random() < 0.5 else rng.choice(pool[sex])
    nick = ""
    if first in names.NICKNAMES:
        nick = rng.choice(names.NICKNAMES[first])
    elif rng.random() < 0.4:
        nick = rng.choice(names.LISTS["pet names"])
    nick = nick or first[: rng.choice((3, 4))].rstrip("-")
    return Person(first, last, middle, sex, entity, style, first_style, nick)


def draw_surname(rng: Random, pool: dict[str, tuple[str, ...]]) -> tuple[str, str]:
    """Return a surname and what is special about it."""
    u = rng.random()
    if u < 0.52:
        return rng.choice(pool["last"]), ""
    if u < 0.66:
        return rng.choice(pool["last word"]), "ordinary word"
    if u < 0.77:
        return rng.choice(pool["particle"]), "particle"
    if u < 0.84:
        return rng.choice(pool["last"]) + "-" + rng.choice(pool["last"]), "hyphen"
    if u < 0.88:
        return rng.choice(pool["last"]) + " " + rng.choice(pool["last"]), "two surnames"
    return names.invent_surname(rng), "rare"


def misspell(rng: Random, name: str) -> str:
    """Return a name with one slip of the typist: letters swapped, doubled, dropped or wrong."""
    if len(name) < 4 or not name.isalpha():
        return name
    i = rng.randrange(1, len(name) - 1)
    u = rng.random()
    if u < 0.3:
        return name[:i] + name[i + 1] + name[i] + name[i + 2 :]
    if u < 0.55:
        return name[:i] + name[i] + name[i:]
    if u < 0.8:
        return name[:i] + name[i + 1 :]
    return name[:i] + rng.choice("aeiou" if name[i] in "aeiou" else "nmrtsl") + name[i + 1 :]


def say(person: Person, form: str, rng: Random) -> tuple[str, str]:
    """Return how a form of the name is written, and its style in a word."""
    p = person
    last, first = p.last, p.first
    style = p.first_style if form == "first" else p.style
    if form in {"full", "last", "first"} and rng.random() < 0.025:
        wrong = misspell(rng, last if form != "first" else first)
        if form == "first":
            first, style = wrong, "typo" if wrong != first else style
        else:
            last, style = wrong, "typo" if wrong != last else style
    match form:
        case "full":
            u = rng.random()
            if u < 0.12:
                return f"{first} {p.middle[0]}. {last}", style
            if u < 0.15:
                return f"{first} {p.middle} {last}", style
            if u < 0.20:
                return f"{first[0]}. {last}", "initial"
            if u < 0.22:
                return f"{first[0]} {last}", "initial"
            if u < 0.235:
                return f"{first} {last} {rng.choice(('Jr.', 'III', 'Jr', 'II'))}", style
            return f"{first} {last}", style
        case "plain":
            return f"{first} {last}", style
        case "first":
            if rng.random() < 0.03:
                return f"{first} {last[0].upper()}{rng.choice(('.', ''))}", "initial"
            return first, style
        case "last":
            return last, style
        case "caps":
            return f"{first} {last}".upper(), "all caps"
        case "LAST":
            return last.upper(), "all caps"
        case "listed":
            tail = first if rng.random() < 0.6 else f"{first} {p.middle[0]}"
            return (
                f"{last}, {tail}" if rng.random() < 0.5 else f"{last.upper()}, {tail}"
            ), "surname first"
        case "LISTED":
            return f"{last}, {first} {p.middle[0]}".upper(), "surname first"
        case "UKlisted":
            tail = rng.choice((f" {first}", f", {first}", f" {first[0]}", f", {first[0]}."))
            return last.upper() + tail, "surname first"
        case "init":
            u = rng.random()
            if u < 0.5:
                return f"{first[0]}. {last}", "initial"
            if u < 0.75:
                return f"{first[0]} {last}", "initial"
            return f"{first[0]}. {p.middle[0]}. {last}", "initial"
        case "initials":
            u = rng.random()
            if u < 0.6:
                return f"{first[0]}{p.middle[0]}{last[0]}".upper(), "initials"
            if u < 0.75:
                return f"{first[0]}{last[0]}".upper(), "initials"
            if u < 0.9:
                return f"{first[0]}.{last[0]}.".upper(), "initials"
            return f"{first[0]}.{p.middle[0]}.{last[0]}.".upper(), "initials"
        case "nick":
            return p.nick, "nickname"
    raise KeyError(form)
