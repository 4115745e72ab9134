"""Torra, Abowd, Domingo-Ferrer (2006): Tables 3 to 6 and section 4, on the Census and EIA files."""

import json

import numpy as np
import pytest

import tacit
from conftest import FIXTURES
from tacit.records.linkage.attack import (
    Files,
    attack,
    distance_standardised,
    make_standardised_metric,
    polynomial,
    projections,
    self_trained,
    true_covariance,
    zero_covariance,
)
from tacit.records.linkage.reidentification import linkage_table
from tacit.records.synthesis.ipso import ipso_b, ipso_c, regress

FOLDER = FIXTURES / "psd20-mahalanobis-linkage"


def read(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


def numbers(dataset):
    """The numeric columns v1, v2, ... of a reference file."""
    table = np.genfromtxt(
        FIXTURES / "casc" / f"{dataset.lower()}.csv", delimiter=",", skip_header=1
    )
    return table[:, -10:] if dataset == "EIA" else table


def positions(text):
    return [int(i) - 1 for i in text.split(",")]


def released(data, replaced, mask):
    """Both files on all columns, those in ``replaced`` masked."""
    rest = [j for j in range(data.shape[1]) if j not in replaced]
    out = data.copy()
    out[:, replaced] = mask(regress(data[:, rest], data[:, replaced]))
    everyone = np.arange(len(data))
    return Files(data, out, everyone, everyone, kept=data[:, rest])


def five_methods(files):
    return {
        "DBRL1": make_standardised_metric(files),
        "DBRL2": distance_standardised(files, "all"),
        "DBRLM_COV0": zero_covariance(files),
        "DBRLM_COV": true_covariance(files),
        "KDBRL_2": polynomial(files, degree=2, gamma=1.0, coef0=1.0),
    }


ROWS = read("ipso_a_tables_3_and_6")["rows"]


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r['dataset']}-{r['attributes']}")
def test_tables_3_and_6_ipso_a_to_the_digit(row):
    files = released(
        numbers(row["dataset"]), positions(row["synthesised_attributes"]), lambda fit: fit.fitted
    ).columns(np.array(positions(row["attributes"])))
    found = {name: attack(files, metric) for name, metric in five_methods(files).items()}
    assert {k: v.count("first") for k, v in found.items()} == row[
        "expected_correct_links_first_tie"
    ]
    assert {k: v.count("unique") for k, v in found.items()} == row["unique"]
    expected = {k: v.count("expected") for k, v in found.items()}
    assert expected == pytest.approx(row["expected_value"])
    printed = row["published"]
    # The labels COV0 and COV are exchanged in print.
    assert found["DBRLM_COV"].count("first") == printed["printed_as_COV0"]
    assert found["DBRLM_COV0"].count("first") == printed["printed_as_COV"]
    for ours, theirs in (("DBRL1", "DBRL1"), ("DBRL2", "DBRL2"), ("KDBRL_2", "KDBRL")):
        assert found[ours].count("first") == printed[theirs]


def test_the_same_counts_through_the_measures():
    data = tacit.read(FIXTURES / "casc" / "census.csv")
    v = list(data.columns)
    replaced = [v[i] for i in positions("1,3,4,6,7,9,11,12,13")]
    release = tacit.Ipso(columns=replaced, variant="A").apply(data, seed=1)
    table = linkage_table(data, {"IPSO-A": release}, [[v[6], v[11]], [v[3], v[6], v[11], v[12]]])
    rows = table.table().rows(named=True)
    names = ("DBRL1", "DBRL2", "Mahalanobis, true", "Mahalanobis, zero", "kernel")
    assert [[r[n] for n in names] for r in rows] == [
        [145, 133, 135, 123, 146],
        [95, 87, 137, 66, 94],
    ]


@pytest.fixture(scope="module")
def eia():
    return numbers("EIA"), positions("1,2,7,8,9")


def test_the_attack_needs_no_known_link(eia):
    data, replaced = eia
    files = released(data, replaced, lambda fit: fit.fitted).columns(np.array(replaced))
    expected = read("eia_cross_cov_attacks")["correct_links"]
    assert attack(files, true_covariance(files)).count("first") == expected["cross_cov_true"]
    assert attack(files, zero_covariance(files)).count("first") == expected["cross_cov_zero"]
    read_off = projections(files)
    assert list(read_off) == ["shrinkage"]
    assert attack(files, read_off["shrinkage"]).count("first") == pytest.approx(
        expected["projection_S_equals_VarA_minus_VarB"], abs=8
    )
    metric, rounds = self_trained(files, 14)
    assert rounds == pytest.approx(expected["selftrain_rounds_0_to_14"], rel=0.03)
    assert attack(files, metric).count("first") == rounds[-1]


