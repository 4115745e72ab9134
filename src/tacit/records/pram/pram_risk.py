"""Risk after PRAM: how many rare combinations are still believable when they are seen in the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Flags
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.errors import RoleMissing, require_columns
from tacit.fields import ColumnName, PositiveFloat
from tacit.plot.chart import Chart
from tacit.plot.families import before_after
from tacit.records.pram import CellRisk, Randomised, expected
from tacit.records.pram.bundle import MatricesGiven
from tacit.records.pram.randomised import (
    Crossing,
    cast_levels,
    cross_columns,
    find_newly_randomised,
)
from tacit.records.pram.tables import compute_cell_risk, count_expected_kept
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

Level = str | int | float | bool


@register
class PramRisk(Measure):
    r"""Rare combinations that stay unsafe after PRAM, by the chance that they are true when seen.

    Whoever sees the combination k in a randomised file is right to believe it with probability

    .. math:: R(k) = P(\xi = k \mid X = k) = \frac{p_{kk} T(k)}{\sum_l p_{lk} T(l)},

    where p_kk is the product of the diagonal entries of the variables that were randomised, and the sum is
    the expected table. The threshold rule calls a combination with T(k) < tau rare; after PRAM it is safe
    when R(k) <= T(k) / tau: as good as a combination that tau people share. Nothing depends on the
    realised draw, and without PRAM the count is that of the threshold rule itself. The intruder is taken
    to know T; not knowing the matrix would not change how often such a belief is right.

    In a sample give the population's tau times the sampling fraction, or count by weights.

    References
    ----------
    de Wolf (2006), Risk, utility and PRAM, PSD 2006, LNCS 4302, 189-204, section 3.
    de Wolf, Gouweleeuw, Kooiman, Willenborg (1998), Reflections on PRAM, Statistical Data Protection,
    Eurostat, 337-349.
    """

    kind: Literal["pram_risk"] = "pram_risk"
    combinations: tuple[tuple[ColumnName, ...], ...] = Field(
        default=(),
        description="the combinations of columns that are checked; by default all keys together",
    )
    tau: PositiveFloat = Field(
        default=100.0, description="a combination shared by fewer is rare; 100 suits a population"
    )
    fraction: float = Field(
        default=1.0, gt=0, le=1, description="sampling fraction, by which tau is multiplied"
    )
    weighted: bool = Field(
        default=False, description="count by the weights, as estimates for the population"
    )
    exclude: Mapping[ColumnName, tuple[Level, ...]] = Field(
        default_factory=dict,
        description="by column, categories whose combinations are not counted, such as unknown",
    )
    matrices: MatricesGiven = None

    on_weight = "option"
    compares: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns of all combinations."""
        return tuple(dict.fromkeys(c for combination in self.combinations for c in combination))

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> PramRiskResult:
        original = other.original
        variables = find_newly_randomised(original, data, self.matrices, self.kind)
        combinations = self.combinations or ((original.keys,) if original.keys else ())
        if not combinations:
            raise RoleMissing(
                "pram_risk: name combinations, or declare keys with tacit.read(..., keys=[...])"
            )
        require_columns((c for k in combinations for c in k), original.columns, "the original")
        if self.weighted and original.weight is None:
            raise RoleMissing("pram_risk: weighted needs a weight; declare it in tacit.read(...)")
        found = {}
        for i, columns in enumerate(combinations):
            ctx.tick(f"risk of {' x '.join(columns)}", i / len(combinations))
            found[columns] = self.cells(original, columns, variables)
        return self.result(found, variables)

    def cells(
        self, original: Microdata, columns: Sequence[str], variables: Sequence[Randomised]
    ) -> tuple[Crossing, CellRisk, Flags]:
        """Return a combination's table, its risk, and which cells are counted."""
        weight = original.weight if self.weighted else None
        table = cross_columns(original, columns, variables, self.kind, weight=weight)
        before = table.total(lambda slab: slab.table)
        after = table.total(lambda slab: expected(slab.table, slab.matrices))
        stayed = table.total(lambda slab: count_expected_kept(slab.table, slab.matrices))
        risk = compute_cell_risk(before, stayed, after, self.tau * self.fraction)
        return table, risk, self.counted(table, before.shape)

    def counted(self, table: Crossing, shape: tuple[int, ...]) -> Flags:
        """Return the cells that hold no excluded category."""
        out = np.ones(shape, dtype=bool)
        for column, shut in self.exclude.items():
            if column in table.untouched.column_names:
                values, axis = table.untouched.column(column).combine_chunks(), 0
            else:
                place = next(
                    (i for i, v in enumerate(table.variables, 1) if column in v.columns), None
                )
                if place is None:
                    continue
                variable, axis = table.variables[place - 1], place
                values = pa.array(list(variable.levels[variable.columns.index(column)]))
            gone = set(cast_levels(shut, values.type, column).to_pylist())
            use = np.array([v not in gone for v in values.to_pylist()], dtype=bool)
            out &= np.expand_dims(use, [i for i in range(len(shape)) if i != axis])
        return out

    def result(
        self,
        found: Mapping[tuple[str, ...], tuple[Crossing, CellRisk, Flags]],
        variables: Sequence[Randomised],
    ) -> PramRiskResult:
        """Put the result together."""
        before = {k: int((r.rare & use).sum()) for k, (_, r, use) in found.items()}
        after = {k: int((r.unsafe & use).sum()) for k, (_, r, use) in found.items()}
        worst = {
            k: float(r.risk[r.rare & use].max(initial=0.0)) for k, (_, r, use) in found.items()
        }
        numbers: dict[str, Any] = {}
        for k in found:
            name = " x ".join(k)
            numbers |= {
                f"{name}: rare before": before[k],
                f"{name}: unsafe after": after[k],
                f"{name}: largest risk of a rare one": worst[k],
            }
        return PramRiskResult(
            kind=self.kind,
            title="Unsafe combinations after PRAM",
            value=float(sum(after.values())),
            numbers=numbers,
            frame=cells_frame(found),
            explanation=(
                "A rare combination is unsafe when whoever sees it in the release is right to believe it with "
                f"more than its count over the threshold of {self.tau * self.fraction:g}."
                + ("" if variables else " No column was randomised, so every rare combination is.")
            ),
            before=before,
            after=after,
        )


