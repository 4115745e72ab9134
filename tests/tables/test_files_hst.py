"""A-priori files, and coordination from one period to the next."""

import json
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.data.cells.dimension import Dimension
from tacit.data.cells.relations import roll_up
from tacit.data.cells.status import Status
from tacit.errors import InputError, UnreadableFile
from tacit.tables import apply_hst, read_hst, write_hst

FORMATS = json.loads(
    (Path(__file__).parents[1] / "fixtures/psd28-argus-software/file_formats.json").read_text()
)


def firms():
    tree = Dimension.from_tree("area", [(0, "N"), (1, "N1"), (1, "N2"), (0, "S"), (1, "S1")])
    flat = Dimension.flat("size", ["A", "B", "C"])
    ground = np.array([[10.0, 20, 30], [40, 50, 60], [70, 80, 90]])
    return tacit.Table.from_cells([tree, flat], roll_up(ground, [tree, flat]))


def saved(folder, text):
    path = folder / "a.hst"
    path.write_text(text)
    return path


def test_the_published_grammar(tmp_path):
    case = FORMATS["apriori"]
    found = read_hst(saved(tmp_path, case["text"]), ",")
    words = {"unsafe": "u", "protected": "p"}
    for one, expected in zip(found, case["expected"], strict=True):
        assert list(one.codes) == expected["cell"]
        if "status" in expected:
            assert one.command == words[expected["status"]]
        else:
            assert one.numbers == (expected.get("cost") or expected.get("protection_level"),)


def test_every_command(tmp_path):
    text = """// by hand
N1,Total,p
"N2","B",U
N2,B,pl,5,12.5
S,C,w,250
S,A,c,0
N2,A,m
N1,C,ml
N1,A,s
,,p
"""
    table = apply_hst(firms(), saved(tmp_path, text), ",", manual_range=10)
    status = {c: Status(int(table.status[table.index(c)])) for c in
              [("N1", "Total"), ("N2", "B"), ("N2", "A"), ("N1", "C"), ("N1", "A"), ("Total", "Total")]}  # fmt: skip
    assert list(status.values()) == [
        Status.PROTECTED,
        Status.UNSAFE_MANUAL,
        Status.SECONDARY_MANUAL,
        Status.SECONDARY_MANUAL,
        Status.SAFE_MANUAL,
        Status.PROTECTED,
    ]
    cell = table.index(("N2", "B"))
    assert (table.lower_level[cell], table.upper_level[cell]) == (5, 12.5)
    assert table.weight[table.index(("S", "C"))] == 250
    assert table.weight[table.index(("S", "A"))] == 1
    assert table.weight[table.index(("S", "B"))] == 80
    assert table.extra["apriori"] == {"applied": 9, "skipped": ()}
    assert tacit.SuppressLinear().apply(table).hidden[table.index(("N2", "A"))]


def test_the_manual_range(tmp_path):
    path = saved(tmp_path, "N2;B;u\n")
    assert apply_hst(firms(), path).upper_level.max() == pytest.approx(10)
    with pytest.raises(InputError, match="manual safety range"):
        apply_hst(firms(), path, manual_range=None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("N2,B,u\nN2,B,p\n", "line 2 .N2 x B.: a cell that is unsafe"),
        ("N2,B,p\nN2,B,u\n", "line 2 .N2 x B.: a cell that is must be published"),
        ("N2,B,c,-1\n", "cost of a cell must be positive"),
        ("N2,B,pl,1,1\n", "cannot be given protection levels"),
        ("N2,B,ab,1,1\n", "not carried out"),
        ("N9,B,p\n", "no code 'N9'"),
        ("N2,B,q\n", "line 1: no command"),
        ("N2,B,w\n", "line 1: 'w' is followed by 1 numbers"),
        ("N2,p\n", "line 1: 2 codes name a cell, and 1"),
        ("N2;B;p\n", "no separator ','"),
    ],
)
def test_faulty_lines(tmp_path, text, said):
    with pytest.raises((InputError, UnreadableFile), match=said):
        apply_hst(firms(), saved(tmp_path, text), ",")


def test_faulty_lines_can_be_passed_over(tmp_path):
    path = saved(tmp_path, "N2,B,u\nN2,B,p\nN9,B,p\nnonsense\nN1,A,p\n")
    table = apply_hst(firms(), path, ",", ignore_errors=True)
    assert table.extra["apriori"]["applied"] == 2
    assert [line for line, _ in table.extra["apriori"]["skipped"]] == [2, 3, 4]


def test_trivial_levels(tmp_path):
    path = saved(tmp_path, "S,A,u\n")
    plain = apply_hst(firms(), path, ",")
    assert plain.primary.sum() == 1
    both = apply_hst(firms(), path, ",", expand_trivial=True)
    assert [both.codes(int(i)) for i in np.flatnonzero(both.primary)] == [("S", "A"), ("S1", "A")]


def test_a_bare_table_has_no_codes(tmp_path):
    relations = tacit.Table.from_array([1.0, 2], totals=False).equations
    bare = tacit.Table.from_cells((), [1.0, 2, 3], equations=relations)
    with pytest.raises(InputError, match="only equations"):
        apply_hst(bare, saved(tmp_path, "1,p\n"), ",")


def test_last_period_s_pattern_is_preferred(tmp_path):
    before = firms().with_protection([("N1", "A")], 5, 5)
    protected = tacit.SuppressLinear().apply(before)
    now = firms().with_protection([("N1", "A")], 5, 5)
    costly = now.with_weight(np.where(protected.hidden, 1000.0, 1.0))
    n = write_hst(costly, tmp_path / "b.hst", previous=protected)
    assert n == int((~now.empty).sum())
    again = apply_hst(now, tmp_path / "b.hst")
    assert (again.weight[protected.hidden] == 1).all()
    assert (again.weight[~protected.hidden] >= 10).all()
    assert tacit.SuppressLinear().apply(again).hidden.tolist() == protected.hidden.tolist()
    other = tacit.Table.from_array([[1.0, 2]], totals=False)
    with pytest.raises(InputError, match="previous table has the dimensions"):
        write_hst(now, tmp_path / "b.hst", previous=other)


def test_what_was_set_by_hand_survives(tmp_path):
    table = firms().with_protection([("N2", "B")], 5, 12.5).freeze([("N1", "C")])
    table = table.with_weight(np.arange(len(table)) + 1.5)
    write_hst(table, tmp_path / "b.hst", separator=";")
    again = apply_hst(firms(), tmp_path / "b.hst")
    assert again.status.tolist() == table.status.tolist()
    np.testing.assert_allclose(again.weight, table.weight)
    np.testing.assert_allclose(again.upper_level, table.upper_level)
