"""Global disclosure risk against worked examples for Truta, Fotouhi, Barth-Jones (2004)."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.records.global_risk.factors import Pairs, change_factor, prefix_distances, tree_distances

FOLDER = Path(__file__).parents[1] / "fixtures" / "global-disclosure-risk"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
KEYS = ["age", "sex", "zip"]
KINDS = {"age": "ordered", "sex": "unordered", "zip": "prefix"}


def weight(i, j):
    return 1 / (max(i, j) * (1 + abs(i - j)))


def read(name, engine="duckdb"):
    return tacit.read(FOLDER / f"{name}.csv", keys=KEYS, types={"zip": "text"}, engine=engine)


def measured(name, engine="duckdb", **parameters):
    spec = tacit.GlobalRisk(**{"kinds": KINDS, "weights": weight, "link": "id"} | parameters)
    return spec.measure(read(f"{name}_masked", engine), original=read("exampleA_initial", engine))


@pytest.mark.parametrize("name", ["exampleA", "exampleB"])
def test_examples_to_the_digit(name, engine):
    expected = EXPECTED[name]
    found = measured(name, engine)
    assert found.numbers["original records"] == expected["n"]
    assert found.numbers["masked records"] == expected["t"]
    assert found.numbers["linked records"] == expected["r"]
    assert found.icf == pytest.approx(expected["icf"], abs=1e-12)
    assert found.factors["age"].inversions == expected["inversions_age"]
    assert found.factors["sex"].changes == expected["changes_sex"]
    for measure, printed in (("minimum", "DR_min"), ("weighted", "DR_W"), ("maximum", "DR_max")):
        peak = getattr(found, measure)
        assert peak.value == pytest.approx(expected[printed], abs=1e-12)
        assert {"+".join(s) for s in peak.ties} == set(expected[f"argmax_{printed}"])
        assert "+".join(peak.keys) == max(expected[f"argmax_{printed}"], key=len)


@pytest.mark.parametrize("name", ["exampleA", "exampleB"])
def test_every_subset_of_the_examples(name):
    found = measured(name)
    rows = {row["keys"]: row for row in found.frame.rows(named=True)}
    assert rows.keys() == EXPECTED[name]["per_subset"].keys()
    for subset, expected in EXPECTED[name]["per_subset"].items():
        keys = subset.split("+")
        matrix = {f"{i},{j}": c for (i, j), c in found.matrix(keys).items()}
        assert matrix == expected["classification"]
        clusters = found.clusters(keys)
        for letter, sizes in (
            ("F", clusters.F),
            ("n", clusters.n),
            ("f", clusters.f),
            ("t", clusters.t),
        ):
            assert {str(size): count for size, count in sizes.items()} == expected[f"{letter}_i"]
        assert rows[subset]["minimum"] == pytest.approx(expected["DR_min"], abs=1e-12)
        assert rows[subset]["maximum"] == pytest.approx(expected["DR_max"], abs=1e-12)
        assert rows[subset]["weighted"] == pytest.approx(expected["DR_W"], abs=1e-12)


def test_dropping_zip_raises_the_risk_of_example_a():
    found = measured("exampleA")
    assert found.overmasked == ("zip",)
    assert "zip is over-masked" in found.explanation
    assert measured("exampleB").overmasked == ()
    assert measured("exampleB").factors["age"].order_preserving
    assert found.factors["zip"].weak == 2
    assert found.factors["zip"].strong == 1


@pytest.mark.parametrize("pair", EXPECTED["zip_weak_change"], ids=lambda p: f"{p['x']}-{p['y']}")
def test_weak_changes_of_zip_codes(pair):
    one = np.zeros(1, dtype=np.int64)
    pairs = Pairs(one, one, one + 1, pa.array([pair["x"]]), pa.array([pair["y"]]))
    codes = ["48201", "48202", "48301", "88202"]
    tree = tacit.hierarchy.digits(5).build(codes)
    top = {"*": tree.top}
    climbed = Pairs(one, one, one + 1, pairs.x, pa.array([top.get(pair["y"], pair["y"])]))
    for factor in (
        change_factor(pairs, "prefix", prefix_distances(pairs, 5, "zip")),
        change_factor(climbed, "tree", tree_distances(climbed, tree)),
    ):
        assert factor.icf == pytest.approx(pair["wcf"])
        kind = "strong" if factor.strong else "weak" if factor.weak else "none"
        assert kind == pair["kind"]


def test_a_key_that_was_not_changed_need_not_help_under_every_weight_matrix():
    example = EXPECTED["pruning_counterexample"]
    columns = {f: {k: [row[k] for row in example[f]] for k in "AB"} for f in ("initial", "masked")}
    initial, masked = (tacit.read(columns[f], keys=["A", "B"]) for f in ("initial", "masked"))
    spec = tacit.GlobalRisk(weights="diagonal", report="weighted")
    found = spec.measure(masked, original=initial)
    assert found.icf == {"A": 0, "B": 0}
    rows = {row["keys"]: row["weighted"] for row in found.frame.rows(named=True)}
    assert rows == example["DR_W_per_subset"]
    assert found.value == example["DR_W"]
    assert found.weighted.keys == ("A",)
    assert found.minimum.value == example["DR_min"]
    assert found.maximum.value == example["DR_max"]
