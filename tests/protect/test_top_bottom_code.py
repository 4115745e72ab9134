"""Top and bottom coding: the worked cases, tails by share, means kept."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from conftest import FIXTURES

CASES = json.loads((FIXTURES / "psd28-argus-software" / "top_bottom_round.json").read_text())


@pytest.mark.parametrize("case", [c for c in CASES["cases"] if c["op"] in {"top", "bottom"}])
def test_worked_cases(case):
    end = case["op"]
    spec = tacit.TopBottomCode(
        column="x", **{end: case["threshold"], f"{end}_value": case["replacement"]}
    )
    assert spec.apply(tacit.read({"x": case["values"]})).column("x").to_pylist() == case["result"]


def test_worked_rounding():
    case = next(c for c in CASES["cases"] if c["op"] == "round")
    data = tacit.read({"x": [float(v) for v in case["values"]]})
    rounded = tacit.RoundValues(columns=["x"], base=case["base"]).apply(data)
    assert rounded.column("x").to_pylist() == case["result"]


def test_a_tail_must_be_large_enough():
    case = next(c for c in CASES["cases"] if c["op"] == "top category check")
    data = tacit.read({"x": case["values"]})
    made = tacit.TopBottomCode(column="x", top=case["threshold"], least=case["min_count"]).apply(
        data
    )
    assert made.history[-1].details["coded"] == {"top": case["top_count"]}
    with pytest.raises(tacit.SdcError, match="fewer than 4 records"):
        tacit.TopBottomCode(column="x", top=case["threshold"], least=4).apply(data)


@given(
    st.lists(st.integers(-50, 50), min_size=3, max_size=60),
    st.floats(0.01, 0.45),
    st.floats(0.01, 0.45),
)
@settings(max_examples=60, deadline=None)
def test_shares_and_means(values, top, bottom):
    data = tacit.read({"x": values, "w": np.arange(1, len(values) + 1)}, weight="w")
    spec = tacit.TopBottomCode(column="x", top_share=top, bottom_share=bottom, replace="mean")
    made = spec.apply(data)
    x, y = np.array(values, float), made.column("x").to_numpy().astype(float)
    coded = made.history[-1].details["coded"]
    assert coded["top"] <= top * len(x)
    assert coded["bottom"] <= bottom * len(x)
    weights = np.arange(1, len(x) + 1)
    assert np.average(y, weights=weights) == pytest.approx(np.average(x, weights=weights))
    assert (x != y).sum() <= sum(coded.values())


def test_whole_numbers_stay_whole_and_holes_stay():
    made = tacit.TopBottomCode(column="x", top=3).apply(tacit.read({"x": [1, None, 9]}))
    assert made.column("x").to_pylist() == [1, None, 3]
    assert made.history[-1].claims[0].holds(made.frame)
    median = tacit.TopBottomCode(column="x", top=3, replace="median")
    assert median.apply(tacit.read({"x": [1, 4, 5, 6]})).column("x").to_pylist() == [1, 5, 5, 5]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "give a top or a bottom"),
        ({"top": 1, "top_share": 0.1}, "not both"),
        ({"top": 1, "bottom": 2}, "must not lie below"),
        ({"top": 1, "bottom_value": 2}, "needs a bottom limit"),
        ({"top_share": 0.5, "bottom_share": 0.5}, "leave some records"),
    ],
)
def test_refusals(parameters, words):
    with pytest.raises(tacit.SdcError, match=words):
        tacit.TopBottomCode(column="x", **parameters)
