"""Frontier and choice against brute force."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tacit.rumap import Point, RUMapResult, combine
from tacit.rumap.frontier import knee, pareto

import tacit
from tacit.errors import Infeasible, InputError, InvalidParameter

small = st.integers(0, 6).map(float)
maybe = st.one_of(small, st.just(math.nan), st.just(math.inf))
clouds = st.lists(st.tuples(maybe, st.one_of(small, st.just(math.nan))), max_size=14)


def ru(pairs, **options):
    points = [Point("m", str(i), {"i": i}, r, u) for i, (r, u) in enumerate(pairs)]
    return RUMapResult.from_points(points, **options)


def beaten(a, others, sign=1):
    return any(
        b[0] <= a[0] and sign * b[1] >= sign * a[1] and (b[0] < a[0] or sign * b[1] > sign * a[1])
        for b in others
    )


@settings(deadline=None, max_examples=150)
@given(clouds, st.sampled_from([1, -1]))
def test_the_frontier_is_what_no_other_point_beats(pairs, sign):
    known = [p for p in pairs if not any(map(math.isnan, p))]
    wanted = sorted(
        str(i) for i, p in enumerate(pairs) if p in known and not beaten(p, known, sign)
    )
    found = ru(pairs, higher_utility_is_better=sign > 0).frontier
    assert sorted(p.label for p in found) == wanted
    assert [p.risk for p in found] == sorted(p.risk for p in found)


@settings(deadline=None, max_examples=150)
@given(clouds, st.one_of(st.none(), small), st.one_of(st.none(), small))
def test_the_choice_under_a_cap_is_the_best_allowed(pairs, cap, floor):
    if cap is None and floor is None:
        cap = 3.0
    allowed = [
        p
        for p in pairs
        if not any(map(math.isnan, p))
        and (cap is None or p[0] <= cap)
        and (floor is None or p[1] >= floor)
    ]
    result = ru(pairs, max_risk=cap, min_utility=floor)
    if not allowed:
        with pytest.raises(Infeasible):
            result.choose()
        assert result.chosen is None
        return
    chosen = result.choose()
    if cap is not None:
        best = max(p[1] for p in allowed)
        assert (chosen.utility, chosen.risk) == (best, min(r for r, u in allowed if u == best))
    else:
        least = min(p[0] for p in allowed)
        assert (chosen.risk, chosen.utility) == (least, max(u for r, u in allowed if r == least))
    assert chosen in result.frontier


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(small, small), min_size=1, max_size=12), st.floats(0, 1))
def test_the_weighted_choice_has_the_best_score(pairs, weight):
    r, u = np.array(pairs).T

    def unit(v):
        return (v - v.min()) / (np.ptp(v) or 1)

    score = (1 - weight) * unit(u) - weight * unit(r)
    chosen = ru(pairs).choose(weight=weight)
    assert score[int(chosen.label)] == pytest.approx(score.max(), abs=1e-9)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(small, small), min_size=1, max_size=12))
def test_the_knee_is_farthest_from_the_chord(pairs):
    risk, utility = np.array(pairs).T
    front = pareto(risk, utility)
    ends = np.array([[risk[i], utility[i]] for i in (front[0], front[-1])])
    spread = np.where(np.ptp(ends, axis=0) > 0, np.ptp(ends, axis=0), 1)

    def distance(i):
        x, y = (np.array([risk[i], utility[i]]) - ends[0]) / spread
        return (y - x) / math.sqrt(2)  # signed distance from the chord (0, 0)-(1, 1)

    found = knee(risk, utility)
    assert found in front
    assert distance(found) == pytest.approx(max(distance(i) for i in front), abs=1e-9)


def test_a_known_knee():
    result = ru([(0.0, 0.0), (0.1, 0.8), (0.5, 0.9), (1.0, 1.0)])
    assert result.choose().label == "1"
    assert result.choose(knee=True, max_risk=0.05).label == "0"
    assert result.choose(weight=0).label == "3"
    assert result.choose(weight=1).label == "0"


def test_caution_uses_the_unfavourable_ends():
    points = [
        Point("a", "1", {}, 0.04, 0.9, risk_interval=(0.01, 0.07)),
        Point("a", "2", {}, 0.03, 0.8, risk_interval=(0.02, 0.04)),
    ]
    result = RUMapResult.from_points(points, max_risk=0.05)
    assert result.choose().label == "1"
    assert result.choose(cautious=True).label == "2"
    points = [
        Point("a", "1", {}, 0.1, 0.9, utility_interval=(0.6, 1.2)),
        Point("a", "2", {}, 0.2, 0.8, utility_interval=(0.75, 0.85)),
    ]
    assert RUMapResult.from_points(points, min_utility=0.7).choose(cautious=True).label == "2"


def test_infinite_risk_is_reported_and_never_chosen_by_knee():
    result = ru([(math.inf, 5.0), (2.0, 4.0), (1.0, 2.0)], log_risk=True)
    assert math.isinf(result.frontier[-1].risk)
    assert result.choose(knee=True).risk < math.inf
    assert "infinite" in str(result)
    assert "1 of 3 candidates" in result.plot().spec["title"]["subtitle"]
    assert result.plot().svg().startswith("<svg")


def test_bad_requests_are_refused():
    result = ru([(1.0, 1.0)])
    with pytest.raises(InvalidParameter, match="knee or weight"):
        result.choose(knee=True, weight=0.5)
    with pytest.raises(InvalidParameter, match="between 0 and 1"):
        result.choose(weight=2)
    with pytest.raises(InputError, match="two points"):
        RUMapResult.from_points([Point("a", "", {}, 1, 1)] * 2)
    with pytest.raises(InvalidParameter, match="max_risk"):
        ru([(1.0, 1.0)], max_risk=-1)
    with pytest.raises(InputError, match="no plans"):
        result.plan()
    with pytest.raises(InputError, match="no data"):
        result.release()
    with pytest.raises(InputError, match="no method 'n'"):
        result.curve("n")


def test_an_empty_map_prints_and_draws():
    result = ru([])
    assert result.frontier == ()
    assert result.chosen is None
    assert "candidates" in repr(result)
    assert result.plot().svg().startswith("<svg")
    assert ru([(math.nan, math.nan)]).plot().svg().startswith("<svg")


# -- combining and surfaces ---------------------------------------------------------------------------


def test_combining_users_and_intruders():
    one = ru([(0.1, 0.9), (0.3, 1.0)], max_risk=0.3, utility_label="means")
    two = ru([(0.2, 0.5), (0.2, 0.8)], max_risk=0.25, utility_label="slopes")
    mean = combine([one, two], weights=[3, 1])
    assert [p.risk for p in mean.points] == pytest.approx([0.125, 0.275])
    assert [p.utility for p in mean.points] == pytest.approx([0.8, 0.95])
    assert mean.max_risk == 0.25
    assert mean.utility_label == "mean of means, slopes"
    largest = one.combine(two, how="max")
    assert [(p.risk, p.utility) for p in largest.points] == [(0.2, 0.9), (0.3, 1.0)]
    worst = combine([one, two], how="worst")
    assert [(p.risk, p.utility) for p in worst.points] == [(0.2, 0.5), (0.3, 0.8)]
    with pytest.raises(InputError, match="same candidates"):
        combine([one, ru([(1.0, 1.0)])])
    with pytest.raises(InvalidParameter, match="weights"):
        combine([one, two], weights=[0, 0])
    with pytest.raises(InputError, match="distortion"):
        combine([one, ru([(0.1, 0.9), (0.3, 1.0)], higher_utility_is_better=False)])
    with pytest.raises(InputError, match="at least one"):
        combine([])


def test_a_surface_over_two_parameters_and_its_envelope():
    points = [
        Point("g", f"{a} {b}", {"a": a, "b": b}, 1 / (a * b), 1 - 0.1 * a - 0.02 * b)
        for a in (1, 2, 3)
        for b in (1, 2)
    ]
    result = RUMapResult.from_points(points, max_risk=0.4)
    surface = result.surface("g")
    assert (surface.x, surface.y) == ("a", "b")
    assert surface.risk.tolist() == [[1, 1 / 2, 1 / 3], [1 / 2, 1 / 4, 1 / 6]]
    assert [p.label for p in result.envelope("g")] == ["3 2", "2 2", "1 2", "1 1"]
    assert result.curves()["g"] == result.envelope("g")
    assert "×" in surface.plot().svg()
    assert "risk above 0.4" in surface.plot().svg()
    with pytest.raises(InvalidParameter, match="two of them"):
        result.surface("g", "a", "c")


def test_the_package_offers_it():
    assert tacit.RUMap is tacit.rumap.RUMap
    assert tacit.EntropyDistortion.better == "lower"
