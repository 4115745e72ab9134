"""Controlled rounding at random: as near to fair coins as additivity allows, or unbiased."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from tacit.claims import Claim
from tacit.context import Context
from tacit.data.table import Table
from tacit.registry import register
from tacit.spec import Method, Where
from tacit.tables.adjust.additive import additive_claim
from tacit.tables.rounding import half as _half


@register
class HalfRounding(Method[Table]):
    """Additive random rounding: fair coins where the totals allow them, or unbiased in every cell.

    Every cell goes to an adjacent multiple of the base, multiples stay, and all relations hold. With
    ``target="closest"`` the probabilities of going up are those nearest to 1/2 that any mixture of
    controlled roundings can have (a linear program), reached exactly; with ``target="sequential"`` cells
    are sent up or down one after the other as Cox and Kim (2006) describe; with ``target="unbiased"`` the
    expectation of every cell is its value.

    The theorem of the paper, that every cell can have probability 1/2, holds only when the point of
    halves is additive: in a row 1, 1, 3 with total 5 and base 5, exactly one cell goes up, so the three
    probabilities add up to 1 and not to 1.5. ``history[-1].details`` says whether halves were possible.

    References
    ----------
    Cox and Kim (2006), Effects of rounding on the quality and confidentiality of statistical data,
    PSD 2006, LNCS 4302, 48-56. Cox (1987), A constructive procedure for unbiased controlled rounding,
    JASA 82, 520-524.
    """

    family: ClassVar[str] = "tables"
    runs_on: ClassVar[Where] = "cells"

    kind: Literal["half_rounding"] = "half_rounding"
    base: Annotated[float, Field(gt=0)] = Field(default=5, description="the base")
    target: Literal["closest", "sequential", "unbiased"] = Field(
        default="closest", description="what the probabilities of going up are to be"
    )

    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("rounding",)

    def _apply(self, table: Table, ctx: Context) -> Table:
        t, low, high = _half.scale_to_bases(table.value, self.base)
        if self.target == "sequential":
            rounded = _half.sequential_halves(table, self.base, ctx.rng, ctx)
        else:
            point = _half.closest_halves(table, self.base) if self.target == "closest" else t
            rounded = _half.walk(table, point, low, high, ctx.rng)
        open_cells = low < high
        ctx.note(
            cells_moved=int(open_cells.sum()),
            up=int((rounded > t)[open_cells].sum()),
            halves_possible=_half.halves_possible(table, self.base),
        )
        return table.with_changed(rounded * self.base)

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        del table
        about = result.names or ("equations",)
        yield additive_claim(result)
        yield Claim("adjacent-multiples", {"base": self.base}, "all published cells", about)
