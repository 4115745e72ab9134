"""The mixed strategy: agencies suppress, federal cells are adjusted and published with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from tacit.arrays import Flags, Floats, Ints
from tacit.claims import Claim
from tacit.claims.outsiders import describe_outsiders
from tacit.context import Context
from tacit.data.cells.dimension import steps_below
from tacit.data.cells.status import Status
from tacit.data.table import Table
from tacit.errors import Infeasible, LimitReached
from tacit.numerics.elementary import ten_to
from tacit.registry import register
from tacit.tables.agencies.coordinate import (
    Agencies,
    by_name,
    known_method,
    method_of,
    suppression_of,
)
from tacit.tables.agencies.coordination import (
    Regions,
    Work,
    forbid_hiding,
    number_others,
    part_of,
    regions_of,
)
from tacit.tables.attack.attacker import shortfalls
from tacit.tables.attack.exactness import deducing_pairs
from tacit.tables.suppress.moves.routes import Routes
from tacit.tables.suppress.problem import Problem, problem_of
from tacit.tables.suppress.repair import repair
from tacit.tables.suppress.suppression import protect_from_respondents, with_far_pairs

#: A change below this share of the value is no change.
SAME = 1e-9


@register
class MixedStrategy(Agencies):
    """Let agencies suppress, and publish federal cells adjusted, with intervals, or not at all.

    1. Every agency protects its own part alone.
    2. Federal cells are adjusted (controlled tabular adjustment): sensitive are those that are unsafe,
       or whose position exactly one agency hides; cells above published cells only stay.
    3. A federal cell that was changed by D is published as the adjusted value with an interval whose ends
       are multiples of the base 10^floor(log10 D), rounded outwards from the true and the adjusted
       value; with probability ``widen`` one base is added on the side of the true value. With ``cover``
       it also reaches as far as the movements that protect the unsafe cells need it, each way stretched
       by a random factor between 1 and 2, so that its middle does not point to the truth; federal
       cells that have to move for that are sensitive as well.
    4. An attacker with all relations and all these intervals is tried. A position found under-protected
       is suppressed on the federal level, and so is what else it takes; suppressed positions have neither
       interval nor adjusted value.

    The result is proven on all relations of the table together.

    References
    ----------
    Giessing and Dittrich (2006), Harmonizing table protection: results of a study, PSD 2006, LNCS
    4302, 35-47, section 4.
    """

    kind: Literal["mixed_strategy"] = "mixed_strategy"
    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = (
        "cell suppression",
        "controlled tabular adjustment",
        "interval publication",
    )
    example: ClassVar[Mapping[str, Any]] = {"region": "region"}

    adjust: Annotated[dict[str, Any], BeforeValidator(by_name), known_method("adjust")] = Field(
        default={"kind": "adjust"}, description="the method of adjustment, with its parameters"
    )
    widen: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.5, description="probability of one more base on the side of the true value"
    )
    cover: bool = Field(
        default=True,
        description="make intervals as wide as unsafe cells need them; else they are only rounded, and "
        "what they expose is suppressed",
    )
    least: Annotated[float, Field(gt=0)] = Field(
        default=1.0,
        description="level of a position that one agency hides only to protect others, in per cent of "
        "the agency's value",
    )

    def _apply(self, table: Table, ctx: Context) -> Table:
        regions = regions_of(table, self.region, self.agencies)
        engine = suppression_of(self.engine)
        work = Work(table, regions, engine, ctx)
        federal = regions.of(table) < 0
        hidden = work.patterns_alone() & ~federal
        plan = sensitive_positions(table, hidden, regions, self.least / 100)
        if self.cover:
            plan = self._covered(work, hidden, plan)
        ctx.tick("adjusting federal cells", None)
        adjusted = self._adjust_federal_cells(work, plan)
        interval = self._intervals(table, adjusted, plan, ctx)
        ctx.tick("auditing with intervals", None)
        out = self._safe(work, Publication(hidden, federal, interval))
        return self._published(table, adjusted, plan, out, ctx)

    def _covered(self, work: Work, hidden: Flags, plan: Plan) -> Plan:
        """Return the plan with all federal cells that have to move, and how far they have to."""
        table, federal = work.table, work.regions.of(work.table) < 0
        found = compute_needed_movements(work, hidden, federal)
        if found is None:
            # Says which cells of agencies would help.
            work.federal_step(hidden)
            return plan
        down, up = found
        small = self.least / 100 * np.abs(table.value)
        moves = federal & ((down > 0) | (up > 0)) & ~table.empty & ~table.fixed
        new = moves & ~plan.sensitive
        return Plan(
            plan.sensitive | moves,
            plan.still & ~moves,
            np.where(new, np.minimum(np.where(down > 0, down, up), small), plan.down),
            np.where(new, np.minimum(np.where(up > 0, up, down), small), plan.up),
            np.maximum(plan.far_down, np.where(moves, down, 0.0)),
            np.maximum(plan.far_up, np.where(moves, up, 0.0)),
        )

    def _adjust_federal_cells(self, work: Work, plan: Plan) -> Floats:
        """Return the values with federal cells adjusted; the true ones where that is impossible."""
        values = np.array(work.table.value)
        part = part_of(work.table, work.regions.axis, work.regions.own < 0)
        at, own = part.cells, part.table
        status = np.full(len(own), Status.SAFE, dtype=np.int8)
        status[plan.still[at]] = Status.PROTECTED
        status[own.empty] = Status.EMPTY
        status[plan.sensitive[at]] = Status.UNSAFE_MANUAL
        zero = np.zeros(len(own))
        ready = own.with_(
            status=status, lower_level=plan.down[at], upper_level=plan.up[at], sliding_level=zero
        )
        method, quiet = method_of(self.adjust, "adjust"), work.quiet
        try:
            method.check(ready)
            changed = method._apply(ready, quiet).changed
        except (Infeasible, LimitReached):
            work.ctx.note(adjustment="impossible")
            return values
        work.ctx.note(adjustment=str(quiet.details.get("status", "done")))
        assert changed is not None
        values[at] = np.where(np.isnan(changed), own.value, changed)
        return values

    def _intervals(self, table: Table, adjusted: Floats, plan: Plan, ctx: Context) -> Floats:
        """Return the interval of each changed cell; NaN elsewhere."""
        interval = np.full((len(table), 2), np.nan)
        gap = np.abs(adjusted - table.value)
        at = np.flatnonzero(gap > SAME * np.maximum(1.0, np.abs(table.value)))
        if not len(at):
            return interval
        true = table.value[at]
        low, high = round_interval(true, adjusted[at], ctx.rng.random(len(at)) < self.widen)
        base = rounding_base(gap[at])
        if self.cover:
            stretch = 1.0 + ctx.rng.random((2, len(at)))
            low = np.minimum(low, down_to(true - stretch[0] * plan.far_down[at], base))
            high = np.maximum(high, up_to(true + stretch[1] * plan.far_up[at], base))
        interval[at, 0] = np.maximum(low, table.lower[at])
        interval[at, 1] = np.minimum(high, table.upper[at])
        return interval

    def _safe(self, work: Work, out: Publication) -> Publication:
        """Suppress positions until an attacker who uses the intervals learns no more than allowed."""
        table, quiet = work.table, work.quiet
        found = 0
        while True:
            work.ctx.tick("auditing with intervals", None)
            exposed = out.exposed(table, work.engine.singletons, quiet)
            found += len(exposed)
            new = federal_cells_at(table, work.regions, exposed) & ~out.hidden & ~table.empty
            new &= ~table.fixed
            if not new.any():
                break
            out = out.suppressed(new)
        if len(exposed):
            out = self._final(work, out, quiet)
        work.ctx.note(found_exposed=found)
        return out

    def _final(self, work: Work, out: Publication, quiet: Context) -> Publication:
        """Hide what else it takes on the federal level, giving up intervals only if nothing else helps."""
        problem = out.problem(work.table, work.engine.singletons)
        problem = forbid_hiding(problem, ~out.federal, out.hidden | out.bounded)
        try:
            pattern = repair(problem, out.hidden | out.bounded, quiet)
            _, pattern = protect_from_respondents(problem, pattern, quiet)
        except Infeasible:
            pattern, _ = replace(work, ctx=quiet).federal_step(out.hidden & ~out.federal)
            return Publication(pattern, out.federal, np.full((len(work.table), 2), np.nan))
        return out.suppressed(pattern & ~out.bounded)

    def _published(
        self, table: Table, adjusted: Floats, plan: Plan, out: Publication, ctx: Context
    ) -> Table:
        """Return the table as published."""
        hidden, bounded = out.hidden, out.bounded
        values = np.where(hidden, np.nan, np.where(bounded, adjusted, table.value))
        exact = ~hidden & ~bounded
        interval = out.interval.copy()
        interval[exact] = table.value[exact, None]
        second = hidden & ~table.primary
        ctx.note(
            primary=int(table.primary.sum()),
            secondary=int(second.sum()),
            federal=int((second & out.federal).sum()),
            sensitive=int(plan.sensitive.sum()),
            intervals=int(bounded.sum()),
        )
        shown = table.with_hidden(np.flatnonzero(second))
        return shown.with_(changed=values, interval=interval)

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        del table
        yield Claim(
            "protected-with-intervals",
            {"singletons": suppression_of(self.engine).singletons},
            "all unsafe cells",
            result.names,
            (
                *describe_outsiders(result),
                "outsiders know that a cell lies in its published interval",
                "where the truth lies in a published interval cannot be told from its ends",
            ),
        )


# -- what is published -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Publication:
    """What is hidden, and what is published with an interval."""

    #: Suppressed cells.
    hidden: Flags
    #: Cells above the agencies.
    federal: Flags
    #: Cells x 2, NaN where there is none.
    interval: Floats

    @property
    def bounded(self) -> Flags:
        """Return the cells that are published with an interval."""
        return ~np.isnan(self.interval[:, 0]) & ~self.hidden

    def suppressed(self, cells: Flags) -> Publication:
        """Return the publication with more cells hidden."""
        interval = self.interval.copy()
        interval[cells] = np.nan
        return replace(self, hidden=self.hidden | cells, interval=interval)

    def problem(self, table: Table, singletons: bool) -> Problem:
        """Return the needs, with what the intervals tell of the cells."""
        problem, cells = problem_of(table, singletons=singletons), self.bounded
        down, up = table.value - self.interval[:, 0], self.interval[:, 1] - table.value
        return replace(
            problem,
            down=np.where(cells, np.maximum(np.minimum(problem.down, down), 0.0), problem.down),
            up=np.where(cells, np.maximum(np.minimum(problem.up, up), 0.0), problem.up),
        )

    def exposed(self, table: Table, singletons: bool, ctx: Context) -> Ints:
        """Return the unsafe cells that are not protected well enough."""
        pattern = self.hidden | self.bounded
        short = shortfalls(self.problem(table, singletons), pattern, ctx)
        cells = [s.cell for s in short]
        if singletons:
            cells += deducing_pairs(table, pattern).ravel().tolist()
        return np.unique(np.array(cells, dtype=np.int64))


# -- positions -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Plan:
    """What the adjustment must do: arrays over all cells, of use for federal ones."""

    #: Cells that must move by ``down`` or ``up``.
    sensitive: Flags
    #: Cells that may not: all agencies publish their part.
    still: Flags
    #: Levels.
    down: Floats
    up: Floats
    #: How far an interval must reach.
    far_down: Floats
    far_up: Floats


def sensitive_positions(table: Table, hidden: Flags, regions: Regions, least: float) -> Plan:
    """Return the federal cells that are unsafe, or of which exactly one agency hides its part.

    The level of a position is the largest of the unsafe cells that the one agency has there, or a share
    of the agency's value when it hides the position only to protect others.
    """
    n = len(table)
    count, only = np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    for federal, part in parts_below(table, regions):
        there = hidden[part]
        count[federal[there]] += 1
        only[federal[there]] = part[there]
    low, high = largest_levels(table, regions)
    unsafe = table.primary
    down = np.where(unsafe, table.lower_level, 0.0)
    up = np.where(unsafe, table.upper_level, 0.0)
    width = np.where(unsafe, table.sliding_level, 0.0)
    one = np.flatnonzero(count == 1)
    cell = only[one]
    small = least * np.abs(table.value[cell])
    for levels, found in ((down, low[cell]), (up, high[cell])):
        levels[one] = np.maximum(levels[one], np.where(found > 0, found, small))
    up = np.maximum(up, width - down)
    sensitive = (regions.of(table) < 0) & (unsafe | (count == 1)) & ~table.empty & ~table.fixed
    room = [np.maximum(table.value - table.lower, 0.0), np.maximum(table.upper - table.value, 0.0)]
    down, up = np.minimum(down, room[0]), np.minimum(up, room[1])
    down, up = np.where(sensitive, down, 0.0), np.where(sensitive, up, 0.0)
    return Plan(sensitive, (count == 0) & ~sensitive, down, up, down, up)


def compute_needed_movements(
    work: Work, hidden: Flags, federal: Flags
) -> tuple[Floats, Floats] | None:
    """Return how far federal cells must be free to move down and up, for every unsafe cell to be safe.

    Agencies' cells stay as they are; movements are chosen that use few and cheap federal cells. None when
    there are none.
    """
    problem, ctx = forbid_hiding(work.problem(), ~federal, hidden), work.quiet
    base = (hidden & ~federal) | problem.start
    while True:
        routes = Routes(problem, base, base | (problem.suppressible & federal))
        if routes.meet_all(ctx):
            return None
        routes.improve(ctx)
        wider = with_far_pairs(problem, routes.pattern)
        if wider is problem:
            return compute_reaches(routes)
        problem = wider


def compute_reaches(routes: Routes) -> tuple[Floats, Floats]:
    """Return how far movements in use take each cell down and up."""
    n = routes.problem.n
    down, up = np.zeros(n), np.zeros(n)
    for need, by_these in zip(routes.needs, routes.met, strict=True):
        for m in by_these:
            movement = routes.movements[m]
            for amount in {a for option in need.options for a in option}:
                if movement.can_serve(need.cell, amount, need.known):
                    d = movement.by * (amount / movement.moves[need.cell])
                    np.maximum.at(up, movement.cells, d)
                    np.maximum.at(down, movement.cells, -d)
    return down, up


def parts_below(table: Table, regions: Regions) -> Iterable[tuple[Ints, Ints]]:
    """Yield federal cells and, for each, its part of one agency (or, without one, any part)."""
    d = table.dimensions[regions.axis]
    ids = np.ravel_multi_index(tuple(table.places.T.astype(np.int64)), table.shape)
    order = np.argsort(ids, kind="stable")
    ranked = ids[order]
    stride = int(np.prod(table.shape[regions.axis + 1 :], dtype=np.int64))
    for code in np.flatnonzero(regions.own < 0).tolist():
        below = np.flatnonzero(steps_below(d, [code]) > 0).tolist()
        tops = [c for c in below if c in regions.tops]
        own = np.flatnonzero(table.places[:, regions.axis] == code)
        for c in tops or below:
            wanted = ids[own] + (c - code) * stride
            at = np.searchsorted(ranked, wanted).clip(max=len(ranked) - 1)
            found = ranked[at] == wanted
            yield own[found], order[at[found]]


def largest_levels(table: Table, regions: Regions) -> tuple[Floats, Floats]:
    """Return for each cell the largest levels of unsafe cells of its agency at its position."""
    # Agencies are numbered from 0; -1 is federal.
    own = number_others(table, regions) * (len(regions.tops) + 1) + regions.of(table) + 1
    levels = []
    for name in ("lower_level", "upper_level"):
        most = np.zeros(own.max(initial=0) + 1)
        np.maximum.at(most, own, np.where(table.primary, getattr(table, name), 0.0))
        levels.append(most[own])
    return levels[0], levels[1]


def federal_cells_at(table: Table, regions: Regions, cells: Ints) -> Flags:
    """Return the federal cells at the positions of some cells."""
    own = number_others(table, regions)
    at = np.zeros(own.max(initial=0) + 1, dtype=bool)
    at[own[cells]] = True
    return np.asarray(at[own] & (regions.of(table) < 0))


# -- intervals -----------------------------------------------------------------------------------------


def rounding_base(gap: Floats) -> Floats:
    """Return the power of ten at or below each distance."""
    return np.asarray(ten_to(np.floor(np.log10(gap) + 1e-12)))


def down_to(value: Floats, base: Floats) -> Floats:
    """Return values rounded down to a multiple of the base."""
    return np.asarray(np.floor(value / base + 1e-9) * base)


def up_to(value: Floats, base: Floats) -> Floats:
    """Return values rounded up to a multiple of the base."""
    return np.asarray(np.ceil(value / base - 1e-9) * base)


def round_interval(true: Floats, adjusted: Floats, widen: Flags) -> tuple[Floats, Floats]:
    """Return intervals around true and adjusted values with ends that are multiples of the base.

    The base is 10^floor(log10 |true - adjusted|); where ``widen`` says so, one base is added on the side
    of the true value (Giessing and Dittrich 2006, section 4).
    """
    base = rounding_base(np.abs(true - adjusted))
    low = down_to(np.minimum(true, adjusted), base)
    high = up_to(np.maximum(true, adjusted), base)
    below = true < adjusted
    low = np.where(widen & below, low - base, low)
    high = np.where(widen & ~below, high + base, high)
    return low, high
