# ruff: noqa: DTZ001 - columns of data hold times without a zone
"""The core: validation with every fault, binding, lifting, looking."""

import datetime as dt
import decimal

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.data.hierarchy import MAX_FAULTS, Hierarchy, ground_label, ground_labels
from tacit.errors import HierarchyError

ZIP = [["02138", "0213*", "*"], ["02139", "0213*", "*"], ["02141", "0214*", "*"]]


def test_shape_and_questions():
    h = Hierarchy.from_paths(ZIP, names=["zip", "four", "none"])
    assert (h.height, h.top, len(h)) == (2, "*", 3)
    assert repr(h) == "Hierarchy(height=2, values per level: 3 -> 2 -> 1)"
    assert h.path("02139") == ("02139", "0213*", "*")
    assert h.at(1) == {"02138": "0213*", "02139": "0213*", "02141": "0214*"}
    assert h.leaves("0213*", 1) == ("02138", "02139")
    assert [h.level_of("02138", x) for x in ("02138", "0213*", "*", "0214*")] == [0, 1, 2, None]
    assert h.paths() == [tuple(p) for p in ZIP]
    assert h.to_arrow().column_names == ["zip", "four", "none"]
    assert h.to_arrow().column("four").to_pylist() == ["0213*", "0213*", "0214*"]


def test_questions_about_what_is_not_there():
    h = Hierarchy.from_paths(ZIP)
    for question in (
        lambda: h.path("99999"),
        lambda: h.leaves("99999", 1),
        lambda: h.at(3),
        lambda: h.leaves("*", -1),
    ):
        with pytest.raises(HierarchyError) as error:
            question()
        assert "99999" not in str(error.value)


def test_every_fault_at_once_without_quoting_labels():
    paths = [
        ["a", "G1", "top"],
        ["b", "G1", "other"],
        ["a", "G2", "top"],
        ["c", "", "top"],
        ["d", "top"],
    ]
    with pytest.raises(HierarchyError) as error:
        Hierarchy.from_paths(paths)
    faults = error.value.faults
    assert faults == (
        "path 4: a label is missing",
        "path 5: 2 levels where others have 3 (uneven depth; pad=True fills it)",
        "path 3: its value already has another path",
        "it has 2 tops where one is needed (top=True adds '*' above them)",
        "level 1: 1 of its labels have more than one parent at level 2 (a level splits a lower group)",
    )


@pytest.mark.parametrize(
    ("paths", "fault"),
    [
        ([], "no paths"),
        ([["a"], ["b"]], "no level above the ground"),
        ([[]], "label is missing"),
    ],
)
def test_degenerate_paths(paths, fault):
    with pytest.raises(HierarchyError, match=fault):
        Hierarchy.from_paths(paths)


def test_many_faults_are_counted():
    with pytest.raises(HierarchyError) as error:
        Hierarchy.from_paths([["x", ""]] * (MAX_FAULTS + 5))
    assert len(error.value.faults) == MAX_FAULTS + 1
    assert error.value.faults[-1] == "... and 5 more of this sort"


def test_repeated_path_is_no_fault():
    assert len(Hierarchy.from_paths([["a", "*"], ["a", "*"], ["b", "*"]])) == 2


def test_padding_repeats_the_label_below_the_top():
    h = Hierarchy.from_paths([["a", "G", "H", "*"], ["b", "*"], ["c", "", "H", "*"]], pad=True)
    assert h.path("b") == ("b", "b", "b", "*")
    assert h.path("c") == ("c", "c", "H", "*")


