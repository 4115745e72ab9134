"""Design effect: how much more, or less, estimates from a sample of households vary than from a simple random sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame, not_numeric, read_numeric_column
from tacit.engine.coded import densify
from tacit.errors import InputError, SdcError
from tacit.fields import ColumnName
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure
from tacit.stats.systematic import linearise_ratio, stratified_variance


@register
class DesignEffect(Measure):
    r"""Standard errors of means from a sample of households, and their design effects.

    The mean of a column is a ratio R of weighted household totals, linearised to z. Its variance is

    - ``strata``: :math:`(1-f) \sum_h \frac{n_h}{n_h-1} \sum_i (z_{hi} - \bar z_h)^2` over the declared strata, such as the
      pseudo-strata of sample_households; without strata all households are one;
    - ``order``: :math:`(1-f) \frac{n}{2(n-1)} \sum_i (z_i - z_{i+1})^2` over households in file order, which must be that of
      the selection: paired successive differences.

    Divided by the variance in a simple random sample of as many households it tells what sorting by geography has
    gained (below 1); divided by that in one of as many persons it is the design effect. The value is the mean of the
    first over the columns.

    References
    ----------
    McCaa, Ruggles, Davern, Swenson, Palipudi (2006), PSD 2006, LNCS 4302, 375-382, section 3.
    Wolter (2007), Introduction to Variance Estimation, 2nd edition, Springer, sections 6.5 and 8.2.
    Kish (1965), Survey Sampling, Wiley, section 8.2.
    """

    kind: Literal["design_effect"] = "design_effect"
    columns: tuple[ColumnName, ...] = Field(
        default=(), description="columns of numbers; by default all that play no role"
    )
    by: Literal["strata", "order"] = Field(
        default="strata", description="pseudo-strata, or successive differences in file order"
    )
    household: ColumnName | None = Field(
        default=None, description="the household of each record; by default the data's own"
    )

    on_household = "used"
    on_weight = "used"
    on_stratum = "used"
    family: ClassVar[str] = "utility"
    better: ClassVar[Literal["lower", "higher"] | None] = "lower"
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    axis: ClassVar[str] = "variance against a simple random sample of households"
    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}
    column_fields = ("columns", "household")

    def columns_of(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns whose means are estimated."""
        if self.columns:
            return self.columns
        schema = data.frame.collect_schema()
        roles = {*data.identifiers, data.weight, data.household, data.stratum}
        return tuple(c for c in data.columns if c not in roles and schema[c].is_numeric())

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: no numbers."""
        found = [*super().faults(data), *not_numeric(data, self.columns, self.kind)]
        if not found and not self.columns_of(data):
            found.append(InputError("design_effect: there are no columns of numbers; name some."))
        return found

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> DesignEffectResult:
        del other
        sample = Sampled.of(data, self.household or data.household)
        rows = []
        for column in self.columns_of(data):
            ctx.tick(f"variance of {column}")
            found = read_numeric_column(data, column)
            values = np.where(found.known, found.values, 0).astype(np.float64)
            if not np.isfinite(values).all():
                raise InputError(f"design_effect: column {column!r} holds infinite numbers.")
            rows.append((column, *sample.estimate(values, found.known.astype(np.float64), self.by)))
        effects = np.array([r[3] for r in rows])
        known = effects[np.isfinite(effects)]
        value = float(known.mean()) if len(known) else float("nan")
        return DesignEffectResult(
            kind=self.kind,
            title=f"Design effects, by {'pseudo-strata' if self.by == 'strata' else 'successive differences'}",
            value=value,
            numbers={
                "households": sample.units,
                "records": len(sample.unit),
                **({"sampling fraction": sample.fraction} if data.weight is not None else {}),
                "strata": sample.strata,
                **{f"standard error of mean {r[0]}": r[2] for r in rows},
                "mean of variances against a simple random sample of households": value,
            },
            frame=as_frame({n: [r[i] for r in rows] for i, n in enumerate(FIELDS)}),
            explanation=explain(value, sample, self.by),
            rows=tuple(rows),
        )


FIELDS = ("column", "mean", "standard error", "against households", "design effect")


@dataclass(frozen=True)
class Sampled:
    """Households of a sample, in order of their first records, with weights and strata."""

    unit: Ints
    weight: Floats
    stratum: Ints
    fraction: float

    @classmethod
    def of(cls, data: Microdata, home: str | None) -> Sampled:
        """Read the design; each record is a household where none is declared."""
        n = len(data)
        unit = np.arange(n)
        if home is not None:
            coded = data.codes(home)
            codes = coded.codes.astype(np.int64)
            # A record without a household is one of its own.
            unit, _ = densify(np.where(codes == coded.null, -1 - unit, codes))
        weight = np.ones(n)
        if data.weight is not None:
            found = read_numeric_column(data, data.weight)
            weight = np.where(found.known, found.values, 0).astype(np.float64)
        total = float(weight.sum())
        fraction = min(n / total, 1.0) if data.weight is not None and total > 0 else 0.0
        layer = np.zeros(n, dtype=np.int64)
        if data.stratum is not None:
            layer = data.codes(data.stratum).codes.astype(np.int64)
        first = np.zeros(int(unit.max(initial=-1)) + 1, dtype=np.int64)
        first[unit[::-1]] = layer[::-1]
        if (first[unit] != layer).any():
            raise InputError(
                f"design_effect: members of one household stand in different strata of {data.stratum!r}. Declare a stratum "
                "that households share."
            )
        return cls(unit, weight, first, fraction)

    @property
    def units(self) -> int:
        """Return the number of households."""
        return len(self.stratum)

    @property
    def strata(self) -> int:
        """Return the number of strata."""
        return len(np.unique(self.stratum))

    def estimate(self, y: Floats, known: Floats, by: str) -> tuple[float, float, float, float]:
        """Return mean, standard error, and variances against those of two simple random samples."""
        n = self.units
        w = self.weight * known
        totals: Floats = np.bincount(self.unit, w * y, minlength=n).astype(np.float64)
        people: Floats = np.bincount(self.unit, w, minlength=n).astype(np.float64)
        mean, z = linearise_ratio(totals, people)
        if n < 2 or not people.sum():
            return mean, float("nan"), float("nan"), float("nan")
        rest = 1 - self.fraction
        if by == "order":
            variance = float(rest * n / (2 * (n - 1)) * np.square(np.diff(z)).sum())
        else:
            variance = stratified_variance(z, self.stratum, self.fraction)
        of_homes = float(rest * n * np.var(z, ddof=1))
        count = float(np.count_nonzero(w))
        spread = float((w * np.square(y - mean)).sum() / w.sum())
        of_people = rest * spread / max(count - 1, 1)
        return (
            mean,
            float(np.sqrt(variance)),
            variance / of_homes if of_homes else float("nan"),
            variance / of_people if of_people else float("nan"),
        )


def explain(value: float, sample: Sampled, by: str) -> str:
    """Return what the numbers mean."""
    if by == "strata" and sample.strata < 2:
        return "No strata are declared, so that households count as a simple random sample; declare the pseudo-strata."
    if not np.isfinite(value):
        return "There are too few households to tell a variance."
    side = "less" if value < 1 else "more"
    return (
        f"Means vary {abs(1 - value):.0%} {side} than in a simple random sample of as many households. Successive "
        "households resemble each other where they live close together; what a systematic sample gains by that, these "
        "estimates show."
    )


@dataclass(frozen=True, repr=False)
class DesignEffectResult(Result):
    """Mean, standard error and design effects by column."""

    rows: tuple[tuple[str, float, float, float, float], ...] = ()

    def plot(self) -> Chart:
        """Return the variances against simple random samples of households."""
        items = [(r[0], r[3]) for r in self.rows if np.isfinite(r[3])]
        return bars(
            items,
            title="Variance against a simple random sample of households",
            y="ratio of variances",
        )
