"""How far hidden cells can move at most, relation by relation: what a linear program need not be asked.

In a relation no cell can move further than all others of it together. These limits, carried from relation to
relation, are necessary and not sufficient: a need beyond them cannot be met, one within them perhaps. Most
attempts to publish a secondary again fail for that reason, and finding it out here takes microseconds where
a program takes milliseconds.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.numerics.kernels import Kernels
from tacit.tables.suppress.problem import Problem, touched_rows

#: A limit is carried on when it shrinks below this share of what it was; this many relations are looked at.
SHRINK, VISITS = 0.999, 4000
#: Turns of the kernel's loop that cleaning up takes for each cell that may be hidden, at most.
TURNS = 500
#: A need beyond its limit by no more than this share is left to the program and its tolerances.
SLACK = 1e-5


class Caps:
    """Limits of what each cell can move up and down while only ``allowed`` cells move.

    The allowed cells must stay the same, but for those that a question leaves out.
    """

    def __init__(self, problem: Problem, allowed: Flags) -> None:
        cells = np.flatnonzero(allowed)
        part = touched_rows(problem.by_cell, cells)
        self.place = np.full(problem.n, -1, dtype=np.int64)
        self.place[cells] = np.arange(len(cells))
        columns = sparse.csc_array(part)
        self.rows = (
            part.indptr.astype(np.int64),
            part.indices.astype(np.int64),
            part.data.astype(np.float64),
        )
        self.columns = (columns.indptr.astype(np.int64), columns.indices.astype(np.int64))
        self.up = problem.up[cells].astype(np.float64)
        self.down = problem.down[cells].astype(np.float64)
        self.tighten = KERNELS.pick(TURNS * len(cells))["tighten_caps"]
        self.shrink(np.arange(part.shape[0], dtype=np.int64), 50 * part.shape[0])

    def shrink(self, rows: Ints, visits: int = VISITS) -> None:
        """Carry limits on, from some relations to those that they concern."""
        self.tighten(*self.rows, *self.columns, self.up, self.down, rows, visits, SHRINK)

    def find_exceeded_cells(self, gone: int, cells: list[int], amounts: list[float]) -> Flags:
        """Return which cells cannot move by an amount when the cell ``gone`` stands still."""
        c = int(self.place[gone])
        if c < 0:
            return np.zeros(len(cells), dtype=bool)
        kept = self.up.copy(), self.down.copy()
        self.up[c] = self.down[c] = 0.0
        start, index = self.columns
        self.shrink(index[start[c] : start[c + 1]])
        at, by = self.place[cells], np.asarray(amounts)
        reach = np.where(by > 0, self.up[at], self.down[at])
        self.up, self.down = kept
        return np.asarray(np.abs(by) * (1 - SLACK) > reach)


# -- kernel: numbers and arrays only --------------------------------------------------------------


def tighten_caps(
    row_start: Ints,
    row_cells: Ints,
    row_values: Floats,
    cell_start: Ints,
    cell_rows: Ints,
    up: Floats,
    down: Floats,
    first: Ints,
    visits: int,
    shrink: float,
) -> int:
    """Shrink ``up`` and ``down`` in place; return how many relations were looked at."""
    n_rows = len(row_start) - 1
    waiting = np.zeros(n_rows, dtype=np.bool_)
    queue = np.empty(n_rows, dtype=np.int64)
    head = 0
    length = 0
    for k in range(len(first)):
        if not waiting[first[k]]:
            waiting[first[k]] = True
            queue[length] = first[k]
            length += 1
    seen = 0
    while length > 0 and seen < visits:
        row = queue[head]
        head = (head + 1) % n_rows
        length -= 1
        waiting[row] = False
        seen += 1
        # How far the terms a d of the relation can go above zero and below it, all together.
        above = 0.0
        below = 0.0
        endless_above = 0
        endless_below = 0
        for j in range(row_start[row], row_start[row + 1]):
            a = row_values[j]
            c = row_cells[j]
            high = a * up[c] if a > 0 else -a * down[c]
            low = a * down[c] if a > 0 else -a * up[c]
            if np.isinf(high):
                endless_above += 1
            else:
                above += high
            if np.isinf(low):
                endless_below += 1
            else:
                below += low
        for j in range(row_start[row], row_start[row + 1]):
            a = row_values[j]
            c = row_cells[j]
            size = abs(a)
            high = a * up[c] if a > 0 else -a * down[c]
            low = a * down[c] if a > 0 else -a * up[c]
            # A term can rise by what the others can fall, and fall by what they can rise.
            others_below = np.inf
            if endless_below - (1 if np.isinf(low) else 0) == 0:
                others_below = max(below - (0.0 if np.isinf(low) else low), 0.0)
            others_above = np.inf
            if endless_above - (1 if np.isinf(high) else 0) == 0:
                others_above = max(above - (0.0 if np.isinf(high) else high), 0.0)
            rise = (others_below if a > 0 else others_above) / size
            fall = (others_above if a > 0 else others_below) / size
            less = False
            if rise < up[c] * shrink:
                up[c] = rise
                less = True
            if fall < down[c] * shrink:
                down[c] = fall
                less = True
            if less:
                for k in range(cell_start[c], cell_start[c + 1]):
                    other = cell_rows[k]
                    if not waiting[other]:
                        waiting[other] = True
                        queue[(head + length) % n_rows] = other
                        length += 1
    return seen


KERNELS = Kernels(globals(), tighten_caps)
