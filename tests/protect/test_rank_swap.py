"""Rank swapping: partners, windows, ties, missing values, and what stays the same."""

import json
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import DisclosureRefused, InputError, InvalidParameter, WeakProtection
from tacit.records.swapping.rank_swap import check_swapped, rank_partners

FOLDER = Path(__file__).parents[1] / "fixtures" / "psd15-swap-vs-shuffle"
LISTS = json.loads((FOLDER / "deterministic_examples.json").read_text())["moore_partner_lists"]


def sequential(n, d, pick):
    """The swap from its definition: ``pick`` chooses among the free ranks of the window."""
    partner, free = list(range(n)), set(range(n))
    for i in range(n):
        if i not in free:
            continue
        free.discard(i)
        candidates = [j for j in range(i + 1, min(n, i + d + 1)) if j in free]
        if candidates:
            j = pick(candidates)
            free.discard(j)
            partner[i], partner[j] = j, i
    return partner


def outcomes(n, d, partner=None, free=None, i=0, share=1.0):
    """Every list of partners with its probability."""
    partner = list(range(n)) if partner is None else partner
    free = set(range(n)) if free is None else free
    while i < n and i not in free:
        i += 1
    if i == n:
        return {tuple(partner): share}
    rest = free - {i}
    candidates = [j for j in range(i + 1, min(n, i + d + 1)) if j in rest]
    if not candidates:
        return outcomes(n, d, partner, rest, i + 1, share)
    found = Counter()
    for j in candidates:
        swapped = list(partner)
        swapped[i], swapped[j] = j, i
        found.update(outcomes(n, d, swapped, rest - {j}, i + 1, share / len(candidates)))
    return dict(found)


@pytest.mark.parametrize("example", LISTS, ids=lambda e: f"{e['n']}-{e['d']}-{e['pick']}")
def test_published_partner_lists_are_outcomes_of_the_swap(example):
    n, d = example["n"], example["d"]
    pick = max if example["pick"] == "largest" else min
    assert sequential(n, d, pick) == example["partner_of_rank"]
    assert tuple(example["partner_of_rank"]) in outcomes(n, d)
    if d == 1:
        assert rank_partners(n, d, np.random.default_rng(0)).tolist() == example["partner_of_rank"]


@pytest.mark.parametrize(("n", "d"), [(5, 2), (6, 3), (4, 4)])
def test_partners_have_the_distribution_of_the_definition(n, d):
    expected = outcomes(n, d)
    rng, draws = np.random.default_rng(5), 6000
    found = Counter(tuple(rank_partners(n, d, rng).tolist()) for _ in range(draws))
    assert set(found) <= set(expected)
    for outcome, share in expected.items():
        spread = np.sqrt(share * (1 - share) / draws)
        assert abs(found[outcome] / draws - share) < 4.5 * spread + 1e-12


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 200), st.integers(1, 250), st.integers(0, 999))
def test_exchanges_are_mutual_within_the_window_and_leave_nobody_out(n, window, seed):
    partner = rank_partners(n, window, np.random.default_rng(seed))
    places = np.arange(n)
    assert np.array_equal(partner[partner], places)
    assert (np.abs(partner - places) <= window).all()
    alone = np.flatnonzero(partner == places)
    assert (np.diff(alone) > window).all()


@pytest.mark.filterwarnings("ignore::tacit.errors.WeakProtection")
@settings(deadline=None, max_examples=25)
@given(st.integers(20, 120), st.floats(1, 100), st.integers(0, 99))
def test_columns_keep_their_values_and_ranks_their_window(n, percent, seed):
    rng = np.random.default_rng(seed)
    x = rng.permutation(n) * 3
    data = tacit.read({"x": x, "y": rng.normal(size=n)})
    released = tacit.RankSwap(percent=percent).apply(data, seed=seed)
    for c in ("x", "y"):
        assert sorted(released.column(c).to_pylist()) == sorted(data.column(c).to_pylist())
    window = max(1, int(percent * n / 100 + 1e-9))
    moved = np.abs(released.column("x").to_numpy() - x) // 3
    assert moved.max() <= window
    shift = released.history[-1].details["rank_shift"]["x"]
    assert shift["largest"] == moved.max()
    assert shift["mean"] == pytest.approx(moved.mean())
    assert released.column("x").type == data.column("x").type


def people(n=200, seed=1):
    rng = np.random.default_rng(seed)
    return tacit.read({"a": rng.normal(size=n), "b": rng.exponential(size=n), "c": ["x"] * n})


