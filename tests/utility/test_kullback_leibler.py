"""Divergences of tables, by hand and by what they must see."""

import math

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.errors import InputError


def test_divergence_of_two_tables_by_hand():
    data = tacit.read({"g": list("aaab")})
    masked = data.replace({"g": list("aabb")})
    found = tacit.KullbackLeibler().measure(masked, original=data)
    p, q = (3.5 / 5, 1.5 / 5), (2.5 / 5, 2.5 / 5)
    expected = sum(a * math.log2(a / b) for a, b in zip(p, q, strict=True))
    assert found.value == pytest.approx(expected)
    one = found.divergences["g"]
    assert one.variation == pytest.approx(0.25)
    assert one.hellinger**2 == pytest.approx(1 - math.sqrt(0.75 * 0.5) - math.sqrt(0.25 * 0.5))


def test_pairs_see_what_columns_do_not():
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 2000)
    v0 = rng.normal(10 * (sex == "m"), 2)
    data = tacit.read({"sex": sex, "v0": v0})
    mixed = data.replace({"v0": v0[rng.permutation(2000)]})
    one, two = (
        tacit.KullbackLeibler(columns=["sex", "v0"], order=order).measure(mixed, original=data)
        for order in (1, 2)
    )
    assert one.value == pytest.approx(0, abs=1e-12)
    assert two.value > 0.3
    assert two.plot().svg().startswith("<svg")


def test_missing_values_and_codes_are_cells():
    data = tacit.read({"x": [1.0, 2.0, None, 4.0], "code": [1, 1, 2, 2]})
    gone = data.replace({"x": [1.0, None, None, 4.0], "code": [1, 2, 2, 2]})
    found = tacit.KullbackLeibler(categorical=["code"], bins=2).measure(gone, original=data)
    assert found.divergences["x"].variation == pytest.approx(0.25)
    assert found.divergences["code"].cells == 2


def test_refusals():
    data = tacit.read({"x": [1.0, 2.0]})
    with pytest.raises(InputError, match="at least 2 columns"):
        tacit.KullbackLeibler(order=2).measure(data, original=data)
    empty = data.replace({"x": pa.array([None, None], pa.float64())})
    with pytest.raises(InputError, match="no known value in the original"):
        tacit.KullbackLeibler().measure(data, original=empty)
