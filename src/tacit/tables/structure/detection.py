"""Block-angular structure of the relations of a table: finding and judging it."""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from scipy import sparse

from tacit.arrays import Floats, Ints
from tacit.data.cells.dimension import Dimension
from tacit.data.cells.relations import components
from tacit.data.table import Table
from tacit.errors import Approximate, InputError, InvalidParameter
from tacit.plot.chart import Chart
from tacit.plot.spy import spy
from tacit.tables.structure.hypergraph import Hypergraph, cut_nets
from tacit.tables.structure.partition import EXACT, Options, Step, Way, partition, upper_limit

Form = Literal["dual", "primal"]
Weight = Literal["unit", "nonzeros"]
#: A table, or a matrix of relations by cells: sparse or dense.
Relations: TypeAlias = Any

#: Relations and cells up to which the rank of a matrix without dimensions is computed.
RANKED = 2500


@dataclass(frozen=True, eq=False)
class Structure:
    """Diagonal blocks and a border: A permuted is [A_1 .. A_k | L] (dual) or [A_1 .. A_k / L] (primal).

    Attributes
    ----------
    matrix
        A: relations by cells.
    form
        ``dual``: the border are linking columns (cells); ``primal``: linking rows (relations).
    k
        Number of diagonal blocks.
    row_block, column_block
        The block of each row and column; -1 in the border.
    method, eps, seed
        How it was found. All methods but ``exact`` are heuristics: a narrower border may exist.
    seconds
        Time it took.
    history
        What each stage came to: split, stage, vertices and cut.
    """

    matrix: sparse.csr_array
    form: Form
    k: int
    row_block: Ints
    column_block: Ints
    method: Way = "multilevel"
    eps: float = 0.1
    seed: int | None = None
    seconds: float = 0.0
    history: tuple[Step, ...] = ()

    @functools.cached_property
    def row_order(self) -> Ints:
        """Return the rows block by block, linking ones last, each in the original order."""
        return order_by_block(self.row_block, self.k)

    @functools.cached_property
    def column_order(self) -> Ints:
        """Return the columns block by block, linking ones last."""
        return order_by_block(self.column_block, self.k)

    @functools.cached_property
    def row_bounds(self) -> Ints:
        """Return where each block of rows begins, and where the last one ends."""
        return bounds(self.row_block, self.k)

    @functools.cached_property
    def column_bounds(self) -> Ints:
        """Return where each block of columns begins, and where the last one ends."""
        return bounds(self.column_block, self.k)

    @functools.cached_property
    def linking(self) -> Ints:
        """Return the linking columns (dual) or rows (primal), in the original numbering."""
        return np.flatnonzero((self.column_block if self.form == "dual" else self.row_block) < 0)

    @property
    def l(self) -> int:  # noqa: E743
        """Return the size of the border."""
        return len(self.linking)

    @property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """Return the rows and columns of each block: m_i, n_i."""
        rows, columns = np.diff(self.row_bounds), np.diff(self.column_bounds)
        return tuple((int(r), int(c)) for r, c in zip(rows, columns, strict=True))

    @property
    def share_of_columns(self) -> float:
        """Return l / n."""
        return self.l / max(1, self.matrix.shape[1])

    @property
    def share_of_rows(self) -> float:
        """Return l / m."""
        return self.l / max(1, self.matrix.shape[0])

    @property
    def share(self) -> float:
        """Return the border as a share of its own dimension: l / n in dual form, l / m in primal."""
        return self.share_of_columns if self.form == "dual" else self.share_of_rows

    @property
    def balance(self) -> float:
        """Return the largest block's share of vertices times k; 1 is perfectly even."""
        of = self.row_block if self.form == "dual" else self.column_block
        counts = np.bincount(of[of >= 0], minlength=self.k)
        return float(counts.max() * self.k / max(1, counts.sum()))

    def permuted(self) -> sparse.csr_array:
        """Return the matrix with its rows and columns reordered."""
        return sparse.csr_array(self.matrix[self.row_order][:, self.column_order])

    def block(self, i: int) -> sparse.csr_array:
        """Return the diagonal block A_i."""
        rows, columns = self.row_block == i, self.column_block == i
        return sparse.csr_array(self.matrix[rows][:, columns])

    def border(self) -> sparse.csr_array:
        """Return the linking columns (dual, rows in block order) or rows (primal)."""
        if self.form == "dual":
            return sparse.csr_array(self.matrix[self.row_order][:, self.linking])
        return sparse.csr_array(self.matrix[self.linking][:, self.column_order])

    def stray(self) -> int:
        """Return how many entries lie outside the blocks and the border: 0."""
        coo = self.matrix.tocoo()
        r, c = self.row_block[coo.coords[0]], self.column_block[coo.coords[1]]
        return int(((r >= 0) & (c >= 0) & (r != c) & (coo.data != 0)).sum())

    @property
    def frame(self) -> nw.DataFrame[Any]:
        """Return the table of sizes: one row per block, the border last."""
        m, n = self.matrix.shape
        rows = []
        for i, (m_i, n_i) in enumerate(self.sizes):
            rows.append(size_row(f"block {i + 1}", m_i, n_i, self.block(i).nnz, m, n))
        high, wide = (m, self.l) if self.form == "dual" else (self.l, n)
        rows.append(size_row("linking", high, wide, self.border().nnz, m, n))
        return nw.from_native(pa.Table.from_pylist(rows), eager_only=True)

    def plot(self) -> Chart:
        """Return a picture of the reordered matrix with the borders of its blocks."""
        return spy(
            self.permuted(),
            title=f"{self.form.capitalize()} block-angular, k = {self.k}",
            subtitle=f"{self.l:,} linking {self.border_words} ({self.share:.1%})",
            row_bounds=self.row_bounds.tolist(),
            column_bounds=self.column_bounds.tolist(),
            words=str(self),
        )

    def plot_original(self) -> Chart:
        """Return a picture of the matrix as it came."""
        return spy(self.matrix, title="Relations in their original order")

    @property
    def border_words(self) -> str:
        """Return what the border consists of."""
        return "columns" if self.form == "dual" else "rows"

    def __str__(self) -> str:
        sizes = ", ".join(f"{m:,} x {n:,}" for m, n in self.sizes)
        return (
            f"{self.form} block-angular, {self.k} blocks ({sizes}), "
            f"{self.l:,} linking {self.border_words} ({self.share:.1%})"
        )

    __repr__ = __str__


