"""Precision: how far released values were lifted in their hierarchies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Ints
from tacit.context import Context
from tacit.data.hierarchy import TOP, Hierarchy, ground_label
from tacit.data.microdata import Microdata
from tacit.data.paired import ValuePairs, pair_values
from tacit.data.values import as_frame
from tacit.engine.base import ROW
from tacit.engine.codes import Coded, encode
from tacit.engine.names import aggregate
from tacit.engine.relational import N, count_rows
from tacit.errors import ColumnNotFound, RoleMissing
from tacit.fields import ColumnNames
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

Accounting = Literal["strict", "legacy", "released"]
ACCOUNTINGS: tuple[Accounting, ...] = ("strict", "legacy", "released")
Frame = nw.LazyFrame[Any]

#: The column that is null for records that were removed.
KEPT = "__kept__"
#: Level codes of cells that have no level.
OFF_PATH, UNKNOWN = -1, -2


@register
class Precision(Measure):
    """Precision of a release: one less the mean relative height of its values.

    A released value that stands h levels above the original, in a hierarchy of height |DGH|, has lost
    h/|DGH|; a suppressed value (missing, or the top) has lost 1. Sweeney's formula is

        prec(RT) = 1 - sum_{i=1..N_A} sum_{j=1..N} (h_ij / |DGH_i|) / (|RT| N_A)

    with N_A columns. As printed it sums over the N private tuples and divides by the |RT| released
    ones, so three accountings are offered:

    * strict: every private tuple counts; a dropped one has lost 1 a column; the denominator is |PT| N_A.
      The answer lies in [0, 1] and is the one to compare releases by.
    * legacy: the level to which a whole column was recoded (the lowest in the release) is charged on all
      private tuples; each suppressed cell adds 1 on top, each other cell what it was raised beyond that
      level, each dropped tuple 1 a column; the denominator is |RT| N_A. This reproduces the printed 0.71,
      0.86 and 0.80 of Figure 34, counts some losses twice, and can fall below 0.
    * released: released tuples only.

    Levels are read off the data alone, by linking each released record with its original. A value that
    is not on the original's path (it was perturbed or swapped) counts as lost. A column without
    hierarchy is kept or lost. A value missing in the original has nothing to lose. Released records
    that are no originals are left out.

    References
    ----------
    Sweeney (2000), Foundations of privacy protection from a computer science perspective, Figures 31, 32,
    34; Sweeney (2002), Achieving k-anonymity privacy protection using generalization and suppression,
    IJUFKS 10(5), 571-588.
    """

    kind: Literal["precision"] = "precision"
    accounting: Accounting = Field(
        default="strict",
        description="which tuples are charged: strict, legacy (Sweeney's Figure 34) or released",
    )
    columns: ColumnNames | None = Field(
        default=None,
        description="the columns to count (N_A of them); by default every key of the original",
    )

    family: ClassVar[str] = "utility"
    compares: ClassVar[bool] = True

    def columns_named(self) -> tuple[str, ...]:
        """Return nothing: a column may be gone from the release, which is then a loss."""
        return ()

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> PrecisionResult:
        original = other.original
        columns = self.columns_of(original)
        before, after = len(original), len(data)
        matched, pairs = pair_values(original, data, columns) or count_all_pairs(
            original, data, columns
        )
        losses = {}
        for i, column in enumerate(columns):
            ctx.tick(f"levels of {column}", i / len(columns))
            losses[column] = column_loss(pairs[column], original.hierarchies.get(column))
        counts = Counts(before, matched, added=after - matched)
        accounting = self.accounting
        value = overall(losses, accounting, counts)
        numbers = {
            "precision": value,
            **{f"precision of {c}": p.precision(accounting, counts) for c, p in losses.items()},
            "records": counts.before,
            "records dropped": counts.dropped,
            "records added": counts.added,
            "cells suppressed": sum(p.suppressed for p in losses.values()),
            "cells off the path": sum(p.off_path for p in losses.values()),
        }
        table = {
            "column": list(losses),
            "height": [p.height for p in losses.values()],
            "lowest level": [p.lowest for p in losses.values()],
            "highest level": [p.highest for p in losses.values()],
            "suppressed": [p.suppressed for p in losses.values()],
            "off the path": [p.off_path for p in losses.values()],
            "precision": [p.precision(accounting, counts) for p in losses.values()],
        }
        return PrecisionResult(
            kind=self.kind,
            title=f"Precision ({accounting} accounting)",
            value=value,
            numbers=numbers,
            frame=as_frame(table),
            explanation=(
                "1 means that every value is released as it was, 0 that nothing is left. A value lifted half-way up its "
                "hierarchy has lost one half."
            ),
            losses=losses,
            counts=counts,
            accounting=accounting,
        )

    def columns_of(self, original: Microdata) -> tuple[str, ...]:
        """Return the columns to count."""
        columns = self.columns or original.keys
        missing = [c for c in columns if c not in original.columns]
        if missing:
            raise ColumnNotFound(missing, list(original.columns), "the original data")
        if not columns:
            raise RoleMissing(
                "precision needs keys, and the original data declare none. Declare them with "
                "tacit.read(..., keys=...), or name columns with columns=."
            )
        return columns


@dataclass(frozen=True)
class Counts:
    """Records before protection, records released of these, and released records that are new."""

    before: int
    released: int
    added: int

    @property
    def dropped(self) -> int:
        """Return the records that were not released."""
        return self.before - self.released


@dataclass(frozen=True)
class ColumnLoss:
    """What one column lost."""

    #: Height of the hierarchy; 1 without one.
    height: int
    #: Released cells at each level 0 .. height - 1.
    cells: tuple[int, ...]
    #: Released cells that are missing, or at the top.
    suppressed: int
    #: Released cells whose value is not a generalisation of the original.
    off_path: int
    #: Released cells that were missing in the original: nothing to lose.
    unknown: int

    @property
    def lowest(self) -> int:
        """Return the lowest level of the cells that are left: the recoding of the whole column."""
        return next(
            (level for level, n in enumerate(self.cells) if n), self.height if self.lost else 0
        )

    @property
    def highest(self) -> int:
        """Return the highest level of the cells that are not suppressed."""
        return max((level for level, n in enumerate(self.cells) if n), default=self.lowest)

    @property
    def lost(self) -> int:
        """Return the cells that are lost altogether."""
        return self.suppressed + self.off_path

    def charge(self, beyond: int = 0) -> float:
        """Return the loss of the released cells above a level, each in [0, 1]; a lost cell has 1."""
        raised = sum(n * (level - beyond) for level, n in enumerate(self.cells) if level > beyond)
        return raised / self.height + self.lost

    def loss(self, accounting: Accounting, counts: Counts) -> float:
        """Return the column's loss, to be divided by the number of tuples."""
        if accounting == "released":
            return self.charge()
        if accounting == "strict":
            return self.charge() + counts.dropped
        recoded = counts.before * self.lowest / self.height
        extra = 0.0 if self.lowest == self.height else self.charge(self.lowest)
        return recoded + extra + counts.dropped

    def precision(self, accounting: Accounting, counts: Counts) -> float:
        """Return the column's precision."""
        n = counts.before if accounting == "strict" else counts.released
        if n == 0:
            return 0.0 if counts.before else 1.0
        return 1.0 - self.loss(accounting, counts) / n


