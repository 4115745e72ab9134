"""Two files of the same persons, one of them as people and offices write: who finds whom again.

The records are invented. Names are put together from syllables with a long tail of frequencies, as in a population;
the second file has typing errors, letters that sound alike, days and months exchanged, missing values, initials,
changed surnames and moves. :func:`attackers` are linkages from equality with one block to the best known attack.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

import tacit

STARTS = [
    "b",
    "br",
    "c",
    "ch",
    "d",
    "f",
    "g",
    "gr",
    "h",
    "j",
    "k",
    "kl",
    "l",
    "m",
    "n",
    "p",
    "pr",
    "r",
    "s",
    "sch",
    "st",
    "t",
    "tr",
    "v",
    "w",
]
VOWELS = ["a", "e", "i", "o", "u", "au", "ei", "ie", "oe", "ea"]
MIDDLES = [
    "l",
    "ll",
    "m",
    "mm",
    "n",
    "nn",
    "r",
    "rr",
    "s",
    "ss",
    "t",
    "tt",
    "ck",
    "d",
    "g",
    "b",
    "nd",
    "rt",
    "st",
]
ENDS = ["", "er", "mann", "son", "ski", "ez", "in", "a", "o", "ert", "ton", "ley", "sen", "ik"]


@dataclass(frozen=True)
class Dirt:
    """How often, by record, something is wrong in the second file."""

    typing: float = 0.12
    sound: float = 0.03
    swapped_date: float = 0.04
    wrong_digit: float = 0.03
    missing: float = 0.04
    new_surname: float = 0.04
    moved: float = 0.10
    initial: float = 0.02


def write_names(rng: np.random.Generator, size: int) -> list[str]:
    """Return different invented names."""
    found: dict[str, None] = {}
    while len(found) < size:
        name = rng.choice(STARTS) + rng.choice(VOWELS) + rng.choice(MIDDLES)
        if rng.random() < 0.5:
            name += rng.choice(VOWELS) + rng.choice(MIDDLES)
        found[(name + rng.choice(ENDS)).capitalize()] = None
    return list(found)


def draw(rng: np.random.Generator, values: list[str], n: int, tail: float) -> list[str]:
    """Return values with frequencies of a long tail."""
    share = 1.0 / (np.arange(len(values)) + 5.0) ** tail
    picked = rng.choice(len(values), size=n, p=share / share.sum())
    return [values[i] for i in picked]


def persons(n: int, seed: int = 1) -> dict[str, list[str | None]]:
    """Return a clean file."""
    rng = np.random.default_rng(seed)
    days = rng.integers(0, 31_000, n)
    born = (np.datetime64("1925-01-01") + days).astype(str).tolist()
    towns = write_names(rng, max(20, n // 120))
    town = rng.choice(len(towns), size=n)
    return {
        "first": draw(rng, write_names(rng, 900), n, 0.9),
        "last": draw(rng, write_names(rng, max(200, n // 8)), n, 0.8),
        "born": born,
        "sex": rng.choice(["f", "m"], n).tolist(),
        "town": [towns[i] for i in town],
        "zip": [f"{10_000 + 37 * i + z}" for i, z in zip(town, rng.integers(0, 4, n), strict=True)],
    }


def mistype(rng: np.random.Generator, text: str) -> str:
    """Return a text with one letter left out, doubled, replaced or exchanged with the next."""
    at = int(rng.integers(len(text)))
    letter = "abcdefghijklmnopqrstuvwxyz"[rng.integers(26)]
    match int(rng.integers(4)):
        case 0 if len(text) > 2:
            return text[:at] + text[at + 1 :]
        case 1:
            return text[:at] + text[at] + text[at:]
        case 2:
            return text[:at] + letter + text[at + 1 :]
        case _:
            return text[:at] + text[at : at + 2][::-1] + text[at + 2 :]


def soil(
    file: Mapping[str, list[str | None]], dirt: Dirt | None = None, seed: int = 2
) -> dict[str, list[str | None]]:
    """Return the file as somebody else has it."""
    dirt = dirt or Dirt()
    rng = np.random.default_rng(seed)
    out = {c: list(values) for c, values in file.items()}
    n = len(out["first"])
    others = {c: list(values) for c, values in file.items()}

    def chosen(share: float) -> list[int]:
        return np.flatnonzero(rng.random(n) < share).tolist()

    for column in ("first", "last"):
        for i in chosen(dirt.typing):
            out[column][i] = mistype(rng, str(out[column][i]))
        for i in chosen(dirt.sound):
            name = str(out[column][i])
            out[column][i] = name.replace("ei", "ie").replace("ck", "k").replace("ss", "s")
    for i in chosen(dirt.initial):
        out["first"][i] = str(out["first"][i])[:1]
    for i in chosen(dirt.new_surname):
        out["last"][i] = others["last"][int(rng.integers(n))]
    for i in chosen(dirt.moved):
        there = int(rng.integers(n))
        out["town"][i], out["zip"][i] = others["town"][there], others["zip"][there]
    for i in chosen(dirt.swapped_date):
        year, month, day = str(out["born"][i]).split("-")
        if int(day) <= 12:
            out["born"][i] = f"{year}-{day}-{month}"
    for i in chosen(dirt.wrong_digit):
        year, rest = str(out["born"][i])[:4], str(out["born"][i])[4:]
        out["born"][i] = f"{year[:3]}{rng.integers(10)}{rest}"
    for values in out.values():
        for i in chosen(dirt.missing):
            values[i] = None
    return out


def files(
    n: int, seed: int = 1, dirt: Dirt | None = None
) -> tuple[tacit.Microdata, tacit.Microdata]:
    """Return the intruder's file and the dirty one that stands for the release; row i is the same person."""
    clean = persons(n, seed)
    original = tacit.read({c: pa.array(v, type=pa.string()) for c, v in clean.items()})
    dirty = soil(clean, dirt, seed + 1)
    return original, original.replace({c: pa.array(v, type=pa.string()) for c, v in dirty.items()})


def attackers() -> dict[str, tacit.ProbabilisticLinkage]:
    """Return linkages from the weakest to the strongest."""
    columns = ["first", "last", "born", "sex", "town", "zip"]
    rules = [
        ["born"],
        [{"column": "last", "by": "soundex"}, {"column": "first", "by": "first", "letters": 1}],
        ["zip", "sex", {"column": "born", "by": "year"}],
    ]
    fuzzy = {
        "first": {"by": "jaro_winkler", "levels": [0.8, 0.9]},
        "last": {"by": "jaro_winkler", "levels": [0.8, 0.9]},
        "born": {"by": "date"},
        "town": {"by": "jaro_winkler", "levels": [0.9]},
        "zip": {"by": "edit", "levels": [1]},
        "sex": {},
    }
    make: Callable[..., tacit.ProbabilisticLinkage] = tacit.ProbabilisticLinkage
    return {
        "equality, one block": make(columns=[c for c in columns if c != "born"], block=["born"]),
        "equality, three rules": make(columns=columns, blocks=rules),
        "levels, three rules": make(comparisons=fuzzy, blocks=rules),
        "levels, three rules, rare names": make(
            comparisons=fuzzy, blocks=rules, term_frequencies=["first", "last", "town"]
        ),
    }
