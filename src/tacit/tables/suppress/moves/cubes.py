"""Cubes of one subtable after the other: the kernels that find, hide and prove them, on numbers and arrays only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Floats, Ints
from tacit.numerics.kernels import Kernels

Bytes = npt.NDArray[np.int8]


class Grid(NamedTuple):
    """The subtables of a product table, as arrays; a group is a relation's parent and children."""

    stride: Ints  # how many cells apart two neighbouring codes of each dimension are
    groups: Ints  # number of groups of each dimension
    first_group: Ints  # where the groups of each dimension start in ``start`` and ``depth``
    start: Ints  # where the codes of each group start, parent first
    code: Ints
    coefficient: Ints  # of each code in the relation
    has_parent: Ints  # whether a group is a relation (1), or a code that is in none (0)
    depth: Ints  # of each group's parent
    first_code: Ints  # where the codes of each dimension start in ``member_start``
    member_start: Ints  # where the groups start that each code belongs to
    member: Ints


class State(NamedTuple):
    """What is known and decided of every cell, and which subtables must be looked at (again)."""

    value: Floats
    down: Floats
    up: Floats
    cost: Floats
    need_down: Floats
    need_up: Floats
    need_width: Floats
    tiny: Floats
    flag: Bytes
    primary: Flags
    lone: Ints  # the only respondent of a cell, -1 where there are several
    dirty: Bytes  # one a subtable
    reduced: Bytes  # the worst degree of reduction of each cell


class Local(NamedTuple):
    """Work space: one subtable in C order, and a search for a cube."""

    size: Ints
    stride: Ints
    cell: Ints
    flag: Bytes
    margin: Bytes
    coefficient: Ints  # axes x codes
    offset: Ints  # of corners
    sign: Ints
    reach: Floats  # levels x (up, down, cost)
    fresh: Ints  # levels x (new corners, new margins)
    at: Ints  # the search's place on each axis
    target: Ints  # coordinates of the target
    barred: Ints  # a code of each axis that the cube must not use, -1: none
    sole: Ints  # the only code that cubes use on each axis; -1 none, -2 several
    best: Ints  # q's coordinates, then degree, new corners, new margins
    amount: Floats  # best cost; reach up and down of what is hidden


class Rules(NamedTuple):
    """How cubes are chosen."""

    fewest: bool
    sequence: bool
    singletons: bool


def mark(grid: Grid, dirty: Bytes, at: Ints, cell: int) -> None:
    """Note that every subtable with a cell must be looked at (again)."""
    n = len(grid.stride)
    rest = cell
    for d in range(n):
        at[d] = grid.first_code[d] + rest // grid.stride[d]
        rest = rest % grid.stride[d]
    total = 1
    for d in range(n):
        total *= grid.member_start[at[d] + 1] - grid.member_start[at[d]]
    for i in range(total):
        number, rest = 0, i
        for d in range(n):
            first = grid.member_start[at[d]]
            many = grid.member_start[at[d] + 1] - first
            number = number * grid.groups[d] + grid.member[first + rest % many]
            rest = rest // many
        dirty[number] = 1


def mark_cells(grid: Grid, dirty: Bytes, at: Ints, chosen: Flags) -> None:
    """Mark the subtables of some cells."""
    for cell in range(len(chosen)):
        if chosen[cell]:
            mark(grid, dirty, at, cell)


def lay_out(grid: Grid, s: State, w: Local, subtable: int) -> int:
    """Copy one subtable into the work space, without axes of one code; return its number of axes."""
    n = len(grid.stride)
    axes, total, base, number = 0, 1, 0, subtable
    for e in range(n):
        d = n - 1 - e
        g = grid.first_group[d] + number % grid.groups[d]
        number = number // grid.groups[d]
        first, many = grid.start[g], grid.start[g + 1] - grid.start[g]
        if total == 1 and axes == 0:
            w.cell[0] = 0
            w.margin[0] = 0
        if many == 1:
            base += grid.code[first] * grid.stride[d]
            continue
        for i in range(many - 1, -1, -1):
            far = grid.code[first + i] * grid.stride[d]
            for j in range(total - 1, -1, -1):
                w.cell[i * total + j] = w.cell[j] + far
                w.margin[i * total + j] = 1 if i == 0 else w.margin[j]
        for i in range(many):
            w.coefficient[axes, i] = grid.coefficient[first + i]
        w.size[axes] = many
        w.stride[axes] = total
        total *= many
        axes += 1
    for j in range(total):
        w.cell[j] += base
        w.flag[j] = s.flag[w.cell[j]]
    return axes


