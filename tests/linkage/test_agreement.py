"""Fellegi and Sunter: EM to the digit, thresholds, pattern counts and links against brute force."""

import itertools
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import FIXTURES
from tacit.errors import Approximate
from tacit.records.linkage import agreement
from tacit.records.linkage import candidate_pairs as _pairs
from tacit.records.linkage.agreement import (
    Comparison,
    assign_weighted_links,
    best_links,
    candidates,
    candidates_by_rule,
    count_new_patterns,
    count_patterns,
    pair_weights,
    pattern_numbers,
    random_patterns,
    scores,
    true_patterns,
)
from tacit.records.linkage.fellegi_sunter import (
    Model,
    Patterns,
    em,
    fit_informed_model,
    level_shares,
    make_em_start,
    zones,
)

FOLDER = FIXTURES / "psd20-mahalanobis-linkage"
EM = json.loads((FOLDER / "fellegi_sunter_em.json").read_text())
THREE = Comparison(((1.0,),) * 3, (True,) * 3)


@pytest.fixture(scope="module")
def fitted():
    patterns = Patterns(np.array(EM["patterns"]), np.array(EM["pair_counts"]))
    start = make_em_start(THREE.n_levels, EM["start"]["p"])
    assert [m[1] for m in start.m] == EM["start"]["m"]
    assert [u[1] for u in start.u] == pytest.approx(EM["start"]["u"])
    return patterns, em(patterns, start, tolerance=1e-12)


def test_em_to_the_digit(fitted):
    patterns, model = fitted
    expected = EM["estimates"]
    assert model.p == pytest.approx(expected["p"], abs=1e-8)
    assert [m[1] for m in model.m] == pytest.approx(expected["m"], abs=1e-8)
    assert [u[1] for u in model.u] == pytest.approx(expected["u"], abs=1e-8)
    assert model.loglik == pytest.approx(expected["loglik"], abs=1e-6)
    assert model.iterations == EM["iterations_at_tol_1e12"]
    assert model.pattern_weights(patterns.levels) == pytest.approx(EM["pattern_weights_log2"])
    assert model.posterior(patterns.levels) == pytest.approx(
        EM["pattern_match_probability"], abs=1e-8
    )


def test_thresholds(fitted):
    patterns, model = fitted
    expected = json.loads((FOLDER / "fellegi_sunter_thresholds.json").read_text())
    found = zones(model, patterns, expected["example"]["mu"], expected["example"]["lam"])
    assert patterns.levels[found.order].tolist() == expected["patterns_by_decreasing_weight"]
    assert found.false_match == pytest.approx(expected["cumulative_false_match_rate"], abs=1e-8)
    assert found.false_nonmatch == pytest.approx(
        expected["cumulative_false_nonmatch_rate_from_below"], abs=1e-8
    )
    weights = model.pattern_weights(patterns.levels)[found.order]
    assert found.upper == weights[1]  # two patterns within a false match rate of 0.01
    assert found.lower == weights[2]  # all others may be refused at 0.2: no possible links
    strict = zones(model, patterns, 0.001, 0.001)
    assert (strict.upper, strict.lower) == (weights[0], weights[5])
    nothing = zones(model, patterns, 0.0, 0.0)
    assert (nothing.upper, nothing.lower) == (np.inf, -np.inf)


def test_error_rates_with_missing_fields_are_shares():
    levels = np.array([[a, b] for a in (-1, 0, 1) for b in (-1, 0, 1)])
    model = Model(0.1, (np.array([0.2, 0.8]),) * 2, (np.array([0.9, 0.1]),) * 2)
    found = zones(model, Patterns(levels, np.arange(1, 10)), 0.5, 0.5)
    assert found.false_match[-1] == pytest.approx(1)
    assert found.false_nonmatch[0] == pytest.approx(1)


def test_em_raises_the_likelihood_every_step():
    rng = np.random.default_rng(0)
    patterns = Patterns(np.array(EM["patterns"]), rng.integers(1, 500, 8))
    logs = [em(patterns, make_em_start(THREE.n_levels, 0.1), limit=k).loglik for k in range(1, 30)]
    assert (np.diff(logs) >= -1e-9).all()


def test_missing_fields_are_left_out():
    levels = np.array([[1, 1], [1, -1], [0, 0], [-1, 0]])
    model = Model(0.1, (np.array([0.2, 0.8]),) * 2, (np.array([0.9, 0.1]),) * 2)
    assert model.pattern_weights(levels) == pytest.approx(
        [6, 3, 2 * np.log2(0.2 / 0.9), np.log2(0.2 / 0.9)]
    )
    fit = em(Patterns(levels, np.array([10, 10, 10, 10])), model, limit=100)
    assert 0 < fit.p < 1


