"""The simulations of Mitra, Reiter (2006): coverage by way of weighting under three designs, and swapping."""

import json
from pathlib import Path

import numpy as np
import pytest

from studies.weights_after_synthesis import (
    coverage_study,
    draw_clusters,
    draw_proportional,
    draw_stratified,
    swap_strata,
    swap_study,
)

FOLDER = Path(__file__).parents[1] / "fixtures" / "psd16-survey-weights-synthetic"
STORED = json.loads((FOLDER / "stratified_simulation.json").read_text())
#: The estimands that the stored simulation has: means, shares, and the regression of y2 on y1.
STORED_ONES = slice(0, len(STORED["estimands"]))


def median(found, way, part=slice(None)):
    return float(np.median(found.rates[way][part]))


def check_stratified(found):
    for way in ("obs", "rcal", "cpp"):
        assert 0.90 <= median(found, way, STORED_ONES) <= 0.99
    rcal = median(found, "rcal", STORED_ONES)
    assert median(found, "oldw", STORED_ONES) <= rcal - 0.2
    assert median(found, "unw", STORED_ONES) < 0.5
    assert 0.40 <= found.found_again <= 0.55


def test_strata_with_few_replications():
    found = coverage_study("stratified", 12, 3)
    assert len(found.names) == 22
    assert median(found, "rcal", STORED_ONES) > median(found, "unw", STORED_ONES) + 0.4
    assert 0.40 <= found.found_again <= 0.55


def test_sizes_and_clusters_with_few_replications():
    sizes = coverage_study("pps", 8, 3)
    assert len(sizes.names) == 21
    assert sizes.found_again <= 0.01
    assert sizes.median("rcal") > sizes.median("unw")
    clusters = coverage_study("two-stage", 4, 3)
    assert len(clusters.names) == 10
    assert clusters.median("rcal") > np.median(clusters.rates["unw"][:8])


@pytest.mark.parametrize(("rate", "unchanged"), [(0.05, 0.928), (0.5, 0.477), (1.0, 0.25)])
def test_swaps_leave_as_many_strata_as_stored(rate, unchanged):
    rng = np.random.default_rng(1)
    strata = np.repeat(np.arange(4), 250)
    stays = np.mean([(swap_strata(strata, rate, rng) == strata).mean() for _ in range(20)])
    assert stays == pytest.approx(unchanged, abs=0.02)
    assert STORED["swapping_reading"]["initiator_rule_unchanged_share"][str(rate)] == unchanged


@pytest.mark.slow
def test_strata_within_the_bands():
    check_stratified(coverage_study("stratified", 200, 1))


@pytest.mark.slow
def test_sizes_within_the_bands():
    found = coverage_study("pps", 200, 1)
    assert 0.90 <= found.median("rcal") <= 0.995
    assert found.found_again <= 0.01


@pytest.mark.slow
def test_clusters_within_the_bands():
    found = coverage_study("two-stage", 200, 1)
    for way in ("rcal", "cpp", "oldw"):
        assert 0.88 <= found.median(way) <= 0.99, way
    assert np.median(found.rates["unw"][:8]) < 0.5


@pytest.mark.slow
def test_coverage_falls_with_the_rate_of_swaps():
    medians = []
    for rate in (0.05, 0.3, 1.0):
        found, same = swap_study(rate, 60, 1)
        assert same
        medians.append(found.median("rcal"))
    assert medians == sorted(medians, reverse=True)
    assert medians[0] > medians[-1] + 0.3


def test_samplers_draw_what_they_say():
    rng = np.random.default_rng(2)
    strata = np.repeat([0, 1, 2], [100, 200, 700])
    rows, weights = draw_stratified(strata, 20, rng)
    assert len(set(rows)) == 60
    assert weights.sum() == pytest.approx(1000)
    sizes = rng.lognormal(3, 0.5, 500)
    hits = np.zeros(500)
    for _ in range(400):
        rows, weights = draw_proportional(sizes, 25, rng)
        assert len(rows) == 25
        hits[rows] += 1
    expected = 400 * 25 * sizes / sizes.sum()
    assert ((hits - expected) ** 2 / expected).sum() < 650
    clusters = np.repeat(np.arange(50), 20)
    rows, weights = draw_clusters(clusters, 10, 5, rng)
    assert len(rows) == 50
    assert weights.sum() == pytest.approx(1000)
