import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import Infeasible, InputError, InvalidParameter, WeakProtection
from tacit.records.synthesis.add_tuples import move_to_mean, move_to_total


def data(**roles):
    rng = np.random.default_rng(1)
    return tacit.read(
        {
            "x": rng.gamma(2, 10, 60),
            "i": np.arange(60) % 6,
            "s": ["a", "b", None] * 20,
            "w": np.ones(60),
        },
        **roles,
    )


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-5, 9), min_size=1, max_size=20), st.floats(0, 1))
def test_whole_numbers_reach_any_total_in_range(values, share):
    total = round(-5 * len(values) + share * 14 * len(values))
    found = move_to_total(np.array(values), total, -5, 9, np.random.default_rng(1))
    assert found.sum() == total
    assert found.min() >= -5
    assert found.max() <= 9


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-5, 9), min_size=1, max_size=20), st.floats(-5, 9))
def test_numbers_reach_any_mean_in_range(values, mean):
    found = move_to_mean(np.array(values), mean, -5.0, 9.0)
    assert found.mean() == pytest.approx(mean, abs=1e-9)
    assert found.min() >= -5 - 1e-9
    assert found.max() <= 9 + 1e-9


@pytest.mark.parametrize("how", ["columns", "records"])
def test_block(how, engine):
    real = data(weight="w", engine=engine)
    method = tacit.AddTuples(share=0.2, how=how, preserve_means=True)
    result = method.apply(real, seed=4)
    added = method.added(real, seed=4)
    assert (len(result), added.sum()) == (72, 12)
    assert result.to_arrow().schema == real.to_arrow().schema
    old = real.to_arrow().to_pandas()
    new = result.to_arrow().to_pandas()
    assert sorted(map(str, new[~added].to_numpy().tolist())) == sorted(
        map(str, old.to_numpy().tolist())
    )
    for c in ("x", "i", "w"):
        assert new[c][added].mean() == pytest.approx(old[c].mean(), abs=1e-9)
        assert new[c][added].between(old[c].min() - 1e-9, old[c].max() + 1e-9).all()
    assert result.to_arrow() == method.apply(real, seed=4).to_arrow()


def test_made_up_records_stand_anywhere():
    real = data()
    method = tacit.AddTuples(n=30)
    places = np.concatenate([np.flatnonzero(method.added(real, seed=s)) for s in range(200)])
    assert places.mean() == pytest.approx(44.5, abs=1.5)


def test_without_scrambling_it_warns():
    with pytest.warns(WeakProtection):
        result = tacit.AddTuples(n=6, scramble=False).apply(data(), seed=1)
    assert result.column("x").to_pylist()[:60] == data().column("x").to_pylist()


def test_keys_are_not_quantities():
    real = data(keys=["i"])
    assert "i" not in tacit.AddTuples(n=1).measured(real)
    tacit.AddTuples(n=7, preserve_means=True).apply(real, seed=1)


def test_faults():
    with pytest.raises(Infeasible, match="multiple of 2"):
        tacit.AddTuples(n=7, preserve_means=True).apply(data(), seed=1)
    with pytest.raises(InputError, match="identifier"):
        tacit.AddTuples(n=1).apply(data(identifiers="x"))
    with pytest.raises(InputError):
        tacit.AddTuples(n=1, quantities=("s",)).apply(data())
    with pytest.raises(InputError):
        tacit.AddTuples(n=1).added(data())
    with pytest.raises(InvalidParameter):
        tacit.AddTuples()
    nobody = tacit.Suppress(level="tuple", where="x > 0").apply(data())
    assert len(tacit.AddTuples(n=3).apply(nobody, seed=1)) == 0


def test_missing_quantities():
    real = tacit.read({"x": [1.5, None, None, None], "y": [None, None, None, None]})
    result = tacit.AddTuples(n=2, preserve_means=True).apply(real, seed=1)
    assert len(result) == 6


def test_identifiers_are_made_up_and_nobodys():
    real = tacit.read(
        {"id": ["AB-1", "CD-2", None, "EF-3"], "n": [101, 102, 103, 104]}, identifiers=["id", "n"]
    )
    method = tacit.AddTuples(n=40)
    result = method.apply(real, seed=1)
    added = method.added(real, seed=1)
    fake = [
        v
        for v, a in zip(result.column("id").to_pylist(), added, strict=True)
        if a and v is not None
    ]
    assert 20 < len(fake) == len(set(fake))
    assert not set(fake) & {"AB-1", "CD-2", "EF-3"}
    assert all(v[2] == "-" and len(v) == 4 for v in fake)
    numbers = [v for v, a in zip(result.column("n").to_pylist(), added, strict=True) if a]
    assert all(99 < v < 1000 and v not in range(101, 105) for v in numbers)
