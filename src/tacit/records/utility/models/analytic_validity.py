"""Analytic validity: means and covariances on subdomains, and margins, that survive masking."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Flags, Floats
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import matrix, weights_of
from tacit.data.values import as_frame
from tacit.engine.codes import group_ids
from tacit.errors import InputError
from tacit.fields import ColumnName, ColumnNames, PositiveFloat, PositiveInt
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.utility.matched import (
    ALL,
    CommonCodes,
    LossMeasure,
    choose_compared_columns,
    classes_of_both,
    common_codes,
)
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions

#: A file is analytically interesting, in Winkler's words, when this many variables can be analysed.
INTERESTING = 6


@register
class AnalyticValidity(LossMeasure):
    """Whether means and covariances on subdomains, and margins, are about those of the original.

    A masked file is analytically valid when it approximately preserves means and covariances on a small
    set of subdomains and the margins of a few tabulations; it is analytically interesting when it does so
    for six variables on important subdomains. The subdomains are the whole file and every class of each
    column in ``by``; the tabulations are the margins of the columns in ``margins``.

    *About* is made a number. A mean may move by ``tolerance`` standard deviations of its column in the
    subdomain; a covariance by ``tolerance`` times the product of the two standard deviations, so that
    covariances near 0 do not explode; a margin's cells together by ``tolerance`` of the total. The value is
    the share of checks that fail.

    References
    ----------
    Winkler (2005), Methods and analyses for determining quality, keynote address, ACM SIGMOD Workshop on
    Information Quality in Information Systems.
    Winkler (1998), Re-identification methods for evaluating the confidentiality of analytically valid
    microdata, Research in Official Statistics 1, 87-104.
    Kennickell, Lane (2006), PSD 2006, LNCS 4302, 291-303, section 2.1.
    """

    kind: Literal["analytic_validity"] = "analytic_validity"
    columns: ColumnNames | None = Field(
        default=None,
        description="the numeric variables; by default all that are neither identifiers nor weight, household or stratum",
    )
    by: tuple[ColumnName, ...] = Field(
        default=(), description="columns each of whose classes is a subdomain"
    )
    margins: tuple[tuple[ColumnName, ...], ...] = Field(
        default=(),
        description="tabulations whose cells are compared, each a list of columns; by default one of every column in 'by'",
    )
    tolerance: PositiveFloat = Field(
        default=0.05, description="the change that still counts as about the same"
    )
    least: PositiveInt = Field(
        default=10, description="records a subdomain needs in both files to be looked at"
    )

    on_weight = "used"
    on_stratum = "by"
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"], "by": ["sex"], "least": 2}

    def columns_named(self) -> tuple[str, ...]:
        """Return every column that the parameters name."""
        return (*(self.columns or ()), *self.by, *(c for m in self.margins for c in m))

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> AnalyticValidityResult:
        original = other.original
        self.check(original)
        columns = choose_compared_columns(original, data, self.columns, self.kind)
        if not len(original) or not len(data):
            raise InputError("analytic_validity needs records in both files.")
        sides = [
            Side(matrix(f.to_arrow(columns), columns), weights_of(f)) for f in (original, data)
        ]
        needed = dict.fromkeys([*self.by, *(c for m in self.margins for c in m)])
        codes = {c: common_codes(original, data, c) for c in needed}
        checks: list[Check] = []
        domains = list(self.domains(sides, codes))
        for i, (name, old, new) in enumerate(domains):
            ctx.tick(f"analytic validity: {name}", i / len(domains))
            checks += self.moments(columns, name, sides[0].part(old), sides[1].part(new))
        for margin in self.margins or tuple((c,) for c in self.by):
            checks.append(self.margin(margin, codes, sides))
        made = [c for c in checks if math.isfinite(c.change)]
        failed = [c for c in made if not c.passed]
        spoilt = {v for c in failed if c.what != "margin" for v in c.about.split(", ")}
        sound = tuple(c for c in columns if c not in spoilt)
        margins_hold = not any(c.what == "margin" for c in failed)
        return AnalyticValidityResult(
            kind=self.kind,
            title="Analytic validity",
            value=len(failed) / len(made) if made else math.nan,
            numbers={
                "checks": len(made),
                "checks failed": len(failed),
                "share failed": len(failed) / len(made) if made else math.nan,
                "analytically valid": bool(made) and not failed,
                "analytically interesting": margins_hold and len(sound) >= INTERESTING,
                "variables without a failed check": len(sound),
                "largest change": max((c.change for c in made), default=math.nan),
                "checks that could not be made": len(checks) - len(made),
            },
            frame=as_frame(pa.Table.from_pylist([c.entry() for c in checks])),
            explanation=(
                f"Means and covariances on subdomains, in standard deviations, and margins, as a share of the total, may "
                f"change by {self.tolerance:g}. A file is valid when all checks pass, and interesting when {INTERESTING} variables do."
            ),
            checks=tuple(checks),
            sound=sound,
        )

    def domains(
        self, sides: Sequence[Side], codes: Mapping[str, CommonCodes]
    ) -> Iterator[tuple[str, Flags, Flags]]:
        """Yield the subdomains: everybody, then each class of each column."""
        old, new = (np.ones(len(side.weights), dtype=bool) for side in sides)
        yield ALL, old, new
        for column in self.by:
            for name, old, new in classes_of_both(codes[column]):
                yield f"{column} {name}", old, new

    def moments(self, columns: Sequence[str], name: str, old: Side, new: Side) -> Iterator[Check]:
        """Yield the checks of means and covariances on a subdomain."""
        if min(len(old.weights), len(new.weights)) < self.least:
            yield Check(name, "too few records", "", math.nan, self.tolerance)
            return
        spread = old.spread()
        scale = np.where(spread > 0, spread, np.nan)
        moved = np.abs(new.mean() - old.mean()) / scale
        for c, change in zip(columns, moved, strict=True):
            yield Check(name, "mean", c, float(change), self.tolerance)
        change = np.abs(new.covariance() - old.covariance()) / np.outer(scale, scale)
        for i, a in enumerate(columns):
            for j in range(i, len(columns)):
                pair = a if i == j else f"{a}, {columns[j]}"
                what = "variance" if i == j else "covariance"
                yield Check(name, what, pair, float(change[i, j]), self.tolerance)

    def margin(
        self, margin: Sequence[str], codes: Mapping[str, CommonCodes], sides: Sequence[Side]
    ) -> Check:
        """Return the check of a margin: the share of the total that is in another cell."""
        sizes = [codes[c].size for c in margin]
        ids, _ = group_ids([np.concatenate([codes[c].old, codes[c].new]) for c in margin], sizes)
        _, cell = np.unique(ids, return_inverse=True)
        n = len(sides[0].weights)
        shares = [
            np.bincount(part, weights=side.weights, minlength=int(cell.max()) + 1)
            / side.weights.sum()
            for part, side in zip((cell[:n], cell[n:]), sides, strict=True)
        ]
        change = float(np.abs(shares[0] - shares[1]).sum() / 2)
        return Check(ALL, "margin", ", ".join(margin), change, self.tolerance)


@dataclass(frozen=True)
class Side:
    """Numbers and weights of one file, or of a subdomain of it."""

    x: Floats
    weights: Floats

    def part(self, inside: Flags) -> Side:
        """Return the complete records of a subdomain."""
        use = inside & np.isfinite(self.x).all(axis=1) & (self.weights > 0)
        return Side(self.x[use], self.weights[use])

    def mean(self) -> Floats:
        """Return the weighted means."""
        return np.asarray(np.average(self.x, axis=0, weights=self.weights))

    def covariance(self) -> Floats:
        """Return the weighted covariances."""
        z = self.x - self.mean()
        return np.asarray((z * (self.weights / self.weights.sum())[:, None]).T @ z)

    def spread(self) -> Floats:
        """Return the weighted standard deviations; 0 where constant."""
        flat = np.ptp(self.x, axis=0) == 0
        return np.where(flat, 0.0, np.sqrt(np.diag(self.covariance())))


@dataclass(frozen=True)
class Check:
    """One comparison: where, what, of which variables, and how far it moved."""

    subdomain: str
    what: str
    about: str
    change: float
    tolerance: float

    @property
    def passed(self) -> bool:
        """Return True when the change is within the tolerance."""
        return self.change <= self.tolerance

    def entry(self) -> dict[str, Any]:
        """Return the check as it stands in the frame."""
        return {
            "subdomain": self.subdomain,
            "statistic": self.what,
            "of": self.about,
            "change": self.change,
            "passed": self.passed if math.isfinite(self.change) else None,
        }


@dataclass(frozen=True, repr=False)
class AnalyticValidityResult(Result):
    """All checks, and the variables none of whose checks failed."""

    checks: tuple[Check, ...] = ()
    sound: tuple[str, ...] = field(default=())

    @property
    def valid(self) -> bool:
        """Return True when every check that could be made passed."""
        return bool(self.numbers["analytically valid"])

    def plot(self) -> Chart:
        """Return the largest change in each subdomain and of each margin."""
        worst: dict[str, float] = {}
        for c in self.checks:
            name = f"margin of {c.about}" if c.what == "margin" else c.subdomain
            if math.isfinite(c.change):
                worst[name] = max(worst.get(name, 0.0), c.change)
        tolerance = self.checks[0].tolerance if self.checks else 0.0
        return bars(
            worst.items(),
            title="Largest change in each subdomain",
            subtitle=f"in standard deviations, or as a share of a margin; {tolerance:g} counts as about the same",
            y="change",
        )
