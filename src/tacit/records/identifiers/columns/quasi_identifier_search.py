"""Which sets of columns are quasi-identifiers: how well they tell records apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.engine.subsets import all_subsets, subset_counts, unordered_cells
from tacit.errors import RoleMissing, SdcError
from tacit.fields import ColumnNames, PositiveInt, Probability
from tacit.plot.chart import Chart
from tacit.plot.families import grouped_bars
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

Set = tuple[str, ...]
SHOWN = 15


@register
class QuasiIdentifierSearch(Measure):
    r"""Distinction and separation of every set of up to max_size columns, and the smallest sets that are quasi-identifiers.

    On a set of columns with classes of n_1, ..., n_c of the n records,

    .. math:: \mathrm{distinction} = c / n, \qquad
        \mathrm{separation} = 1 - \frac{\sum_j n_j (n_j - 1)}{n (n - 1)}:

    the number of different combinations by records, and the share of the pairs of records that differ on the set. Both grow with
    the set. Distinction 1 is a key of the file. A set is called a quasi-identifier here when it reaches both limits, and a
    minimal one when no smaller part of it does. By default all columns are searched except identifiers, the weight, the household
    and the stratum; a missing value counts as a value of its own.

    References
    ----------
    Motwani, Xu (2007), Efficient algorithms for masking and finding quasi-identifiers, VLDB workshop on secure data
    management.
    """

    kind: Literal["quasi_identifier_search"] = "quasi_identifier_search"
    max_size: PositiveInt = Field(default=3, description="most columns in a set")
    columns: ColumnNames | None = Field(
        default=None,
        description="the columns; by default all but identifiers, weight, household and stratum",
    )
    distinction: Probability = Field(
        default=0.5, description="the distinction from which a set is a quasi-identifier"
    )
    separation: Probability = Field(
        default=0.9, description="the separation from which a set is a quasi-identifier"
    )

    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"
    axis: ClassVar[str] = "largest distinction"

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: no columns left to search."""
        found = super().faults(data)
        if not found and not self.searched(data):
            found.append(
                RoleMissing(
                    "quasi_identifier_search has no column to look at: name some with columns=."
                )
            )
        return found

    def searched(self, data: Microdata) -> Set:
        """Return the columns that are combined."""
        if self.columns is not None:
            return tuple(dict.fromkeys(self.columns))
        left_out = {*data.identifiers, data.weight, data.household, data.stratum}
        return tuple(c for c in data.columns if c not in left_out)

    def _measure(
        self, data: Microdata, other: Companions, ctx: Context
    ) -> QuasiIdentifierSearchResult:
        del other
        names = self.searched(data)
        ctx.tick("coding the columns")
        cells = unordered_cells(data.frame, names, data.engine)
        sets = all_subsets(names, self.max_size)
        found: dict[Set, tuple[float, float]] = {}
        for subset, sizes in subset_counts(cells, sets):
            ctx.tick(f"set {len(found) + 1} of {len(sets)}", len(found) / len(sets))
            found[subset] = tell_apart(sizes)
        table = {s: found[s] for s in sets}
        minimal = smallest_sets(table, self.distinction, self.separation)
        top = max(sets, key=lambda s: (table[s][0], -len(s)))
        within = {c: sum(c in s for s in minimal) for c in names}
        return QuasiIdentifierSearchResult(
            kind=self.kind,
            title=f"Quasi-identifiers among sets of up to {self.max_size} of {len(names)} columns",
            value=table[top][0],
            numbers={
                "records": cells.total,
                "sets": len(sets),
                "largest distinction": table[top][0],
                "on the set": ", ".join(top),
                "minimal quasi-identifiers": len(minimal),
                "columns in one of them": ", ".join(c for c in names if within[c]) or "none",
            },
            frame=as_frame(
                {
                    "columns": [" x ".join(s) for s in table],
                    "size": [len(s) for s in table],
                    "distinction": [d for d, _ in table.values()],
                    "separation": [s for _, s in table.values()],
                    "minimal": [s in minimal for s in table],
                }
            ),
            explanation=(
                "Distinction is the number of different combinations by records, separation the share of pairs of records that "
                "differ. A minimal quasi-identifier reaches both limits and no part of it does. Whether an intruder can know the "
                "columns is for people to judge."
            ),
            sets=table,
            minimal=minimal,
        )


@dataclass(frozen=True, repr=False)
class QuasiIdentifierSearchResult(Result):
    """Distinction and separation by set of columns; ``minimal`` lists the smallest quasi-identifiers."""

    sets: dict[Set, tuple[float, float]] = None  # type: ignore[assignment]
    minimal: tuple[Set, ...] = ()

    def plot(self) -> Chart:
        """Return the sets with the largest distinction."""
        ranked = sorted(self.sets.items(), key=lambda item: (-item[1][0], len(item[0])))[:SHOWN]
        items = [
            (" x ".join(s), part, value)
            for s, pair in ranked
            for part, value in zip(("distinction", "separation"), pair, strict=True)
        ]
        return grouped_bars(items, title="How well sets of columns tell records apart", y="share")


def tell_apart(sizes: Ints) -> tuple[float, float]:
    """Return distinction and separation from the sizes of classes; a single record is distinct from all others."""
    n = int(sizes.sum())
    if not n:
        return 0.0, 0.0
    # In Python's integers: the squares of large classes exceed 64 bits in sum.
    counts = (part.tolist() for part in np.unique(sizes, return_counts=True))
    alike = sum(size * (size - 1) * times for size, times in zip(*counts, strict=True))
    pairs = n * (n - 1)
    return len(sizes) / n, (pairs - alike) / pairs if pairs else 1.0


def smallest_sets(
    table: dict[Set, tuple[float, float]], distinction: float, separation: float
) -> tuple[Set, ...]:
    """Return the sets that reach both limits while none of their proper subsets does."""
    found: list[Set] = []
    for subset, (distinct, apart) in sorted(table.items(), key=lambda item: len(item[0])):
        reaches = distinct >= distinction and apart >= separation
        if reaches and not any(set(f) < set(subset) for f in found):
            found.append(subset)
    return tuple(found)
