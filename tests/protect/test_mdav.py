"""MDAV as a Spec: published loss, means, strata, households, missing values."""

from pathlib import Path

import numpy as np
import pytest

import tacit

CASC = Path(__file__).parents[1] / "fixtures" / "casc"


@pytest.mark.parametrize(
    ("file", "k", "percent"),
    [("census", 3, 5.69219), ("census", 10, 14.15593), ("tarragona", 3, 16.93259)],
)
def test_published_loss(file, k, percent):
    data = tacit.read(CASC / f"{file}.csv")
    masked = tacit.Mdav(k=k).apply(data)
    assert masked.history[-1].details["sse_percent"] == pytest.approx(percent, abs=1e-5)
    for c in data.columns:
        assert masked.column(c).to_numpy().mean() == pytest.approx(data.column(c).to_numpy().mean())


def test_strata_are_kept_apart():
    data = tacit.read({"g": ["a", "b"] * 10, "x": np.arange(20.0), "y": np.arange(20.0) ** 2})
    masked = tacit.Mdav(k=3, by=["g"]).apply(data)
    even, odd = (set(masked.column("x").to_numpy()[i::2]) for i in (0, 1))
    assert not even & odd


def test_households_stay_whole():
    data = tacit.read(
        {"h": np.repeat(np.arange(8), 2), "x": np.repeat(np.arange(8.0), 2)}, household="h"
    )
    masked = tacit.Mdav(k=2, unit="household").apply(data).column("x").to_numpy()
    assert (masked[::2] == masked[1::2]).all()
    _, sizes = np.unique(masked, return_counts=True)
    assert sizes.min() >= 4


def test_records_with_a_hole_stay_as_they_are():
    data = tacit.read({"x": [1.0, 2.0, None, 4.0, 5.0], "y": [1, 2, 3, 4, 5]})
    with pytest.raises(tacit.SdcError, match="missing='keep'"):
        tacit.Mdav(k=2).apply(data)
    masked = tacit.Mdav(k=2, missing="keep").apply(data)
    assert masked.column("y").to_pylist() == [1.5, 1.5, 3.0, 4.5, 4.5]
    assert masked.column("x").to_pylist()[2] is None


def test_one_seed_is_the_mdav_of_2006():
    data = tacit.read(CASC / "tarragona.csv")
    masked = tacit.Mdav(k=3, seeds=1).apply(data)
    assert masked.history[-1].details["sse_percent"] == pytest.approx(16.96611, abs=5e-5)


def numbers(n=600, **more):
    rng = np.random.default_rng(1)
    return tacit.read({"x": rng.lognormal(size=n), "y": rng.normal(size=n), **more})


def test_improve_lowers_the_loss():
    plain = tacit.Mdav(k=3).apply(numbers(200)).history[-1].details
    found = tacit.Mdav(k=3, improve=True).apply(numbers(200), seed=1).history[-1].details
    assert found["sse_percent"] < plain["sse_percent"]
    assert found["smallest_group"] >= 3
    assert found["largest_group"] <= 5


def test_the_seed_matters_only_to_the_improvement():
    assert not tacit.Mdav(k=3).random
    assert tacit.Mdav(k=3, improve=True).random


def test_blocks_are_noted_with_their_price():
    exact = tacit.Mdav(k=3).apply(numbers()).history[-1].details
    found = tacit.Mdav(k=3, blocks=4).apply(numbers()).history[-1].details
    assert found["blocks"] == 4
    assert found["sse_percent"] > exact["sse_percent"]
    assert 0 <= found["estimated_gap_percent"] < 50
    assert "blocks" not in exact
    assert "blocks" not in tacit.Mdav(k=3, blocks=1).apply(numbers()).history[-1].details


def test_blocks_within_strata():
    data = numbers(g=["a", "b"] * 300)
    method = tacit.Mdav(k=3, blocks=4, by=["g"])
    assert method.apply(data).history[-1].details["blocks"] == 8
    assert method.apply(data).history[-1].details["blocks"] == 8
    assert method == tacit.Mdav(k=3, blocks=4, by=["g"])


def test_automatic_blocks_warn_when_they_come_in(monkeypatch):
    method = tacit.Mdav(k=3, blocks="auto")
    assert "blocks" not in method.apply(numbers()).history[-1].details
    monkeypatch.setattr("tacit.records.microaggregation.mdav.automatic_blocks", lambda _n, _p: 4)
    with pytest.warns(tacit.errors.Approximate, match="estimated to raise the loss by"):
        masked = method.apply(numbers())
    assert masked.history[-1].details["blocks"] == 4


def test_bad_blocks():
    with pytest.raises(tacit.SdcError, match="blocks"):
        tacit.Mdav(blocks=0)
    with pytest.raises(tacit.SdcError, match="blocks"):
        tacit.Mdav(blocks="some")
