"""Hypercubes: the corners that hide a cell of a subtable, found and proven in closed form.

In a subtable of n dimensions two cells that differ in every coordinate span 2^n corners. Moving the
corners by the same amount with alternating signs keeps every line's sum, so an attacker who knows the
subtable alone cannot rule the movement out; how far it may go follows from the corners' bounds. The
subtables are never stored: a subtable is a choice of one relation per dimension, and its cells follow by
index arithmetic.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import numpy as np

from tacit.arrays import Flags, Ints
from tacit.context import Context
from tacit.data.cells.dimension import Dimension
from tacit.tables.suppress.moves.cubes import KERNELS, Grid, Local, Rules, State
from tacit.tables.suppress.problem import Problem

#: Most dimensions of a subtable: 2^6 corners.
MOST_DIMENSIONS = 6
#: What may be done with a cell.
OPEN, HIDDEN, BARRED = 0, 1, 2
#: Degrees of reduction: 1 is none, 2 to 10 divide the level, then any movement at all, then nothing.
HUGE, NONE = 11, 12
#: A secondary cell must be able to move by this share of its value (a count: by 1).
MOVES = 1e-6
#: Subtables that a kernel looks at between two ticks.
BATCH = 4096


def grid_of(dimensions: Sequence[Dimension]) -> Grid:
    """Return the subtables of a product table; a code that stands in no relation is its own group."""
    sizes = [len(d) for d in dimensions]
    stride = np.array([int(np.prod(sizes[i + 1 :])) for i in range(len(sizes))], dtype=np.int64)
    groups, first_group, first_code = [], [], []
    start, code, coefficient, has_parent, depth = [0], *(list[int]() for _ in range(4))
    member: list[list[int]] = []
    for d in dimensions:
        first_group.append(len(has_parent))
        first_code.append(len(member))
        inside: list[list[int]] = [[] for _ in range(len(d))]
        bound = {c for s in d.sums for c in (s.parent, *s.children)}
        own = [(s.parent, s.children, s.signs or (1,) * len(s.children), 1) for s in d.sums]
        own += [(c, (), (), 0) for c in range(len(d)) if c not in bound]
        for i, (parent, children, signs, real) in enumerate(own):
            for c in (parent, *children):
                inside[c].append(i)
            code += [parent, *children]
            coefficient += [-1, *signs]
            start.append(len(code))
            has_parent.append(real)
            depth.append(int(d.depth[parent]))
        groups.append(len(own))
        member += inside
    ints = functools.partial(np.array, dtype=np.int64)
    return Grid(
        stride=stride,
        groups=ints(groups),
        first_group=ints(first_group),
        start=ints(start),
        code=ints(code),
        coefficient=ints(coefficient),
        has_parent=ints(has_parent),
        depth=ints(depth),
        first_code=ints(first_code),
        member_start=np.cumsum([0, *map(len, member)], dtype=np.int64),
        member=ints(list(itertools.chain.from_iterable(member))),
    )


def n_subtables(grid: Grid) -> int:
    """Return the number of subtables."""
    return int(np.prod(grid.groups))


def ranks(grid: Grid) -> Ints:
    """Return the sum of the depths of the parents of every subtable."""
    total = np.zeros(1, dtype=np.int64)
    for first, n in zip(grid.first_group, grid.groups, strict=True):
        total = (total[:, None] + grid.depth[first : first + n]).ravel()
    return total


def cells_of(grid: Grid, subtable: int) -> tuple[Ints, tuple[tuple[Ints, Ints, bool], ...]]:
    """Return a subtable's cells (one axis per dimension) and each axis' codes and coefficients."""
    picks = np.unravel_index(subtable, tuple(grid.groups))
    axes = []
    cells = np.zeros((), dtype=np.int64)
    for d, pick in enumerate(picks):
        g = int(grid.first_group[d] + pick)
        part = slice(int(grid.start[g]), int(grid.start[g + 1]))
        codes = grid.code[part]
        axes.append((codes, grid.coefficient[part], bool(grid.has_parent[g])))
        cells = cells[..., None] + codes * grid.stride[d]
    return cells, tuple(axes)


def state_of(problem: Problem, grid: Grid, hidden: Flags, *, singletons: bool) -> State:
    """Return the state at the start: the hidden cells, every subtable that holds one to be seen."""
    table = problem.table
    size = np.abs(table.value)
    least = np.ones(problem.n) if table.frequency else MOVES * np.maximum(1.0, size)
    room = (problem.down > 0) & (problem.up > 0)
    flag = np.where(hidden, HIDDEN, np.where(problem.fixed | ~room, BARRED, OPEN)).astype(np.int8)
    nothing = np.full(problem.n, -1, dtype=np.int64)
    return State(
        value=size,
        down=problem.down,
        up=problem.up,
        cost=problem.cost,
        need_down=problem.need_down,
        need_up=problem.need_up,
        need_width=np.where(problem.primary, problem.need_width, least),
        tiny=problem.tiny(np.arange(problem.n)),
        flag=flag,
        primary=problem.primary,
        lone=table.owner if singletons else nothing,
        dirty=np.zeros(n_subtables(grid), dtype=np.int8),
        reduced=np.ones(problem.n, dtype=np.int8),
    )


def no_ints(*shape: int) -> Ints:
    """Return room for whole numbers."""
    return np.zeros(shape, dtype=np.int64)


def work_space(grid: Grid) -> Local:
    """Return room for the largest subtable."""
    n = len(grid.stride)
    widths = np.diff(grid.start)
    widest = [
        int(widths[f : f + k].max(initial=1))
        for f, k in zip(grid.first_group, grid.groups, strict=True)
    ]
    most = int(np.prod(widest))
    return Local(
        size=no_ints(n),
        stride=no_ints(n),
        cell=no_ints(most),
        flag=np.zeros(most, dtype=np.int8),
        margin=np.zeros(most, dtype=np.int8),
        coefficient=no_ints(n, max(widest)),
        offset=no_ints(2**n),
        sign=no_ints(2**n),
        reach=np.zeros((n + 1, 3)),
        fresh=no_ints(n + 1, 2),
        at=no_ints(n + 1),
        target=no_ints(n),
        barred=np.full(n, -1, dtype=np.int64),
        sole=no_ints(n),
        best=no_ints(n + 3),
        amount=np.zeros(3),
    )


def hide_cubes(
    grid: Grid, state: State, rules: Rules, ctx: Context, *, everywhere: bool = True
) -> int:
    """Hide cubes until every hidden cell has one in every subtable; return the number of sweeps.

    Subtables are taken from the grand total down (in a sequence: from the most detailed up), and
    again whenever one of their cells has been hidden elsewhere. The state is changed in place.
    """
    run = KERNELS.pick(50 * len(state.value))
    local = work_space(grid)
    rank = ranks(grid)
    order = np.argsort(-rank if rules.sequence else rank, kind="stable").astype(np.int64)
    if everywhere:
        run["mark_cells"](grid, state.dirty, local.at, state.flag == HIDDEN)
    sweeps = 0
    while True:
        waiting = order[state.dirty[order] != 0]
        if not len(waiting):
            return sweeps
        sweeps += 1
        for i in range(0, len(waiting), BATCH):
            ctx.tick(f"hypercubes, sweep {sweeps}", i / len(waiting))
            run["protect_subtables"](grid, state, local, rules, waiting[i : i + BATCH])


def without_cube(grid: Grid, state: State, ctx: Context, *, lone: Ints) -> tuple[Ints, int]:
    """Return the subtables in which no cube proves some unsafe cell, and how many proofs were made.

    ``lone`` names the respondents against whom cells are proven as well (-1: nobody).
    """
    run = KERNELS.pick(50 * len(state.value))
    local = work_space(grid)
    scratch = state._replace(dirty=np.zeros_like(state.dirty), lone=lone)
    run["mark_cells"](grid, scratch.dirty, local.at, state.primary)
    waiting = np.flatnonzero(scratch.dirty)
    open_ones, proofs = [], 0
    for i in range(0, len(waiting), BATCH):
        ctx.tick("proving by hypercubes", i / len(waiting))
        part = waiting[i : i + BATCH]
        missing = np.zeros(len(part), dtype=np.int64)
        proofs += int(run["prove_subtables"](grid, scratch, local, part, missing))
        open_ones.append(part[missing > 0])
    return (np.concatenate(open_ones) if open_ones else np.zeros(0, dtype=np.int64)), proofs
