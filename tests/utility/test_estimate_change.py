"""Estimates by group from two files: by hand, by brute force, and refusals."""

import math

import numpy as np
import pytest

import tacit
from tacit.errors import ColumnNotFound, InputError, InvalidParameter


def survey(n=600, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n)
    income = np.exp(rng.normal(10, 0.8, n))
    return {
        "sex": rng.choice(["f", "m"], n),
        "age": age,
        "income": income,
        "debt": income * rng.uniform(0, 1, n),
        "w": rng.uniform(1, 4, n),
    }


def rows_of(result):
    return {
        (r["column"], r["statistic"], r["group by"], r["group"]): r
        for r in result.frame.rows(named=True)
    }


def test_worked_by_hand():
    data = tacit.read({"x": [1.0, 2.0, 3.0, 10.0], "g": ["a", "a", "b", "b"]})
    masked = data.replace({"x": [1.0, 3.0, 3.0, 11.0]})
    rows = rows_of(tacit.EstimateChange(columns=["x"], by=["g"]).measure(masked, original=data))
    mean = rows["x", "mean", "all", "all"]
    assert (mean["original"], mean["masked"]) == (4.0, 4.5)
    assert mean["percent difference"] == -12.5
    assert mean["Duncan utility"] == 4.0
    assert mean["difference in standard errors"] == pytest.approx(
        0.5 / (np.std([1, 2, 3, 10], ddof=1) / 2)
    )
    assert rows["x", "median", "g", "b"]["percent difference"] == pytest.approx(-100 * 0.5 / 6.5)
    assert rows["x", "mean", "g", "a"]["original"] == 1.5


def test_groups_by_brute_force():
    columns = survey()
    data = tacit.read(columns, weight="w")
    new = columns["income"] * np.random.default_rng(1).uniform(0.8, 1.2, 600)
    masked = data.replace({"income": new})
    found = tacit.EstimateChange(
        columns=["debt"], statistics=["mean"], quantiles_of="income", bands={"age": [35, 50]}
    ).measure(masked, original=data)
    rows = rows_of(found)
    assert [k[3] for k in rows if k[2] == "income"] == [
        "0-20",
        "20-40",
        "40-60",
        "60-80",
        "80-90",
        "90-100",
    ]
    for side, values in (("original", columns["income"]), ("masked", new)):
        order = np.argsort(values)
        at = np.cumsum(columns["w"][order]) / columns["w"].sum()
        top = order[at > 0.9]
        expected = np.average(columns["debt"][top], weights=columns["w"][top])
        assert rows["debt", "mean", "income", "90-100"][side] == pytest.approx(expected, rel=0.02)
    young = columns["age"] < 35
    assert rows["debt", "mean", "age", "below 35"]["original"] == pytest.approx(
        np.average(columns["debt"][young], weights=columns["w"][young])
    )
    assert rows["debt", "mean", "age", "below 35"]["percent difference"] == 0
    counts = [r["records, original"] for k, r in rows.items() if k[2] == "income"]
    assert sum(counts) == 600


def test_groups_of_the_original():
    columns = survey()
    data = tacit.read(columns)
    mixed = columns["income"][np.random.default_rng(2).permutation(600)]
    masked = data.replace({"income": mixed})
    spec = {"columns": ["debt"], "quantiles_of": "income"}
    each = tacit.EstimateChange(**spec).measure(masked, original=data)
    kept = tacit.EstimateChange(**spec, groups_from="original").measure(masked, original=data)
    assert kept.value == 0
    assert each.value > 10


def test_ratios_leave_out_what_has_no_denominator():
    data = tacit.read({"debt": [1.0, 2.0, 3.0], "income": [2.0, 0.0, 4.0]})
    masked = data.replace({"debt": [2.0, 2.0, 3.0]})
    rows = rows_of(
        tacit.EstimateChange(columns=["debt"], ratios=["debt/income"]).measure(
            masked, original=data
        )
    )
    assert rows["debt/income", "mean", "all", "all"]["original"] == pytest.approx(0.625)
    assert rows["debt/income", "mean", "all", "all"]["records, original"] == 2
    assert rows["debt/income", "ratio of totals", "all", "all"]["masked"] == pytest.approx(7 / 6)