def count_cells(w: Local, axes: int) -> int:
    """Return the number of cells of the subtable."""
    total = 1
    for d in range(axes):
        total *= w.size[d]
    return total


def degree(up: float, down: float, need_up: float, need_down: float, need_width: float) -> int:
    """Return how much the needs must be divided by: 1 to 10, then any movement, then nothing."""
    share = 1.0
    if need_up > 0:
        share = min(share, up / need_up)
    if need_down > 0:
        share = min(share, down / need_down)
    if need_width > 0:
        share = min(share, (up + down) / need_width)
    if share >= 1 - 1e-9:
        return 1
    for k in range(2, 11):
        if share * k >= 1 - 1e-9:
            return k
    return 11 if up + down > 0 else 12


def aim(w: Local, axes: int, t: int) -> None:
    """Make a cell of the subtable the target."""
    for d in range(axes):
        w.target[d] = t // w.stride[d] % w.size[d]


def begin_cube(s: State, w: Local, t: int) -> None:
    """Begin with a cube of no axis: the target alone."""
    cell = w.cell[t]
    w.offset[0] = t
    w.sign[0] = 1
    w.reach[0, 0] = s.up[cell]
    w.reach[0, 1] = s.down[cell]
    w.reach[0, 2] = 0.0
    w.fresh[0, 0] = 0
    w.fresh[0, 1] = 0
    w.at[0] = -1


def add_axis(s: State, w: Local, k: int, q: int, how: int) -> bool:
    """Extend a cube of k axes to code q of the next; False where a corner may not be used.

    Corners must be hidden (0), may be new (1), or may be new where they are no margins (2).
    """
    shift = (q - w.target[k]) * w.stride[k]
    turn = -w.coefficient[k, w.target[k]] * w.coefficient[k, q]
    many = 1 << k
    up, down, cost = w.reach[k, 0], w.reach[k, 1], w.reach[k, 2]
    fresh, margins = w.fresh[k, 0], w.fresh[k, 1]
    for i in range(many):
        j = w.offset[i] + shift
        flag = w.flag[j]
        if flag == 2 or (flag == 0 and (how == 0 or (how == 2 and w.margin[j] == 1))):
            return False
        c = w.cell[j]
        if flag == 0:
            cost += s.cost[c]
            fresh += 1
            margins += w.margin[j]
        sign = w.sign[i] * turn
        w.offset[many + i] = j
        w.sign[many + i] = sign
        up = min(up, s.up[c] if sign > 0 else s.down[c])
        down = min(down, s.down[c] if sign > 0 else s.up[c])
    w.reach[k + 1, 0] = up
    w.reach[k + 1, 1] = down
    w.reach[k + 1, 2] = cost
    w.fresh[k + 1, 0] = fresh
    w.fresh[k + 1, 1] = margins
    return True


def look_at_hidden(s: State, w: Local, axes: int, t: int, singletons: bool, every: bool) -> bool:
    """Find the cubes that are hidden already; return True when they give the target all it needs.

    ``w.amount[1:3]`` becomes the reach up and down, ``w.sole`` the codes that the cubes use; with ``every``,
    of all cubes.
    """
    cell = w.cell[t]
    unsafe = s.primary[cell]
    w.amount[1] = 0.0
    w.amount[2] = 0.0
    for d in range(axes):
        w.sole[d] = -1
    begin_cube(s, w, t)
    k = 0
    while k >= 0:
        w.at[k] += 1
        q = w.at[k]
        if q >= w.size[k]:
            k -= 1
            continue
        # Most codes are ruled out by the first corner, before a call.
        if q == w.target[k] or w.flag[t + (q - w.target[k]) * w.stride[k]] != 1:
            continue
        if not add_axis(s, w, k, q, 0):
            continue
        k += 1
        if k < axes:
            w.at[k] = -1
            continue
        up, down = w.reach[k, 0], w.reach[k, 1]
        k -= 1
        w.amount[1] = max(w.amount[1], up)
        w.amount[2] = max(w.amount[2], down)
        if max(up, down) >= s.tiny[cell] * (1 - 1e-9):
            for d in range(axes):
                if w.sole[d] == -1:
                    w.sole[d] = w.at[d]
                elif w.sole[d] != w.at[d]:
                    w.sole[d] = -2
        if every or not meets_levels(s, w, t):
            continue
        if not singletons or not unsafe or not is_betrayed(s, w, axes, t):
            return True
    return False


