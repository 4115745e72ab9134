"""The table itself: cells by name, relations, bounds, links."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import tacit
from tacit.data.cells.dimension import Dimension, Sum
from tacit.data.cells.linked import split
from tacit.data.cells.relations import components, independent_equations, product_equations
from tacit.data.cells.status import Status
from tacit.errors import HierarchyError, InputError, NotAdditive

FIXTURES = Path(__file__).parents[1] / "fixtures"

LAND = Dimension.from_tree(
    "region", [(0, "N"), (1, "N1"), (1, "N2"), (0, "S"), (1, "S1"), (1, "S2")]
)
SIZE = Dimension.flat("size", ["small", "large"])


def ground_table(seed=0):
    rng = np.random.default_rng(seed)
    base = rng.integers(1, 50, (4, 2)).astype(float)
    values = LAND.closure @ base @ SIZE.closure.T
    return tacit.Table.from_cells((LAND, SIZE), values, response="turnover")


def test_a_cell_has_many_names():
    table = ground_table()
    at = table.index(("N1", "small"))
    assert table.index({"region": "N1", "size": "small"}) == at
    assert table.index((2, 1)) == at
    assert table.index(at) == at
    assert table.codes(at) == ("N1", "small")
    assert table.describe_cell(at) == "N1 x small"
    assert table.index({"size": "small"}) == table.index(("Total", "small"))
    assert table.index(("", "")) == 0
    mask = np.zeros(len(table), dtype=bool)
    mask[at] = True
    assert table.positions(mask).tolist() == table.positions([("N1", "small")]).tolist() == [at]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (("N9", "small"), "no code 'N9'"),
        (("N1",), "named by 2 codes"),
        (99, "no cell 99"),
        ({"age": "1"}, "no dimension 'age'"),
        ((0, 9), "no position 9"),
    ],
)
def test_names_that_do_not_exist_are_refused(cell, message):
    with pytest.raises(InputError, match=message):
        ground_table().index(cell)


def test_sums_that_do_not_hold_are_named():
    values = ground_table().to_array().copy()
    values[1, 1] += 7
    with pytest.raises(NotAdditive) as caught:
        tacit.Table.from_cells((LAND, SIZE), values)
    text = str(caught.value)
    assert "3 of 16 sums" in text
    for equation in ("Total x small over region", "N x small over region", "N x Total over size"):
        assert equation in text


def test_values_outside_their_bounds_are_refused():
    with pytest.raises(InputError, match="lower="):
        tacit.Table.from_array([-1.0, 3.0, 2.0])
    assert tacit.Table.from_array([-1.0, 3.0, 2.0], lower=-5).value[0] == -1
    with pytest.raises(InputError, match="outside their bounds"):
        tacit.Table.from_array([1.0, 3.0, 4.0], upper=3.5)
    with pytest.raises(InputError, match="have no value"):
        tacit.Table.from_array([1.0, np.nan, 4.0])


def test_hierarchies_that_overlap_are_refused():
    with pytest.raises(HierarchyError, match="children overlap"):
        Dimension.from_relations("r", [("T", ["A", "B"]), ("A", ["1", "2"]), ("B", ["2", "3"])])
    with pytest.raises(HierarchyError, match="do not hold the same ground codes"):
        Dimension.from_relations("r", [("T", ["1", "2", "3"]), ("T", ["A", "3"]), ("A", ["1"])])
    with pytest.raises(HierarchyError, match="cycle"):
        Dimension.from_relations("r", [("A", ["B"]), ("B", ["A"])])
    with pytest.raises(HierarchyError, match="stands twice"):
        Dimension("r", ("a", "a"), ())
    with pytest.raises(HierarchyError, match="its own child"):
        Dimension("r", ("a", "b"), (Sum(0, (0, 1)),))
    with pytest.raises(HierarchyError, match="grows by more than one"):
        Dimension.from_tree("r", [(0, "a"), (2, "b")])


def test_subtables_of_a_hierarchical_table():
    case = json.loads((FIXTURES / "psd04-harmonizing-suppression" / "subtables.json").read_text())
    dimensions = []
    for name in ("nace", "region"):
        sums = tuple(Sum(s[0], tuple(s[1:])) for s in case[name])
        n = 1 + max(max(s) for s in case[name])
        dimensions.append(Dimension(name, tuple(map(str, range(n))), sums))
    table = tacit.Table.from_cells(dimensions, np.zeros((9, 10)))
    found = list(table.subtables())
    assert len(found) == case["n_subtables"]
    assert len(table) == case["n_cells"]
    assert table.equations.shape[0] == case["n_equations"]
    example = case["example"]
    own = next(s for s in found if s.sums == (1, 0))
    assert own.cells.size == example["n_cells"]
    assert own.cells.tolist() == [
        [a * 10 + b for b in example["codes"][1]] for a in example["codes"][0]
    ]
    ranks = [s.rank for s in found]
    assert ranks == sorted(ranks)
    assert found[0].rank == 0


@given(st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_relations_span_exactly_what_roll_up_makes(seed):
    rng = np.random.default_rng(seed)
    full = product_equations([LAND, SIZE]).toarray()
    few = independent_equations([LAND, SIZE]).toarray()
    assert np.linalg.matrix_rank(full) == np.linalg.matrix_rank(few) == len(few)
    assert len(few) == len(LAND) * len(SIZE) - 4 * 2
    assert np.allclose(full @ ground_table(int(rng.integers(1000))).value, 0)


def test_components_are_the_blocks_of_the_relations():
    matrix = sparse.csr_array(np.array([[1, -1, 0, 0], [0, 0, 1, -1.0]]))
    n, own = components(matrix)
    assert n == 2
    assert own[0] == own[1] != own[2] == own[3]


def test_protection_and_decisions_exclude_each_other():
    table = ground_table()
    unsafe = table.with_protection([("N1", "small")], lower=1, upper=2)
    assert unsafe.primary.sum() == 1
    assert np.isnan(unsafe.published[unsafe.primary]).all()
    with pytest.raises(InputError, match="is unsafe"):
        unsafe.freeze([("N1", "small")])
    with pytest.raises(InputError, match="must be published"):
        table.freeze([("N1", "small")]).with_protection([("N1", "small")])
    with pytest.raises(InputError, match="must not be negative"):
        table.with_protection([("N1", "small")], lower=-1)
    with pytest.raises(InputError, match="cannot be hidden"):
        table.freeze([("N1", "small")]).with_hidden([("N1", "small")])
    with pytest.raises(InputError, match="must not be negative"):
        table.with_weight(-1.0)


def test_costs_are_positive_and_follow_the_power():
    table = tacit.Table.from_array([0.0, 4.0, 4.0], count=[1, 2, 3])
    assert table.costs().tolist()[1:] == [4.0, 4.0]
    assert table.costs()[0] > 0
    assert table.costs("frequency").tolist() == [1.0, 2.0, 3.0]
    assert table.costs("value", 0.5)[1] == 2
    assert table.costs("value", 0)[1] == pytest.approx(np.log1p(4))
    assert table.costs("unit").tolist() == [1, 1, 1]
    with pytest.raises(InputError, match="there is no cost"):
        table.costs("age")


def linked_pair():
    table = ground_table(3)
    first = tacit.Table.from_cells((LAND,), table.to_array()[:, 0], response="turnover")
    second = tacit.Table.from_cells((SIZE,), table.to_array()[0], response="turnover")
    return first, second


def test_linked_tables_share_their_cells():
    first, second = linked_pair()
    first = first.with_protection([("N1",)], lower=1, upper=1)
    linked = tacit.Table.link(first, second)
    assert linked.names == ("region", "size")
    # 7 regions and 3 sizes, with the grand total in both.
    assert len(linked) == 9
    assert not linked.broken()
    assert linked.index(("Total", "Total")) in set(linked.extra["parts"][0])
    assert linked.index(("Total", "Total")) in set(linked.extra["parts"][1])
    assert linked.primary[linked.index(("N1", "Total"))]
    hidden = linked.with_hidden([("N2", "Total"), ("Total", "small"), ("Total", "large")])
    one, two = split(hidden, [first, second])
    assert one.status[one.index(("N2",))] == Status.SECONDARY
    assert two.secondary.tolist() == [False, True, True]


def test_a_cell_that_is_unsafe_in_one_table_is_unsafe_in_all():
    first, second = linked_pair()
    second = second.with_protection([("Total",)], lower=3, upper=4)
    linked = tacit.Table.link(first, second)
    at = linked.index(("Total", "Total"))
    assert linked.primary[at]
    assert linked.upper_level[at] == 4


def test_linked_tables_must_agree():
    first, second = linked_pair()
    other = tacit.Table.from_cells((SIZE,), [11.0, 5.0, 6.0], response="turnover")
    with pytest.raises(InputError, match=r"different values.*Total"):
        tacit.Table.link(first, other)
    with pytest.raises(InputError, match="same response"):
        tacit.Table.link(first, second.with_(response="staff"))
    with pytest.raises(InputError, match="at least two"):
        tacit.Table.link(first)


def test_codes_without_sums_have_no_relations():
    alone = Dimension("only", ("Total",), ())
    assert independent_equations([alone]).shape == (0, 1)


def test_a_table_of_bare_equations():
    equations = sparse.csr_array(np.array([[-1.0, 1.0, 1.0]]))
    table = tacit.Table.from_cells((), [9.0, 4.0, 5.0], equations=equations)
    assert table.ground.tolist() == [False, True, True]
    assert table.describe_cell(1) == "cell 1"
    with pytest.raises(NotAdditive, match="equation 0"):
        tacit.Table.from_cells((), [9.0, 4.0, 6.0], equations=equations)


def test_what_goes_out_has_no_hidden_value():
    table = ground_table().with_protection([("N1", "small")], lower=1, upper=1)
    rows = table.released().rows(named=True)
    hidden = next(r for r in rows if r["region"] == "N1" and r["size"] == "small")
    assert hidden["turnover"] is None
    assert hidden["mark"] == "x"
    assert "x" in repr(table)


def test_a_power_that_no_number_can_hold_is_refused():
    table = tacit.Table.from_array([[5e6, 7e6], [3e6, 9e6]], totals=False)
    assert np.isfinite(table.costs("value", 40)).all()
    with pytest.raises(InputError, match="power=60 is too large for the costs"):
        table.costs("value", 60)
    unsafe = table.with_protection([(0, 0)], lower=1, upper=1)
    with pytest.raises(InputError, match="Take a smaller power"):
        tacit.SuppressLinear(cost="value", power=60).apply(unsafe)
