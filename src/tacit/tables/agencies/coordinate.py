"""Suppression of one table by several agencies, under one of the models of co-ordination."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, cast

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, field_serializer, field_validator

from tacit.arrays import Flags, Floats, Ints
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.cells.status import Status
from tacit.data.table import Table
from tacit.errors import Infeasible, InputError, InvalidParameter, SdcError
from tacit.registry import lookup, register
from tacit.spec import Method, Where
from tacit.tables.agencies.coordination import (
    Part,
    Regions,
    Work,
    block_of,
    causes,
    fix_decided_cells,
    insert_pattern,
    part_of,
    regions_of,
    scale_hiding_costs,
)
from tacit.tables.suppress.pattern_reports import match_cells, percent
from tacit.tables.suppress.problem import tiny_range
from tacit.tables.suppress.repair import repair
from tacit.tables.suppress.suppression import Suppression, protect_from_respondents

Codes = tuple[str, ...]

#: How much more it costs to hide, in an agency's part, what the top level has published.
DEAR = 1e3


def method_of(given: Mapping[str, Any], field: str = "engine") -> Method[Table]:
    """Return the method that a mapping of kind and parameters describes: a suppression, or one that adjusts values."""
    kind = str(given.get("kind"))
    made = lookup(kind)(**{k: v for k, v in given.items() if k != "kind"})
    if field == "engine" and not isinstance(made, Suppression):
        raise InvalidParameter(f"engine: {given.get('kind')!r} is not a method of cell suppression")
    if field == "adjust" and (not isinstance(made, Method) or isinstance(made, Suppression)):
        raise InvalidParameter(f"adjust: {kind!r} does not adjust the values of a table")
    return cast("Method[Table]", made)


def suppression_of(engine: Mapping[str, Any]) -> Suppression:
    """Return the engine that a mapping of kind and parameters describes."""
    return cast("Suppression", method_of(engine))


def by_name(value: Any) -> Any:
    """Return a method as a mapping of kind and parameters, from its kind or from itself."""
    if isinstance(value, Suppression):
        return value.to_dict()
    return {"kind": value} if isinstance(value, str) else value


def known_method(field: str) -> AfterValidator:
    """Return the check that a mapping describes a method that the field takes."""

    def check(value: dict[str, Any]) -> dict[str, Any]:
        try:
            method_of(value, field)
        except SdcError as error:
            raise ValueError(str(error)) from None
        return value

    return AfterValidator(check)


class Agencies(Method[Table]):
    """Base of methods for several agencies: whose cells are whose, and the engine they use."""

    family: ClassVar[str] = "tables"
    runs_on: ClassVar[Where] = "cells"

    region: str = Field(description="the dimension that says to which agency a cell belongs")
    agencies: tuple[str, ...] | None = Field(
        default=None,
        description="codes of the agencies; by default the parts of the region's total",
    )
    engine: Annotated[dict[str, Any], BeforeValidator(by_name), known_method("engine")] = Field(
        default={"kind": "suppress_linear"},
        description="the suppression method, with its parameters (kind: suppress_exact, ...)",
    )

    def _faults(self, data: Table) -> list[SdcError]:
        """Return what is wrong: the region and its agencies must exist."""
        found = super()._faults(data)
        try:
            regions_of(data, self.region, self.agencies)
            found += suppression_of(self.engine).faults(data)
        except SdcError as error:
            found.append(error)
        return found


@register
class Coordinate(Agencies):
    """Protect a table that a federal agency and several regional ones publish together.

    Each agency publishes the cells of its own region and below; cells above are federal.

    - ``central``: one run over the whole table.
    - ``decentral``: every agency protects its own part alone. Then the federal step: all cells of
      agencies stay as they are, and only federal cells may be hidden until every unsafe cell is safe
      under all relations together.
    - ``dec_w``: the same, where hiding again what an earlier release hid as secondary costs only
      ``previous_cost`` times as much.
    - ``block``: agencies in ``alone`` work alone; the others together, under a total of their own.
      Then the federal step.
    - ``partition``: the federal cells and the agencies' totals first; then each agency with its totals
      as decided; then what the whole table still needs. For tables too large for one run.

    The result is proven on all relations of the whole table, whatever the model.

    References
    ----------
    Giessing and Dittrich (2006), Harmonizing table protection: results of a study, PSD 2006, LNCS
    4302, 35-47, section 2.3.
    """

    kind: Literal["coordinate"] = "coordinate"
    techniques: ClassVar[tuple[str, ...]] = ("cell suppression",)
    example: ClassVar[Mapping[str, Any]] = {"region": "region", "model": "decentral"}

    model: Literal["central", "decentral", "dec_w", "block", "partition"] = Field(
        default="central", description="who decides what: the model of co-ordination"
    )
    previous: Any = Field(
        default=None,
        description="an earlier release, protected: a table, its .table file, or the codes of its "
        "secondary cells; these are preferred",
        json_schema_extra={"secret": True},
    )
    previous_cost: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.1, description="factor for the cost of cells that were secondary before"
    )
    alone: tuple[str, ...] | None = Field(
        default=None,
        description="agencies of the first block; by default those that make no federal cell secondary "
        "in a decentral trial",
    )
    depth: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        description="levels of the other dimensions down to which that counts; None: all",
    )
    weights: dict[str, Annotated[float, Field(gt=0)]] = Field(
        default={},
        description="factors for the cost of cells by agency; the region's total: federal cells",
    )
    conflict: Literal["refuse", "mend"] = Field(
        default="refuse",
        description="when federal cells do not suffice: name the agencies' cells that would help, or "
        "hide them",
    )

    @field_validator("previous", mode="before")
    @classmethod
    def _earlier(cls, value: Any) -> Any:
        if value is None or isinstance(value, Table | str):
            return value
        if isinstance(value, Path):
            return str(value)
        try:
            return tuple(tuple(str(code) for code in cell) for cell in value)
        except TypeError:
            raise ValueError("must be a table, a file or a list of cells") from None

    @field_serializer("previous")
    def _as_codes(self, value: Any) -> Any:
        if isinstance(value, Table):
            return [list(value.codes(int(c))) for c in np.flatnonzero(value.secondary)]
        return value

    def _faults(self, data: Table) -> list[SdcError]:
        """Return what is wrong: what a model needs must be given."""
        found = super()._faults(data)
        if found:
            return found
        if self.model == "dec_w" and self.previous is None:
            found.append(InputError("model='dec_w' needs previous=, an earlier release"))
        d = data.dimensions[data.names.index(self.region)]
        regions = regions_of(data, self.region, self.agencies)
        names = [d.codes[t] for t in regions.tops]
        for code in (self.alone or ()) if self.model == "block" else ():
            if code not in names:
                found.append(InputError(f"alone names {code!r}, which is no agency: {names}"))
        federal = [c for c, own in zip(d.codes, regions.own, strict=True) if own < 0]
        for code in self.weights:
            if code not in names and code not in federal:
                found.append(InputError(f"weights name {code!r}, which is no agency: {names}"))
        return found

    # -- the models ------------------------------------------------------------------------------

    def _apply(self, table: Table, ctx: Context) -> Table:
        regions = regions_of(table, self.region, self.agencies)
        engine = suppression_of(self.engine)
        base = table.costs(engine.cost, engine.power)
        priced, engine = scale_hiding_costs(table, engine, self._factor(table, regions))
        models: dict[str, Callable[[Work], Flags]] = {
            "central": lambda work: work.run(work.table, "the whole table"),
            "decentral": lambda work: self._federal(work, work.patterns_alone()),
            "block": self._block,
            "partition": self._partition,
        }
        model = "decentral" if self.model == "dec_w" else self.model
        pattern = models[model](Work(priced, regions, engine, ctx))
        second = pattern & ~table.primary
        level = regions.levels(table)
        size = np.abs(table.value)
        ctx.note(
            primary=int(table.primary.sum()),
            secondary=int(second.sum()),
            federal=int((second & (level == 0)).sum()),
            agencies=int((second & (level == 1)).sum()),
            below=int((second & (level > 1)).sum()),
            price=float(base[second].sum()),
            value_percent=percent(size[second].sum(), size.sum()),
        )
        return table.with_hidden(np.flatnonzero(second))

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        return suppression_of(self.engine)._claims(table, result)

    def _factor(self, table: Table, regions: Regions) -> Floats:
        """Return by how much the cost of each cell is multiplied."""
        factor = np.ones(len(table))
        d = table.dimensions[regions.axis]
        whose = regions.of(table)
        for code, weight in self.weights.items():
            at = d.position[code]
            mine = whose == regions.own[at] if regions.own[at] >= 0 else whose < 0
            factor[mine] *= weight
        if self.previous is not None:
            factor[earlier_cells(self.previous, table)] *= self.previous_cost
        return factor

    def _block(self, work: Work) -> Flags:
        table, regions = work.table, work.regions
        names = table.dimensions[regions.axis].codes
        every = range(len(regions.tops))
        hidden = work.patterns_alone()
        if self.alone is None:
            # A trial only: what it would take counts, whether or not it may be done.
            pattern, _ = work.federal_step(hidden, mend=True)
            together = causes(table, pattern, regions, self.depth).tolist()
        else:
            together = [i for i in every if names[regions.tops[i]] not in self.alone]
        work.ctx.note(alone=[names[regions.tops[i]] for i in every if i not in together])
        if together:
            part = block_of(table, regions, together)
            found = work.run(part.table, "the block of agencies")
            hidden = insert_pattern(hidden, part, found)
        return self._federal(work, hidden)

    def _partition(self, work: Work) -> Flags:
        table, regions = work.table, work.regions
        top = part_of(table, regions.axis, regions.level <= 1)
        hidden = insert_pattern(table.hidden, top, work.run(top.table, "the top level"))
        freed = 0
        for i in range(len(regions.tops)):
            work.ctx.tick(work.name(i), i / len(regions.tops))
            part = part_of(table, regions.axis, regions.own == i)
            found, again = under_top(work, part, hidden)
            hidden, freed = insert_pattern(hidden, part, found), freed + again
        problem = work.problem()
        before = int(hidden.sum())
        quiet = work.quiet
        pattern = repair(problem, hidden | problem.start, quiet)
        _, pattern = protect_from_respondents(problem, pattern, quiet)
        work.ctx.note(unfrozen=freed, repaired=int(pattern.sum()) - before)
        return pattern

    def _federal(self, work: Work, hidden: Flags) -> Flags:
        work.ctx.tick("the federal step", None)
        mend = self.conflict == "mend"
        pattern, mended = work.federal_step(hidden, mend=mend)
        if mend:
            work.ctx.note(mended=len(mended))
        return pattern


def under_top(work: Work, part: Part, hidden: Flags) -> tuple[Flags, bool]:
    """Return the pattern of an agency's part under totals that are decided.

    A hidden total must not be deducible inside the part; a published one stays so, unless there is no
    pattern without it. Whether one was needed comes second.
    """
    own, table = (work.regions.levels(work.table) == 1)[part.cells], part.table
    decided = fix_decided_cells(table, hidden[part.cells], own)
    margin = np.flatnonzero(own & decided.secondary)
    guarded = decided.with_protection(margin, sliding=tiny_range(table, margin))
    try:
        return work.run(guarded, "an agency's part"), False
    except Infeasible:
        status = guarded.status.copy()
        status[own & (status == Status.PROTECTED) & (table.status != Status.PROTECTED)] = (
            Status.SAFE
        )
        factor = np.where(own, DEAR, 1.0)
        again, costlier = scale_hiding_costs(guarded.with_(status=status), work.engine, factor)
        return replace(work, engine=costlier).run(again, "an agency's part"), True


def earlier_cells(previous: Any, table: Table) -> Ints:
    """Return the cells of a table that were secondary in an earlier release."""
    if isinstance(previous, str):
        previous = Table.load(previous)
    if isinstance(previous, Table):
        old, new = match_cells(previous, table)
        return new[previous.secondary[old]]
    cells = []
    for codes in previous:
        try:
            cells.append(table.index(codes))
        except InputError:
            # A code that no longer exists has no cell to prefer.
            continue
    return np.array(cells, dtype=np.int64)
