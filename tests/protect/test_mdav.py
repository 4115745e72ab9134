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
