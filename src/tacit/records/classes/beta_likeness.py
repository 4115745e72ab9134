"""beta-likeness: how much more likely a class makes a sensitive value than the whole does."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from tacit.arrays import Floats
from tacit.fields import PositiveFloat
from tacit.records.classes.class_values import ClassValues
from tacit.records.classes.value_measure import ValueMeasure
from tacit.registry import register
from tacit.stats import class_models


@register
class BetaLikeness(ValueMeasure):
    r"""The largest relative gain of a sensitive value in each class, against its share among all records.

    With q the share of a value in a class and p its share among all records, a class obeys *basic* beta-likeness when

    .. math:: (q - p) / p \le \beta

    for every value that is more frequent in the class, and *enhanced* beta-likeness when

    .. math:: (q - p) / p \le \min(\beta, -\ln p),

    which keeps frequent values from certainty too. Values that are rarer in the class than in the whole are
    allowed: only gains count. With the enhanced variant a class with a gain above -ln p obeys no beta, and its number
    is infinite.

    References
    ----------
    Cao, Karras (2012), Publishing microdata with a robust privacy guarantee, PVLDB 5(11), 1388-1399, definitions 2 and 3.
    """

    kind: Literal["beta_likeness"] = "beta_likeness"
    beta: PositiveFloat = Field(
        default=1.0, description="the largest relative gain allowed; 1 means twice the share"
    )
    variant: Literal["basic", "enhanced"] = Field(
        default="enhanced",
        description="bound gains by beta alone, or also by minus the logarithm of the value's share",
    )

    heading: ClassVar[str] = "beta-likeness ({variant})"
    limit_field: ClassVar[str] = "beta"
    figure: ClassVar[str] = "gain"

    def figures(self, found: ClassValues) -> Floats:
        """Return the largest gain of each class."""
        enhanced = self.variant == "enhanced"
        gain = class_models.bounded_gain if enhanced else class_models.relative_gain
        return gain(found.of_class, found.value, found.n, found.n_classes)
