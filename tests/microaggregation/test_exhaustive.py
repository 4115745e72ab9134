"""Proven optima: brute force, the two exact methods against each other, CASC files, refusals."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from microaggregation.casc import FIXTURES, as_groups, casc, partitions, quiet, sse
from tacit.errors import Approximate, Cancelled, InputError, LimitReached, SolverError
from tacit.records.microaggregation.grouping.loss import loss
from tacit.records.microaggregation.grouping.mdav_groups import mdav
from tacit.records.microaggregation.grouping.near import Space
from tacit.records.microaggregation.grouping.pairs import find_cheapest_pairing
from tacit.records.microaggregation.optimal_groups import (
    OptimalGroups,
    lower_bound,
    over_subsets,
)
from tacit.records.microaggregation.two_approximation import two_microaggregation

CASES = json.loads((FIXTURES / "psd12-two-microaggregation" / "small_cases.json").read_text())[
    "cases"
]
RNG = np.random.default_rng(0)


def best(x, k):
    return OptimalGroups(k=k).groups(x, RNG, quiet)


def matrices(low, high, p=2):
    return st.integers(low, high).flatmap(
        lambda n: arrays(
            np.float64, (n, p), elements=st.integers(0, 5).map(float) | st.floats(-3, 3, width=32)
        )
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_small_cases(case):
    x, expected = np.array(case["input"]["X"]), case["expected"]
    labels = best(x, 2)
    assert loss(x, labels).within == pytest.approx(expected["optimal_sse"], abs=1e-8)
    if "unique" in case["note"]:
        assert as_groups(labels) == set(map(tuple, expected["optimal_groups"]))


@given(matrices(4, 9), st.integers(2, 4))
@settings(max_examples=30, deadline=None)
def test_brute_force(x, k):
    if len(x) < k:
        return
    labels = best(x, k)
    least = min(
        (sse(x, groups) for groups in partitions(list(range(len(x))), k)),
        default=sse(x, [range(len(x))]),
    )
    assert loss(x, labels).within == pytest.approx(least, abs=1e-7)
    assert np.bincount(labels).min() >= k
    if len(x) > k:
        assert lower_bound(x, k) <= least + 1e-7


@given(matrices(4, 13))
@settings(max_examples=30, deadline=None)
def test_pairs_and_triples_are_the_same_optimum(x):
    d = Space.of_records(x)
    found = find_cheapest_pairing(d, "sse", quiet)
    assert found.proven
    assert found.value == pytest.approx(loss(x, over_subsets(d.squared, 2)).within, abs=1e-7)
    assert found.value == pytest.approx(loss(x, found.labels).within, abs=1e-7)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("eia600", 55.585062),
        ("census", 387.260676),
        pytest.param("tarragona", 955.773749, marks=pytest.mark.slow),
        pytest.param("eia10", 75.263241, marks=pytest.mark.slow),
    ],
)
def test_casc_files(name, value):
    x = casc(name)
    labels = best(x, 2)
    found = loss(x, labels).within
    assert found == pytest.approx(value, abs=1e-6)
    assert set(np.bincount(labels)) == {2, 3}
    assert lower_bound(x, 2) < found < loss(x, mdav(x, 2, rng=RNG, tick=quiet)).within
    close = two_microaggregation(x)
    assert close.bound <= found <= close.sse


def test_distances_are_computed_as_needed(monkeypatch):
    x = casc("eia600")
    kept = find_cheapest_pairing(Space.of_records(x), "sse", quiet)
    monkeypatch.setattr("tacit.records.microaggregation.grouping.near.KEPT", 10)
    space = Space.of_records(x)
    assert not len(space.squared)
    assert find_cheapest_pairing(space, "sse", quiet).value == pytest.approx(kept.value)


def test_one_column_is_solved_at_any_size():
    x = np.random.default_rng(5).lognormal(size=(3_000, 1))
    labels = best(x, 4)
    assert np.bincount(labels).min() >= 4
    assert loss(x, labels).within < loss(x, mdav(x, 4, rng=RNG, tick=quiet)).within


def test_eighteen_records_and_a_large_k():
    x = np.random.default_rng(6).normal(size=(18, 3))
    assert np.bincount(best(x, 9)).tolist() == [9, 9]
    assert best(x, 10).max() == 0


def test_too_large():
    x = np.ones((19, 2))
    with pytest.raises(LimitReached, match="up to 18 records when k is above 2; use mdav"):
        best(x, 3)
    with pytest.raises(LimitReached, match="up to 10,000 records"):
        best(np.ones((10_001, 2)), 2)
    with pytest.raises(InputError, match="at least 3 records"):
        best(np.ones((2, 2)), 3)


def test_time_can_run_out(monkeypatch):
    monkeypatch.setattr("tacit.records.microaggregation.grouping.pairs.Partition.proven", False)
    with pytest.warns(Approximate, match="per cent above the optimum"):
        best(casc("eia600")[:40], 2)


def test_the_last_program_can_be_stopped():
    def stop(message, share):
        if message == "whole groups":
            raise Cancelled

    with pytest.raises(Cancelled):
        find_cheapest_pairing(Space.of_records(casc("eia600")[:100]), "sse", stop)


def test_a_failed_warm_start_is_repeated(monkeypatch):
    from tacit.records.microaggregation.grouping import pairs as _pairs

    x = casc("eia600")[:120]
    expected = find_cheapest_pairing(Space.of_records(x), "sse", quiet).value
    solve, calls = _pairs.Highs.solve, []

    def failing(self, **options):
        calls.append(1)
        if len(calls) == 2:
            raise SolverError("unknown")
        return solve(self, **options)

    monkeypatch.setattr(_pairs.Highs, "solve", failing)
    assert find_cheapest_pairing(Space.of_records(x), "sse", quiet).value == pytest.approx(expected)


@pytest.mark.parametrize("far", [1e3, 1e5, 1e7])
def test_outliers_do_not_blur_the_rest(far):
    x = np.random.default_rng(8).normal(size=(200, 3))
    y = np.vstack([x, far * np.eye(3)[[0, 0]]])
    found = find_cheapest_pairing(Space.of_records(y), "sse", quiet)
    assert found.proven
    assert found.labels[-1] == found.labels[-2]
    assert loss(x, found.labels[:-2]).within == pytest.approx(loss(x, best(x, 2)).within)
