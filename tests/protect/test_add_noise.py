import numpy as np
import pytest

import tacit
from tacit.errors import InputError, InvalidParameter, WeakProtection
from tacit.records.noise.add_noise import noise


@pytest.mark.parametrize("distribution", ["normal", "uniform", "laplace"])
def test_mean_and_standard_deviation(distribution):
    drawn = noise(100_000, 4.0, distribution, np.random.default_rng(2))
    assert drawn.mean() == pytest.approx(0, abs=0.06)
    assert drawn.std() == pytest.approx(4, rel=0.02)
    if distribution == "uniform":
        assert np.abs(drawn).max() <= 4 * 3**0.5


@pytest.mark.filterwarnings("ignore::tacit.errors.WeakProtection")
def test_relative_and_types():
    data = tacit.read({"x": list(range(1000)), "y": [None, *range(999)]})
    result = tacit.AddNoise(columns=("x", "y"), relative=0.1).apply(data, seed=1)
    assert result.to_arrow().schema == data.to_arrow().schema
    assert result.column("y").null_count == 1
    change = np.array(result.column("x").to_pylist()) - np.arange(1000)
    assert change.std() == pytest.approx(0.1 * np.arange(1000).std(ddof=1), rel=0.1)
    assert result.history[-1].details["sd"]["x"] == pytest.approx(0.1 * np.arange(1000).std(ddof=1))
    loose = tacit.AddNoise(columns=("x",), sd=1, whole=False).apply(data, seed=1)
    assert any(v != int(v) for v in loose.column("x").to_pylist())


def test_constant_columns():
    data = tacit.read({"x": [1.0, 1.0]})
    with pytest.warns(WeakProtection):
        assert tacit.AddNoise(columns=("x",), relative=1).apply(data).column("x").to_pylist() == [
            1.0,
            1.0,
        ]


def test_faults():
    for wrong in ({}, {"sd": 1, "relative": 1}, {"sd": 0}, {"sd": 1, "distribution": "cauchy"}):
        with pytest.raises(InvalidParameter):
            tacit.AddNoise(columns=("x",), **wrong)
    with pytest.raises(InputError):
        tacit.AddNoise(columns=("x",), sd=1).apply(tacit.read({"x": ["a"]}))


def test_zeros_can_be_kept():
    data = tacit.read({"x": [0.0, 5.0, 0.0, -3.0]})
    kept = tacit.AddNoise(columns=("x",), sd=1, keep_zeros=True).apply(data, seed=1)
    plain = tacit.AddNoise(columns=("x",), sd=1).apply(data, seed=1)
    assert [v == 0 for v in kept.column("x").to_pylist()] == [True, False, True, False]
    assert 0 not in plain.column("x").to_pylist()