def planted(rng, n=400):
    """Two files with 4 fields: numbers with small errors, a category, and some missing values."""
    a = np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 5, n)])
    b = a.copy()
    b[:, :3] += 0.03 * rng.normal(size=(n, 3))
    for x in (a, b):
        x[rng.random(x.shape) < 0.05] = np.nan
    return a, b


FOUR = Comparison(((0.5, 0.1), (0.1,), (0.1,), (0.0,)), (True, True, True, False))


def test_pattern_counts_are_those_of_all_pairs():
    a, b = planted(np.random.default_rng(1), 60)
    found = count_patterns(candidates(a, b), FOUR)
    left, right = np.repeat(a, len(b), axis=0), np.tile(b, (len(a), 1))
    numbers, counts = np.unique(pattern_numbers(left, right, FOUR), axis=0, return_counts=True)
    np.testing.assert_array_equal(found.levels, FOUR.levels(numbers))
    np.testing.assert_array_equal(found.counts, counts)
    assert found.counts.sum() == len(a) * len(b)


def test_blocks_limit_the_pairs():
    rng = np.random.default_rng(2)
    a, b = planted(rng, 80)
    block = (rng.integers(0, 4, 80), rng.integers(0, 5, 80))
    near = (rng.normal(size=80), rng.normal(size=80))
    near[0][3] = np.nan
    near[1][5] = np.nan
    made = candidates(a, b, block=block, near=near, within=0.7)
    allowed = (block[0][:, None] == block[1][None, :]) & (
        np.abs(near[0][:, None] - near[1][None, :]) <= 0.7
    )
    assert made.pairs == allowed.sum()
    for j in (0, 5, 40):
        assert made.holds(np.full(80, j)).tolist() == allowed[:, j].tolist()
    assert not made.holds(np.full(80, -1)).any()


@pytest.mark.parametrize("interpolated", [True, False])
def test_links_are_those_of_the_largest_weight(interpolated):
    rng = np.random.default_rng(3)
    a, b = planted(rng, 90)
    a[5], b[7] = a[4], b[6]  # equal records
    made = candidates(a, b)
    model = em(count_patterns(made, FOUR), make_em_start(FOUR.n_levels, 1 / 90))
    how = scores(model, FOUR, interpolated=interpolated)
    found = best_links(made, how)
    weight = np.stack([pair_weights(np.broadcast_to(x, b.shape), b, how) for x in a])
    best = weight.max(axis=1)
    tied = weight >= best[:, None] - 1e-9
    np.testing.assert_allclose(-found.distance, best)
    np.testing.assert_array_equal(found.ties, tied.sum(axis=1))
    np.testing.assert_array_equal(found.nearest, tied.argmax(axis=1))
    np.testing.assert_allclose(-found.second, np.sort(weight, axis=1)[:, -2])


def test_stepwise_weights_are_those_of_the_patterns():
    rng = np.random.default_rng(4)
    a, b = planted(rng, 200)
    model = make_em_start(FOUR.n_levels, 0.01)
    how = scores(model, FOUR, interpolated=False)
    levels = FOUR.levels(pattern_numbers(a, b, FOUR))
    np.testing.assert_allclose(pair_weights(a, b, how), model.pattern_weights(levels))


def test_interpolated_weights_fall_from_agreement_to_disagreement():
    one = Comparison(((0.1,),), (True,))
    model = make_em_start(one.n_levels, 0.1)
    how = scores(model, one, interpolated=True)
    low, high = model.weights[0]
    gaps = np.array([[0.0], [0.1], [0.2], [5.0]])
    expected = [high, (high + low) / 2, low, low]
    np.testing.assert_allclose(pair_weights(gaps, np.zeros((4, 1)), how), expected)


def test_the_true_pairs_are_found_by_em():
    rng = np.random.default_rng(5)
    a, b = planted(rng)
    made = candidates(a, b)
    patterns = count_patterns(made, FOUR)
    model = em(patterns, make_em_start(FOUR.n_levels, 1 / len(a)))
    assert model.p * len(a) == pytest.approx(1, rel=0.3)
    assert model.list_contrary_fields().tolist() == []
    found = best_links(made, scores(model, FOUR, interpolated=True))
    assert (found.nearest == np.arange(len(a))).mean() > 0.9
    own = true_patterns(a, b, np.arange(400), np.arange(400), FOUR)
    known = fit_informed_model(patterns, own, make_em_start(FOUR.n_levels, 0.1))
    for ours, real in zip(model.m, known.m, strict=True):
        np.testing.assert_allclose(ours, real, atol=0.1)


