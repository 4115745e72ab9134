"""What an attacker knows of a table as published, and the intervals that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.claims.outsiders import outsider_bounds
from tacit.data.cells.relations import TOLERANCE, product_equations
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.tables.attack.attacker import Attacker
from tacit.tables.attack.public import PublicRange, public_range
from tacit.tables.attack.reach import Tick, Wants, answer_wants
from tacit.tables.attack.systems import System
from tacit.tables.suppress.problem import Problem, in_whole_units, problem_of


@dataclass(frozen=True, eq=False)
class Knowledge:
    """The needs of a table's unsafe cells, and what outsiders know of all cells.

    Attributes
    ----------
    problem
        Needs by the table; ``down`` and ``up`` as far as the attacker's bounds allow.
    hidden
        Cells whose exact value is not published.
    """

    problem: Problem
    hidden: Flags


def knowledge_of(
    table: Table,
    *,
    nonnegative: bool = False,
    rounding_base: float | None = None,
    within: float | None = None,
    singletons: bool = True,
) -> Knowledge:
    """Return what an attacker knows of a table.

    Parameters
    ----------
    table
        The table; published intervals and changed values are read from it. What outsiders know of
        changed values follows from the public parameters in its history, unless it is given here.
    nonnegative
        It is known that no value is negative.
    rounding_base
        Every published value is known to lie less than this from the truth.
    within
        Every published value is known to lie within this share of itself from the truth.
    singletons
        Respondents attack as well.

    Raises
    ------
    InputError
        When the truth lies outside what the attacker is said to know.
    """
    low, high = map(np.array, outsider_bounds(table))
    if nonnegative:
        low = np.maximum(low, 0.0)
    hidden = table.hidden.copy()
    told = public_range(table) if rounding_base is None and within is None else None
    if told is not None:
        low, high = np.maximum(low, told.low), np.minimum(high, told.high)
    if table.changed is not None:
        low, high = narrow_bounds(table, low, high, rounding_base, within)
        hidden[:] = (~table.empty | table.hidden) & (low < high)
    if table.interval is not None:
        low = np.fmax(low, table.interval[:, 0])
        high = np.fmin(high, table.interval[:, 1])
        # Beside intervals, a cell without one is published as it is.
        exact = np.isnan(table.interval[:, 0]) & ~table.hidden & is_unchanged(table)
        hidden &= ~exact
        low, high = np.where(exact, table.value, low), np.where(exact, table.value, high)
    refuse_outside(table, low, high)
    problem = state_problem(table, low, high, singletons=singletons)
    return Knowledge(anywhere_in_range(problem, told), hidden)


def anywhere_in_range(problem: Problem, told: PublicRange | None) -> Problem:
    """Return the needs of rounded counts as widths: a count can lie anywhere in its range."""
    if told is None or not told.rounds or not problem.table.frequency:
        return problem
    none = np.zeros_like(problem.need_width)
    width = np.maximum(problem.need_down + problem.need_up, problem.need_width)
    return replace(problem, need_down=none, need_up=none, need_width=width)


def is_unchanged(table: Table) -> Flags:
    """Return which cells are published as they are, but for rounding errors."""
    return np.asarray(np.abs(table.published - table.value) <= 1e-9 * np.abs(table.value))


def narrow_bounds(
    table: Table, low: Floats, high: Floats, base: float | None, within: float | None
) -> tuple[Floats, Floats]:
    """Return bounds narrowed to what published values say of the true ones."""
    assert table.changed is not None
    known = ~np.isnan(table.changed)
    given = np.where(known, table.changed, 0.0)
    if base is not None:
        # A count lies less than one base away, so by at most base - 1.
        step = base - 1 if table.frequency and float(base).is_integer() else base
        low = np.where(known, np.maximum(low, given - step), low)
        high = np.where(known, np.minimum(high, given + step), high)
    if within is not None:
        # published = true * (1 + e) with |e| <= within
        ends = np.stack([given / (1 + within), given / (1 - within)])
        low = np.where(known, np.maximum(low, ends.min(axis=0)), low)
        high = np.where(known, np.minimum(high, ends.max(axis=0)), high)
    return low, high


def refuse_outside(table: Table, low: Floats, high: Floats) -> None:
    """Raise when a true value lies outside what the attacker is said to know."""
    slack = TOLERANCE * np.maximum(1.0, np.abs(table.value))
    outside = np.flatnonzero((table.value < low - slack) | (table.value > high + slack))
    if len(outside):
        raise InputError(
            f"{len(outside):,} cells lie outside what the attacker is said to know, the first is "
            f"{table.describe_cell(int(outside[0]))}: check rounding_base, within, nonnegative and "
            "the published intervals."
        )


def state_problem(table: Table, low: Floats, high: Floats, *, singletons: bool) -> Problem:
    """Return the problem with the table's needs and the attacker's bounds; no need is refused."""
    room = np.maximum(table.upper - table.value, 0.0)
    # Upper levels beyond the bounds cannot be met; here that is a finding, not an error.
    problem = problem_of(
        table.with_(upper_level=np.minimum(table.upper_level, room)),
        singletons=singletons,
        published=True,
    )
    upper_level = in_whole_units(table.upper_level) if problem.whole else table.upper_level
    return replace(
        problem,
        down=np.maximum(table.value - low, 0.0),
        up=np.maximum(high - table.value, 0.0),
        need_up=np.where(problem.primary, upper_level, 0.0),
    )


# -- intervals -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Intervals:
    """How far cells can move: shown by a movement, and proven to be the most.

    Attributes
    ----------
    cells
        The cells.
    down, up
        Movements that are possible.
    most_down, most_up
        Movements beyond which none is; equal to the former unless the time limit was reached.
    unit
        A millionth of this is no movement: 1, or less where the table's values are smaller.
    """

    cells: Ints
    down: Floats
    up: Floats
    most_down: Floats
    most_up: Floats
    unit: float = 1.0

    @property
    def exact(self) -> Flags:
        """Return which cells an attacker knows exactly."""
        least = 1e-6 * self.unit
        return np.asarray((self.most_down <= least) & (self.most_up <= least))

    @property
    def proven(self) -> Flags:
        """Return which intervals are the attacker's, and not only between two limits."""
        return are_equal_movements(self.down, self.most_down, self.unit) & are_equal_movements(
            self.up, self.most_up, self.unit
        )