def size_row(name: str, rows: int, columns: int, entries: int, m: int, n: int) -> dict[str, Any]:
    """Return one row of the table of sizes."""
    return {
        "part": name,
        "rows": rows,
        "columns": columns,
        "entries": entries,
        "percent of rows": 100 * rows / max(1, m),
        "percent of columns": 100 * columns / max(1, n),
    }


def order_by_block(block: Ints, k: int) -> Ints:
    """Return positions by block, the border last."""
    return np.argsort(np.where(block < 0, k, block), kind="stable").astype(np.int64)


def bounds(block: Ints, k: int) -> Ints:
    """Return where each block begins in that order."""
    counts = np.bincount(block[block >= 0], minlength=k)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


# -- finding -----------------------------------------------------------------------------------------


def detect_structure(
    relations: Relations,
    form: Literal["dual", "primal", "best"] = "dual",
    k: int = 2,
    eps: float = 0.1,
    method: Way = "multilevel",
    coarsest: int = 80,
    splits: Sequence[int] | None = None,
    vertex_weight: Weight = "unit",
    runs: int = 4,
    seed: int | None = None,
    refinement: bool = True,
    tick: Callable[[], None] | None = None,
) -> Structure:
    r"""Reorder the relations of a table into k diagonal blocks and a thin border.

    In *dual* form the rows are partitioned; the net of a column is the set of rows in which it has an
    entry, and a column is linking when its net touches more than one block. The *primal* form is the same
    on the transposed matrix: columns are partitioned and cut rows are linking. (The one ordering is not
    the transpose of the other.) Among partitions into blocks of at most
    :math:`\lceil (1+\varepsilon) m / k \rceil` rows, one with few linking columns is sought by a
    multilevel heuristic: rows that share many columns are merged, the small matrix is cut by passes of
    moves with the largest gain (Kernighan and Lin; Fiduccia and Mattheyses), and the cut is refined on the
    way back; then descents that keep the best cut follow. For a table that is a product of dimensions
    the best cuts along each of them are tried as well. Connected components are never cut while they fit.

    Parameters
    ----------
    relations
        A table, or a matrix of relations by cells.
    form
        ``best`` takes the one with the border that is thinner in its own dimension (l/n against l/m).
    k
        Number of blocks.
    eps
        Imbalance that is allowed.
    method
        ``single_level`` works on the whole matrix without coarsening; ``exact`` tries every bipartition
        (at most 20 rows or columns with entries, empty ones as many as there are; for k > 2 each bisection is optimal, their sequence need not be);
        ``mtkahypar`` asks that package, where it is installed.
    coarsest
        Number of merged rows at which coarsening stops.
    splits
        A plan of bisections in place of k: the number of the block to cut next, in turn. The halves of
        block b are then b and b + 1; each has at most (1 + eps)/2 of it.
    vertex_weight
        What balance counts: rows (columns in primal form), or their entries.
    runs
        Descents with other matchings and starts; the best is kept.
    seed
        Seed of the random choices.
    refinement
        Whether every level is refined on the way back, or the finest only.
    tick
        Called now and then; it may raise to stop.

    Returns
    -------
    Structure
        With the permutations, sizes, border, history and pictures.

    References
    ----------
    Castro and Baena (2006), Automatic structure detection in constraints of tabular data, PSD 2006, LNCS
    4302, 12-24. Its Table 3 is headed 100 l/m but prints 100 l/n in all 15 rows: the real shares of linking
    rows run from 8.3 (five20b) to 38.9 per cent (hier16), not to 59.8. Percentages there are truncated.
    Table 1 lists hier13x7x7d (n = 637), Tables 2 to 5 use hier13x13x7d (n = 1183, m = 1443). In its
    definition of a partition {1, ..., n} should read {1, ..., m}.
    Fiduccia and Mattheyses (1982), A linear-time heuristic for improving network partitions, DAC, 175-181.
    """
    matrix = matrix_of(relations)
    k = len(splits) + 1 if splits is not None else k
    check(k, eps, method, coarsest, runs, form, vertex_weight)
    if form == "best":
        both = [
            detect_structure(
                relations, f, k, eps, method, coarsest, splits, vertex_weight, runs, seed,
                refinement, tick,
            )
            for f in get_args(Form)
        ]  # fmt: skip
        return min(both, key=lambda s: s.share)
    begun = time.perf_counter()
    if matrix.shape[0] == 1:
        warnings.warn(
            Approximate("a single relation has no blocks: the structure is returned with k = 1"),
            stacklevel=2,
        )
        k, splits = 1, None
    vertices = matrix.shape[0 if form == "dual" else 1]
    if k > vertices:
        what = "rows (relations)" if form == "dual" else "columns (cells)"
        raise InvalidParameter(f"k must be at most the number of {what}, {vertices:,} (got {k})")
    options = Options(
        np.random.default_rng(seed), method, coarsest, runs, refinement, tick=tick or (lambda: None)
    )
    pattern = matrix if form == "dual" else sparse.csr_array(matrix.T)
    places = dimension_places(relations, form) if method == "multilevel" else []
    vertex, net = blocks_of(pattern, k, eps, vertex_weight, options, splits, places)
    found = Structure(
        matrix,
        form,
        k,
        vertex if form == "dual" else net,
        net if form == "dual" else vertex,
        method,
        eps,
        seed,
        time.perf_counter() - begun,
        tuple(options.history),
    )
    if splits is None:
        warn_of_weight(found, vertex, pattern, vertex_weight)
    return found


