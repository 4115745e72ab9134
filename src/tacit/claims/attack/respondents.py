"""Single respondents as attackers: who knows one hidden cell must not be able to deduce another's.

The only respondent of a cell takes the own value away: with that cell at rest, the cells of others must
still be able to move. Two cells need not share a relation for one to follow from the other.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsmr
from scipy.spatial import cKDTree

from tacit.arrays import Flags, Floats, Ints
from tacit.claims.attack.movements import CLOSE, Part, System, places_of
from tacit.claims.attack.needs import compute_least_movement, far_alone
from tacit.claims.claim import Claim
from tacit.claims.view import CellView, TableView

#: Vectors of the kernel that are drawn to see which cells depend on each other.
DRAWS = 3
#: Entries of those vectors below this may be zero, and directions nearer than this the same.
NEAR = 1e-5
#: Programs that push all cells of a respondent's neighbours, before one cell at a time.
TRIES = 3
#: The status of cells that are unsafe by the frequency rule alone.
BY_FREQUENCY = 5


# -- by relations that two cells share, within bounds ------------------------------------------------


def find_guarded_cells(table: TableView, claim: Claim) -> Flags:
    """Return the unsafe cells that a claim says are kept from single respondents.

    A claim may spare those that are unsafe by their frequency alone.
    """
    spared = claim.parameters.get("spared") == "frequency"
    return np.asarray(table.primary & ~(spared & (table.status == BY_FREQUENCY)))


def is_deducible_nearby(
    table: CellView, system: System, parts: list[Part], targets: Flags | None = None
) -> bool:
    """Return True when an unsafe cell rests with the single respondent's cell beside it at rest."""
    hidden = table.primary.copy()
    hidden[system.cells] = True
    pairs = neighbours(table, hidden, table.primary if targets is None else targets)
    if not len(pairs):
        return False
    tiny = compute_least_movement(table, pairs[:, 1])
    known, target = system.at(pairs[:, 0]), system.at(pairs[:, 1])
    if (target < 0).any():
        return True
    part_of, column = places_of(system, parts)
    order = np.argsort(known, kind="stable")
    starts = np.flatnonzero(np.diff(known[order], prepend=-2))
    for own in np.split(order, starts[1:]):
        still = int(known[own[0]])
        for i in np.unique(part_of[target[own]]).tolist():
            mine = own[part_of[target[own]] == i]
            rest = int(column[still]) if still >= 0 and part_of[still] == i else None
            if is_stuck(parts[i], column[target[mine]], tiny[mine], rest):
                return True
    return False


def neighbours(table: CellView, hidden: Flags, targets: Flags) -> Ints:
    """Return rows (known, target) of hidden and unsafe cells that share a relation, known of one respondent."""
    lone = np.flatnonzero(hidden & table.singleton)
    unsafe = np.flatnonzero(targets)
    m = sparse.csr_array(table.equations)
    pattern = sparse.csc_array(
        sparse.csr_array((np.ones(m.nnz), m.indices, m.indptr), shape=m.shape)
    )
    shared = (pattern[:, lone].T @ pattern[:, unsafe]).tocoo()
    a, b = lone[shared.coords[0]], unsafe[shared.coords[1]]
    owner = table.owner
    keep = (a != b) & (owner[a] != owner[b])
    return np.unique(np.stack([a[keep], b[keep]], axis=1), axis=0)


def is_stuck(part: Part, columns: Ints, tiny: Floats, rest: int | None) -> bool:
    """Return True when some of the cells cannot move, with one cell at rest."""
    if rest is None:
        shown = np.maximum(part.far_up, part.far_down)[columns] >= tiny * (1 - CLOSE)
    else:
        shown = compute_rest_movement(part, columns, rest) >= tiny * (1 - CLOSE)
    rng = np.random.default_rng(len(columns))
    for _ in range(TRIES):
        todo = np.flatnonzero(~shown)
        if len(todo) < 3:
            break
        cost, cap = np.zeros(part.n), np.full(part.n, np.inf)
        cost[columns[todo]] = rng.choice([-1.0, 1.0], len(todo))
        cap[columns[todo]] = tiny[todo]
        if rest is not None:
            cap[rest] = 0.0
        d = part.push(cost, -cap, cap, float(np.median(tiny)))
        if d is None:
            break
        gap = float(np.abs(part.matrix @ d).max(initial=0.0))
        shown |= (np.abs(d[columns]) >= tiny * (1 - CLOSE)) & (gap <= CLOSE * tiny)
        part.learn(d, np.full(part.n, np.inf))
    for k in np.flatnonzero(~shown).tolist():
        ways = (far_alone(part, int(columns[k]), s, float(tiny[k]), rest) for s in (1.0, -1.0))
        if not any(way >= tiny[k] * (1 - CLOSE) for way in ways):
            return True
    return False


