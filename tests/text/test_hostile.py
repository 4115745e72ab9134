"""Cut, shuffled and broken letters: no exception, valid places, and nothing accepted stays."""

from __future__ import annotations

import random

import pytest

from letters import write_letters
from tacit.text.engine import Settings, find_spans, replace_spans

ODD = [
    "\u0301",
    "\u200b",
    "ß",
    "İ",
    "ǅ",
    "ﬁ",
    "Ⅷ",
    "²",
    "٣",
    "\x00",
    "\u2028",
    "ı",
    "—",
    "\r\n",
    "\ufeff",
    "😀",
    "１２",
]
SETTINGS = (
    Settings(),
    Settings(threshold=0.7, reduction=True),
    Settings(strict=True),
    Settings(dates="shift"),
    Settings(mode="tag"),
    Settings(language="de"),
)


def check(text, settings):
    found = find_spans(text, settings)
    at = 0
    for s in found.spans:
        assert at <= s.start < s.end <= len(text)
        at = s.end
    assert all(0 <= s.start < s.end <= len(text) for s in found.uncertain)
    made = replace_spans(text, found, settings, b"key")
    rest = list(text)
    for s in found.spans:
        rest[s.start : s.end] = " " * (s.end - s.start)
    rest = "".join(rest)
    for s in found.spans:
        name = text[s.start : s.end]
        # Where the name stands once only, it is gone.
        if s.kind == "name" and len(name) > 6 and name not in rest:
            assert name not in made


def broken(text, rng):
    words = text.split(" ")
    turn = rng.randrange(6)
    if turn == 0:
        return text[rng.randrange(len(text)) :]
    if turn == 1:
        return " ".join(w for w in words if rng.random() < 0.7)
    if turn == 2:
        rng.shuffle(words)
        return " ".join(words[:120])
    if turn == 3:
        for _ in range(20):
            words.insert(rng.randrange(len(words) + 1), rng.choice(ODD))
        return " ".join(words)
    if turn == 4:
        return rng.choice((str.upper, str.lower, str.title, str.swapcase))(text)
    signs = list(text[:500])
    for _ in range(min(40, len(signs))):
        signs[rng.randrange(len(signs))] = rng.choice([*ODD, *".,:/-()'\"@ \n"])
    return "".join(signs)


@pytest.mark.parametrize("settings", SETTINGS)
def test_broken_letters(settings):
    rng = random.Random(7)
    letters = write_letters(24, seed=9, split="calibrate").documents
    for letter in letters:
        check(broken(letter.text, rng), settings)


def test_every_start_of_a_letter():
    text = write_letters(1, seed=4, split="calibrate").documents[0].text[:160]
    for end in range(len(text) + 1):
        check(text[:end], Settings())


@pytest.mark.parametrize(
    "text",
    ["", " ", "\n", "moved from Bath", "in Bath", "²", "juĺ 4", "Dr", "J.", "/", "a.b", ", MA"],
)
def test_short_texts(text):
    for settings in SETTINGS:
        check(text, settings)
