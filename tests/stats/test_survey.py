"""Survey estimates and combining rules: worked numbers, edge cases, brute force."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

from tacit.errors import InputError
from tacit.records.synthesis.synthetic_estimates import combine_copies, overlap_intervals
from tacit.stats.survey import (
    Sample,
    estimate_logit,
    estimate_means,
    estimate_regression,
    estimate_shares,
    estimate_totals,
)

FOLDER = Path(__file__).parents[1] / "fixtures" / "psd16-survey-weights-synthetic"
CASES = json.loads((FOLDER / "examples.json").read_text())


def case():
    c = CASES["design_based_estimators"]
    y, x, w = (np.array(c[k], dtype=float) for k in ("y", "x", "weight"))
    return y, x, Sample(w, np.array(c["stratum"])), c["expected"]


def test_published_estimates_to_the_digit():
    y, x, sample, want = case()
    mean = estimate_means(y, sample)
    assert mean.values[0] == pytest.approx(want["weighted_mean"], abs=1e-9)
    assert mean.variances[0] == pytest.approx(want["var_mean_stratified"], abs=1e-9)
    share = estimate_shares(y, [15.0], sample)
    assert share.values[0] == pytest.approx(want["share_above_15"], abs=1e-9)
    assert share.variances[0] == pytest.approx(want["var_share"], abs=1e-9)
    slope = estimate_regression(x, y, sample)
    assert slope.values == pytest.approx(want["wls_coef"], abs=1e-9)
    assert slope.variances == pytest.approx(want["wls_var"], abs=1e-9)


def test_totals_and_clusters_against_sums_written_out():
    y, _, sample, _ = case()
    clusters = np.arange(len(y)) // 2
    clustered = Sample(sample.weights, None, clusters)
    found = estimate_totals(y, clustered)
    parts = np.bincount(clusters, weights=sample.weights * y)
    k = len(parts)
    assert found.values[0] == pytest.approx(parts.sum())
    assert found.variances[0] == pytest.approx(k / (k - 1) * ((parts - parts.mean()) ** 2).sum())


def test_logit_agrees_with_its_estimating_equations():
    y, x, sample, _ = case()
    high = (y > 14).astype(float)
    found = estimate_logit(x, high, sample)
    p = 1 / (1 + np.exp(-(found.values[0] + found.values[1] * x)))
    score = sample.weights * (high - p)
    assert abs(score.sum()) < 1e-6
    assert abs(score @ x) < 1e-6
    assert (found.variances > 0).all()
    with pytest.raises(InputError, match="certainty"):
        estimate_logit(x, (x > 4.5).astype(float), sample)


def test_a_lonely_stratum_still_has_a_variance():
    sample = Sample(np.ones(3), np.array([0, 0, 1]))
    assert estimate_means(np.array([1.0, 2.0, 9.0]), sample).variances[0] > 0
    with pytest.raises(InputError, match="above 0"):
        Sample(np.array([1.0, 0.0]))


def test_combining_copies_of_a_partial_synthesis():
    c = CASES["partial_synthesis_combination"]
    found, want = combine_copies(c["q"], c["v"]), c["expected"]
    assert found.value == pytest.approx(want["q_bar"], abs=1e-9)
    assert found.between == pytest.approx(want["b_m"], abs=1e-9)
    assert found.within == pytest.approx(want["v_bar"], abs=1e-9)
    assert found.variance == pytest.approx(want["T_p"], abs=1e-9)
    assert found.freedom == pytest.approx(want["nu_p"], abs=1e-6)
    assert found.interval() == pytest.approx(want["ci95"], abs=1e-9)


def test_copies_that_agree_take_the_normal_quantile():
    c = CASES["combination_without_between_variance"]
    found = combine_copies(c["q"], c["v"])
    assert math.isinf(found.freedom)
    assert found.interval() == pytest.approx(c["expected"]["ci95"], abs=1e-9)


def test_edges_of_combining():
    certain = combine_copies([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])
    assert certain.freedom == 2
    full = combine_copies([1.0, 2.0, 3.0], [0.1, 0.1, 0.1], synthesis="full")
    assert full.variance == pytest.approx(4 / 3 * 1.0 - 0.1)
    assert full.freedom == pytest.approx(2 * (1 - 0.1 / (4 / 3)) ** 2)
    negative = combine_copies([1.0, 1.01, 1.02], [0.5, 0.5, 0.5], synthesis="full", ratio=2.0)
    assert negative.adjusted
    assert negative.variance == pytest.approx(1.0)
    for values, variances in (([1.0], [1.0]), ([1.0, 2.0], [1.0]), ([1.0, math.nan], [1.0, 1.0])):
        with pytest.raises(InputError, match="copies"):
            combine_copies(values, variances)


def test_overlap_of_the_intervals_of_table_1():
    with (FOLDER / "table1_youth_in_custody.csv").open() as file:
        rows = list(csv.DictReader(file))
    found = [
        overlap_intervals(
            (float(r["obs_lo"]), float(r["obs_hi"])), (float(r["syn_lo"]), float(r["syn_hi"]))
        )
        for r in rows
    ]
    by_hand = (0.1 / 0.2 + 0.1 / 0.2) / 2
    assert found[0] == pytest.approx(by_hand)
    assert min(found) > 0.45
    assert overlap_intervals((0, 1), (2, 3)) == -1.0
