"""Interval disclosure as a measure."""

import json

import numpy as np
import pytest

import tacit
from conftest import FIXTURES
from tacit.errors import InputError, InvalidParameter


def files():
    case = json.loads((FIXTURES / "psd29-sdc-in-r" / "il1_and_interval_risk.json").read_text())
    x, y = (np.array(case["input"][k], float) for k in ("X", "X_masked"))
    return (tacit.read({"a": z[:, 0], "b": z[:, 1]}) for z in (x, y))


def test_the_derived_example():
    before, after = files()
    for width in (0.05, 0.25, 0.5, 1.0):
        found = tacit.IntervalDisclosure(width=width).measure(after, original=before)
        assert found.value == found.share == 0.0
    # |x - x'| is 0.5, 0.5, 1.5, 1.5 and the released sd 2.309; 2, 2, 6, 6 and 1.155.
    assert found.by_column == {"a": 1.0, "b": 0.0}
    wide = tacit.IntervalDisclosure(width=2.0).measure(after, original=before)
    assert wide.by_column == {"a": 1.0, "b": 0.5}
    assert wide.value == 0.5
    own = tacit.IntervalDisclosure(width=0.5, spread="original").measure(after, original=before)
    assert own.by_column == {"a": 0.5, "b": 0.5}


def test_shares_at_all_widths():
    rng = np.random.default_rng(1)
    data = tacit.read({"a": rng.normal(size=500), "b": rng.normal(size=500), "c": np.arange(500.0)})
    release = tacit.CorrelatedNoise(columns=["a", "b"], lambda_squared=0.01).apply(data, seed=1)
    found = tacit.IntervalDisclosure(width=0.07).measure(release, original=data)
    rows = found.frame.rows(named=True)
    assert {r["column"] for r in rows} == {"all columns", "a", "b"}
    for interval in ("sd", "rank"):
        shares = [
            r["share"] for r in rows if r["interval"] == interval and r["column"] == "all columns"
        ]
        assert shares == sorted(shares)
        assert len(shares) == (8 if interval == "sd" else 10)
    by_rank = tacit.IntervalDisclosure(interval="rank").measure(release, original=data)
    at_five = [
        r["share"]
        for r in rows
        if (r["interval"], r["width"], r["column"]) == ("rank", 5.0, "all columns")
    ]
    assert [by_rank.value] == at_five
    for result in (found, by_rank):
        assert result.plot().alt.startswith("Share of records inside on all columns")
    assert tacit.IntervalDisclosure().measure(data, original=data).value == 1.0


def test_faults():
    before, after = files()
    with pytest.raises(InvalidParameter, match="a percentage, at most 100"):
        tacit.IntervalDisclosure(interval="rank", width=200)
    text = tacit.read({"t": ["x", "y"]})
    with pytest.raises(InputError, match="needs a numeric column"):
        tacit.IntervalDisclosure().measure(text, original=text)
    with pytest.raises(InputError, match="needs records that are in original and release"):
        tacit.IntervalDisclosure().measure(
            after.take(np.array([], dtype=np.int64)), original=before
        )
