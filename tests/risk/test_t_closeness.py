"""t-closeness: worked examples of the paper, brute force and linear programming."""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import tacit
from conftest import filled
from tacit.data.hierarchy import Hierarchy
from tacit.errors import InputError, RoleMissing

ARX = Path(__file__).parents[1] / "fixtures" / "arx"


def paths(name):
    with (ARX / f"test2_hierarchy_{name}.csv").open(encoding="utf-8") as file:
        return list(csv.reader(file, delimiter=";"))


@pytest.fixture
def table3():
    """Table 3 of the paper, with hierarchies."""

    def read(**options):
        return tacit.read(
            ARX / "test2.csv",
            keys=["ZIPCode", "Age"],
            sensitive=["Salary", "Disease"],
            hierarchies={n: Hierarchy.from_paths(paths(n)) for n in ("ZIPCode", "Age", "Disease")},
            **options,
        )

    return read


def emd(p, q, ground):
    """The earth mover's distance by linear programming."""
    m = len(p)
    flows = np.vstack([np.kron(np.eye(m), np.ones(m)), np.kron(np.ones(m), np.eye(m))])
    return linprog(np.ravel(ground), A_eq=flows, b_eq=np.concatenate([p, q])).fun


def ground_distance(values, kind, tree):
    if kind == "ordered":
        return [
            [abs(i - j) / max(len(values) - 1, 1) for j in range(len(values))]
            for i in range(len(values))
        ]
    return [
        [0.0 if a == b else tree(a, b) if kind == "hierarchical" else 1.0 for b in values]
        for a in values
    ]


TREE = Hierarchy.from_paths(
    [
        ["1", "low", "some", "*"],
        ["2", "low", "some", "*"],
        ["3", "mid", "some", "*"],
        ["4", "top", "top", "*"],
    ]
)


def common(a, b):
    if a is None or b is None:
        return 1.0
    return (
        next(i for i, (x, y) in enumerate(zip(TREE.path(a), TREE.path(b), strict=True)) if x == y)
        / 3
    )


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["x", "y", None]), st.sampled_from([1, 2, 3, 4, None])),
        min_size=1,
        max_size=20,
    ).filter(filled(0)),
    st.sampled_from(["equal", "ordered", "hierarchical"]),
    st.sampled_from(["category", "ignore"]),
)
def test_agrees_with_linear_programming(rows, distance, missing):
    table = pa.table(
        {
            "k": pa.array([k for k, _ in rows], pa.string()),
            "s": pa.array([s for _, s in rows], pa.int64()),
        }
    )
    data = tacit.read(table, keys="k", sensitive="s", hierarchies={"s": TREE})
    found = tacit.TCloseness(distance=distance, missing=missing, t=0.3).measure(data)
    if distance == "ordered" or missing == "ignore":
        rows = [(k, s) for k, s in rows if s is not None]
    values = sorted({s for _, s in rows}, key=lambda v: (v is None, v))
    q = np.array([sum(s == v for _, s in rows) for v in values]) / max(len(rows), 1)
    ground = ground_distance(values, distance, common)
    classes = defaultdict(list)
    for k, s in rows:
        classes[k].append(s)
    expected = {
        k: emd(np.array([m.count(v) / len(m) for v in values]), q, ground)
        for k, m in classes.items()
    }
    assert {r["k"]: r["distance"] for r in found.frame.rows(named=True)} == pytest.approx(
        expected, abs=1e-9
    )
    assert found.t == pytest.approx(max(expected.values(), default=0.0), abs=1e-9)
    assert found.violations == sum(len(classes[k]) for k, d in expected.items() if d > 0.3 + 1e-9)


def test_salary_of_three_classes(engine):
    """Section 5.1: P1 = {3k, 4k, 5k} is 0.375 away, P2 = {6k, 8k, 11k} 0.167."""
    data = tacit.read(
        {"k": ["1"] * 3 + ["2"] * 3 + ["3"] * 3, "salary": [3, 4, 5, 6, 8, 11, 7, 9, 10]},
        keys="k",
        sensitive="salary",
        engine=engine,
    )
    found = tacit.TCloseness(distance="ordered").measure(data)
    distances = {r["k"]: r["distance"] for r in found.frame.rows(named=True)}
    assert distances["1"] == pytest.approx(0.375)
    assert distances["2"] == pytest.approx(1 / 6)
    assert found.t == pytest.approx(0.375)


def test_table_5_salary(engine, table3):
    released = table3(engine=engine).generalise("ZIPCode", 1).generalise("Age", 2)
    found = tacit.TCloseness(distance="ordered", column="Salary").measure(released)
    assert found.t == pytest.approx(1 / 6)
    assert len(found.frame) == 3


