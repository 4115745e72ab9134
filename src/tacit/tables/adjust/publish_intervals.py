"""Publication of intervals around adjusted values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from tacit.claims import Claim
from tacit.context import Context
from tacit.data.table import Table
from tacit.registry import register
from tacit.spec import Method, Where
from tacit.tables.adjust.adjust import Adjust

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: Changes below this share of the value are rounding errors of the arithmetic.
NOTHING = 1e-9


@register
class PublishIntervals(Method[Table]):
    """Publish an interval of round numbers for every cell that an adjustment has changed.

    With D the distance between true and adjusted value and base = 10^floor(log10 D), the smaller of the
    two is rounded down and the larger up to a multiple of the base. With probability ``widen_prob`` one
    base more is added on the side of the true value, so that a reader cannot conclude from the distance
    between the adjusted value and the far end how near the truth lies to it. Cells that were not changed
    are published as they are. A table that has not been adjusted is first adjusted (:class:`Adjust`).

    References
    ----------
    Giessing and Dittrich (2006), Harmonizing table protection: results of a study, PSD 2006,
    LNCS 4302, 35-47, section 4.
    """

    family: ClassVar[str] = "tables"
    runs_on: ClassVar[Where] = "cells"

    kind: Literal["publish_intervals"] = "publish_intervals"
    widen_prob: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.5,
        description="chance that an interval gets one base more on the side of the true value",
    )
    show_adjusted: bool = Field(
        default=True,
        description="adjusted values are published beside their intervals, else the intervals alone",
    )

    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("interval publication",)

    def _apply(self, table: Table, ctx: Context) -> Table:
        if table.changed is None:
            table = table.with_changed(
                Adjust.model_validate({}).apply(table, context=ctx).published
            )
        widen = ctx.rng.random(len(table)) < self.widen_prob
        low, high = published_interval(table.value, table.published, widen)
        low, high = np.maximum(low, table.lower), np.minimum(high, table.upper)
        has = ~np.isnan(low)
        ctx.note(intervals=int(has.sum()), widened=int((widen & has).sum()))
        shown = table.published if self.show_adjusted else np.where(has, np.nan, table.published)
        return table.with_changed(shown).with_(interval=np.stack([low, high], axis=1))

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        del table
        yield Claim(
            "intervals-hold-the-truth",
            {},
            "all cells with an interval",
            result.names or ("equations",),
            ("outsiders do not know which intervals have been widened",),
        )


def published_interval(
    original: npt.ArrayLike, adjusted: npt.ArrayLike, widen: npt.ArrayLike
) -> tuple[Floats, Floats]:
    """Return the ends of the intervals, NaN where nothing was changed or the cell is hidden.

    Parameters
    ----------
    original, adjusted
        True and adjusted values.
    widen
        Which intervals get one base more on the side of the true value.
    """
    a, o = np.atleast_1d(np.asarray(adjusted, float)), np.atleast_1d(np.asarray(original, float))
    distance = np.abs(a - o)
    changed = distance > NOTHING * np.maximum(1.0, np.abs(o))
    exponent = np.floor(np.log10(np.where(changed, distance, 1.0)) + 1e-12)
    base = 10.0**exponent
    low = np.floor(np.minimum(a, o) / base + 1e-9)
    high = np.ceil(np.maximum(a, o) / base - 1e-9)
    more = np.asarray(widen, dtype=bool)
    low, high = low - (more & (o < a)), high + (more & (o > a))
    return np.where(changed, scale_steps(low, exponent), np.nan), np.where(
        changed, scale_steps(high, exponent), np.nan
    )


def scale_steps(steps: Floats, exponent: Floats) -> Floats:
    """Return steps times powers of ten, without the errors of multiplying by 0.1."""
    power = 10.0 ** np.abs(exponent)
    return np.where(exponent >= 0, steps * power, steps / power)