def are_equal_movements(a: Floats, b: Floats, unit: float) -> Flags:
    """Return where two movements are equal."""
    with np.errstate(invalid="ignore"):
        return np.asarray((a == b) | (np.abs(a - b) <= 1e-6 * np.maximum(unit, np.abs(b))))


def unit_of(values: Floats) -> float:
    """Return 1, or the middle of a table's values where that is less."""
    sizes = np.abs(values[values != 0])
    return min(1.0, float(np.median(sizes))) if len(sizes) else 1.0


def intervals_of(
    problem: Problem,
    hidden: Flags,
    tick: Tick,
    *,
    cells: Flags | None = None,
    workers: int | None = None,
    until: float = np.inf,
) -> Intervals:
    """Return how far hidden cells (or those of them in ``cells``) can move."""
    attacker = Attacker(problem, hidden)
    s = attacker.system
    chosen = np.arange(len(s.cells)) if cells is None else np.flatnonzero(cells[s.cells])
    answer_wants(s, all_of(s, chosen), tick, workers=workers, until=until)
    low, high = s.interval()
    outer_low, outer_high = s.interval(inner=False)
    unit = unit_of(problem.table.value)
    shown_down, shown_up = -low[chosen], high[chosen]
    return Intervals(
        s.cells[chosen],
        tidy_movements(shown_down, unit),
        tidy_movements(shown_up, unit),
        tidy_movements(np.maximum(-outer_low[chosen], shown_down), unit),
        tidy_movements(np.maximum(outer_high[chosen], shown_up), unit),
        unit,
    )


