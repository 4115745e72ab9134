import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import tacit
from tacit.errors import InputError, InvalidParameter
from tacit.records.swapping.rank_bounds import swap_posterior, window_bounds

FIXTURE = Path(__file__).parents[1] / "fixtures/psd10-method-combinations/rank_swap_bounds.json"
WORKED = json.loads(FIXTURE.read_text())


def test_worked_bounds():
    values = np.array(WORKED["masked_values"])
    low, high = window_bounds(values, WORKED["window"])
    assert low.tolist() == WORKED["expected_lower"]
    assert high.tolist() == WORKED["expected_upper"]
    result = tacit.RankBounds(percent=100 * WORKED["p"]).measure(tacit.read({"x": values}), seed=1)
    assert result.window == WORKED["window"]
    assert result.frame["lower"].to_list() == WORKED["expected_lower"]
    assert result.frame["upper"].to_list() == WORKED["expected_upper"]


def test_lognormal_example_of_the_paper():
    """Window 0.05 of 1000 ranks: [0.42, 0.58] holds the mass of 2 * 50 ranks."""
    mass = np.diff(stats.lognorm.cdf([0.42, 0.58], 1))[0]
    assert mass == pytest.approx(WORKED["lognormal_check"]["mass"])
    assert mass == pytest.approx(0.1, abs=0.001)
    x = stats.lognorm.ppf((np.arange(1000) + 0.5) / 1000, 1)
    middle = np.abs(x - 0.495).argmin()
    low, high = window_bounds(x, 50)
    assert [round(low[middle], 2), round(high[middle], 2)] == [0.42, 0.58]


@given(st.lists(st.integers(0, 8), min_size=1, max_size=40), st.integers(0, 12))
@settings(max_examples=60, deadline=None)
def test_bounds_hold_for_every_swap_within_the_window(values, window):
    ordered = np.sort(np.array(values, dtype=float))
    rng = np.random.default_rng(len(values) + window)
    shares = swap_posterior(len(ordered), window, 1, rng)
    assert (shares.sum(axis=1) == 1).all()
    original = np.arange(len(ordered)) + shares.argmax(axis=1) - window
    assert sorted(original.tolist()) == list(range(len(ordered)))
    low, high = window_bounds(ordered, window)
    assert (low <= ordered[original]).all()
    assert (ordered[original] <= high).all()


def test_originals_of_a_rank_swap_lie_within_the_published_window():
    x = np.random.default_rng(0).lognormal(size=500)
    data = tacit.read({"x": x})
    swapped = tacit.RankSwap(columns=["x"], percent=4).apply(data, seed=1)
    found = tacit.RankBounds(columns=["x"], percent=4).measure(swapped, original=data, seed=1)
    assert found.inside == 1
    narrower = tacit.RankBounds(columns=["x"], percent=1).measure(swapped, original=data, seed=1)
    assert narrower.inside < 1
    assert narrower.value >= found.value


def test_posterior_is_a_distribution_and_even_inside():
    posterior = swap_posterior(81, 10, 4000, np.random.default_rng(1))
    assert posterior.sum(axis=1) == pytest.approx(1)
    inside = np.delete(posterior[40], 10)
    assert inside.max() < 2.5 * inside.min()
    assert posterior[0, :11].sum() == 0  # the smallest can only have come from above
    assert posterior[-1, 11:].sum() == 0
    assert posterior[40, 10] < 0.01


def test_large_windows_are_simulated_on_a_coarser_scale():
    x = np.random.default_rng(0).normal(size=20_000)
    found = tacit.RankBounds(percent=5).measure(tacit.read({"x": x}), seed=1)
    assert found.window == 1000
    assert found.step == 20
    assert found.numbers["best guess of the rank, middle of the file"] < 0.002


def test_missing_values_and_bad_input():
    data = tacit.read({"x": [1.0, None, 3.0, 2.0]})
    found = tacit.RankBounds(percent=30).measure(data, seed=1)
    assert found.frame["record"].to_list() == [1, 3, 4]
    empty = tacit.read(pa.table({"x": pa.array([None, None], pa.float64())}))
    with pytest.raises(InputError, match="holds no value"):
        tacit.RankBounds(columns=["x"]).measure(empty, seed=1)
    with pytest.raises(InputError, match="no numeric column"):
        tacit.RankBounds().measure(tacit.read({"x": ["a"]}), seed=1)
    for percent in (0, 100.5):
        with pytest.raises(InvalidParameter, match="percent"):
            tacit.RankBounds(percent=percent)
