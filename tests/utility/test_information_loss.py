"""Information loss against printed, derived and brute-force numbers."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import ColumnNotFound, InputError, InvalidParameter
from tacit.records.utility.information_loss import WORDS
from tacit.stats.information import MEASURES, Matched, correlation_error, il1_records

FIXTURES = Path(__file__).parents[1] / "fixtures"
TEMPL = FIXTURES / "psd29-sdc-in-r"
METHODS = json.loads((TEMPL / "microaggregation_methods.json").read_text())
PRINTED = json.loads((TEMPL / "information_loss_table.json").read_text())
IL1 = json.loads((TEMPL / "il1_and_interval_risk.json").read_text())


def matched(x, y):
    x, y = np.array(x, dtype=float), np.array(y, dtype=float)
    return Matched(x, y, np.ones(len(x)))


def files(x, y):
    """Microdata of two matrices, the second as if masked."""
    names = [f"v{j}" for j in range(x.shape[1])]
    data = tacit.read(dict(zip(names, x.T, strict=True)))
    return data, data.replace(dict(zip(names, y.T, strict=True)))


@pytest.mark.parametrize("method", METHODS["expected"])
def test_measures_of_six_methods(method):
    expected = METHODS["expected"][method]
    data, masked = files(np.array(METHODS["input"]["X"]), np.array(expected["masked"]))
    found = tacit.InformationLoss().measure(masked, original=data, seed=1)
    for name, value in expected["summary_on_full_data"].items():
        assert found[name] == pytest.approx(value, abs=1e-6), name
    assert found.il1 == pytest.approx(expected["IL1_mean"], abs=1e-9)


def test_il1_by_record_and_file():
    m = matched(IL1["input"]["X"], IL1["input"]["X_masked"])
    expected = IL1["expected"]
    assert il1_records(m) == pytest.approx(expected["il1_per_record"], abs=1e-9)
    assert MEASURES["il1"](m).value == pytest.approx(expected["il1_mean"], abs=1e-9)
    assert MEASURES["il1_sum"](m).value == pytest.approx(expected["il1_sum_over_cells"], abs=1e-9)
    assert m.spread == pytest.approx(expected["sd_original_n-1"])


def test_printed_table_has_devvar_twice_acov():
    at = [PRINTED["measures"].index(n) for n in ("devvar", "acov")]
    for row in PRINTED["table"].values():
        assert row[at[0]] == pytest.approx(2 * row[at[1]], abs=0.00101)
    rng = np.random.default_rng(0)
    m = matched(rng.gamma(2, size=(40, 4)), rng.gamma(2, size=(40, 4)))
    assert MEASURES["devvar"](m).value == pytest.approx(2 * MEASURES["acov"](m).value)


def test_sse_of_mdav_on_the_census_file_is_the_published_one():
    data = tacit.read(FIXTURES / "casc/census.csv")
    masked = tacit.Mdav(k=3).apply(data, seed=1)
    found = tacit.InformationLoss(measures=["sse_percent"]).measure(masked, original=data)
    assert found.sse_percent == pytest.approx(5.6922, abs=5e-5)


def test_measures_by_brute_force():
    rng = np.random.default_rng(3)
    x, y = rng.gamma(2, size=(30, 3)), rng.gamma(2, size=(30, 3))
    m = matched(x, y)
    n, p = x.shape
    sx, sy = np.cov(x, rowvar=False), np.cov(y, rowvar=False)
    rx, ry = np.corrcoef(x, rowvar=False), np.corrcoef(y, rowvar=False)
    pairs = [(i, j) for i in range(p) for j in range(i, p)]
    expected = {
        "il1_relative": sum(abs(x[i, j] - y[i, j]) / x[i, j] for i in range(n) for j in range(p))
        / (n * p),
        "il2": np.mean(np.abs(x.mean(0) - y.mean(0)) / x.mean(0)),
        "il3": np.mean([abs(sx[i, j] - sy[i, j]) / abs(sx[i, j]) for i, j in pairs]),
        "il4": np.mean([abs(sx[j, j] - sy[j, j]) / sx[j, j] for j in range(p)]),
        "il5": np.mean([abs(rx[i, j] - ry[i, j]) for i, j in pairs if i != j]),
        "acor": sum(abs(rx[i, j] - ry[i, j]) / abs(rx[i, j]) for i in range(p) for j in range(p))
        / (2 * p),
        "atotals": np.sum(np.abs(x.sum(0) - y.sum(0)) / x.sum(0)),
        "pmtotals": np.sum((y.sum(0) - x.sum(0)) / x.sum(0)),
        "sse_percent": 100 * np.mean(((x - y) ** 2).sum(0) / ((x - x.mean(0)) ** 2).sum(0)),
    }
    e = [np.sort(np.linalg.eigvalsh(r))[::-1] for r in (rx, ry)]
    expected["eigenvalues"] = np.sum(np.abs(e[0] - e[1]) / e[0])
    for name, value in expected.items():
        assert MEASURES[name](m).value == pytest.approx(value), name
    parts = [MEASURES[k](m).value for k in ("il1", "il2", "il3", "il4", "il5")]
    assert MEASURES["il"](m).value == pytest.approx(100 * np.mean(parts))


@pytest.mark.parametrize("name", MEASURES)
def test_nothing_changed_is_nothing_lost(name):
    x = np.random.default_rng(4).gamma(2, size=(60, 3))
    assert MEASURES[name](matched(x, x)).value == pytest.approx(0, abs=1e-9)


@given(st.integers(0, 10_000), st.floats(0.1, 1e6))
@settings(max_examples=25, deadline=None)
def test_measures_without_a_unit_do_not_mind_units(seed, unit):
    rng = np.random.default_rng(seed)
    x = rng.gamma(2, size=(25, 3))
    y = x + rng.normal(size=x.shape) * 0.2
    scale = np.array([unit, 1.0, 1 / unit])
    for name in ("il1", "sse_percent", "amean", "acov", "acor", "acors", "il3", "il5", "pil_means"):
        here = MEASURES[name](matched(x, y)).value
        assert MEASURES[name](matched(x * scale, y * scale)).value == pytest.approx(here, rel=1e-6)


def test_probabilistic_loss_of_means():
    x = np.random.default_rng(5).normal(10, 2, size=(400, 1))
    error = x.std() / 20
    for z, percent in ((1.0, 68.27), (1.96, 95.0), (0.0, 0.0)):
        found = MEASURES["pil_means"](matched(x, x + z * error)).value
        assert found == pytest.approx(percent, abs=0.01)


def test_probabilistic_loss_is_what_sampling_error_alone_would_give():
    rng = np.random.default_rng(6)
    names = ("pil_means", "pil_variances", "pil_covariances", "pil_correlations", "pil_quantiles")
    found = {name: [] for name in names}
    for _ in range(200):
        x, y = rng.normal(size=(2, 300, 2)) @ [[1.0, 0.5], [0.0, 1.0]]
        for name in names:
            found[name].append(MEASURES[name](matched(x, y)).value)
    for name, values in found.items():
        # Two samples differ by sqrt(2) standard errors: E P(|Z| < sqrt(2) |Z'|) = 60.8 %.
        assert np.mean(values) == pytest.approx(60.8, abs=5), name


def test_large_sample_error_of_correlations():
    rng = np.random.default_rng(7)
    x = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 20_000)
    assert correlation_error(x)[0, 1] == pytest.approx((1 - 0.36) ** 2 / 20_000, rel=0.05)


def test_zero_originals_are_left_out_and_counted():
    x = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0]])
    found = {
        n: MEASURES[n](matched(x, x + 1)) for n in ("il1", "il1_relative", "acov", "sse_percent")
    }
    assert found["il1"].value == pytest.approx(1 / (math.sqrt(2) * 2))
    assert found["il1"].skipped == 1
    assert found["il1_relative"].skipped == 1
    assert found["acov"].skipped == 3
    assert found["sse_percent"].skipped == 1


def test_records_are_matched_by_row_and_missing_ones_left_out():
    rng = np.random.default_rng(8)
    x = rng.normal(size=(40, 2))
    x[3, 0] = np.nan
    data = tacit.read({"a": x[:, 0], "b": x[:, 1], "keep": np.arange(40)})
    half = tacit.Sample(n=20).apply(data, seed=1)
    found = tacit.InformationLoss(columns=["a", "b"]).measure(half, original=data)
    assert found.il1 == 0
    assert found.numbers["records dropped"] == 20
    everyone = tacit.InformationLoss(columns=["a", "b"]).measure(data, original=data)
    assert everyone.numbers["records with missing values"] == 1
    with pytest.raises(InputError, match="there are missing values"):
        tacit.InformationLoss(columns=["a"], missing="refuse").measure(data, original=data)


def test_table_value_and_charts():
    rng = np.random.default_rng(9)
    x = rng.gamma(2, size=(120, 3))
    data, masked = files(x, x + rng.normal(size=x.shape) * 0.1)
    found = tacit.InformationLoss(value="acor", jackknife=10).measure(masked, original=data, seed=2)
    table = {r["measure"]: r for r in found.table.rows(named=True)}
    assert set(table) == set(MEASURES) == set(WORDS)
    assert found.value == table["acor"]["value"] == found["acor"]
    assert found.frame.rows(named=True)[1]["mean, original"] == pytest.approx(x[:, 1].mean())
    for chart in (found.plot(), found.scatter("v0"), found.densities("v1"), found.ellipses()):
        assert chart.svg().startswith("<svg")
    with pytest.raises(ColumnNotFound, match="no column 'v9'"):
        found.scatter("v9")


def test_jackknife_error_of_il1_is_that_of_a_mean():
    rng = np.random.default_rng(10)
    x = rng.normal(size=(400, 1))
    m = matched(x, x + rng.normal(size=x.shape))
    data, masked = files(m.x, m.y)
    found = tacit.InformationLoss(measures=["amean"], jackknife=200).measure(
        masked, original=data, seed=1
    )
    assert "standard error" in found.table.columns
    records = il1_records(m)
    # The mean distance varies, and so does the standard deviation it is divided by.
    expected = math.sqrt(records.var() / 400 + found.il1**2 / 800)
    assert found.standard_errors["il1"] == pytest.approx(expected, rel=0.2)


def test_refusals():
    data = tacit.read({"a": [1.0, 2.0, 3.0], "s": ["x", "y", "z"]})
    with pytest.raises(InputError, match="does not hold numbers"):
        tacit.InformationLoss(columns=["s"]).measure(data, original=data)
    one = tacit.read({"a": [1.0]})
    with pytest.raises(InputError, match="at least 2 records"):
        tacit.InformationLoss().measure(one, original=one)
    words = tacit.read({"s": ["x", "y"]})
    with pytest.raises(InputError, match="needs a numeric column"):
        tacit.InformationLoss().measure(words, original=words)
    endless = tacit.read({"a": [1.0, np.inf, 2.0]})
    with pytest.raises(InputError, match="infinite"):
        tacit.InformationLoss().measure(endless, original=endless)
    with pytest.raises(ColumnNotFound):
        tacit.InformationLoss(columns=["a"], response="b").measure(data, original=data)
    with pytest.raises(InvalidParameter, match="at least 2 groups"):
        tacit.InformationLoss(jackknife=1)


def test_people_read_words_and_programs_names():
    rng = np.random.default_rng(1)
    x = rng.lognormal(2, 1, size=(60, 3))
    data, masked = files(x, x * 1.1)
    found = tacit.InformationLoss().measure(masked, original=data)
    assert found.numbers["apppcaload"] == found["apppcaload"]
    assert "apppcaload" not in repr(found)
    assert "pil_" not in repr(found)
    assert "IL1: mean distance of values" in repr(found)
    assert len(found.labelled()) == len(found.numbers)


@pytest.mark.slow
def test_findings_of_the_simulation():
    """Templ (2006), sections 3 to 6, on the full masked file."""
    medians = {tacit.IndividualRanking: [], tacit.SortByComponent: [], tacit.Mdav: []}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        part = rng.choice(3, 200, p=[0.6, 0.3, 0.1])
        x = np.exp(rng.normal(part[:, None] * 1.5, 0.5, size=(200, 5)))
        data, _ = files(x, x)
        for method, values in medians.items():
            masked = method(k=3).apply(data, seed=1)
            found = tacit.InformationLoss(
                measures=["amean", "amedian", "aonestep", "amad", "acor"]
            ).measure(masked, original=data)
            assert found["amean"] < 1e-10
            values.append([found[k] for k in ("amedian", "aonestep", "amad", "acor")])
            wide = method(k=11).apply(data, seed=1)
            assert (
                tacit.InformationLoss(measures=["il1"]).measure(wide, original=data).il1 > found.il1
            )
    middle = {k: np.median(v, axis=0) for k, v in medians.items()}
    for other in (tacit.SortByComponent, tacit.Mdav):
        assert (middle[tacit.IndividualRanking] < middle[other]).all()