def test_zero_originals_have_no_percentage():
    data = tacit.read({"x": [-1.0, 0.0, 1.0]})
    found = tacit.EstimateChange().measure(data.replace({"x": [1.0, 1.0, 1.0]}), original=data)
    assert found.numbers["estimates without a percentage"] == 2
    assert math.isnan(found.value)
    assert found.duncan == pytest.approx(0.5)


def test_which_difference_counts():
    data = tacit.read(survey())
    masked = data.replace({"income": survey(seed=3)["income"]})
    of = {
        v: tacit.EstimateChange(
            columns=["income"],
            statistics=["mean", "median", "sd", "total"],
            quantiles=[0.9],
            value=v,
        ).measure(masked, original=data)
        for v in ("mean", "median", "largest")
    }
    percents = [abs(r.percent) for r in of["mean"].rows]
    assert len(percents) == 5
    assert of["mean"].value == pytest.approx(np.mean(percents))
    assert of["median"].value == pytest.approx(np.median(percents))
    assert of["largest"].value == pytest.approx(max(percents))


def test_aggregates_may_come_from_other_records():
    data = tacit.read(survey())
    part = tacit.Sample(n=300).apply(data, seed=1)
    found = tacit.EstimateChange(columns=["income"]).measure(part, original=data)
    assert found.numbers["records, masked"] == 300
    assert 0 < found.value < 30


def test_chart_by_group():
    data = tacit.read(survey())
    masked = data.replace({"income": survey(seed=4)["income"]})
    found = tacit.EstimateChange(columns=["income", "debt"], by=["sex"]).measure(
        masked, original=data
    )
    chart = found.plot("income")
    values = chart.spec["data"]["values"]
    assert [v["name"] for v in values] == ["all", "all", "sex f", "sex f", "sex m", "sex m"]
    assert chart.svg().startswith("<svg")
    with pytest.raises(ColumnNotFound):
        found.plot("wealth")


def test_refusals():
    data = tacit.read({"x": [1.0, 2.0], "g": ["a", "b"]})
    for wrong, words in (
        ({"ratios": ["x"]}, "a ratio is written"),
        ({"bands": {"x": [3, 2]}}, "ascending order"),
        ({"statistics": []}, "name a statistic"),
    ):
        with pytest.raises(InvalidParameter, match=words):
            tacit.EstimateChange(**wrong)
    with pytest.raises(ColumnNotFound):
        tacit.EstimateChange(by=["h"]).measure(data, original=data)
    with pytest.raises(InputError, match="does not hold numbers"):
        tacit.EstimateChange(quantiles_of="g").measure(data, original=data)


# -- implicates and replicate weights ---------------------------------------------------------------------


def completed(m=3, n=60, seed=2):
    """Return a file of m completed data sets with jackknife weights, and its arrays."""
    rng = np.random.default_rng(seed)
    x = rng.lognormal(3, 1, n)
    w = rng.integers(1, 5, n).astype(float)
    columns = {"x": [], "y": [], "w": [], "set": [], "g": []}
    group = rng.choice(["a", "b"], n)
    for i in range(m):
        columns["x"] += (x * rng.normal(1, 0.05, n)).tolist()
        columns["y"] += (1 + x * 0.5).tolist()
        columns["w"] += w.tolist()
        columns["set"] += [i + 1] * n
        columns["g"] += group.tolist()
    for r in range(5):
        # One of five random groups is left out, the others weigh more.
        left = np.arange(n) % 5 == r
        columns[f"r{r}"] = np.tile(np.where(left, 0.0, w * 5 / 4), m).tolist()
    return tacit.read(columns, weight="w"), columns, n


