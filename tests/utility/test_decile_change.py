"""Deciles by cell: the worked case, kernel deciles, what is left out."""

import json

import numpy as np
import pyarrow as pa
import pytest

import tacit
from conftest import FIXTURES
from tacit.records.swapping.microaggregated_swap import microaggregated_swap
from tacit.stats.estimates import kernel_quantiles, reached_quantiles

CASE = json.loads(
    (FIXTURES / "psd27-household-expenditure-survey" / "decile_utility_toy.json").read_text()
)


def test_worked_case():
    given, expected = CASE["input"], CASE["expected"]
    y, w = np.array(given["y"]), np.array(given["w"])
    masked = microaggregated_swap(y, w, np.array(given["permutation_1based"]) - 1)
    assert masked == pytest.approx(expected["y_masked"])
    q = np.arange(1, 10) / 10
    assert reached_quantiles(y, w, q) == pytest.approx(expected["deciles_original"])
    assert reached_quantiles(masked, w, q) == pytest.approx(expected["deciles_masked"])
    original = tacit.read({"y": y, "w": w}, weight="w")
    released = original.replace({"y": pa.array(masked)})
    found = tacit.DecileChange(columns=["y"]).measure(released, original=original)
    row = found.frame.rows(named=True)[0]
    assert row["relative_max"] == pytest.approx(expected["rel_diff_max"])
    assert row["relative_mean"] == pytest.approx(expected["rel_diff_mean"])
    assert row["absolute_max"] == pytest.approx(max(expected["abs_diff"]))


def test_kernel_deciles_follow_a_known_distribution():
    y = np.random.default_rng(1).normal(size=4000)
    found = kernel_quantiles(y, np.ones(len(y)), np.array([0.1, 0.5, 0.9]))
    assert found == pytest.approx([-1.2816, 0, 1.2816], abs=0.1)
    assert kernel_quantiles(np.full(5, 3.0), np.ones(5), np.array([0.5])) == pytest.approx([3.0])


def test_unweighted_and_kernel_options_differ():
    rng = np.random.default_rng(3)
    data = tacit.read(
        {
            "y": rng.lognormal(size=300),
            "w": rng.integers(1, 20, 300),
            "c": rng.choice(list("ab"), 300),
        },
        weight="w",
    )
    made = tacit.MicroaggregatedSwap(columns=["y"], by=["c"]).apply(data, seed=1)
    values = {
        (e, weighted): tacit.DecileChange(by=["c"], estimate=e, weighted=weighted)
        .measure(made, original=data)
        .value
        for e in ("empirical", "kernel")
        for weighted in (True, False)
    }
    assert len(set(values.values())) == 4
    assert all(v > 0 for v in values.values())


def test_refusals():
    with pytest.raises(tacit.SdcError, match="ascending"):
        tacit.DecileChange(sizes=[5, 2])
    data = tacit.read({"c": ["a", "b"]})
    with pytest.raises(tacit.SdcError, match="no numeric column"):
        tacit.DecileChange().measure(data, original=data)
