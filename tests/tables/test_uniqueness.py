"""Entry uniqueness: Onn (2006), fixtures and brute force."""

import functools
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from studies.universality import (
    gap_instance,
    lift,
    small_coefficients,
    subset_sum_instance,
    triangle_instance,
)
from tacit.errors import Infeasible, InputError
from tacit.tables.margins.entry_bounds import entry_bounds, margin_families, witness_tables
from tacit.tables.margins.integer_bounds import runs
from tacit.tables.margins.margins import MarginSet, all_families, k_margins, margin_advice

FIXTURES = Path(__file__).parents[1] / "fixtures/psd09-entry-uniqueness"
LINES = json.loads((FIXTURES / "line_sums.json").read_text())["cases"]
LONG = json.loads((FIXTURES / "long_3x3xn.json").read_text())["cases"]


def margins(case):
    return MarginSet.of(
        case["size"],
        {(0, 1): case["sum_over_k"], (0, 2): case["sum_over_j"], (1, 2): case["sum_over_i"]},
    )


@functools.cache
def spread_out(total, cells):
    """All ways to spread a total over cells."""
    return [x for x in itertools.product(range(total + 1), repeat=cells) if sum(x) == total]


def brute(table, families):
    """All tables with the margins of one, cell by cell."""
    d = table.ndim
    wanted = [table.sum(axis=tuple(i for i in range(d) if i not in f)) for f in families]
    found = []
    for x in spread_out(int(table.sum()), table.size):
        a = np.reshape(x, table.shape)
        sums = [a.sum(axis=tuple(i for i in range(d) if i not in f)) for f in families]
        if all(np.array_equal(s, w) for s, w in zip(sums, wanted, strict=True)):
            found.append(x)
    return np.array(found)


@pytest.mark.parametrize("way", ["auto", "enumerate"])
@pytest.mark.parametrize("case", LINES, ids=lambda c: c["name"][:40])
def test_line_sums_of_the_paper(case, way):
    cells = [e["cell"] for e in case["entries"]]
    found = entry_bounds(margins(case), cells, engine=way, value_set=True)
    for e in case["entries"]:
        at = int(np.ravel_multi_index(e["cell"], case["size"]))
        assert found.values[at] == (tuple(e["values"]), True)
        assert [found.linear_lower[at], found.linear_upper[at]] == pytest.approx(e["lp"])
        assert found.unique[at] == (len(e["values"]) == 1)


@pytest.mark.parametrize("case", LONG, ids=lambda c: f"n={c['n']}")
def test_long_tables(case):
    layers = np.array(case["table_layers"])
    found = entry_bounds(layers.transpose(1, 2, 0))
    shape = layers.transpose(1, 2, 0).shape
    assert np.array_equal(found.lower.reshape(shape).transpose(2, 0, 1), case["lower"])
    assert np.array_equal(found.upper.reshape(shape).transpose(2, 0, 1), case["upper"])
    assert found.exact.all()
    assert found.unique.sum() == case["n_unique"]


def test_the_embedding_gives_the_margins_of_the_paper():
    for case in LINES:
        if "polytope" in case:
            p = case["polytope"]
            lifted = lift(p["A"], p["b"], p["U"]).margins
            expected = margins(case)
            for a, b in zip(lifted.values, expected.values, strict=True):
                assert np.array_equal(a, b)
    second = subset_sum_instance(2, [1, 1]).margins
    by = dict(zip(second.families, second.values, strict=True))
    # The paper's Example 2 has layers 2 and 3 exchanged.
    assert np.array_equal(by[0, 1], LINES[1]["sum_over_k"])
    assert np.array_equal(by[0, 2][:, [0, 2, 1]], LINES[1]["sum_over_j"])


@settings(deadline=None, max_examples=15)
@given(st.sets(st.integers(0, 6), min_size=1, max_size=4))
def test_any_set_of_values_is_that_of_an_entry(values):
    lifted = gap_instance(values)
    found = entry_bounds(lifted.margins, [lifted.cells[0]], engine="mip", value_set=True)
    at = int(np.ravel_multi_index(lifted.cells[0], lifted.margins.shape))
    assert found.values[at] == (tuple(sorted(values)), True)


