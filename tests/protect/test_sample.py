from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import InputError, InvalidParameter
from tacit.records.synthesis.sample import by_number, by_share


def column(result, name="x"):
    return result.column(name).to_pylist()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 50), min_size=1, max_size=10), st.floats(0, 1))
def test_allocation(sizes, share):
    sizes = np.array(sizes)
    n = max(len(sizes), int(share * sizes.sum()))
    wanted = by_number(sizes, n)
    assert wanted.sum() == n
    assert (wanted <= sizes).all()
    assert (wanted >= 1).all()
    parts = by_share(sizes, max(share, 0.01))
    assert (parts <= sizes).all()
    assert (parts >= 1).all()


def test_weights_estimate_the_same_totals(engine):
    data = tacit.read(
        {"x": list(range(60)), "g": ["a"] * 20 + ["b"] * 40, "w": [2] * 20 + [3] * 40},
        weight="w",
        engine=engine,
    )
    result = tacit.Sample(share=0.25, within=("g",)).apply(data, seed=1)
    assert Counter(column(result, "g")) == {"a": 5, "b": 10}
    assert sum(column(result, "w")) == pytest.approx(2 * 20 + 3 * 40)
    assert result.weight == "w"
    assert "inverse" in result.history[-1].details["weight"]
    assert column(data, "w") == [2] * 20 + [3] * 40


def test_every_record_has_the_same_chance():
    trials, groups = 2000, [0, 1, 0, 1, 0, 0]
    data = tacit.read(
        {
            "trial": np.repeat(np.arange(trials), 6),
            "group": np.tile(groups, trials),
            "x": np.tile(np.arange(6), trials),
        }
    )
    drawn = tacit.Sample(share=0.5, within=["trial", "group"]).apply(data, seed=1)
    seen = Counter(column(drawn))
    assert sum(seen.values()) == 3 * trials
    assert all(900 < n < 1100 for n in seen.values())
    assert len(seen) == 6


def test_reproducible_in_order_and_without_weight():
    data = tacit.read({"x": list(range(50))})
    one = tacit.Sample(n=10).apply(data, seed=1)
    assert column(one) == column(tacit.Sample(n=10).apply(data, seed=1))
    assert column(one) == sorted(column(one))
    assert "none declared" in one.history[-1].details["weight"]


def test_faults():
    data = tacit.read({"x": [1, 2, 3]})
    for wrong in ({}, {"n": 1, "share": 0.5}, {"share": 0}, {"n": 0}):
        with pytest.raises(InvalidParameter):
            tacit.Sample(**wrong)
    with pytest.raises(InputError):
        tacit.Sample(n=4).apply(data)
    with pytest.raises(InputError):
        tacit.Sample(n=2, within=("x",)).apply(data)
