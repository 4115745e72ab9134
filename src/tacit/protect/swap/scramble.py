"""Scrambling: the records are released in random order."""

from __future__ import annotations

from typing import ClassVar, Literal

import pyarrow as pa

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import unused_row_number
from tacit.engine.base import ROW
from tacit.registry import register
from tacit.spec import Method


@register
class Scramble(Method):
    """Release the records in a uniformly random order.

    Order tells: two releases sorted alike can be laid side by side, and a list in order of admission
    shows who came first. The records get new row numbers that none has carried before, so the links
    to the original data are cut on purpose: measures that compare records with the original find none
    of them again. Let this be the last step, and measure before it; values do not change.

    References
    ----------
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, section 4.1, Figure 14.
    """

    kind: Literal["scramble"] = "scramble"

    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("scramble tuples",)

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        table = data.to_arrow(with_row=True)
        numbers = unused_row_number(data) + ctx.rng.permutation(table.num_rows)
        ctx.note(links_lost=True)
        return data.with_table(
            table.set_column(table.column_names.index(ROW), ROW, pa.array(numbers, pa.int64()))
        )
