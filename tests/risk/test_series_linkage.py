"""Linkage of time series between files: counts, ties, dropped records, bad input."""

import math

import numpy as np
import pytest

import tacit
from tacit.errors import ColumnNotFound, InputError, InvalidParameter, SdcWarning
from tacit.records.linkage.series_attack import standard_attack
from tacit.series import Distance, Panel, attack, microaggregated, normalise

YEARS = range(2000, 2010)
INCOME = [f"income_{y}" for y in YEARS]
RENT = [f"rent_{y}" for y in YEARS]
SERIES = {"income": INCOME, "rent": RENT}


def cube(n=80, seed=1):
    return np.random.default_rng(seed).normal(size=(n, 2, 10)).cumsum(axis=2)


def read(x, **more):
    flat = x.reshape(len(x), -1)
    columns = dict(zip([*INCOME, *RENT], flat.T, strict=True))
    return tacit.read(
        {"id": [f"p{i}" for i in range(len(x))], **columns, **more}, identifiers=["id"]
    )


def test_counts_are_those_of_the_arrays():
    x = cube()
    data = read(x)
    masked = tacit.MicroaggregateSeries(series=SERIES, k=4).apply(data)
    panel, other = Panel.of(x), microaggregated(Panel.of(x), 4)
    a, b = normalise(panel, "series_standard"), normalise(other, "series_standard")
    for kind in ("minkowski", "sts", "correlation", "dtw"):
        found = tacit.SeriesLinkage(series=SERIES, distance=kind).measure(masked, original=data)
        wanted = attack(a, b, Distance(kind))
        for rule in ("first", "unique", "expected", "any"):
            assert found.by_rule[rule] == pytest.approx(wanted.correct(rule).sum())
        assert found.correct == found.by_rule["expected"]
        assert found.value == found.share == found.correct / 80
        assert found.frame["link"].to_list() == wanted.links.nearest.tolist()
        assert found.frame["correct"].sum() == pytest.approx(found.correct)
        usual = standard_attack(panel, other, "expected").sum()
        assert found.standard == pytest.approx(usual / 80)
        assert found.chance == 1 / 80
    assert "suits these series" in found.explanation
    assert found.advice.equal_lengths


def test_one_series_masked_is_found_once_in_k():
    data = read(cube())
    masked = tacit.MicroaggregateSeries(series={"income": INCOME}, k=5).apply(data)
    spec = tacit.SeriesLinkage(series={"income": INCOME})
    found = spec.measure(masked, original=data)
    assert found.share <= 1 / 5
    assert found.by_rule["unique"] == 0


def test_records_dropped_from_the_release():
    data = read(cube())
    kept = tacit.Sample(share=0.5).apply(data, seed=1)
    found = tacit.SeriesLinkage(series=SERIES).measure(kept, original=data)
    assert found.numbers["of them in both files"] == len(kept)
    assert found.correct == len(kept)
    assert found.chance == 1 / len(kept)


def test_weights_and_times():
    data = read(cube())
    noisy = tacit.AddNoise(columns=RENT, sd=40).apply(data, seed=1)
    both = tacit.SeriesLinkage(series=SERIES).measure(noisy, original=data)
    one = tacit.SeriesLinkage(series=SERIES, weights={"rent": 0}).measure(noisy, original=data)
    assert one.correct == 80
    assert both.correct <= one.correct
    assert both.frame["distance"].min() > one.frame["distance"].max()
    even = tacit.SeriesLinkage(series=SERIES, distance="sts", times=list(YEARS))
    plain = tacit.SeriesLinkage(series=SERIES, distance="sts")
    assert even.measure(noisy, original=data).correct == plain.measure(noisy, original=data).correct
    uneven = tacit.SeriesLinkage(
        series=SERIES, distance="sts", times={"income": [0, *range(9, 18)]}, normalise="none"
    )
    assert not np.allclose(
        uneven.measure(noisy, original=data).frame["distance"].to_numpy(),
        tacit.SeriesLinkage(series=SERIES, distance="sts", normalise="none")
        .measure(noisy, original=data)
        .frame["distance"]
        .to_numpy(),
    )


