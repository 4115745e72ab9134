"""Names of many origins; every combination of them is invented.

Each name belongs to one of three vocabularies by a fixed hash, so that documents of the calibration and test families
hold names that no training document has.
"""

from __future__ import annotations

import zlib
from random import Random

from letters.reading import read_words

LISTS = read_words("names")
#: What people of a first name are called.
NICKNAMES = read_words("nicknames")
ONSETS, VOWELS, CODAS = LISTS["onsets"], LISTS["vowels"], LISTS["codas"]

#: Relative sizes of the three vocabularies in sixteenths: training, calibration, test.
SHARES = (9, 11)
SPLITS = ("train", "calibrate", "test")


def vocabulary(word: str) -> str:
    """Return which split a word belongs to; the same in every run."""
    bucket = zlib.crc32(word.encode()) % 16
    return SPLITS[0] if bucket < SHARES[0] else SPLITS[1] if bucket < SHARES[1] else SPLITS[2]


def for_split(words: list[str], split: str) -> tuple[str, ...]:
    """Return the words a split may use: its own, and outside training those of training too."""
    own = tuple(w for w in dict.fromkeys(words) if vocabulary(w) == split)
    if split == SPLITS[0]:
        return own
    seen = tuple(w for w in dict.fromkeys(words) if vocabulary(w) == SPLITS[0])
    # As many drawn from words never seen in training as from those seen.
    return own * max(1, round(len(seen) / max(1, len(own)))) + seen


def invent_surname(rng: Random) -> str:
    """Return a pronounceable surname that is in no list."""
    name = rng.choice(ONSETS) + rng.choice(VOWELS) + rng.choice(CODAS)
    if rng.random() < 0.35:
        name += rng.choice(VOWELS[:5]) + rng.choice(CODAS[:8])
    return name + (rng.choice(LISTS["endings"]) if rng.random() < 0.75 else rng.choice(VOWELS[:5]))


def invent_first(rng: Random) -> str:
    """Return a pronounceable first name that is in no list."""
    name = rng.choice(ONSETS) + rng.choice(VOWELS[:5]) + rng.choice(CODAS[:8])
    if rng.random() < 0.5:
        name += rng.choice(VOWELS[:5]) + rng.choice(CODAS[:8])
    return name + rng.choice(LISTS["first endings"])