@dataclass(frozen=True, repr=False)
class PramRiskResult(Result):
    """Rare combinations before (``before``) and unsafe ones after (``after``), by combination of columns.

    ``frame`` has one row per rare combination: its count, expected count after, risk, and whether it is unsafe.
    """

    before: Mapping[tuple[str, ...], int] = field(default_factory=dict)
    after: Mapping[tuple[str, ...], int] = field(default_factory=dict)

    def plot(self) -> Chart:
        """Return unsafe combinations before and after."""
        items = [(" x ".join(k), float(n), float(self.after[k])) for k, n in self.before.items()]
        return before_after(items, title=self.title, y="unsafe combinations")


def cells_frame(
    found: Mapping[tuple[str, ...], tuple[Crossing, CellRisk, Flags]],
) -> nw.DataFrame[Any]:
    """Return one row per rare combination."""
    tables = []
    for columns, (table, risk, use) in found.items():
        flat = np.flatnonzero((risk.rare & use).ravel())
        texts = table.texts(flat, columns)
        tables.append(
            pa.table(
                {
                    "columns": texts["table"],
                    "combination": texts["cell"],
                    "count": risk.table.ravel()[flat],
                    "expected": risk.expected.ravel()[flat],
                    "risk": risk.risk.ravel()[flat],
                    "unsafe": risk.unsafe.ravel()[flat],
                }
            )
        )
    return as_frame(pa.concat_tables(tables))
