import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import Infeasible, InputError, InvalidParameter
from tacit.records.noise.perturb import pairings, rectangles

records = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.one_of(st.none(), st.integers(-50, 1000))),
    min_size=1,
    max_size=40,
)


def totals(groups, values):
    found = defaultdict(list)
    for g, v in zip(groups, values, strict=True):
        if v is not None:
            found[g].append(v)
    return {g: math.fsum(v) for g, v in found.items()}


def perturbed(data, **parameters):
    try:
        return (
            tacit.Perturb(columns=("x",), **parameters).apply(data, seed=3).column("x").to_pylist()
        )
    except Infeasible:
        return data.column("x").to_pylist()


@pytest.mark.filterwarnings("ignore::tacit.errors.WeakProtection")
@settings(max_examples=40, deadline=None)
@given(records, st.booleans(), st.sampled_from(["all", "by", "margins"]))
def test_totals_are_kept(rows, whole, keep):
    a, b, x = (list(c) for c in zip(*rows, strict=True))
    x = x if whole else [None if v is None else v / 7 for v in x]
    if all(v is None for v in x):
        return
    data = tacit.read({"a": a, "b": b, "x": x})
    new = perturbed(
        data, **{"all": {}, "by": {"by": ("a",)}, "margins": {"margins": ("a", "b")}}[keep]
    )
    kept = {"all": [[0] * len(x)], "by": [a], "margins": [a, b]}[keep]
    for groups in kept:
        before, after = totals(groups, x), totals(groups, new)
        assert before.keys() == after.keys()
        for g in before:
            assert (
                after[g] == before[g]
                if whole
                else after[g] == pytest.approx(before[g], rel=1e-9, abs=1e-9)
            )
    assert [v is None for v in new] == [v is None for v in x]
    if min(v for v in x if v is not None) >= 0:
        assert min(v for v in new if v is not None) >= 0


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 3), max_size=20))
def test_everybody_with_a_possible_partner_takes_part(groups):
    groups = np.array(groups, dtype=np.int64)
    pairs = np.concatenate(pairings(groups, np.random.default_rng(1)))
    assert (groups[pairs[:, 0]] == groups[pairs[:, 1]]).all()
    alone = {i for i, g in enumerate(groups) if (groups == g).sum() == 1}
    assert set(pairs.ravel().tolist()) == set(range(len(groups))) - alone


def test_rectangles_are_rectangles():
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 5, 300), rng.integers(0, 4, 300)
    found = rectangles(a, b, rng)
    assert len(found) > 10
    assert len(np.unique(found)) == found.size
    i, j, k, h = found.T
    assert (a[i] == a[j]).all()
    assert (a[k] == a[h]).all()
    assert (b[i] == b[h]).all()
    assert (b[j] == b[k]).all()


def test_most_values_change_by_about_the_scale():
    rng = np.random.default_rng(5)
    x = rng.normal(100, 10, 1001)
    data = tacit.read({"x": x, "a": rng.integers(0, 3, 1001), "b": rng.integers(0, 3, 1001)})
    change = np.array(perturbed(data, scale=0.2)) - x
    assert (change != 0).all()
    assert change.std() == pytest.approx(2, rel=0.1)
    assert (np.array(perturbed(data, scale=0.2, margins=("a", "b"))) != x).mean() > 0.5


def test_no_room():
    with pytest.raises(Infeasible):
        tacit.Perturb(columns=("x",), by=("g",)).apply(tacit.read({"x": [1, 2], "g": [1, 2]}))


def test_faults():
    for wrong in (
        {"by": ("a",), "margins": ("a", "b")},
        {"by": ("x",)},
        {"scale": 0},
        {"margins": ("a",)},
    ):
        with pytest.raises(InvalidParameter):
            tacit.Perturb(columns=("x",), **wrong)
    with pytest.raises(InputError):
        tacit.Perturb(columns=("x",)).apply(tacit.read({"x": ["a"]}))