def all_of(system: System, chosen: Ints) -> list[Wants | None]:
    """Return the wish for the whole intervals of the unknowns behind some hidden cells."""
    wants: list[Wants | None] = [None] * len(system.blocks)
    moving = chosen[system.block[chosen] >= 0]
    order = moving[np.argsort(system.block[moving], kind="stable")]
    if not len(order):
        return wants
    ids, starts = np.unique(system.block[order], return_index=True)
    for i, own in zip(ids.tolist(), np.split(order, starts[1:]), strict=True):
        b = system.blocks[i]
        asked = np.zeros(b.n, dtype=bool)
        asked[system.place[own]] = True
        everything = Wants.everything(b)
        wants[i] = Wants(
            np.where(asked, everything.low, 0.0),
            np.where(asked, everything.high, 0.0),
            everything.width,
        )
    return wants


def tidy_movements(values: Floats, unit: float) -> Floats:
    """Return movements without the solver's last digits: whole numbers where they are meant."""
    whole = np.rint(values)
    with np.errstate(invalid="ignore"):
        close = np.abs(values - whole) <= 1e-7 * unit * np.maximum(1.0, np.abs(whole))
    return np.maximum(np.where(close, whole, values), 0.0)


# -- subtables -------------------------------------------------------------------------------------------


def by_subtable(knowledge: Knowledge) -> tuple[Knowledge, Ints]:
    """Return the knowledge with each subtable on its own, and the cell behind each copy.

    A cell stands once in every subtable that holds it; subtables without hidden cells are left out.
    """
    p = knowledge.problem
    copies: list[Ints] = []
    blocks: list[sparse.csr_array] = []
    for sub in p.table.subtables():
        flat = sub.cells.ravel()
        if not knowledge.hidden[flat].any():
            continue
        copies.append(flat)
        blocks.append(one_subtable(sub.cells.shape, sub.sums, p.table))
    if not copies:
        copies, blocks = [np.zeros(0, dtype=np.int64)], [sparse.csr_array((0, 0))]
    origin = np.concatenate(copies)
    equations = sparse.csr_array(sparse.block_diag(blocks, format="csr"))
    return Knowledge(copy_problem_cells(p, origin, equations), knowledge.hidden[origin]), origin


def one_subtable(shape: Sequence[int], sums: Sequence[int], table: Table) -> sparse.csr_array:
    """Return the relations of one subtable: the parent stands first on each axis."""
    from tacit.data.cells.dimension import Dimension, Sum

    dimensions = []
    for size, pick, d in zip(shape, sums, table.dimensions, strict=True):
        codes = tuple(map(str, range(size)))
        signs = d.sums[pick].signs if pick >= 0 else ()
        own = (Sum(0, tuple(range(1, size)), signs),) if pick >= 0 else ()
        dimensions.append(Dimension("d", codes, own))
    return product_equations(dimensions)


def copy_problem_cells(problem: Problem, origin: Ints, equations: sparse.csr_array) -> Problem:
    """Return a problem over copies of cells."""
    arrays = (
        "down", "up", "need_down", "need_up", "need_width", "cost", "primary", "forced", "fixed",
    )  # fmt: skip
    return replace(
        problem,
        equations=equations,
        pairs=np.zeros((0, 2), dtype=np.int64),
        **{name: getattr(problem, name)[origin] for name in arrays},
    )


def find_least_movement(found: Intervals, origin: Ints) -> Intervals:
    """Return, for each cell, the least that it can move in any of its copies."""
    cells, own = np.unique(origin[found.cells], return_inverse=True)

    def least(values: Floats) -> Floats:
        out = np.full(len(cells), np.inf)
        np.minimum.at(out, own, values)
        return out

    return Intervals(
        cells,
        least(found.down),
        least(found.up),
        least(found.most_down),
        least(found.most_up),
        found.unit,
    )
