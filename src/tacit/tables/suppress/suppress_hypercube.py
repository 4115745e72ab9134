"""Suppression by hypercubes, with and without interval protection."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field
from scipy import sparse

from tacit.arrays import Flags, Ints
from tacit.claims import Claim
from tacit.claims.outsiders import (
    WHOLE_TABLE_HIDES_ZEROS,
    describe_outsiders,
    has_whole_counts,
    hides_zeros,
    outsider_bounds,
)
from tacit.context import Context
from tacit.data.cells.dimension import Dimension, Sum
from tacit.data.cells.relations import roll_up
from tacit.data.table import Contributors, Table
from tacit.errors import Infeasible, InputError, SdcError, WeakProtection
from tacit.registry import register
from tacit.tables.agencies.coordination import take_cells
from tacit.tables.suppress import propose_hypercube as cubes
from tacit.tables.suppress.moves.cubes import KERNELS, Grid, Rules, State
from tacit.tables.suppress.open_sums import claim_open_sums
from tacit.tables.suppress.problem import Problem, problem_of
from tacit.tables.suppress.repair import repair
from tacit.tables.suppress.suppression import (
    HidingCost,
    Suppression,
    claimed_guard,
    hide_for_differences,
    hide_for_rules,
    note_price,
    protect_from_respondents,
)
from tacit.tables.suppress.whole_numbers import protect_whole_numbers

#: Rounds of hiding, proving and repairing subtables.
ROUNDS = 20


@register
class SuppressHypercube(Suppression):
    """Hide hypercubes: a cell of an n-dimensional subtable with 2^n - 1 others at its corners.

    Every cell q that differs from the unsafe cell p in all coordinates spans a cube. When its corners
    are hidden an attacker of the subtable cannot tell p from p - down to p + up, where

        up = min(ub - a over plus corners, a - lb over minus corners),
        down = min(a - lb over plus corners, ub - a over minus corners);

    a corner's sign changes with each coordinate in which it differs from p, except between a code and
    its own total. The cheapest cube that reaches the levels is hidden; what it hides must have a cube
    in every other subtable too, and so on until nothing changes. No solver is needed, so the largest
    tables can be done; more cells are hidden than by the other methods.

    Below ``size`` cells the pattern is then audited on all relations at once and repaired, as with
    every method. Beyond it the proof is made subtable by subtable: that is the promise of the method
    (PS1*), and less than a full audit; a warning, the history and the claim say so.

    References
    ----------
    Giessing and Dittrich (2006), Harmonizing table protection: results of a study, PSD 2006, LNCS
    4302, 35-47.
    Repsilber (1994), Preservation of confidentiality in aggregated data, 2nd International Seminar on
    Statistical Confidentiality, Luxembourg.
    Hundepool (2006), The ARGUS software in CENEX, PSD 2006, LNCS 4302, 334-346, section 2.3.
    """

    kind: Literal["suppress_hypercube"] = "suppress_hypercube"
    cost: HidingCost = "log"
    variant: Literal["interval", "exact", "sequence"] = Field(
        default="interval",
        description=(
            "interval: the levels must be reached; exact (Hyper0): no value may be deduced exactly; "
            "sequence (HyperSeq): details first, higher cells hidden only as a last resort"
        ),
    )
    choose: Literal["fewest", "cheapest"] = Field(
        default="fewest",
        description=(
            "the cube with fewest new cells (then fewest margins, then least cost), or of least cost"
        ),
    )
    apriori: Annotated[float, Field(gt=0)] | None = Field(
        default=None,
        description="outsiders know each value to this many per cent; None: the table's own bounds",
    )
    audit: Literal["auto", "full", "subtable"] = Field(
        default="auto",
        description="prove the pattern on all relations at once, or subtable by subtable",
    )
    size: Annotated[int, Field(ge=0)] = Field(
        default=300_000, description="cells up to which audit='auto' means the full audit"
    )

    def _faults(self, data: Table) -> list[SdcError]:
        """Return what is wrong: only product tables of up to six dimensions have hypercubes."""
        found = super()._faults(data)
        reason = not_for_cubes(data)
        if reason:
            found.append(InputError(f"{self.kind} {reason}"))
        return found

    def scope(self, table: Table) -> str:
        """Return which proof a table gets: ``full`` or ``subtable``."""
        if self.audit == "auto":
            return "full" if len(table) <= self.size else "subtable"
        return self.audit

    def _apply(self, table: Table, ctx: Context) -> Table:
        known = narrow_apriori_bounds(table, self.apriori)
        if self.variant == "exact":
            # Levels that reach beyond the bounds are no reason to refuse what does not look at levels.
            none = np.zeros(len(table))
            known = known.with_(lower_level=none, upper_level=none, sliding_level=none)
        if self.scope(table) == "full":
            problem = self._problem(known)
        else:
            known = identify_respondents(known)
            # Without its relations, which a very large table should not store.
            bare = known.with_(given=sparse.csr_array((0, len(known))))
            problem = problem_of(bare, cost=self.cost, power=self.power, singletons=False)
            problem = replace(problem, table=known)
        problem = set_asked_levels(problem, intervals=self.variant != "exact")
        if not problem.primary.any():
            ctx.note(proof=self.scope(table))
            return hide_for_differences(table, problem, ctx)
        if self.variant == "exact":
            warnings.warn(
                "suppress_hypercube: variant 'exact' keeps values from being deduced exactly; the "
                "protection levels of unsafe cells are not looked at",
                WeakProtection,
                stacklevel=4,
            )
        if self.scope(table) == "full":
            proposed = self._pattern(problem, ctx)
            pattern = repair(problem, proposed, ctx)
            problem, pattern = protect_from_respondents(problem, pattern, ctx)
            note_price(problem, pattern, ctx, self._pattern)
        else:
            proposed, pattern = self._by_subtables(problem, ctx)
        result = hide_for_rules(table, problem, pattern, ctx)
        ctx.note(repaired=int((result.hidden & ~proposed).sum()), proof=self.scope(table))
        return result

    def _rules(self, *, singletons: bool) -> Rules:
        return Rules(
            fewest=self.choose == "fewest",
            sequence=self.variant == "sequence",
            singletons=singletons,
        )

    def _pattern(self, problem: Problem, ctx: Context) -> Flags:
        grid = cubes.grid_of(problem.table.dimensions)
        # Without pairs of cells to keep apart there is nobody to keep out.
        guards = problem.guards_singletons and bool(len(problem.pairs))
        state = cubes.state_of(problem, grid, problem.start, singletons=guards)
        sweeps = cubes.hide_cubes(grid, state, self._rules(singletons=guards), ctx)
        ctx.note(sweeps=sweeps, subtables=cubes.n_subtables(grid), **reductions(state))
        return np.asarray(state.flag == cubes.HIDDEN)

    def _by_subtables(self, problem: Problem, ctx: Context) -> tuple[Flags, Flags]:
        """Return the cubes' pattern, and the one in which every subtable is proven."""
        grid = cubes.grid_of(problem.table.dimensions)
        state = cubes.state_of(problem, grid, problem.start, singletons=self.singletons)
        sweeps = cubes.hide_cubes(grid, state, self._rules(singletons=self.singletons), ctx)
        proposed = state.flag == cubes.HIDDEN
        # The only respondent of every unsafe cell that has one.
        lone = np.where(problem.primary & self.singletons, problem.table.owner, -1)
        solved = 0
        intervals = self.variant != "exact"
        for _ in range(ROUNDS):
            left, proofs = cubes.without_cube(grid, state, ctx, lone=lone)
            hidden = state.flag == cubes.HIDDEN
            state.dirty[:] = 0
            for i, subtable in enumerate(map(int, left)):
                if i % 20 == 0:
                    ctx.tick("auditing subtables", i / len(left))
                part, cells = part_of(problem.table, grid, subtable, hidden)
                new = repair_part(part, hidden[cells], ctx, self.singletons, intervals)
                solved += 1
                hidden[cells[new]] = True
            fresh = hidden & (state.flag != cubes.HIDDEN)
            if not fresh.any():
                break
            state.flag[fresh] = cubes.HIDDEN
            run = KERNELS.pick(50 * len(state.value))
            run["mark_cells"](grid, state.dirty, cubes.no_ints(len(grid.stride)), fresh)
            sweeps += cubes.hide_cubes(
                grid, state, self._rules(singletons=self.singletons), ctx, everywhere=False
            )
        else:
            raise Infeasible("the pattern did not become safe in every subtable")
        ctx.note(
            sweeps=sweeps,
            subtables=cubes.n_subtables(grid),
            proven_by_cubes=proofs,
            subtables_by_programs=solved,
            **reductions(state),
        )
        warnings.warn(
            "suppress_hypercube: the pattern is proven within each subtable, not on all relations of "
            "the table at once; audit the table where that can be afforded",
            WeakProtection,
            stacklevel=5,
        )
        return proposed, np.asarray(state.flag == cubes.HIDDEN)

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        scope = self.scope(table)
        intervals = self.variant != "exact"
        if scope == "full" and intervals and self.apriori is None:
            yield from super()._claims(table, result)
            return
        yield from claim_open_sums(table, result)
        parameters: dict[str, Any] = claimed_guard(table, singletons=self.singletons)
        parameters["intervals"] = intervals
        if self.apriori is not None:
            parameters["apriori"] = self.apriori
        about = "all unsafe cells" if scope == "full" else "all unsafe cells, subtable by subtable"
        assumptions = [*describe_outsiders(result)]
        if scope != "full":
            assumptions.append("attackers use the relations of one subtable at a time")
        yield Claim(
            "protected-in-table" if scope == "full" else "protected-in-subtables",
            parameters,
            about,
            result.names,
            tuple(assumptions),
        )


