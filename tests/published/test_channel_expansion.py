"""Garfinkel, Gopal, Thompson (2007), Information Systems Research 18(1), 23-41: Sections 3 to 6."""

import json

import numpy as np
import pytest

import tacit
from conftest import FIXTURES
from studies.channels import weight_or_threshold
from tacit.records.channels import views
from tacit.records.channels.table import ChannelTable

FOLDER = FIXTURES / "channel-expansion"
RELATED = ["crp", "cholesterol", "blood_pressure", "glucose"]
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
VALUES = EXPECTED["params"]["values"]
LIMITS = dict(zip(VALUES, EXPECTED["params"]["u"], strict=True))
HEAVIER = {"Diabetes|Heart": 1.25, "Diabetes|Heart|MRSA": 1.25}


@pytest.fixture
def table_1():
    return tacit.read(FOLDER / "table1_microdata.csv", identifiers=["name"])


@pytest.fixture
def study():
    return tacit.ChannelExpansion(related=RELATED, confidential="diagnosis", u=LIMITS, b=0.6)


def published(name):
    channels = EXPECTED["published_solutions"][name]["output_channels"]
    return [{int(r): n for r, n in w["x"].items()} for w in channels if len(w["channels"]) > 1]


def test_table_2(table_1, study):
    table = study.table(table_1)
    assert table.texts == [tuple(channel) for channel in EXPECTED["channels"]]
    assert table.m.tolist() == EXPECTED["m"]
    assert table.counts.tolist() == EXPECTED["counts"]
    printed = tacit.read(FOLDER / "table2_grouped.csv").to_arrow().to_pydict()
    assert list(table.frame.get_column("subjects")) == printed["subjects"]


def test_classification_of_section_5(table_1, study):
    problem = study.problem(study.table(table_1))
    assert [r + 1 for r in range(6) if problem.risky[r]] == EXPECTED["risky"]
    for k, channels in EXPECTED["k_risky"].items():
        assert [r + 1 for r in range(6) if problem.k_risky[r, int(k) - 1]] == channels
    assert problem.P_k.tolist() == pytest.approx(EXPECTED["p_value"])


def test_figure_5_is_the_optimum_of_whole_subjects(table_1, study):
    answer = study.solve(table_1)
    assert answer.cost == 65
    assert answer.bound == pytest.approx(187 / 3)
    assert answer.loss == pytest.approx(65 / 225)
    assert answer.gap == 0
    assert answer.proven
    assert answer.safe
    assert sorted(answer.channels.get_column("subjects").to_list()) == [4, 4, 7]


def test_fractions_of_subjects_cost_less(table_1, study):
    answer = study.model_copy(update={"integer": False}).solve(table_1)
    assert answer.cost == pytest.approx(187 / 3)


def test_figure_6_is_not_optimal(table_1, study):
    heavier = study.model_copy(update={"c": HEAVIER})
    printed = heavier.evaluate(table_1, published("figure6"))
    assert printed.safe
    assert printed.cost == 115
    assert heavier.solve(table_1).cost == 79
    assert heavier.solve(table_1).bound == pytest.approx(7102 / 99)


@pytest.mark.parametrize("figure", ["figure3", "figure4", "figure5", "figure6"])
def test_printed_shares_costs_and_losses(figure, table_1, study):
    judged = study.model_copy(update={"c": HEAVIER if figure == "figure6" else {}}).evaluate(
        table_1, published(figure)
    )
    printed = EXPECTED["published_solutions"][figure]
    assert judged.safe == printed["all_safe"]
    assert judged.cost == printed["cost"]
    assert judged.loss == pytest.approx(printed["omega"])
    for channel, row in zip(
        printed["output_channels"], judged.channels.rows(named=True), strict=True
    ):
        assert row["members"] == "{" + ", ".join(map(str, channel["channels"])) + "}"
        assert row["subjects"] == channel["subjects"]
        assert row["psi"] == channel["psi"]
        assert [row[f"share of {v}"] for v in VALUES] == pytest.approx(channel["p"])
        assert row["aggregate"] == pytest.approx(channel["aggregate"])


def test_full_and_minimal_revelation(table_1, study):
    table = study.table(table_1)
    problem = study.problem(table)
    full = views.full(table, problem)
    assert full.cost == 0
    assert not full.safe
    assert full.output_safe.tolist() == [r not in EXPECTED["risky"] for r in range(1, 7)]
    assert full.shares == pytest.approx(np.array(EXPECTED["p_given_channel"]))
    minimal = views.minimal(table, problem)
    assert (minimal.cost, minimal.loss, minimal.safe) == (225, 1, True)


@pytest.mark.parametrize("figure", ["figure4", "figure5"])
def test_query_for_channel_1(figure, table_1, study):
    found = study.evaluate(table_1, published(figure)).query(channels=[1])
    expected = EXPECTED["query_channel1"][figure]
    assert (found.returned, found.true, found.spurious) == (
        expected["returned"],
        expected["true"],
        expected["spurious"],
    )
    assert found.recall == 1


def test_recoding_column_by_column_spans_36_combinations(table_1, study):
    judged = study.evaluate(table_1, published("figure4"))
    row = views.recoding(judged).rows(named=True)[0]
    assert (row["combinations named"], row["combinations spanned"]) == (3, 36)


@pytest.mark.parametrize(("b", "safe"), [(0.6, True), (0.45, False)])
def test_channels_3_and_4_together(b, safe, table_1, study):
    judged = study.evaluate(table_1, [[3, 4]])
    assert judged.aggregate[2] == pytest.approx(0.5)
    assert judged.output_safe[2]
    assert (judged.aggregate[2] <= b) == safe


def test_raising_a_weight_leaves_feasible_what_lowering_a_threshold_does_not():
    counts = EXPECTED["c_versus_u_example"]["counts"]
    table = ChannelTable.of([100], [counts], VALUES)
    found = weight_or_threshold(
        table, LIMITS, 0.6, {}, weight={"Diabetes|Heart": 1.25}, threshold={"Diabetes|Heart": 0.22}
    )
    assert found.get_column("cost").to_list() == [0, 0, None]


def test_readme_lines(table_1, rows):
    names = ["name", "postal_code", "gender", "CRP", "Cholesterol", "BP", "Glucose", "Diagnosis"]
    data = tacit.read(table_1.to_arrow().rename_columns(names), identifiers="name")
    study = tacit.ChannelExpansion(
        related=["CRP", "Cholesterol", "BP", "Glucose"],
        confidential="Diagnosis",
        u={"Diabetes": 0.25, "Heart": 0.25, "Diabetes|Heart": 0.30, "Diabetes|Heart|MRSA": 0.18},
        b=0.6,
    )
    assert study.solve(data).cost == 65
    released = study.apply(data, seed=1)
    assert "Diagnosis" not in released.columns
    assert sorted(rows(released, ["name"])) == sorted(rows(data, ["name"]))


def test_utility_rises_with_tolerance(table_1, study):
    found = study.points(table_1, factors=(1.0, 1.5, 2.0))
    assert found.get_column("loss").to_list()[0] == pytest.approx(187 / 3 / 225)
    assert found.get_column("utility").to_list() == sorted(found.get_column("utility").to_list())
