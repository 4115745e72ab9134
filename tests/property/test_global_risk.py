"""Global disclosure risk: the search against brute force, the formula against the paper's sums, and its curves."""

import importlib.util
import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.records.global_risk import search as searching
from tacit.records.global_risk.search import Search, Side, merge_links, shape_fault, weights_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "global_risk_experiments.py"


def admissible(rng, rows, columns):
    """A random weight matrix that obeys every shape rule: sums of p(|i-j|) q(max(i,j)), both falling."""
    i, j = np.indices((rows, columns))
    size = max(rows, columns)
    w = np.zeros((rows, columns))
    for _ in range(rng.integers(1, 4)):
        above, below, along = np.sort(rng.random((3, size)) ** rng.integers(1, 6))[:, ::-1]
        away = np.where(j >= i, above[np.abs(i - j)], below[np.abs(i - j)] * above[0] / below[0])
        w += away * along[np.maximum(i, j)]
    return np.round(w / w[0, 0], 12)


def instance(rng, *, p=None, n=None):
    """Random codes: an original, masked records of which some are added, and links by position."""
    p = p or int(rng.integers(1, 6))
    n = n or int(rng.integers(1, 14))
    t = int(rng.integers(1, n + 4))
    levels = rng.integers(1, 4, p)
    original = rng.integers(0, levels, (n, p))
    masked = rng.integers(0, levels, (t, p))
    r = min(n, t)
    keep = rng.random((r, p)) < 0.7
    masked[:r] = np.where(keep, original[:r], masked[:r])
    icf = rng.choice([0.0, 0.0, 0.1, 0.25, 0.5, 1.0], p)
    return original, masked, r, icf


def tables(original, masked, r):
    sizes = np.maximum(original.max(axis=0), masked.max(axis=0)) + 1
    left, there = Side.of(list(original.T), sizes.tolist(), np.ones(len(original), dtype=np.int64))
    right, here = Side.of(list(masked.T), sizes.tolist(), np.ones(len(masked), dtype=np.int64))
    return merge_links(left, right, there[:r], here[:r], np.ones(r, dtype=np.int64))


def classification(original, masked, r, subset):
    """The classification matrix by the algorithm of the paper's Section 3."""
    keys = sorted(subset)
    theirs, ours = [tuple(row[keys]) for row in original], [tuple(row[keys]) for row in masked]
    in_theirs, in_ours = Counter(theirs), Counter(ours)
    c = np.zeros((len(masked) + 1, len(original) + 1))
    for s in range(r):
        c[in_ours[ours[s]], in_theirs[theirs[s]]] += 1
    return c


def literal(c, w):
    """The bracket of formula 3.8 with its nested sums; c and w are indexed from 1.

    For t > n the second sum runs over the rows that are left.
    """
    t, n = c.shape[0] - 1, c.shape[1] - 1
    total = 0.0
    for k in range(1, min(t, n) + 1):
        total += sum(w[i, k] * c[i, k] for i in range(1, k + 1)) / k
        total += sum(w[k, j] * c[k, j] for j in range(1, k)) / k
    for k in range(t + 1, n + 1):
        total += sum(w[i, k] * c[i, k] for i in range(1, t + 1)) / k
    for k in range(n + 1, t + 1):
        total += sum(w[k, j] * c[k, j] for j in range(1, n + 1)) / k
    return total


def brute_force(original, masked, r, icf, w):
    """The three risks of every subset, from the records."""
    n = len(original)
    corner = np.zeros_like(w)
    corner[1, 1] = 1
    found = {}
    for size in range(1, len(icf) + 1):
        for subset in itertools.combinations(range(len(icf)), size):
            c = classification(original, masked, r, subset)
            factor = np.prod(1 - icf[list(subset)])
            found[frozenset(subset)] = [
                factor * literal(c, corner) / n,
                factor * literal(c, w) / (n * w[1, 1]),
                factor * literal(c, np.ones_like(w)) / n,
            ]
    return found


def framed(w):
    """A matrix with an unused row and column in front, so that it is indexed from 1."""
    return np.pad(w, ((1, 0), (1, 0)))


