"""What an attacker knows of a table as published, and the intervals that follow."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.claims.outsiders import outsider_bounds
from tacit.claims.tables.rounded import is_total
from tacit.data.base import Action
from tacit.data.cells.relations import TOLERANCE
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.registry import lookup
from tacit.tables.attack.attacker import Attacker
from tacit.tables.attack.reach import Tick, Wants, answer_wants
from tacit.tables.attack.systems import System
from tacit.tables.suppress.problem import (
    Problem,
    in_whole_units,
    problem_of,
    subtable_equations,
)

#: Claims that say to which multiples values were rounded, and how far.
ROUNDINGS = ("rounded", "adjacent-multiples")
SMALL_COUNTS = "no-small-counts"


@dataclass(frozen=True, eq=False)
class Knowledge:
    """The needs of a table's unsafe cells, and what outsiders know of all cells."""

    #: Needs by the table; ``down`` and ``up`` as far as the attacker's bounds allow.
    problem: Problem
    hidden: Flags  # cells whose exact value is not published


def knowledge_of(
    table: Table,
    *,
    nonnegative: bool = False,
    rounding_base: float | None = None,
    within: float | None = None,
    singletons: bool = True,
) -> Knowledge:
    """Return what an attacker knows of a table as published: changed values and intervals are read from it.

    What outsiders know of changed values follows from the public parameters in its history, unless it is given here: that
    values are ``nonnegative``, that each published one lies less than a ``rounding_base``, or ``within`` a share of itself,
    from the truth. With ``singletons``, respondents attack as well.

    An error is raised when the truth lies outside what the attacker is said to know.
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
    """How far cells can move: shown by a movement, and proven to be the most."""

    cells: Ints
    down: Floats  # movements that are possible
    up: Floats
    #: Movements beyond which none is; equal to the former unless the time limit was reached.
    most_down: Floats
    most_up: Floats
    #: A millionth of this is no movement: 1, or the middle of the table's values where that is less.
    unit: float = field(default=1.0, kw_only=True)

    @property
    def ends(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return how far down and up, as shown and at most."""
        return self.down, self.up, self.most_down, self.most_up

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
    sizes = np.abs(problem.table.value[problem.table.value != 0])
    unit = min(1.0, float(np.median(sizes))) if len(sizes) else 1.0
    shown_down, shown_up = -low[chosen], high[chosen]
    most_down = np.maximum(-outer_low[chosen], shown_down)
    most_up = np.maximum(outer_high[chosen], shown_up)
    ends = [tidy_movements(a, unit) for a in (shown_down, shown_up, most_down, most_up)]
    return Intervals(s.cells[chosen], *ends, unit=unit)


def all_of(system: System, chosen: Ints) -> dict[int, Wants]:
    """Return the wish for the whole intervals of the unknowns behind some hidden cells, by block."""
    wants = {}
    for i, own in system.by_block(chosen):
        b, place = system.blocks[i], system.place[own]
        wants[i] = w = Wants.nothing(b.n)
        w.low[place], w.high[place] = -b.outer_low[place], b.outer_high[place]
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
        blocks.append(subtable_equations(p.table.dimensions, sub))
    if not copies:
        copies, blocks = [np.zeros(0, dtype=np.int64)], [sparse.csr_array((0, 0))]
    origin = np.concatenate(copies)
    equations = sparse.csr_array(sparse.block_diag(blocks, format="csr"))
    return Knowledge(p.of_cells(origin, equations), knowledge.hidden[origin]), origin


def find_least_movement(found: Intervals, origin: Ints) -> Intervals:
    """Return, for each cell, the least that it can move in any of its copies."""
    cells, own = np.unique(origin[found.cells], return_inverse=True)

    def least(values: Floats) -> Floats:
        out = np.full(len(cells), np.inf)
        np.minimum.at(out, own, values)
        return out

    return Intervals(cells, *map(least, found.ends), unit=found.unit)


# -- what the public parameters of the method that changed a table tell outsiders about the true values --
#
# A release says how it was protected. Whoever reads "rounded to base 10" knows that each true value lies less
# than 10 from the published one, and whoever reads "totals kept" knows the totals.


@dataclass(frozen=True, eq=False)
class PublicRange:
    """Where outsiders know the true values to lie."""

    low: Floats  # the range of each cell; infinite where nothing is known
    high: Floats
    #: Values were rounded: a count may lie anywhere in its range, whatever was published.
    rounds: bool = False


def public_range(table: Table) -> PublicRange | None:
    """Return what follows from the last step that changed a table; None when nothing does."""
    if table.changed is None:
        return None
    for action in reversed(table.history):
        if any(c.model in (*ROUNDINGS, SMALL_COUNTS) for c in action.claims):
            return true_only(table, rounded_range(table, action))
        if action.kind == "adjust":
            return true_only(table, adjusted_range(table, action))
        if any("table" in c.about for c in action.claims):
            # Changed in a way whose size stays secret.
            return None
    return None