def test_percent_by_column():
    data = people()
    released = tacit.RankSwap(percent={"a": 1, "b": 50}).apply(data, seed=1)
    shift = released.history[-1].details["rank_shift"]
    assert shift["a"]["largest"] <= 2 < shift["b"]["largest"] <= 100
    untouched = tacit.RankSwap(percent={"a": 1}).apply(data, seed=1)
    assert untouched.column("b") == data.column("b")


def test_the_window_is_secret_unless_revealed():
    data = people()
    hidden = tacit.RankSwap(percent=7).apply(data, seed=1).history[-1]
    shown = tacit.RankSwap(percent=7, reveal=True).apply(data, seed=1).history[-1]
    by_column = tacit.RankSwap(percent={"a": 3}, reveal=True).apply(data, seed=1).history[-1]
    assert "percent" not in hidden.parameters
    assert shown.parameters["percent"] == 7
    assert by_column.parameters["percent"] == {"a": 3}


def test_tails_get_their_mean():
    data = tacit.read({"x": np.random.default_rng(1).permutation(100)})
    released = tacit.RankSwap(percent=5, top=10, bottom=4).apply(data, seed=1)
    new, old = released.column("x").to_numpy(), data.column("x").to_numpy()
    assert set(new[old >= 90]) == {94.5}
    assert set(new[old < 4]) == {1.5}
    assert sorted(new[(old >= 4) & (old < 90)]) == list(range(4, 90))
    assert new.mean() == pytest.approx(old.mean())


def test_missing_values_stay_where_they_are():
    values = [3.0, None, 1.0, 2.0, 9.0, None, 7.0, 8.0]
    data = tacit.read({"x": values, "n": [1, 2, 3, 4, 5, 6, None, 8]})
    with pytest.raises(InputError, match="'x' has missing values"):
        tacit.RankSwap().apply(data, seed=1)
    released = tacit.RankSwap(missing="keep", percent=50).apply(data, seed=1)
    for c in ("x", "n"):
        new, old = released.column(c).to_pylist(), data.column(c).to_pylist()
        assert [v is None for v in new] == [v is None for v in old]
        assert sorted(v for v in new if v is not None) == sorted(v for v in old if v is not None)
    assert released.column("n").type == data.column("n").type


def test_large_whole_numbers_survive():
    big = [2**62 + i for i in range(10)]
    released = tacit.RankSwap().apply(tacit.read({"x": big}), seed=1)
    assert sorted(released.column("x").to_pylist()) == big


def test_many_ties_are_warned_of():
    data = tacit.read({"x": [0] * 80 + list(range(20))})
    with pytest.warns(WeakProtection, match="many equal values"):
        tacit.RankSwap().apply(data, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tacit.RankSwap(columns=["a"]).apply(people(), seed=1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"percent": 0}, "percent"),
        ({"percent": 101}, "percent"),
        ({"percent": {}}, "at least one column"),
        ({"percent": {"a": 5}, "columns": ["b"]}, "same columns"),
        ({"columns": ["a", "a"]}, "each column once"),
        ({"top": 50}, "top must be less than 50"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InvalidParameter, match=message):
        tacit.RankSwap(**parameters)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, 1.0, 1.0], "constant"),
        ([1.0, float("inf"), 2.0], "infinite"),
        (["a", "b", "c"], "does not hold numbers"),
    ],
)
def test_bad_columns(values, message):
    with pytest.raises(InputError, match=message):
        tacit.RankSwap(columns=["x"]).apply(tacit.read({"x": values}), seed=1)


def test_nothing_to_swap():
    with pytest.raises(InputError, match="no numeric column"):
        tacit.RankSwap().apply(tacit.read({"x": ["a"]}), seed=1)


def test_a_broken_swap_is_refused():
    order, ascending = np.arange(4), np.arange(4.0)
    good = np.array([1, 0, 3, 2])
    check_swapped(ascending[good], ascending, good, order, 1)
    for partner in ([1, 2, 0, 3], [3, 1, 2, 0]):
        bad = np.array(partner)
        with pytest.raises(DisclosureRefused, match="broke its own rules"):
            check_swapped(ascending[bad], ascending, bad, order, 1)
    with pytest.raises(DisclosureRefused):
        check_swapped(np.array([1.0, 0.0, 3.0, 3.0]), ascending, good, order, 1)
