"""JJ files: cells and equations, read and written."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.argus.outputs import without_trivial
from tacit.data.cells.dimension import Dimension
from tacit.data.cells.status import Status
from tacit.errors import NotAdditive, UnreadableFile
from tacit.tables import read_jj, write_jj

FORMATS = json.loads(
    (Path(__file__).parents[1] / "fixtures/psd28-argus-software/file_formats.json").read_text()
)

EXAMPLE = """0
9
0 60 60 s 0 120 0 0 0
1 25 25 s 0 50 0 0 0
2 35 35 s 0 70 0 0 0
3 20 20 s 0 40 0 0 0
4 5 5 u 0 10 2 3 0
5 15 15 s 0 30 0 0 0
6 40 40 s 0 80 0 0 0
7 20 20 m 0 40 0 0 0
8 20 20 z 0 40 0 0 0
6
0 3 : 0 (-1) 3 (1) 6 (1)
0 3 : 1 (-1) 4 (1) 7 (1)
0 3 : 2 (-1) 5 (1) 8 (1)
0 3 : 0 (-1) 1 (1) 2 (1)
0 3 : 3 (-1) 4 (1) 5 (1)
0 3 : 6 (-1) 7 (1) 8 (1)
"""


def saved(folder, text, name="t.jj"):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_the_published_grammar(tmp_path):
    case = FORMATS["jj"]
    table = read_jj(saved(tmp_path, case["text"]))
    expected = case["expected"]
    assert len(table) == expected["cells"]
    assert [int(u) for u in table.upper_level] == expected["upl"]
    letters = {"s": Status.SAFE, "u": Status.UNSAFE}
    assert table.status.tolist() == [letters[x] for x in expected["status"]]
    row = table.equations.toarray()[0]
    relation = expected["relations"][0]
    assert np.flatnonzero(row < 0).tolist() == [relation["total"]]
    assert np.flatnonzero(row > 0).tolist() == relation["parts"]


@pytest.mark.parametrize("change", [lambda t: t, lambda t: t.replace("\n", "\r\n"),
                                    lambda t: t.replace(" ", "\t"), lambda t: "\ufeff" + t])  # fmt: skip
def test_every_way_of_writing_the_same(tmp_path, change):
    table = read_jj(saved(tmp_path, change(EXAMPLE), "t.csp"))
    assert table.value.tolist() == [60, 25, 35, 20, 5, 15, 40, 20, 20]
    assert table.status[[4, 7, 8]].tolist() == [3, 11, 10]
    assert (table.lower_level[4], table.upper_level[4], table.upper[4]) == (2, 3, 10)
    assert table.equations.shape == (6, 9)
    assert table.is_additive()


def test_equations_with_turned_signs_and_close_brackets(tmp_path):
    turned = EXAMPLE.replace("0 (-1) 3 (1) 6 (1)", "0(1) 3(-1) 6(-1)")
    table = read_jj(saved(tmp_path, turned))
    assert table.equations.toarray()[0, [0, 3, 6]].tolist() == [-1, 1, 1]


def test_a_table_read_can_be_protected(tmp_path):
    safe = tacit.SuppressLinear().apply(read_jj(saved(tmp_path, EXAMPLE.replace(" z ", " s "))))
    assert safe.hidden[4]
    write_jj(safe, tmp_path / "safe.jj")
    again = read_jj(tmp_path / "safe.jj")
    assert again.hidden.tolist() == safe.hidden.tolist()


def test_contributors_stand_in_a_companion(tmp_path):
    path = saved(tmp_path, EXAMPLE)
    saved(tmp_path, "".join(f"{n} 0\n" for n in (9, 4, 5, 3, 1, 2, 6, 3, 3)), "t.jj.frq")
    assert read_jj(path).count.tolist() == [9, 4, 5, 3, 1, 2, 6, 3, 3]
    saved(tmp_path, "".join(f"{n} 2\n" for n in range(9)), "t.jj.frq")
    table = read_jj(path)
    assert table.count.tolist() == [2] * 9
    assert table.extra["record_count"].tolist() == list(range(9))
    write_jj(table, tmp_path / "u.jj")
    assert (tmp_path / "u.jj.frq").read_text() == (tmp_path / "t.jj.frq").read_text()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0\n9\n", "1\n9\n", "line 1: a JJ file begins"),
        ("0\n9\n", "0\nnine\n", "line 2: the number of cells"),
        ("4 5 5 u 0 10 2 3 0", "4 5 5 u 0 10 2 3", "line 7: a cell is"),
        ("4 5 5 u 0 10 2 3 0", "5 5 5 u 0 10 2 3 0", "line 7: the cell 4"),
        ("4 5 5 u 0 10 2 3 0", "4 5 5 q 0 10 2 3 0", "line 7: the status"),
        ("4 5 5 u 0 10 2 3 0", "4 5 5 u 0 ten 2 3 0", "line 7: a number"),
        ("4 5 5 u 0 10 2 3 0", "4 5 -5 u 0 10 2 3 0", "line 7: the weight"),
        ("0 3 : 1 (-1) 4 (1) 7 (1)", "0 2 : 1 (-1) 4 (1) 7 (1)", "line 14: 2 terms"),
        ("0 3 : 1 (-1) 4 (1) 7 (1)", "5 3 : 1 (-1) 4 (1) 7 (1)", "line 14: the right-hand side"),
        ("0 3 : 1 (-1) 4 (1) 7 (1)", "0 3 : 1 (-1) 4 (1) 9 (1)", "line 14: a cell that"),
        ("0 3 : 1 (-1) 4 (1) 7 (1)", "0 3 1 (-1) 4 (1) 7 (1)", "line 14: an equation is"),
        ("0 3 : 6 (-1) 7 (1) 8 (1)\n", "", "its end: an equation is"),
        ("6\n0 3 : 0", "5\n0 3 : 0", "line 18: more lines"),
    ],
)
def test_errors_name_the_line(tmp_path, old, new, said):
    assert old in EXAMPLE
    with pytest.raises(UnreadableFile, match=said):
        read_jj(saved(tmp_path, EXAMPLE.replace(old, new, 1)))


def test_sums_that_fail_are_named(tmp_path):
    with pytest.raises(NotAdditive, match="equation 0"):
        read_jj(saved(tmp_path, EXAMPLE.replace("0 60 60", "0 61 60")))


def test_a_companion_of_another_length_is_refused(tmp_path):
    path = saved(tmp_path, EXAMPLE)
    saved(tmp_path, "1 0\n", "t.jj.frq")
    with pytest.raises(UnreadableFile, match="1 lines for 9 cells"):
        read_jj(path)


def test_no_bound_becomes_a_large_one_and_no_level_one_unit(tmp_path):
    table = tacit.Table.from_array([[1.25, 2], [3, 4]], totals=False).with_protection([(0, 0)])
    write_jj(table, tmp_path / "t.jj")
    again = read_jj(tmp_path / "t.jj")
    assert (again.upper == 1000).all()
    assert again.upper_level[0] == 0.01


@given(
    st.lists(st.integers(0, 400), min_size=6, max_size=6),
    st.integers(0, 5),
    st.integers(0, 3),
    st.integers(1, 50),
)
@settings(max_examples=25, deadline=None)
def test_what_is_written_is_read(tmp_path_factory, cells, unsafe, places, level):
    folder = tmp_path_factory.mktemp("jj")
    values = np.array(cells, dtype=float).reshape(2, 3) / 10**places
    table = tacit.Table.from_array(values, totals=False, upper=1e6, count=np.ones((2, 3)))
    table = table.with_weight(np.arange(1.0, 13.0))
    cell = (unsafe // 3, unsafe % 3)
    if not table.empty[table.index(cell)]:
        table = table.with_protection([cell], level, 2 * level, 3 * level)
    write_jj(table, folder / "t.jj")
    again = read_jj(folder / "t.jj")
    for name in ("value", "count", "weight", "lower_level", "upper_level", "sliding_level"):
        np.testing.assert_allclose(getattr(again, name), getattr(table, name), rtol=1e-12)
    assert again.hidden.tolist() == table.hidden.tolist()
    assert (again.equations != table.equations).nnz == 0


def test_trivial_levels_are_taken_out():
    tree = Dimension.from_tree("a", [(0, "A"), (1, "A1"), (0, "B"), (1, "B1"), (1, "B2")])
    flat = Dimension.flat("b", ["x", "y"])
    ground = np.array([[1.0, 2], [3, 4], [5, 6]])
    from tacit.data.cells.relations import roll_up

    table = tacit.Table.from_cells([tree, flat], roll_up(ground, [tree, flat]))
    table = table.with_protection([("A1", "x")], 1, 1)
    bare = without_trivial(table)
    assert len(bare) == len(table) - 3
    assert bare.is_additive()
    assert bare.primary.sum() == 1
    assert bare.value[bare.primary].tolist() == [1.0]


def test_sums_are_written_without_dust(tmp_path):
    table = tacit.Table.from_array(np.array([[0.1, 0.2], [0.4, 0.7]]), totals=False)
    write_jj(table, tmp_path / "t.jj")
    values = [line.split()[1] for line in (tmp_path / "t.jj").read_text().splitlines()[2:11]]
    assert max(map(len, values)) == 3
    assert "0.3" in values