def test_u_from_random_pairs():
    rng = np.random.default_rng(6)
    a, b = planted(rng)
    everything = count_patterns(candidates(a, b), FOUR)
    start = make_em_start(FOUR.n_levels, 1 / 400)
    drawn = random_patterns(a, b, FOUR, 200_000, rng)
    u = level_shares(drawn, start)
    for ours, real in zip(u, level_shares(everything, start), strict=True):
        np.testing.assert_allclose(ours, real, atol=0.01)
    from dataclasses import replace

    fit = em(everything, replace(start, u=u), fixed_u=True)
    assert fit.u is u


def test_one_to_one_links():
    rng = np.random.default_rng(7)
    a, b = planted(rng, 50)
    b[1] = b[0]
    made = candidates(a, b)
    how = scores(make_em_start(FOUR.n_levels, 0.02), FOUR, interpolated=True)
    found, _ = assign_weighted_links(made, how, np.arange(50))
    assert len(set(found.nearest.tolist())) == 50
    weight = np.stack([pair_weights(np.broadcast_to(x, b.shape), b, how) for x in a])
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-weight)
    assert -found.distance.sum() == pytest.approx(weight[rows, columns].sum())


def test_one_to_one_respects_blocks():
    a = np.zeros((3, 1))
    block = (np.array([0, 0, 1]), np.array([0, 2, 2]))
    one = Comparison(((0.0,),), (False,))
    how = scores(make_em_start(one.n_levels, 0.1), one, interpolated=True)
    found, _ = assign_weighted_links(candidates(a, a, block=block), how, np.arange(3))
    assert sorted(found.nearest.tolist()) == [-1, -1, 0]


@pytest.mark.parametrize("fields", [15, 45])
@pytest.mark.parametrize("rules", [1, 2])
def test_patterns_that_occur_are_counted_however_many_there_could_be(fields, rules):
    """Brute force over all pairs; 45 fields need two words for the number of a pattern."""
    rng = np.random.default_rng(fields + rules)
    a, b = rng.integers(0, 3, (23, fields)) / 2, rng.integers(0, 3, (31, fields)) / 2
    for x in (a, b):
        x[rng.random(x.shape) < 0.1] = np.nan
    comparison = Comparison(((0.6, 0.1),) * fields, (True,) * fields)
    blocks = [(rng.integers(0, 2, 23), rng.integers(0, 2, 31)) for _ in range(rules)]
    made = candidates_by_rule(a, b, blocks)
    earlier = set()
    for rule, (ours, theirs) in zip(made, blocks, strict=True):
        every, new = Counter(), Counter()
        for i, j in itertools.product(range(23), range(31)):
            if ours[i] != theirs[j]:
                continue
            gaps = [abs(x - y) for x, y in zip(a[i], b[j], strict=True)]
            levels = tuple(
                -1 if np.isnan(gap) else int(gap <= 0.6) + int(gap <= 0.1) for gap in gaps
            )
            every[levels] += 1
            if (i, j) not in earlier:
                new[levels] += 1
        earlier |= {(i, j) for i in range(23) for j in range(31) if ours[i] == theirs[j]}
        for found, wanted in zip(count_new_patterns(rule, comparison), (every, new), strict=True):
            rows = map(tuple, found.levels.tolist())
            assert dict(zip(rows, found.counts.tolist(), strict=True)) == wanted


def test_too_many_patterns_that_occur_are_estimated_with_a_warning(monkeypatch):
    rng = np.random.default_rng(4)
    a = rng.normal(size=(60, 16))
    comparison = Comparison(((1.0,),) * 16, (True,) * 16)
    made = candidates(a, a + 0.1)
    whole = count_patterns(made, comparison)
    monkeypatch.setattr(agreement, "SEEN_LIMIT", 500)
    monkeypatch.setattr(agreement, "HELD", 60)
    with pytest.warns(Approximate, match="more than 500 agreement patterns occur"):
        found = count_patterns(made, comparison)
    assert 500 < len(found.counts) < len(whole.counts)
    assert found.counts.sum() == 3600
    share = [p.counts[p.levels[:, 0] == 1].sum() / p.counts.sum() for p in (found, whole)]
    assert share[0] == pytest.approx(share[1], abs=0.05)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 25), st.integers(2, 25))
def test_kernels_as_they_are_agree_with_compiled_ones(seed, n, m):
    rng = np.random.default_rng(seed)
    a, b = np.round(rng.normal(size=(n, 2)), 1), np.round(rng.normal(size=(m, 2)), 1)
    comparison = Comparison(((0.5, 0.1), (0.1,)), (True, True))
    made = candidates(a, b)
    out = np.zeros(2 * 4 * 3, dtype=np.int64)
    pairs = agreement._pairs_of(made, slice(None))
    _pairs.count_patterns(pairs, comparison.kernel_arrays(made.b), comparison.places, out)
    found = count_patterns(made, comparison)
    np.testing.assert_array_equal(out[out > 0], found.counts)