NAMES = tuple(f"r{r}" for r in range(5))


@pytest.mark.parametrize(
    ("replication", "scale"),
    [("bootstrap", 1 / 4), ("brr", 1 / 5), ("fay", 1 / (5 * 0.7**2)), ("jackknife", 4 / 5)],
)
def test_implicates_and_replicates_by_hand(replication, scale):
    data, columns, _ = completed()
    change = tacit.EstimateChange(
        columns=["x"],
        statistics=["mean", "total"],
        by=["g"],
        implicate="set",
        replicate_weights=NAMES,
        replication=replication,
        fay=0.3,
    ).measure(data, original=data)
    x, w = np.array(columns["x"]), np.array(columns["w"])
    inside = np.array(columns["g"]) == "a"
    for row in change.rows:
        use = inside if row.group.label == "a" else ~inside
        if row.group.label == "all":
            use = np.ones(len(x), dtype=bool)
        values, errors = [], []
        for i in range(3):
            at = use & (np.array(columns["set"]) == i + 1)

            def estimate(weights, at=at):
                total = (weights * x)[at].sum()
                return total if row.statistic == "total" else total / weights[at].sum()  # noqa: B023

            each = np.array([estimate(np.array(columns[name])) for name in NAMES])
            middle = each.mean() if replication == "bootstrap" else estimate(w)
            values.append(estimate(w))
            errors.append(scale * ((each - middle) ** 2).sum())
        variance = np.mean(errors) + (1 + 1 / 3) * np.var(values, ddof=1)
        assert row.old.value == pytest.approx(np.mean(values))
        assert row.old.error == pytest.approx(np.sqrt(variance))
        assert row.percent == 0
        assert row.overlap == pytest.approx(1)


def test_replicates_alone_and_implicates_alone():
    data, columns, n = completed(m=2)
    alone = tacit.EstimateChange(columns=["x"], implicate="set", statistics=["mean"])
    masked = tacit.AddNoise(columns=["x"], relative=0.05).apply(data, seed=1)
    row = alone.measure(masked, original=data).rows[0]
    plain = tacit.EstimateChange(columns=["x"], statistics=["mean"])
    halves = [
        tacit.read({"x": columns["x"][s], "w": columns["w"][s]}, weight="w")
        for s in (slice(0, n), slice(n, None))
    ]
    parts = [plain.measure(h, original=h).rows[0].old for h in halves]
    between = np.var([p.value for p in parts], ddof=1)
    within = np.mean([p.error**2 for p in parts])
    assert row.old.value == pytest.approx(np.mean([p.value for p in parts]))
    assert row.old.error == pytest.approx(np.sqrt(within + 1.5 * between))
    assert row.percent != 0
    ratios = tacit.EstimateChange(
        columns=["x"], ratios=["x/y"], replicate_weights=NAMES, quantiles=[0.9]
    ).measure(masked, original=data)
    assert {r.statistic for r in ratios.rows} == {
        "mean",
        "median",
        "quantile 0.9",
        "ratio of totals",
    }
    assert all(np.isfinite(r.old.error) for r in ratios.rows)


def test_design_columns_are_not_estimated_and_are_checked():
    data, columns, _ = completed()
    found = tacit.EstimateChange(implicate="set", replicate_weights=NAMES).measure(
        data, original=data
    )
    assert {r.column for r in found.rows} == {"x", "y"}
    one = tacit.read({**columns, "set": [1] * len(columns["x"])}, weight="w")
    with pytest.raises(tacit.SdcError, match="one completed data set only"):
        tacit.EstimateChange(implicate="set").measure(one, original=one)
    negative = tacit.read({**columns, "r0": [-1.0] * len(columns["x"])}, weight="w")
    with pytest.raises(tacit.SdcError, match="not negative"):
        tacit.EstimateChange(replicate_weights=NAMES).measure(negative, original=negative)
