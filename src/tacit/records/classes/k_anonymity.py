"""k-anonymity: how many records share each combination of key values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
from pydantic import Field, model_validator

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.engine.codes import count_classes, wildcard_sizes
from tacit.engine.relational import N, W
from tacit.fields import ClassSize, EachQuasi, MissingKeys, WildcardShare
from tacit.plot.chart import Chart
from tacit.plot.families import class_sizes
from tacit.records.classes.class_values import free_name, shortfall
from tacit.registry import register
from tacit.result import Result, shown
from tacit.spec import Companions, Measure, Role

#: Counts in part that differ by less are equal.
ROUNDING = 1e-9


@register
class KAnonymity(Measure):
    """Class sizes on the keys, and the records in classes smaller than k.

    A class is the set of records that are equal on all keys of a quasi-identifier; data are k-anonymous
    when every class has at least k records. With several quasi-identifiers each is measured by itself
    and the smallest answer counts.

    References
    ----------
    Sweeney (2002), k-anonymity: a model for protecting privacy, IJUFKS 10(5), 557-570.
    """

    kind: Literal["k_anonymity"] = "k_anonymity"
    k: ClassSize = Field(
        default=2, description="the class size that is asked for; smaller classes violate it"
    )
    quasi: EachQuasi = None
    missing: MissingKeys = "category"
    alpha: WildcardShare = 1.0

    on_weight = "used"
    needs: ClassVar[frozenset[Role]] = frozenset({"keys"})
    axis: ClassVar[str] = "share of records that violate"

    @model_validator(mode="after")
    def _consistent(self) -> KAnonymity:
        if self.alpha < 1 and self.missing != "wildcard":
            raise ValueError("alpha goes with missing 'wildcard'")
        return self

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> KAnonymityResult:
        del other
        parts: dict[str, Classes] = {}
        for name, keys in data.quasi_identifiers(self.quasi).items():
            ctx.tick(f"class sizes on {name}")
            parts[name] = (
                by_wildcard(data, keys, self.alpha)
                if self.missing == "wildcard"
                else by_category(data, keys)
            )
        worst = min(parts.values(), key=lambda part: part.smallest)
        records = sum(worst.sizes_of_records.values())
        violations = max(part.records_below(self.k) for part in parts.values())
        alone = worst.records_below(2) if self.alpha < 1 else worst.sizes_of_records.get(1, 0)
        share = violations / records if records else 0.0
        title = f"k-anonymity on {', '.join(parts)}"
        return KAnonymityResult(
            kind=self.kind,
            title=title,
            value=share,
            records=records,
            classes=worst.n_classes,
            k=worst.smallest,
            unique_records=alone,
            violations=violations,
            share=share,
            average=records / worst.n_classes if worst.n_classes else 0.0,
            frame=worst.frame,
            explanation=(
                f"{company(worst.smallest)} The value compared before and after is the share of "
                "records in classes that are too small."
            ),
            parts=parts,
            requested=self.k,
            shortfall=shortfall(title, violations, records, self.k) if self.asked("k") else "",
        )


@dataclass(frozen=True)
class Classes:
    """Class sizes of one quasi-identifier.

    ``sizes_of_records`` gives, for each class size, the number of records in classes of that size; sizes are whole
    unless records that lack a key count in part.
    """

    keys: tuple[str, ...]
    frame: nw.DataFrame[Any]
    sizes_of_records: Mapping[float, int]
    n_classes: int

    @property
    def smallest(self) -> float:
        """Return the size of the smallest class; 0 when there are no records."""
        return min(self.sizes_of_records, default=0)

    def records_below(self, k: int) -> int:
        """Return how many records stand in classes smaller than k."""
        return sum(n for size, n in self.sizes_of_records.items() if size < k - ROUNDING)


@dataclass(frozen=True, repr=False, kw_only=True)
class KAnonymityResult(Result):
    """Class sizes by quasi-identifier."""

    records: int = shown("records")
    classes: int = shown("classes")
    k: float = shown("smallest class (k)")
    unique_records: int = shown("uniques")
    violations: int = shown("records in classes below {requested}")
    share: float = shown("share below {requested}")
    average: float = shown("average class size")
    parts: Mapping[str, Classes]
    requested: int

    @property
    def uniques(self) -> int:
        """Return the records that are alone in their class, in the worst quasi-identifier."""
        return max(part.records_below(2) for part in self.parts.values())

    def plot(self) -> Chart:
        """Return records by class size, for the quasi-identifier with the smallest class."""
        return next(iter(self.charts()))

    def charts(self) -> Iterable[Chart]:
        """Return one chart per quasi-identifier, worst first."""
        for name, part in sorted(self.parts.items(), key=lambda item: item[1].smallest):
            yield class_sizes(
                whole_sizes(part.sizes_of_records),
                k=self.requested,
                title=f"Records by class size: {name}",
                subtitle=", ".join(part.keys),
            )


def whole_sizes(sizes: Mapping[float, int]) -> dict[int, int]:
    """Return records by class size, sizes in part rounded down for the chart."""
    found: dict[int, int] = {}
    for size, records in sizes.items():
        at = int(size + ROUNDING)
        found[at] = found.get(at, 0) + records
    return found


def company(smallest: float) -> str:
    """Return the smallest class in words."""
    if smallest == 0:
        return "There are no records."
    if smallest != round(smallest):
        return f"The smallest class counts {smallest:,.3g} records, those that lack a key in part."
    if smallest == 1:
        return "Some records are alone with their key values."
    others = "one other" if smallest == 2 else f"{smallest - 1:,} others"
    return f"Every record shares its key values with at least {others}."


def by_category(data: Microdata, keys: tuple[str, ...]) -> Classes:
    """Count classes on the engine; a missing value is a value of its own."""
    table = as_frame(count_classes(data.frame, keys, data.weight))
    sizes = table.get_column(N).to_numpy().astype(np.int64)
    by_size = np.unique_counts(sizes)
    records: dict[float, int] = {
        int(s): int(s * n) for s, n in zip(by_size.values, by_size.counts, strict=True)
    }
    names = {N: free_name("records", keys), W: free_name("weighted", keys)}
    frame = table.rename({c: names[c] for c in table.columns if c in names})
    return Classes(keys, frame, records, len(sizes))


def by_wildcard(data: Microdata, keys: tuple[str, ...], alpha: float = 1.0) -> Classes:
    """Count, for each cell, the records that agree with it when missing values agree with all."""
    cells = data.cells(keys, weight=data.weight)
    sizes = wildcard_sizes(cells, alpha=alpha)
    if alpha in (0, 1):
        sizes = np.rint(sizes).astype(np.int64)
    columns: dict[str, Any] = {k: cells.keys[k].decode() for k in keys}
    columns[free_name("records", keys)] = cells.n
    columns[free_name("agreeing", keys)] = sizes
    if data.weight:
        columns[free_name("weighted", keys)] = wildcard_sizes(cells, weighted=True, alpha=alpha)
    distinct, of = np.unique(sizes, return_inverse=True)
    totals = np.bincount(of.ravel(), weights=cells.n, minlength=len(distinct))
    records = {s.item(): int(n) for s, n in zip(distinct, totals, strict=True)}
    return Classes(keys, as_frame(columns), records, len(cells))