@pytest.mark.parametrize(("top", "label"), [(True, "*"), ("all", "all")])
def test_top_can_be_added(top, label):
    h = Hierarchy.from_paths([["a", "G"], ["b", "H"]], top=top)
    assert h.path("b") == ("b", "H", label)


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (pa.array([1, 2]), ["1", "2"]),
        (pa.array([1.0, 2.5]), ["1", "2.5"]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array(["é", "日本"]), ["é", "日本"]),
        (pa.array([dt.date(2020, 1, 2)]), ["2020-01-02"]),
        (
            pa.array([dt.datetime(2020, 1, 2), dt.datetime(2020, 1, 2, 3)]),
            ["2020-01-02", "2020-01-02T03:00:00"],
        ),
        (pa.array([decimal.Decimal("1.50")]), ["1.50"]),
        (pa.array(["x", "y"]).dictionary_encode(), ["x", "y"]),
    ],
)
def test_values_of_every_type_bind_by_their_text(values, labels):
    assert (
        ground_labels(values).to_pylist() == labels == [ground_label(v) for v in values.to_pylist()]
    )
    h = Hierarchy.from_paths([[label, "*"] for label in [*labels, "unused"]])
    bound = h.bind(values, "column")
    assert bound.ground.type == values.type
    assert bound.mapping(0).column("old").to_pylist() == values.to_pylist()
    assert bound.mapping(0).column("new").to_pylist() == labels
    lifted = bound.lift(values)
    assert lifted[0].tolist() == [*range(len(values)), len(labels) + 1]
    assert lifted[1].tolist() == [0] * (len(values) + 1)


def test_lift_keeps_a_code_for_null_below_the_top():
    h = Hierarchy.from_paths(ZIP)
    ground, four, top = h.lift(pa.array(["02141", "02138"]))
    assert ground.tolist() == [2, 0, 3]
    assert four.tolist() == [1, 0, 2]
    assert top.tolist() == [0, 0, 0]
    with pytest.raises(HierarchyError, match="1 of the different values"):
        h.lift(pa.array(["x"]))


@pytest.mark.parametrize(
    ("labels", "values", "hint"),
    [
        (["01", "02"], [1, 2], "They would be covered with leading zeros removed"),
        (["1", "2"], ["01", "x"], "Some of them would be covered with leading zeros"),
        (["Male"], ["male"], "upper and lower case"),
        (["Male"], [" Male"], "blanks around them"),
        (["1"], ["1.0"], "closing '.0'"),
        (["North America"], ["North-America"], "hyphens"),
        (["a"], ["b"], "check the column's type and coding"),
    ],
)
def test_uncovered_values_are_counted_and_the_coding_is_hinted_at(labels, values, hint):
    with pytest.raises(HierarchyError, match=hint) as error:
        Hierarchy.from_paths([[x, "*"] for x in labels]).bind(pa.array(values), "area")
    assert f"does not cover {len(values)} of the {len(values)} different values" in str(error.value)


def test_zero_hint_names_the_column():
    with pytest.raises(HierarchyError, match=r"types=\{'zip': 'text'\}"):
        Hierarchy.from_paths(ZIP).bind(pa.array([2138]), "zip")


def test_describe_shows_the_tree_and_stops():
    h = tacit.hierarchy.from_tree({"*": {"A": {"a1": ["x", "y"]}, "b": None}}, pad=True)
    assert h.describe().splitlines() == [
        "*  (3)",
        "  A  (2)",
        "    a1  (2)",
        "      x",
        "      y",
        "  b",
    ]
    short = h.describe(limit=2).splitlines()
    assert short == ["*  (3)", "  A  (2)", "... 3 ground values in all"]


def test_hierarchy_is_not_changed_by_binding():
    h = Hierarchy.from_paths(ZIP)
    h.bind(pa.array(["02138"]), "zip")
    assert h.ground is None


def test_hundred_thousand_values():
    values = pa.array([f"{i:05d}" for i in range(100_000)])
    bound = tacit.hierarchy.digits(5).build(values.to_pylist()).bind(values, "zip")
    assert [len(level) for level in bound.labels] == [100_000, 10_000, 1_000, 100, 10, 1]
    assert np.array_equal(bound.lift(values)[3][:-1], np.arange(100_000) // 1000)


def test_a_label_with_two_meanings_is_a_fault():
    with pytest.raises(HierarchyError, match="two meanings"):
        Hierarchy.from_paths([["1", "1", "*"], ["2", "1", "*"], ["3", "2", "*"]])
    same = Hierarchy.from_paths([["unknown", "unknown", "*"], ["a", "known", "*"]])
    assert same.path("unknown") == ("unknown", "unknown", "*")