def test_linear_bounds_feel_safe_where_the_entry_is_unique():
    lifted = triangle_instance(2)
    at = int(np.ravel_multi_index(lifted.cells[0], lifted.margins.shape))
    found = entry_bounds(lifted.margins, [lifted.cells[0]])
    assert found.unique[at]
    assert (found.linear_lower[at], found.linear_upper[at]) == pytest.approx((0, 4.5))
    assert lifted.solution(lifted.table([2, 1])).tolist() == [2, 1]


def test_small_coefficients_keep_the_solutions():
    a, b, bound = small_coefficients([[3, -5]], [1], 4)
    assert set(np.unique(a)) <= {-1, 0, 1, 2}
    lifted = lift(a, b, bound)
    found = entry_bounds(lifted.margins, [lifted.cells[0], lifted.cells[1]], engine="mip")
    at = [int(np.ravel_multi_index(c, lifted.margins.shape)) for c in lifted.cells[:2]]
    assert found.lower[at].tolist() == found.upper[at].tolist() == [2, 1]


small = st.lists(st.integers(0, 1), min_size=8, max_size=8).filter(lambda x: sum(x) <= 4)


@settings(deadline=None, max_examples=25)
@given(small, st.sampled_from(all_families(3)), st.sampled_from(["auto", "mip", "enumerate"]))
def test_every_family_agrees_with_brute_force(values, family, way):
    table = np.reshape(values, (2, 2, 2))
    tables = brute(table, family)
    found = entry_bounds(MarginSet.from_table(table, family), engine=way, value_set=True)
    assert np.array_equal(found.lower, tables.min(axis=0))
    assert np.array_equal(found.upper, tables.max(axis=0))
    assert found.exact.all()
    for e in range(8):
        assert list(found.values[e][0]) == sorted(set(tables[:, e].tolist()))


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.booleans())
def test_integer_programs_agree_with_enumeration(seed, known):
    table = np.random.default_rng(seed).poisson(0.6, (3, 3, 3))
    released = MarginSet.from_table(table)
    if not known:
        by = dict(zip(released.families, released.values, strict=True))
        released = MarginSet.of(table.shape, by)
    one = entry_bounds(released, engine="mip")
    two = entry_bounds(released, engine="enumerate")
    assert one.exact.all()
    assert two.exact.all()
    assert np.array_equal(one.lower, two.lower)
    assert np.array_equal(one.upper, two.upper)


def test_witnesses_have_the_margins():
    table = np.random.default_rng(5).poisson(1.0, (3, 3, 3))
    low, high = witness_tables(table, (0, 1, 2))
    for axis in range(3):
        assert np.array_equal(low.sum(axis=axis), table.sum(axis=axis))
        assert np.array_equal(high.sum(axis=axis), table.sum(axis=axis))
    found = entry_bounds(table, [(0, 1, 2)])
    assert (low[0, 1, 2], high[0, 1, 2]) == (found.lower[5], found.upper[5])


@pytest.mark.parametrize(
    ("given_margins", "message"),
    [
        ({(0,): [1, 2], (1,): [1, 1]}, "disagree"),
        ({(0,): [-1, 2]}, "negative"),
        ({(0,): [0.5, 2]}, "whole"),
        ({(0,): [1, 2, 3]}, "shape"),
        ({}, "no margins"),
        ({(4,): [1]}, "no dimension"),
    ],
)
def test_bad_margins_are_refused(given_margins, message):
    with pytest.raises(InputError, match=message):
        MarginSet.of((2, 2), given_margins)


def test_consistent_margins_without_a_table_are_infeasible():
    # No 2 x 2 x 2 table: two of the three pairs are equal, the third is not.
    same, other = np.eye(2, dtype=int), 1 - np.eye(2, dtype=int)
    released = MarginSet.of((2, 2, 2), {(0, 1): same, (1, 2): same, (0, 2): other})
    with pytest.raises(Infeasible):
        entry_bounds(released)


def test_an_entry_outside_is_refused():
    with pytest.raises(InputError, match="outside"):
        entry_bounds(np.ones((2, 2, 2), dtype=int), [(0, 0, 2)])


