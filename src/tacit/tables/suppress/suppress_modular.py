"""Suppression by the modular approach (HiTaS)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from tacit.arrays import Flags
from tacit.context import Context
from tacit.data.table import Table
from tacit.registry import register
from tacit.tables.suppress.problem import Problem
from tacit.tables.suppress.propose_modular import (
    STEPS,
    Modular,
    blocks_of,
    repair_proposal,
)
from tacit.tables.suppress.suppression import Suppression

Cost = Annotated[float, Field(gt=0)]
#: Prices this near to each other are the same.
SAME = 1e-9


@register
class SuppressModular(Suppression):
    """Solve a hierarchical table subtable by subtable, from the grand total down.

    One relation of each dimension makes a subtable: a parent and its children on every axis. In the
    order of their distance from the grand total each is solved on its own relations, with the margins
    as the tables above have left them: hidden ones must keep a small range, published ones stay so.
    Where that is impossible a margin is hidden after all, at a penalty, and every subtable that holds
    it is solved again. A heuristic for the whole table; the optimum for a table without hierarchies.

    References
    ----------
    de Wolf (2002), HiTaS: a heuristic approach to cell suppression in hierarchical tables, Inference
    Control in Statistical Databases, LNCS 2316, 74-82.

    Giessing and Dittrich (2006), Harmonizing table protection: results of a study, PSD 2006, LNCS
    4302, 35-47.
    """

    kind: Literal["suppress_modular"] = "suppress_modular"
    repaired: ClassVar[bool] = True
    exact_cells: Annotated[int, Field(ge=0)] = Field(
        default=200,
        description="subtables with at most this many cells to choose from are solved exactly",
    )
    block_seconds: Annotated[float, Field(gt=0)] = Field(
        default=5.0, description="seconds for one subtable; the best safe pattern so far is kept"
    )
    exact_seconds: Annotated[float, Field(ge=0)] = Field(
        default=60.0,
        description="seconds for all exact solves; the rest is done by cheapest movements",
    )
    max_backtracks: Annotated[int, Field(ge=0)] = Field(
        default=1000, description="how often a published margin may be hidden after all"
    )
    together: Annotated[int, Field(ge=0)] = Field(
        default=0,
        description="two unsafe cells alone in a sum with fewer respondents than this need a third",
    )
    distance: tuple[Cost, ...] = Field(
        default=(),
        max_length=STEPS,
        description="costs by steps from the nearest hidden cell in a subtable, in place of cost",
    )
    partition: str | None = Field(
        default=None,
        description="a dimension: its top level is solved first and then stands, part by part",
    )
    clean_seconds: Annotated[float, Field(ge=0)] = Field(
        default=60.0,
        description="seconds for publishing again what the whole table does not need; 0: none",
    )

    def _apply(self, table: Table, ctx: Context) -> Table:
        result = super()._apply(table, ctx)
        # Of the pattern that is published, with all that was added and taken away after the blocks.
        price, bound = float(ctx.details["price"]), float(ctx.details.get("bound", 0.0))
        ctx.note(answer="optimal" if price <= bound * (1 + SAME) else "heuristic")
        return result

    def _pattern(self, problem: Problem, ctx: Context) -> Flags:
        blocks = blocks_of(problem.table, self.partition)
        out = Modular(problem, blocks, self).run(ctx)
        ctx.note(
            subtables=len(blocks),
            solved=out.solved,
            optimal=out.optimal,
            backtracks=out.backtracks,
            given_up=out.given_up,
            bound=out.bound,
        )
        # Cells asked for by ``together`` serve no need of the whole table.
        return repair_proposal(
            problem, out.hidden, ctx, seconds=0.0 if self.together else self.clean_seconds
        )
