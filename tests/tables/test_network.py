"""The network of two-way tables: its relations, its patterns against complete search, its proofs."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import tacit
from tacit.data.cells.dimension import Dimension
from tacit.data.cells.relations import roll_up
from tacit.errors import Infeasible, InputError
from tacit.tables.attack.attacker import shortfalls
from tacit.tables.suppress import propose_network as _network
from tacit.tables.suppress.problem import problem_of

ARGUS = Path(__file__).parents[1] / "fixtures" / "psd28-argus-software"
TREE = Dimension.from_tree(
    "r", [(0, "a"), (1, "a1"), (1, "a2"), (2, "a21"), (2, "a22"), (0, "b"), (1, "b1"), (1, "b2")]
)
FLAT = Dimension.flat("c", ["x", "y", "z"])


def table_of(seed, *, rows=TREE, columns=FLAT, share=0.15, turned=False, sliding=False):
    rng = np.random.default_rng(seed)
    axes = (columns, rows) if turned else (rows, columns)
    shape = [len(d.leaves) for d in axes]
    base = rng.integers(0, 40, shape).astype(float)
    count = np.where(base > 0, rng.integers(1, 6, shape), 0)
    table = tacit.Table.from_cells(
        axes, roll_up(base, axes), count=np.rint(roll_up(count, axes)).astype(int)
    )
    at = np.flatnonzero((rng.random(len(table)) < share) & ~table.empty)
    level = np.maximum(1.0, np.round(0.2 * table.value[at]))
    return table.with_protection(
        at, lower=level, upper=level, sliding=3 * level if sliding else 0.0
    )


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("rows", [TREE, Dimension.flat("r", ["1", "2", "3"])])
def test_the_network_has_the_relations_of_the_table(rows, turned):
    """The incidence matrix and the relations span the same space, hierarchy and all."""
    table = table_of(1, rows=rows, turned=turned)
    tail, head, n = _network.find_arc_ends(table.dimensions)
    cells = np.arange(len(table))
    ones = np.ones(len(table))
    incidence = sparse.csr_array(
        (np.concatenate([ones, -ones]), (np.concatenate([tail, head]), np.tile(cells, 2))),
        shape=(n, len(table)),
    ).toarray()
    relations = table.equations.toarray()
    rank = np.linalg.matrix_rank(relations)
    assert np.linalg.matrix_rank(incidence) == rank
    assert np.linalg.matrix_rank(np.vstack([relations, incidence])) == rank


def cheapest(problem):
    """The optimum by complete search over the cells that may be hidden."""
    free = np.flatnonzero(problem.suppressible)
    best = np.inf
    for n in range(len(free) + 1):
        for extra in itertools.combinations(free.tolist(), n):
            price = float(problem.cost[list(extra)].sum())
            if price < best:
                hidden = problem.start.copy()
                hidden[list(extra)] = True
                if not shortfalls(problem, hidden):
                    best = price
    return best


@pytest.mark.parametrize("seed", range(8))
def test_small_tables_against_complete_search(seed):
    rng = np.random.default_rng(seed)
    table = tacit.Table.from_array(rng.integers(5, 30, (2, 3)), totals=False)
    table = table.with_protection([(0, int(rng.integers(3)))], lower=2, upper=2)
    table = table.with_protection([(1, int(rng.integers(3)))], lower=2, upper=2)
    safe = tacit.SuppressNetwork().apply(table)
    best = cheapest(problem_of(table))
    assert best <= safe.history[-1].details["price"] <= 1.5 * best


def test_the_published_optimum_is_near():
    given = load = json.loads((ARGUS / "mini_secondary_optimal.json").read_text())
    regions, sizes = ["N1", "N2", "S1", "S2", "S3"], ["1", "2", "3"]
    base = np.zeros((5, 3))
    for line in (ARGUS / "tau_mini.csv").read_text().split()[1:]:
        _, region, size, turnover, *_ = line.split(",")
        base[regions.index(region), sizes.index(size)] += float(turnover)
    tree = Dimension.from_relations(
        "region", list(load["expected"]["hierarchical"]["hierarchy"].items())
    )
    base = base[[regions.index(tree.codes[i]) for i in tree.leaves]]
    for rows, name in ((Dimension.flat("region", regions), "flat"), (tree, "hierarchical")):
        axes = (rows, Dimension.flat("size", sizes))
        table = tacit.Table.from_cells(axes, roll_up(base, axes))
        for cell, level in given["input"]["protection_levels"].items():
            table = table.with_protection([tuple(cell.split("|"))], lower=level, upper=level)
        safe = tacit.SuppressNetwork(singletons=False).apply(table)
        optimum = given["expected"][name]["cost=value"]["objective"]
        assert optimum <= safe.history[-1].details["price"] <= 1.2 * optimum


@given(st.integers(0, 10**6), st.booleans(), st.booleans())
@settings(max_examples=10, deadline=None)
def test_patterns_pass_the_full_audit(seed, turned, sliding):
    table = table_of(seed, turned=turned, sliding=sliding)
    try:
        safe = tacit.SuppressNetwork().apply(table, seed=1)
    except Infeasible:
        return
    assert not shortfalls(problem_of(table), safe.hidden)
    assert not (safe.hidden & table.empty).any()


def test_clean_ups_only_lower_the_price():
    table = table_of(5, columns=Dimension.flat("c", list("abcdefgh")), share=0.1)
    prices = [
        tacit.SuppressNetwork(passes=n).apply(table).history[-1].details["price"] for n in (0, 1, 3)
    ]
    assert prices == sorted(prices, reverse=True)


def test_other_tables_are_refused():
    cube = tacit.Table.from_array(np.ones((2, 2, 2)), totals=False)
    with pytest.raises(InputError, match="two-way tables"):
        tacit.SuppressNetwork().apply(cube)
    both = table_of(1, columns=Dimension.from_tree("c", [(0, "p"), (1, "q"), (1, "s"), (0, "t")]))
    with pytest.raises(InputError, match="one hierarchical dimension"):
        tacit.SuppressNetwork().apply(both)


def test_what_no_pattern_protects_is_named():
    table = tacit.Table.from_array([[5.0, 7.0], [4.0, 5.0]], totals=False)
    table = table.with_protection([(0, 0)], lower=1, upper=1).freeze([(0, 1), (0, 2)])
    with pytest.raises(Infeasible, match="1 x 1"):
        tacit.SuppressNetwork().apply(table)
