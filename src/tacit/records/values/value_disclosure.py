"""Value disclosure: how much of a confidential column the released columns explain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import Pairs, pairs, shared_numeric
from tacit.data.values import as_frame
from tacit.errors import InputError
from tacit.fields import ColumnName
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.values.index_disclosure import find_changed_columns
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure
from tacit.stats.dummies import Design, cross, solve

#: Dummies of all given columns together at most.
MOST_DUMMIES = 300


@register
class ValueDisclosure(Measure):
    """Share of the variance of an original column that the released columns explain.

    For each confidential column X_j with its masked version Y_j, all masked columns Y, and the columns S
    that are released as they are, by linear regression:

        own     R^2 of X_j on Y_j
        all     R^2 of X_j on Y and S
        given   R^2 of X_j on S: what was known without the masked columns
        added   (all - given) / (1 - given): what Y tells of X_j beyond S

    1 means that the value can be told exactly, 0 that the release tells nothing. Being the best *linear*
    prediction, each is a lower bound on what can be told. Chance alone gives about 1 / (n - 1) for each
    predictor. Categories among S act through dummies.

    References
    ----------
    Muralidhar, Sarathy, Dandekar (2006), Why swap when you can shuffle? A comparison of the proximity
    swap and data shuffle for numeric data, PSD 2006, LNCS 4302, 164-176.
    Palley, Simonoff (1987), The use of regression methodology for the compromise of confidential
    information in statistical databases, ACM Transactions on Database Systems 12, 593-608.
    """

    kind: Literal["value_disclosure"] = "value_disclosure"
    columns: tuple[ColumnName, ...] = Field(
        default=(),
        description="the confidential columns; by default every numeric column that was changed",
    )
    given: tuple[ColumnName, ...] | None = Field(
        default=None,
        description="the columns released as they are, numbers or categories; by default all numeric ones that were not changed",
    )
    intruder: Literal["own", "all", "added"] = Field(
        default="own",
        description="whose R^2 is the value: from the column's own masked version, from all released columns, or what masked columns add to the given ones",
    )

    compares: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"], "given": ["age", "sex"]}
    number_fields = ("columns",)
    column_fields = ("columns", "given")

    @model_validator(mode="after")
    def _consistent(self) -> ValueDisclosure:
        if set(self.columns) & set(self.given or ()):
            raise ValueError("given must not hold a confidential column")
        return self

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> ValueDisclosureResult:
        shared = shared_numeric(other.original, data, self.columns)
        both = pairs(other.original, data, shared, self.kind)
        before, after = both.before[both.old], both.after[both.new]
        differ = find_changed_columns(shared, before, after)
        targets = self.columns or differ
        if not targets:
            raise InputError(
                "value_disclosure: no shared numeric column was changed; name the confidential columns."
            )
        left = tuple(c for c in shared if c not in targets and c not in differ)
        numeric, codes, known = self.predictors(data, left, both)
        at = [shared.index(c) for c in targets]
        use = known & np.isfinite(before[:, at]).all(axis=1) & np.isfinite(after[:, at]).all(axis=1)
        if use.sum() < 3:
            raise InputError(
                "value_disclosure needs at least three records that are complete in original and release"
            )
        x, y = before[use][:, at], after[use][:, at]
        if (np.ptp(x, axis=0) == 0).any():
            raise InputError(
                "value_disclosure: a confidential column is constant, so there is nothing to tell"
            )
        ctx.tick("explaining confidential columns", 0.5)
        given = Design.of(drop_constant_columns(numeric[use]), [c[use] for c in codes])
        found, n = shares(x, y, given), int(use.sum())
        parts = {
            c: ColumnDisclosure(*(float(found[k][j]) for k in ("own", "all", "given", "added")))
            for j, c in enumerate(targets)
        }
        numbers: dict[str, Any] = {}
        for c, part in parts.items():
            numbers |= {
                f"{c}: R^2 from its own masked values": part.own,
                f"{c}: R^2 from all released columns": part.all,
                f"{c}: R^2 from the given columns alone": part.given,
                f"{c}: share of the rest that masked columns explain": part.added,
            }
        numbers |= {"R^2 of one predictor by chance": 1.0 / (n - 1), "records": n}
        return ValueDisclosureResult(
            kind=self.kind,
            title="Value disclosure",
            value=max(getattr(p, self.intruder) for p in parts.values()),
            numbers=numbers,
            frame=as_frame({"column": list(parts), **found}),
            explanation=(
                "The share of a confidential column's variance that an intruder explains by linear regression on "
                "what was released; 1 means the values can be told exactly. What the given columns explain was "
                "known without the masked ones."
            ),
            parts=parts,
        )

    def predictors(
        self, data: Microdata, left: Sequence[str], both: Pairs
    ) -> tuple[Floats, list[Ints], Flags]:
        """Return the given numbers and categories of the shared records, and who has them all."""
        names = left if self.given is None else self.given
        schema = data.frame.collect_schema()
        numbers = [c for c in names if schema[c].is_numeric()]
        coded = [data.codes(c) for c in names if c not in numbers]
        if sum(len(c.values) for c in coded) > MOST_DUMMIES:
            raise InputError(
                f"value_disclosure: the given columns have more than {MOST_DUMMIES} categories together. Recode them, or leave one out."
            )
        read = data.to_arrow(numbers)
        table = np.empty((len(both.new), len(numbers)))
        for j, c in enumerate(numbers):
            column = read.column(c).cast(pa.float64(), safe=False).to_numpy()
            table[:, j] = column[both.new]
        codes = [c.codes[both.new].astype(np.int64) for c in coded]
        known: Flags = np.asarray(np.isfinite(table).all(axis=1))
        for column, code in zip(coded, codes, strict=True):
            known &= code != column.null
        return table, codes, known


@dataclass(frozen=True)
class ColumnDisclosure:
    """R^2 of one column: from its own masked values, all columns, the given ones, and what is added."""

    own: float
    all: float
    given: float
    added: float


@dataclass(frozen=True, repr=False)
class ValueDisclosureResult(Result):
    """R^2 by column (``parts``)."""

    parts: Mapping[str, ColumnDisclosure] = field(default_factory=dict)

    def plot(self) -> Chart:
        """Return three R^2 of each column as bars."""
        words = {"own": "own masked values", "all": "all released columns", "given": "given alone"}
        return bars(
            (
                (f"{c}: {text}", getattr(part, name))
                for c, part in self.parts.items()
                for name, text in words.items()
            ),
            title="Value disclosure",
            subtitle="share of the variance explained; 1 tells the value exactly",
            y="share of the variance explained (R²)",
            top=1.0,
        )


def shares(x: Floats, y: Floats, given: Design) -> dict[str, Floats]:
    """Return the four shares of each column of x, from masked y and the given columns."""
    own = np.array([r_squared_one(a, b) for a, b in zip(x.T, y.T, strict=True)])
    s, p = given.width, drop_constant_columns(y).shape[1]
    blocks = (standardise_columns(drop_constant_columns(y)), standardise_columns(x))
    moments = cross(given, *blocks)
    known = r_squared(moments, np.arange(s), x.shape[1])
    everything = np.maximum(r_squared(moments, np.arange(s + p), x.shape[1]), known)
    left = 1.0 - known
    added = np.where(left > 1e-9, (everything - known) / np.where(left > 1e-9, left, 1.0), 0.0)
    return {"own": own, "all": everything, "given": known, "added": added}


def r_squared(moments: Floats, by: Ints, q: int) -> Floats:
    """Return the R^2 of the last q standardised columns on some others."""
    k = len(moments) - q
    against = moments[by][:, k:]
    fit = solve(moments[np.ix_(by, by)], against)
    return np.clip((against * fit).sum(axis=0), 0.0, 1.0)


def r_squared_one(x: Floats, y: Floats) -> float:
    """Return the squared correlation of two columns; 0 for a constant one."""
    dx, dy = x - x.mean(), y - y.mean()
    size = float((dx @ dx) * (dy @ dy))
    return min(float(dx @ dy) ** 2 / size, 1.0) if size > 0 else 0.0


def standardise_columns(x: Floats) -> Floats:
    """Return columns, none constant, with mean 0 and variance 1."""
    centered = x - x.mean(axis=0)
    return np.asarray(centered / np.sqrt((centered * centered).mean(axis=0)))


def drop_constant_columns(x: Floats) -> Floats:
    """Return the columns that are not constant."""
    return x[:, np.ptp(x, axis=0) > 0] if len(x) else x
