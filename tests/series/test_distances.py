"""Distances of series: the published example, the computed ones to the digit, and their identities."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InputError, SdcWarning
from tacit.series import (
    Distance,
    Panel,
    all_distances,
    correlation,
    correlation_distance,
    dtw,
    edit_distance,
    hamming,
    least_ratio,
    minkowski,
    paired_distances,
    sts,
)

FOLDER = Path(__file__).parents[1] / "fixtures" / "psd18-time-series-reidentification"
FOOD = json.loads((FOLDER / "food_prices.json").read_text())
COMPUTED = json.loads((FOLDER / "distances_food.json").read_text())
UNEVEN = COMPUTED["uneven_times"]


def series(pair):
    x, v = (np.array(FOOD["raw"][name], dtype=float) for name in pair["series"])
    if pair["scale"] != "raw":
        x, v = ((y - y.mean()) / y.std() for y in (x, v))
    return x, v


def exactly(value):
    return pytest.approx(value, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("pair", COMPUTED["pairs"])
def test_every_computed_distance(pair):
    x, v = series(pair)
    for q, value in pair["minkowski"].items():
        assert minkowski(x, v, float(q)) == exactly(value)
    assert sts(x, v) == exactly(pair["sts_unit_steps"])
    assert sts(x, v, UNEVEN) == exactly(pair["sts_uneven_times"])
    assert correlation(x, v) == exactly(pair["pearson_cc"])
    for beta, value in pair["d_cc_1"].items():
        assert correlation_distance(x, v, float(beta)) == exactly(value)
    found = dtw(x, v)
    assert found.cost == exactly(pair["dtw_squared_cost"])
    assert found.root == exactly(pair["dtw_sqrt"])
    assert found.length == pair["dtw_K"]
    assert found.per_step == exactly(pair["dtw_sqrt_over_K"])
    assert [[i + 1, j + 1] for i, j in found.path] == pair["dtw_path_1based"]


@pytest.mark.parametrize("pair", COMPUTED["pairs"])
def test_the_same_from_panels(pair):
    x, v = series(pair)
    for times, key in ((None, "sts_unit_steps"), (UNEVEN, "sts_uneven_times")):
        a, b = Panel.of(x[None], times), Panel.of(v[None], times)
        assert all_distances(a, b, Distance("sts"))[0, 0] == exactly(pair[key])
    wanted = {
        Distance("correlation2"): pair["d_cc_2"],
        Distance("dtw"): pair["dtw_sqrt"],
        Distance("dtw", root=False): pair["dtw_squared_cost"],
        Distance("dtw", per_step=True): pair["dtw_sqrt_over_K"],
        **{Distance(q=float(q)): value for q, value in pair["minkowski"].items()},
        **{Distance("correlation", beta=float(b)): d for b, d in pair["d_cc_1"].items()},
    }
    for distance, value in wanted.items():
        assert all_distances(a, b, distance)[0, 0] == exactly(value), distance
        assert paired_distances(a, b, distance)[0] == exactly(value), distance


def test_the_published_warping_is_the_plain_cost_of_raw_goals():
    goals = json.loads((FOLDER / "dtw_goals.json").read_text())
    barcelona, madrid = goals["barcelona_goals"], goals["real_madrid_goals"]
    found = dtw(barcelona, madrid)
    assert found.cost == goals["recomputed_squared_cost"] == 2013
    assert found.length == goals["path_length"]
    # The source of the paper differs from public match results: one goal in one season gives 2021.
    other = barcelona.copy()
    other[goals["seasons"].index("2001-02")] = 64
    assert dtw(other, madrid).cost == goals["published_dtw"] == 2021


def test_series_of_different_lengths():
    case = json.loads((FOLDER / "dtw_unequal.json").read_text())
    found = dtw(case["x"], case["v"])
    assert found.cost == case["squared_cost"]
    assert found.length == case["K"]
    assert [[i + 1, j + 1] for i, j in found.path] == case["path_1based"]
    assert dtw(case["x"], case["v"], window=2).cost == 2
    with pytest.raises(InputError, match="the window must be at least the difference"):
        dtw(case["x"], case["v"], window=1)


def paths(n, m):
    """All alignments, by brute force."""

    def walk(path):
        i, j = path[-1]
        if (i, j) == (n - 1, m - 1):
            yield path
        for step in ((i + 1, j + 1), (i + 1, j), (i, j + 1)):
            if step[0] < n and step[1] < m:
                yield from walk([*path, step])

    return walk([(0, 0)])


short = st.lists(st.integers(-4, 4), min_size=1, max_size=4)


@given(short, short)
@settings(max_examples=40, deadline=None)
def test_warping_against_all_alignments(x, v):
    costs = [(sum((x[i] - v[j]) ** 2 for i, j in p), len(p)) for p in paths(len(x), len(v))]
    assert dtw(x, v).cost == min(c for c, _ in costs)
    assert least_ratio(x, v) == pytest.approx(min(c**0.5 / k for c, k in costs))
    assert least_ratio(x, v) <= dtw(x, v).per_step + 1e-12
    for window in range(abs(len(x) - len(v)), 4):
        inside = [
            sum((x[i] - v[j]) ** 2 for i, j in p)
            for p in paths(len(x), len(v))
            if all(abs(i - j) <= window for i, j in p)
        ]
        assert dtw(x, v, window).cost == min(inside)


def test_a_window_of_nothing_is_the_euclidean_distance():
    x, v = np.random.default_rng(0).normal(size=(2, 12))
    assert dtw(x, v, window=0).root == pytest.approx(minkowski(x, v))


def test_correlation_of_constant_and_opposite_series():
    flat, up, down = [0.1, 0.1, 0.1], [1.0, 2.0, 3.0], [3.0, 2.0, 1.0]
    assert correlation(flat, up) == 0
    assert correlation_distance(flat, up) == 1
    assert correlation_distance(up, down) > 1e15
    a, b = Panel.of([flat, up, down]), Panel.of([flat, up, down])
    found = all_distances(a, b, Distance("correlation2"))
    assert found == pytest.approx(np.sqrt([[2, 2, 2], [2, 0, 4], [2, 4, 0]]), abs=1e-7)
    assert all_distances(a, b, Distance("correlation"))[0] == pytest.approx([1, 1, 1])


@pytest.mark.parametrize("combine", ["sum", "rss", "max"])
def test_several_series_are_put_together(combine):
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 5, 3, 6))
    weights = (2.0, 0.0, 0.5)
    found = all_distances(Panel.of(a), Panel.of(b), Distance(q=3, combine=combine, weights=weights))
    for i, j in itertools.product(range(5), range(5)):
        d = [minkowski(a[i, s], b[j, s], 3) for s in range(3)]
        wanted = {
            "sum": sum(w * x for w, x in zip(weights, d, strict=True)),
            "rss": np.sqrt(sum(w * x * x for w, x in zip(weights, d, strict=True))),
            "max": max(w * x for w, x in zip(weights, d, strict=True)),
        }
        assert found[i, j] == pytest.approx(wanted[combine])


BAD = {
    "the exponent q of a Minkowski distance must be at least 1": {"q": 0.5},
    "the exponent beta of a correlation distance": {"beta": 0.0},
    "the window must be at least 0": {"window": -1},
    "weights of series must not be negative": {"weights": (-1.0, 2.0)},
    "not all 0": {"weights": (0.0, 0.0)},
}


@pytest.mark.parametrize("sentence", BAD)
def test_bad_parameters(sentence):
    with pytest.raises(InputError, match=sentence):
        Distance(**BAD[sentence])


def test_series_that_cannot_be_compared():
    three, ragged = Panel.of([[1, 2, 3], [2, 3, 4]]), Panel.of([[1, 2, 3], [2, 3]])
    for kind in ("minkowski", "sts", "correlation", "correlation2"):
        with pytest.raises(InputError, match="needs series of equal length; use dtw, or resample"):
            all_distances(three, ragged, Distance(kind))
    assert all_distances(three, ragged, Distance("dtw")).shape == (2, 2)
    with pytest.raises(InputError, match="the window must be at least 1"):
        all_distances(three, ragged, Distance("dtw", window=0))
    with pytest.raises(InputError, match="different numbers of series"):
        all_distances(three, Panel.of(np.ones((2, 2, 3))), Distance())
    with pytest.raises(InputError, match="one for each series"):
        all_distances(three, three, Distance(weights=(1.0, 1.0)))
    with pytest.raises(InputError, match="missing values; interpolate"):
        all_distances(three, Panel.of([[1, np.nan, 3.0]]), Distance())
    with pytest.raises(InputError, match="at least two points"):
        all_distances(Panel.of([[1.0], [2.0]]), Panel.of([[1.0]]), Distance("sts"))
    with pytest.raises(InputError, match="both files need as many"):
        paired_distances(three, Panel.of([[1, 2, 3]]), Distance())
    with pytest.warns(SdcWarning, match="fewer than three points"):
        all_distances(Panel.of([[1.0, 2.0]]), Panel.of([[1.0, 2.0]]), Distance("correlation"))


def plain_edit(x, v):
    if not x or not v:
        return len(x) + len(v)
    return min(
        plain_edit(x[1:], v[1:]) + (x[0] != v[0]),
        plain_edit(x[1:], v) + 1,
        plain_edit(x, v[1:]) + 1,
    )


letters = st.text("abc", max_size=5)


@given(letters, letters)
@settings(max_examples=60, deadline=None)
def test_edit_distance(x, v):
    assert edit_distance(x, v) == plain_edit(x, v)
    if len(x) == len(v):
        assert edit_distance(x, v) <= hamming(x, v)


def test_sequences_of_categories():
    assert hamming(["single", "married"], ["single", "divorced"]) == 1
    assert edit_distance("kitten", "sitting") == 3
    with pytest.raises(InputError, match="equal length"):
        hamming("ab", "abc")
