"""Information lost by PRAM: in entropy, in corrected tables, in their variance, in regression."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import refuse_lost_links, shared_positions
from tacit.data.values import as_frame, as_numbers
from tacit.engine.base import ROW
from tacit.errors import InputError, require_columns
from tacit.fields import ColumnName
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.pram import (
    Differences,
    Randomised,
    Transition,
    coefficients_of_variation,
    corrected,
    expected_information_loss,
    information_loss,
    regression_differences,
    relative_differences,
    true_variance,
)
from tacit.records.pram.bundle import MatricesGiven
from tacit.records.pram.randomised import (
    LARGEST,
    by_matrices,
    classes_of,
    codes_among,
    find_newly_randomised,
    part_numbers,
    rule_flags,
    split_columns,
)
from tacit.records.pram.transition import xlogx
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure


@register
class PramLoss(Measure):
    r"""Information lost by PRAM: entropy, frequency tables, variance and regression.

    With p_lk = P(original = k | released = l) the entropy losses of a table are

    .. math:: EBIL = -\sum_l T_X(l) \sum_k p_{lk} \log p_{lk}, \qquad
              IL = -\sum_{k,l} T_{\xi,X}(k,l) \log p_{lk},

    the expected and the realised one. RD is the median over cells of |T - T_hat| / T with T_hat the table
    corrected by the matrix, mRD the largest finite one and #Inf the number of cells that were empty and
    are not estimated so; CV and mCV are median and maximum of the coefficient of variation of T_hat; LRD and
    mLRD those of the relative difference between the mean of a response in each category and its corrected
    estimate. The one number for comparisons is EBIL as a share of the entropy of the original columns: 0,
    nothing is lost; 1, everything.

    The paper's logarithms are to base 10, which it does not say; its Table 3 shows it.

    References
    ----------
    de Wolf (2006), Risk, utility and PRAM, PSD 2006, LNCS 4302, 189-204, section 4.
    """

    kind: Literal["pram_loss"] = "pram_loss"
    tables: tuple[tuple[ColumnName, ...], ...] = Field(
        default=(),
        description="the tables compared; by default every randomised variable alone, and every pair of them",
    )
    response: tuple[ColumnName, ...] = Field(
        default=(), description="numeric columns whose means by category are compared (LRD)"
    )
    base: float = Field(
        default=10.0, gt=1, description="base of the logarithm in the entropy losses"
    )
    matrices: MatricesGiven = None

    family: ClassVar[str] = "utility"
    compares: ClassVar[bool] = True
    better: ClassVar[Literal["lower", "higher"] | None] = "lower"
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    number_fields = ("response",)

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns of all tables."""
        return tuple(dict.fromkeys([*(c for t in self.tables for c in t), *self.response]))

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> PramLossResult:
        original = other.original
        variables = find_newly_randomised(original, data, self.matrices, self.kind)
        singles = [v.columns for v in variables]
        pairs = [(*a, *b) for a, b in itertools.combinations(singles, 2)]
        both = match_records(original, data, variables, self, (*singles, *self.tables))
        found = []
        for columns in self.tables or (*singles, *pairs):
            ctx.tick(f"loss in {' x '.join(columns)}")
            found.append(self.table_loss(both, columns, variables))
        entropy, most = self.entropy(both, variables)
        slopes = [self.regression(both, v, y) for v in variables for y in self.response]
        return self.result(found, slopes, entropy / most if most > 0 else 0.0)

    def entropy(self, both: Linked, variables: Sequence[Randomised]) -> tuple[float, float]:
        """Return the expected loss of the randomised variables, and the most that could be lost."""
        lost = most = 0.0
        for v in variables:
            for slab in both.slabs(v.columns, [v], self.kind):
                lost += expected_information_loss(slab.before, slab.after, slab.matrices)
            t = np.bincount(both.old[v.columns][both.old[v.columns] >= 0], minlength=v.size)
            most += -float(xlogx(t / max(t.sum(), 1)).sum()) * float(t.sum()) / np.log(10.0)
        return lost, most

    def table_loss(
        self, both: Linked, columns: Sequence[str], variables: Sequence[Randomised]
    ) -> TableLosses:
        """Return the losses of one table."""
        ebil = il = 0.0
        table: Any = 0.0
        estimate: Any = 0.0
        variance: Any = 0.0
        for slab in both.slabs(columns, variables, self.kind):
            ebil += expected_information_loss(
                slab.before, slab.after, slab.matrices, base=self.base
            )
            il += information_loss(
                slab.original, slab.released, slab.before, slab.matrices, base=self.base
            )
            table = table + slab.before
            estimate = estimate + corrected(slab.after, slab.matrices)
            variance = variance + true_variance(slab.before, slab.matrices)
        cv, largest = coefficients_of_variation(table, variance)
        return TableLosses(
            columns=tuple(columns),
            cells=int(np.size(table)),
            ebil=ebil,
            il=il,
            differences=relative_differences([table], [estimate]),
            cv=cv,
            largest_cv=largest,
        )

    def regression(self, both: Linked, variable: Randomised, column: str) -> Slopes:
        """Return the loss in the means of a response by category."""
        y = as_numbers(both.before.column(column), column)
        use = (both.old[variable.columns] >= 0) & y.known
        values = y.values[use].astype(np.float64)
        k, l = (c[variable.columns][use] for c in (both.old, both.new))  # noqa: E741
        part = both.parts[variable.columns][use]
        n = variable.size
        sums, counts = np.bincount(k, values, n), np.bincount(k, minlength=n)
        right, wide = np.zeros(n), np.zeros(n)
        for s, p in enumerate(variable.parts):
            here = part == s
            right += corrected(np.bincount(l[here], values[here], n), [p.matrix])
            wide += corrected(np.bincount(l[here], minlength=n), [p.matrix])
        with np.errstate(divide="ignore", invalid="ignore"):
            lrd, largest = regression_differences(sums / counts, right / wide)
        return Slopes(column, variable.name, lrd, largest)

    def result(
        self, found: Sequence[TableLosses], slopes: Sequence[Slopes], share: float
    ) -> PramLossResult:
        """Put the result together."""
        numbers: dict[str, Any] = {"share of the information lost": share}
        for d in sorted({len(t.columns) for t in found}):
            of_size = [t for t in found if len(t.columns) == d]
            numbers |= {
                f"EBIL, {d}-way": sum(t.ebil for t in of_size),
                f"IL, {d}-way": sum(t.il for t in of_size),
                f"RD, {d}-way": float(np.median([t.differences.median for t in of_size])),
                f"largest RD, {d}-way": max(t.differences.largest for t in of_size),
                f"empty cells not estimated so, {d}-way": sum(
                    t.differences.infinite for t in of_size
                ),
                f"CV, {d}-way": float(np.median([t.cv for t in of_size])),
                f"largest CV, {d}-way": max(t.largest_cv for t in of_size),
            }
        for s in slopes:
            numbers |= {
                f"LRD of {s.response} by {s.variable}": s.lrd,
                f"largest LRD of {s.response} by {s.variable}": s.largest,
            }
        return PramLossResult(
            kind=self.kind,
            title="Information lost by PRAM",
            value=share,
            numbers=numbers,
            frame=losses_frame(found),
            explanation=(
                "0: the original categories can be told from the release; 1: nothing is left of them. Relative "
                "differences are those of tables corrected by the published matrix."
                + ("" if found else " No column was randomised.")
            ),
            tables=tuple(found),
            slopes=tuple(slopes),
        )


