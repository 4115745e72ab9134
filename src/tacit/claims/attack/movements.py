"""How far cells can move: plain linear programs over the relations of a table.

A movement d is possible when M d = 0, d = 0 on cells that are known and ``-down <= d <= up`` on the others.
Possible movements form a convex set around 0, so one program that moves many cells at once shows the needs
of all of them; what is left is asked for one cell at a time. A movement counts only after it has been put
into the relations and bounds. Of counts, where attackers use that they are whole numbers, only movements in
whole numbers count; where a linear program finds another, an integer program looks for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import highspy
import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from tacit.arrays import Flags, Floats, Ints

#: A need counts as met when the movement falls short by no more than this share of it, and a movement
#: shows a need when it leaves no relation open by more than this share of it.
CLOSE = 1e-6
#: Small components are solved together up to this many cells.
TOGETHER = 3000
#: Cells move by no more than this many times what is wanted, so that sums stay exact.
FAR = 1e4
#: Movements of a component that are kept.
KEPT = 64
#: Nodes after which the search for a movement in whole numbers is given up: none was shown.
NODES = 20_000


@dataclass(frozen=True, eq=False)
class System:
    """Relations among the cells that an attacker does not know."""

    #: The cells, ascending.
    cells: Ints
    #: Relations x cells.
    matrix: sparse.csr_array
    #: down, up: how far an attacker thinks that a cell could lie below and above its true value.
    down: Floats
    up: Floats
    #: Whether only movements in whole numbers are possible.
    whole: bool = False

    @classmethod
    def over(
        cls,
        equations: sparse.csr_array,
        unknown: Flags,
        down: Floats,
        up: Floats,
        *,
        whole: bool = False,
    ) -> System:
        """Return the system of the unknown cells; those that follow at once are left out."""
        if whole:
            down, up = np.floor(down + CLOSE), np.floor(up + CLOSE)
        free = unknown & ((down > 0) | (up > 0))
        m = sparse.csr_array(equations)
        m.eliminate_zeros()
        m = remove_lone_cells(m, free)
        cells = np.flatnonzero(free)
        m = sparse.csr_array(m[:, cells])
        m = m[np.diff(m.indptr) > 0]
        return cls(cells, m, down[cells].astype(np.float64), up[cells].astype(np.float64), whole)

    def at(self, cells: Ints) -> Ints:
        """Return the places of cells in the system, -1 for those that cannot move."""
        if not len(self.cells):
            return np.full(len(cells), -1, dtype=np.int64)
        place = np.minimum(np.searchsorted(self.cells, cells), len(self.cells) - 1)
        return np.where(self.cells[place] == cells, place, -1)

    def parts(self) -> Iterator[Part]:
        """Yield the components, small ones together."""
        m = sparse.csc_array(self.matrix)
        n, label = columns_connected(m)
        size = np.bincount(label, minlength=n)
        chunk = np.cumsum(size) // TOGETHER
        group = chunk[label]
        row_group = np.full(m.shape[0], -1, dtype=np.int64)
        entries = m.tocoo()
        row_group[entries.coords[0]] = group[entries.coords[1]]
        for g in np.unique(group).tolist():
            own = np.flatnonzero(group == g)
            rows = np.flatnonzero(row_group == g)
            matrix = sparse.csr_array(m[:, own])[rows]
            yield Part(own, matrix, self.down[own], self.up[own], self.whole)


def remove_lone_cells(m: sparse.csr_array, free: Flags) -> sparse.csr_array:
    """Take cells that are alone in a relation from the free ones, again and again."""
    pattern = sparse.csr_array((np.ones(m.nnz), m.indices, m.indptr), shape=m.shape)
    while True:
        alone = np.flatnonzero(pattern @ free.astype(np.float64) == 1)
        if not len(alone):
            return m
        entries = m[alone].indices
        free[entries] = False


def columns_connected(m: sparse.csc_array) -> tuple[int, Ints]:
    """Return the number of components of the cells, and the component of each."""
    rows, n = m.shape
    entries = m.tocoo()
    graph = sparse.coo_array(
        (np.ones(m.nnz), (entries.coords[1], n + entries.coords[0])), shape=(n + rows, n + rows)
    )
    _, label = connected_components(graph, directed=False)
    _, label = np.unique(label[:n], return_inverse=True)
    return int(label.max(initial=-1)) + 1, label.astype(np.int64)


@dataclass(eq=False)
class Part:
    """Some components of a system, and what is known of their movements."""

    places: Ints
    matrix: sparse.csr_array
    down: Floats
    up: Floats
    whole: bool = False
    kept: list[Floats] = field(default_factory=list)
    program: highspy.Highs | None = None
    whole_program: highspy.Highs | None = None

    def __post_init__(self) -> None:
        self.far_down = np.zeros(len(self.places))
        self.far_up = np.zeros(len(self.places))

    @property
    def n(self) -> int:
        """Return the number of cells."""
        return len(self.places)

    def push(self, cost: Floats, low: Floats, high: Floats, unit: float) -> Floats | None:
        """Return the possible movement with the largest ``cost @ d`` between two caps, if one is found.

        Nothing moves further than FAR times the largest finite cap.
        """
        unit = 1.0 if self.whole else unit
        far = FAR * max(unit, float(high[np.isfinite(high)].max(initial=0.0)))
        low = np.maximum(np.maximum(-self.down, low), -far) / unit
        high = np.minimum(np.minimum(self.up, high), far) / unit
        if not self.matrix.shape[0]:
            return np.where(cost > 0, high, np.where(cost < 0, low, 0.0)) * unit
        if self.program is None:
            self.program = program_of(self.matrix)
        found = run_program(self.program, cost, low, high)
        if found is None or not self.whole:
            return None if found is None else found * unit
        if self.keeps_relations(np.rint(found)) and np.abs(found - np.rint(found)).max() < CLOSE:
            return np.rint(found)
        if self.whole_program is None:
            self.whole_program = program_of(self.matrix, whole=True)
        found = run_program(self.whole_program, cost, low, high)
        return None if found is None or not self.keeps_relations(np.rint(found)) else np.rint(found)

    def keeps_relations(self, d: Floats) -> bool:
        """Return True when a movement keeps every relation exactly."""
        return not (self.matrix @ d).any()

    def learn(self, d: Floats, need: Floats) -> None:
        """Take note of a movement, for the cells whose needs are large against what it leaves open."""
        gap = float(np.abs(self.matrix @ d).max(initial=0.0))
        good = gap <= CLOSE * need
        self.far_up = np.where(good, np.maximum(self.far_up, d), self.far_up)
        self.far_down = np.where(good, np.maximum(self.far_down, -d), self.far_down)
        if len(self.kept) < KEPT and gap <= CLOSE * CLOSE * float(np.abs(d).max(initial=0.0)):
            self.kept.append(d)


def places_of(system: System, parts: list[Part]) -> tuple[Ints, Ints]:
    """Return the part of each cell of a system, and its column there."""
    part_of, column = np.zeros((2, len(system.cells)), dtype=np.int64)
    for i, part in enumerate(parts):
        part_of[part.places], column[part.places] = i, np.arange(part.n)
    return part_of, column


def run_program(h: highspy.Highs, cost: Floats, low: Floats, high: Floats) -> Floats | None:
    """Return the movement with the largest ``cost @ d``, if one is found."""
    every = np.arange(len(cost), dtype=np.int32)
    h.changeColsBounds(len(cost), every, low, high)
    h.changeColsCost(len(cost), every, -cost)
    h.run()
    if h.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        h.clearSolver()
        h.run()
        if h.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
    return np.clip(np.array(h.getSolution().col_value), low, high)


def program_of(matrix: sparse.csr_array, *, whole: bool = False) -> highspy.Highs:
    """Return a program over the relations, bounds and costs to be given."""
    h = highspy.Highs()  # type: ignore[no-untyped-call]
    h.silent()
    h.setOptionValue("threads", 1)
    lp = highspy.HighsLp()
    m = sparse.csr_array(matrix)
    lp.num_row_, lp.num_col_ = m.shape
    lp.col_cost_ = np.zeros(m.shape[1])
    lp.col_lower_, lp.col_upper_ = np.zeros(m.shape[1]), np.zeros(m.shape[1])
    lp.row_lower_, lp.row_upper_ = np.zeros(m.shape[0]), np.zeros(m.shape[0])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = m.indptr.astype(np.int32)
    lp.a_matrix_.index_ = m.indices.astype(np.int32)
    lp.a_matrix_.value_ = m.data.astype(np.float64)
    if whole:
        lp.integrality_ = [highspy.HighsVarType.kInteger] * m.shape[1]
        h.setOptionValue("mip_max_nodes", NODES)
    h.passModel(lp)
    return h