@pytest.mark.parametrize("seed", range(300))
def test_search_finds_what_brute_force_finds(seed):
    rng = np.random.default_rng(seed)
    original, masked, r, icf = instance(rng)
    w = admissible(rng, len(masked), len(original))
    if seed % 3 == 0:
        w = np.eye(len(masked), len(original))
    assert shape_fault(w) is None
    expected = brute_force(original, masked, r, icf, framed(w))
    table = tables(original, masked, r)
    full, bounded = (Search(icf, weights_of(w.tolist()), len(original)) for _ in range(2))
    full.enumerate(table)
    assert full.seen.keys() == expected.keys()
    for subset, risks in expected.items():
        assert full.risks(subset) == pytest.approx(risks, abs=1e-12)
    bounded.branch_and_bound(table)
    best = np.max(list(expected.values()), axis=0)
    assert bounded.best == pytest.approx(best, abs=1e-12)
    for measure in range(3):
        for subset in bounded.maximisers(measure):
            assert expected[subset][measure] == pytest.approx(best[measure], abs=1e-12)


@pytest.mark.parametrize("weights", ["min", "max", "diagonal", "one_over_max"])
@pytest.mark.parametrize("seed", range(25))
def test_search_is_exact_for_presets_and_rules(seed, weights):
    rng = np.random.default_rng(1000 + seed)
    original, masked, r, icf = instance(rng, p=6, n=25)
    table = tables(original, masked, r)
    full, bounded = (Search(icf, weights_of(weights), len(original)) for _ in range(2))
    full.enumerate(table)
    bounded.branch_and_bound(table)
    assert bounded.best == pytest.approx(full.best, abs=1e-12)
    rule = Search(icf, weights_of(lambda i, j: 1 / (max(i, j) * (1 + abs(i - j)))), len(original))
    rule.branch_and_bound(table)
    full_rule = Search(icf, rule.weights, len(original))
    full_rule.enumerate(table)
    assert rule.best == pytest.approx(full_rule.best, abs=1e-12)


def test_many_keys_are_packed_into_several_integers():
    rng = np.random.default_rng(5)
    original = rng.integers(0, 1 << 20, (50, 7)) * rng.integers(0, 2, (50, 7))
    sizes = [1 << 20] * 7
    ones = np.ones(50, dtype=np.int64)
    side, _ = Side.of(list(original.T), sizes, ones)
    assert len(side.words) == 3
    smaller, _ = side.without(0)
    rolled, _ = smaller.without(4)
    assert sorted(rolled.n) == sorted(
        np.unique(original[:, [1, 2, 3, 5, 6]], axis=0, return_counts=True)[1]
    )


def test_dense_and_sorted_numbering_agree():
    rng = np.random.default_rng(6)
    for ids in (
        rng.integers(0, 9, 50),
        rng.integers(0, 9, 50) * 10**12,
        np.zeros(0, dtype=np.int64),
    ):
        into, size = searching.compact_ids(ids)
        assert size == len(np.unique(ids))
        assert len(set(zip(into, ids, strict=True))) == size


def test_bounds_hold_for_a_hundred_admissible_matrices():
    rng = np.random.default_rng(7)
    for _ in range(100):
        original, masked, r, icf = instance(rng)
        w = admissible(rng, *rng.integers(1, 9, 2))
        assert shape_fault(w) is None
        search = Search(icf, weights_of(w.tolist()), len(original))
        search.branch_and_bound(tables(original, masked, r))
        low, middle, high = search.best
        assert 0 <= low <= middle + 1e-12
        assert middle <= high + 1e-12
        assert high <= 1