def matrix_of(relations: Relations) -> sparse.csr_array:
    """Return the matrix of relations by cells, if it is one."""
    given: Any = relations.equations if isinstance(relations, Table) else relations
    if not sparse.issparse(given):
        given = np.asarray(given)
        if given.ndim != 2 or given.dtype.kind not in "biuf":
            raise InputError(
                "the relations must be a table, or a two-dimensional matrix of numbers"
            )
    if len(given.shape) != 2:
        raise InputError("the relations must be a two-dimensional matrix")
    matrix = sparse.csr_array(given, dtype=np.float64)
    matrix.sum_duplicates()
    if np.isnan(matrix.data).any():
        raise InputError("the matrix of relations has entries that are not numbers")
    matrix.eliminate_zeros()
    if not min(matrix.shape) or not matrix.nnz:
        raise InputError("the matrix of relations is empty: there is no structure to find")
    return matrix


def check(
    k: int, eps: float, method: str, coarsest: int, runs: int, form: str, vertex_weight: str
) -> None:
    """Raise an error that names every parameter out of bounds."""
    faults = [
        text
        for wrong, text in (
            (k < 2, f"k must be at least 2 (got {k})"),
            (not eps >= 0, f"eps must be at least 0 (got {eps})"),
            (coarsest < 2, f"coarsest must be at least 2 (got {coarsest})"),
            (runs < 1, f"runs must be at least 1 (got {runs})"),
            (method not in get_args(Way), f"method must be one of {', '.join(get_args(Way))}"),
            (form not in ("dual", "primal", "best"), "form must be one of dual, primal, best"),
            (vertex_weight not in get_args(Weight), "vertex_weight must be unit or nonzeros"),
        )
        if wrong
    ]
    if faults:
        raise InvalidParameter("detect_structure: " + "; ".join(faults), faults)


