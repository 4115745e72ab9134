"""Secondary suppression by elimination over a prime field: which cells may be published in turn.

The cells of a table span a space in which every relation holds. A hidden cell is deducible when it
is a linear combination of published ones. Candidates are taken in order, the most valuable first, and
published unless that would make an unsafe cell deducible (Langsrud's Gaussian elimination).

Most of the work is avoided by choosing the right coordinates. Let N be the cheapest cells whose
columns of M are a basis of its columns, unsafe cells being taken last. Then

* every candidate outside N is independent of the unsafe cells and of all candidates before it, so it
  is published without more ado;
* modulo those, a candidate of N is a combination of unsafe cells alone. Its coefficients are read off
  the fundamental movements d^q, one an unsafe cell q: M d = 0, d_q = 1, zero outside N.

What remains is an elimination in as many coordinates as there are unsafe cells. In a two-way table
without hierarchies N is a cheapest spanning tree of the rows and columns and d^q the cycle that q
closes with it.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.numerics.kernels import Kernels
from tacit.tables.suppress.problem import Problem, find_entries

Vector = dict[int, int]
Mark = tuple[int, int]

#: Products of two numbers below it fit in 64 bits.
PRIME = 2_147_483_647
#: Coefficients are taken as fractions with denominators up to this.
LARGEST = 10**6


@dataclass(frozen=True, eq=False)
class Choice:
    """What the elimination decided."""

    hidden: Flags  # the pattern
    unknowns: int  # how many unsafe cells were coordinates
    mixed: int  # how many candidates were combinations of unsafe cells
    #: Unsafe cells that are deducible from cells that must be published, whatever is hidden; by anybody, or by the only
    #: respondent of another unsafe cell.
    lost: Ints
    #: Unsafe cells that the only respondent of a cell that is not unsafe deduces with this pattern, and perhaps not with
    #: a larger one.
    tied: Ints


def choose_hidden_cells(problem: Problem, ctx: Context) -> Choice:
    """Decide cell by cell, the most valuable first, what may be published."""
    order = candidate_order(problem)
    ctx.tick("eliminating relations", 0.0)
    unsafe = np.flatnonzero(problem.primary)
    moves, free = movements(problem.equations, order, unsafe)
    by_cell = sparse.csr_array(moves.T)  # row c: coefficients of cell c on the movements
    mixed = np.diff(by_cell.indptr) > 0
    state = Elimination(by_cell, unsafe, free)
    for cell in np.flatnonzero(mixed & ~problem.start & ~problem.suppressible).tolist():
        state.publish(state.reduced(row_of(by_cell, cell)))
    lost = {q for q, vector in state.vectors.items() if not vector}
    bound, tied = state.watch_pairs(problem.pairs, by_cell)
    hidden = problem.start.copy()
    candidates = order[::-1][(mixed & problem.suppressible)[order[::-1]]].tolist()
    for i, cell in enumerate(candidates):
        if i % 256 == 0:
            ctx.tick("choosing cells to publish", i / len(candidates))
        vector = state.reduced(row_of(by_cell, cell))
        if state.would_reveal(vector):
            hidden[cell] = True
        else:
            state.publish(vector)
    told = (np.array(sorted(q), dtype=np.int64) for q in (lost | bound, tied))
    return Choice(hidden, len(free), len(candidates), *told)


def candidate_order(problem: Problem) -> Ints:
    """Return all cells, those that had best be hidden first.

    Cells that are hidden anyway, candidates by rising cost, known cells, and unsafe cells at the end.
    """
    group = np.full(problem.n, 2)
    group[problem.suppressible] = 1
    group[problem.forced] = 0
    group[problem.primary] = 3
    return np.lexsort((np.arange(problem.n), problem.cost, group)).astype(np.int64)


def movements(
    equations: sparse.csr_array, order: Ints, unsafe: Ints
) -> tuple[sparse.csr_array, Ints]:
    """Return a movement per row, and the independent unsafe cell that each of them moves by 1."""
    m = sparse.csc_array(equations)
    m.sort_indices()
    # The place of each relation in the order of pivots: short relations first.
    rows = np.argsort(np.argsort(np.diff(equations.indptr), kind="stable"))
    basis = Echelon(m, rows, PRIME)
    independent = basis.extend(order)
    free = unsafe[~independent[unsafe]]
    return basis.circuits(free), free


def residues(values: Floats, prime: int) -> Ints:
    """Return coefficients over the prime field; fractions such as 0.5 keep their meaning."""
    distinct, place = np.unique(values, return_inverse=True)
    found = []
    for value in distinct.tolist():
        f = Fraction(value).limit_denominator(LARGEST)
        found.append(f.numerator * pow(f.denominator, -1, prime) % prime)
    return np.array(found, dtype=np.int64)[place]


class Echelon:
    """Columns of a matrix in echelon form over a prime field, grown in a given order.

    Step j takes column c_j and keeps R_j = s_j (M_c - sum of f_ij R_i), whose first row is its pivot.
    """

    def __init__(self, matrix: sparse.csc_array, place: Ints, prime: int) -> None:
        self.shape = matrix.shape
        self.prime = prime
        self.starts = matrix.indptr.astype(np.int64)
        self.rows = place[matrix.indices].astype(np.int64)
        self.values = residues(matrix.data, prime)
        self.kept: tuple[Ints, ...] = ()

    def extend(self, order: Ints) -> Flags:
        """Take the columns in order; return which are independent of those before them."""
        self.kept = KERNELS.pick(10 * len(self.rows))["eliminate"](
            self.starts, self.rows, self.values, order, self.shape[0], self.prime
        )
        independent = np.zeros(self.shape[1], dtype=bool)
        independent[self.kept[1]] = True
        return independent

    def circuits(self, columns: Ints) -> sparse.csr_array:
        """Return, for each dependent column, the movement that it makes with the basis (a row)."""
        picked, lengths = find_entries(self.starts, columns)
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        ends, steps, amounts = KERNELS.pick(10 * len(self.rows))["solve"](
            starts, self.rows[picked], self.values[picked], self.shape[0], *self.kept, self.prime
        )
        k = len(columns)
        at = np.concatenate([np.repeat(np.arange(k), np.diff(ends)), np.arange(k)])
        cells = np.concatenate([self.kept[1][steps], columns])
        data = np.concatenate([(self.prime - amounts) % self.prime, np.ones(k, dtype=np.int64)])
        return sparse.csr_array((data, (at, cells)), shape=(k, self.shape[1]))


class Elimination:
    """The unsafe cells modulo what is published, each a combination of coordinates.

    Coordinate i starts as the unsafe cell ``free[i]``. Publishing a vector makes one coordinate a
    combination of the others. An unsafe cell is deducible when nothing is left of its vector; the
    other cell of a pair can deduce it when the two vectors are proportional.

    Each vector carries two marks, random linear functions of it: whatever depends on each other has
    marks that do, so most comparisons end there.
    """

    def __init__(self, by_cell: sparse.csr_array, unsafe: Ints, free: Ints) -> None:
        self.free = free.tolist()
        rng = np.random.default_rng(len(self.free))
        self.dice = rng.integers(1, PRIME, (2, len(self.free))).tolist()
        self.unsafe = set(unsafe.tolist())
        self.vectors: dict[int, Vector] = {}
        self.marks: dict[int, Mark] = {}
        self.holders: dict[int, set[int]] = {i: set() for i in range(len(self.free))}
        for q in unsafe.tolist():
            self.follow(q, row_of(by_cell, q))
        self.partners: dict[int, set[int]] = {}

    def marked(self, vector: Vector) -> Mark:
        """Return the marks of a vector."""
        one, two = self.dice
        return (
            sum(one[i] * x for i, x in vector.items()) % PRIME,
            sum(two[i] * x for i, x in vector.items()) % PRIME,
        )

    def watch_pairs(self, pairs: Ints, by_cell: sparse.csr_array) -> tuple[set[int], set[int]]:
        """Look after pairs from now on; return the targets that are bound to their partner already.

        The known cell of a pair need not be unsafe itself; it is then followed, and not protected. Targets
        bound to such a cell are returned apart: the cells outside N, which count as published here, may
        save them when they are hidden too.
        """
        bound: set[int] = set()
        tied: set[int] = set()
        for known, target in pairs.tolist():
            if known not in self.vectors:
                self.follow(known, self.reduced(row_of(by_cell, known)))
            own = self.vectors[known]
            if not own and known not in self.unsafe:
                continue
            if is_multiple(own, self.vectors[target]):
                (bound if known in self.unsafe else tied).add(target)
            else:
                self.partners.setdefault(known, set()).add(target)
                self.partners.setdefault(target, set()).add(known)
        return bound, tied

    def follow(self, cell: int, vector: Vector) -> None:
        """Keep the vector of a cell from now on."""
        self.vectors[cell] = vector
        self.marks[cell] = self.marked(vector)
        for i in vector:
            self.holders[i].add(cell)

    def reduced(self, row: Vector) -> Vector:
        """Return a vector of original coordinates modulo what is published."""
        total: Vector = {}
        for i, amount in row.items():
            add(total, self.vectors[self.free[i]], amount)
        return total

    def would_reveal(self, vector: Vector) -> bool:
        """Return True when publishing a vector would make an unsafe cell deducible."""
        if not vector:
            return False
        first = min(vector, key=lambda i: len(self.holders[i]))
        here = vector[first]
        one, two = self.marked(vector)
        for q in self.holders[first]:
            own = self.vectors[q]
            mark = self.marks[q]
            if (mark[0] * two - mark[1] * one) % PRIME == 0 and is_multiple(own, vector):
                if q in self.unsafe:
                    return True
                continue  # its owner learns nothing new
            if q not in self.partners:
                continue
            # Without the coordinate ``first``, the vector must be no multiple of the partner's.
            at = own[first]
            rest = at * one - here * mark[0], at * two - here * mark[1]
            for other in self.partners[q]:
                there = self.vectors[other].get(first, 0)
                last = self.marks[other]
                x = at * last[0] - there * mark[0]
                y = at * last[1] - there * mark[1]
                if (rest[0] * y - rest[1] * x) % PRIME == 0 and self.binds_pair(
                    vector, q, other, first
                ):
                    return True
        return False

    def binds_pair(self, vector: Vector, q: int, other: int, first: int) -> bool:
        """Return True when a vector binds two cells of a pair to each other."""
        own, partner = self.vectors[q], self.vectors[other]
        if other not in self.unsafe and (not partner or is_multiple(partner, vector)):
            return False
        return is_combination(vector, own, partner, first)

    def publish(self, vector: Vector) -> None:
        """Take a vector as known."""
        if not vector:
            return
        pivot = min(vector, key=lambda i: (len(self.holders[i]), i))
        inverse = pow(vector[pivot], -1, PRIME)
        one, two = self.marked(vector)
        for q in self.holders.pop(pivot):
            own = self.vectors[q]
            amount = -own[pivot] * inverse % PRIME
            mark = self.marks[q]
            self.marks[q] = (mark[0] + amount * one) % PRIME, (mark[1] + amount * two) % PRIME
            for i, x in vector.items():
                before = own.get(i, 0)
                after = (before + amount * x) % PRIME
                if after:
                    own[i] = after
                    if not before:
                        self.holders[i].add(q)
                elif before:
                    del own[i]
                    if i != pivot:
                        self.holders[i].discard(q)


def row_of(matrix: sparse.csr_array, i: int) -> Vector:
    """Return one row of a sparse matrix of whole numbers."""
    at = slice(matrix.indptr[i], matrix.indptr[i + 1])
    return dict(zip(matrix.indices[at].tolist(), matrix.data[at].tolist(), strict=True))


def add(total: Vector, vector: Vector, amount: int) -> None:
    """Add a multiple of a vector over the prime field."""
    for i, x in vector.items():
        new = (total.get(i, 0) + amount * x) % PRIME
        if new:
            total[i] = new
        else:
            total.pop(i, None)


def is_multiple(a: Vector, b: Vector) -> bool:
    """Return True when one of two vectors is a multiple of the other."""
    if not a or not b:
        return True
    if a.keys() != b.keys():
        return False
    first = next(iter(a))
    x, y = a[first], b[first]
    return all((a[i] * y - b[i] * x) % PRIME == 0 for i in a)


def is_combination(vector: Vector, a: Vector, b: Vector, first: int) -> bool:
    """Return True when a vector is a combination of two independent ones, where a has ``first``."""
    if not vector.keys() <= a.keys() | b.keys():
        return False
    # Take multiples of a away so that the coordinate ``first`` is gone from the vector and from b.
    inverse = pow(a[first], -1, PRIME)
    rest, other = dict(vector), dict(b)
    add(rest, a, -vector[first] * inverse)
    add(other, a, -b.get(first, 0) * inverse)
    return is_multiple(rest, other)


# -- kernels: numbers and arrays only -------------------------------------------------------------


def eliminate(
    starts: Ints, rows: Ints, values: Ints, order: Ints, n_rows: int, prime: int
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints]:
    """Bring columns to echelon form in order.

    Returns the step of each pivot row, the column and scale of each step, its kept rows (starts, rows,
    values) and the steps that were taken away from it (starts, steps, factors).
    """
    step_of = np.full(n_rows, -1, dtype=np.int64)
    limit = min(n_rows, len(order))
    column = np.empty(limit, dtype=np.int64)
    scale = np.empty(limit, dtype=np.int64)
    kept_starts = np.zeros(limit + 1, dtype=np.int64)
    used_starts = np.zeros(limit + 1, dtype=np.int64)
    kept_rows = np.empty(4 * n_rows + 16, dtype=np.int64)
    kept_values = np.empty(4 * n_rows + 16, dtype=np.int64)
    used_steps = np.empty(4 * n_rows + 16, dtype=np.int64)
    used_factors = np.empty(4 * n_rows + 16, dtype=np.int64)
    work = np.zeros(n_rows, dtype=np.int64)
    queued = np.zeros(n_rows, dtype=np.bool_)
    heap = [np.int64(0)]
    heap.pop()
    n = 0
    for c in order:
        if n == limit:
            break
        for e in range(starts[c], starts[c + 1]):
            r = rows[e]
            work[r] = (work[r] + values[e]) % prime
            if not queued[r]:
                queued[r] = True
                heapq.heappush(heap, r)
        used = used_starts[n]
        pivot = np.int64(-1)
        while len(heap) > 0:
            r = heapq.heappop(heap)
            queued[r] = False
            x = work[r]
            if x == 0:
                continue
            j = step_of[r]
            if j < 0:
                pivot = r
                break
            for e in range(kept_starts[j], kept_starts[j + 1]):
                s = kept_rows[e]
                work[s] = (work[s] + (prime - x) * kept_values[e]) % prime
                if s != r and not queued[s]:
                    queued[s] = True
                    heapq.heappush(heap, s)
            if used == len(used_steps):
                used_steps = np.concatenate((used_steps, np.empty_like(used_steps)))
                used_factors = np.concatenate((used_factors, np.empty_like(used_factors)))
            used_steps[used] = j
            used_factors[used] = x
            used += 1
        if pivot < 0:
            continue
        # The inverse of the pivot by Euclid's algorithm.
        a, b, u, v = work[pivot], prime, np.int64(1), np.int64(0)
        while b != 0:
            q = a // b
            a, b = b, a - q * b
            u, v = v, u - q * v
        inverse = u % prime
        kept = kept_starts[n]
        if kept + len(heap) + 1 > len(kept_rows):
            more = np.empty(len(kept_rows) + len(heap) + 1, dtype=np.int64)
            kept_rows = np.concatenate((kept_rows, more))
            kept_values = np.concatenate((kept_values, more))
        kept_rows[kept] = pivot
        kept_values[kept] = 1
        work[pivot] = 0
        kept += 1
        for r in heap:
            queued[r] = False
            if work[r] != 0:
                kept_rows[kept] = r
                kept_values[kept] = work[r] * inverse % prime
                work[r] = 0
                kept += 1
        heap.clear()
        step_of[pivot] = n
        column[n] = c
        scale[n] = inverse
        n += 1
        kept_starts[n] = kept
        used_starts[n] = used
    return (
        step_of,
        column[:n],
        scale[:n],
        kept_starts[: n + 1],
        kept_rows[: kept_starts[n]],
        kept_values[: kept_starts[n]],
        used_starts[: n + 1],
        used_steps[: used_starts[n]],
        used_factors[: used_starts[n]],
    )


def solve(
    starts: Ints,
    rows: Ints,
    values: Ints,
    n_rows: int,
    step_of: Ints,
    column: Ints,
    scale: Ints,
    kept_starts: Ints,
    kept_rows: Ints,
    kept_values: Ints,
    used_starts: Ints,
    used_steps: Ints,
    used_factors: Ints,
    prime: int,
) -> tuple[Ints, Ints, Ints]:
    """Write right-hand sides as combinations of the columns of the steps."""
    work = np.zeros(n_rows, dtype=np.int64)
    queued = np.zeros(n_rows, dtype=np.bool_)
    amount = np.zeros(len(column), dtype=np.int64)
    waiting = np.zeros(len(column), dtype=np.bool_)
    heap = [np.int64(0)]
    heap.pop()
    ends = np.zeros(len(starts), dtype=np.int64)
    out_steps = np.empty(16 + 4 * len(starts), dtype=np.int64)
    out_values = np.empty(16 + 4 * len(starts), dtype=np.int64)
    m = 0
    for k in range(len(starts) - 1):
        for e in range(starts[k], starts[k + 1]):
            r = rows[e]
            work[r] = (work[r] + values[e]) % prime
            if not queued[r]:
                queued[r] = True
                heapq.heappush(heap, r)
        later = [np.int64(0)]
        later.pop()
        while len(heap) > 0:
            r = heapq.heappop(heap)
            queued[r] = False
            x = work[r]
            work[r] = 0
            j = step_of[r]
            if x == 0 or j < 0:
                continue
            for e in range(kept_starts[j] + 1, kept_starts[j + 1]):
                s = kept_rows[e]
                work[s] = (work[s] + (prime - x) * kept_values[e]) % prime
                if not queued[s]:
                    queued[s] = True
                    heapq.heappush(heap, s)
            amount[j] = x
            waiting[j] = True
            heapq.heappush(later, -j)
        while len(later) > 0:
            j = -heapq.heappop(later)
            waiting[j] = False
            y = amount[j] * scale[j] % prime
            amount[j] = 0
            if y == 0:
                continue
            for e in range(used_starts[j], used_starts[j + 1]):
                i = used_steps[e]
                amount[i] = (amount[i] + (prime - y) * used_factors[e]) % prime
                if not waiting[i]:
                    waiting[i] = True
                    heapq.heappush(later, -i)
            if m == len(out_steps):
                out_steps = np.concatenate((out_steps, np.empty_like(out_steps)))
                out_values = np.concatenate((out_values, np.empty_like(out_values)))
            out_steps[m] = j
            out_values[m] = y
            m += 1
        ends[k + 1] = m
    return ends, out_steps[:m], out_values[:m]


KERNELS = Kernels(globals(), eliminate, solve)
