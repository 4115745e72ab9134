"""What counts as found: ties, groups, missing values, partial overlap, directions, one-to-one links."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InputError
from tacit.records.linkage.assignment import assign
from tacit.records.linkage.attack import (
    Files,
    attack,
    make_standardised_metric,
    true_covariance,
    zero_covariance,
)


def files_of(a, b, old=None, new=None, **more):
    a, b = np.asarray(a, float), np.asarray(b, float)
    old = np.arange(len(a)) if old is None else np.asarray(old)
    new = old if new is None else np.asarray(new)
    return Files(a, b, old, new, **more)


def test_tie_rules():
    a = [[0.0], [1.0], [2.0], [10.0]]
    b = [[0.5], [0.5], [2.0], [11.0]]
    found = attack(files_of(a, b), make_standardised_metric(files_of(b, b)))
    assert found.links.ties.tolist() == [2, 2, 1, 1]
    assert found.correct("first").tolist() == [1, 0, 1, 1]
    assert found.correct("unique").tolist() == [0, 0, 1, 1]
    assert found.correct("expected").tolist() == [0.5, 0.5, 1, 1]
    assert found.correct("any").tolist() == [1, 1, 1, 1]
    assert found.parent.tolist() == [True] * 4


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(3, 30),
    st.sampled_from(["original_to_released", "released_to_original"]),
)
def test_rules_are_ordered_and_bounded(seed, n, direction):
    rng = np.random.default_rng(seed)
    a = np.round(rng.normal(size=(n, 2)), 1)
    files = files_of(a, np.round(a + 0.5 * rng.normal(size=a.shape)), direction=direction)
    found = attack(files, make_standardised_metric(files))
    unique, first, always = (found.count(r) for r in ("unique", "first", "any"))
    assert unique <= found.count("expected") <= always
    assert unique <= first <= always
    assert (found.links.ties >= 1).all()


def test_group_masking_own_record_and_any_parent():
    rng = np.random.default_rng(1)
    a = rng.normal(size=(300, 2))
    order = np.argsort(a[:, 0])
    b = np.empty_like(a)
    b[order] = a[order].reshape(100, 3, 2).mean(axis=1).repeat(3, axis=0)
    for direction in ("original_to_released", "released_to_original"):
        files = files_of(a, b, direction=direction)
        found = attack(files, make_standardised_metric(files))
        assert found.count("expected") <= found.parent.sum()
        brute = []
        gap = make_standardised_metric(files)
        x = gap.coordinates(files.original, "original", np.arange(2))
        y = gap.coordinates(files.released, "released", np.arange(2))
        for i in range(300):
            if direction == "original_to_released":
                j = ((x[i] - y) ** 2).sum(axis=1).argmin()
                brute.append((b[j] == b[i]).all())
            else:
                j = ((x - y[i]) ** 2).sum(axis=1).argmin()
                brute.append((b[j] == b[i]).all())
        assert found.parent.tolist() == brute


def test_records_that_are_not_released_are_never_correct():
    a = np.array([[0.0], [1.0], [2.0], [3.0]])
    files = files_of(a, a[[3, 1]], old=[1, 3], new=[1, 0])
    found = attack(files, make_standardised_metric(files_of(a, a)))
    assert files.truth.tolist() == [-1, 1, -1, 0]
    assert found.correct("first").tolist() == [0, 1, 0, 1]
    back = Files(
        files.original, files.released, files.old, files.new, direction="released_to_original"
    )
    assert back.truth.tolist() == [3, 1]
    assert attack(back, make_standardised_metric(files_of(a, a))).count("unique") == 2


@pytest.mark.parametrize("metric", [make_standardised_metric, zero_covariance, true_covariance])
def test_missing_values_are_left_out_pair_by_pair(metric):
    rng = np.random.default_rng(2)
    a = rng.normal(size=(40, 3))
    b = a + 0.2 * rng.normal(size=a.shape)
    for x in (a, b):
        x[rng.random(x.shape) < 0.1] = np.nan
    files = files_of(a, b)
    made = metric(files)
    found = attack(files, made)
    known_a, known_b = np.isfinite(a), np.isfinite(b)
    for i in range(40):
        gaps = np.full(40, np.inf)
        for j in range(40):
            at = np.flatnonzero(known_a[i] & known_b[j])
            if len(at):
                x = made.coordinates(a[[i]], "original", at)
                y = made.coordinates(b[[j]], "released", at)
                gaps[j] = ((x - y) ** 2).sum() * 3 / len(at)
        assert found.links.nearest[i] == gaps.argmin()
        assert found.links.distance[i] == pytest.approx(gaps.min())
        assert found.links.second[i] == pytest.approx(np.sort(gaps)[1])
        assert bool(found.hit[i]) == (gaps[i] <= gaps.min() * (1 + 1e-12))


@pytest.mark.parametrize("direction", ["original_to_released", "released_to_original"])
def test_links_stay_within_blocks(direction):
    rng = np.random.default_rng(5)
    a = rng.normal(size=(60, 2))
    b = a + 0.5 * rng.normal(size=a.shape)
    block = (rng.integers(0, 5, 60), rng.integers(1, 6, 60))
    files = files_of(a, b, direction=direction, block=block)
    metric = make_standardised_metric(files)
    found = attack(files, metric)
    x, y = (
        metric.coordinates(z, s, np.arange(2)) for z, s in zip((a, b), files.sides, strict=True)
    )
    if direction == "released_to_original":
        x, y = (
            metric.coordinates(b, "released", np.arange(2)),
            metric.coordinates(a, "original", np.arange(2)),
        )
        block = block[::-1]
    gap = ((x[:, None] - y[None]) ** 2).sum(axis=2)
    gap[block[0][:, None] != block[1][None]] = np.inf
    expected = np.where(np.isfinite(gap).any(axis=1), gap.argmin(axis=1), -1)
    assert found.links.nearest.tolist() == expected.tolist()
    assert found.hit.tolist() == (expected == np.arange(60)).tolist()
    paired = attack(files, metric, one_to_one=True).links.nearest
    linked = paired[paired >= 0]
    assert len(set(linked)) == len(linked)


def test_some_of_the_queries():
    rng = np.random.default_rng(6)
    a = rng.normal(size=(50, 2))
    rows = np.arange(1, 50, 4)
    for direction in ("original_to_released", "released_to_original"):
        files = files_of(
            a[:40], a[5:], old=np.arange(5, 40), new=np.arange(35), direction=direction,
            block=(np.arange(40) % 2, np.arange(5, 50) % 2),
        )  # fmt: skip
        few = rows[rows < len(files.queries)]
        whole, part = (attack(f, make_standardised_metric(files)) for f in (files, files.some(few)))
        assert part.links.nearest.tolist() == whole.links.nearest[few].tolist()
        assert part.truth.tolist() == whole.truth[few].tolist()
        assert part.hit.tolist() == whole.hit[few].tolist()


def test_a_record_without_any_value_has_no_link():
    a = np.array([[np.nan], [1.0], [2.0]])
    files = files_of(a, a)
    found = attack(files, make_standardised_metric(files))
    assert found.links.nearest.tolist() == [-1, 1, 2]
    assert found.count("any") == 2
    assert found.parent.tolist() == [False, True, True]


def test_one_to_one_has_the_least_total_distance():
    rng = np.random.default_rng(3)
    a = rng.normal(size=(6, 2))
    b = a + rng.normal(size=a.shape)
    files = files_of(a, b)
    metric = make_standardised_metric(files)
    found = attack(files, metric, one_to_one=True)
    x = metric.coordinates(a, "original", np.arange(2))
    y = metric.coordinates(b, "released", np.arange(2))
    cost = ((x[:, None] - y[None]) ** 2).sum(axis=2)
    best = min(itertools.permutations(range(6)), key=lambda p: sum(cost[i, p[i]] for i in range(6)))
    assert found.links.nearest.tolist() == list(best)
    assert found.links.distance.sum() == pytest.approx(sum(cost[i, best[i]] for i in range(6)))


def test_one_to_one_finds_more_than_separate_links():
    rng = np.random.default_rng(4)
    a = rng.normal(size=(300, 3))
    files = files_of(a, a + 0.4 * rng.normal(size=a.shape))
    alone, together = (
        attack(files, true_covariance(files), one_to_one=flag).count("first")
        for flag in (False, True)
    )
    assert together > alone


def test_one_to_one_leaves_somebody_out_and_has_a_limit():
    assert assign(np.array([[1.0, 2.0], [1.0, 5.0], [9.0, 9.0]])).tolist() == [1, 0, -1]
    rows = np.zeros((6000, 1))
    files = files_of(rows, rows)
    with pytest.raises(InputError, match="one-to-one links need all 6,000 x 6,000 pairs at once"):
        attack(files, make_standardised_metric(files), one_to_one=True)
