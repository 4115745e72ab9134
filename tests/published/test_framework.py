"""The framework of Shlomo and Young (2006): constructed tables, section 2 examples, Table 1, simulation."""

import csv
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import tacit
from conftest import FIXTURES
from tacit import Table
from tacit.tables import read_wide
from tacit.tables.compare.distributions import impute_rows
from tacit.tables.compare.formulas import binomial_test, sign_test, signed_rank_test

FOLDER = FIXTURES / "psd07-risk-utility-framework"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


def compare_tables(original, versions, **options):
    """Versions of a table against the original, by the measures of the framework."""
    return tacit.compare(original, versions, [tacit.TableComparison(**options)])


def near(value):
    return pytest.approx(value, rel=1e-9, abs=1e-9)


def inner(table):
    """The ground cells of a table of two dimensions, which has its totals first."""
    return table.to_array()[1:, 1:]


@pytest.fixture(scope="module")
def tables():
    return {
        name: read_wide(FOLDER / f"table_{name}.csv", totals="recompute", names=("row", "column"))
        for name in ("original", "rounded", "swapped")
    }


@pytest.fixture(scope="module")
def found(tables):
    return compare_tables(
        tables["original"],
        {"rounded": tables["rounded"], "swapped": tables["swapped"]},
        rounded={"rounded": 3},
        rank_groups=5,
        target="c1",
        subtotals={"first three": ["c1", "c2", "c3"]},
    )


def test_summary(found):
    expected, ours = EXPECTED["summary"], found.original
    assert ours["cells"] == expected["cells"]
    assert ours["small_cells"] == expected["small_cells"]
    assert ours["zeros"] == expected["zeros"]
    assert ours["total"] == ours["contributors"] == expected["total"]
    assert ours["average"] == near(expected["average"])
    assert ours["standard_error"] == near(expected["se_average"])
    ranges = [
        [ours[f"{side}_average_{end}"] for end in ("low", "high")] for side in ("row", "column")
    ]
    assert ranges[0] == near(expected["row_average_range"])
    assert ranges[1] == near(expected["column_average_range"])


def test_rounded_version(found):
    ours, risk = found["rounded"], EXPECTED["risk"]
    assert ours["small_changed"] == risk["small_changed"]
    assert ours["small_unchanged"] == risk["small_unchanged"]
    assert ours["percent_unchanged"] == risk["percent_unchanged"]
    pairs = {
        "HD": "HD", "AAD": "AAD", "RAD": "RAD_zero_cells_skipped", "RAT": "RAT_sum",
        "RAT_mean": "RAT_mean", "AT": "AT", "RAV": "RAV", "RCV": "RCV", "ENTT": "ENTT",
        "RAT (first three)": "RAT_sum_subtotal", "AT (first three)": "AT_subtotal",
        "AV": "AV_pert", "X2": "chi2_pert", "CV": "CV_pert", "ENT": "ENT_pert",
        "RC": "rank_groups_5_all_cells",
    }  # fmt: skip
    for symbol, name in pairs.items():
        assert ours[symbol] == near(EXPECTED[name]), symbol
    for symbol, name in {"AV": "AV", "X2": "chi2", "CV": "CV", "ENT": "ENT"}.items():
        assert found.original[symbol] == near(EXPECTED[f"{name}_orig"])
    between = EXPECTED["BV_column1"]
    assert found.original["BV"] == near(between["orig"])
    assert ours["BV"] == near(between["pert"])
    assert ours["BVR"] == near(between["BVR"])
    assert ours["BV_ratio"] == near(between["ratio"])


def test_swapped_version(found, tables):
    ours, expected = found["swapped"], EXPECTED["swapped"]
    for symbol in ("percent_unchanged", "HD", "AAD", "AT", "RAV", "RCV", "ENTT"):
        assert ours[symbol] == near(expected[symbol]), symbol
    assert ours["RAD"] == near(expected["RAD_zero_cells_skipped"])
    assert ours["from_zero"] == expected["zero_cells_that_became_positive"]
    assert ours["BVR"] == near(expected["BVR_column1"])
    assert ours["RC"] == near(expected["rank_groups_5_all_cells"])
    ten = compare_tables(tables["original"], {"swapped": tables["swapped"]}, rank_groups=10)
    assert ten["swapped"]["RC"] == near(expected["rank_groups_10_all_cells"])
    test = signed_rank_test(*(inner(tables[n]) for n in ("original", "swapped")))
    assert test.statistic == expected["W_plus"]


def test_tests_of_bias(found, tables):
    o, p = (inner(tables[n]) for n in ("original", "rounded"))
    expected = EXPECTED["binomial_test"]
    test = binomial_test(o, p, expected["base"])
    assert (test.n, test.to_nearest) == (expected["n"], expected["to_nearest"])
    assert test.p_nearest == near(expected["p0"])
    assert test.p_value == near(expected["p_value"])
    assert found["rounded"]["binomial_p"] == test.p_value
    sign = sign_test(o, p)
    assert (sign.n, sign.statistic) == (16, EXPECTED["sign_test"]["positive"])
    assert sign.p_value == near(EXPECTED["sign_test"]["p_value"])
    rank = signed_rank_test(o, p)
    assert (rank.n, rank.statistic) == (
        EXPECTED["signed_rank"]["n"],
        EXPECTED["signed_rank"]["W_plus"],
    )


