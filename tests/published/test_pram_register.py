"""What de Wolf (2006) found on a register of 6.2 million persons, on a synthetic one of a million.

The register is not public, so counts differ; what is tested is the pattern of his Tables 1, 2 and 7.
"""

import csv
import json
from pathlib import Path

import pytest

import tacit
from studies.pram_matrices import rate_matrices
from studies.pram_register import MATRICES, draw_register

FIXTURES = Path(__file__).parents[1] / "fixtures" / "psd17-pram-risk-utility"
EXPERIMENT = json.loads((FIXTURES / "matrices.json").read_text())["experiment"]
EXPERIMENT["R2"] = EXPERIMENT["R1"].replace("E(", "F(")
COLUMN = {"G": "gender", "R": "residence", "Y": "year", "M": "marital"}
UNKNOWN = {"residence": [0], "marital": [0]}

pytestmark = pytest.mark.slow


def candidate(*names):
    return {COLUMN[name[0]]: EXPERIMENT[name] for name in names}


@pytest.fixture(scope="module")
def data():
    return draw_register(1_000_000, 1)


@pytest.fixture(scope="module")
def rmg(data):
    wanted = {
        name: candidate(name)
        for name in EXPERIMENT
        if name[0] in "GRM" and not name.startswith("PRAM")
    }
    wanted |= {"G4+M7": candidate("G4", "M7"), "G7+M4": candidate("G7", "M4")}
    wanted |= {"G1+M2": candidate("G1", "M2")}
    cells = data.cells(["residence", "marital", "gender"])
    return rate_matrices(cells, wanted, tau=100, exclude=UNKNOWN)


@pytest.fixture(scope="module")
def rmy(data):
    wanted = {name: candidate(name) for name in EXPERIMENT if name[0] in "RYM"}
    wanted |= {
        name: candidate(*(part for part in text.split() if part[0] != "G"))
        for name, text in EXPERIMENT.items()
        if name.startswith("PRAM")
    }
    wanted |= {f"{y}+{m}": candidate(y, m) for y, m in (("Y6", "M7"), ("Y12", "M4"), ("Y1", "M2"))}
    cells = data.cells(["residence", "marital", "year"])
    return rate_matrices(cells, wanted, tau=100, exclude=UNKNOWN)


def test_the_study_has_the_matrices_of_the_paper():
    named = {k: v for k, v in EXPERIMENT.items() if not k.startswith("PRAM")}
    assert named == MATRICES


def unsafe(found):
    return {c.label: c.unsafe for c in found.candidates}


def test_unsafe_counts_rise_with_the_stay_probability(rmg):
    counts = [unsafe(rmg)[f"G{i}"] for i in range(1, 8)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_equal_and_frequency_blocks_of_residence_do_alike(rmg, rmy):
    for found in (rmg, rmy):
        assert unsafe(found)["R1"] == pytest.approx(unsafe(found)["R2"], rel=0.03)


def test_randomising_more_variables_leaves_fewer_unsafe(rmg, rmy):
    for found, pairs in (
        (rmg, [("G4", "M7"), ("G7", "M4"), ("G1", "M2")]),
        (rmy, [("Y6", "M7"), ("Y12", "M4"), ("Y1", "M2")]),
    ):
        for a, b in pairs:
            assert unsafe(found)[f"{a}+{b}"] < min(unsafe(found)[a], unsafe(found)[b])


def test_never_more_unsafe_than_before(rmg, rmy):
    for found in (rmg, rmy):
        assert all(c.unsafe <= found.rare for c in found.candidates)
        assert found.rare > 300


def test_the_published_counts_have_the_same_pattern():
    with (FIXTURES / "unsafe_counts_published.csv").open() as file:
        rows = {r["matrix"]: r for r in csv.DictReader(file)}
    genders = [int(rows[f"G{i}"]["rmg_unsafe"]) for i in range(1, 8)]
    assert genders == sorted(genders)
    for column in ("rmg_unsafe", "rmy_unsafe"):
        known = {k: int(r[column]) for k, r in rows.items() if r[column]}
        assert max(known.values()) == known["original"]
        assert known["R1"] == pytest.approx(known["R2"], rel=0.03)


@pytest.mark.parametrize("name", ["G4", "M7", "Y6", "R1"])
def test_expected_and_realised_information_loss_agree(data, name):
    column = COLUMN[name[0]]
    released = tacit.Pram(column=column, matrix=EXPERIMENT[name]).apply(data, seed=3)
    (losses,) = tacit.PramLoss().measure(released, original=data).tables
    assert abs(losses.ebil - losses.il) / losses.il <= 0.005
    assert losses.differences.median < 0.2


def test_a_whole_experiment_on_records_agrees_with_the_comparison(data, rmg):
    spec = [tacit.Pram(column="gender", matrix="2E(0.7)")]
    spec.append(tacit.Pram(column="marital", matrix=EXPERIMENT["M7"]))
    released = data
    for step in spec:
        released = step.apply(released, seed=4)
    risk = tacit.PramRisk(
        combinations=[("residence", "marital", "gender")],
        exclude={k: tuple(v) for k, v in UNKNOWN.items()},
    )
    assert risk.measure(released, original=data).value == unsafe(rmg)["G4+M7"]
