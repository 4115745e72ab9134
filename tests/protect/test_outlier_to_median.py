import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import ColumnNotFound, InputError
from tacit.records.noise.outlier_to_median import centre_and_scale, group_medians, nearest_whole


def column(result, name="x"):
    return result.column(name).to_pylist()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-1e6, 1e6)), max_size=30))
def test_group_medians_against_numpy(records):
    g = np.array([r[0] for r in records], dtype=np.int64)
    x = np.array([r[1] for r in records], dtype=np.float64)
    found = group_medians(x, g, 4)
    for i in range(4):
        expected = np.median(x[g == i]) if (g == i).any() else 0
        assert found[i] == pytest.approx(expected)


def test_missing_values_stay_and_types_stay():
    data = tacit.read({"x": [1, 2, None, 3, 4, 100], "y": [1.0, 2.0, 3.0, 4.0, 1e9, None]})
    result = tacit.OutlierToMedian(columns=("x", "y")).apply(data)
    assert column(result) == [1, 2, None, 3, 4, 3]
    assert column(result, "y") == [1.0, 2.0, 3.0, 4.0, 3.0, None]
    assert result.to_arrow().schema == data.to_arrow().schema
    assert result.history[-1].details == {"changed": {"x": 1, "y": 1}, "mad_zero": []}


def test_mad_of_zero_uses_the_mean_deviation_and_says_so():
    data = tacit.read({"x": [5] * 20 + [6, 1000]})
    result = tacit.OutlierToMedian(columns=("x",)).apply(data)
    assert column(result) == [5] * 20 + [6, 5]
    assert result.history[-1].details["mad_zero"] == ["x"]
    constant = tacit.OutlierToMedian(columns=("x",)).apply(tacit.read({"x": [5, 5, 5]}))
    assert constant.history[-1].details == {"changed": {"x": 0}, "mad_zero": []}


def test_by_class():
    data = tacit.read({"g": ["a"] * 5 + ["b"] * 5, "x": [1, 2, 3, 4, 100, 101, 102, 103, 104, 3]})
    result = tacit.OutlierToMedian(columns=("x",), by=("g",)).apply(data)
    assert column(result) == [1, 2, 3, 4, 3, 101, 102, 103, 104, 102]


def test_half_away_from_zero():
    assert nearest_whole(np.array([2.5, -2.5, 1.4, 0.0])).tolist() == [3, -3, 1, 0]


def test_no_known_values():
    empty = np.zeros(3), np.zeros(3, dtype=bool), np.zeros(3, dtype=np.int64)
    middle, scale, zero = centre_and_scale(*empty, 1)
    assert (middle.tolist(), scale.tolist(), zero) == ([0.0], [0.0], False)


def test_faults():
    with pytest.raises(InputError):
        tacit.OutlierToMedian(columns=("x",)).apply(tacit.read({"x": ["a"]}))
    with pytest.raises(ColumnNotFound):
        tacit.OutlierToMedian(columns=("x",), by=("g",)).apply(tacit.read({"x": [1]}))
