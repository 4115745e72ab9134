"""Invented words: pronounceable, of no list, the same for the same key and original."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterator

from tacit.text.reading.lexicon import Knowledge
from tacit.text.reading.words import listed

ONSETS = listed(
    "b bl br c ch cl cr d dr f fl fr g gl gr h j k kl l m n p pl pr r s sh sl st t th tr v w z"
)
VOWELS = listed("a e i o u a e o ai ea ou")
MIDDLES = listed("b d f g l m n r s t v ld lm ln nd ng rd rl rm rn sk st th rk lb nt")
ENDS = {
    "f": listed("a ia elle ina eth ela ora isa ena"),
    "m": listed("an or ard el in os ric en ald"),
    "u": listed("el en is er in ey an"),
    "last": listed(
        "ham ton ley wick den by ford well man ner ling son mer ster dale worth combe er ens"
    ),
}
#: Tries before a number is hung on: never seen to be needed.
TRIES = 200
#: Words within a phone number that stand for no letters of it.
EXTENSION = re.compile(r"\b(?:ext|extn|extension|x|dw|durchwahl|or|and|tel|fax)\b", re.IGNORECASE)


class Inventor:
    """Makes words from a key; remembers what it made in one document, so that two originals never share one."""

    def __init__(self, key: bytes, knowledge: Knowledge, present: frozenset[str]) -> None:
        self.key = key
        self.knowledge = knowledge
        #: Words of the text in lower case: no invented word is one of them, or holds one of four letters or more.
        self.present = present
        self.made: dict[tuple[str, str], str] = {}
        self.owners: dict[str, str] = {}

    def digest(self, *parts: str) -> bytes:
        """Return bytes that only the key's owner can compute."""
        return hmac.digest(self.key, "\x1f".join(parts).encode(), "sha256")

    def word(self, original: str, use: str) -> str:
        """Return the invented word for an original in lower case, as first name (f, m, u) or last name."""
        known = self.made.get((use, original))
        if known is not None:
            return known
        for turn in range(TRIES):
            word = spell(self.digest(use, original, str(turn)), use)
            if self.is_free(word, original):
                break
        else:
            word = f"{word}q"
        self.made[use, original] = word
        self.owners[word] = original
        return word

    def is_free(self, word: str, original: str) -> bool:
        """Return True for a word of no list and of no person in this text."""
        known = self.knowledge
        lists = (known.first, known.last, known.common, known.medical, known.drugs, known.places)
        listed = any(word in words for words in lists)
        if listed or word in self.present or self.owners.get(word, original) != original:
            return False
        return not (len(original) > 2 and (original in word or word in original))

    def digits(self, original: str, use: str) -> str:
        """Return a text of the same pattern: digits for digits, letters for letters, marks as they are."""
        kept = {i for found in EXTENSION.finditer(original) for i in range(*found.span())}
        # What is drawn again and again is short, so that a long run of digits takes linear time.
        drawn = original if len(original) <= 64 else self.digest(use, original).hex()
        for turn in range(TRIES):
            stream = self.stream(use, drawn, str(turn))
            made = []
            for place, c in enumerate(original):
                if place in kept and use == "phone":
                    made.append(c)
                elif c.isdigit():
                    first = place == 0 or not original[place - 1].isdigit()
                    n = next(stream)
                    lead = "0" if c == "0" else str(n % 9 + 1)
                    made.append(lead if first else str(n % 10))
                elif c.isalpha():
                    letter = "ABCDEFGHJKLMNPRSTUVWXYZ"[next(stream) % 23]
                    made.append(letter if c.isupper() else letter.lower())
                else:
                    made.append(c)
            result = "".join(made)
            if result != original:
                return result
        return result

    def stream(self, *parts: str) -> Iterator[int]:
        """Yield bytes without end."""
        turn = 0
        while True:
            yield from self.digest("stream", *parts, str(turn))
            turn += 1


def spell(seed: bytes, use: str) -> str:
    """Return a pronounceable word of two or three syllables from bytes."""
    onset = ONSETS[seed[0] % len(ONSETS)]
    vowel = VOWELS[seed[1] % len(VOWELS)]
    middle = MIDDLES[seed[2] % len(MIDDLES)]
    more = ""
    if seed[3] % 3 == 0 or (use == "last" and seed[3] % 2):
        more = VOWELS[seed[4] % 5] + MIDDLES[seed[5] % 11]
    ends = ENDS[use]
    return onset + vowel + middle + more + ends[seed[6] % len(ends)]


def like_case(word: str, original: str) -> str:
    """Return a word in the case of the original: MOSS, Moss, moss."""
    if original.isupper() and len(original) > 1:
        return word.upper()
    return word.capitalize() if original[:1].isupper() else word