def true_only(table: Table, found: PublicRange) -> PublicRange:
    """Return ranges without those that a later change by hand has made untrue."""
    slack = 1e-9 * np.maximum(1.0, np.abs(table.value))
    wrong = (table.value < found.low - slack) | (table.value > found.high + slack)
    low, high = np.where(wrong, -np.inf, found.low), np.where(wrong, np.inf, found.high)
    return PublicRange(low, high, found.rounds)


def rounded_range(table: Table, action: Action) -> PublicRange:
    """Return where the truth behind rounded values lies."""
    facts = {c.model: c.parameters for c in action.claims}
    shown = ~np.isnan(table.published)
    published = np.where(shown, table.published, 0.0)
    if SMALL_COUNTS in facts:
        down, up = small_count_steps(table, published, float(facts[SMALL_COUNTS]["base"]))
    else:
        down, up = rounding_steps(table, action, facts[next(m for m in ROUNDINGS if m in facts)])
    low, high = np.where(shown, published - down, -np.inf), np.where(shown, published + up, np.inf)
    return PublicRange(low, high, rounds=True)


def rounding_steps(table: Table, action: Action, claim: Any) -> tuple[Floats, Floats]:
    """Return how far below and above a rounded value the truth may lie."""
    base = float(claim["base"])
    whole = table.frequency and base.is_integer()
    # A multiple that may leave its place can be a whole base away.
    edge = 1.0 if whole and not claim.get("free_zeros") else 0.0
    total = is_total(table.equations)
    bases = np.where(total, int(claim.get("y", 0)) + 1, int(claim.get("max_shift", 1)))
    far = bases * base - edge
    down, up = one_value_steps(action.parameters, base, edge)
    alone = ~total if action.parameters.get("totals") == "sum" else np.ones_like(total)
    one = alone & (bases == 1)
    return np.where(one, down, far), np.where(one, up, far)


def one_value_steps(parameters: Any, base: float, edge: float) -> tuple[float, float]:
    """Return the steps of a value that is rounded by itself, by the rule that is used."""
    rule = parameters.get("rule", parameters.get("mode"))
    if rule == "conventional":
        # Halves go up: of counts, [-2, 2] around a multiple of 5 and [-2, 1] around one of 4.
        return (base // 2, -(-base // 2) - 1) if edge else (base / 2, base / 2)
    if rule == "up":
        return base - edge, 0.0
    return (0.0, base - edge) if rule == "down" else (base - edge, base - edge)


def small_count_steps(table: Table, published: Floats, base: float) -> tuple[Floats, Floats]:
    """Return the steps where only counts below the base were rounded, to 0 or the base."""
    total = is_total(table.equations)
    down = np.where(published == base, base - 1.0, 0.0)
    up = np.where(published == 0, base - 1.0, 0.0)
    return np.where(total, np.inf, down), np.where(total, np.inf, up)


def adjusted_range(table: Table, action: Action) -> PublicRange:
    """Return what is known of an adjusted table: cells that were kept, and the capacity of the others.

    The capacity holds for cells that are not unsafe; outsiders are taken to know which these are, the
    worst case.
    """
    method: Any = lookup(action.kind)(**{k: v for k, v in action.parameters.items() if k != "kind"})
    low, high = np.full(len(table), -np.inf), np.full(len(table), np.inf)
    published, free = table.published, ~table.primary & ~np.isnan(table.published)
    steps = capacity_steps(table, method)
    if steps is not None:
        low = np.where(free, published - steps[0], low)
        high = np.where(free, published + steps[1], high)
    kept: Flags = method.kept_cells(table)
    return PublicRange(np.where(kept, published, low), np.where(kept, published, high))


def capacity_steps(table: Table, method: Any) -> tuple[Floats, Floats] | None:
    """Return how far below and above the published value of a safe cell the truth may lie."""
    limits: list[tuple[Floats, Floats]] = []
    size = np.abs(np.nan_to_num(table.published))
    if method.capacity is not None:
        far = np.full(len(table), float(method.capacity))
        limits.append((far, far))
    if method.capacity_percent is not None:
        # published = true (1 + e) with |e| at most the share.
        share = method.capacity_percent / 100
        above = size * share / (1 - share) if share < 1 else np.full(len(table), np.inf)
        both = np.maximum(size * share / (1 + share), above)
        limits.append((both, both))
    if not limits:
        return None
    return tuple(np.minimum.reduce([pair[i] for pair in limits]) for i in (0, 1))
