"""Loss of a table made from microdata."""

import numpy as np
import pytest

import tacit
from tacit.errors import ColumnNotFound, InvalidParameter


def pair(engine="duckdb"):
    rng = np.random.default_rng(1)
    columns = {
        "area": rng.integers(0, 8, 400),
        "sex": np.array(["f", "m"])[rng.integers(0, 2, 400)],
        "job": rng.integers(0, 4, 400),
        "w": rng.random(400) + 0.5,
    }
    data = tacit.read(columns, keys=["area", "sex", "job"], weight="w", engine=engine)
    return data, tacit.Swap(columns=("area",), share=0.3).apply(data, seed=1)


def test_equals_the_comparison_of_tables(engine):
    data, swapped = pair(engine)
    loss = tacit.TableLoss(rows=["area"], columns=["sex", "job"]).measure(swapped, original=data)
    o, p = (
        tacit.Table.from_microdata(tacit.read(d.to_arrow(), engine=engine), ["area", "sex", "job"])
        for d in (data, swapped)
    )
    found = tacit.compare(o, {"v": p}, [tacit.TableComparison()])
    assert loss.value == pytest.approx(found["v"]["HD"])
    assert loss.numbers["change of Cramér's V, %"] == pytest.approx(found["v"]["RCV"])


@pytest.mark.parametrize("name", ["AAD", "RCV", "LR", "BV_ratio", "RC"])
def test_value_is_the_size_of_the_chosen_loss(name):
    data, swapped = pair()
    spec = tacit.TableLoss(
        rows=["area"], columns=["sex", "job"], loss=name, target={"sex": "m"},
        model=[["area", "sex"], ["job"]],
    )  # fmt: skip
    assert spec.measure(data, original=data).value == 0
    found = spec.measure(swapped, original=data)
    assert found.value > 0
    rows = {r["symbol"]: r["released"] for r in found.frame.rows(named=True)}
    neutral = 1 if name in ("LR", "BV_ratio") else 0
    assert found.value == pytest.approx(abs(rows[name] - neutral))


def test_weights_are_added_up():
    data, swapped = pair()
    spec = tacit.TableLoss(rows=["area"], columns=["sex"], weighted=True)
    found = spec.measure(swapped, original=data)
    rows = {r["symbol"]: r["original"] for r in found.frame.rows(named=True)}
    assert rows["total"] == pytest.approx(sum(data.column("w").to_pylist()))
    assert rows["contributors"] == 400


def test_one_distribution_and_new_categories():
    data = tacit.read({"a": ["x", "y"]})
    other = tacit.read({"a": ["z", "y"]})
    found = tacit.TableLoss(columns=["a"]).measure(other, original=data)
    assert found.value == pytest.approx(1.0)


def test_refusals():
    data, _ = pair()
    with pytest.raises(ColumnNotFound, match="are"):
        tacit.TableLoss(columns=["are"]).measure(data, original=data)
    with pytest.raises(ColumnNotFound, match="'w'"):
        tacit.TableLoss(columns=["sex"], model=[["w"]]).measure(data, original=data)
    with pytest.raises(InvalidParameter, match="must be one of"):
        tacit.TableLoss(columns=["sex"], loss="hellinger")