def blocks_of(
    pattern: sparse.csr_array,
    k: int,
    eps: float,
    vertex_weight: Weight,
    options: Options,
    splits: Sequence[int] | None,
    places: Sequence[Floats],
) -> tuple[Ints, Ints]:
    """Return the block of each row of a pattern and of each column, -1 for linking ones.

    Empty rows count as rows, and may lie anywhere; empty columns go to the smallest blocks.
    """
    degree = np.diff(pattern.indptr)
    full = (
        np.arange(len(degree))
        if vertex_weight == "unit" or options.way == "exact"
        else np.flatnonzero(degree)
    )
    inner = sparse.csr_array(pattern[full])
    weight = degree[full].astype(np.int64) if vertex_weight == "nonzeros" else None
    entries = int(np.count_nonzero(degree))
    if options.way == "exact" and entries > EXACT:
        raise InvalidParameter(
            f"method 'exact' takes at most {EXACT} rows or columns with entries (got {entries:,}); "
            "use method='multilevel'"
        )
    graph = Hypergraph.of(inner, weight)
    part = partition(graph, k, eps, options, splits=splits, places=[p[full] for p in places])
    vertex = np.full(pattern.shape[0], -1, dtype=np.int64)
    vertex[full] = part
    spread_out(vertex, k)
    none_empty(vertex, degree, k)
    cut = cut_nets(pattern, vertex)
    net = np.full(pattern.shape[1], -1, dtype=np.int64)
    coo = pattern.tocoo()
    net[coo.coords[1]] = vertex[coo.coords[0]]
    spread_out(net, k)
    net[cut] = -1
    return vertex, net


def spread_out(block: Ints, k: int) -> None:
    """Give what has no block yet to the smallest blocks (changes ``block``)."""
    lonely = np.flatnonzero(block < 0)
    if not len(lonely):
        return
    counts = np.bincount(block[block >= 0], minlength=k)
    # Fill up to a common level: equal to giving each in turn to the smallest.
    order = np.argsort(counts, kind="stable")
    room = np.repeat(order, np.maximum(0, counts.max() - counts[order]))
    steps = np.concatenate([np.arange(counts.max() - counts[b]) + counts[b] for b in order])
    turns = room[np.argsort(steps, kind="stable")][: len(lonely)]
    rest = np.arange(len(lonely) - len(turns)) % k
    block[lonely] = np.concatenate([turns, rest])


def none_empty(vertex: Ints, degree: Ints, k: int) -> None:
    """Move single vertices from the largest blocks into empty ones (changes ``vertex``)."""
    counts = np.bincount(vertex, minlength=k)
    for b in np.flatnonzero(counts == 0):
        big = int(np.argmax(counts))
        if counts[big] < 2:
            return
        own = np.flatnonzero(vertex == big)
        vertex[own[np.argmin(degree[own])]] = b
        counts[big] -= 1
        counts[b] += 1


