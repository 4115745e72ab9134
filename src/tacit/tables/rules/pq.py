"""The pq rule: the p% rule when outsiders know all contributions to within q per cent."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from tacit.arrays import Floats
from tacit.fields import Secret
from tacit.registry import register
from tacit.tables.rules.concentration import Behind, Coalition, Concentration, target_and_rest


@register
class Pq(Concentration):
    r"""A cell is unsafe when knowledge to within q per cent can be sharpened to p per cent.

    Before publication every contribution is known to within q per cent; the second largest contributor
    then estimates the largest with an error of at most q per cent of the others. Unsafe when

    .. math:: \tfrac{q}{100}(X - x_1 - \dots - x_{n+1}) < \tfrac{p}{100}\, x_1,

    with protection level :math:`\tfrac{p}{q} x_1 - (X - x_1 - \dots - x_{n+1})`. It is the p% rule with
    100 p / q in place of p.

    The parameter stays out of public files: whoever knew it could narrow the intervals of hidden cells.

    References
    ----------
    Hundepool (2006), The ARGUS software in CENEX, PSD 2006, LNCS 4302, 334-346, section 2.3.2.
    """

    kind: Literal["pq"] = "pq"
    p: Annotated[float, Field(gt=0)] = Secret(
        10.0, description="an estimate closer than p per cent of the contribution is too close"
    )
    q: Annotated[float, Field(gt=0, le=100)] = Secret(
        50.0, description="how closely, in per cent, contributions are known beforehand; above p"
    )
    n: Coalition = 1

    @model_validator(mode="after")
    def _sharper(self) -> Pq:
        """Refuse a q that is below p: nothing could be learnt then."""
        if self.q < self.p:
            raise ValueError("q must be at least p: more would be known before than may be learnt")
        return self

    def _needed(self) -> int:
        return self.n + 1

    def _level(self, cells: Behind) -> Floats:
        target, rest = target_and_rest(cells, self.n)
        return self.p / self.q * target - rest
