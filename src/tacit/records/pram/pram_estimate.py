"""Estimates from a randomised file: tables and means as they would be without PRAM, with their precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import weights_of
from tacit.data.values import as_frame, not_numeric, read_numeric_column
from tacit.errors import ColumnNotFound, InputError, RoleMissing, SdcError, require_columns
from tacit.fields import ColumnName
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.plot.lines import intervals
from tacit.plot.theme import AFTER, BEFORE
from tacit.records.pram import Randomised, corrected, corrected_variance, fitted, raked
from tacit.records.pram.bundle import MatricesGiven
from tacit.records.pram.randomised import (
    Crossing,
    codes_among,
    cross_columns,
    find_known_matrices,
    part_numbers,
    rule_flags,
)
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure
from tacit.stats.correction.misclassification import Fit, corrected_regression

#: Categories shown in the chart, and coefficients in the summary.
SHOWN = 20
Z95 = 1.96
EMPTY = pa.table(
    {
        "table": pa.array([], pa.string()),
        "cell": pa.array([], pa.string()),
        **{n: pa.array([], pa.float64()) for n in ("released", "estimate", "standard_error")},
    }
)


@register
class PramEstimate(Measure):
    r"""Tables and means estimated back from a randomised file and its published matrices.

    For a table T_X of the released file and the transition matrices along its axes

    .. math:: \hat T = (P^{-1})^T T_X, \qquad
              \widehat{Var}(\hat T_k) = \sum_l (P^{-1})_{lk}^2 T_X(l) - \hat T_k

    are unbiased; with several randomised variables each matrix works along its own axis. The variance is
    that of randomisation given the original records; sampling adds its own. ``likelihood`` gives the
    maximum likelihood estimate instead (EM), which has no negative cells, and scales every table to
    the one-way estimates of its randomised variables, so that tables agree.

    ``response`` adds the regression of a numeric column on the randomised variables: its mean in every
    category of one variable, or contrasts with the first category for several, with robust standard
    errors that include sampling.

    References
    ----------
    de Wolf (2006), Risk, utility and PRAM, PSD 2006, LNCS 4302, 189-204, sections 2 and 4.
    Kooiman, Willenborg, Gouweleeuw (1997), PRAM: a method for disclosure limitation of microdata,
    Statistics Netherlands research paper 9705.
    Van den Hout, van der Heijden (2002), Randomized response, statistical disclosure control and
    misclassification: a review, International Statistical Review 70, 269-288.
    """

    kind: Literal["pram_estimate"] = "pram_estimate"
    tables: tuple[tuple[ColumnName, ...], ...] = Field(
        default=(), description="the tables wanted; by default every randomised variable alone"
    )
    method: Literal["unbiased", "likelihood"] = Field(
        default="unbiased",
        description="unbiased estimates, or maximum likelihood without negative cells",
    )
    weighted: bool = Field(default=False, description="use the survey weights")
    response: ColumnName | None = Field(
        default=None, description="numeric column to regress on the randomised variables"
    )
    regressors: tuple[ColumnName, ...] = Field(
        default=(), description="randomised columns of that regression; by default all"
    )
    covariates: tuple[ColumnName, ...] = Field(
        default=(), description="numeric columns, not randomised, that join the regression"
    )
    matrices: MatricesGiven = None

    on_weight = "option"
    family: ClassVar[str] = "utility"
    better: ClassVar[Literal["lower", "higher"] | None] = "lower"
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"
    example: ClassVar[Mapping[str, Any]] = {
        "matrices": {
            "variables": [
                {
                    "columns": ["sex"],
                    "levels": [["f", "m"]],
                    "matrices": [{"rows": [[0.9, 0.1], [0.1, 0.9]]}],
                }
            ]
        }
    }

    @model_validator(mode="after")
    def _consistent(self) -> PramEstimate:
        if self.response is None and (self.regressors or self.covariates):
            raise ValueError("regressors and covariates need a response")
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns of all tables and of the regression."""
        named = [c for t in self.tables for c in t]
        response = () if self.response is None else (self.response,)
        return tuple(dict.fromkeys([*named, *response, *self.regressors, *self.covariates]))

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: a response or covariates without numbers; no weight."""
        found = super().faults(data)
        response = () if self.response is None else (self.response,)
        found += not_numeric(data, (*response, *self.covariates), self.kind)
        if self.weighted and data.weight is None:
            found.append(
                RoleMissing("pram_estimate: weighted needs a weight; declare it in tacit.read(...)")
            )
        return found

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> PramEstimateResult:
        variables = find_known_matrices(data, self.matrices, self.kind)
        if not variables and not other.has_original:
            raise InputError(
                "pram_estimate: no column of these data is known to be randomised. Give matrices=, the file published with the release."
            )
        randomised = (c for v in variables for c in v.columns)
        require_columns(randomised, data.columns, "the released data")
        tables = self.tables or tuple(v.columns for v in variables)
        found = []
        for i, columns in enumerate(tables):
            ctx.tick(f"estimating {' x '.join(columns)}", i / len(tables))
            found.append(self.estimate(data, columns, variables))
        fit = self.regression(data, variables) if self.response and variables else None
        return self.result(found, fit, randomised=bool(variables))

    # -- tables --------------------------------------------------------------------------------------

    def estimate(
        self, data: Microdata, columns: Sequence[str], variables: Sequence[Randomised]
    ) -> TableEstimate:
        """Return the estimate of one table."""
        weight = data.weight if self.weighted else None
        table = cross_columns(data, columns, variables, self.kind, weight=weight)
        released = table.total(lambda slab: slab.table)
        values = table.total(lambda slab: corrected(slab.table, slab.matrices))
        squares = (
            table
            if weight is None
            else cross_columns(data, columns, variables, self.kind, weight=weight, squared=True)
        )
        variance = squares.total(lambda slab: corrected_variance(slab.table, slab.matrices))
        if self.method == "likelihood":
            values = self.likely(data, table, variables)
        error = np.sqrt(np.maximum(variance, 0.0))
        return TableEstimate(tuple(columns), table, released, values, error)

    def likely(self, data: Microdata, table: Crossing, variables: Sequence[Randomised]) -> Floats:
        """Return the maximum likelihood table, scaled to the one-way estimates of its variables."""
        values = table.total(lambda slab: fitted(slab.table, slab.matrices))
        if len(table.columns) == 1:
            return values
        weight = data.weight if self.weighted else None
        margins: list[Floats | None] = [values.sum(axis=tuple(range(1, values.ndim)))]
        for v in table.variables:
            alone = cross_columns(data, v.columns, variables, self.kind, weight=weight)
            margin = alone.total(lambda slab: fitted(slab.table, slab.matrices))[0]
            # Records with a missing value elsewhere are in the margin and not in the table.
            margins.append(margin * values.sum() / max(float(margin.sum()), 1e-300))
        return raked(values, margins)

    # -- regression ----------------------------------------------------------------------------------

    def regression(self, data: Microdata, variables: Sequence[Randomised]) -> Regression:
        """Return the regression of the response on the randomised variables."""
        assert self.response is not None
        wanted = set(self.regressors)
        used = [v for v in variables if not wanted or wanted & set(v.columns)]
        strangers = wanted - {c for v in used for c in v.columns}
        if strangers:
            raise InputError(
                f"pram_estimate: {', '.join(sorted(map(repr, strangers)))} was not randomised; put it among the covariates"
            )
        y = read_numeric_column(data, self.response)
        extra = [read_numeric_column(data, c) for c in self.covariates]
        keep = np.logical_and.reduce([y.known, *(c.known for c in extra)])
        codes, parts = [], []
        for v in used:
            read = data.to_arrow([*v.columns, *v.by])
            codes.append(codes_among([read.column(c) for c in v.columns], v, self.kind))
            flags = rule_flags(data, v.rules)
            strata = [read.column(c) for c in v.by]
            parts.append(part_numbers(v, strata, flags, len(keep), self.kind))
            keep &= codes[-1] >= 0
        fit = corrected_regression(
            y.values[keep],
            [c[keep] for c in codes],
            [np.stack([p.matrix.dense() for p in v.parts]) for v in used],
            covariates=np.column_stack([c.values[keep] for c in extra]) if extra else None,
            parts=[p[keep] for p in parts],
            weights=weights_of(data)[keep] if self.weighted else None,
        )
        return Regression(self.response, self.names(fit, used), fit)

    def names(self, fit: Fit, used: Sequence[Randomised]) -> tuple[str, ...]:
        """Return the names of the coefficients in words of the data."""
        words = []
        for name in fit.names:
            if name == "intercept":
                words.append(name)
            elif name.startswith("x"):
                words.append(self.covariates[int(name[1:])])
            else:
                j, k = map(int, name.split(":"))
                v = used[j]
                words.append(f"{v.name} = {' x '.join(str(values[k]) for values in v.levels)}")
        return tuple(words)

    def result(
        self,
        found: Sequence[TableEstimate],
        regression: Regression | None,
        *,
        randomised: bool,
    ) -> PramEstimateResult:
        """Put the result together."""
        errors = np.concatenate([t.relative_errors for t in found]) if found else np.zeros(0)
        value = float(np.median(errors)) if len(errors) else 0.0
        figures: dict[str, Any] = {
            "tables": len(found),
            "cells": sum(t.values.size for t in found),
            "median relative standard error": value,
            "cells estimated below 0": sum(int((t.values < 0).sum()) for t in found),
        }
        if regression is not None and len(regression.names) <= SHOWN:
            figures |= {
                f"{regression.response}: {name}": float(b)
                for name, b in zip(regression.names, regression.fit.coefficients, strict=True)
            }
        return PramEstimateResult(
            kind=self.kind,
            title="Estimates from the randomised file",
            value=value,
            numbers=figures,
            frame=as_frame(pa.concat_tables([EMPTY, *(t.long() for t in found)])),
            explanation=(
                "What the tables would have been without PRAM, estimated from the released file and the published "
                "matrices. Standard errors are those of the randomisation."
                if randomised
                else "No column is known to be randomised, so tables stand as they are."
            ),
            tables={t.columns: t for t in found},
            regression=regression,
        )


@dataclass(frozen=True)
class TableEstimate:
    """One table: as released, as estimated, and the standard errors, all with the same axes.

    The first axis is for the classes of columns that were not randomised, the others for the randomised
    variables; :meth:`frame` has the labels.
    """

    columns: tuple[str, ...]
    crossing: Crossing
    released: Floats
    values: Floats
    errors: Floats

    @property
    def relative_errors(self) -> Floats:
        """Return standard errors over estimates, where those are of at least one record."""
        use = self.values >= 1.0
        return np.asarray(self.errors[use] / self.values[use])

    @property
    def numbers(self) -> dict[str, Floats]:
        """Return the numbers of all cells."""
        return {
            "released": self.released.ravel(),
            "estimate": self.values.ravel(),
            "standard_error": self.errors.ravel(),
        }

    def frame(self) -> nw.DataFrame[Any]:
        """Return one row per cell, with its labels."""
        labels = self.crossing.labels(np.arange(self.values.size))
        return as_frame({**{c: labels[c] for c in self.columns}, **self.numbers})

    def long(self) -> pa.Table:
        """Return one row per cell, with its labels as one text."""
        texts = self.crossing.texts(np.arange(self.values.size), self.columns)
        return pa.table({**texts, **self.numbers})


@dataclass(frozen=True)
class Regression:
    """A corrected regression, its coefficients named in words of the data."""

    response: str
    names: tuple[str, ...]
    fit: Fit

    def frame(self) -> nw.DataFrame[Any]:
        """Return one row per coefficient: name, estimate, standard_error."""
        table = {
            "name": list(self.names),
            "estimate": self.fit.coefficients,
            "standard_error": self.fit.standard_errors,
        }
        return as_frame(table)


@dataclass(frozen=True, repr=False)
class PramEstimateResult(Result):
    """Estimated tables by their columns (``tables``), and the ``regression`` if one was asked for."""

    tables: Mapping[tuple[str, ...], TableEstimate] = field(default_factory=dict)
    regression: Regression | None = None

    def table(self, *columns: str) -> nw.DataFrame[Any]:
        """Return one table with a row per cell: labels, released, estimate, standard_error."""
        if columns not in self.tables:
            known = [" x ".join(c) for c in self.tables]
            raise ColumnNotFound([" x ".join(columns)], known, "the estimated tables")
        return self.tables[columns].frame()

    def plot(self) -> Chart:
        """Return the largest cells of the first table: estimates with 95 % intervals, and as released."""
        if not self.tables:
            return bars([], title=self.title, y="records")
        columns, table = next(iter(self.tables.items()))
        names = table.long().column("cell").to_pylist()
        largest = sorted(np.argsort(-table.released.ravel(), kind="stable")[:SHOWN].tolist())
        wide = Z95 * table.errors
        return intervals(
            (
                (
                    names[i],
                    what,
                    float((at - room).flat[i]),
                    float(at.flat[i]),
                    float((at + room).flat[i]),
                )
                for i in largest
                for what, at, room in (
                    ("estimate, 95 % interval", table.values, wide),
                    ("as released", table.released, 0.0 * wide),
                )
            ),
            title=f"{' x '.join(columns)}: estimated from the release",
            x="records",
            colours=(AFTER, BEFORE),
        )