def warn_of_weight(
    found: Structure, vertex: Ints, pattern: sparse.csr_array, vertex_weight: Weight
) -> None:
    """Warn when a block is heavier than was asked for."""
    degree = np.diff(pattern.indptr)
    weight = degree if vertex_weight == "nonzeros" else np.ones(len(vertex), dtype=np.int64)
    held = np.bincount(vertex, weights=weight, minlength=found.k)
    limit = upper_limit(int(weight.sum()), found.k, found.eps)
    if held.max() > limit:
        warnings.warn(
            Approximate(
                f"the largest block weighs {int(held.max()):,}, more than {limit:,}: no partition "
                f"within eps = {found.eps:g} was found; allow a larger eps"
            ),
            stacklevel=3,
        )


def dimension_places(relations: Relations, form: Form) -> list[Floats]:
    """Return, for each dimension of a product table, the place of each cell (relation) along it."""
    if not isinstance(relations, Table) or not relations.is_product:
        return []
    places = []
    for axis, dimension in enumerate(relations.dimensions):
        if len(dimension) < 2:
            continue
        along = tree_order(dimension)[relations.places[:, axis]]
        if form == "dual":
            ones = abs(relations.equations)
            ones.data[:] = 1.0
            size = np.maximum(1.0, np.diff(ones.indptr))
            along = np.round((ones @ along) / size, 6)
        places.append(along)
    return places


def tree_order(dimension: Dimension) -> Floats:
    """Return the place of each code when a parent stands in the middle of its children."""
    below: dict[int, Sequence[int]] = {}
    for s in dimension.sums:
        below.setdefault(s.parent, s.children)
    place = np.full(len(dimension), -1.0)
    count = 0
    for root in dimension.roots:
        stack = [root]
        while stack:
            code = stack.pop()
            if place[code] >= 0:
                continue
            place[code] = count
            count += 1
            stack.extend(reversed(below.get(code, ())))
    for code in np.argsort(-dimension.depth, kind="stable"):
        children = below.get(int(code), ())
        if children:
            place[code] = float(np.median(place[list(children)]))
    return place


# -- facts -------------------------------------------------------------------------------------------


def independent_rows(dimensions: Sequence[Dimension]) -> Ints:
    """Return rows of a product's relations that are independent and imply all others.

    One relation per parent, and those of a dimension only where the codes of all earlier dimensions are
    ground codes: parents follow from ground codes, so that the relations are triangular. Their number is
    the rank.
    """
    sizes = [len(d) for d in dimensions]
    kept, offset = [], 0
    for axis, d in enumerate(dimensions):
        if not d.sums:
            continue
        earlier = np.zeros(1, dtype=np.int64)
        for e in dimensions[:axis]:
            earlier = (earlier[:, None] * len(e) + e.leaves[None, :]).ravel()
        parents = np.array([s.parent for s in d.sums])
        own = np.sort(np.unique(parents, return_index=True)[1])
        after = int(np.prod(sizes[axis + 1 :]))
        grid = (earlier[:, None] * len(d.sums) + own[None, :]).ravel()
        kept.append(offset + (grid[:, None] * after + np.arange(after)[None, :]).ravel())
        offset += int(np.prod(sizes[:axis])) * len(d.sums) * after
    return np.sort(np.concatenate(kept)) if kept else np.zeros(0, dtype=np.int64)


def statistics(relations: Relations) -> dict[str, int | None]:
    """Return the numbers of cells n, relations m, entries, rank and connected components.

    The rank of a product table follows from its dimensions; otherwise it is computed for matrices of
    moderate size only, and None for larger ones.
    """
    matrix = matrix_of(relations)
    m, n = matrix.shape
    rank: int | None = None
    if isinstance(relations, Table) and relations.is_product:
        rank = len(independent_rows(relations.dimensions))
    elif min(m, n) <= RANKED and m * n <= 4 * RANKED**2:
        rank = int(np.linalg.matrix_rank(matrix.toarray()))
    return {"n": n, "m": m, "nnz": matrix.nnz, "rank": rank, "components": components(matrix)[0]}
