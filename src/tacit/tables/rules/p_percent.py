"""The p% rule: nobody may estimate another's contribution too closely."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tacit.arrays import Floats
from tacit.fields import Secret
from tacit.registry import register
from tacit.tables.rules.concentration import Behind, Coalition, Concentration, target_and_rest


@register
class PPercent(Concentration):
    r"""A cell is unsafe when a contributor can estimate another to within p per cent.

    With contributions :math:`x_1 \ge x_2 \ge \dots` and total X, a coalition of n contributors who know
    their own can estimate the largest one best. The cell is unsafe when

    .. math:: X - x_1 - \dots - x_{n+1} < \tfrac{p}{100}\, x_1,

    and its protection level is the difference of the two sides. A contributor who waived protection is
    not a target but may be an intruder.

    The parameter stays out of public files: whoever knew it could narrow the intervals of hidden cells.

    References
    ----------
    Hundepool (2006), The ARGUS software in CENEX, PSD 2006, LNCS 4302, 334-346, section 2.3.2.
    """

    kind: Literal["p_percent"] = "p_percent"
    p: Annotated[float, Field(gt=0)] = Secret(
        10.0, description="an estimate closer than p per cent of the contribution is too close"
    )
    n: Coalition = 1

    def _needed(self) -> int:
        return self.n + 1

    def _level(self, cells: Behind) -> Floats:
        target, rest = target_and_rest(cells, self.n)
        return self.p / 100 * target - rest