def test_missing_values():
    x = cube()
    x[3, 0, 4] = np.nan
    data = read(x)
    with pytest.raises(InputError, match="missing values; interpolate them first"):
        tacit.SeriesLinkage(series=SERIES).measure(data, original=data)
    found = tacit.SeriesLinkage(series=SERIES, interpolate=True).measure(data, original=data)
    assert found.correct == 80


def test_series_that_end_early():
    x = cube()
    x[::3, 0, 7:] = np.nan
    data = read(x)
    with pytest.raises(InputError, match="needs series of equal length; use dtw, or resample"):
        tacit.SeriesLinkage(series=SERIES).measure(data, original=data)
    found = tacit.SeriesLinkage(series=SERIES, distance="dtw").measure(data, original=data)
    assert found.correct == 80
    assert math.isnan(found.standard)
    assert "dtw suits" in found.explanation
    assert found.plot().svg().startswith("<svg")
    again = tacit.SeriesLinkage(series=SERIES, resample=10).measure(data, original=data)
    assert again.correct == 80


def test_series_of_different_numbers_of_points():
    data = read(cube())
    spec = tacit.SeriesLinkage(series={"income": INCOME, "rent": RENT[:4]})
    assert spec.measure(data, original=data).correct == 80


BAD = {
    "series must be given": {},
    "each column once": {"series": {"a": ["x", "y"], "b": ["y"]}},
    "strictly increasing": {"series": {"a": ["x", "y"]}, "times": [1, 1]},
    "one for each column": {"series": {"a": ["x", "y"]}, "times": [1, 2, 3]},
    "times name 'b', which is no series": {"series": {"a": ["x"]}, "times": {"b": [1]}},
    "weights name 'b', which is no series": {"series": {"a": ["x"]}, "weights": {"b": 1}},
    "must not be negative": {"series": {"a": ["x"]}, "weights": {"a": -1}},
    "q must be at least 1": {"series": {"a": ["x"]}, "q": 0.5},
    "beta must be greater than 0": {"series": {"a": ["x"]}, "beta": 0},
    "resample must be at least 2": {"series": {"a": ["x"]}, "resample": 1},
    "window must be at least 0": {"series": {"a": ["x"]}, "window": -1},
    "distance must be one of": {"series": {"a": ["x"]}, "distance": "euclid"},
}


@pytest.mark.parametrize("sentence", BAD)
def test_bad_parameters(sentence):
    with pytest.raises(InvalidParameter, match=sentence):
        tacit.SeriesLinkage(**BAD[sentence])


def test_bad_data():
    data = read(cube())
    with pytest.raises(ColumnNotFound):
        tacit.SeriesLinkage(series={"a": ["nothing"]}).measure(data, original=data)
    with pytest.raises(InputError, match="does not hold numbers"):
        tacit.SeriesLinkage(series={"a": ["id"]}).measure(data, original=data)
    with pytest.raises(ColumnNotFound, match="the original"):
        tacit.SeriesLinkage(series=SERIES).measure(data, original=data.drop(["rent_2000"]))
    one = read(cube(n=1))
    with pytest.raises(InputError, match="at least two records"):
        tacit.SeriesLinkage(series=SERIES).measure(one, original=one)
    x = cube()
    x[0, 0, 0] = np.inf
    with pytest.raises(InputError, match="infinite"):
        tacit.SeriesLinkage(series=SERIES).measure(read(x), original=read(x))
    x = cube()
    x[0, 0] = 1.0
    with pytest.warns(SdcWarning, match="constant series became zeros"):
        tacit.SeriesLinkage(series=SERIES).measure(read(x), original=read(x))
