"""Microaggregated series of a file: groups of k in each series, means kept, pieces, missing values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import ColumnNotFound, Infeasible, InputError, InvalidParameter
from tacit.series import Panel, microaggregated

A = [f"a{i}" for i in range(6)]
B = [f"b{i}" for i in range(4)]
SERIES = {"a": A, "b": B}


def read(n=40, seed=1, **other):
    rng = np.random.default_rng(seed)
    a, b = (rng.normal(size=(n, p)).cumsum(axis=1) for p in (6, 4))
    columns = {**dict(zip(A, a.T, strict=True)), **dict(zip(B, b.T, strict=True)), **other}
    return tacit.read(columns)


def matrix(data, columns):
    return np.column_stack([data.column(c).to_numpy() for c in columns])


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 2))
@settings(max_examples=15, deadline=None)
def test_what_is_promised(seed, k, pieces):
    data = read(n=20, seed=seed)
    spec = tacit.MicroaggregateSeries(series=SERIES, k=k, pieces=pieces)
    masked = spec.apply(data)
    for columns in spec.cut():
        _, counts = np.unique(matrix(masked, columns), axis=0, return_counts=True)
        assert counts.min() >= k
        assert matrix(masked, columns).mean(axis=0) == pytest.approx(
            matrix(data, columns).mean(axis=0), abs=1e-12
        )
    assert len(spec.cut()) == 2 * pieces
    (claim,) = masked.history[-1].claims
    assert claim.holds(masked.frame)
    assert not claim.holds(data.frame)
    assert masked.history[-1].details["smallest_group"] >= k


def test_the_same_as_on_arrays():
    data = read()
    masked = tacit.MicroaggregateSeries(series=SERIES, k=4, pieces=2).apply(data)
    for columns in (A, B):
        panel = Panel.of(matrix(data, columns))
        wanted = microaggregated(panel, 4, pieces=2)
        found = Panel.of(matrix(masked, columns)).pieces(2)
        assert np.allclose(found.values, wanted.values, equal_nan=True)


def test_more_pieces_stay_closer_to_the_original():
    data = read(n=200)
    away = []
    for pieces in (1, 3, 6):
        spec = tacit.MicroaggregateSeries(series={"a": A}, k=5, pieces=pieces, normalise="none")
        away.append(np.abs(matrix(spec.apply(data), A) - matrix(data, A)).mean())
    assert away[0] > away[1] > away[2]


def test_missing_values():
    data = read()
    holed = np.asarray(data.column("a1").to_numpy()).copy()
    holed[7] = np.nan
    data = data.replace({"a1": holed})
    data = tacit.read(data.to_arrow().to_pandas())
    with pytest.raises(InputError, match="missing='keep'"):
        tacit.MicroaggregateSeries(series=SERIES).apply(data)
    masked = tacit.MicroaggregateSeries(series=SERIES, missing="keep").apply(data)
    assert matrix(masked, A)[7] == pytest.approx(matrix(data, A)[7], nan_ok=True)
    assert not np.allclose(matrix(masked, B)[7], matrix(data, B)[7])
    (claim,) = masked.history[-1].claims
    assert claim.holds(masked.frame)
    assert "as they are" in claim.assumptions[0]


def test_whole_numbers():
    data = tacit.read(
        {f"y{i}": [int(x) for x in range(i, i + 12)] for i in range(3)} | {"y1": [3] * 12}
    )
    spec = {"series": {"y": ["y0", "y1", "y2"]}, "k": 3, "normalise": "none"}
    rounded = tacit.MicroaggregateSeries(**spec, whole=True).apply(data)
    assert rounded.column("y0").type == data.column("y0").type
    assert tacit.MicroaggregateSeries(**spec).apply(data).column("y0").type == "double"


BAD = {
    "series must be given": {},
    "each column once": {"series": {"a": ["a0", "a0"]}},
    "more pieces than they have columns": {"series": SERIES, "pieces": 5},
    "one column has no shape": {"series": SERIES, "pieces": 4},
    "k must be at least 2": {"series": SERIES, "k": 1},
}


@pytest.mark.parametrize("sentence", BAD)
def test_bad_parameters(sentence):
    with pytest.raises(InvalidParameter, match=sentence):
        tacit.MicroaggregateSeries(**BAD[sentence])


def test_bad_data():
    with pytest.raises(Infeasible, match="at least 9 complete series"):
        tacit.MicroaggregateSeries(series=SERIES, k=9).apply(read(n=8))
    with pytest.raises(ColumnNotFound):
        tacit.MicroaggregateSeries(series={"a": ["a0", "nothing"]}).apply(read())
    with pytest.raises(InputError, match="does not hold numbers"):
        tacit.MicroaggregateSeries(series={"a": ["a0", "t"]}).apply(read(t=["x"] * 40))