def test_table_5_disease(engine, table3):
    """The definition gives 8/27 with siblings 1/3 apart; the printed 0.278 has them 1/4 apart."""
    released = table3(engine=engine).generalise("ZIPCode", 1).generalise("Age", 2)
    measure = tacit.TCloseness(distance="hierarchical", column="Disease")
    assert measure.measure(released).t == pytest.approx(8 / 27)
    deeper = Hierarchy.from_paths([[*path[:-1], path[-2], path[-1]] for path in paths("Disease")])
    data = tacit.read(
        released.to_arrow(), keys=["ZIPCode"], hierarchies={"Disease": deeper}, engine=engine
    )
    assert measure.measure(data).t == pytest.approx(5 / 18)
    assert round(5 / 18, 3) == 0.278


def test_hierarchical_formula_of_the_paper(table3):
    """The sum over inner nodes of height(N)/H min(pos_extra, neg_extra), written out."""
    data = table3()
    tree = data.hierarchy("Disease")
    disease = data.column("Disease").to_pylist()
    members = [disease[i] for i in (3, 4, 5)]
    extra = {v: members.count(v) / 3 - disease.count(v) / 9 for v in tree.labels[0]}
    total = 0.0
    for level in range(1, tree.height + 1):
        below = tree.at(level - 1)
        for node in tree.labels[level]:
            children = {below[leaf] for leaf in tree.leaves(node, level)}
            extras = [sum(extra[v] for v in tree.leaves(child, level - 1)) for child in children]
            pos, neg = sum(max(e, 0) for e in extras), -sum(min(e, 0) for e in extras)
            total += level / tree.height * min(pos, neg)
    assert total == pytest.approx(8 / 27)


def test_values_generalised_already_stand_at_their_level(table3):
    data = table3().generalise("Disease", 1).generalise("ZIPCode", 1).generalise("Age", 2)
    found = tacit.TCloseness(distance="hierarchical", column="Disease").measure(data)
    equal = tacit.TCloseness(distance="equal", column="Disease").measure(data)
    # Two labels whose lowest common ancestor is the top: as far apart as can be.
    assert found.t == pytest.approx(equal.t)


def test_value_outside_the_hierarchy_is_refused(table3):
    data = table3()
    changed = data.replace({"Disease": pa.array(["other"] * 9)})
    with pytest.raises(InputError, match="not in its hierarchy"):
        tacit.TCloseness(distance="hierarchical", column="Disease").measure(changed)


def test_order_of_text(engine):
    grades = ["poor", "fair", "good", "poor", "fair", "good"]
    data = tacit.read({"k": list("aaabbb"), "g": grades}, keys="k", sensitive="g", engine=engine)
    with pytest.raises(InputError, match="have no order"):
        tacit.TCloseness(distance="ordered").measure(data)
    assert tacit.TCloseness(distance="ordered", order=["poor", "fair", "good"]).measure(
        data
    ).t == pytest.approx(0.0)
    skewed = tacit.read(
        {"k": list("aabb"), "g": ["poor", "fair", "fair", "good"]},
        keys="k",
        sensitive="g",
        engine=engine,
    )
    ordered = tacit.TCloseness(distance="ordered", order=["poor", "fair", "good"]).measure(skewed)
    assert ordered.t == pytest.approx((0.25 + 0.25) / 2)
    with pytest.raises(InputError, match="lacks 1 of the 3"):
        tacit.TCloseness(distance="ordered", order=["poor", "fair"]).measure(skewed)


def test_one_class_tells_nothing_new(fig28):
    data = tacit.read({"k": ["x"] * 4, "s": [1, 2, 2, None]}, keys="k", sensitive="s")
    for distance in ("equal", "ordered"):
        assert tacit.TCloseness(distance=distance).measure(data).t == pytest.approx(0.0)
    with pytest.raises(RoleMissing, match="needs sensitive columns"):
        tacit.TCloseness().measure(fig28)
    with pytest.raises(RoleMissing, match="no hierarchy"):
        tacit.TCloseness(distance="hierarchical").measure(data)


def test_no_records(table3):
    data = table3().take(np.array([], dtype=np.int64))
    for distance, column in (
        ("equal", "Salary"),
        ("ordered", "Salary"),
        ("hierarchical", "Disease"),
    ):
        found = tacit.TCloseness(distance=distance, column=column).measure(data)
        assert (found.t, found.violations) == (0.0, 0)


def test_prints_and_plots(table3):
    found = tacit.TCloseness().measure(table3())
    assert set(found.by_column) == {"Salary", "Disease"}
    assert "largest distance (t)" in repr(found)
    assert found.plot().svg().startswith("<svg")