# -- the problem -----------------------------------------------------------------------------------


def not_for_cubes(table: Table) -> str:
    """Return why a table has no hypercubes; empty when it has."""
    if not table.is_product:
        return (
            "works on tables that are a full product of their dimensions; use suppress_linear for "
            "linked tables and bare equations"
        )
    if len(table.dimensions) > cubes.MOST_DIMENSIONS:
        return f"takes tables of up to {cubes.MOST_DIMENSIONS} dimensions, this one has {len(table.dimensions)}"
    return ""


def narrow_apriori_bounds(table: Table, apriori: float | None) -> Table:
    """Return the table with bounds no wider than a percentage of each value."""
    if has_whole_counts(table):
        low, high = outsider_bounds(table.with_(changed=None, interval=None))
        table = table.with_(lower=low, upper=high)
    if apriori is None:
        return table
    around = apriori / 100 * np.abs(table.value)
    return table.with_(
        lower=np.maximum(table.lower, table.value - around),
        upper=np.minimum(table.upper, table.value + around),
    )


def set_asked_levels(problem: Problem, *, intervals: bool) -> Problem:
    """Return the problem with its levels, or with the smallest movement in place of them."""
    if intervals:
        return problem
    nothing = np.zeros(problem.n)
    least = np.where(problem.primary, problem.tiny(np.arange(problem.n)), 0.0)
    return replace(problem, need_down=nothing, need_up=nothing, need_width=least)


