"""The (n, k) dominance rule: a few contributors may not make up most of a cell."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats
from tacit.fields import Secret
from tacit.registry import register
from tacit.tables.rules.concentration import Behind, Concentration


@register
class Dominance(Concentration):
    r"""A cell is unsafe when its n largest contributions exceed k per cent of it.

    With contributions :math:`x_1 \ge x_2 \ge \dots` and total X the cell is unsafe when

    .. math:: x_1 + \dots + x_n > \tfrac{k}{100} X,

    and its protection level is :math:`\tfrac{100}{k}(x_1 + \dots + x_n) - X`, the distance to the
    smallest total that they would not dominate. Where all of them waived protection it is safe.

    The parameter stays out of public files: whoever knew it could narrow the intervals of hidden cells.

    References
    ----------
    Hundepool (2006), The ARGUS software in CENEX, PSD 2006, LNCS 4302, 334-346, section 2.3.2.
    """

    kind: Literal["dominance"] = "dominance"
    n: Annotated[int, Field(ge=1)] = Field(default=1, description="number of largest contributions")
    k: Annotated[float, Field(gt=0, lt=100)] = Secret(
        75.0, description="share of the cell, in per cent, that they may not exceed"
    )

    def _needed(self) -> int:
        return self.n

    def _level(self, cells: Behind) -> Floats:
        level = 100 / self.k * cells.units(float(self.n)) - cells.total
        first = cells.top[:, : self.n]
        waived = (cells.waived[:, : self.n] | (first == 0)).all(axis=1)
        return np.where(waived, 0.0, level)
