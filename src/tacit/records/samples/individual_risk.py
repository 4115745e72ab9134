"""Individual risk: the chance that each record of a sample is re-identified in the population."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.margins import Totals, recode_totals
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame, not_numeric, read_numeric_column
from tacit.engine.codes import Cells, Coded, wildcard_sizes
from tacit.errors import InputError, InvalidParameter, RoleMissing, SdcError, SdcWarning
from tacit.fields import (
    ColumnName,
    ColumnNames,
    EachQuasi,
    MissingKeys,
    PositiveFloat,
    PositiveInt,
    Probability,
    WildcardShare,
)
from tacit.plot.chart import Chart
from tacit.plot.families import columns
from tacit.plot.lines import lines
from tacit.records.classes.class_values import free_name
from tacit.records.samples.posterior import (
    expected_inverse,
    joint_risk,
    largest_cap,
    largest_kept,
    share_sampled,
)
from tacit.records.samples.sample_table import order_cells, sum_by
from tacit.records.samples.spree import Spree, association_of, estimate_populations
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure, Role

Estimator = Literal["bf", "spree", "bf_spree"]

WORDS = {
    "bf": "Benedetti-Franconi",
    "spree": "SPREE",
    "bf_spree": "Benedetti-Franconi with SPREE",
}
#: Upper ends of the columns of the chart.
ENDS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0)
#: Points of the curve at most.
POINTS = 400


@register
class IndividualRisk(Measure):
    r"""Chance that each record of a sample is re-identified, and how many re-identifications to expect.

    Records that are equal on the keys form a cell; f of its people are in the sample and F in the population. Whoever
    knows the keys of a person in the sample finds the right record with chance 1/F. F is not known:

    * ``bf`` (Benedetti and Franconi): given f, F is negative binomial with parameter p = f / (sum of weights), and the
      risk is

      .. math:: E(1/F \mid f) = \frac{p}{f}\, {}_2F_1(1, 1; f+1; 1-p),

      evaluated exactly for every f and p;
    * ``spree``: F comes from an old census table, raked to margins known today (a structure preserving estimate); the
      risk is 1/F;
    * ``bf_spree``: as ``bf``, with p = f / F of SPREE.

    The expected number of re-identifications is the sum over records. A household's risk is 1 - prod(1 - r) over its
    members. With several quasi-identifiers each record has the largest of its risks. ``bf`` understates the risk of
    cells that are rare in the population.

    References
    ----------
    Benedetti, Franconi (1998), Statistical and technological solutions for controlled data dissemination, Pre-proceedings
    of New Techniques and Technologies for Statistics, vol. 1, 225-232.
    Di Consiglio, Polettini (2006), Improving individual risk estimators, PSD 2006, LNCS 4302, 243-256.
    Templ, Kowarik, Meindl (2015), Statistical disclosure control for micro-data using the R package sdcMicro, Journal of
    Statistical Software 67(4), on missing keys.
    """

    kind: Literal["individual_risk"] = "individual_risk"
    estimator: Estimator = Field(
        default="bf",
        description="how people in the population are counted: by weights, by a raked census, or both",
    )
    threshold: Probability | None = Field(
        default=None, description="the largest risk that a record may have"
    )
    average: Probability | None = Field(
        default=None, description="the largest average risk that the file may have"
    )
    sampling_fraction: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="the share of the population that was sampled, for data without weights",
    )
    quasi: EachQuasi = None
    missing: MissingKeys = "category"
    alpha: WildcardShare = 1.0
    association: Totals | None = Field(
        default=None,
        description="SPREE: the old census, columns of keys and 'count'; by default counted in the register",
    )
    margins: tuple[Totals | ColumnNames, ...] = Field(
        default=(),
        description="SPREE: tables of known totals; columns alone mean as the weights of the sample estimate them",
    )
    categories: Mapping[ColumnName, Mapping[str, Any]] = Field(
        default_factory=dict,
        description="SPREE: for each key, categories of the census and of margins to those of the data that they belong to",
    )
    rescale: bool = Field(
        default=False,
        description="SPREE: scale later margins to the totals of the first instead of refusing contradictions",
    )
    zeros: float = Field(
        default=0.0,
        ge=0,
        description="SPREE: what stands in empty census cells; 0 keeps them empty",
    )
    floor: Literal["f", "none"] = Field(
        default="f",
        description="SPREE: population counts are at least the records of the cell, or as they come out",
    )
    tolerance: PositiveFloat = Field(
        default=1e-8, description="SPREE: relative deviation from the margins at which raking stops"
    )
    sweeps: PositiveInt = Field(default=500, description="SPREE: sweeps of raking at most")

    on_household = "used"
    on_weight = "used"
    needs: ClassVar[frozenset[Role]] = frozenset({"keys"})
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    example: ClassVar[Mapping[str, Any]] = {"sampling_fraction": 0.1}
    axis: ClassVar[str] = "average risk of re-identification"

    @model_validator(mode="after")
    def _consistent(self) -> IndividualRisk:
        if self.alpha < 1 and self.missing != "wildcard":
            raise ValueError("alpha goes with missing 'wildcard'")
        if self.estimator == "bf" and (self.association is not None or self.margins):
            raise ValueError("association and margins go with the estimators spree and bf_spree")
        if self.estimator == "bf" and self.categories:
            raise ValueError("categories go with the estimators spree and bf_spree")
        if self.estimator != "bf" and not self.margins:
            raise ValueError(
                "SPREE needs margins: tables of totals, or columns that the weights estimate"
            )
        if self.estimator != "bf" and self.missing == "wildcard":
            raise ValueError(
                "SPREE counts complete keys; missing 'wildcard' goes with the estimator bf"
            )
        return self

    def _faults(self, data: Microdata) -> list[SdcError]:
        """Add: no weights, or weights and a sampling fraction."""
        found = super()._faults(data)
        if data.weight is not None:
            found += not_numeric(data, [data.weight], self.kind)
        if data.weight is None and self.sampling_fraction is None:
            found.append(
                RoleMissing(
                    "individual_risk needs survey weights, and the data declare none. Declare them with "
                    "tacit.read(..., weight=...), or give sampling_fraction=."
                )
            )
        if data.weight is not None and self.sampling_fraction is not None:
            found.append(
                InputError(
                    "individual_risk: the data declare weights, so leave out sampling_fraction=."
                )
            )
        return found

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> IndividualRiskResult:
        weights = record_weights(data)
        parts = []
        for name, keys in data.quasi_identifiers(self.quasi).items():
            ctx.tick(f"risk on {name}")
            parts.append(self.part(name, keys, data, weights, other))
        risk = np.max([p.risk[p.of] for p in parts], axis=0)
        worst = max(parts, key=lambda p: p.expected)
        n, expected = len(risk), float(risk.sum())
        mean = expected / n if n else 0.0
        high = None if self.threshold is None else int((risk > self.threshold).sum())
        household = household_table(data, risk)
        rows: dict[str, Any] = {
            "f": worst.f[worst.of],
            "population": worst.population[worst.of],
            "p": worst.p[worst.of],
            "risk": risk,
        }
        numbers: dict[str, Any] = {
            "records": n,
            "expected re-identifications": expected,
            "average risk": mean,
            "largest risk": float(risk.max(initial=0.0)),
            "sample uniques": int((worst.f[worst.of] == 1).sum()),
        }
        if high is not None:
            numbers[f"records with a risk above {self.threshold:g}"] = high
        if household is not None:
            numbers["expected households re-identified"] = float(household["risk"].sum())
            rows["household_risk"] = household["risk"][household["of"]]
        if worst.spree is not None:
            numbers["sweeps of raking"] = worst.spree.sweeps
            numbers["largest deviation from a margin"] = worst.spree.residual
            numbers["cells raised to their records"] = int(worst.floored.sum())
        title = f"Individual risk ({WORDS[self.estimator]}) on {', '.join(p.name for p in parts)}"
        return IndividualRiskResult(
            kind=self.kind,
            title=title,
            value=mean,
            numbers=numbers,
            frame=as_frame(rows),
            explanation=(
                f"Of {n:,} people whose keys somebody knows and looks for, about {expected:,.1f} would be found rightly. "
                "The value compared before and after is the average risk."
            ),
            shortfall=self.fall_short(title, high, n, mean),
            expected=expected,
            risk=risk,
            parts=tuple(parts),
            limit=self.threshold,
            households=None if household is None else household["table"],
        )

    def fall_short(self, title: str, high: int | None, n: int, mean: float) -> str:
        """Return which threshold is missed, in a sentence."""
        if high:
            return f"{title}: {high:,} of {n:,} records have a risk above {self.threshold:g}"
        if self.average is not None and mean > self.average:
            return f"{title}: the average risk is above {self.average:g}"
        return ""

    def part(
        self,
        name: str,
        keys: tuple[str, ...],
        data: Microdata,
        weights: Floats | None,
        other: Companions,
    ) -> RiskOfCells:
        """Return the risk of the cells of one quasi-identifier."""
        cells, of = record_cells(data, keys, weights)
        f, direct = self.counts(cells)
        warn_of_small_weights(f, direct, weights)
        population, spree = direct, None
        floored = np.zeros(len(cells), dtype=bool)
        if self.estimator != "bf" and len(cells):
            census = other.register if other.has_register else None
            table = recode_totals(association_of(keys, self.association, census), self.categories)
            margins = [
                recode_totals(m, self.categories) if isinstance(m, Mapping) else m
                for m in self.margins
            ]
            spree = estimate_populations(cells, direct, table, margins, self)
            floored = spree.population < f
            population = np.maximum(spree.population, f) if self.floor == "f" else spree.population
            if not (population > 0).all():
                raise InputError(
                    "individual_risk: the census table is empty where the sample has records. Set floor='f', or zeros= to a "
                    "small number."
                )
        p = share_sampled(f, population)
        risk = 1.0 / population if self.estimator == "spree" else expected_inverse(f, p)
        return RiskOfCells(name, keys, cells, of, f, direct, population, p, risk, floored, spree)

    def counts(self, cells: Cells) -> tuple[Floats, Floats]:
        """Return sample and weighted counts of each cell, missing keys as asked."""
        f = cells.n.astype(np.float64)
        amount = f if cells.weight is None else cells.weight
        if self.missing == "wildcard" and len(cells):
            f = wildcard_sizes(cells, alpha=self.alpha)
            weighted = cells.weight is not None
            amount = wildcard_sizes(cells, weighted=True, alpha=self.alpha) if weighted else f
        return f, amount / (self.sampling_fraction or 1.0)


@dataclass(frozen=True)
class RiskOfCells:
    """The cells of one quasi-identifier, and the cell ``of`` each record.

    Of each cell: the sample count ``f``, the sum of weights ``direct``, the ``population`` count that the risk rests on, the
    share sampled ``p``, the ``risk``, and whether its SPREE count lay below its records (``floored``).
    """

    name: str
    keys: tuple[str, ...]
    cells: Cells
    of: Ints
    f: Floats
    direct: Floats
    population: Floats
    p: Floats
    risk: Floats
    floored: Flags
    spree: Spree | None

    @property
    def expected(self) -> float:
        """Return the expected re-identifications on these keys alone."""
        return float(self.risk @ self.cells.n)

    @property
    def frame(self) -> nw.DataFrame[Any]:
        """Return one row per cell: keys, counts, share sampled, risk."""
        found: dict[str, Any] = {k: c.decode() for k, c in self.cells.keys.items()}
        extra: dict[str, Any] = {
            "records": self.cells.n,
            "f": self.f,
            "weighted": self.direct,
            "population": self.population,
            "p": self.p,
            "risk": self.risk,
        }
        if self.spree is not None:
            extra |= {"spree": self.spree.population, "floored": self.floored}
        for name, values in extra.items():
            found[free_name(name, found)] = values
        return as_frame(found)


@dataclass(frozen=True, repr=False)
class IndividualRiskResult(Result):
    """Risk by record.

    ``frame`` has one row per record, in the order of the records: its sample count ``f``, ``population``, ``p`` and
    ``risk``, and the risk of its household where one is declared.
    """

    #: The expected number of re-identifications: the sum of the risks.
    expected: float = 0.0
    #: The risk of each record, in order.
    risk: Floats = None  # type: ignore[assignment]
    #: The cells of each quasi-identifier; ``parts[0].frame`` is their table.
    parts: tuple[RiskOfCells, ...] = ()
    limit: float | None = None
    households: pa.Table | None = None

    @property
    def cells(self) -> nw.DataFrame[Any]:
        """Return the cells of the quasi-identifier with the most expected re-identifications."""
        return max(self.parts, key=lambda p: p.expected).frame

    @property
    def household(self) -> nw.DataFrame[Any]:
        """Return one row per household: its records, and the risk 1 - prod(1 - r) that one of them is found."""
        if self.households is None:
            raise RoleMissing(
                "individual_risk: the data declare no household. Declare it with tacit.read(..., household=...)."
            )
        return as_frame(self.households)

    def threshold(self, expected: float, *, removed: bool = False) -> float:
        """Return the risk above which records must be protected to expect at most so many re-identifications.

        Protected records are taken to keep a risk up to the threshold t, so that sum(min(r, t)) <= expected, which is what
        ``LocalSuppression(risk_above=t)`` gives; with ``removed`` they are taken to leave the file.
        """
        if not (isinstance(expected, int | float) and math.isfinite(expected) and expected > 0):
            raise InvalidParameter("threshold: expected must be a number above 0.")
        rule = largest_kept if removed else largest_cap
        return rule(self.risk, float(expected))

    def plot(self) -> Chart:
        """Return the risks of all records from the largest down."""
        n = len(self.risk)
        ordered = np.sort(self.risk)[::-1]
        ranks = np.unique(np.geomspace(1, max(n, 1), POINTS).astype(np.int64))[:n]
        points: list[tuple[str, Any, float]] = [
            ("risk", int(i), float(ordered[int(i) - 1])) for i in ranks
        ]
        if self.limit is not None and n:
            points += [("threshold", 1, self.limit), ("threshold", n, self.limit)]
        top = float(ordered[0]) if n else 0.0
        return lines(
            points,
            title="Risk by record",
            subtitle=f"{n:,} records, {self.expected:,.1f} re-identifications expected",
            x="records, from the riskiest on",
            y="risk of re-identification",
            steps=True,
            x_axis={
                "scale": {"type": "log", "domain": [1, max(n, 2)], "nice": False},
                "axis": {"tickCount": 5, "format": ",d", "grid": False},
            },
            y_axis={"scale": {"zero": True}, "axis": {"format": "~g"}},
            alt=f"Line chart: risk by record. The largest of {n:,} risks is {top:.3g}; {self.expected:.3g} re-identifications are expected.",
        )

    def charts(self) -> Iterable[Chart]:
        """Return the curve and the records by their risk."""
        yield self.plot()
        at = np.searchsorted(ENDS, self.risk - 1e-15)
        counts = np.bincount(np.minimum(at, len(ENDS) - 1), minlength=len(ENDS))
        rows = [
            (f"{start:g}-{end:g}", n, self.limit is not None and start >= self.limit)
            for start, end, n in zip((0.0, *ENDS[:-1]), ENDS, counts.tolist(), strict=True)
        ]
        yield columns(rows, title="Records by risk", x="risk of re-identification")


def record_weights(data: Microdata) -> Floats | None:
    """Return the weight of each record; every one must be a positive number."""
    if data.weight is None:
        return None
    found = read_numeric_column(data, data.weight)
    values = found.values.astype(np.float64)
    if not (found.known.all() and np.isfinite(values).all() and (values > 0).all()):
        raise InputError(
            f"individual_risk: some weights in column {data.weight!r} are missing, not finite, zero or negative. Every record needs a "
            "positive weight."
        )
    return values


def warn_of_small_weights(f: Floats, direct: Floats, weights: Floats | None) -> None:
    """Say that weights below 1 stand for less than the record itself."""
    if weights is None or not (weights < 1).any():
        return
    capped = (
        " and where those of a cell sum to less than its records the risk is 1/f"
        if (direct < f).any()
        else ""
    )
    warnings.warn(
        f"individual_risk: some weights are below 1, less than the record itself{capped}. Check how the weights were made.",
        SdcWarning,
        stacklevel=5,
    )


def record_cells(
    data: Microdata, keys: tuple[str, ...], weights: Floats | None
) -> tuple[Cells, Ints]:
    """Return the cells of some keys in the order of their values, and the cell of each record."""
    coded = {k: data.codes(k) for k in keys}
    columns = list(coded.values())
    of, at = order_cells([c.codes for c in columns], [c.size for c in columns])
    n = np.bincount(of, minlength=len(at)).astype(np.int64)
    weight = None if weights is None else sum_by(of, weights, len(at))
    return Cells({k: Coded(c.codes[at], c.values) for k, c in coded.items()}, n, weight), of


def household_table(data: Microdata, risk: Floats) -> dict[str, Any] | None:
    """Return the risk of each household; records without one stand alone."""
    if data.household is None:
        return None
    coded = data.codes(data.household)
    alone = coded.codes == coded.null
    group = coded.codes.astype(np.int64)
    group[alone] = coded.null + np.arange(int(alone.sum()))
    size = coded.null + int(alone.sum())
    joint = joint_risk(risk, group, size)
    labels = coded.decode(np.minimum(np.arange(size), coded.null).astype(np.int32))
    name = data.household
    table = {name: labels}
    table[free_name("records", table)] = pa.array(np.bincount(group, minlength=size))
    table[free_name("risk", table)] = pa.array(joint)
    return {"risk": joint, "of": group, "table": pa.table(table)}
