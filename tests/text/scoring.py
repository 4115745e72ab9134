"""The scoring rules of the development letters."""

import json
from contextlib import contextmanager
from pathlib import Path

from tacit.text import engine
from tacit.text.engine import Settings, find_spans

FIXTURES = Path(__file__).parents[1] / "fixtures" / "foundations-of-privacy"
WHOLE = {"NAME", "NICKNAME", "EMAIL", "PHONE", "ID", "URL"}


def letters():
    figure = json.loads((FIXTURES / "scrub_letter.json").read_text())
    dev = json.loads((FIXTURES / "scrub_dev_letters.json").read_text())["letters"]
    return {"figure-21": figure} | {x["id"]: x for x in dev}


DEFAULT = Settings()


def score(letter, settings=DEFAULT):
    """Return missed gold texts, violated keep texts, changed characters inside gold, changed characters."""
    text = letter["text"]
    spans = find_spans(text, settings).spans
    changed = {i for s in spans for i in range(s.start, s.end) if text[i].isalnum()}
    gold = set()
    missed = []
    for g in letter["spans"]:
        here = [i for i in range(g["start"], g["end"]) if text[i].isalnum()]
        gold.update(here)
        share = sum(i in changed for i in here) / len(here)
        if share < (1 if g["type"] in WHOLE else 0.9):
            missed.append(g["text"])
    violated = [
        k["text"]
        for k in letter["must_keep"]
        if any(i in changed for i in range(k["start"], k["end"]))
    ]
    return missed, violated, len(changed & gold), len(changed), spans


@contextmanager
def without_crf():
    """Leave the statistical voter out: its speed is measured elsewhere."""
    voter = engine.crf_voter
    engine.crf_voter = lambda: None
    try:
        yield
    finally:
        engine.crf_voter = voter