def meets_levels(s: State, w: Local, t: int) -> bool:
    """Return True when the reach found so far meets the target's levels."""
    c = w.cell[t]
    return degree(w.amount[1], w.amount[2], s.need_up[c], s.need_down[c], s.need_width[c]) == 1


def is_other_respondent(s: State, w: Local, d: int, t: int, q: int) -> bool:
    """Return True when the cell at code q of the target's line is another single respondent's."""
    who = s.lone[w.cell[t + (q - w.target[d]) * w.stride[d]]]
    return who != -1 and who != s.lone[w.cell[t]]


def is_betrayed(s: State, w: Local, axes: int, t: int) -> bool:
    """Return True when on some axis all cubes share one cell, and a single respondent knows it."""
    for d in range(axes):
        if w.sole[d] == -1:
            return True
        if w.sole[d] >= 0 and is_other_respondent(s, w, d, t, w.sole[d]):
            return True
    return False


def is_worse_cube(a: int, b: int, c: float, w: Local, n: int, grade: int, fewest: bool) -> bool:
    """Return True when a (partial) cube is no better than the best one found."""
    if grade != w.best[n]:
        return grade > w.best[n]
    if fewest:
        if a != w.best[n + 1]:
            return a > w.best[n + 1]
        if b != w.best[n + 2]:
            return b > w.best[n + 2]
    return c >= w.amount[0]


def find_cube(
    s: State, w: Local, axes: int, t: int, fewest: bool, inner: bool, only_tiny: bool
) -> int:
    """Find the best cube for a target, depth first; return its degree of reduction (12: none).

    Every corner of the first k axes is a corner of the whole cube, so cost and reach of a part bound
    those of the whole. ``inner`` bars margins that are not hidden yet.
    """
    cell = w.cell[t]
    need_up, need_down = s.need_up[cell], s.need_down[cell]
    need_width = s.need_width[cell]
    have_up, have_down = w.amount[1], w.amount[2]
    if only_tiny:
        need_up, need_down, need_width = 0.0, 0.0, s.tiny[cell]
        have_up, have_down = 0.0, 0.0
    n = len(w.target)
    w.best[n] = 12
    w.best[n + 1] = 1 << 40
    w.best[n + 2] = 1 << 40
    w.amount[0] = np.inf
    how = 2 if inner else 1
    begin_cube(s, w, t)
    k = 0
    while k >= 0:
        w.at[k] += 1
        q = w.at[k]
        if q >= w.size[k]:
            k -= 1
            continue
        if q == w.target[k] or q == w.barred[k] or not add_axis(s, w, k, q, how):
            continue
        up, down, cost = w.reach[k + 1, 0], w.reach[k + 1, 1], w.reach[k + 1, 2]
        fresh, margins = w.fresh[k + 1, 0], w.fresh[k + 1, 1]
        grade = degree(max(up, have_up), max(down, have_down), need_up, need_down, need_width)
        if only_tiny and max(up, down) < need_width * (1 - 1e-9):
            grade = 12
        if grade == 12 or is_worse_cube(fresh, margins, cost, w, n, grade, fewest):
            continue
        if k + 1 < axes:
            k += 1
            w.at[k] = -1
            continue
        for d in range(axes):
            w.best[d] = w.at[d]
        w.best[n] = grade
        w.best[n + 1] = fresh
        w.best[n + 2] = margins
        w.amount[0] = cost
    return w.best[n]


def take_cube(grid: Grid, s: State, w: Local, axes: int, t: int) -> int:
    """Hide the best cube's corners, and mark what must be looked at again; return how many."""
    new = 0
    for corner in range(1 << axes):
        j = t
        for d in range(axes):
            if corner >> d & 1:
                j += (w.best[d] - w.target[d]) * w.stride[d]
        if w.flag[j] == 0:
            w.flag[j] = 1
            s.flag[w.cell[j]] = 1
            mark(grid, s.dirty, w.at, w.cell[j])
            new += 1
    return new


def protect_target(grid: Grid, s: State, w: Local, axes: int, t: int, rules: Rules) -> int:
    """Give one hidden cell of the subtable its cubes; return the number of cells hidden."""
    aim(w, axes, t)
    new = 0
    cell = w.cell[t]
    for d in range(axes):
        w.barred[d] = -1
    if look_at_hidden(s, w, axes, t, rules.singletons, False):
        return 0
    if not meets_levels(s, w, t):
        found = find_cube(s, w, axes, t, rules.fewest, rules.sequence, False)
        if found == 12 and rules.sequence:
            found = find_cube(s, w, axes, t, rules.fewest, False, False)
        s.reduced[cell] = max(s.reduced[cell], found)
        if found == 12:
            return 0
        new += take_cube(grid, s, w, axes, t)
        if not rules.singletons or look_at_hidden(s, w, axes, t, True, False):
            return new
    if not rules.singletons or not s.primary[cell] or not is_betrayed(s, w, axes, t):
        return new
    return new + second_cube(grid, s, w, axes, t, rules.fewest)


