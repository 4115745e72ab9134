"""Which values can an entry of a table take, given a release of margins: the engines behind one door."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Floats, Ints
from tacit.data.table import Table
from tacit.errors import InputError, LimitReached
from tacit.tables.attack.reach import ignore_share
from tacit.tables.margins.integer_bounds import EntryRanges, How, entry_ranges
from tacit.tables.margins.integer_systems import System, Tick, no_counts
from tacit.tables.margins.margins import (
    Axis,
    MarginSet,
    Support,
    all_families,
    check_whole_numbers,
    decomposable_bounds,
    find_maximal_supports,
    k_margins,
    list_implied_supports,
    margin_advice,
    margin_matrix,
    read_families,
)
from tacit.tables.margins.nfold import (
    Long,
    Walk,
    graver_basis,
    graver_complexity,
    layer_matrices,
    nfold_optimise,
)

Engine = Literal["auto", "mip", "nfold", "enumerate", "lp"]

#: Marks an entry whose bounds come from a formula: no table was built.
FORMULA = -2


@dataclass(frozen=True, eq=False)
class Question:
    """The ground cells of a table, the margins that are known of it, and bounds."""

    #: The dimensions of the ground cells; empty for a bare system of equations.
    axes: tuple[Axis, ...]
    families: tuple[Support, ...]  # the maximal supports of the published margins
    system: System

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the number of ground codes of each dimension."""
        return tuple(a.size for a in self.axes)

    @property
    def is_plain(self) -> bool:
        """Return True when nothing is known but the margins of flat dimensions."""
        s = self.system
        free = not s.lower.any() and not np.isfinite(s.upper).any()
        return bool(self.axes) and free and all(a.is_flat for a in self.axes)


def question_of_margins(
    margins: MarginSet, *, lower: npt.ArrayLike = 0.0, upper: npt.ArrayLike = np.inf
) -> Question:
    """Ask about the entries of a flat table."""
    low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    system = System.of(
        margins.matrix, margins.right, start=margins.source,
        lower=low.ravel() if low.ndim else low, upper=high.ravel() if high.ndim else high,
    )  # fmt: skip
    return Question(margins.axes, margins.families, system)


def question_of_table(
    table: Table,
    families: Iterable[Iterable[int | str]] | None,
    *,
    groups: bool = True,
    known_zeros: bool = False,
) -> Question:
    """Ask about the ground cells of a product table of counts.

    The families of margins are by default all that sum over one dimension. With ``groups``, the groups of a hierarchical
    dimension are published too where a margin sums over it; ``known_zeros``: cells of status empty are known to be empty.
    """
    if not table.is_product:
        raise InputError(
            "margins are those of a full product of dimensions; for this table ask what it publishes "
            "(margins='published')"
        )
    d = len(table.dimensions)
    top = k_margins(d, d - 1) if families is None else read_families(families, table.names)
    axes = tuple(Axis.of(x, groups=groups) for x in table.dimensions)
    ground = np.flatnonzero(table.ground)
    source = check_whole_numbers(table.value[ground], "the table").astype(np.float64)
    lower, upper = outside_bounds(table, ground)
    if known_zeros:
        upper = np.where(table.empty[ground], 0.0, upper)
    matrix = margin_matrix(axes, top)
    if not matrix.shape[0]:
        raise InputError("the dimensions have no totals: there are no margins to publish")
    system = System.of(matrix, matrix @ source, lower=lower, upper=upper, start=source)
    return Question(axes, top, system)


def question_of_pattern(table: Table) -> tuple[Question, Ints]:
    """Ask about the hidden cells of a table of counts, all others being published; also return them."""
    if table.changed is not None:
        raise InputError(
            "the table publishes changed values, not the true ones: use audit for its intervals"
        )
    values = check_whole_numbers(table.value, "the table").astype(np.float64)
    hidden = np.flatnonzero(table.hidden)
    m = table.equations
    if (np.abs(m.data - np.rint(m.data)) > 1e-9).any():
        raise InputError("the relations of the table have coefficients that are not whole numbers")
    part = m.tocsc()[:, hidden].tocsr()
    rows = np.flatnonzero(np.diff(part.indptr))
    part = part[rows]
    lower, upper = outside_bounds(table, hidden)
    start = values[hidden]
    system = System.of(part, part @ start, lower=lower, upper=upper, start=start)
    return Question((), (), system), hidden


def outside_bounds(table: Table, cells: Ints) -> tuple[Floats, Floats]:
    """Return what outsiders know of cells beforehand, in whole numbers and not below 0."""
    lower = np.maximum(0.0, np.ceil(table.lower[cells] - 1e-9))
    return lower, np.floor(table.upper[cells] + 1e-9)


# -- answers -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """How entries are bounded; see :func:`entry_bounds`."""

    engine: Engine = "auto"
    value_set: bool = False
    long_axis: int | None = None
    complexity: int | None = None
    time_limit: float | None = 60.0


