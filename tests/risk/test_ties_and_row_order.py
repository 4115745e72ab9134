"""No measure of linkage depends on the order of the rows; ties count by their chance."""

import itertools

import numpy as np
import pytest

import tacit
from tacit.records.linkage.assignment import pair_files
from tacit.records.linkage.rows import distinct_rows

NUMBERS = ["a", "b", "c"]


def tied_files(n=120, seed=1):
    """Small whole numbers, so that records are equal or equally far; released in groups."""
    rng = np.random.default_rng(seed)
    values = {c: rng.integers(0, 4, n).astype(float) for c in NUMBERS}
    values["g"] = rng.choice(["x", "y", "z"], n)
    data = tacit.read(values, keys=["g"])
    noisy = {c: np.clip(values[c] + rng.integers(-1, 2, n), 0, 3) for c in NUMBERS}
    return data, data.replace(noisy)


MEASURES = {
    "euclidean": tacit.DistanceLinkage(columns=NUMBERS),
    "paired": tacit.DistanceLinkage(columns=NUMBERS, one_to_one=True),
    "paired in blocks": tacit.DistanceLinkage(columns=NUMBERS, block=["g"], one_to_one=True),
    "paired, reverse": tacit.DistanceLinkage(
        columns=NUMBERS, direction="released_to_original", one_to_one=True
    ),
    "mahalanobis": tacit.DistanceLinkage(columns=NUMBERS, metric="mahalanobis"),
    "kernel": tacit.DistanceLinkage(columns=NUMBERS, metric="kernel"),
    "weights": tacit.ProbabilisticLinkage(columns=[*NUMBERS, "g"]),
    "weights paired": tacit.ProbabilisticLinkage(columns=[*NUMBERS, "g"], one_to_one=True),
    "conditional": tacit.ConditionalLinkage(columns=NUMBERS),
    "series": tacit.SeriesLinkage(series={"s": NUMBERS}, normalise="none"),
    "report": tacit.Reidentification(columns=NUMBERS),
}


@pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")
@pytest.mark.parametrize("name", MEASURES)
def test_permuting_the_rows_changes_nothing(name):
    data, released = tied_files()
    rng = np.random.default_rng(2)
    spec = MEASURES[name]
    first = spec.measure(released, original=data)
    for _ in range(2):
        one, two = data.take(rng.permutation(120)), released.take(rng.permutation(120))
        again = spec.measure(two, original=one)
        assert again.value == pytest.approx(first.value, rel=1e-9)
        if hasattr(first, "any_parent"):
            assert again.any_parent == pytest.approx(first.any_parent, rel=1e-9)


def test_files_in_the_same_order_are_not_more_dangerous():
    """Five records of each value: a pairing finds one of five, not all of them."""
    x = np.repeat(np.arange(20.0), 5)
    data = tacit.read({"a": x, "b": x**2})
    found = tacit.DistanceLinkage(columns=["a", "b"], one_to_one=True).measure(data, original=data)
    assert found.share == pytest.approx(0.2)
    assert found.any_parent == pytest.approx(1.0)
    assert found.by_rule["first"] == 100
    assert found.by_rule["unique"] == 0
    assert found.by_rule["any"] == 100
    assert found.numbers["standard error of correct links"] == 0


@pytest.mark.parametrize("seed", range(4))
def test_equal_records_have_the_chance_of_all_best_pairings(seed):
    """Against every permutation of six records of which several are equal."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(3, 2))
    a = points[[0, 0, 1, 1, 2, 2]]
    b = (points + 0.01 * rng.normal(size=(3, 2)))[[0, 0, 0, 1, 2, 2]]
    cost = ((a[:, None] - b[None]) ** 2).sum(axis=2)
    totals = {p: sum(cost[i, j] for i, j in enumerate(p)) for p in itertools.permutations(range(6))}
    least = min(totals.values())
    best = [p for p, total in totals.items() if total <= least + 1e-12]
    expected = np.mean([[p[i] == i for i in range(6)] for p in best], axis=0)
    asked, found = distinct_rows(a), distinct_rows(b)
    classes = cost[np.ix_(asked.first, found.first)]
    pairing = pair_files(classes, asked, found, np.arange(6))
    assert pairing.chance == pytest.approx(expected)
    assert pairing.error == 0
    assert sorted(pairing.link.tolist()) == list(range(6))


def test_pairings_that_tie_without_equal_records_are_averaged():
    """A square whose corners are all as far: each pairing costs the same."""
    a = np.array([[0.0, 0.0], [2.0, 2.0]])
    b = np.array([[0.0, 2.0], [2.0, 0.0]])
    cost = ((a[:, None] - b[None]) ** 2).sum(axis=2)
    pairing = pair_files(cost, distinct_rows(a), distinct_rows(b), np.arange(2))
    assert pairing.drawn == 200
    assert pairing.error > 0
    assert pairing.chance == pytest.approx([0.5, 0.5], abs=0.12)