@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 3), st.sampled_from("ab"), st.integers(0, 3), st.sampled_from("ab")
        ),
        min_size=2,
        max_size=12,
    )
)
def test_the_measure_lies_in_its_bounds_and_unmasked_data_keep_every_key(rows):
    age, sex, age2, sex2 = map(list, zip(*rows, strict=True))
    data = tacit.read({"age": age, "sex": sex}, keys=["age", "sex"])
    masked = tacit.read({"age": age2, "sex": sex2}, keys=["age", "sex"])
    found = tacit.GlobalRisk().measure(masked, original=data)
    low, middle, high = found.minimum.value, found.weighted.value, found.maximum.value
    assert 0 <= low <= middle <= high <= 1
    same = tacit.GlobalRisk().measure(data, original=data)
    assert same.maximum.keys == ("age", "sex")
    assert same.overmasked == ()
    assert same.maximum.value == pytest.approx(len(set(zip(age, sex, strict=True))) / len(age))


# -- the experiments of Section 4 ----------------------------------------------------------------


@pytest.fixture(scope="module")
def experiments():
    spec = importlib.util.spec_from_file_location("global_risk_experiments", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SIZES = [1000, 5000, pytest.param(25_000, marks=pytest.mark.slow)]


@pytest.mark.parametrize("n", SIZES)
def test_figure_4_1_noise_on_age(experiments, n):
    data = experiments.patients(n, seed=1)
    curve = experiments.noise_curve(data, [0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0], seed=2)
    factors = [point.result.icf["age"] for point in curve]
    assert all(a < b for a, b in itertools.pairwise(factors))
    slopes = [
        (b.result.icf["age"] - a.result.icf["age"]) / (b.x - a.x)
        for a, b in itertools.pairwise(curve)
    ]
    assert all(a > b for a, b in itertools.pairwise(slopes))
    by_c = {point.x: point.result.icf["age"] for point in curve}
    assert 0.44 <= by_c[1.0] <= 0.56
    assert 0.6 <= by_c[4.0] <= 0.72
    for measure in ("minimum", "maximum"):
        risks = [getattr(point.result, measure).value for point in curve]
        assert all(b <= a + 0.02 for a, b in itertools.pairwise(risks))


@pytest.mark.parametrize("n", SIZES)
def test_figure_4_2_changes_of_sex(experiments, n):
    data = experiments.patients(n, seed=1)
    curve = experiments.flip_curve(data, [0, 2, 5, 15, 30, 50, 70])
    risks = [point.result.maximum.value for point in curve]
    assert all(b <= a for a, b in itertools.pairwise(risks))
    late = [point for point in curve if point.x >= 50]
    assert len({point.result.maximum.value for point in late}) == 1
    assert all(point.result.maximum.keys == ("age", "zip") for point in late)
    assert all(point.result.overmasked == ("sex",) for point in late)


@pytest.mark.parametrize("n", SIZES)
def test_figure_4_3_recoding_of_zip(experiments, n):
    data = experiments.patients(n, seed=1)
    largest = max(data.cells(["zip"]).n)
    curve = experiments.recoding_curve(data, [0, largest // 4, largest + 1, 2 * largest])
    assert (
        curve[-1].result.icf["zip"] == curve[-2].result.icf["zip"] == pytest.approx(0.4, abs=1e-15)
    )
    for measure in ("minimum", "weighted", "maximum"):
        assert getattr(curve[-1].result, measure) == getattr(curve[-2].result, measure)


@pytest.mark.parametrize("n", SIZES[1:])
def test_recoding_lowers_the_maximal_risk_most(experiments, n):
    data = experiments.patients(n, seed=1)
    largest = max(data.cells(["zip"]).n)
    lowest = [
        min(point.result.maximum.value for point in curve)
        for curve in (
            experiments.noise_curve(data, [1.0], seed=2),
            experiments.flip_curve(data, [50]),
            experiments.recoding_curve(data, [largest + 1]),
        )
    ]
    assert lowest[2] < min(lowest[:2])


def test_risk_of_the_unmasked_files_falls_with_their_size(experiments):
    simulated = {1000: (0.849, 0.916), 5000: (0.593, 0.753)}
    for n, (low, high) in simulated.items():
        data = experiments.patients(n, seed=1)
        found = tacit.GlobalRisk().measure(data, original=data)
        assert found.minimum.value == pytest.approx(low, abs=0.05)
        assert found.maximum.value == pytest.approx(high, abs=0.05)
