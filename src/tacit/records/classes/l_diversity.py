"""l-diversity: how varied the sensitive values are within each class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.fields import EachQuasi, MissingKeys, PositiveFloat, SensitiveColumns, WildcardShare
from tacit.plot.chart import Chart
from tacit.plot.families import SIZE_BINS
from tacit.records.classes.class_values import (
    ClassValues,
    MissingValues,
    class_table,
    columns_of_interest,
    values_in_classes,
    values_that_agree,
)
from tacit.records.classes.value_measure import ClassMeasure, ClassPart, ClassResult, Looked
from tacit.registry import register
from tacit.spec import Companions
from tacit.stats import class_models

Variant = Literal["distinct", "entropy", "recursive"]


@register
class LDiversity(ClassMeasure):
    """Diversity of the sensitive values in each class, and the records in classes below l.

    With p_1, ..., p_m the shares of the values in a class, and r_1 >= ... >= r_m their counts, the
    class has diversity

    * distinct: m, the number of different values;
    * entropy: exp(-sum p_i ln p_i), the number of equally frequent values with the same entropy;
    * recursive (c, l): the largest l with r_1 < c (r_l + ... + r_m); 1 always holds.

    The data have the smallest diversity over all classes, sensitive columns and quasi-identifiers.
    Each sensitive column is looked at by itself, or with ``together`` all of them as one column of joint
    values: two records then differ when they differ in any of the columns. Diversity says nothing about how far a class departs
    from the whole (skewness), nor about values that differ in name only (similarity): see
    ``t_closeness``.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam (2007), l-diversity: privacy beyond k-anonymity,
    ACM TKDD 1(1), article 3.
    """

    kind: Literal["l_diversity"] = "l_diversity"
    l: float = Field(  # noqa: E741 - the literature's letter
        default=2, ge=1, description="the diversity asked for; less diverse classes violate it"
    )
    variant: Variant = Field(
        default="distinct",
        description="how diversity is counted: distinct values, entropy, or recursive (c, l)",
    )
    c: PositiveFloat = Field(
        default=3.0,
        description="recursive only: the most frequent value stays below c times the records from the l-th value on",
    )
    sensitive: SensitiveColumns = None
    together: bool = Field(
        default=False,
        description="joint values of the sensitive columns count as one value each, instead of column by column",
    )
    quasi: EachQuasi = None
    missing: MissingValues = "category"
    missing_keys: MissingKeys = "category"
    alpha: WildcardShare = 1.0

    heading: ClassVar[str] = "l-diversity ({variant})"
    limit_field: ClassVar[str] = "l"
    figure: ClassVar[str] = "diversity"
    explanation: ClassVar[str] = (
        "The value compared before and after is the share of records in classes that are not diverse enough. "
        "The largest share of one value is how sure an intruder can be of it from the class alone."
    )

    @model_validator(mode="after")
    def _consistent(self) -> LDiversity:
        if self.alpha < 1 and self.missing_keys != "wildcard":
            raise ValueError("alpha goes with missing_keys 'wildcard'")
        return self

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> LDiversityResult:
        del other
        return self._result(LDiversityResult, data, ctx)

    def looked_at(self, data: Microdata) -> Sequence[str]:
        """Return one name for all columns where their joint values count."""
        names = super().looked_at(data)
        return [" x ".join(names)] if self.together else names

    def count(self, data: Microdata, keys: Sequence[str], column: str) -> ClassValues:
        """Return how often each value occurs among the records that agree with each class."""
        columns = columns_of_interest(data, self.sensitive) if self.together else (column,)
        if self.missing_keys == "wildcard":
            return values_that_agree(data, keys, columns, self.missing, self.alpha)
        return values_in_classes(data, keys, columns, self.missing)

    def figures(self, found: ClassValues) -> Floats:
        """Return the diversity of each class."""
        rows = found.of_class, found.n, found.n_classes
        if self.variant == "entropy":
            return class_models.entropy_diversity(*rows)
        if self.variant == "recursive":
            return class_models.recursive_diversity(*rows, self.c)
        return class_models.distinct_diversity(found.of_class, found.n_classes)

    def is_within(self, figures: Floats, room: float = class_models.TOLERANCE) -> Flags:
        """Return which diversities reach l."""
        return figures >= self.l - room

    def extreme(self, figures: Floats) -> float:
        """Return the smallest diversity: whole, up to rounding, as a whole number; 0 without classes."""
        smallest = figures.min(initial=np.inf)
        if np.isinf(smallest):
            return 0
        near = round(smallest)
        same = abs(smallest - near) <= class_models.TOLERANCE * near
        return near if same else float(smallest)

    def rank(self, part: ClassPart) -> tuple[float, ...]:
        """Return by what parts are compared: the least diverse is the worst."""
        return -part.extreme, part.violations

    def part(self, quasi: str, column: str, found: ClassValues) -> ClassPart:
        """Add the largest share of one value in each class."""
        part = super().part(quasi, column, found)
        amounts = np.bincount(found.of_class, weights=found.n, minlength=found.n_classes)
        top = class_models.largest_by(found.of_class, found.n, found.n_classes)
        share = top / np.maximum(amounts, 1)
        frame = class_table(found, {"l": part.figures, "largest share": share})
        return replace(part, largest_share=float(share.max(initial=0.0)), frame=frame)

    def tell(self, looked: Looked) -> dict[str, Any]:
        """Return the smallest diversity, how many records are below l, and how sure an intruder can be."""
        return {
            "smallest diversity (l)": looked.worst.extreme,
            f"records in classes below {self.l:g}": looked.violations,
            f"share below {self.l:g}": looked.share,
            "largest share of one value in a class": max(p.largest_share for p in looked.parts),
        }


@dataclass(frozen=True, repr=False)
class LDiversityResult(ClassResult[ClassPart]):
    """Diversity by quasi-identifier and sensitive column."""

    requested: float = 2
    smaller_is_worse = True

    @property
    def l(self) -> float:  # noqa: E743 - the literature's letter
        """Return the smallest diversity over classes, sensitive columns and quasi-identifiers."""
        return self.extreme

    def charts(self) -> Iterable[Chart]:
        """Return one chart per column and quasi-identifier, least diverse first."""
        return self._charts(
            diversity_bins, "diversity of {}", "diversity of the record's class (l)"
        )


def diversity_bins(diversity: Floats, sizes: Ints, limit: float) -> list[tuple[str, int, bool]]:
    """Return (label, records, below the limit) for whole diversities, binned as class sizes are."""
    whole = np.floor(diversity + class_models.TOLERANCE)
    rows = []
    for label, low, high in SIZE_BINS:
        inside = (whole >= low) & (whole <= (np.inf if high is None else high))
        rows.append((label, int(sizes[inside].sum()), low < limit))
    return rows