def second_cube(grid: Grid, s: State, w: Local, axes: int, t: int, fewest: bool) -> int:
    """Hide a cube without the cells that single respondents know; all at once or axis by axis."""
    for d in range(axes):
        bad = w.sole[d] >= 0 and is_other_respondent(s, w, d, t, w.sole[d])
        w.barred[d] = w.sole[d] if bad else -1
    new = 0
    if find_cube(s, w, axes, t, fewest, False, True) < 12:
        new += take_cube(grid, s, w, axes, t)
    else:
        for d in range(axes):
            only = w.sole[d]
            if only < 0 or not is_other_respondent(s, w, d, t, only):
                continue
            for e in range(axes):
                w.barred[e] = only if e == d else -1
            if find_cube(s, w, axes, t, fewest, False, True) < 12:
                new += take_cube(grid, s, w, axes, t)
            else:
                s.reduced[w.cell[t]] = 12
    for d in range(axes):
        w.barred[d] = -1
    return new


def protect_subtables(grid: Grid, s: State, w: Local, rules: Rules, numbers: Ints) -> int:
    """Give every hidden cell of some subtables its cubes; return the number of cells hidden."""
    new = 0
    for number in numbers:
        s.dirty[number] = 0
        axes = lay_out(grid, s, w, number)
        if axes == 0:
            continue
        total = count_cells(w, axes)
        n = 0
        for j in range(total):
            if w.flag[j] == 1:
                n += 1
        targets = np.empty(n, dtype=np.int64)
        key = np.empty(n, dtype=np.float64)
        most = 0.0
        n = 0
        for j in range(total):
            if w.flag[j] == 1:
                targets[n] = j
                key[n] = s.value[w.cell[j]]
                most = max(most, key[n])
                n += 1
        for i in range(n):
            if s.primary[w.cell[targets[i]]]:
                key[i] += most + 1.0
        for i in np.argsort(-key, kind="mergesort"):
            new += protect_target(grid, s, w, axes, targets[i], rules)
    return new


def prove_cell(s: State, w: Local, axes: int, t: int) -> bool:
    """Return True when cubes of hidden cells prove an unsafe cell's levels and its singletons."""
    cell = w.cell[t]
    aim(w, axes, t)
    look_at_hidden(s, w, axes, t, False, True)
    up, down, keep = w.amount[1], w.amount[2], 1 - 1e-9
    if up < s.need_up[cell] * keep or down < s.need_down[cell] * keep:
        return False
    if up + down < s.need_width[cell] * keep:
        return False
    for d in range(axes):
        if w.sole[d] >= 0 and is_other_respondent(s, w, d, t, w.sole[d]):
            return False
        if w.sole[d] == -1 and has_other_respondent(s, w, axes, t):
            return False
    return True


def has_other_respondent(s: State, w: Local, axes: int, t: int) -> bool:
    """Return True when a single respondent is on a line of the target."""
    for d in range(axes):
        for q in range(w.size[d]):
            j = t + (q - w.target[d]) * w.stride[d]
            if w.flag[j] == 1 and is_other_respondent(s, w, d, t, q):
                return True
    return False


def prove_subtables(grid: Grid, s: State, w: Local, numbers: Ints, missing: Ints) -> int:
    """Count, subtable by subtable, the unsafe cells without a proof; return the number of proofs."""
    proofs = 0
    for x in range(len(numbers)):
        axes = lay_out(grid, s, w, numbers[x])
        for t in range(count_cells(w, axes) if axes > 0 else 0):
            if w.flag[t] != 1 or not s.primary[w.cell[t]]:
                continue
            if prove_cell(s, w, axes, t):
                proofs += 1
            else:
                missing[x] += 1
    return proofs


KERNELS = Kernels(
    globals(),
    mark,
    mark_cells,
    lay_out,
    count_cells,
    degree,
    meets_levels,
    is_other_respondent,
    is_betrayed,
    is_worse_cube,
    aim,
    begin_cube,
    add_axis,
    look_at_hidden,
    find_cube,
    take_cube,
    second_cube,
    protect_target,
    protect_subtables,
    has_other_respondent,
    prove_cell,
    prove_subtables,
)
