"""l-diversity: how varied the sensitive values are within each class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.errors import SdcError
from tacit.fields import (
    EachQuasi,
    MissingKeys,
    PositiveFloat,
    SensitiveColumns,
    WildcardShare,
)
from tacit.plot.chart import Chart
from tacit.plot.families import SIZE_BINS, columns
from tacit.records.classes.class_result import ClassPart, ClassResult
from tacit.records.classes.class_values import (
    ClassValues,
    Missing,
    class_table,
    columns_of_interest,
    sensitive_faults,
    shortfall,
    values_in_classes,
    values_that_agree,
)
from tacit.registry import register
from tacit.spec import Companions, Measure, Role
from tacit.stats import class_models

Variant = Literal["distinct", "entropy", "recursive"]


@register
class LDiversity(Measure):
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
    missing: Missing = Field(
        default="category",
        description="a missing sensitive value counts as a value of its own, or its record is left out",
    )
    missing_keys: MissingKeys = "category"
    alpha: WildcardShare = 1.0

    needs: ClassVar[frozenset[Role]] = frozenset({"keys"})
    axis: ClassVar[str] = "share of records that violate"

    @model_validator(mode="after")
    def _consistent(self) -> LDiversity:
        if self.alpha < 1 and self.missing_keys != "wildcard":
            raise ValueError("alpha goes with missing_keys 'wildcard'")
        return self

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: no sensitive column."""
        return [*super().faults(data), *sensitive_faults(data, self.sensitive, self.kind)]

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> LDiversityResult:
        del other
        parts = []
        for name, keys in data.quasi_identifiers(self.quasi).items():
            columns = columns_of_interest(data, self.sensitive)
            for group in [columns] if self.together else [(c,) for c in columns]:
                told = " x ".join(group)
                ctx.tick(f"diversity of {told} on {name}")
                found = (
                    values_that_agree(data, keys, group, self.missing, self.alpha)
                    if self.missing_keys == "wildcard"
                    else values_in_classes(data, keys, group, self.missing)
                )
                parts.append(self.part(name, told, found))
        worst = min(parts, key=lambda part: (part.smallest, -part.violations))
        violations = max(part.violations for part in parts)
        share = max(part.violations / part.records if part.records else 0.0 for part in parts)
        numbers = {
            "records": worst.records,
            "classes": len(worst.sizes),
            "smallest diversity (l)": worst.smallest,
            f"records in classes below {self.l:g}": violations,
            f"share below {self.l:g}": share,
            "largest share of one value in a class": max(part.largest_share for part in parts),
        }
        title = (
            f"l-diversity ({self.variant}) of {', '.join(dict.fromkeys(p.column for p in parts))}"
        )
        return LDiversityResult(
            kind=self.kind,
            title=title,
            value=share,
            numbers=numbers,
            frame=worst.frame,
            explanation=(
                "The value compared before and after is the share of records in classes that are not diverse enough. "
                "The largest share of one value is how sure an intruder can be of it from the class alone."
            ),
            parts=tuple(parts),
            requested=self.l,
            shortfall=shortfall(title, violations, worst.records, self.l)
            if self.asked("l")
            else "",
        )

    def part(self, quasi: str, column: str, found: ClassValues) -> Diversity:
        """Return the diversity of one column on one quasi-identifier."""
        diversity = class_diversity(found, self.variant, self.c)
        amounts = np.bincount(found.of_class, weights=found.n, minlength=found.n_classes)
        share = class_models.largest_amounts(found.of_class, found.n, found.n_classes) / np.maximum(
            amounts, 1
        )
        below = diversity < self.l - class_models.TOLERANCE
        return Diversity(
            quasi=quasi,
            column=column,
            keys=tuple(found.keys),
            sizes=found.sizes,
            diversity=diversity,
            smallest=tidy_diversities(diversity.min(initial=np.inf)),
            violations=int(found.sizes[below].sum()),
            largest_share=float(share.max(initial=0.0)),
            frame=class_table(found, {"l": diversity, "largest share": share}),
        )


@dataclass(frozen=True)
class Diversity(ClassPart):
    """Diversity by class of one sensitive column on one quasi-identifier.

    ``smallest`` is the diversity of the least diverse class (0 when there are no records);
    ``violations`` the records in classes below the one asked for; ``largest_share`` the largest share
    of one value in any class.
    """

    diversity: Floats
    smallest: float
    largest_share: float

    @property
    def extreme(self) -> float:
        """Return the diversity of the least diverse class."""
        return self.smallest


@dataclass(frozen=True, repr=False)
class LDiversityResult(ClassResult[Diversity]):
    """Diversity by quasi-identifier and sensitive column."""

    requested: float = 2
    smaller_is_worse = True

    @property
    def l(self) -> float:  # noqa: E743 - the literature's letter
        """Return the smallest diversity over classes, sensitive columns and quasi-identifiers."""
        return self.extreme

    def charts(self) -> Iterable[Chart]:
        """Return one chart per column and quasi-identifier, least diverse first."""
        for part in self.worst_first():
            yield columns(
                diversity_bins(part.diversity, part.sizes, self.requested),
                title=f"Records by diversity of {part.column}",
                subtitle=f"{part.quasi}: {', '.join(part.keys)}",
                x="diversity of the record's class (l)",
            )


def class_diversity(found: ClassValues, variant: Variant, c: float = 3.0) -> Floats:
    """Return the diversity of each class."""
    rows = found.of_class, found.n, found.n_classes
    if variant == "entropy":
        return class_models.entropy_diversity(*rows)
    if variant == "recursive":
        return class_models.recursive_diversity(*rows, c)
    return class_models.distinct_diversity(found.of_class, found.n_classes)


def tidy_diversities(smallest: float) -> float:
    """Return whole diversities, up to rounding, as whole numbers, and none at all (no classes) as 0."""
    if np.isinf(smallest):
        return 0
    near = round(smallest)
    return near if abs(smallest - near) <= class_models.TOLERANCE * near else float(smallest)


def diversity_bins(diversity: Floats, sizes: Ints, limit: float) -> list[tuple[str, int, bool]]:
    """Return (label, records, below the limit) for whole diversities, binned as class sizes are."""
    whole = np.floor(diversity + class_models.TOLERANCE)
    rows = []
    for label, low, high in SIZE_BINS:
        inside = (whole >= low) & (whole <= (np.inf if high is None else high))
        rows.append((label, int(sizes[inside].sum()), low < limit))
    return rows
