"""The eighteen distances: the constructed file, an independent eigen-solver, refusals."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import InputError
from tacit.records.utility.distance_table import SYMBOLS, distances

FOLDER = Path(__file__).parents[1] / "fixtures/psd25-survey-of-consumer-finances"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
OLD, NEW = (
    np.genfromtxt(FOLDER / f"balance_{name}.csv", delimiter=",", skip_header=1)
    for name in ("original", "masked")
)


@pytest.mark.parametrize("name", SYMBOLS)
def test_constructed_file(name):
    found = distances(OLD, NEW)[name]
    expected = EXPECTED["domingo_torra_metrics"][SYMBOLS[name]]
    for error, value in expected.items():
        assert getattr(found, error) == pytest.approx(value, rel=1e-9)


def test_measure_reads_both_files():
    data = tacit.read(FOLDER / "balance_original.csv")
    masked = tacit.read(FOLDER / "balance_masked.csv")
    found = tacit.DistanceTable().measure(masked, original=data)
    assert found["data"].mae == pytest.approx(5.425)
    assert found.value == found["correlation"].mae
    assert len(found.numbers) == 18
    some = tacit.DistanceTable(objects=["data"], value="covariance", error="mv").measure(
        masked, original=data
    )
    assert set(some.distances) == {"data", "covariance"}
    assert some.value == pytest.approx(EXPECTED["domingo_torra_metrics"]["V"]["mv"])


def power_iteration(r):
    """Eigenvectors by power iteration with deflation, largest first."""
    r, vectors, values = r.copy(), [], []
    for _ in range(len(r)):
        v = np.ones(len(r)) + np.arange(len(r)) / 10
        for _ in range(20_000):
            v = r @ v
            v /= np.linalg.norm(v)
        values.append(v @ r @ v)
        vectors.append(v)
        r = r - values[-1] * np.outer(v, v)
    return np.array(values), np.array(vectors).T


def test_components_by_power_iteration():
    values, old = power_iteration(np.corrcoef(OLD, rowvar=False))
    new_values, new = power_iteration(np.corrcoef(NEW, rowvar=False))
    new = new * np.sign((old * new).sum(axis=0))
    share = values / values.sum()
    rf = (old * np.sqrt(values), new * np.sqrt(new_values))
    expected = EXPECTED["domingo_torra_metrics"]
    assert (share * np.abs(rf[0] - rf[1])).mean() == pytest.approx(expected["RF"]["mae"], rel=1e-6)
    assert (share * np.abs(old - new)).mean() == pytest.approx(expected["F"]["mae"], rel=1e-6)


@given(st.integers(0, 10_000), st.integers(2, 5))
@settings(max_examples=25, deadline=None)
def test_nothing_changed_and_signs_do_not_matter(seed, p):
    x = np.random.default_rng(seed).gamma(2, size=(30, p))
    assert all(d.mse < 1e-20 and d.mae < 1e-10 for d in distances(x, x).values())
    # Masking that turns every column around its mean turns the components of both alike.
    y = 2 * x.mean(axis=0) - x
    assert distances(x, y)["correlation"].mae == pytest.approx(0, abs=1e-10)
    assert distances(x, y)["coefficients"].mae == pytest.approx(0, abs=1e-6)


def test_zero_originals_have_no_variation():
    x = np.array([[0.0, 1.0], [2.0, 5.0], [4.0, 3.0]])
    found = distances(x, x + 1)["data"]
    assert found.zeros == 1
    assert found.mv == pytest.approx(np.mean([1 / v for v in (1, 2, 5, 4, 3)]))


def test_refusals():
    data = tacit.read({"a": [1.0, 2.0, 3.0], "b": [2.0, 1.0, 5.0], "c": [1.0, 1.0, 1.0]})
    measure = tacit.DistanceTable(columns=["a", "b"])
    with pytest.raises(InputError, match="at least two columns"):
        tacit.DistanceTable(columns=["a"]).measure(data, original=data)
    with pytest.raises(InputError, match="'c' is constant"):
        tacit.DistanceTable().measure(data, original=data)
    with pytest.raises(InputError, match="different records"):
        measure.measure(tacit.Sample(n=2).apply(data, seed=1), original=data)
    holes = tacit.read({"a": [1.0, None, 3.0], "b": [2.0, 1.0, 5.0]})
    with pytest.raises(InputError, match="missing values"):
        measure.measure(holes, original=holes)
