"""The letters of the report and of the development set, by their own scoring rules."""

import json

import pytest

from tacit.text.engine import Settings, find_spans, replace_spans
from text.scoring import FIXTURES, letters, score

LETTERS = letters()


@pytest.mark.parametrize("name", LETTERS)
@pytest.mark.parametrize("settings", [Settings(), Settings(threshold=0.7, reduction=True)])
def test_every_reference_is_found_and_the_medicine_kept(name, settings):
    missed, violated, inside, changed, _ = score(LETTERS[name], settings)
    assert missed == []
    assert violated == []
    assert inside >= 0.9 * changed


@pytest.mark.parametrize("name", LETTERS)
def test_strict_keeps_what_must_be_kept(name):
    missed, violated, _, _, _ = score(LETTERS[name], Settings(strict=True))
    assert missed == []
    assert violated == []


def test_figure_22_properties():
    letter = LETTERS["figure-21"]
    text = letter["text"]
    found = find_spans(text, Settings())
    made = replace_spans(text, found, Settings(), b"key")
    assert made.startswith("February, 1994\n")
    assert "DOB 05/86\n" in made
    assert ", MA 02100\n" in made
    for span in letter["spans"]:
        assert span["text"] not in made
    for kept in letter["must_keep"]:
        assert kept["text"] in made
    assert made == replace_spans(text, found, Settings(), b"key")
    assert made != replace_spans(text, found, Settings(), b"other")


def test_histories_warn():
    first, second = json.loads((FIXTURES / "scrub_history.json").read_text())["texts"]
    found = find_spans(first["text"], Settings())
    assert found.spans == ()
    assert any("life events" in w for w in found.warnings)
    text = second["text"]
    found = find_spans(text, Settings())
    assert [text[s.start : s.end] for s in found.spans] == second["must_scrub"]
    assert any("public office" in w for w in found.warnings)
    flagged = [text[s.start : s.end] for s in found.uncertain if s.source == "public office"]
    assert flagged == second["must_flag"]
