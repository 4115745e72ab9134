"""Noise ellipsoids: how many originals a published noise covariance leaves possible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy import linalg, stats
from scipy.spatial import cKDTree

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import pairs, shared_numeric
from tacit.data.values import as_frame
from tacit.errors import InputError
from tacit.fields import ColumnName, PositiveFloat, PositiveInt
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure
from tacit.stats.moments import TOLERANCE

#: Released records counted between two looks at the clock.
BATCH = 2000


@register
class NoiseEllipsoid(Measure):
    """How many original records lie in the confidence ellipsoid around each released record.

    Who knows that noise of covariance c Sigma was added knows, for a released record y, that its original
    lies with probability 1 - alpha in

        (y - x)' (c Sigma)^-1 (y - x) <= chi2_{p, 1 - alpha}.

    An intruder with the originals of an outside source counts those inside. The risk is the mean chance of
    the right guess among them: 1 / (number inside) where the own record is one of them, else 0. Sigma is
    the covariance of the original columns; for noise that was shrunk back (``keep_variance``) the release
    is first blown up about its mean again.

    References
    ----------
    Oganian, Karr (2006), Combinations of SDC methods for microdata protection, PSD 2006, LNCS 4302,
    102-113; section 2.
    """

    kind: Literal["noise_ellipsoid"] = "noise_ellipsoid"
    columns: tuple[ColumnName, ...] = Field(
        default=(),
        description="the columns with noise; by default every numeric column that was changed",
    )
    share: PositiveFloat = Field(
        default=0.1,
        description="the published covariance of the noise as a multiple of the columns' own",
    )
    alpha: float = Field(
        default=0.05, gt=0, lt=1, description="chance that an original lies outside its ellipsoid"
    )
    keep_variance: bool = Field(
        default=False, description="the noisy values were shrunk so that variances stayed the same"
    )
    most: PositiveInt = Field(
        default=100_000, description="released records looked at; more are sampled at random"
    )

    compares: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}
    number_fields = ("columns",)

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> NoiseEllipsoidResult:
        shared = shared_numeric(other.original, data, self.columns)
        columns = list(self.columns) or self.changed(data, other.original, shared)
        both = pairs(other.original, data, columns, self.kind)
        full = np.asarray(~np.isnan(both.before).any(axis=1))
        before = both.before[full]
        place = np.cumsum(full) - 1
        here = full[both.old] & ~np.isnan(both.after[both.new]).any(axis=1)
        own, released = place[both.old[here]], both.after[both.new[here]]
        if len(before) < 3 or len(released) == 0:
            raise InputError(
                "noise_ellipsoid needs at least three complete original records and one released"
            )
        at = np.arange(len(released))
        if len(at) > self.most:
            at = np.sort(ctx.rng.permutation(len(at))[: self.most])
        records = both.new[here][at] + 1
        inside, held = self.count(before, released, own, at, ctx)
        return self.result(columns, records, inside, held)

    def changed(self, data: Microdata, original: Microdata, shared: list[str]) -> list[str]:
        """Return the columns that hold a changed value; all when none does."""
        both = pairs(original, data, shared, self.kind)
        differs = both.before[both.old] != both.after[both.new]
        differs &= ~np.isnan(both.before[both.old]) & ~np.isnan(both.after[both.new])
        found = [c for c, flag in zip(shared, differs.any(axis=0), strict=True) if flag]
        if not shared:
            raise InputError("noise_ellipsoid needs a numeric column in original and release")
        return found or shared

    def count(
        self, before: Floats, released: Floats, own: Ints, at: Ints, ctx: Context
    ) -> tuple[Ints, Flags]:
        """Return, for some released records, the originals inside and whether the own is one."""
        p = before.shape[1]
        root = noise_root(before) * np.sqrt(self.share)
        if self.keep_variance:
            centre = released.mean(axis=0)
            released = centre + np.sqrt(1.0 + self.share) * (released - centre)
        x, y = (
            linalg.solve_triangular(root, (v - before.mean(axis=0)).T, lower=True).T
            for v in (before, released[at])
        )
        radius = float(np.sqrt(stats.chi2.ppf(1.0 - self.alpha, p)))
        tree = cKDTree(x)
        inside = np.empty(len(y), dtype=np.int64)
        for start in range(0, len(y), BATCH):
            ctx.tick("counting originals", start / len(y))
            inside[start : start + BATCH] = tree.query_ball_point(
                y[start : start + BATCH], radius, return_length=True
            )
        held = ((y - x[own[at]]) ** 2).sum(axis=1) <= radius**2
        return inside, held

    def result(
        self, columns: list[str], records: Ints, inside: Ints, held: Flags
    ) -> NoiseEllipsoidResult:
        """Put the result together."""
        chance = np.where(held, 1.0 / np.maximum(inside, 1), 0.0)
        alone = float((held & (inside == 1)).mean())
        numbers = {
            "mean chance of the right guess": float(chance.mean()),
            "own original inside": float(held.mean()),
            "own original alone inside": alone,
            "median number of originals inside": float(np.median(inside)),
            "records looked at": len(inside),
            "columns": ", ".join(columns),
        }
        return NoiseEllipsoidResult(
            kind=self.kind,
            title="Noise ellipsoids",
            value=float(chance.mean()),
            numbers=numbers,
            frame=as_frame({"record": records, "inside": inside, "own": held, "chance": chance}),
            explanation=(
                "An intruder who knows the covariance of the noise and holds the originals can tell which of them a released record may come from. Few candidates mean that the noise protects little."
            ),
            inside=inside,
            own=held,
        )


@dataclass(frozen=True, repr=False)
class NoiseEllipsoidResult(Result):
    """Originals in each record's ellipsoid (``inside``), and whether its own is one of them (``own``)."""

    inside: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    own: Flags = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def plot(self) -> Chart:
        """Return how many records have how many candidates."""
        edges = [0, 1, 2, 5, 10, 100, 1000, np.inf]
        names = ["none", "1", "2-4", "5-9", "10-99", "100-999", "1000 or more"]
        counts = np.histogram(self.inside, bins=edges)[0]
        return bars(
            [(name, float(c)) for name, c in zip(names, counts, strict=True)],
            title="Original records in the noise ellipsoid",
            subtitle="few candidates: the noise protects little",
            x="originals inside",
            y="released records",
        )


def noise_root(x: Floats) -> Floats:
    """Return the Cholesky factor of the covariance of x; refuse a singular one."""
    sd = x.std(axis=0, ddof=1)
    correlation = (
        np.atleast_2d(np.corrcoef(x, rowvar=False)) if (sd > 0).all() else np.zeros((1, 1))
    )
    if np.linalg.eigvalsh(correlation)[0] <= TOLERANCE:
        raise InputError(
            "noise_ellipsoid: a column is constant or made up of the others, so the ellipsoid is flat. Leave such columns out."
        )
    return np.asarray(np.linalg.cholesky(correlation) * sd[:, None])