@pytest.mark.parametrize(
    ("name", "model"),
    [("all_two_way", [["A", "B"], ["A", "C"], ["B", "C"]]), ("AB_C", [["A", "B"], ["C"]])],
)
@pytest.mark.parametrize("layout", [(["A"], ["B", "C"]), (["A", "B"], ["C"]), (["C", "A"], ["B"])])
def test_log_linear_models(name, model, layout):
    given = EXPECTED["loglinear"]
    o, p = (
        Table.from_array(np.array(given[which]).reshape(2, 3, 2), totals=False, names="ABC")
        for which in ("original", "perturbed")
    )
    found = compare_tables(o, {"p": p}, model=model, rows=layout[0], columns=layout[1])
    assert found.original["L2"] == pytest.approx(given[name]["L2_orig"], rel=1e-6)
    assert found["p"]["L2"] == pytest.approx(given[name]["L2_pert"], rel=1e-6)
    assert found["p"]["LR"] == pytest.approx(given[name]["LR"], rel=1e-6)


def test_imputation_examples_of_section_2_1():
    simple = EXPECTED["imputation"]["paper_example_simple"]
    mask = np.array([[False, True, True]])
    cells = np.array([[simple["known_sum"], 0.0, 0.0]])
    totals = np.array([simple["row_total"]], dtype=float)
    assert impute_rows(cells, mask, "row_average", totals)[0, 1:].tolist() == simple["imputed"]
    weighted = EXPECTED["imputation"]["paper_example_weighted"]
    margins = np.array([1.0, *weighted["column_averages"]])
    ours = impute_rows(cells, mask, "weighted_row_average", totals, margins)[0, 1:]
    assert ours.tolist() == near(weighted["imputed"])


@pytest.mark.parametrize(
    ("rule", "name"),
    [("zero", "zero"), ("row_average", "simple"), ("weighted_row_average", "weighted")],
)
def test_imputation_of_a_whole_table(rule, name):
    full = EXPECTED["imputation"]["full"]
    cells = np.array(full["table"], dtype=float)
    ours = impute_rows(
        cells,
        np.isnan(cells),
        rule,
        np.array(full["row_totals"], dtype=float),
        np.array(full["column_totals"], dtype=float),
    )
    assert ours.tolist() == [near(row) for row in full[name]]


def test_arithmetic_of_table_1():
    checks = EXPECTED["table1_internal_checks"]
    assert checks["rows"] * checks["columns"] == checks["cells"]
    assert round(100 * checks["small"] / checks["cells"], 1) == checks["small_percent"]
    assert round(100 * checks["zeros"] / checks["cells"], 1) == checks["zeros_percent"]
    assert round(checks["total"] / checks["cells"], 1) == checks["average"]
    both = checks["swap_changed"] + checks["swap_unchanged"]
    assert round(100 * checks["swap_unchanged"] / both, 1) == checks["percent_unchanged"]
    with (FOLDER / "table1_published.csv").open() as file:
        rows = {r["measure"]: r for r in csv.DictReader(file)}
    moved = rows["columns_with_over_20pct_rank_moves_of_36"]["semi_controlled_rounding_base3"]
    assert round(100 * int(moved) / checks["columns"], 1) == 69.4


# -- the simulated census table ------------------------------------------------------------------


def example():
    path = Path(__file__).parents[2] / "examples" / "shlomo_young.py"
    spec = importlib.util.spec_from_file_location("shlomo_young", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def accept(found):
    swap, rounding = found["swapping"], found["rounding"]
    assert rounding["percent_unchanged"] == 0
    assert 55 <= swap["percent_unchanged"] <= 80
    assert rounding["HD"] > swap["HD"]
    assert 0.60 <= rounding["AAD"] <= 0.75
    assert swap["RAV"] < 0 < rounding["RAV"]
    assert 5 <= rounding["RCV"] <= 15
    assert -10 <= swap["RCV"] <= -2
    assert swap["BV_ratio"] < 1 < rounding["BV_ratio"]
    assert 1.1 <= rounding["LR"] <= 1.3
    assert 0.85 <= swap["LR"] <= 0.99
    assert swap["RAT_mean"] == 0
    assert rounding["RAT_mean"] < 0.01
    assert swap["columns_moved"] > rounding["columns_moved"]
    assert found.recommend(80) == "swapping"
    assert found.recommend(50) == "rounding"


def test_simulated_census_table_reduced():
    accept(example().experiment(areas=400, seed=1))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_simulated_census_table(seed):
    accept(example().experiment(seed=seed))


def test_example_prints_the_measures_beside_the_published_ones(capsys, tmp_path):
    example().main(160, tmp_path)
    printed = capsys.readouterr().out
    assert "percent_unchanged" in printed
    assert "risk of at most 50 %: rounding" in printed
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert (tmp_path / "map.svg").exists()
