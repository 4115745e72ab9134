"""Levels of agreement between distinct values, against scoring every pair."""

import datetime as dt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA, JaroWinkler

from tacit.records.linkage import level_tables
from tacit.records.linkage.field_levels import soundex, spread_logarithms
from tacit.records.linkage.level_tables import compare_texts, find_slipped_dates, write_digits

NAMES = st.text(alphabet="abcABCäß 1", max_size=12)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(NAMES, min_size=1, max_size=25, unique=True),
    st.sampled_from(
        [("jaro_winkler", (0.6, 0.75, 0.9)), ("jaro_winkler", (0.8,)), ("edit", (3.0, 1.0))]
    ),
    st.integers(0, 99),
)
def test_no_pair_of_texts_is_lost(values, how, seed):
    by, limits = how
    rng = np.random.default_rng(seed)
    ours, theirs = (np.flatnonzero(rng.random(len(values)) < 0.7) for _ in range(2))
    table = compare_texts(values, ours, theirs, by, limits)
    for i in ours:
        for j in theirs:
            if i == j:
                expected = len(limits) + 1
            elif by == "edit":
                expected = sum(OSA.distance(values[i], values[j]) <= t for t in limits)
            else:
                expected = sum(
                    JaroWinkler.similarity(values[i], values[j]) >= t - 1e-12 for t in limits
                )
            assert table.look_up(np.array([float(i)]), np.array([float(j)])).tolist() == [expected]


def test_letters_leave_few_pairs_to_score():
    rng = np.random.default_rng(1)
    values = ["".join(rng.choice(list("abcdefghijklmnopqrst"), 7)) for _ in range(400)]
    every = np.arange(400)
    left, _ = level_tables.find_text_pairs(values, every, every, "jaro_winkler", 0.85)
    assert len(left) < 0.1 * 400 * 400


def test_winklers_example():
    """Winkler (1990): MARTHA and MARHTA 0.961, DWAYNE and DUANE 0.840, DIXON and DICKSONX 0.813."""
    values = ["MARTHA", "MARHTA", "DWAYNE", "DUANE", "DIXON", "DICKSONX"]
    every = np.arange(6)
    table = compare_texts(values, every, every, "jaro_winkler", (0.81, 0.83, 0.95))
    found = [table.look_up(np.array([float(i)]), np.array([float(i + 1)]))[0] for i in (0, 2, 4)]
    assert found == [3, 2, 1]


def test_slips_of_dates():
    days = [
        dt.date(1984, 5, 3),
        dt.date(1984, 3, 5),
        dt.date(1985, 5, 3),
        dt.date(1948, 5, 3),
        dt.date(1948, 3, 5),
    ]
    numbers = np.array([(d - dt.date(1970, 1, 1)).days for d in days])
    assert write_digits(numbers).tolist() == [19840503, 19840305, 19850503, 19480503, 19480305]
    left, right = find_slipped_dates(numbers[:1], numbers)
    assert set(left.tolist()) == {numbers[0]}
    assert set(right.tolist()) == set(numbers[1:4].tolist())


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Robert", "R163"),
        ("Rupert", "R163"),
        ("Tymczak", "T522"),
        ("Pfister", "P236"),
        ("Honeyman", "H555"),
        ("Ashcraft", "A261"),
        ("Lee", "L000"),
    ],
)
def test_soundex_of_the_national_archives(name, code):
    assert soundex(name) == code


def test_a_text_without_letters_has_no_sound():
    assert soundex("1984") is None


@settings(max_examples=100, deadline=None)
@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(0.001, 0.9))
def test_logarithms_tell_relative_differences(a, b, share):
    largest = max(abs(a), abs(b))
    if largest > 0 and min(abs(a) or 1, abs(b) or 1) > 1e-6:
        relative = abs(a - b) / largest
        if abs(relative - share) > 1e-6:
            gap = np.abs(np.diff(spread_logarithms(np.array([a, b]))))[0]
            assert (gap <= -np.log1p(-share)) == (relative <= share)
