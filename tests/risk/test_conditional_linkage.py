"""Conditional linkage of files: targets, chance, dropped records, scales."""

import json
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.errors import ColumnNotFound, InputError

FOLDER = Path(__file__).parents[1] / "fixtures" / "psd15-swap-vs-shuffle"
EXAMPLE = json.loads((FOLDER / "deterministic_examples.json").read_text())["fuller_linkage"]


def read(rows):
    a = np.array(rows)
    return tacit.read({"a": a[:, 0], "b": a[:, 1]})


def test_the_worked_example():
    found = tacit.ConditionalLinkage().measure(read(EXAMPLE["Y"]), original=read(EXAMPLE["X"]))
    assert found.rate == 1.0
    assert found.chance == 1 / 8
    own = np.diag(np.array(EXAMPLE["expected"]["probabilities"]))
    assert found.mean_probability == pytest.approx(own.mean(), abs=1e-8)
    assert found.frame["probability"].to_numpy() == pytest.approx(own, abs=1e-8)
    assert found.standard_error == 0


def normal(n=400, p=3, seed=1):
    rng = np.random.default_rng(seed)
    return tacit.read({f"v{i}": np.exp(rng.normal(size=n)) for i in range(p)})


def test_probabilities_are_estimated_from_some_targets():
    data = normal()
    masked = tacit.RankSwap(percent=10).apply(data, seed=1)
    whole = tacit.ConditionalLinkage().measure(masked, original=data)
    some = tacit.ConditionalLinkage(targets=150).measure(masked, original=data, seed=2)
    assert some.rate == whole.rate
    assert some.standard_error > 0
    assert abs(some.mean_probability - whole.mean_probability) < 4 * some.standard_error
    assert some.frame["probability"].null_count() == 250


def test_ranks_link_skewed_columns_better():
    data = normal()
    masked = tacit.RankSwap(percent=5).apply(data, seed=1)
    by_values = tacit.ConditionalLinkage().measure(masked, original=data)
    by_ranks = tacit.ConditionalLinkage(scale="normal_scores").measure(masked, original=data)
    assert by_ranks.rate > 1.5 * by_values.rate


def test_a_shuffle_is_linked_as_by_guessing():
    data = normal(1000)
    masked = tacit.Shuffle().apply(data, seed=1)
    found = tacit.ConditionalLinkage(scale="normal_scores").measure(masked, original=data)
    assert found.rate < 6 / 1000
    assert found.mean_probability == pytest.approx(1 / 1000, rel=0.05)


def test_dropped_records_are_no_targets():
    data = normal(60)
    masked = tacit.CorrelatedNoise(columns=["v0", "v1", "v2"], lambda_squared=0.01).apply(
        data, seed=1
    )
    kept = masked.take(np.arange(20, 60))
    found = tacit.ConditionalLinkage().measure(kept, original=data)
    assert found.numbers["targets"] == found.numbers["masked records"] == 40
    assert found.rate > 0.5


def test_bad_input():
    data = normal(10)
    with pytest.raises(InputError, match="no shared numeric column was changed"):
        tacit.ConditionalLinkage().measure(data, original=data)
    with pytest.raises(ColumnNotFound):
        tacit.ConditionalLinkage(columns=["v0"]).measure(data, original=tacit.read({"z": [1, 2]}))
    few = tacit.read({"a": [1.0, 2, 3], "b": [3.0, 1, 2]})
    with pytest.raises(InputError, match="needs more records"):
        tacit.ConditionalLinkage(columns=["a", "b"]).measure(few, original=few)


def test_one_target_of_many_has_no_standard_error():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(12, 2))
    masked = read(rows + rng.normal(size=rows.shape) / 10)
    found = tacit.ConditionalLinkage(targets=1).measure(masked, original=read(rows), seed=1)
    assert 0 <= found.mean_probability <= 1
    assert np.isnan(found.standard_error)
    two = tacit.ConditionalLinkage(targets=2).measure(masked, original=read(rows), seed=1)
    assert np.isfinite(two.standard_error)