@dataclass(frozen=True)
class TableLosses:
    """Losses of one table."""

    #: What spans it, and how many cells it has.
    columns: tuple[str, ...]
    cells: int
    #: Expected and realised entropy loss.
    ebil: float
    il: float
    #: RD, mRD and #Inf.
    differences: Differences
    #: Median and largest coefficient of variation of the corrected cells.
    cv: float
    largest_cv: float


@dataclass(frozen=True)
class Slopes:
    """Median and largest relative difference of the means of a response by category."""

    response: str
    variable: str
    lrd: float
    largest: float


@dataclass(frozen=True, repr=False)
class PramLossResult(Result):
    """Losses by table (``tables``) and in means by category (``slopes``)."""

    tables: tuple[TableLosses, ...] = ()
    slopes: tuple[Slopes, ...] = ()

    def plot(self) -> Chart:
        """Return the median relative difference of each corrected table."""
        return bars(
            [(" x ".join(t.columns), t.differences.median) for t in self.tables],
            title="Corrected tables against the original",
            subtitle=f"{self.value:.1%} of the information in the randomised columns is lost",
            y="median relative difference of a cell (RD)",
        )


# -- records before and after --------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """The part of a table, before and after, whose records all got the same matrices."""

    before: Floats
    after: Floats
    matrices: tuple[Transition | None, ...]
    original: tuple[Ints, ...]
    released: tuple[Ints, ...]


