"""The writer of letters in examples: repeatable, marked where they should be, split by family and vocabulary."""

from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from pathlib import Path

import pytest

from letters import all_families, names, write_letters
from letters.reading import NOTHING, read_shares, read_sheet
from letters.template import compile_rules
from tacit.data.corpus import SPAN_KINDS
from tacit.errors import InputError

FINGERPRINTS = Path(__file__).parents[1] / "fixtures" / "text" / "letters.json"


def fingerprint(family):
    """A hash over the first documents of two seeds, with all that is marked in them."""
    documents = [family.write(seed, number) for seed in (1, 2) for number in range(5)]
    facts = [
        (d.name, d.text, [repr(s) for s in (*d.gold, *d.keep)], dict(d.record)) for d in documents
    ]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def test_no_letter_changes_unnoticed():
    """A change of words or of draws is a change of what the voter is trained and measured on, and is to be meant."""
    known = json.loads(FINGERPRINTS.read_text(encoding="utf-8"))
    assert {name: fingerprint(f) for name, f in all_families().items()} == known


def test_equal_seeds_give_equal_letters():
    again = write_letters(60, seed=5)
    assert write_letters(60, seed=5) == again
    assert write_letters(60, seed=6) != again
    # A document depends on its family and number, not on how many are asked for.
    assert write_letters(30, seed=5).documents == again.documents[:30]


@pytest.mark.parametrize("family", sorted(all_families()))
def test_marks_stand_where_they_should(family):
    kinds = set()
    for document in write_letters(60, seed=2, families=[family]).documents:
        text = document.text
        for span in document.gold:
            marked = text[span.start : span.end]
            assert marked == marked.strip() != ""
            assert span.kind in SPAN_KINDS
            kinds.add(span.kind)
        ordered = sorted((*document.gold, *document.keep))
        gold = sorted(document.gold)
        assert all(a.end <= b.start for a, b in pairwise(gold))
        for span in document.keep:
            assert text[span.start : span.end].strip()
            assert not any(g.start < span.end and span.start < g.end for g in gold)
        assert not any(mark in text for mark in "{}"), text
        assert ordered
    if family not in {"eponyms", "guideline", "bedside_teaching", "headings_only"}:
        assert {"name", "date"} <= kinds
    else:
        assert not kinds


def test_there_are_enough_families_and_every_split_has_some():
    english = [f for f in all_families().values() if f.language == "en"]
    assert len(english) >= 15
    for split in ("train", "calibrate", "test"):
        assert sum(f.split == split for f in english) >= 4
        assert any(f.split == split and f.language == "de" for f in all_families().values())


def test_test_families_hold_names_that_training_never_has():
    def surnames(split):
        found = write_letters(400, seed=1, split=split).documents
        return {
            d.text[s.start : s.end].split()[-1] for d in found for s in d.gold if s.kind == "name"
        }

    test_only = {w for w in names.LISTS["surnames"] if names.vocabulary(w) == "test"}
    assert not test_only & surnames("train")
    assert len(test_only & surnames("test")) > 20


def test_looks_keep_places():
    carriage = [d for d in write_letters(3000, seed=1).documents if "\r\n" in d.text]
    assert carriage
    for document in carriage:
        for span in document.gold:
            assert "\n" not in document.text[span.start : span.end].strip("\n")[:1]
            assert document.text[span.start : span.end].strip()


def test_what_cannot_be_had_is_refused_in_a_sentence():
    with pytest.raises(InputError, match="no family 'nothing'"):
        write_letters(1, families=["nothing"])
    with pytest.raises(InputError, match="no split"):
        write_letters(1, split="validation")
    with pytest.raises(InputError, match="No family is left"):
        write_letters(1, families=["discharge"], split="test")
    with pytest.raises(InputError, match="negative"):
        write_letters(-1)


class Sink:
    """A page that only collects what is written on it."""

    def __init__(self):
        self.parts = []

    def add(self, text):
        self.parts.append(text)


def test_a_sheet_is_read_as_it_stands(tmp_path):
    file = tmp_path / "family.txt"
    file.write_text(
        "# A remark.\ntitle: Notes: short\nlooks: as written 0.75, caps 0.25\n\n"
        f"start\n    [a\\n\\tb\\s\n    # no remark\n    {NOTHING}\n\ntwo words\n    x y, z\n    w\n",
        encoding="utf-8",
    )
    sheet = read_sheet(file)
    assert sheet.facts == {"title": "Notes: short", "looks": "as written 0.75, caps 0.25"}
    assert sheet.rules()["start"] == ["[a\\n\\tb\\s", "# no remark", ""]
    assert sheet.lists()["two words"] == ["x y", "z", "w"]
    assert read_shares(sheet.facts["looks"]) == {"as written": 0.75, "caps": 0.25}


def test_backslashes_of_templates():
    (step,) = compile_rules({"start": [r"a\nb\tc\s\[d\<\\"]})["start"]
    page = Sink()
    step(page)
    assert "".join(page.parts) == "a\nb\tc [d<\\"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("    alone\n", "line 1: there is no head above"),
        ("start\n  two\n", "line 2: what belongs to a head stands four spaces in"),
        ("start\n    a\n\nstart\n    b\n", "line 4: 'start' is a head for the second time"),
        ("start\n\nend\n    b\n", "nothing stands below 'start'"),
    ],
)
def test_a_sheet_that_is_no_sheet_is_refused_by_its_line(tmp_path, text, said):
    file = tmp_path / "family.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        read_sheet(file)