def bound_entries(
    question: Question, entries: Ints, options: Options, tick: Tick = ignore_share
) -> tuple[EntryRanges, str]:
    """Bound entries with the engine of the options; also say which way was taken."""
    if options.engine == "auto" and question.is_plain:
        found = closed_form(question, entries, options)
        if found is not None:
            return found, "closed form"
    if options.engine == "nfold":
        return by_layers(question, entries, options, tick), "nfold"
    how: How = "mip" if options.engine == "auto" else options.engine
    # Whether every whole number between the bounds of an entry is known to occur.
    dense = how == "mip" and question.is_plain
    dense = dense and margin_advice(question.shape, question.families).linear_is_exact
    found = entry_ranges(
        question.system, entries, how=how, value_sets=options.value_set and not dense,
        time_limit=options.time_limit, tick=tick,
    )  # fmt: skip
    if dense and options.value_set:
        for e in entries.tolist():
            span = range(int(found.inner_lower[e]), int(found.inner_upper[e]) + 1)
            found.values[e] = (span, bool(found.exact[e]))
    if how == "enumerate":
        add_linear(question, entries, options, found, tick)
    if options.engine == "auto":
        decide_by_layers(question, entries, options, found)
    return found, how


def closed_form(question: Question, entries: Ints, options: Options) -> EntryRanges | None:
    """Bound entries by formula where the family is decomposable; all values in between occur."""
    margins = margins_of(question)
    bounds = decomposable_bounds(margins, entries)
    if bounds is None:
        return None
    n = question.system.matrix.shape[1]
    blank = np.full(n, np.nan)
    low, high = blank.copy(), blank.copy()
    low[entries], high[entries] = bounds
    start = question.system.start
    found = EntryRanges(
        low, high, low.copy(), high.copy(), low.copy(), high.copy(),
        blank if start is None else start,
        low_at=np.full(n, FORMULA), high_at=np.full(n, FORMULA),
        counts=no_counts(),
    )  # fmt: skip
    if options.value_set:
        for e in entries.tolist():
            found.values[e] = (range(int(low[e]), int(high[e]) + 1), True)
    return found


def margins_of(question: Question) -> MarginSet:
    """Return the margins of a plain question as arrays."""
    shape = question.shape
    values, at = [], 0
    for f in question.families:
        sizes = tuple(shape[i] for i in f)
        k = int(np.prod(sizes))
        values.append(question.system.right[at : at + k].astype(np.int64).reshape(sizes))
        at += k
    names = tuple(a.name for a in question.axes)
    return MarginSet(shape, names, question.families, tuple(values))


def add_linear(
    question: Question, entries: Ints, options: Options, found: EntryRanges, tick: Tick
) -> None:
    """Add the bounds of the linear relaxation to what another engine has found."""
    system = replace(question.system, start=found.base)
    linear = entry_ranges(system, entries, how="lp", time_limit=options.time_limit, tick=tick)
    found.linear_lower[entries] = linear.linear_lower[entries]
    found.linear_upper[entries] = linear.linear_upper[entries]
    found.counts["linear programs"] += linear.counts["linear programs"]


# -- n-fold --------------------------------------------------------------------------------------------