def test_percentages_of_the_text(eia):
    data, replaced = eia
    files = released(data, replaced, lambda fit: fit.fitted).columns(np.array(replaced))
    found = attack(files, true_covariance(files))
    assert round(100 * found.count("first") / len(data), 1) == 78.3


def test_reverse_direction_of_table_3(eia):
    counts = []
    for row in ROWS[:5]:
        files = released(
            numbers("Census"), positions(row["synthesised_attributes"]), lambda fit: fit.fitted
        ).columns(np.array(positions(row["attributes"])))
        back = Files(
            files.original, files.released, files.old, files.new, direction="released_to_original"
        )
        counts.append(attack(back, make_standardised_metric(back)).count("first"))
    assert counts == [155, 104, 102, 98, 36]


@pytest.mark.parametrize("seed", range(3))
def test_ipso_b_stays_close_to_a(eia, seed):
    data, replaced = eia
    z = np.random.default_rng(seed).standard_normal((len(data), len(replaced)))
    files = released(data, replaced, lambda fit: ipso_b(fit, z)).columns(np.array(replaced))
    assert 3150 <= attack(files, true_covariance(files)).count("first") <= 3230
    assert attack(files, make_standardised_metric(files)).count("first") == pytest.approx(65, abs=8)
    assert attack(files, distance_standardised(files, "all")).count("first") == pytest.approx(
        120, abs=8
    )
    assert attack(files, zero_covariance(files)).count("first") == pytest.approx(135, abs=8)


@pytest.mark.parametrize(
    "row",
    [r for r in ROWS if r["dataset"] == "Census"],
    ids=lambda r: r["scenario"] + "-" + r["attributes"],
)
def test_table_4_ipso_b_differs_little_from_a(row):
    data, replaced = numbers("Census"), positions(row["synthesised_attributes"])
    z = np.random.default_rng(5).standard_normal((len(data), len(replaced)))
    files = released(data, replaced, lambda fit: ipso_b(fit, z)).columns(
        np.array(positions(row["attributes"]))
    )
    for name, metric in five_methods(files).items():
        count = attack(files, metric).count("first")
        assert abs(count - row["expected_correct_links_first_tie"][name]) <= 8


@pytest.mark.parametrize("seed", range(3))
def test_ipso_c_within_the_simulated_bounds(eia, seed):
    data, replaced = eia
    z = np.random.default_rng(seed).standard_normal((len(data), len(replaced)))
    files = released(data, replaced, lambda fit: ipso_c(fit, z)).columns(np.array(replaced))
    bounds = read("ipso_c_simulated_bounds")["accept"]
    found = {k: attack(files, m) for k, m in five_methods(files).items() if k != "KDBRL_2"}
    for name, (low, high) in bounds.items():
        assert low <= found[name].count("first") <= high
    # Means and variances are kept, so the two standardisations are one.
    assert (found["DBRL1"].links.nearest == found["DBRL2"].links.nearest).all()
    # Without a link: the residuals of the release tell the covariance.
    guess = projections(files)
    assert list(guess) == ["residuals"]
    real = found["DBRLM_COV"].count("first")
    assert attack(files, guess["residuals"]).count("first") == pytest.approx(real, rel=0.05)


def test_probabilistic_linkage_finds_as_many_as_dbrl2_with_two_attributes():
    data = tacit.read(FIXTURES / "casc" / "census.csv")
    v = list(data.columns)
    for row in (r for r in ROWS if r["dataset"] == "Census" and r["attributes"].count(",") == 1):
        replaced = [v[i] for i in positions(row["synthesised_attributes"])]
        release = tacit.Ipso(columns=replaced, variant="A").apply(data, seed=1)
        known = [v[i] for i in positions(row["attributes"])]
        found = tacit.ProbabilisticLinkage(columns=known).measure(release, original=data)
        assert found.correct == pytest.approx(row["published"]["DBRL2"], rel=0.4)
        assert found.correct == pytest.approx(row["published"]["PRL"], rel=0.4)
