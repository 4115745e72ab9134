"""Small count rounding: no small counts, sums near, additive; against brute force and random rounding."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.data.cells.relations import roll_up
from tacit.errors import Infeasible, InputError
from tacit.tables.rounding.random_rounding import RandomRounding
from tacit.tables.rounding.round_small_counts import RoundSmallCounts, Sums, find_published_cells


def counts(shape, seed=1, mean=1.5):
    rng = np.random.default_rng(seed)
    return tacit.Table.from_array(rng.poisson(mean, shape), totals=False, frequency=True)


def tree_table(seed=1, mean=1.2):
    tree = tacit.Dimension.from_tree(
        "area", [(0, "N"), (1, "N1"), (1, "N2"), (0, "S"), (1, "S1"), (1, "S2"), (1, "S3")]
    )
    sex = tacit.Dimension.flat("sex", ["f", "m"])
    ground = np.random.default_rng(seed).poisson(mean, (5, 2))
    return tacit.Table.from_cells((tree, sex), roll_up(ground, (tree, sex)), frequency=True)


def squares(table, values):
    return float(((values - table.value) ** 2).sum())


def best_squares(table, base):
    """The smallest sum of squares over all choices, by enumeration."""
    sums = Sums(table, np.ones(len(table), dtype=bool))
    old = table.value[sums.basis.free].astype(np.int64)
    at = np.flatnonzero((old > 0) & (old < base))
    best = np.inf
    for up in itertools.product([0, base], repeat=len(at)):
        new = old.copy()
        new[at] = up
        best = min(best, squares(table, sums.basis.spread(new)))
    return best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("base", [3, 5])
def test_small_tables_reach_the_optimum(seed, base):
    table = counts((3, 4), seed=seed)
    result = RoundSmallCounts(base=base).apply(table, seed=seed)
    assert squares(table, result.published) == best_squares(table, base)


@pytest.mark.parametrize("seed", range(4))
def test_hierarchies_reach_the_optimum(seed):
    table = tree_table(seed)
    result = RoundSmallCounts(base=4).apply(table, seed=seed)
    assert squares(table, result.published) == best_squares(table, 4)


@settings(max_examples=40, deadline=None)
@given(
    shape=st.sampled_from([(4,), (3, 5), (2, 3, 4)]),
    seed=st.integers(0, 10**6),
    base=st.integers(2, 7),
    focus=st.sampled_from(["sum", "largest"]),
)
def test_no_small_counts_additive_and_large_counts_untouched(shape, seed, base, focus):
    table = counts(shape, seed, mean=2.0)
    result = RoundSmallCounts(base=base, focus=focus).apply(table, seed=seed)
    shown = result.published
    assert not ((shown > 0) & (shown < base)).any()
    assert table.is_additive(shown)
    ground = table.ground
    small = ground & (table.value > 0) & (table.value < base)
    assert (shown[ground & ~small] == table.value[ground & ~small]).all()
    assert np.isin(shown[small], [0, base]).all()
    details = result.history[-1].details
    assert details["sum_of_squares"] == squares(table, shown)
    assert details["sum_of_squares_bound"] <= details["sum_of_squares"]
    margins = np.abs(shown - table.value)[~ground]
    assert details["largest_deviation_of_margins"] == margins.max(initial=0)


def test_only_published_crossings_matter():
    table = tacit.Table.from_array(
        np.random.default_rng(2).poisson(0.7, (6, 5, 4)),
        totals=False,
        names=["a", "b", "c"],
        frequency=True,
    )
    some = RoundSmallCounts(margins=(("a", "b"), ("c",))).apply(table, seed=1)
    shown = find_published_cells(table, (("a", "b"), ("c",)))
    assert (np.isnan(some.published) == ~shown).all()
    seen = some.published[shown]
    assert not ((seen > 0) & (seen < 3)).any()
    full = RoundSmallCounts().apply(table, seed=1)
    changed = [r.history[-1].details["changed_ground_cells"] for r in (some, full)]
    assert changed[0] < changed[1]
    assert [c.model for c in some.history[-1].claims] == ["no-small-counts"]
    # The published part is consistent: both crossings have the same total.
    whole = some.to_array()
    assert np.nansum(whole[:-1, :-1, -1]) == whole[-1, -1, -1] == np.nansum(whole[-1, -1, :-1])


def test_cells_that_become_small_are_changed_as_well():
    # Only the row totals and one column total are published; rounding the column's cells may leave a row
    # total small, whose other cells must then change.
    values = np.array([[1, 2], [1, 0], [0, 5]])
    table = tacit.Table.from_array(values, totals=False, names=["r", "c"], frequency=True)
    for seed in range(20):
        result = RoundSmallCounts(base=3, margins=(("r",), ("c",))).apply(table, seed=seed)
        seen = result.published[~np.isnan(result.published)]
        assert not ((seen > 0) & (seen < 3)).any()


def test_linked_and_bare_tables():
    table = counts((4, 3), seed=5)
    bare = tacit.Table.from_cells((), table.value, equations=table.equations, frequency=True)
    result = RoundSmallCounts().apply(bare, seed=3)
    assert bare.is_additive(result.published)
    assert not ((result.published > 0) & (result.published < 3)).any()
    rng = np.random.default_rng(1)
    cube = rng.poisson(2, (3, 3, 2))
    names = ["a", "b", "c"]
    codes = [["1", "2", "3"], ["x", "y", "z"], ["p", "q"]]
    one = tacit.Table.from_array(
        cube.sum(axis=2), totals=False, names=names[:2], codes=codes[:2], frequency=True
    )
    two = tacit.Table.from_array(
        cube.sum(axis=1), totals=False, names=["a", "c"], codes=[codes[0], codes[2]], frequency=True
    )
    with pytest.raises(InputError, match="several unrelated definitions"):
        RoundSmallCounts().apply(tacit.Table.link(one, two), seed=1)
    # The way to go: one table of all dimensions, of which both crossings are published.
    names = ["a", "b", "c"]
    whole = tacit.Table.from_array(cube, totals=False, names=names, codes=codes, frequency=True)
    result = RoundSmallCounts(margins=(("a", "b"), ("a", "c"))).apply(whole, seed=1)
    array = result.to_array()
    assert (np.nansum(array[:, :-1, -1], axis=1) == array[:, -1, -1]).all()
    assert (np.nansum(array[:, -1, :-1], axis=1) == array[:, -1, -1]).all()


def test_margins_stay_far_nearer_than_with_random_rounding():
    table = counts((30, 20, 4), mean=1.0)
    ours = RoundSmallCounts(base=3).apply(table, seed=1)
    theirs = RandomRounding(base=3, totals="sum").apply(table, seed=1)
    margin = ~table.ground
    largest = [np.abs(r.published - table.value)[margin].max() for r in (ours, theirs)]
    assert largest[0] <= 6
    assert largest[1] > 3 * largest[0]
    assert ours.history[-1].details["change_of_total"] in (-1, 0, 1)


def test_focus_on_the_largest():
    table = counts((25, 16), mean=1.0)
    largest = [
        RoundSmallCounts(base=5, focus=f)
        .apply(table, seed=2)
        .history[-1]
        .details["largest_deviation_of_margins"]
        for f in ("sum", "largest")
    ]
    assert largest[1] <= largest[0]


def test_nothing_to_do_and_what_is_refused():
    table = counts((3, 3), mean=50)
    result = RoundSmallCounts().apply(table)
    assert (result.published == table.value).all()
    with pytest.raises(InputError, match="whole numbers"):
        RoundSmallCounts().apply(tacit.Table.from_array([[1.5, 2.0]], totals=False))
    with pytest.raises(InputError, match="no dimension 'z'"):
        RoundSmallCounts(margins=(("z",),)).apply(table)
    held = tacit.Table.from_array([[1.0, 5.0]], totals=False).freeze([(0, 0)])
    with pytest.raises(Infeasible, match="must be published as they are"):
        RoundSmallCounts().apply(held)


def test_the_claim_fails_when_a_count_is_small():
    result = RoundSmallCounts().apply(counts((4, 4)), seed=1)
    touched = result.published.copy()
    touched[0] = 1
    claims = {c.model: c for c in result.history[-1].claims}
    assert not claims["no-small-counts"].holds(result.with_changed(touched))
    touched[0] = result.published[0] + 30
    assert not claims["additive"].holds(result.with_changed(touched))