def compute_rest_movement(part: Part, columns: Ints, rest: int) -> Floats:
    """Return how far kept movements, and means of two of them, move cells with one at rest."""
    # A mean of two movements is not one in whole numbers.
    if not part.kept or part.whole:
        return np.zeros(len(columns))
    d = np.stack(part.kept)
    own, others = d[:, rest], d[:, columns]
    calm = np.abs(own) <= 1e-12 * np.abs(d).max(axis=1)
    best = np.abs(others[calm]).max(axis=0, initial=0.0)
    for i in np.flatnonzero(~calm & (own > 0)).tolist():
        against = np.flatnonzero(~calm & (own < 0))
        share = own[i] / (own[i] - own[against])
        mean = share[:, None] * others[against] + (1 - share[:, None]) * others[i]
        best = np.maximum(best, np.abs(mean).max(axis=0, initial=0.0))
    return best


# -- exactly, by all relations together ------------------------------------------------------------


def is_deducible_exactly(table: CellView, unknown: Flags, targets: Flags | None = None) -> bool:
    """Return True when an unsafe cell is a multiple of a single respondent's, whatever the bounds."""
    targets = table.primary if targets is None else targets
    system = drop_bounds(table.equations, unknown)
    lone = system.at(np.flatnonzero(unknown & table.singleton))
    unsafe = system.at(np.flatnonzero(unknown & targets))
    lone, unsafe = lone[lone >= 0], unsafe[unsafe >= 0]
    pairs = find_possible_multiples(kernel_vectors(system.matrix), lone, unsafe)
    owner = table.owner[system.cells]
    pairs = pairs[owner[pairs[:, 0]] != owner[pairs[:, 1]]]
    if not len(pairs):
        return False
    parts = list(system.parts())
    part_of, column = places_of(system, parts)
    return any(
        part_of[a] == part_of[b]
        and is_immovable(parts[int(part_of[b])], int(column[b]), int(column[a]))
        for a, b in pairs.tolist()
    )


def drop_bounds(equations: sparse.csr_array, unknown: Flags) -> System:
    """Return the system of unknown cells without bounds: movements of one unit stand for all."""
    ones = np.ones(len(unknown))
    return System.over(equations, unknown, ones, ones)


def is_immovable(part: Part, column: int, still: int | None = None) -> bool:
    """Return True when a cell cannot move at all (with another at rest)."""
    return far_alone(part, column, 1.0, 1e-3, still) < 1e-4


def kernel_vectors(matrix: sparse.csr_array) -> Floats:
    """Return random vectors d with M d = 0, by least squares: cells x draws."""
    rng = np.random.default_rng(20)
    d = rng.standard_normal((matrix.shape[1], DRAWS))
    if not matrix.shape[0]:
        return d
    by_cell = sparse.csr_array(matrix.T)
    for k in range(DRAWS):
        for _ in range(2):
            y = lsmr(by_cell, d[:, k], atol=1e-12, btol=1e-12, conlim=0, maxiter=5000)[0]
            d[:, k] -= by_cell @ y
    return d


def find_possible_multiples(d: Floats, first: Ints, second: Ints) -> Ints:
    """Return pairs of cells, one of each list, that may be multiples of each other in the kernel."""
    length = np.linalg.norm(d, axis=1)
    first, second = first[length[first] > NEAR], second[length[second] > NEAR]
    if not len(first) or not len(second):
        return np.zeros((0, 2), dtype=np.int64)
    way = d / np.maximum(length, NEAR)[:, None]
    tree = cKDTree(way[second])
    found = [
        (a, int(second[j]))
        for sign in (1.0, -1.0)
        for a, near in zip(
            first.tolist(), tree.query_ball_point(sign * way[first], NEAR), strict=True
        )
        for j in near
        if int(second[j]) != a
    ]
    return np.array(found, dtype=np.int64).reshape(-1, 2)
