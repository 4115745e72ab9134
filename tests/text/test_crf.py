"""The trained voter: shipped small, trained the same way twice, modest without its library."""

from __future__ import annotations

import importlib.util
import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from letters import all_families, write_letters
from tacit.text.model import crf
from tacit.text.model import crf as calibration
from tacit.text.model.crf import load_describer
from tacit.text.reading.words import tokenise

pytest.importorskip("pycrfsuite")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("train_crf", ROOT / "scripts" / "train_crf.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_training_twice_gives_the_same_bytes(script, tmp_path):
    letters = script.training_letters(40, script.written_notes()[:5])
    script.train(tmp_path / "a", letters, rounds=5)
    script.train(tmp_path / "b", letters, rounds=5)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_training_uses_training_families_only(script):
    families = all_families()
    assert {families[d.name.rpartition("-")[0]].split for d in script.training_letters(60, [])} == {
        "train"
    }


def test_labels_lie_where_the_gold_is(script):
    document = write_letters(1, families=["referral_us"]).documents[0]
    tokens = tokenise(document.text)
    labels = script.label_tokens(document, tokens)
    for start, label in zip(tokens.starts, labels, strict=True):
        kinds = {s.kind for s in document.gold if s.start <= start < s.end}
        assert (label == crf.OUTSIDE) == (not kinds & set(crf.LABELS))


def test_isotonic_steps_by_hand(script):
    # Pooled: (0.1 wrong) | (0.2 right, 0.3 wrong) | (0.9 right), each share as (hits + 1/2) / (n + 1).
    steps = script.fit_steps([(0.1, False), (0.2, True), (0.3, False), (0.9, True)])
    assert steps == [[0.1, 0.25], [0.25, 0.5], [0.9, 0.75]]


def test_calibration_rises():
    for voter, knots in json.loads(calibration.TABLE.read_text(encoding="utf-8"))["voters"].items():
        assert all(a[0] < b[0] and a[1] <= b[1] for a, b in itertools.pairwise(knots)), voter
        assert all(0 <= y <= 1 for _, y in knots)
    assert crf.KINDS.keys() == set(crf.LABELS.values())


def test_the_model_is_small():
    assert crf.model_path("en").stat().st_size < 400_000


def test_a_plain_sentence():
    text = "Mrs. Adaeze Thornquist saw Dr. Lindgren on 4 May 2011 about her Parkinson's disease."
    found = {text[a:b]: (kind, p) for a, b, kind, p in crf.vote(tokenise(text)) if p >= 0.5}
    assert found["Adaeze Thornquist"][0] == "name"
    assert found["Lindgren"][0] == "name"
    assert found["4 May 2011"][0] == "date"
    assert not any("Parkinson" in words for words in found)


@pytest.mark.parametrize(
    "text", ["", " \n", "?", "1", "é", "a" * 10_000, "- \r\n" * 50, "\u0301x \ud7ff 𝒜da"]
)
def test_odd_texts(text):
    for start, end, kind, p in crf.vote(tokenise(text)):
        assert 0 <= start < end <= len(text)
        assert kind in crf.LABELS
        assert 0 <= p <= 1


def test_no_vote_without_model_or_library(monkeypatch):
    assert crf.vote(tokenise("Herr Schulz"), "xx") is None
    crf.read_model.cache_clear()
    monkeypatch.setattr(crf, "find_spec", lambda name: None)
    assert crf.vote(tokenise("Mr. Brown")) is None
    crf.read_model.cache_clear()


def test_threads_do_not_disturb_each_other():
    texts = [d.text for d in write_letters(40, seed=4).documents]
    alone = [crf.vote(tokenise(t)) for t in texts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda t: crf.vote(tokenise(t)), texts * 3))
    assert together == alone * 3


def test_features_do_not_depend_on_what_came_before():
    text = "Dr. Brown saw her.\nPLAN: REST\nNext: 4/5/99"
    fresh = load_describer("en").describe(tokenise(text))
    load_describer("en").describe(tokenise("something else, BROWN, plan"))
    assert load_describer("en").describe(tokenise(text)) == fresh
    assert len(fresh) == len(tokenise(text).words)


@pytest.mark.parametrize(
    ("label", "text", "expected"),
    [
        ("D", "4 May 1971", True),
        ("D", "May 1971", False),
        ("D", "5/1971", False),
        ("D", "25/30", False),
        ("D", "4/30", True),
        ("D", "30/4", True),
        ("D", "05/26/86", True),
        ("D", "110517", True),
        ("D", "0202", False),
        ("D", "Wednesday", True),
        ("I", "Batch", False),
        ("I", "B-77120", True),
        ("P", "ext 12", True),
        ("N", "IV", False),
        ("N", "Mary IV", True),
        ("A", "-", False),
    ],
)
def test_votes_that_cannot_be_are_not_cast(label, text, expected):
    assert crf.is_plausible(label, tokenise(text).words) is expected
