from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import InputError, InvalidParameter
from tacit.records.generalisation.round_values import one_rounded, round_column, round_integers


def one(value, base, direction="nearest", kind=None):
    array = pa.chunked_array([pa.array([value], kind)])
    return round_column(
        array, Fraction(repr(base)), direction, np.random.default_rng(1), "x"
    ).to_pylist()[0]


@pytest.mark.parametrize(
    ("value", "base", "expected"),
    [
        (22.5, 5, 25.0),
        (-7, 5, -5),
        (-22.5, 5, -25.0),
        (0.15, 0.1, 0.2),
        (0.25, 0.1, 0.3),
        (0.35, 0.1, 0.4),
        (1.005, 0.01, 1.01),
        (2, 5, 0),
        (-2, 5, 0),
        (7, 2.5, 7.5),
        (3, 2, 4),
        (-3, 2, -4),
        (1e15 + 0.5, 1, 1e15 + 1),
    ],
)
def test_half_away_from_zero(value, base, expected):
    assert one(value, base) == expected


@pytest.mark.parametrize(("direction", "expected"), [("down", [-10, 5, 5]), ("up", [-5, 5, 10])])
def test_directions(direction, expected):
    assert [one(v, 5, direction) for v in (-7, 5, 9)] == expected
    assert [one(float(v), 5, direction) for v in (-7, 5, 9)] == expected


@settings(max_examples=100, deadline=None)
@given(
    st.integers(-(10**12), 10**12),
    st.integers(1, 10**6),
    st.sampled_from(["nearest", "down", "up"]),
)
def test_whole_numbers_are_exact(value, base, direction):
    exact = one_rounded(Fraction(value), Fraction(base), direction, 0.0)
    assert one(value, base, direction) == exact
    if direction == "nearest":
        assert abs(exact - value) * 2 <= base


@settings(max_examples=100, deadline=None)
@given(
    st.decimals(-(10**6), 10**6, places=3),
    st.sampled_from([0.1, 0.25, 0.01, 2.5, 5, 0.3]),
    st.sampled_from(["nearest", "down", "up"]),
)
def test_floats_are_rounded_as_the_decimals_they_are_written_as(value, base, direction):
    exact = one_rounded(Fraction(value), Fraction(repr(base)), direction, 0.0)
    assert one(float(value), base, direction) == float(exact)


def test_decimals():
    kind = pa.decimal128(20, 2)
    assert one(Decimal("22.50"), 5, kind=kind) == Decimal(25)
    assert one(Decimal("999999999999999999.99"), 0.1, kind=kind) == Decimal("1000000000000000000.0")
    assert one(Decimal("0.10"), 0.125, kind=kind) == Decimal("0.125")
    assert one(Decimal("0.10"), 0.125, "random", kind=kind) in (Decimal(0), Decimal("0.125"))
    assert one(None, 5, kind=kind) is None


def test_random_rounding_has_no_bias():
    values = np.full(20_000, 12, dtype=np.int64)
    new = round_integers(values, 5, "random", np.random.default_rng(3))
    assert set(new.tolist()) == {10, 15}
    assert new.mean() == pytest.approx(12, abs=0.1)


def test_spec(engine):
    data = tacit.read({"x": [12, None, 18], "y": [0.5, None, 1.26]}, engine=engine)
    result = tacit.RoundValues(columns=("x",), base=5).apply(data)
    assert result.column("x").to_pylist() == [10, None, 20]
    assert result.to_arrow().schema == data.to_arrow().schema
    assert tacit.RoundValues(columns=("y",), base=0.1).apply(data).column("y").to_pylist() == [
        0.5,
        None,
        1.3,
    ]


def test_faults():
    with pytest.raises(InvalidParameter):
        tacit.RoundValues(columns=("x",), base=0)
    with pytest.raises(InputError):
        tacit.RoundValues(columns=("x",), base=5).apply(tacit.read({"x": ["a"]}))
    with pytest.raises(InputError):
        one(2**63 - 1, 10)
    with pytest.raises(InputError):
        one(127, 10, kind=pa.int8())
