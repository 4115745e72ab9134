"""Imputation: missing values filled from other records, so that a suppressed file is whole again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, model_validator

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.block import read_block
from tacit.data.microdata import Microdata
from tacit.data.values import as_numbers, classes, not_numeric
from tacit.errors import InputError, SdcError
from tacit.fields import ColumnName, ColumnNames
from tacit.registry import register
from tacit.spec import Method
from tacit.stats.moments import scale_of
from tacit.stats.regression import fit


@register
class Impute(Method):
    """Fill missing values from other records.

    Blanking values that identify and filling the holes again is a masking of its own: the released value
    is one of somebody else, or one that the others predict. ``hot_deck`` takes the value of a random
    record of the same class of ``by``; ``nearest`` that of the record nearest on the ``given`` columns,
    standardised; ``regression`` draws from a linear model on them, prediction plus a residual of another
    record; ``mean`` and ``median`` put the middle of the class, and shrink variances.

    References
    ----------
    Templ (2006), Software development for SDC in R, PSD 2006, LNCS 4302, 347-359, section 5.
    Little, Rubin (2002), Statistical Analysis with Missing Data, Wiley, chapter 4.
    """

    kind: Literal["impute"] = "impute"
    columns: ColumnNames = Field(description="the columns whose missing values are filled")
    method: Literal["hot_deck", "nearest", "regression", "mean", "median"] = Field(
        default="hot_deck", description="where the values come from"
    )
    by: tuple[ColumnName, ...] = Field(
        default=(), description="take values only from records of the same class of these columns"
    )
    given: tuple[ColumnName, ...] = Field(
        default=(), description="nearest and regression: the complete numeric columns to go by"
    )

    on_stratum = "by"
    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("substitution",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income", "job"]}
    column_fields = ("columns", "by", "given")

    @model_validator(mode="after")
    def _consistent(self) -> Impute:
        if (self.method in {"nearest", "regression"}) != bool(self.given):
            raise ValueError(
                "given goes with the methods nearest and regression, and is needed there"
            )
        if set(self.columns) & {*self.by, *self.given}:
            raise ValueError("a column cannot be filled and gone by at once")
        return self

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: numbers needed where there are none."""
        numeric = self.columns if self.method in {"regression", "mean", "median"} else ()
        return [*super().faults(data), *not_numeric(data, [*numeric, *self.given], self.kind)]

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        cells = classes(data, self.by)[0]
        given = read_block(data, self.given, self.kind, otherwise="").values if self.given else None
        new, filled = {}, {}
        for c in self.columns:
            column = data.column(c).combine_chunks()
            filled[c] = column.null_count
            if filled[c]:
                new[c] = self.filled(column, cells, given, c, ctx.rng)
        ctx.note(filled=filled)
        return data.replace(new) if new else data

    def filled(
        self,
        column: pa.Array,
        cells: Ints,
        given: Floats | None,
        name: str,
        rng: np.random.Generator,
    ) -> pa.Array:
        """Return one column without holes."""
        known: Flags = pc.is_valid(column).to_numpy(zero_copy_only=False)
        source = np.arange(len(known))
        values = as_numbers(column, name).values.astype(np.float64) if self.numeric else None
        drawn = np.zeros(len(known))
        order = np.argsort(cells, kind="stable")
        for at in np.split(order, np.flatnonzero(np.diff(cells[order])) + 1):
            donors, holes = at[known[at]], at[~known[at]]
            if not len(holes):
                continue
            if not len(donors):
                raise InputError(
                    f"impute: a class has no known value of column {name!r}. Use fewer or coarser columns in 'by'."
                )
            if given is None:
                if values is None:
                    source[holes] = rng.choice(donors, len(holes))
                else:
                    shown = values[donors]
                    middle = shown.mean() if self.method == "mean" else np.median(shown)
                    drawn[holes] = float(middle)
            elif values is None:
                source[holes] = donors[nearest_donor(given[donors], given[holes])]
            else:
                drawn[holes] = draw_by_regression(values[donors], given[donors], given[holes], rng)
        if values is None:
            return column.take(pa.array(source))
        kept = as_numbers(column, name)
        computed = np.rint(drawn).astype(np.int64) if kept.whole else drawn
        return pa.array(np.where(known, kept.values, computed)).cast(column.type)

    @property
    def numeric(self) -> bool:
        """Return True when filled values are computed rather than taken over."""
        return self.method in {"regression", "mean", "median"}


def draw_by_regression(y: Floats, x: Floats, wanted: Floats, rng: np.random.Generator) -> Floats:
    """Return predictions for the holes of one class, each plus a residual of another record."""
    if len(y) < x.shape[1] + 2:
        raise InputError(
            "impute: a class has too few known values for a regression. Use fewer columns."
        )
    model = fit(x, y)
    return np.asarray(model.predict(wanted) + rng.choice(y - model.fitted, len(wanted)))


def nearest_donor(donors: Floats, holes: Floats) -> Ints:
    """Return the donor nearest to each hole on standardised columns; the first of several."""
    from scipy.spatial import cKDTree

    scale = scale_of(donors)
    _, found = cKDTree(scale.there(donors)).query(scale.there(holes))
    return np.asarray(found, dtype=np.int64)