@dataclass(frozen=True, repr=False)
class PrecisionResult(Result):
    """Precision overall and by column, in all three accountings."""

    losses: Mapping[str, ColumnLoss] = field(default_factory=dict)
    counts: Counts = field(default_factory=lambda: Counts(0, 0, 0))
    accounting: Accounting = "strict"

    @property
    def precision(self) -> float:
        """Return the precision in the accounting that was asked for."""
        return self.value

    @property
    def accountings(self) -> Mapping[Accounting, float]:
        """Return the precision in each accounting."""
        return {name: overall(self.losses, name, self.counts) for name in ACCOUNTINGS}

    @property
    def by_column(self) -> Mapping[str, float]:
        """Return the precision of each column."""
        return {c: loss.precision(self.accounting, self.counts) for c, loss in self.losses.items()}

    @property
    def suppressed(self) -> int:
        """Return the suppressed cells of the released records."""
        return sum(loss.suppressed for loss in self.losses.values())

    @property
    def off_path(self) -> int:
        """Return the released cells that are no generalisation of the original."""
        return sum(loss.off_path for loss in self.losses.values())

    def plot(self) -> Chart:
        """Return the precision of each column."""
        return bars(
            self.by_column.items(),
            title=f"Precision by column: {self.value:.3f} overall",
            subtitle=f"{self.accounting} accounting; 1 is unchanged, 0 is lost",
            y="precision",
        )


def overall(losses: Mapping[str, ColumnLoss], accounting: Accounting, counts: Counts) -> float:
    """Return the precision over all columns: the mean of theirs."""
    each = [loss.precision(accounting, counts) for loss in losses.values()]
    return float(np.mean(each)) if each else 1.0


# -- on the engine ---------------------------------------------------------------------------------


