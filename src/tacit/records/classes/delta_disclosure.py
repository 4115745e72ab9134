"""delta-disclosure privacy: no class may tell a sensitive value to be much more, or much less, likely."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from tacit.arrays import Flags, Floats
from tacit.fields import PositiveFloat
from tacit.records.classes.class_values import ClassValues
from tacit.records.classes.value_measure import ValueMeasure
from tacit.registry import register
from tacit.stats import class_models

Absent = Literal["violates", "ignored"]


@register
class DeltaDisclosure(ValueMeasure):
    r"""How much each class changes the likelihood of a sensitive value, up or down, on the scale of logarithms.

    With p the share of a value in a class and q its share among all records, the data are delta-disclosure private when

    .. math:: |\log_2 (p / q)| < \delta

    for every class and every value. A value that does not occur in a class has p = 0, and no delta holds: every value
    must occur in every class. ``absent="ignored"`` looks at the values that occur in the class alone, as some software
    does; the intruder then still learns for certain what somebody does *not* have.

    References
    ----------
    Brickell, Shmatikov (2008), The cost of privacy: destruction of data-mining utility in anonymized data publishing,
    KDD, 70-78.
    """

    kind: Literal["delta_disclosure"] = "delta_disclosure"
    delta: PositiveFloat = Field(
        default=1.0,
        description="the logarithm to base 2 that every ratio of shares must stay below; 1 means half to double",
    )
    absent: Absent = Field(
        default="violates",
        description="whether a class in which a value does not occur violates, as the definition has it, or absent values are ignored",
    )

    heading: ClassVar[str] = "delta-disclosure privacy"
    limit_field: ClassVar[str] = "delta"
    figure: ClassVar[str] = "log ratio"

    def figures(self, found: ClassValues) -> Floats:
        """Return the largest |log2(p / q)| of each class."""
        rows = found.of_class, found.value, found.n, found.n_classes
        return class_models.log_ratio(*rows, all_values=self.absent == "violates")

    def is_within(self, figures: Floats, room: float = class_models.TOLERANCE) -> Flags:
        """Return which ratios are below delta: the inequality is strict."""
        return figures <= self.delta - room
