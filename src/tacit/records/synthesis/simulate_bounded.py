"""Bounded simulation: amounts of unusual and of some ordinary records redrawn from a model, within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Flags, Floats
from tacit.context import Context
from tacit.data.block import Block, Missing, read_block
from tacit.data.microdata import Microdata
from tacit.data.values import classes
from tacit.errors import DisclosureRefused, InputError
from tacit.fields import ColumnName, ColumnNames, PositiveFloat, Probability, Secret
from tacit.numerics.algebra import dot, lstsq, svd
from tacit.numerics.elementary import arcsinh, ndtr, ndtri, sinh
from tacit.registry import register
from tacit.spec import Method
from tacit.stats.moments import scale_of
from tacit.stats.robust import robust_distances

#: Relative size below which a singular value counts as zero.
SINGULAR = 1e-10


@register
class SimulateBounded(Method):
    """Redraw the amounts of unusual records from a regression, each within a few per cent of the truth.

    The records farthest from the others (robust Mahalanobis distance of the amounts on a logarithmic
    scale) and some ordinary ones as decoys are selected. Column by column, in the order given, an amount
    is regressed, on that scale, on the other amounts and the ``given`` columns; the model is estimated on
    all records as they were, and a selected record is predicted from what has been drawn for it before.
    Its new amount is prediction plus residual noise, kept within x (1 - B) and x (1 + B), B = ``bound``
    times a random number between 1 and 1 + ``spread``. Amounts of zero stay zero, signs stay.

    ``draw="clip"`` sets what falls outside to the bound, as the paper's procedure; "truncated" draws from
    the part of the predictive distribution within the bounds, which leaves no heap of values there.

    References
    ----------
    Kennickell, Lane (2006), Measuring the impact of data protection techniques on data utility: evidence
    from the Survey of Consumer Finances, PSD 2006, LNCS 4302, 291-303, section 4.2.
    """

    kind: Literal["simulate_bounded"] = "simulate_bounded"
    columns: ColumnNames = Field(description="the amounts to simulate, in this order")
    given: tuple[ColumnName, ...] = Field(
        default=(),
        description="further columns that the models condition on; text makes categories",
    )
    unusual: Probability = Secret(
        0.05, description="share of the records, the most unusual ones, to simulate"
    )
    decoys: Probability = Secret(
        0.025, description="share of the other records, drawn at random, to simulate as well"
    )
    bound: PositiveFloat = Secret(
        0.08, le=1, description="how far an amount may move, as a share of itself"
    )
    spread: float = Secret(
        0.4, ge=0, allow_inf_nan=False, description="random widening of a record's bound"
    )
    draw: Literal["truncated", "clip"] = Field(
        default="truncated",
        description="draw within the bounds, or set what falls outside to the bound",
    )
    missing: Missing = Field(
        default="refuse",
        description="refuse columns with missing values, or keep records with one as they are",
    )
    whole: bool = Field(default=True, description="keep whole-number columns whole")

    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("substitution",)
    example: ClassVar[Mapping[str, Any]] = {
        "columns": ["income"],
        "given": ["age"],
        "unusual": 0.2,
    }
    number_fields = ("columns",)
    column_fields = ("columns", "given")

    @model_validator(mode="after")
    def _consistent(self) -> SimulateBounded:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("columns must name each column once")
        if set(self.columns) & set(self.given):
            raise ValueError("a column cannot be simulated and given")
        if len(self.columns) == 1 and not self.given:
            raise ValueError(
                "one column alone leaves the model without predictors; name given columns"
            )
        return self

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        block = read_block(data, self.columns, self.kind, missing=self.missing)
        if not block.complete.any():
            return data
        others = self.conditions(data, block)
        x = block.x
        if len(x) < x.shape[1] + others.shape[1] + 3:
            raise InputError(
                "simulate_bounded: too few complete records for the models. Name fewer columns."
            )
        logs = signed_log(x)
        chosen = self.selected(logs, ctx.rng)
        bounds = self.bound * (1 + self.spread * ctx.rng.random(int(chosen.sum())))
        new = x.copy()
        for j in range(x.shape[1]):
            ctx.tick("simulating amounts", j / x.shape[1])
            rest = [i for i in range(x.shape[1]) if i != j]
            predictors = np.column_stack([logs[:, rest], others])
            drawn = np.column_stack([signed_log(new[chosen][:, rest]), others[chosen]])
            mean, sd = predict_response(predictors, logs[:, j], drawn)
            old = x[chosen, j]
            low, high = np.sort([old * (1 - bounds), old * (1 + bounds)], axis=0)
            if self.draw == "clip":
                amounts = mean + sd * ctx.rng.standard_normal(len(mean))
            else:
                ends = signed_log(low), signed_log(high)
                amounts = draw_truncated_normal(mean, sd, *ends, ctx.rng)
            new[chosen, j] = np.clip(signed_exp(amounts), low, high)
        widest = self.bound * (1 + self.spread)
        if (np.abs(new - x) > widest * np.abs(x) + 1e-9 * np.abs(x)).any():
            raise DisclosureRefused(
                "simulate_bounded: an amount left its bounds; nothing was released"
            )
        ctx.note(columns=list(self.columns), changed=int((new != x).any(axis=1).sum()))
        return data.replace(block.released(new, whole=self.whole))

    def conditions(self, data: Microdata, block: Block) -> Floats:
        """Return the given columns of the complete records as numbers, text as dummies."""
        schema = data.frame.collect_schema()
        parts: list[Floats] = [np.zeros((int(block.complete.sum()), 0))]
        for c in self.given:
            if schema[c].is_numeric():
                parts.append(read_block(data, [c], self.kind).values[block.complete])
            else:
                codes = np.unique(classes(data, [c])[0][block.complete], return_inverse=True)[1]
                parts.append((codes[:, None] == np.arange(1, codes.max() + 1)).astype(np.float64))
        return np.column_stack(parts)

    def selected(self, logs: Floats, rng: np.random.Generator) -> Flags:
        """Return the records to simulate: the most unusual ones and decoys."""
        n = len(logs)
        varied = logs[:, np.ptp(logs, axis=0) > 0]
        far = (
            robust_distances(varied, "ogk", rng) if varied.shape[1] > 1 else distance_in_one(varied)
        )
        chosen = np.zeros(n, dtype=bool)
        chosen[np.argsort(-far, kind="stable")[: round(self.unusual * n)]] = True
        rest = np.flatnonzero(~chosen)
        chosen[rng.choice(rest, min(round(self.decoys * n), len(rest)), replace=False)] = True
        return chosen


# -- on arrays ---------------------------------------------------------------------------------------


def signed_log(x: Floats) -> Floats:
    """Return amounts on a scale that is logarithmic for large ones of either sign, and 0 at 0."""
    return np.asarray(arcsinh(x))


def signed_exp(z: Floats) -> Floats:
    """Return amounts from that scale."""
    return np.asarray(sinh(z))


def distance_in_one(logs: Floats) -> Floats:
    """Return the distance from the median in one column; 0 where all are alike."""
    if logs.shape[1] == 0:
        return np.zeros(len(logs))
    return np.abs(logs[:, 0] - np.median(logs[:, 0]))


def predict_response(predictors: Floats, y: Floats, drawn: Floats) -> tuple[Floats, float]:
    """Return the predictions for new predictors of a regression, and its residual deviation."""
    varied = np.ptp(predictors, axis=0) > 0  # empty where a given text column has one category
    if not varied.any():
        raise InputError(
            "simulate_bounded: all predictors are constant, so there is no model to draw from"
        )
    scale = scale_of(predictors)
    keep = scale.spread > 0
    design = np.column_stack([np.ones(len(y)), scale.there(predictors)[:, keep]])
    values = svd(design)[1]
    if values[-1] < SINGULAR * values[0]:
        raise InputError(
            "simulate_bounded: the predictors depend on each other linearly (a total and its parts, or a repeated column). Leave some out."
        )
    fit, *_ = lstsq(design, y, rcond=None)
    left = y - dot(design, fit)
    sd = float(np.sqrt((left**2).sum() / max(len(y) - design.shape[1], 1)))
    return dot(np.column_stack([np.ones(len(drawn)), scale.there(drawn)[:, keep]]), fit), sd


def draw_truncated_normal(
    mean: Floats, sd: float, low: Floats, high: Floats, rng: np.random.Generator
) -> Floats:
    """Return normal draws within bounds; uniform ones where the distribution has no mass there."""
    u = rng.random(len(mean))
    if sd == 0:
        return np.clip(mean, low, high)
    # Mirrored into the lower tail, where the distribution function keeps its digits.
    mirror = np.where(low > mean, -1.0, 1.0)
    a, b = np.sort([mirror * (low - mean) / sd, mirror * (high - mean) / sd], axis=0)
    pa, pb = ndtr(a), ndtr(b)
    found = mean + mirror * sd * ndtri(pa + u * (pb - pa))
    return np.where(
        np.isfinite(found) & (pb > pa), np.clip(found, low, high), low + u * (high - low)
    )
