"""The designs of five papers under ``tacit experiment``: small ones run, and the paper's size keeps the paper's bands."""

import json

import numpy as np
import pytest

from conftest import FIXTURES
from studies import mahalanobis, pram_register, sample_uniques, two_groups, two_stage


def rows_of(frame):
    return frame.rows(named=True)


# -- sample uniques --------------------------------------------------------------------------------


def by_model(rows, table):
    """tau 1 and tau 2 of each model, draws by two."""
    models = dict.fromkeys(r["model"] for r in rows if r["table"] == table)
    return {
        m: np.array(
            [(r["tau 1"], r["tau 2"]) for r in rows if (r["table"], r["model"]) == (table, m)]
        )
        for m in models
    }


def test_estimates_of_a_small_table_are_of_the_size_of_the_truth():
    rows = rows_of(sample_uniques.run(seed=3)["estimates"])
    found = by_model(rows, "A")
    assert list(found) == ["true", "argus", "negative binomial, radius 1"]
    true = found["true"][0, 1]
    assert all(0.5 * true < tau[0, 1] < 2 * true for tau in found.values())


@pytest.mark.slow
def test_negative_binomial_smoothing_keeps_its_bands():
    rows = rows_of(sample_uniques.run(size="paper")["estimates"])
    a, b = by_model(rows, "A"), by_model(rows, "B")
    true, argus, near, far = (a[m].mean(axis=0) for m in a)
    assert abs(near[1] / true[1] - 1) <= 0.06
    assert abs(near[0] / true[0] - 1) <= 0.15
    assert 0.13 <= 1 - argus[1] / true[1] <= 0.25
    assert (near < far).all()
    for i in range(2):
        small, middle, large = (b[m][i, 1] for m in list(b)[2:])
        assert small < middle < large
        assert small <= b["true"][i, 1] <= large
    # The card says 30 per cent; on the table as it is drawn here it is 29 to 31.
    assert np.mean(1 - b["argus"][:, 1] / b["true"][:, 1]) > 0.28


# -- two stages --------------------------------------------------------------------------------------


def test_two_stages_by_name():
    rows = rows_of(two_stage.run(seed=1)["loss and risk"])
    assert len(rows) == 2 * 3 * len(two_stage.METHODS)
    assert all(0 <= r["risk"] <= 1 and r["loss"] >= 0 for r in rows)


# -- groups of two -----------------------------------------------------------------------------------

#: SSE of Table 1; the mu-approximation depends on an order that the paper does not tell.
PRINTED = {
    ("Tarragona", "mdav"): (1005.59, 1e-5),
    ("Tarragona", "2-mu-approx"): (958.496, 2e-5),
    ("Tarragona", "mu-approx"): (1148.32, 0.03),
    ("EIA-600", "mdav"): (59.2535, 1e-5),
    ("EIA-600", "2-mu-approx"): (65.8851, 1e-5),
    ("EIA-600", "mu-approx"): (66.8219, 0.03),
}


def test_ratios_of_a_few_samples():
    made = two_groups.run(seed=1)
    ratio = np.array([r["ratio"] for r in rows_of(made["ratios"])])
    assert len(ratio) == 20
    assert (ratio >= 0.5).all()
    assert (ratio <= 1 + 1e-9).all()
    losses = rows_of(made["losses"])
    assert len(losses) == 3 * 4


@pytest.mark.slow
def test_losses_of_groups_of_two_are_the_printed_ones():
    made = two_groups.run(size="paper", seed=2006)
    found = {(r["file"], r["method"]): r["sse"] for r in rows_of(made["losses"])}
    for which, (sse, near) in PRINTED.items():
        assert found[which] == pytest.approx(sse, rel=near), which
    assert found["Census", "2-mu-approx"] == pytest.approx(400.66676, rel=1e-6)
    ratio = np.array([r["ratio"] for r in rows_of(made["ratios"])])
    assert len(ratio) == 60
    assert ratio.min() >= 0.5
    assert ratio.mean() >= 0.95
    assert 0.35 <= (ratio > 1 - 1e-9).mean() <= 0.75


# -- PRAM --------------------------------------------------------------------------------------------


def pram_pattern(made, together):
    """The pattern of Tables 1, 2 and 7 of the paper."""
    rows = rows_of(made["unsafe"])
    for table in ("RMG", "RMY"):
        unsafe = {r["matrix"]: r["unsafe"] for r in rows if r["table"] == table}
        assert max(unsafe.values()) == unsafe["none"]
        assert unsafe["R1"] == pytest.approx(unsafe["R2"], rel=together)
        for pair in (name for name in unsafe if "+" in name):
            assert unsafe[pair] <= min(unsafe[part] for part in pair.split("+"))
    genders = [r["unsafe"] for r in rows if r["table"] == "RMG" and r["matrix"][0] == "G"][:7]
    assert genders == sorted(genders)
    return rows_of(made["losses"])


def test_a_small_register_has_the_pattern_of_the_paper():
    losses = pram_pattern(pram_register.run(seed=1), together=0.1)
    assert [r["matrix"] for r in losses] == ["G4", "M7", "Y6", "R1"]


@pytest.mark.slow
def test_a_register_of_a_million_has_the_pattern_of_the_paper():
    for row in pram_pattern(pram_register.run(size="paper", seed=1), together=0.03):
        assert row["expected loss"] == pytest.approx(row["realised loss"], rel=0.005)
        assert row["median relative difference"] < 0.2


# -- Mahalanobis distances ---------------------------------------------------------------------------


def check_links(rows, file):
    """IPSO-A to the digit; B near A; C with two standardisations that are one."""
    folder = FIXTURES / "psd20-mahalanobis-linkage"
    printed = json.loads((folder / "ipso_a_tables_3_and_6.json").read_text())["rows"]
    there = {r["scenario"] for r in rows if r["file"] == file}
    printed = [r for r in printed if r["dataset"].lower() == file and r["scenario"] in there]
    names = {
        "DBRL1": "DBRL1",
        "DBRL2": "DBRL2",
        "Mahalanobis, true": "DBRLM_COV",
        "Mahalanobis, zero": "DBRLM_COV0",
        "kernel": "KDBRL_2",
    }
    a, b, c = (
        [r for r in rows if r["file"] == file and r["release"] == f"IPSO-{v}"] for v in "ABC"
    )
    assert len(a) == len(b) == len(c) == len(printed)
    for row, fixture in zip(a, printed, strict=True):
        assert row["known columns"] == fixture["attributes"]
        found = {theirs: row[ours] for ours, theirs in names.items()}
        assert found == fixture["expected_correct_links_first_tie"]
    if file == "census":
        assert all(abs(x[n] - y[n]) <= 8 for x, y in zip(a, b, strict=True) for n in names)
    else:
        assert 3150 <= b[-1]["Mahalanobis, true"] <= 3230
        bounds = json.loads((folder / "ipso_c_simulated_bounds.json").read_text())["accept"]
        for ours, theirs in names.items():
            if theirs in bounds:
                low, high = bounds[theirs]
                assert low <= c[-1][ours] <= high
    assert all(r["DBRL1"] == r["DBRL2"] for r in c)


def test_links_on_census_are_the_printed_ones():
    check_links(rows_of(mahalanobis.run(seed=5)["correct links"]), "census")


@pytest.mark.slow
def test_links_on_both_files_are_the_printed_ones():
    rows = rows_of(mahalanobis.run(size="paper", seed=5)["correct links"])
    check_links(rows, "census")
    check_links(rows, "eia")
