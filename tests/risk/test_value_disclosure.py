"""Value disclosure: R squared by hand, and how methods compare."""

import json
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.errors import ColumnNotFound, InputError, InvalidParameter

FOLDER = Path(__file__).parents[1] / "fixtures" / "psd15-swap-vs-shuffle"
EXAMPLE = json.loads((FOLDER / "deterministic_examples.json").read_text())["value_disclosure"]


def r_squared(x, predictors):
    design = np.column_stack([np.ones(len(x)), *predictors])
    rest = x - design @ np.linalg.lstsq(design, x, rcond=None)[0]
    return 1 - rest.var() / x.var()


def test_the_worked_example():
    data, masked = tacit.read({"x": EXAMPLE["X"]}), tacit.read({"x": EXAMPLE["Y"]})
    found = tacit.ValueDisclosure().measure(masked, original=data)
    assert found.parts["x"].own == pytest.approx(EXAMPLE["expected"])
    assert found.value == pytest.approx(EXAMPLE["expected"])
    assert found.parts["x"].given == 0


def test_the_four_shares_by_hand():
    rng = np.random.default_rng(1)
    n = 300
    s = rng.normal(size=n)
    group = rng.integers(0, 3, n)
    a = s + group + rng.normal(size=n)
    b = a + rng.normal(size=n)
    names = np.array(["u", "v", "w"])[group]
    data = tacit.read({"s": s, "g": names, "a": a, "b": b})
    ya, yb = a + rng.normal(size=n), b + rng.normal(size=n)
    masked = tacit.read({"s": s, "g": names, "a": ya, "b": yb})
    found = tacit.ValueDisclosure(given=["s", "g"], intruder="all").measure(masked, original=data)
    dummies = [group == 0, group == 1]
    for c, x, y in (("a", a, ya), ("b", b, yb)):
        part = found.parts[c]
        assert part.own == pytest.approx(r_squared(x, [y]))
        assert part.given == pytest.approx(r_squared(x, [s, *dummies]))
        assert part.all == pytest.approx(r_squared(x, [s, *dummies, ya, yb]))
        assert part.added == pytest.approx((part.all - part.given) / (1 - part.given))
    assert found.value == max(p.all for p in found.parts.values())
    assert found.frame["column"].to_list() == ["a", "b"]
    by_default = tacit.ValueDisclosure().measure(masked, original=data)
    assert by_default.parts["a"].given == pytest.approx(r_squared(a, [s]))


def test_unmasked_values_are_told_and_constant_ones_tell_nothing():
    x = np.random.default_rng(1).normal(size=50)
    data = tacit.read({"x": x, "y": x[::-1].copy()})
    same = tacit.ValueDisclosure(columns=["x"], given=[]).measure(data, original=data)
    assert same.parts["x"].own == pytest.approx(1)
    flat = tacit.read({"x": np.zeros(50), "y": x[::-1].copy()})
    assert tacit.ValueDisclosure().measure(flat, original=data).parts["x"].own == 0


def test_missing_and_dropped_records():
    rng = np.random.default_rng(1)
    x = rng.normal(size=30)
    x[3] = np.nan
    data = tacit.read({"x": x, "s": np.arange(30.0)})
    masked = tacit.CorrelatedNoise(columns=["x"], lambda_squared=0.5, missing="keep").apply(
        data, seed=1
    )
    kept = masked.take(np.arange(10, 30))
    found = tacit.ValueDisclosure().measure(kept, original=data)
    assert found.numbers["records"] == 20
    y = kept.column("x").to_numpy()
    assert found.parts["x"].own == pytest.approx(np.corrcoef(x[10:], y)[0, 1] ** 2)


def test_bad_input():
    data = tacit.read({"x": [1.0, 2, 3], "s": ["a", "b", "c"]})
    with pytest.raises(InputError, match="no shared numeric column was changed"):
        tacit.ValueDisclosure().measure(data, original=data)
    flat = tacit.read({"x": [1.0, 1, 1]})
    with pytest.raises(InputError, match="constant"):
        tacit.ValueDisclosure(columns=["x"]).measure(flat, original=flat)
    with pytest.raises(InvalidParameter, match="must not hold a confidential column"):
        tacit.ValueDisclosure(columns=["x"], given=["x"])
    with pytest.raises(InputError, match="does not hold numbers"):
        tacit.ValueDisclosure(columns=["s"]).measure(data, original=data)
    with pytest.raises(ColumnNotFound):
        tacit.ValueDisclosure(columns=["x"]).measure(data, original=tacit.read({"z": [1.0, 2, 3]}))
    many = tacit.read({"x": np.arange(400.0), "s": [f"s{i}" for i in range(400)]})
    with pytest.raises(InputError, match="more than 300 categories"):
        tacit.ValueDisclosure(columns=["x"], given=["s"]).measure(many, original=many)
    two = tacit.read({"x": [1.0, 2.0]})
    with pytest.raises(InputError, match="at least three records"):
        tacit.ValueDisclosure(columns=["x"]).measure(two, original=two)
