"""(alpha, k)-anonymity: classes of k records in which no sensitive value is too frequent."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Flags, Floats
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.fields import ClassSize, Probability
from tacit.records.classes.class_values import (
    ClassValues,
    columns_of_interest,
    values_in_classes,
)
from tacit.records.classes.value_measure import ValueMeasure, ValueResult
from tacit.registry import register
from tacit.spec import Companions
from tacit.stats import class_models


@register
class AlphaK(ValueMeasure):
    r"""The largest share of a sensitive value in each class, and the classes with fewer than k records.

    A class obeys (alpha, k)-anonymity when it has at least k records and each sensitive value has a share of at most
    alpha in it. All values count, or those alone that ``values`` names (a diagnosis, say, and not "none"). Shares are of
    all records of the class; with ``missing="ignore"`` a missing value is no value that could be too frequent.

    References
    ----------
    Wong, Li, Fu, Wang (2006), (alpha, k)-anonymity: an enhanced k-anonymity model for privacy preserving data
    publishing, KDD, 754-759.
    """

    kind: Literal["alpha_k"] = "alpha_k"
    alpha: Probability = Field(
        default=0.5, description="the largest share that a sensitive value may have in a class"
    )
    k: ClassSize = Field(default=2, description="the records that every class must have")
    values: tuple[str, ...] | None = Field(
        default=None,
        description="the sensitive values that count, written as text; by default every value",
    )

    heading: ClassVar[str] = "(alpha, k)-anonymity with k = {k}"
    limit_field: ClassVar[str] = "alpha"
    figure: ClassVar[str] = "share of one value"

    def asked(self, *names: str) -> bool:
        """Return True when a threshold was given; k is one as much as alpha."""
        return super().asked(*names, "k")

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> ValueResult:
        found = super()._measure(data, other, ctx)
        if self.values is None:
            return found
        columns = columns_of_interest(data, self.sensitive)
        known = {str(v) for c in columns for v in data.codes(c).values.to_pylist()}
        told = f"{len(known.intersection(self.values))} of {len(set(self.values))}"
        return dataclasses.replace(
            found, numbers={**found.numbers, "named values that occur": told}
        )

    def count(self, data: Microdata, keys: Sequence[str], column: str) -> ClassValues:
        """Return how often each value occurs; a record without a value belongs to its class all the same."""
        return values_in_classes(data, keys, column, "category")

    def figures(self, found: ClassValues) -> Floats:
        """Return the largest share of a value that counts, in each class."""
        counts = self.counted(found.values.to_pylist())[found.value]
        return class_models.largest_share(found.of_class[counts], found.n[counts], found.sizes)

    def violates(self, found: ClassValues, figures: Floats) -> Flags:
        """Add the classes that are too small."""
        return super().violates(found, figures) | (found.sizes < self.k)

    def counted(self, values: Sequence[object]) -> Flags:
        """Return, for each value and for null after the last, whether it counts."""
        named = [self.values is None or str(v) in self.values for v in values]
        return np.array([*named, self.values is None and self.missing == "category"], dtype=bool)
