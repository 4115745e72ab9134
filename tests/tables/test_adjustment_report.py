"""The comparison of an adjusted table with the original."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import tacit
from tacit.errors import InputError
from tacit.tables.adjust.adjustment_report import adjustment_statistics, kuiper_p

FIXTURES = Path(__file__).parents[1] / "fixtures" / "psd01-mdi-cta"
PUBLISHED = json.loads((FIXTURES / "gof.json").read_text())["cases"]
SMALL = json.loads((FIXTURES / "mdi_small.json").read_text())["cases"]
PAPER = json.loads((FIXTURES / "published_simulation.json").read_text())
NAMES = {
    "ks_D": "ks_D",
    "ks_p_asymptotic": "ks_p",
    "kuiper_V": "kuiper_V",
    "kuiper_p_asymptotic": "kuiper_p",
    "chi2_conditional": "chi2",
    "df": "df",
    "chi2_p": "chi2_p",
    "b0": "b0",
    "b0_over_mean": "b0_over_mean",
    "b1": "b1",
    "corr": "correlation",
}
CHANGES = {
    "mean_rel_change_nonsensitive": "mean_change",
    "min_rel_change": "min_change",
    "max_rel_change": "max_change",
}


def check(found, case):
    for theirs, ours in NAMES.items():
        assert found[ours] == pytest.approx(case[theirs], abs=1e-8, rel=1e-8), theirs
    for theirs, ours in CHANGES.items():
        assert found[ours] == pytest.approx(100 * case[theirs], abs=1e-6), theirs


@pytest.mark.parametrize(("case", "small"), list(zip(PUBLISHED[:2], SMALL, strict=True)))
def test_published_statistics(case, small):
    values = np.array(small["O"])
    unsafe = np.zeros(values.shape, dtype=bool)
    for cell in small["sensitive"]:
        unsafe[tuple(cell)] = True
    found = adjustment_statistics(values, small["A_optimal"], unsafe)
    check(found, case)
    assert found["K"] == pytest.approx(small["K_optimal"], abs=1e-6)


def test_published_pair_without_unsafe_cells():
    one = np.arange(1, 21)
    two = np.concatenate([np.arange(1, 11), np.arange(17, 27)])
    check(adjustment_statistics(one, two), PUBLISHED[2])


def test_against_scipy():
    rng = np.random.default_rng(1)
    o, a = rng.lognormal(3, 1, 50), rng.lognormal(3.1, 1, 50)
    found = adjustment_statistics(o, a)
    line = stats.linregress(o, a)
    assert found["b0"] == pytest.approx(line.intercept)
    assert found["b1"] == pytest.approx(line.slope)
    assert found["correlation"] == pytest.approx(line.rvalue)
    assert found["ks_D"] == pytest.approx(stats.ks_2samp(o, a).statistic)
    assert kuiper_p(0.1) == 1.0


def test_published_patterns_lie_below_random_ones():
    columns = PAPER["columns"]
    rows = [dict(zip(columns, row, strict=True)) for row in PAPER["rows"]]
    # Found patterns lie at or below the 2.5 per cent quantile, but for two truncated rows.
    assert sum(r["MDI"] > r["Q2.5"] for r in rows) == 2
    assert all(r["MDI"] - r["Q2.5"] < 1 for r in rows)


def adjusted():
    rng = np.random.default_rng(1)
    values = np.round(rng.lognormal(5, 1, (6, 7))) + 1
    cells = [(0, 1), (2, 3), (4, 4), (5, 6)]
    level = [0.2 * values[c] for c in cells]
    table = tacit.Table.from_array(values, totals=False).with_protection(
        cells, lower=level, upper=level
    )
    return tacit.AdjustMdi().apply(table, seed=1)


def test_report_of_an_adjusted_table():
    table = adjusted()
    report = tacit.AdjustmentReport(random_patterns=60).measure(table, seed=1)
    assert report.value == report.statistics["correlation"] > 0.98
    assert report.statistics["K"] == pytest.approx(table.history[-1].details["information"])
    assert report.statistics["random_K_low"] <= report.statistics["random_K_high"]
    assert report.frame.shape[0] == 42
    charts = list(report.charts())
    assert len(charts) == 4
    assert len({c.alt for c in charts}) == 4
    for chart in charts:
        assert chart.svg().startswith("<svg")
    scatter = charts[0].spec["layer"]
    assert len(scatter[0]["data"]["values"]) == 42
    b0, b1 = report.statistics["b0"], report.statistics["b1"]
    for end in scatter[1]["data"]["values"]:
        assert end["y"] == pytest.approx(b0 + b1 * end["x"])
    assert sum(r["n"] for r in charts[2].spec["layer"][0]["data"]["values"]) == 38


def test_all_cells_and_degrees_of_freedom():
    table = adjusted()
    every = tacit.AdjustmentReport(cells="all").measure(table).statistics
    inner = tacit.AdjustmentReport(freedom="margins").measure(table).statistics
    assert every["cells"] == 56
    assert inner["cells"] == 42
    assert inner["df"] == 38 - (1 + 5 + 6)


def test_a_table_without_changes_or_without_spread():
    table = tacit.Table.from_array(np.full((2, 2), 5.0), totals=False)
    report = tacit.AdjustmentReport(random_patterns=5).measure(table)
    assert report.value == 1.0
    assert np.isnan(report.statistics["b1"])
    assert "no regression" in report.plot().alt
    with pytest.raises(InputError, match="number of cells"):
        adjustment_statistics([1, 2], [1])