def test_advice():
    assert margin_advice((4, 5)).kind == "two-way"
    assert margin_advice((4, 5, 2)).kind == "r x c x 2"
    assert margin_advice((3, 3, 50)).kind == "long"
    assert margin_advice((6, 6, 6)).kind == "general"
    assert margin_advice((6, 6, 6), [(0, 1), (1, 2)]).kind == "decomposable"
    assert runs([0, 1, 2, 5]) == "0-2, 5"


def hierarchical(seed):
    tree = tacit.Dimension.from_tree(
        "a", [(0, "g"), (1, "x"), (1, "y"), (0, "h"), (1, "z"), (1, "w")]
    )
    flat = tacit.Dimension.flat("b", "123")
    ground = np.random.default_rng(seed).poisson(0.7, (4, 3)).astype(float)
    from tacit.data.cells.relations import roll_up

    return tacit.Table.from_cells((tree, flat), roll_up(ground, (tree, flat)), frequency=True)


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 10**6))
def test_hierarchies_and_patterns_give_the_same_answer(seed):
    table = hierarchical(seed)
    one = tacit.EntryUniqueness().measure(table)
    listed = tacit.EntryUniqueness(engine="enumerate").measure(table)
    hidden = table.with_(status=np.where(table.ground, 11, 1).astype(np.int8))
    two = tacit.EntryUniqueness(margins="published").measure(hidden)
    for name in ("lower", "upper"):
        assert one.frame[name].to_list() == two.frame[name].to_list()
        assert one.frame[name].to_list() == listed.frame[name].to_list()


def test_groups_tell_more_than_totals():
    table = hierarchical(4)
    fine = tacit.EntryUniqueness().measure(table).frame
    coarse = tacit.EntryUniqueness(groups=False).measure(table).frame
    assert (fine["upper"] - fine["lower"]).sum() < (coarse["upper"] - coarse["lower"]).sum()


def test_a_time_out_is_never_unique(monkeypatch):
    from tacit.solve import Solution
    from tacit.tables.margins import integer_bounds as _integer_bounds

    late = Solution("limit", np.inf, np.inf, None)
    monkeypatch.setattr(_integer_bounds.Highs, "solve", lambda _self, **_: late)
    lifted = triangle_instance(1)
    table = lifted.table([1, 1])
    found = entry_bounds(table, [lifted.cells[0]])
    at = int(np.ravel_multi_index(lifted.cells[0], table.shape))
    assert not found.unique[at]
    assert not found.exact[at]
    shown = tacit.EntryUniqueness(entries=[("1", "1", "1")]).measure(
        tacit.Table.from_array(table, totals=False)
    )
    assert shown.frame["unique"].to_list() == [None]
    assert shown.frame["status"].to_list() == ["undecided"]


def test_families_that_keep_entries_open():
    table = np.array([[[2, 0], [0, 1]], [[0, 1], [1, 0]]])
    verdicts = margin_families(table, [(0, 0, 0)], width=1)
    assert len(verdicts) == len(all_families(3))
    for v in verdicts:
        family = [tuple(int(n[-1]) - 1 for n in f) for f in v.family]
        values = brute(table, family)[:, 0]
        assert v.safe == (values.max() - values.min() >= 1), str(v)
        assert v.narrowest <= values.max() - values.min()


def test_totals_and_magnitudes_are_refused():
    table = tacit.Table.from_array(np.ones((2, 2, 2)), totals=False)
    with pytest.raises(InputError, match="total"):
        tacit.EntryUniqueness(entries=[("1", "1", "Total")]).measure(table)
    with pytest.raises(InputError, match="whole"):
        tacit.EntryUniqueness().measure(tacit.Table.from_array(np.full((2, 2), 0.5), totals=False))
    with pytest.raises(InputError, match="no margins"):
        tacit.EntryUniqueness(margins=[]).measure(table)


def test_sparse_long_table_is_settled_whole():
    table = np.random.default_rng(1).poisson(0.05, (3, 3, 1000))
    found = entry_bounds(table)
    assert found.exact.all()
    assert (found.lower <= table.ravel()).all()
    assert (found.upper >= table.ravel()).all()
    assert k_margins(3, 2) == MarginSet.from_table(table).families
