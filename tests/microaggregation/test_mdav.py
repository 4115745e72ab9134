"""MDAV on arrays: the definition, its fast twin, published losses."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.numerics.kernels import run_kernels
from tacit.records.microaggregation.grouping import group_sizes, loss
from tacit.records.microaggregation.grouping.mdav_groups import (
    form_groups_by_scan,
    form_mdav_groups,
    form_outer_groups,
    grow_groups_by_tree,
    mdav,
)
from tacit.records.microaggregation.grouping.tree import neighbours
from tacit.records.microaggregation.v_mdav import VMdav

FIXTURES = Path(__file__).parents[1] / "fixtures"
CASC = FIXTURES / "casc"
SMALL = FIXTURES / "psd11-learning-automaton-microaggregation" / "mdav_family_small.json"


def mdav_one_seed(x, k, *, rng, tick):
    return form_mdav_groups(x, k, 1, tick)


FUNCTIONS = {"mdav (two seeds per round)": mdav, "cbfs": mdav_one_seed}
RNG = np.random.default_rng(0)


def silent(_message, _share):
    pass


def v_mdav(x, k, *, rng, tick, gamma):
    return VMdav(k=k, gamma=gamma).groups(x, rng, tick)


def standardised(name):
    x = np.genfromtxt(CASC / f"{name}.csv", delimiter=",", skip_header=1)
    x = x[:, -10:] if name == "eia" else x
    return (x - x.mean(axis=0)) / x.std(axis=0)


def by_definition(x, k, seeds):
    """MDAV in plain Python: exact sums, distances column by column, ties to the lowest number."""
    left, labels, group = list(range(len(x))), np.zeros(len(x), dtype=int), 0

    def distance(i, point):
        total = 0.0
        for a, b in zip(x[i], point, strict=True):
            total += (a - b) * (a - b)
        return total

    def farthest(point):
        return max(left, key=lambda i: (distance(i, point), -i))

    while len(left) >= 2 * k:
        first = farthest([math.fsum(x[left, j]) / len(left) for j in range(x.shape[1])])
        both = seeds == 2 and len(left) >= 3 * k
        for seed in [first, farthest(x[first])] if both else [first]:
            near = sorted(left, key=lambda i: (distance(i, x[seed]), i))[:k]
            labels[near] = group
            left = [i for i in left if i not in near]
            group += 1
    labels[left] = group
    return labels


def data(kind, n, p, seed):
    rng = np.random.default_rng(seed)
    if kind == "grid":
        return rng.integers(0, 4, (n, p)).astype(float)
    if kind == "duplicates":
        return rng.normal(size=(n // 6 + 1, p))[rng.integers(0, n // 6 + 1, n)]
    if kind == "tenths":
        x = np.round(rng.normal(size=(n, p)), 1)
        return (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), 1)
    if kind == "offset":
        return 1e9 + rng.integers(0, 50, (n, p))
    return rng.lognormal(size=(n, p))


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(["grid", "duplicates", "tenths", "offset", "lognormal"]),
    n=st.integers(4, 120),
    p=st.integers(1, 9),
    k=st.integers(2, 5),
    seeds=st.sampled_from([1, 2]),
    seed=st.integers(0, 10**6),
)
def test_both_ways_are_the_definition(kind, n, p, k, seeds, seed):
    x = data(kind, n, p, seed)
    expected = by_definition(x, k, seeds)
    for way in (form_groups_by_scan, grow_groups_by_tree):
        labels = way(x, k, seeds, 2 * k, silent)
        labels[labels < 0] = labels.max() + 1
        assert (labels == expected).all(), way.__name__


@pytest.mark.parametrize("kind", ["grid", "duplicates", "lognormal"])
def test_both_ways_agree_on_larger_files(kind):
    x = data(kind, 7000, 4, 1)
    ways = [way(x, 4, 2, 8, silent) for way in (form_groups_by_scan, grow_groups_by_tree)]
    assert (ways[0] == ways[1]).all()


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 200), p=st.integers(1, 4), k=st.integers(2, 12), seed=st.integers(0, 99))
def test_sizes_and_sums_of_squares(n, p, k, seed):
    x = np.random.default_rng(seed).normal(size=(n, p))
    for function in (mdav, mdav_one_seed):
        labels = function(x, k, rng=RNG, tick=silent)
        sizes = group_sizes(labels)
        assert sizes.max() <= 2 * k - 1
        assert n < k or sizes.min() >= k
        found = loss(x, labels)
        means = np.array([x[labels == g].mean(axis=0) for g in labels])
        between = ((means - x.mean(axis=0)) ** 2).sum()
        assert found.total == pytest.approx(found.within + between)
        assert means.mean(axis=0) == pytest.approx(x.mean(axis=0))


def benchmark_rows():
    with (CASC / "benchmark_sse.csv").open() as file:
        rows = [r for r in csv.DictReader(file) if r["dataset"] in ("census", "tarragona")]
    return [r for r in rows if r["method"] in FUNCTIONS or r["method"].startswith("v-mdav")]


@pytest.mark.parametrize(
    "row", benchmark_rows(), ids=lambda r: f"{r['dataset']}-{r['method']}-{r['k']}"
)
def test_losses_of_the_reference_files(row):
    x, k = standardised(row["dataset"]), int(row["k"])
    if row["method"] in FUNCTIONS:
        labels = FUNCTIONS[row["method"]](x, k, rng=RNG, tick=silent)
    else:
        spec = VMdav(k=k, gamma=float(row["method"].split("=")[1]))
        labels = spec.groups(x, RNG, silent)
    found, sizes = loss(x, labels), group_sizes(labels)
    assert found.within == pytest.approx(float(row["sse"]), rel=1e-8)
    assert (sizes.min(), sizes.max()) == (int(row["min_group"]), int(row["max_group"]))


def test_published_mdav_is_the_variant_with_one_seed():
    with (SMALL.parent / "table2_multivariate.csv").open() as file:
        for row in csv.DictReader(file):
            x = standardised(row["dataset"])
            labels = mdav_one_seed(x, int(row["k"]), rng=RNG, tick=silent)
            assert loss(x, labels).percent == pytest.approx(float(row["published_mdav"]), abs=5e-5)


def test_utilities_with_two_seeds():
    x = standardised("eia")
    for k, percent in ((3, 0.59193), (4, 0.81204), (5, 1.58771), (10, 3.26989)):
        assert loss(x, mdav(x, k, rng=RNG, tick=silent)).percent == pytest.approx(percent, abs=1e-5)


def test_eleven_points():
    fixture = json.loads(SMALL.read_text())
    x = np.array(fixture["X"])
    ways = {
        "mdav_two_seed": (mdav, {}),
        "cbfs_single_seed": (mdav_one_seed, {}),
        "vmdav_gamma_1.1": (v_mdav, {"gamma": 1.1}),
        "vmdav_gamma_0.2": (v_mdav, {"gamma": 0.2}),
    }
    for case in fixture["cases"]:
        for name, (function, options) in ways.items():
            labels = function(x, case["k"], rng=RNG, tick=silent, **options)
            groups = sorted(np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1))
            assert groups == case[name]["groups"]
            assert loss(x, labels).within == pytest.approx(case[name]["sse"])


def test_what_is_left_continues_as_mdav_of_the_rest():
    x = data("lognormal", 500, 3, 2)
    labels = form_outer_groups(x, 3, 2, 300, silent)
    rest = np.flatnonzero(labels < 0)
    labels[rest] = mdav(x[rest], 3, rng=RNG, tick=silent) + labels.max() + 1
    assert (labels == mdav(x, 3, rng=RNG, tick=silent)).all()


def test_works_without_numba():
    x = data("lognormal", 4000, 2, 3)
    found = []
    for mode in ("compiled", "plain"):
        with run_kernels(mode):
            found.append(mdav(x, 5, rng=RNG, tick=silent))
    assert (found[0] == found[1]).all()


@pytest.mark.parametrize("kind", ["grid", "lognormal"])
def test_nearest_records(kind):
    x = data(kind, 300, 3, 4)
    found = []
    for mode in ("compiled", "plain"):
        with run_kernels(mode):
            found.append(neighbours(x, 7))
    assert (found[0] == found[1]).all()


def test_many_equal_records_take_no_longer():
    x = np.zeros((40_000, 3))
    labels = mdav(x, 3, rng=RNG, tick=silent)
    assert (labels[:3] == 0).all()
    assert group_sizes(labels).min() >= 3


def test_can_be_stopped():
    def stop(_message, _share):
        raise KeyboardInterrupt

    for n in (100, 5000):
        with pytest.raises(KeyboardInterrupt):
            mdav(data("lognormal", n, 2, 5), 3, rng=RNG, tick=stop)