def long_walk(question: Question, options: Options, start: Floats) -> tuple[Walk, Ints]:
    """Return the walk over the layers of a question, and the place of each entry in layers x cells.

    A table that has no layers, or whose Graver complexity is not known, is refused.
    """
    if len(question.axes) < 2:
        raise InputError("n-fold programming needs a table of two dimensions or more")
    axis = int(np.argmax(question.shape)) if options.long_axis is None else options.long_axis
    a1, a2 = layer_matrices(question.axes, question.families, axis)
    complexity = options.complexity or graver_complexity(a1, a2)
    if complexity is None:
        raise InputError(
            "the Graver complexity of these layers is not known: give graver_complexity=, or use "
            "engine='mip'"
        )

    def layered(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        moved = np.moveaxis(np.asarray(x).reshape(question.shape), axis, 0)
        return moved.reshape(moved.shape[0], -1)

    s = question.system
    table = Long.of(layered(start), a1, a2, lower=layered(s.lower), upper=layered(s.upper))
    places = layered(np.arange(s.matrix.shape[1]))
    return Walk(table, complexity, graver_basis(a2)), places


def by_layers(question: Question, entries: Ints, options: Options, tick: Tick) -> EntryRanges:
    """Bound entries by n-fold programming: one walk for uniqueness, augmentation for open ends."""
    found = entry_ranges(question.system, entries[:0], time_limit=options.time_limit, tick=tick)
    start = found.base
    walk, places = long_walk(question, options, start)
    table = walk.table
    found.tables.clear()
    found.low_at[:] = found.high_at[:] = -1
    fixed = places[walk.unique()]
    found.lower[fixed] = found.upper[fixed] = start[fixed]
    wanted = np.zeros(len(start), dtype=bool)
    wanted[entries] = True
    cells = np.arange(len(start))
    for k, e in enumerate(entries.tolist()):
        tick(k / len(entries))
        begun = time.monotonic()
        for up in (False, True):
            late = options.time_limit is not None and time.monotonic() - begun > options.time_limit
            inner = found.inner_upper if up else found.inner_lower
            outer = found.upper if up else found.lower
            if late or inner[e] == outer[e]:
                continue
            cost = (places == e).astype(np.float64)
            best = nfold_optimise(table, cost, walk.complexity, maximise=up, walk=walk)
            x = np.empty(len(start))
            x[places] = best
            widen_ranges(found, cells, x)
            outer[e] = x[e]
    if options.value_set:
        # The layers only give the ends of value sets.
        system = replace(question.system, start=start)
        limit = options.time_limit
        more = entry_ranges(system, entries, value_sets=True, time_limit=limit, tick=tick)
        found.values.update(more.values)
    add_linear(question, entries, options, found, tick)
    return found


def widen_ranges(found: EntryRanges, cells: Ints, x: Floats) -> None:
    """Let a table widen the ranges that are known to occur."""
    down, up = x < found.inner_lower, x > found.inner_upper
    found.counts["tables"] += 1
    if down.any() or up.any():
        at = len(found.tables)
        found.tables.append((cells, x))
        found.low_at[down], found.high_at[up] = at, at
        found.inner_lower = np.minimum(found.inner_lower, x)
        found.inner_upper = np.maximum(found.inner_upper, x)


def decide_by_layers(
    question: Question, entries: Ints, options: Options, found: EntryRanges
) -> None:
    """Decide uniqueness by the walk over layers where integer programming ran out of time."""
    open_entries = entries[~found.unique[entries] & ~found.varies[entries]]
    if not len(open_entries) or len(question.axes) < 2:
        return
    try:
        walk, places = long_walk(question, options, found.base)
        unique = places[walk.unique()]
    except (InputError, LimitReached):
        return
    sure = np.intersect1d(unique, open_entries)
    found.lower[sure] = found.upper[sure] = found.base[sure]


# -- functions for users -------------------------------------------------------------------------------


def entry_bounds(
    margins: MarginSet | npt.ArrayLike,
    entries: Iterable[Sequence[int]] | None = None,
    *,
    engine: Engine = "auto",
    value_set: bool = False,
    long_axis: int | None = None,
    graver_complexity: int | None = None,
    time_limit: float | None = 60.0,
    lower: npt.ArrayLike = 0.0,
    upper: npt.ArrayLike = np.inf,
) -> EntryRanges:
    """Return the sharp bounds of entries over all tables of counts with given margins.

    Parameters
    ----------
    margins
        A :class:`MarginSet`, or a flat table without totals, of which all margins that sum over one
        dimension are released.
    entries
        Index tuples; by default all entries.
    engine
        ``auto``: a formula for decomposable families, integer programs otherwise (with the n-fold
        method where they run out of time); ``mip``; ``nfold``; ``enumerate``; ``lp``, which is not exact.
    value_set
        Also find which values between the bounds occur.
    long_axis, graver_complexity
        For the n-fold method: the axis along which layers lie, and the Graver complexity.
    time_limit
        Seconds an entry; what is not settled by then keeps a proven bracket and is never called unique.
    lower, upper
        Further bounds of every entry, in the shape of the table or single numbers.
    """
    known = margins if isinstance(margins, MarginSet) else MarginSet.from_table(margins)
    question = question_of_margins(known, lower=lower, upper=upper)
    n = int(np.prod(known.shape))
    cells = np.arange(n) if entries is None else flat_places(entries, known.shape)
    options = Options(engine, value_set, long_axis, graver_complexity, time_limit)
    return bound_entries(question, cells, options)[0]


def flat_places(entries: Iterable[Sequence[int]], shape: tuple[int, ...]) -> Ints:
    """Return index tuples as positions in C order."""
    listed = [tuple(map(int, e)) for e in entries]
    for e in listed:
        inside = len(e) == len(shape) and all(0 <= i < s for i, s in zip(e, shape, strict=True))
        if not inside:
            raise InputError(f"the entry {e} lies outside a table of shape {shape}")
    return np.array([np.ravel_multi_index(e, shape) for e in listed], dtype=np.int64)


def witness_tables(margins: MarginSet | npt.ArrayLike, entry: Sequence[int]) -> tuple[Ints, Ints]:
    """Return two tables with the given margins, in which an entry is smallest and largest."""
    known = margins if isinstance(margins, MarginSet) else MarginSet.from_table(margins)
    found = entry_bounds(known, [entry], engine="mip")
    low, high = found.witness(int(flat_places([entry], known.shape)[0]))
    return low.astype(np.int64).reshape(known.shape), high.astype(np.int64).reshape(known.shape)


@dataclass(frozen=True)
class FamilyVerdict:
    """What the release of one family of margins would tell about the protected entries.

    Attributes
    ----------
    family
        The supports, by names of dimensions.
    safe
        True when every protected entry is proven to vary by at least the width that was asked for.
    narrowest
        The smallest proven width of a protected entry; a lower bound of it where ``implied``.
    unique, undecided
        Protected entries that take one value only, and those of which that is not known.
    implied
        The verdict follows from that of a finer family.
    largest
        A safe family that is part of no other safe one that was looked at.
    """

    family: tuple[tuple[str, ...], ...]
    safe: bool
    narrowest: float
    unique: int
    undecided: int
    implied: bool
    largest: bool = False

    def __str__(self) -> str:
        words = ", ".join(" x ".join(f) or "the grand total" for f in self.family)
        return f"{words}: {'safe' if self.safe else 'not safe'}"


def margin_families(
    table: Table | npt.ArrayLike,
    protected: Iterable[Any] | None = None,
    *,
    width: float = 1.0,
    candidates: Iterable[Iterable[Iterable[int | str]]] | None = None,
    groups: bool = True,
    time_limit: float | None = 60.0,
    tick: Tick = ignore_share,
) -> list[FamilyVerdict]:
    """Say which families of margins can be released so that no protected entry is given away.

    Families are tried from the finest to the coarsest; whatever follows from a safe family is safe.

    Parameters
    ----------
    table
        A product table of counts, or a flat array without totals.
    protected
        The ground cells that must stay open; by default the unsafe ones of the table, or every cell
        that is not 0 if none is.
    width
        How far the values of a protected entry must be proven to lie apart at least.
    candidates
        The families to try; by default every family up to four dimensions, and families of k-margins
        above.
    groups, time_limit
        See :class:`tacit.EntryUniqueness`.
    """
    full = (
        table
        if isinstance(table, Table)
        else Table.from_array(check_whole_numbers(np.asarray(table), "the table"), totals=False)
    )
    names = full.names
    tried = (
        all_families(len(names))
        if candidates is None
        else [read_families(c, names) for c in candidates]
    )
    tried = sorted(
        {find_maximal_supports(f) for f in tried}, key=lambda f: (-len(list_implied_supports(f)), f)
    )
    cells = find_protected_ground(full, protected)
    verdicts: list[FamilyVerdict] = []
    safe: list[tuple[frozenset[Support], float]] = []
    for k, family in enumerate(tried):
        tick(k / len(tried))
        own = list_implied_supports(family)
        finer = [w for s, w in safe if own <= s]
        labels = tuple(tuple(names[i] for i in f) for f in family)
        if finer:
            verdicts.append(FamilyVerdict(labels, True, max(finer), 0, 0, True))
            continue
        question = question_of_table(full, family, groups=groups)
        found, _ = bound_entries(question, cells, Options(time_limit=time_limit))
        narrowest = float(found.width[cells].min(initial=np.inf))
        good = narrowest >= width
        unique = int(found.unique[cells].sum())
        doubt = int((~found.unique[cells] & ~found.varies[cells]).sum())
        verdicts.append(FamilyVerdict(labels, good, narrowest, unique, doubt, False, good))
        if good:
            safe.append((own, narrowest))
    return verdicts


def find_protected_ground(table: Table, protected: Iterable[Any] | None) -> Ints:
    """Return the protected cells as places among the ground cells."""
    if protected is not None:
        at = table.positions(list(protected))
    elif table.primary.any():
        at = np.flatnonzero(table.primary & table.ground)
    else:
        at = np.flatnonzero(table.ground & (table.value > 0))
    return ground_places(table, at)


def ground_places(table: Table, cells: Ints) -> Ints:
    """Return cells as places among the ground cells; others are refused."""
    outside = cells[~table.ground[cells]]
    if len(outside):
        raise InputError(
            f"{table.describe_cell(int(outside[0]))} is a total, which the margins publish: name ground cells"
        )
    return np.searchsorted(np.flatnonzero(table.ground), cells)


def linear_is_wrong(found: EntryRanges, entries: Ints) -> tuple[Flags, Flags]:
    """Return which entries are unique though linear bounds say they vary, and which are tighter.

    An entry looks safe to the linear relaxation when two whole numbers lie within its bounds.
    """
    low, high = (
        np.ceil(found.linear_lower[entries] - 1e-6),
        np.floor(found.linear_upper[entries] + 1e-6),
    )
    looks_safe = high > low
    tighter = (found.lower[entries] > low) | (found.upper[entries] < high)
    return looks_safe & found.unique[entries], tighter & ~np.isnan(low)