def count_all_pairs(
    original: Microdata, released: Microdata, columns: tuple[str, ...]
) -> tuple[int, dict[str, ValuePairs]]:
    """Return how many records are in both files, and how their values changed, counted on the engine."""
    new = {c: f"__after{i}__" for i, c in enumerate(columns) if c in released.columns}
    kept = (nw.col(ROW) * 0 + 1).alias(KEPT)
    frame = released.frame.select(ROW, kept, *[nw.col(c).alias(n) for c, n in new.items()])
    if released.engine is not original.engine:
        frame = original.engine.from_arrow(released.engine.to_arrow(frame))
    old = original.frame.select(ROW, *columns)
    linked = original.engine.materialise(old.join(frame, on=ROW, how="left"))
    return count_rows(linked.filter(~nw.col(KEPT).is_null())), {
        c: count_pairs(linked, c, new.get(c)) for c in columns
    }


def count_pairs(linked: Frame, column: str, new: str | None) -> ValuePairs:
    """Count the pairs (original value, released value) of one column on the engine."""
    names = [column, KEPT, *([new] if new else [])]
    table = (
        aggregate(linked, names, nw.len().cast(nw.Int64).alias(N)).collect("pyarrow").to_native()
    )
    kept = table.column(KEPT).is_valid().to_numpy()
    n = table.column(N).to_numpy().astype(np.int64)
    old = encode(table.column(column))
    nothing = Coded(np.zeros(table.num_rows, dtype=np.int32), pa.array([], pa.string()))
    after = encode(table.column(new)) if new else nothing
    removed = np.bincount(old.codes[~kept], weights=n[~kept], minlength=old.size)
    before, released = (Coded(c.codes[kept], c.values) for c in (old, after))
    return ValuePairs(before, released, n[kept], removed.astype(np.int64))


# -- levels ----------------------------------------------------------------------------------------


def column_loss(pairs: ValuePairs, hierarchy: Hierarchy | None) -> ColumnLoss:
    """Return what a column lost, from the counted pairs."""
    height = 1 if hierarchy is None else hierarchy.height
    levels = pair_levels(pairs, hierarchy)
    cells = np.bincount(levels[levels >= 0], weights=pairs.n[levels >= 0], minlength=height + 1)
    return ColumnLoss(
        height=height,
        cells=tuple(int(n) for n in cells[:height]),
        suppressed=int(cells[height]),
        off_path=int(pairs.n[levels == OFF_PATH].sum()),
        unknown=int(pairs.n[levels == UNKNOWN].sum()),
    )


def pair_levels(pairs: ValuePairs, hierarchy: Hierarchy | None) -> Ints:
    """Return the level of each pair: the lowest at which the released value is the original's label.

    A suppressed value stands at the height; a value that is on no path is OFF_PATH; one that was
    missing and is still, or is the top now, is UNKNOWN.
    """
    old_text = [ground_label(v) for v in pairs.old.values.to_pylist()]
    new_text = [ground_label(v) for v in pairs.new.values.to_pylist()]
    height, top = (1, TOP) if hierarchy is None else (hierarchy.height, hierarchy.top)
    levels = np.full(len(pairs.n), OFF_PATH, dtype=np.int64)
    for level in reversed(range(height)):
        labels, label_of = labels_at(hierarchy, level, old_text)
        position = np.array([labels.get(text, -1) for text in new_text] + [-1], dtype=np.int64)
        own = np.append(label_of, -2)
        levels[own[pairs.old.codes] == position[pairs.new.codes]] = level
    gone = np.array([text == top for text in new_text] + [True])[pairs.new.codes]
    levels[gone & (levels == OFF_PATH)] = height
    levels[gone & (pairs.old.codes == pairs.old.null)] = UNKNOWN
    return levels


def labels_at(
    hierarchy: Hierarchy | None, level: int, texts: list[str]
) -> tuple[dict[str, int], Ints]:
    """Return the labels of a level by position, and the position of each original value's label.

    An original value that the hierarchy lacks equals itself and nothing else.
    """
    if hierarchy is None:
        return {text: i for i, text in enumerate(texts)}, np.arange(len(texts))
    labels = {label: i for i, label in enumerate(hierarchy.labels[level])}
    ground = [hierarchy.position.get(text) for text in texts]
    up = hierarchy.up[level]
    found = np.array([-2 if g is None else int(up[g]) for g in ground], dtype=np.int64)
    if level == 0:
        for i, text in enumerate(texts):
            if found[i] < 0:
                found[i] = labels.setdefault(text, len(labels))
    return labels, found
