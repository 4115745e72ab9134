"""Uniqueness: for every small set of columns, how many records stand alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.engine.subsets import all_subsets, subset_counts, unordered_cells
from tacit.errors import ColumnNotFound, RoleMissing, SdcError
from tacit.fields import ClassSize, ColumnNames, PositiveInt, Probability
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.plot.heat import Square, heat_map
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

SHOWN = 20


@register
class Uniqueness(Measure):
    r"""Share of records that are alone, for every set of up to max_size columns.

    For a set X of columns let f(x) be the number of records with the values x. A record is at risk
    on X when f(x) <= threshold; with threshold 1 it is unique. The share

    .. math:: u(X) = \frac{1}{n} \#\{ i : f(x_i) \le \mathrm{threshold} \}

    never falls when a column is added, so the smallest sets that reach a given share say which
    columns together are a quasi-identifier. A missing value counts as a value of its own.

    References
    ----------
    Sweeney (2000), Foundations of Privacy Protection from a Computer Science Perspective, Figure 13.
    """

    kind: Literal["uniqueness"] = "uniqueness"
    max_size: PositiveInt = Field(default=3, description="most columns in a set")
    columns: ColumnNames | None = Field(
        default=None, description="the columns; by default the keys"
    )
    threshold: ClassSize = Field(
        default=1, description="largest class whose records count as at risk; 1 means unique"
    )
    reach: Probability = Field(
        default=0.5, description="share for which the smallest sets that reach it are listed"
    )

    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: no columns named and no keys declared."""
        found = super().faults(data)
        if self.columns is None and not data.keys:
            found.append(
                RoleMissing(
                    "uniqueness needs columns: name them, or declare keys with tacit.read(..., keys=...)."
                )
            )
        return found

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> UniquenessResult:
        del other
        names = tuple(dict.fromkeys(self.columns or data.keys))
        ctx.tick("coding the columns")
        cells = unordered_cells(data.frame, names, data.engine)
        sets = all_subsets(names, self.max_size)
        rows: dict[tuple[str, ...], tuple[int, ...]] = {}
        for subset, sizes in subset_counts(cells, sets):
            ctx.tick(f"set {len(rows) + 1} of {len(sets)}", len(rows) / len(sets))
            small = int(sizes[sizes <= self.threshold].sum())
            smallest = int(sizes.min()) if len(sizes) else 0
            rows[subset] = int((sizes == 1).sum()), small, len(sizes), smallest
        uniques, at_risk, classes, fewest = map(list, zip(*(rows[s] for s in sets), strict=True))
        n = cells.total
        shares = {s: small / n if n else 0.0 for s, small in zip(sets, at_risk, strict=True)}
        reaching = minimal_sets(shares, self.reach)
        top = max(sets, key=lambda s: shares[s])
        return UniquenessResult(
            kind=self.kind,
            title=f"Uniqueness over sets of up to {self.max_size} of {len(names)} columns",
            value=shares[top],
            numbers={
                "records": n,
                "sets": len(sets),
                "largest share at risk": shares[top],
                "on the set": ", ".join(top),
                f"smallest sets reaching {self.reach:g}": len(reaching),
                **{
                    f"largest share, {size} columns": max(
                        v for s, v in shares.items() if len(s) == size
                    )
                    for size in dict.fromkeys(map(len, sets))
                },
            },
            frame=as_frame(
                {
                    "columns": [" x ".join(s) for s in sets],
                    "size": [len(s) for s in sets],
                    "uniques": uniques,
                    "at_risk": at_risk,
                    "share": list(shares.values()),
                    "classes": classes,
                    "smallest": fewest,
                }
            ),
            explanation=(
                f"A record is at risk on a set of columns when at most {self.threshold} "
                "record(s) share its values. The value compared before and after is the largest share."
            ),
            names=names,
            shares=shares,
            minimal=reaching,
        )


@dataclass(frozen=True, repr=False)
class UniquenessResult(Result):
    """Shares at risk by set of columns."""

    #: The columns that were combined.
    names: tuple[str, ...] = ()
    #: Share of records at risk, by set.
    shares: dict[tuple[str, ...], float] = None  # type: ignore[assignment]
    #: The sets that reach the asked share while none of their proper subsets does.
    minimal: tuple[tuple[str, ...], ...] = ()

    def share(self, *columns: str) -> float:
        """Return the share of records at risk on a set of columns, named in any order."""
        wanted = frozenset(columns)
        for subset, share in self.shares.items():
            if frozenset(subset) == wanted:
                return share
        raise ColumnNotFound(
            [" x ".join(columns)], [" x ".join(s) for s in self.shares], "the sets"
        )

    def smallest_sets(self, share: float) -> tuple[tuple[str, ...], ...]:
        """Return the sets that reach a share while none of their proper subsets does."""
        return minimal_sets(self.shares, share)

    def plot(self) -> Chart:
        """Return the sets with the largest shares as bars."""
        ranked = sorted(self.shares.items(), key=lambda item: (-item[1], len(item[0])))[:SHOWN]
        items = [(" x ".join(s), v) for s, v in ranked]
        return bars(items, title="Records at risk by set of columns", y="share of records")

    def charts(self) -> Iterable[Chart]:
        """Return the bars and, with two columns or more, the map of pairs."""
        yield self.plot()
        if any(len(s) == 2 for s in self.shares):
            yield pair_map(self.names, self.shares)


def minimal_sets(shares: dict[tuple[str, ...], float], share: float) -> tuple[tuple[str, ...], ...]:
    """Return the sets that reach a share while none of their proper subsets does, small ones first."""
    found: list[tuple[str, ...]] = []
    for subset, value in sorted(shares.items(), key=lambda item: len(item[0])):
        if value >= share and not any(set(f) < set(subset) for f in found):
            found.append(subset)
    return tuple(found)


def pair_map(names: Sequence[str], shares: dict[tuple[str, ...], float]) -> Chart:
    """Return a heat map of the shares on pairs, with single columns on the diagonal."""
    return heat_map(
        [
            Square(s[0], s[-1], v, f"{v:.2f}", f"{s[0]} with {s[-1]} {v:.3g}")
            for s, v in shares.items()
            if len(s) <= 2
        ],
        title="Records at risk by pair of columns",
        subtitle="single columns on the diagonal",
        rows=names,
        columns=names,
        scale={"scheme": "oranges", "domain": [0, 1]},
        legend={},
        meaning="share of records",
        angle=None,
    )
