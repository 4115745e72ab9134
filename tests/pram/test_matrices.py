"""Transition matrices: families, checks, compact forms, draws."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InputError, InvalidParameter, LowUtility
from tacit.records.pram import (
    Explicit,
    Mixture,
    band,
    blocks,
    equal,
    explicit,
    frequency,
    half_band,
    identity,
    parse,
    transition,
)
from tacit.records.pram import matrices as home
from tacit.records.pram.matrices import from_plain

FIXTURES = Path(__file__).parents[1] / "fixtures"
EXAMPLES = json.loads((FIXTURES / "psd17-pram-risk-utility" / "matrices.json").read_text())
ARGUS = json.loads((FIXTURES / "psd28-argus-software" / "pram.json").read_text())


@pytest.mark.parametrize("case", EXAMPLES["examples"], ids=lambda c: c["spec"])
def test_the_papers_matrices(case):
    found = parse(case["spec"], case.get("T", np.ones(len(case["matrix"])))).dense()
    assert found == pytest.approx(np.array(case["matrix"]), abs=1e-12)
    if "paper_rounded" in case:
        assert found.round(4) == pytest.approx(np.array(case["paper_rounded"]))


def test_mu_argus_parametrisation():
    stay, wanted = ARGUS["input"]["p_no_change"], ARGUS["expected"]
    full = equal(5, stay)
    assert full.dense() == pytest.approx(np.array(wanted["matrix_full"]), abs=1e-12)
    near = band(5, stay, 2)
    assert near.dense() == pytest.approx(np.array(wanted["matrix_bandwidth_1"]), abs=1e-12)
    counts = np.array(ARGUS["input"]["counts"])
    after = full.forward(counts)
    assert after == pytest.approx(wanted["expected_counts_after"], abs=1e-12)
    assert full.correct(after) == pytest.approx(wanted["unbiased_back_estimate"], abs=1e-12)


def test_experiments_of_the_paper_have_the_right_sizes():
    sizes = {"G": 2, "R1": 130, "Y": 89, "M": 8}
    for name, text in EXAMPLES["experiment"].items():
        if name.startswith("PRAM") or name == "R2":
            continue
        wanted = sizes.get(name) or sizes[name[0]]
        assert parse(text, np.arange(1, wanted + 1)).size == wanted


def test_rare_categories_get_more_in_a_frequency_matrix():
    p = frequency([1000, 500, 20, 5], 0.7).dense()
    assert p[0, 3] > p[0, 2] > p[0, 1]
    assert np.diag(p) == pytest.approx([0.7] * 4)
    assert p.sum(axis=1) == pytest.approx(np.ones(4))


def test_frequency_matrix_of_two_and_of_one_full_category():
    assert frequency([3, 9], 0.8).dense() == pytest.approx(equal(2, 0.8).dense())
    alone = frequency([7, 0, 0], 0.6).dense()
    assert alone[0] == pytest.approx([0.6, 0.2, 0.2])
    assert alone.sum(axis=1) == pytest.approx(np.ones(3))


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (lambda: explicit([[1.1, -0.1], [0, 1]]), "negative"),
        (lambda: explicit([[0.5, 0.5 + 2e-9], [0, 1]]), "sum to 1"),
        (lambda: explicit([[0.0, 1.0], [0.5, 0.5]]), "diagonal"),
        (lambda: explicit([[1.0, 0.0]]), "square"),
        (lambda: explicit([[1.0], [0.5, 0.5]]), "equal length"),
        (lambda: explicit([[np.nan, 1.0], [0.5, 0.5]]), "negative or unknown"),
        (lambda: equal(3, 0.0), "greater than 0"),
        (lambda: equal(3, 1.01), "at most 1"),
        (lambda: equal(3, [0.5, 0.5]), "one for each of 3"),
        (lambda: equal(1, 0.9), "single category"),
        (lambda: band(5, 0.6, 1), "bandwidth"),
        (lambda: band(5, 0.6, 6), "bandwidth"),
        (lambda: band(1, 0.6, 2), "at least two"),
        (lambda: half_band(1, 0.6), "at least two"),
        (lambda: frequency([0, 0, 0], 0.6), "not all 0"),
        (lambda: frequency([1, -1, 3], 0.6), "at least 0"),
        (lambda: parse("3Q(0.5)"), "cannot be read"),
        (lambda: parse("3E"), "cannot be read"),
        (lambda: parse("3E(a)"), "cannot be read"),
        (lambda: parse("3E(0.5)*"), "cannot be read"),
        (lambda: parse("3B(0.5)"), "cannot be read"),
        (lambda: parse("0E(0.5)"), "no categories"),
        (lambda: parse("3F(0.5)"), "needs the frequencies"),
        (lambda: parse("3E(0.5)", [1, 2]), "for 3 categories, and the variable has 2"),
        (lambda: parse("Block(3;1;2E(0.5))"), "announces 3 blocks and lists 2"),
        (lambda: from_plain({"form": "guess"}), "no form"),
        (
            lambda: from_plain(
                {"form": "mixture", "stay": [0.5], "weights": [[0.6]], "targets": [[1.0]]}
            ),
            "sum to 1",
        ),
    ],
)
def test_bad_matrices_are_refused_in_a_sentence(bad, sentence):
    with pytest.raises(InvalidParameter, match=sentence):
        bad()


def test_a_full_band_and_a_kept_single_category_are_allowed():
    assert band(4, 0.7, 4).dense() == pytest.approx(equal(4, 0.7).dense())
    assert parse("1E(1)").dense() == pytest.approx(np.eye(1))


def test_a_singular_matrix_draws_but_does_not_correct():
    flat = equal(3, 1 / 3)
    assert len(flat.draw(np.zeros(10, dtype=np.int64), np.random.default_rng(1))) == 10
    with pytest.raises(InputError, match="singular"):
        flat.correct(np.ones(3))


def test_an_ill_conditioned_matrix_warns():
    with pytest.warns(LowUtility, match="mostly noise"):
        equal(2, 0.5001).correct(np.ones(2))


@st.composite
def transitions(draw):
    """Return a matrix of some family, with frequencies."""
    n = draw(st.integers(2, 9))
    stay = draw(st.floats(0.35, 0.99))
    counts = np.array(draw(st.lists(st.integers(1, 500), min_size=n, max_size=n)), dtype=float)
    family = draw(st.sampled_from(["equal", "band", "half", "frequency", "blocks"]))
    if family == "equal":
        return equal(n, stay), counts
    if family == "band":
        return band(n, stay, draw(st.floats(1.01, n))), counts
    if family == "half":
        return half_band(n, stay), counts
    if family == "frequency":
        return frequency(counts, stay), counts
    return blocks([equal(n, stay), identity(1)]), np.append(counts, 3.0)


@given(transitions())
@settings(max_examples=60, deadline=None)
def test_rows_are_distributions_and_corrections_undo(case):
    matrix, counts = case
    p = matrix.dense()
    assert p.min() >= 0
    assert p.sum(axis=1) == pytest.approx(np.ones(len(p)), abs=1e-12)
    assert matrix.diagonal == pytest.approx(np.diag(p))
    assert matrix.forward(counts) == pytest.approx(p.T @ counts)
    assert matrix.backward(counts) == pytest.approx(p @ counts)
    if np.linalg.cond(p) < 500:
        assert matrix.correct(matrix.forward(counts)) == pytest.approx(counts, rel=1e-6, abs=1e-6)
        squares = np.linalg.inv(p) ** 2
        assert matrix.squared_inverse(counts) == pytest.approx(squares.T @ counts, rel=1e-6)
    again = from_plain(json.loads(json.dumps(matrix.plain())))
    assert again.dense() == pytest.approx(p, abs=1e-12)


@given(transitions())
@settings(max_examples=30, deadline=None)
def test_epsilon_is_the_largest_log_ratio(case):
    p = case[0].dense()
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log(p[:, None, :] / p[None, :, :])
    assert case[0].epsilon == pytest.approx(np.nanmax(ratios))


@pytest.mark.parametrize("n", [5, 40])
def test_compact_forms_equal_full_ones(n, monkeypatch):
    counts = np.random.default_rng(2).integers(1, 90, n).astype(float)
    full = [equal(n, 0.8), frequency(counts, 0.8)]
    banded = band(n, 0.8, 3)
    monkeypatch.setattr(home, "COMPACT_ABOVE", 1)
    monkeypatch.setattr(transition, "COMPACT_ABOVE", 1)
    for one, wanted in zip([equal(n, 0.8), frequency(counts, 0.8)], full, strict=True):
        p = wanted.dense()
        if not isinstance(one, Mixture):
            continue  # the most frequent category has more than the rest: no compact form
        assert one.dense() == pytest.approx(p)
        assert one.columns(slice(1, 4)) == pytest.approx(p[:, 1:4])
        assert one.diagonal == pytest.approx(np.diag(p))
        assert one.solve(counts) == pytest.approx(wanted.solve(counts))
        assert one.solve(np.outer(counts, [1, 2])) == pytest.approx(
            wanted.solve(np.outer(counts, [1, 2]))
        )
        assert one.squared_inverse(counts) == pytest.approx(wanted.squared_inverse(counts))
        assert one.epsilon == pytest.approx(wanted.epsilon)
        true = np.linalg.cond(p.T, 1)
        assert 0.3 * true < one.conditioned < 1.001 * true
        rows, columns = np.array([0, 2, 3]), np.array([1, 2, 0])
        assert one.at(rows, columns) == pytest.approx(p[rows, columns])
        assert from_plain(json.loads(json.dumps(one.plain()))).dense() == pytest.approx(p)
    thin = band(n, 0.8, 3)
    assert thin.dense() == pytest.approx(banded.dense())
    assert thin.solve(counts) == pytest.approx(banded.solve(counts))
    assert thin.at(np.array([0]), np.array([1])) == pytest.approx(banded.dense()[0, 1])
    assert 0.3 * np.linalg.cond(banded.dense().T, 1) < thin.conditioned
    assert thin.conditioned < 1.001 * np.linalg.cond(banded.dense().T, 1)


def test_a_large_singular_matrix_is_noticed(monkeypatch):
    monkeypatch.setattr(home, "COMPACT_ABOVE", 1)
    monkeypatch.setattr(transition, "COMPACT_ABOVE", 1)
    assert not Explicit(np.full((4, 4), 0.25)).conditioned < transition.SINGULAR
    assert not Mixture(np.zeros(3), np.ones((3, 1)), np.full((3, 1), 1 / 3)).conditioned < 1e12


@pytest.mark.parametrize(
    "text", ["6F(0.6)", "6B(0.5;3)", "6B(0.7;1.5)*", "Block(3;1;3E(0.6);2E(0.9))"]
)
def test_draws_have_the_probabilities_of_the_matrix(text):
    rng = np.random.default_rng(5)
    matrix = parse(text, [9, 1, 30, 4, 4, 12])
    p = matrix.dense()
    n = 40_000
    for k in range(6):
        drawn = np.bincount(matrix.draw(np.full(n, k), rng), minlength=6) / n
        assert (drawn[p[k] == 0] == 0).all()
        assert np.abs(drawn - p[k]).max() < 5 * np.sqrt(0.25 / n)


def test_draws_of_a_mixture_have_its_probabilities(monkeypatch):
    monkeypatch.setattr(home, "COMPACT_ABOVE", 1)
    monkeypatch.setattr(transition, "COMPACT_ABOVE", 1)
    rng = np.random.default_rng(6)
    matrix = frequency([40, 30, 20, 15, 10, 5], 0.6)
    assert isinstance(matrix, Mixture)
    n = 40_000
    for k in range(6):
        drawn = np.bincount(matrix.draw(np.full(n, k), rng), minlength=6) / n
        assert np.abs(drawn - matrix.dense()[k]).max() < 5 * np.sqrt(0.25 / n)


def test_thousands_of_categories_need_no_square_array():
    n = 200_000
    matrix = equal(n, 0.9)
    assert isinstance(matrix, Mixture)
    codes = np.arange(n)
    drawn = matrix.draw(codes, np.random.default_rng(1))
    assert 0.88 < (drawn == codes).mean() < 0.92
    counts = np.ones(n)
    assert matrix.correct(matrix.forward(counts)) == pytest.approx(counts)
