"""The protection standards PS1, PS1*, PS2 and PS2*: what a pattern guarantees, and to whom.

References
----------
Giessing and Dittrich (2006), Harmonizing table protection: results of a study, in: Privacy in Statistical
Databases, LNCS 4302, 35-47.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.data.table import Table
from tacit.tables.attack.attacker import Attacker, find_met_needs, wants_behind
from tacit.tables.attack.knowledge import (
    Knowledge,
    by_subtable,
    find_least_movement,
    intervals_of,
    knowledge_of,
)
from tacit.tables.attack.reach import Tick, ignore_share, meet_wants, solve_open_unknowns
from tacit.tables.attack.systems import Block, System, move_cells
from tacit.tables.suppress.problem import Problem


def ps1(table: Table, tick: Tick = ignore_share) -> Ints:
    """Return the unsafe cells that some subtable on its own gives away exactly (PS1)."""
    return in_subtables(knowledge_of(table, singletons=False), tick)[0]


def ps1_star(table: Table, tick: Tick = ignore_share) -> Ints:
    """Return the unsafe cells whose levels some subtable on its own violates (PS1*)."""
    return in_subtables(knowledge_of(table, singletons=False), tick)[1]


def in_subtables(knowledge: Knowledge, tick: Tick) -> tuple[Ints, Ints]:
    """Return the unsafe cells that violate PS1, and those that violate PS1*."""
    copies, origin = by_subtable(knowledge)
    p = copies.problem
    found = find_least_movement(intervals_of(p, copies.hidden, tick, cells=p.primary), origin)
    fine = find_met_needs(knowledge.problem, found.cells, found.down, found.up)
    return found.cells[found.exact], found.cells[~fine]


def ps2(table: Table) -> Ints:
    """Return pairs of hidden cells that violate PS2.

    A relation has exactly two hidden cells, each of a single respondent and not of the same: either
    respondent takes the own value away and learns the other's.
    """
    hidden = np.flatnonzero(table.hidden)
    m = sparse.csr_array(sparse.csc_array(table.equations)[:, hidden])
    two = np.flatnonzero(np.diff(m.indptr) == 2)
    a, b = hidden[m.indices[m.indptr[two]]], hidden[m.indices[m.indptr[two] + 1]]
    owner, lone = table.owner, table.singleton
    bad = lone[a] & lone[b] & (owner[a] != owner[b])
    pairs = np.stack([np.minimum(a, b), np.maximum(a, b)], axis=1)[bad]
    return np.asarray(np.unique(pairs, axis=0), dtype=np.int64)


def ps2_star(table: Table, tick: Tick = ignore_share) -> Ints:
    """Return pairs (known, target) that violate PS2*.

    The only respondent of a hidden cell knows its value; with it fixed, the interval of an unsafe cell
    of another single respondent falls below its levels, anywhere in the table.
    """
    k = knowledge_of(table, singletons=False)
    return respondents(k.problem, k.hidden, tick)


def respondents(problem: Problem, hidden: Flags, tick: Tick) -> Ints:
    """Return pairs (known, target): with known fixed, the needs of target are not met."""
    table = problem.table
    s = Attacker(problem, hidden).system
    lone = table.singleton
    owner = table.owner
    known = np.flatnonzero(hidden & lone)
    targets = np.flatnonzero(problem.primary & hidden & lone)
    at_known, at_target = s.find(known), s.find(targets)
    bad: list[tuple[int, int]] = []
    for cell, at in zip(known.tolist(), at_known.tolist(), strict=True):
        tick(None)
        others = (owner[targets] != owner[cell]) & (targets != cell)
        there = others & (s.block[at_target] == s.block[at]) & (s.block[at_target] >= 0)
        # Elsewhere the respondent knows no more than an outsider; such failures are not of this kind.
        if not there.any():
            continue
        own = at_target[there]
        low, high = compute_movement_without(
            s.blocks[int(s.block[at])], int(s.place[at]), s, own, problem, tick
        )
        low, high = move_cells(s.ratio[own], low, high)
        fails = ~find_met_needs(problem, s.cells[own], -low, high)
        bad += [(cell, int(t)) for t in s.cells[own][fails]]
    return np.array(bad, dtype=np.int64).reshape(-1, 2)


def compute_movement_without(
    block: Block, k: int, s: System, own: Ints, problem: Problem, tick: Tick
) -> tuple[Floats, Floats]:
    """Return how far the unknowns behind some cells move when unknown k does not."""
    lower, upper = block.lower.copy(), block.upper.copy()
    lower[k] = upper[k] = 0.0
    fixed = Block(
        block.matrix,
        lower,
        upper,
        np.maximum(block.outer_low, lower),
        np.minimum(block.outer_high, upper),
    )
    place, w = s.place[own], wants_behind(s, problem, own, block.n)
    if fixed.matrix.shape[0]:
        solve_open_unknowns(fixed, w, meet_wants(fixed, w, None, tick), tick)
    else:
        fixed.inner_low, fixed.inner_high = lower, upper
    return fixed.inner_low[place], fixed.inner_high[place]


def standards(knowledge: Knowledge, tick: Tick) -> dict[str, bool]:
    """Return which of the standards a pattern meets; PS1 and PS1* only where there are subtables."""
    table = knowledge.problem.table
    met_by: dict[str, bool] = {}
    if table.is_product:
        exact, narrow = in_subtables(knowledge, tick)
        met_by |= {"PS1": not len(exact), "PS1*": not len(narrow)}
    met_by["PS2"] = not len(ps2(table))
    met_by["PS2*"] = not len(respondents(knowledge.problem, knowledge.hidden, tick))
    return met_by
