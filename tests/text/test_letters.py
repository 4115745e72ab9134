"""Generated letters: repeatable, marked where they should be, and split by family and vocabulary."""

from __future__ import annotations

from itertools import pairwise

import pytest

import tacit.examples
from tacit.data.corpus import SPAN_KINDS
from tacit.errors import InputError
from tacit.examples.writing import all_families, names


def test_equal_seeds_give_equal_letters():
    again = tacit.examples.letters(60, seed=5)
    assert tacit.examples.letters(60, seed=5) == again
    assert tacit.examples.letters(60, seed=6) != again
    # A document depends on its family and number, not on how many are asked for.
    assert tacit.examples.letters(30, seed=5).documents == again.documents[:30]


@pytest.mark.parametrize("family", sorted(all_families()))
def test_marks_stand_where_they_should(family):
    kinds = set()
    for document in tacit.examples.letters(60, seed=2, families=[family]).documents:
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
        found = tacit.examples.letters(400, seed=1, split=split).documents
        return {
            d.text[s.start : s.end].split()[-1] for d in found for s in d.gold if s.kind == "name"
        }

    test_only = {w for w in names.SURNAMES if names.vocabulary(w) == "test"}
    assert not test_only & surnames("train")
    assert len(test_only & surnames("test")) > 20


def test_looks_keep_places():
    carriage = [d for d in tacit.examples.letters(3000, seed=1).documents if "\r\n" in d.text]
    assert carriage
    for document in carriage:
        for span in document.gold:
            assert "\n" not in document.text[span.start : span.end].strip("\n")[:1]
            assert document.text[span.start : span.end].strip()


def test_what_cannot_be_had_is_refused_in_a_sentence():
    with pytest.raises(InputError, match="no family 'nothing'"):
        tacit.examples.letters(1, families=["nothing"])
    with pytest.raises(InputError, match="no split"):
        tacit.examples.letters(1, split="validation")
    with pytest.raises(InputError, match="No family is left"):
        tacit.examples.letters(1, families=["discharge"], split="test")
    with pytest.raises(InputError, match="negative"):
        tacit.examples.letters(-1)