def identify_respondents(table: Table) -> Table:
    """Return the table with the single respondents of cells told apart, where nobody names them.

    Contributors add up, so a total with one contributor has that of its only filled ground cell: it is
    enough to add up the ground cells' numbers.
    """
    if table.holdings is not None or table.contributors is not None or (table.count < 0).any():
        return table
    ground = np.ix_(*(d.leaves for d in table.dimensions))
    base = table.count.reshape(table.shape)[ground].astype(np.float64)
    number = np.arange(base.size, dtype=np.float64).reshape(base.shape)
    lone = table.count == 1
    if (roll_up(base, table.dimensions).ravel()[lone] != 1).any():
        return table
    who = np.where(lone, roll_up(number * base, table.dimensions).ravel(), -1.0)
    behind = Contributors(
        table.count, np.zeros((len(table), 1)), np.rint(who).astype(np.int64)[:, None]
    )
    return table.with_(contributors=behind)


def reductions(state: State) -> dict[str, Any]:
    """Return, for the history, how many cells found no cube for their full level."""
    degrees, n = np.unique(state.reduced[state.reduced > 1], return_counts=True)
    words = {cubes.HUGE: "any movement", cubes.NONE: "no cube"}
    return {
        "reduced": {
            words.get(int(k), f"level / {k}"): int(i) for k, i in zip(degrees, n, strict=True)
        }
    }


# -- subtables -------------------------------------------------------------------------------------


def part_of(table: Table, grid: Grid, subtable: int, hidden: Flags) -> tuple[Table, Ints]:
    """Return one subtable as a table of its own, with its cells in the whole; parents first."""
    cells, axes = cubes.cells_of(grid, subtable)
    at = cells.ravel()
    dimensions = []
    for d, (codes, coefficients, related) in zip(table.dimensions, axes, strict=True):
        signs = tuple(int(c) for c in coefficients[1:])
        plain = () if min(signs, default=1) > 0 else signs
        sums = (Sum(0, tuple(range(1, len(codes))), plain),) if related else ()
        dimensions.append(Dimension(d.name, tuple(d.codes[c] for c in codes), sums))
    part = take_cells(table, at, dimensions=tuple(dimensions))
    part = part.with_(extra={WHOLE_TABLE_HIDES_ZEROS: hides_zeros(table)})
    return part.with_hidden(np.flatnonzero(hidden[at] & ~part.primary)), at


def repair_part(
    part: Table, hidden: Flags, ctx: Context, singletons: bool, intervals: bool
) -> Flags:
    """Return the cells of a subtable to hide, by linear programs on its own relations."""
    problem = set_asked_levels(problem_of(part, singletons=singletons), intervals=intervals)
    return protect_whole_numbers(problem, repair(problem, hidden, ctx), ctx)
