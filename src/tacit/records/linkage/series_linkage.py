"""Linkage of time series."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import Pairs, pairs
from tacit.data.values import not_numeric
from tacit.errors import InputError, SdcError, require_columns
from tacit.fields import ColumnNames, PositiveFloat
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.linkage.attack import TIE_RULES, TieRule
from tacit.records.linkage.linking import link_frame
from tacit.records.linkage.series_attack import attack, standard_attack
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure
from tacit.stats.series.distances import Combine, Distance, Kind
from tacit.stats.series.panel import Normalisation, Panel, normalise

#: Share of series that go one way from which all have the same shape.
SAME_SHAPE = 0.8
#: Share of the variance between records below which all are on the same level.
SAME_LEVEL = 0.2
Times = tuple[float, ...]


@register
class SeriesLinkage(Measure):
    """Link each record's time series to the nearest released ones and count who is found.

    An intruder who has collected several yearly releases, or knows a history from elsewhere, holds series:
    incomes, prices, results. Every series is normalised, as a rule by its own mean and standard deviation,
    and each record goes to the released record whose series are nearest. With one series v and x of N
    points the distances are

    - ``minkowski``: (sum |x_k - v_k|^q)^(1/q)
    - ``sts``: root of sum ((v_{k+1} - v_k) / (t_{k+1} - t_k) - (x_{k+1} - x_k) / (t_{k+1} - t_k))^2
    - ``correlation``: ((1 - cc) / (1 + cc))^beta, and ``correlation2``: sqrt(2 (1 - cc))
    - ``dtw``: root of the cheapest alignment's sum of squared differences, which allows series of
      different lengths

    and those of several series are added. Beside it stands the standard attack: every point a variable
    standardised over the records, and the Euclidean distance of all of them. Trailing missing values end a
    series; others are refused or filled.

    The paper prints Minkowski's distance without the absolute value and the correlation without 1 / N.
    With them odd q are as strong as even ones, and every beta gives the same links of one series; the
    printed counts for odd q and for beta come from the misprints. How several series are combined the paper
    leaves open.

    References
    ----------
    Nin, Torra (2006), Distance based re-identification for time series, analysis of distances, PSD 2006,
    LNCS 4302, 205-216.
    Möller-Levet, Klawonn, Cho, Wolkenhauer (2003), Fuzzy clustering of short time-series and unevenly
    distributed sampling points, IDA 2003, LNCS 2810, 330-340 (STS).
    Keogh, Ratanamahatana (2005), Exact indexing of dynamic time warping, Knowledge and Information
    Systems 7, 358-386.
    """

    kind: Literal["series_linkage"] = "series_linkage"
    series: Mapping[str, ColumnNames] = Field(
        default=...,
        min_length=1,
        description="the columns of each series in the order of time, by its name",
    )
    times: Times | Mapping[str, Times] | None = Field(
        default=None,
        description="when the points were taken, for all series or by name; by default at equal steps",
    )
    normalise: Normalisation = Field(
        default="series_standard",
        description="make series comparable: each by itself (series_), or each point in time over the records (component_)",
    )
    distance: Kind = Field(default="minkowski", description="how two series are compared")
    q: float = Field(default=2.0, ge=1, description="exponent of the Minkowski distance")
    beta: PositiveFloat = Field(default=1.0, description="exponent of the correlation distance")
    window: int | None = Field(
        default=None, ge=0, description="positions by which aligned points may differ (dtw)"
    )
    root: bool = Field(default=True, description="take the root of the sum of squares (dtw)")
    per_step: bool = Field(default=False, description="divide by the length of the path (dtw)")
    combine: Combine = Field(
        default="sum",
        description="put several series together: sum, root of the sum of squares, or largest",
    )
    weights: Mapping[str, float] | None = Field(
        default=None, description="weight of each series by its name, 1 where none is given"
    )
    ties: TieRule = "expected"
    interpolate: bool = Field(
        default=False,
        description="fill missing values inside a series linearly instead of refusing them",
    )
    resample: int | None = Field(
        default=None, ge=2, description="compare series at this many equally spaced times"
    )

    compares: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    example: ClassVar[Mapping[str, Any]] = {"series": {"history": ["age", "income"]}}

    @model_validator(mode="after")
    def _consistent(self) -> SeriesLinkage:
        columns = self.columns_named()
        if len(set(columns)) < len(columns):
            raise ValueError("series must name each column once")
        self._check_times()
        unknown = [n for n in self.weights or {} if n not in self.series]
        if unknown:
            raise ValueError(f"weights name {unknown[0]!r}, which is no series")
        try:
            self.measured_by()
        except InputError as error:
            raise ValueError(str(error)) from None
        return self

    def _check_times(self) -> None:
        if self.times is None:
            return
        if isinstance(self.times, Mapping):
            unknown = [n for n in self.times if n not in self.series]
            if unknown:
                raise ValueError(f"times name {unknown[0]!r}, which is no series")
        for name, columns in self.series.items():
            at = self.times_of(name)
            if len(at) != len(columns):
                raise ValueError("times must be one for each column of a series")
            if not np.isfinite(at).all() or (np.diff(at) <= 0).any():
                raise ValueError("times must be strictly increasing")

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns of all series."""
        return tuple(c for columns in self.series.values() for c in columns)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: columns without numbers."""
        return [*super().faults(data), *not_numeric(data, self.columns_named(), self.kind)]

    # -- the work ----------------------------------------------------------------------------

    def times_of(self, name: str) -> Floats:
        """Return the times of a series."""
        given = self.times.get(name) if isinstance(self.times, Mapping) else self.times
        steps = np.arange(len(self.series[name]), dtype=np.float64)
        return steps if given is None else np.array(given, dtype=np.float64)

    def measured_by(self) -> Distance:
        """Return the distance."""
        given = self.weights
        weights = None if given is None else tuple(float(given.get(n, 1.0)) for n in self.series)
        return Distance(
            kind=self.distance,
            q=self.q,
            beta=self.beta,
            window=self.window,
            root=self.root,
            per_step=self.per_step,
            combine=self.combine,
            weights=weights,
        )

    def panel(self, values: Floats) -> Panel:
        """Return the series of a file from its columns, filled and resampled where asked for."""
        longest = max(map(len, self.series.values()))
        cube = np.full((len(values), len(self.series), longest), np.nan)
        times = np.empty((len(self.series), longest))
        column = 0
        for s, (name, columns) in enumerate(self.series.items()):
            size = len(columns)
            cube[:, s, :size] = values[:, column : column + size]
            at = self.times_of(name)
            times[s] = at[-1] + np.arange(1, longest + 1) - size
            times[s, :size] = at
            column += size
        made = Panel.of(cube, times)
        made = made.interpolated() if self.interpolate else made
        return made if self.resample is None else made.resampled(self.resample)

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> SeriesLinkageResult:
        both = self.both(other.original, data)
        raw = self.panel(both.before), self.panel(both.after)
        truth = np.full(len(both.before), -1, dtype=np.int64)
        truth[both.old] = both.new
        distance = self.measured_by()
        distance.check(*raw)
        a, b = (normalise(p, self.normalise) for p in raw)
        found = attack(a, b, distance, truth, ctx.tick)
        ctx.tick("linking by every point", None)
        usual = None
        if raw[0].even and raw[1].even and (raw[0].lengths[0] == raw[1].lengths[0]).all():
            usual = float(standard_attack(*raw, self.ties, truth).sum())
        advice = advise(raw[0])
        n = int((found.truth >= 0).sum())
        links, correct = found.links, found.correct(self.ties)
        total = float(correct.sum())
        standard = math.nan if usual is None else usual / n
        numbers: dict[str, Any] = {
            "records attacked": len(links),
            "of them in both files": n,
            "series": len(self.series),
            "distance": self.distance,
            "correct links": total,
            "share of correct links": total / n,
            "share by the standard attack": standard,
            "share by chance": 1.0 / len(raw[1]),
            "correct and without ties": int(found.correct("unique").sum()),
            "share of series that go one way": advice.monotone,
            "share of variance between records": advice.level_spread,
        }
        text = (
            f"An intruder who knows these series and links each record to the nearest ones ({self.distance}) "
            f"finds {total:,.0f} of {n:,} records ({total / n:.1%})."
        )
        if not math.isnan(standard):
            text += f" Taking every point as a variable finds {standard:.1%}."
        return SeriesLinkageResult(
            kind=self.kind,
            title="Linkage of time series",
            value=total / n,
            numbers=numbers,
            frame=link_frame(links, {"distance": links.distance, "second": links.second}, correct),
            explanation=f"{text} {advice.sentence}",
            correct=total,
            share=total / n,
            standard=standard,
            chance=1.0 / len(raw[1]),
            by_rule={rule: float(found.correct(rule).sum()) for rule in TIE_RULES},
            advice=advice,
        )

    def both(self, original: Microdata, released: Microdata) -> Pairs:
        """Return the columns in both files."""
        columns = self.columns_named()
        require_columns(columns, original.columns, "the original")
        text = not_numeric(original, columns, self.kind)
        if text:
            raise text[0]
        both = pairs(original, released, columns, self.kind)
        if len(both.old) < 2:
            raise InputError(
                f"{self.kind} needs at least two records that are in original and release"
            )
        return both


@dataclass(frozen=True, repr=False)
class SeriesLinkageResult(Result):
    """Correct links, by record in ``frame``: under the tie rule, and their share of the records that are in both files."""

    correct: float = 0.0
    share: float = 0.0
    #: The share that an attacker finds who takes every point as a variable; NaN for series of different lengths.
    standard: float = math.nan
    #: The share that guessing finds.
    chance: float = 0.0
    #: Correct links under each tie rule.
    by_rule: Mapping[str, float] = field(default_factory=dict)
    advice: Advice | None = None

    def plot(self) -> Chart:
        """Return the share of records found by this attack, by the standard one and by chance."""
        items = [(f"series, {self.numbers['distance']}", self.share)]
        if not math.isnan(self.standard):
            items.append(("every point a variable", self.standard))
        items.append(("by chance", self.chance))
        return bars(
            items,
            title="Records found by their time series",
            subtitle=f"{self.numbers['of them in both files']:,} records, {self.numbers['series']} series each",
            y="share of records",
        )


# -- which distance suits some series --------------------------------------------------------------


@dataclass(frozen=True)
class Advice:
    """What the series look like, and the kind of distance that suits them; the ``sentence`` says it in words.

    ``monotone`` is the share of the series that go the more frequent way all along: rising or falling; ``level_spread`` the
    share of the variance of the values that lies between records, averaged over series. Of ``equal_lengths`` they are when
    each has the same length in all records.
    """

    monotone: float
    level_spread: float
    equal_lengths: bool
    distance: Kind
    sentence: str


def advise(panel: Panel) -> Advice:
    """Return which distance suits the series: rules of thumb, no guarantee.

    Where all series have the same shape, slopes tell little and values much (Minkowski); where all are on
    the same level, the other way round (STS); series of different lengths need time warping.
    """
    monotone, spread, even = one_way(panel), level_spread(panel), panel.even
    kind: Kind = "minkowski"
    if not even:
        kind = "dtw"
        why = "the series differ in length, so dtw compares them (at a cost of n x m a pair)"
    elif monotone >= SAME_SHAPE:
        why = f"{monotone:.0%} of the series go the same way, so values (minkowski) tell more than slopes"
    elif spread <= SAME_LEVEL:
        kind = "sts"
        why = f"only {spread:.0%} of the variance lies between records, so slopes (sts) tell more than levels"
    else:
        why = "shapes and levels both differ, so minkowski and sts are both worth trying"
    sentence = f"Of the distances, {kind} suits these series: {why}."
    return Advice(monotone, spread, even, kind, sentence)


def one_way(panel: Panel) -> float:
    """Return the share of series that rise all along, or that fall, whichever is more frequent."""
    steps = np.diff(panel.values, axis=2)
    gone = np.isnan(steps)
    moves = (steps != 0) & ~gone
    shares = [
        ((gone | (sign * steps >= 0)).all(axis=2) & moves.any(axis=2)).mean() for sign in (1, -1)
    ]
    return float(max(shares))


def level_spread(panel: Panel) -> float:
    """Return the share of the variance between records: of their means, over series averaged."""
    known = ~np.isnan(panel.values)
    n = known.sum(axis=2)
    mean = np.where(known, panel.values, 0.0).sum(axis=2) / n
    within = (np.where(known, panel.values - mean[:, :, None], 0.0) ** 2).sum(axis=2) / n
    between, inside = mean.var(axis=0), within.mean(axis=0)
    total = between + inside
    return float(np.where(total > 0, between / np.where(total > 0, total, 1.0), 0.0).mean())
