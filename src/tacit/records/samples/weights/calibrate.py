"""Calibration: survey weights changed as little as possible until they sum to known totals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Floats
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.copies import copy_numbers
from tacit.data.margins import Totals, check_agreement, columns_of, describe, place_totals
from tacit.data.microdata import Microdata
from tacit.data.roles import Column
from tacit.data.values import read_numeric_column
from tacit.engine.codes import Coded
from tacit.errors import Infeasible, InputError, LimitReached, RoleMissing, SdcError
from tacit.fields import ColumnName, PositiveFloat, PositiveInt
from tacit.numerics.algebra import dot
from tacit.records.samples.weights.design import cells_of
from tacit.registry import register
from tacit.spec import Method
from tacit.stats.margins import Curve, Fit, Margin, calibrate_ratios, can_meet, fit_proportionally

#: Weights are smaller than this share of the largest only by cancellation.
NOTHING = 1e-12


@register
class Calibrate(Method):
    r"""Change survey weights as little as possible so that they sum to known totals.

    With weights w, categories x and totals T, the new weights are w g(x'lambda) with sum(w g x) = T:

    * ``post_stratify``: one margin; the weights of each category are scaled to its total;
    * ``rake``: g = exp(x'lambda), by proportional fitting of one margin after the other; weights stay positive;
    * ``linear``: g = 1 + x'lambda, the generalised regression weights; without bounds some may not be positive,
      which is refused.

    ``bounds`` keep every ratio of new to old weight between two numbers. Categories that occur in the data and lack
    a total, totals without records, and margins that contradict each other are refused. Synthetic copies in one file are
    calibrated each by itself.

    References
    ----------
    Deming, Stephan (1940), On a least squares adjustment of a sampled frequency table when the expected marginal totals are
    known, Annals of Mathematical Statistics 11(4), 427-444.
    Deville, Särndal (1992), Calibration estimators in survey sampling, Journal of the American Statistical Association
    87(418), 376-382.
    """

    kind: Literal["calibrate"] = "calibrate"
    margins: tuple[Totals, ...] = Field(
        min_length=1,
        description="tables of known totals: columns of categories and 'count', or {column: {category: total}}",
    )
    method: Literal["rake", "linear", "post_stratify"] = Field(
        default="rake", description="how weights are changed"
    )
    bounds: tuple[float, float] | None = Field(
        default=None, description="the smallest and the largest ratio of new to old weight"
    )
    weight: ColumnName | None = Field(
        default=None,
        description="for data without weights: the column to make, starting from 1 for every record",
    )
    tolerance: PositiveFloat = Field(
        default=1e-9, le=1e-6, description="relative deviation from a total that is left at most"
    )
    rounds: PositiveInt = Field(default=1000, description="sweeps or steps at most")

    on_household = "unused"
    on_weight = "changed"
    on_links = "unused"
    prepares: ClassVar[bool] = True
    takes_copies: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("calibration of weights",)
    example: ClassVar[Mapping[str, Any]] = {
        "margins": [{"sex": {"f": 60, "m": 60}}],
        "weight": "calibrated",
    }

    @model_validator(mode="after")
    def _consistent(self) -> Calibrate:
        if self.method == "post_stratify" and len(self.margins) > 1:
            raise ValueError("post_stratify takes one margin; cross them, or rake")
        if self.bounds is not None and not 0 <= self.bounds[0] < self.bounds[1]:
            raise ValueError("bounds are two numbers that are not negative, the smaller first")
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns of the margins."""
        return tuple(dict.fromkeys(c for table in self.margins for c in columns_of(table)))

    def made_from(self, data: Microdata) -> Mapping[str, tuple[str, ...]]:
        """Return that weights tell the cells of the margins to which they were fitted."""
        name = data.weight or self.weight
        return {} if name is None else {name: self.columns_named()}

    def _faults(self, data: Microdata) -> list[SdcError]:
        """Add: no weights, or two sorts of them."""
        found = super()._faults(data)
        if data.weight is None and self.weight is None:
            found.append(
                RoleMissing(
                    "calibrate needs weights, and the data declare none. Declare them with tacit.read(..., weight=...), or name "
                    "a column to make with weight=."
                )
            )
        if self.weight is not None and self.weight != data.weight:
            if data.weight is not None:
                found.append(
                    InputError("calibrate: the data declare weights already, so leave out weight=.")
                )
            elif self.weight in data.columns:
                found.append(
                    InputError(
                        f"calibrate: column {self.weight!r} exists. Declare it as the weight, or name another with weight=."
                    )
                )
        return found

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        check_agreement(self.margins, "calibrate")
        name = data.weight or self.weight
        assert name is not None
        before = (
            np.ones(len(data))
            if data.weight is None
            else read_numeric_column(data, name).values.astype(np.float64)
        )
        coded = {c: data.codes(c) for c in self.columns_named()}
        copy = copy_numbers(data)
        n_copies = int(copy.max(initial=0)) + 1
        ratio, fits = np.ones(len(before)), list[Fit]()
        for number in range(n_copies):
            ctx.tick("calibrating", (number + 0.5) / n_copies)
            at = np.flatnonzero(copy == number)
            part = {c: Coded(v.codes[at], v.values) for c, v in coded.items()}
            # Ratios are those of the cells that the margins' columns form.
            of, n_cells, cells = cells_of(part)
            amount = np.bincount(of, weights=before[at], minlength=n_cells).astype(np.float64)
            margins = [place_totals(t, cells, amount > 0, "calibrate") for t in self.margins]
            fit = self.fit(amount, margins)
            ratio[at] = fit.values[of]
            fits.append(fit)
        after = before * ratio
        total = float(after.sum())
        ctx.note(
            rounds=max(fit.rounds for fit in fits),
            largest_deviation=max(fit.residual for fit in fits),
            smallest_ratio=float(ratio.min(initial=1.0)),
            largest_ratio=float(ratio.max(initial=1.0)),
            # Kish's n sum(w^2) / (sum w)^2: how much unequal weights swell variances.
            design_effect=float(len(after) * dot(after, after) / total**2) if total else 1.0,
        )
        result = data.replace({name: pa.array(after)})
        described = data.columns.get(name, Column(name))
        column = Column(name, described.roles | {"weight"}, described.label)
        return result.with_columns_described({name: column})

    def fit(self, amount: Floats, margins: list[Margin]) -> Fit:
        """Return the ratio of new to old weight in each cell of the margins' columns."""
        low, high = self.bounds or (-np.inf, np.inf)
        free = self.bounds is None
        if not free and not can_meet(amount, margins, low, high):
            raise Infeasible(OUT_OF_BOUNDS)
        if self.method == "linear" or (self.method == "rake" and not free):
            curve = Curve(self.method, low, high)
            fit = calibrate_ratios(
                amount, margins, curve, tolerance=self.tolerance, most=self.rounds
            )
        else:
            fit = fit_proportionally(amount, margins, tolerance=self.tolerance, most=self.rounds)
            fit = Fit(fit.values / amount, fit.rounds, fit.residual, fit.met)
        if not fit.met and not can_meet(amount, margins, 0.0, np.inf):
            raise Infeasible(UNREACHABLE)
        if not fit.met:
            raise LimitReached(
                f"calibrate: the margins are not met after {fit.rounds} rounds. Allow more rounds, wider bounds, or merge categories."
            )
        if not (fit.values > NOTHING * fit.values.max(initial=0.0)).all():
            raise Infeasible(
                "calibrate: some weights would not be positive. Rake, give bounds above 0, or merge categories with small totals."
            )
        return fit

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        del data
        yield claim_totals(self.margins, result)


def claim_totals(margins: Iterable[Mapping[str, tuple[Any, ...]]], result: Microdata) -> Claim:
    """Return the claim that the weights, of each copy where there are several, sum to totals."""
    tables = list(margins)
    copies = {"copies": result.copies} if result.copies else {}
    return Claim(
        "margins-met",
        {
            "weight": result.weight,
            "margins": [{k: list(v) for k, v in table.items()} for table in tables],
            "tolerance": 1e-6,
            **copies,
        },
        " and ".join(describe(columns_of(table)) for table in tables),
        tuple(dict.fromkeys(c for table in tables for c in columns_of(table))),
        ("The totals describe the population from which the sample was drawn.",),
    )


OUT_OF_BOUNDS = "calibrate: no weights within the bounds meet the margins. Widen the bounds, or merge categories."
UNREACHABLE = "calibrate: no positive weights meet all margins, since some combinations of categories have no records. Merge categories."
