"""Spread within cells: the worked case and its brute force."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from conftest import FIXTURES
from tacit.records.values.cell_spread import cells_of

CASE = json.loads(
    (FIXTURES / "psd27-household-expenditure-survey" / "disclosure_risk_toy.json").read_text()
)


def toy():
    cells = CASE["input"]["masked_values_by_cell"]
    return tacit.read(
        {
            "cell": [c for c, values in cells.items() for _ in values],
            "rent": [float(v) for values in cells.values() for v in values],
        },
        keys=["cell"],
    )


def test_worked_case():
    found = tacit.CellSpread(column="rent", above=CASE["input"]["c1"]).measure(toy())
    expected = CASE["expected"]
    names = {"mean_deviation": "mean_abs_deviation", "gini": "gini_mean_difference"}
    for name in ("variance", "range", "mean_deviation", "gini"):
        printed = names.get(name, name)
        assert found.after.smallest(name) == pytest.approx(expected["DR_spread_min"][printed])
        by_cell = [expected["spread"][c][printed] for c in "ABC"]
        assert found.after.spreads[name] == pytest.approx(by_cell)
    assert found.after.tails["above"] == pytest.approx([expected["tail"][c] for c in "ABC"])
    assert found.after.largest("above") == pytest.approx(expected["DR_tail_max"])


def test_the_largest_population_risk_is_one_over_the_smallest_cell():
    sizes = CASE["population_risk"]["F_k"]
    register = tacit.read({"cell": np.repeat(list("abcd"), sizes)}, keys=["cell"])
    sample = tacit.read({"cell": list("abcd")}, keys=["cell"])
    smallest = tacit.KMap(k=2).measure(sample, register=register).numbers
    assert 1 / min(sizes) == pytest.approx(CASE["population_risk"]["DR"])
    assert min(sizes) in smallest.values()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-20, 20)), min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_against_plain_definitions(rows):
    ids, x = (np.array(part) for part in zip(*rows, strict=True))
    found = cells_of(x.astype(float), ids, {"above": x > 3})
    for i, cell in enumerate(np.unique(ids)):
        v = x[ids == cell].astype(float)
        n = len(v)
        assert found.spreads["range"][i] == v.max() - v.min()
        assert found.spreads["variance"][i] == pytest.approx(v.var(ddof=1) if n > 1 else 0)
        assert found.spreads["mean_deviation"][i] == pytest.approx(np.abs(v - v.mean()).mean())
        gini = np.abs(v[:, None] - v).sum() / (n * (n - 1)) if n > 1 else 0
        assert found.spreads["gini"][i] == pytest.approx(gini, abs=1e-9)
        assert found.tails["above"][i] == pytest.approx((v > 3).mean())


def test_the_original_stands_beside_and_limits_must_be_named():
    data = toy()
    found = tacit.CellSpread(column="rent", below=200).measure(data, original=data)
    assert found.numbers["smallest range"] == found.numbers["smallest range, original"]
    assert found.numbers["largest share below the limit"] == pytest.approx(1 / 3)
    with pytest.raises(tacit.SdcError, match="no limit for 2 categories"):
        tacit.CellSpread(column="rent", above={"A": 5}).measure(data)