@dataclass(frozen=True)
class Linked:
    """Records that are in both files: their categories before and after, and their matrices."""

    #: The original columns.
    before: pa.Table
    #: By the columns of a variable: categories before and after (-1 missing), and which matrix.
    old: Mapping[tuple[str, ...], Ints]
    new: Mapping[tuple[str, ...], Ints]
    parts: Mapping[tuple[str, ...], Ints]

    def slabs(
        self, columns: Sequence[str], variables: Sequence[Randomised], kind: str
    ) -> Iterator[Pair]:
        """Yield the table over some columns, before and after, for each choice of matrices."""
        used, free = split_columns(columns, variables, kind)
        keep = np.ones(self.before.num_rows, dtype=bool)
        for v in used:
            keep &= self.old[v.columns] >= 0
        for c in free:
            keep &= self.before.column(c).is_valid().to_numpy().astype(bool)
        groups, labels = classes_of(self.before, free, keep)
        shape = (labels.num_rows, *(v.size for v in used))
        if float(np.prod(shape, dtype=np.float64)) > LARGEST:
            raise InputError(
                f"{kind}: the table has more than {LARGEST:,} possible cells; name fewer columns"
            )
        chosen, before, after = (
            [side[v.columns][keep] for v in used] for side in (self.parts, self.old, self.new)
        )
        for here, matrices in by_matrices(chosen, used, len(groups)):
            old, new = ((groups[here], *(c[here] for c in side)) for side in (before, after))
            tables = count_codes(old, shape), count_codes(new, shape)
            yield Pair(*tables, (None, *matrices), old, new)


def count_codes(codes: Sequence[Ints], shape: tuple[int, ...]) -> Floats:
    """Return the table of some codes."""
    flat = np.ravel_multi_index(tuple(codes), shape)
    size = int(np.prod(shape))
    return np.bincount(flat, minlength=size).reshape(shape).astype(np.float64)


def match_records(
    original: Microdata,
    released: Microdata,
    variables: Sequence[Randomised],
    measure: PramLoss,
    tables: Sequence[Sequence[str]],
) -> Linked:
    """Return the records that are in both files, with their categories before and after."""
    kind = measure.kind
    refuse_lost_links(original, released, kind)
    randomised = [c for v in variables for c in v.columns]
    strata = [c for v in variables for c in v.by]
    spanned = [c for t in tables for c in t]
    wanted = list(dict.fromkeys([*randomised, *strata, *spanned, *measure.response]))
    require_columns(wanted, original.columns, "the original")
    old = original.to_arrow(wanted, with_row=True)
    new = released.to_arrow(randomised, with_row=True)
    at_old, at_new = shared_positions(old.column(ROW).to_numpy(), new.column(ROW).to_numpy())
    everyone = len(at_old) == old.num_rows == new.num_rows
    before = old if everyone else old.take(pa.array(at_old))
    after = new if everyone else new.take(pa.array(at_new))
    old_codes, new_codes, numbers = {}, {}, {}
    for v in variables:
        first = codes_among([before.column(c) for c in v.columns], v, kind)
        second = codes_among([after.column(c) for c in v.columns], v, kind)
        if ((first < 0) != (second < 0)).any():
            raise InputError(
                f"{kind}: {v.name} was changed by more than PRAM; measure right after that step"
            )
        flags = [f[at_old] for f in rule_flags(original, v.rules)]
        by = [before.column(c) for c in v.by]
        parts = part_numbers(v, by, flags, len(first), kind)
        old_codes[v.columns], new_codes[v.columns], numbers[v.columns] = first, second, parts
    return Linked(before, old_codes, new_codes, numbers)


def losses_frame(found: Sequence[TableLosses]) -> nw.DataFrame[Any]:
    """Return one row per table."""
    return as_frame(
        {
            "table": pa.array([" x ".join(t.columns) for t in found], pa.string()),
            "cells": pa.array([t.cells for t in found], pa.int64()),
            "ebil": pa.array([t.ebil for t in found], pa.float64()),
            "il": pa.array([t.il for t in found], pa.float64()),
            "rd": pa.array([t.differences.median for t in found], pa.float64()),
            "largest_rd": pa.array([t.differences.largest for t in found], pa.float64()),
            "infinite": pa.array([t.differences.infinite for t in found], pa.int64()),
            "cv": pa.array([t.cv for t in found], pa.float64()),
            "largest_cv": pa.array([t.largest_cv for t in found], pa.float64()),
        }
    )
