"""Sample risk: how many sample uniques are population uniques, and how many matches would be right."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field
from scipy.stats import rankdata

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.margins import Totals, columns_of
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.errors import ColumnNotFound, InputError, RoleMissing, SdcError
from tacit.fields import ColumnName, ColumnNames, EachQuasi, NaturalInt, PositiveFloat, PositiveInt
from tacit.plot.chart import Chart
from tacit.plot.lines import histogram
from tacit.records.samples.frequency_risk import CellRisks, gamma_risk, poisson_risk
from tacit.records.samples.local_counts import Fitting, fit_around
from tacit.records.samples.local_lattice import METRICS
from tacit.records.samples.sample_models import (
    Fitted,
    Hood,
    choose_hood,
    find_ordinal,
    fit_argus,
    fit_local,
    fit_loglinear,
    fit_poisson,
    list_hoods,
    place_cells,
    shapes_of,
)
from tacit.records.samples.sample_table import (
    SampleTable,
    population_counts,
    tabulate_sample,
    unknown_draw,
)
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure, Role

if TYPE_CHECKING:
    from tacit.records.samples.sample_comparison import SampleComparison

TAKEN = "Keys that hold numbers were taken to be ordinal; if some are codes without an order, name the others with ordinal=[...]."
#: Degrees of the local polynomial among which the data choose.
DEGREES = (0, 1, 2, 3)
#: How much of a group is left out in the jackknife.
FAY = 0.5
Margins = tuple[tuple[ColumnName, ...], ...]


@register
class SampleRisk(Measure):
    r"""Expected population uniques (tau1) and correct matches (tau2) among the sample uniques.

    The keys form a table with sample counts f and unknown population counts F. For every cell a model gives the
    distribution of F, and over the sample uniques

    .. math:: \tau_1 = \sum_{f_k=1} P(F_k = 1 \mid f_k = 1), \qquad \tau_2 = \sum_{f_k=1} E(1/F_k \mid f_k = 1).

    - ``poisson``: log-linear means :math:`\mu_k` from margins, F - 1 Poisson with rate :math:`\mu_k(1-\pi)/\pi`;
    - ``negative_binomial``: mean and dispersion from a polynomial fitted to the counts of the cells around, along the
      ordinal keys; F - 1 is negative binomial;
    - ``argus``: the sampling fraction alone, F - 1 negative binomial with parameters 1 and :math:`\pi_k`.

    The sampling fraction comes from ``population`` or ``sampling_fraction``, else by cell from the weights; known ``margins``
    of the population adjust it. The standard
    errors hold what the model leaves to chance; with ``jackknife`` also the uncertainty of the fit, households
    being kept together. A missing value counts as a value of its own. Sample uniques are at risk; other records
    have E(1/F) too where the model gives it.

    References
    ----------
    Rinott, Shlomo (2006), A generalized negative binomial smoothing model for sample disclosure risk estimation, PSD 2006,
    LNCS 4302, 82-93.
    Skinner, Shlomo (2008), Assessing identification risk in survey microdata using log-linear models, JASA 103, 989-1001.
    Skinner, Holmes (1998), Estimating the re-identification risk per record in microdata, J. Official Statistics 14, 361-372.
    Clogg, Eliason (1987), Some common problems in log-linear analysis, Sociological Methods and Research 16, 8-44.
    Benedetti, Franconi (1998), Statistical and technological solutions for controlled data dissemination, NTTS '98.
    """

    kind: Literal["sample_risk"] = "sample_risk"
    model: Literal["poisson", "negative_binomial", "argus"] = Field(
        default="poisson", description="how population counts are modelled"
    )
    terms: Literal["independence", "two_way", "stepwise"] | Margins = Field(
        default="two_way",
        description="of the Poisson model: a named set of interactions, a stepwise search, or lists of keys that "
        "interact; a key that no list names enters by itself",
    )
    weighting: Literal["standard", "clogg_eliason", "pseudo_ml", "weighted"] = Field(
        default="standard",
        description="how weights enter the Poisson model: not, as an offset, as pseudo-likelihood, as a predictor",
    )
    population: PositiveInt | None = Field(
        default=None, description="people in the population from which the sample was drawn"
    )
    sampling_fraction: float | None = Field(
        default=None, gt=0, le=1, description="records over people; in place of population"
    )
    margins: tuple[Totals, ...] = Field(
        default=(),
        description="known counts of people by keys, to which the sampling fractions of cells are raked",
    )
    ordinal: ColumnNames | None = Field(
        default=None,
        description="keys along which neighbours are looked for; by default those that hold numbers",
    )
    positions: Mapping[ColumnName, Mapping[str, int]] = Field(
        default_factory=dict,
        description="by ordinal key, the place of each value; by default whole numbers stand at their "
        "value and others in ascending order",
    )
    radius: PositiveInt | None = Field(
        default=None,
        description="largest distance of a neighbour on each ordinal key (c); chosen by default",
    )
    reach: PositiveFloat | None = Field(
        default=None,
        description="largest distance of a neighbour over all ordinal keys (d); needs radius",
    )
    metric: str = Field(
        default="sum",
        description="how distances over all ordinal keys are measured: sum, euclidean, or a name given with name_metric",
    )
    steps: Mapping[ColumnName, PositiveFloat] = Field(
        default_factory=dict,
        description="by ordinal key, the length of one step in the units of radius and reach; by default 1",
    )
    degree: NaturalInt | None = Field(
        default=2, description="degree of the local polynomial (t); none to choose it"
    )
    impossible: tuple[Mapping[ColumnName, tuple[Any, ...]], ...] = Field(
        default=(),
        description="values of keys that cannot occur together; the local model leaves these cells out",
    )
    optimiser: Literal["newton", "fisher"] = Field(
        default="newton",
        description="of the local model: Newton's method, or Fisher's scoring; both end at the same maximum",
    )
    outside: Literal["zero", "drop"] = Field(
        default="zero", description="cells beyond the edge of the table: empty, or not there"
    )
    separated: Literal["keep", "lower"] = Field(
        default="keep",
        description="where neighbours separate a cell from the rest: keep the fit, which understates its risk, or "
        "lower the degree, which tends to overstate it",
    )
    up_to: PositiveInt = Field(
        default=1, description="cells of at most this many records are fitted locally"
    )
    jackknife: NaturalInt = Field(
        default=0,
        description="groups of a jackknife that adds the uncertainty of the fit to the standard errors; 0 for none",
    )
    quasi: EachQuasi = None

    on_household = "used"
    on_weight = "used"
    needs: ClassVar[frozenset[Role]] = frozenset({"keys"})
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    axis: ClassVar[str] = "expected correct matches over records"
    example: ClassVar[Mapping[str, Any]] = {"sampling_fraction": 0.1}

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns of margins and ordinal keys."""
        margins = () if isinstance(self.terms, str) else self.terms
        named = [*(self.ordinal or ()), *self.positions, *self.steps]
        named += [c for m in (*margins, *self.impossible) for c in m]
        named += [c for m in self.margins for c in columns_of(m)]
        return tuple(dict.fromkeys(named))

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: columns that are no keys, parameters that do not go together, no way to know the fraction."""
        return super().faults(data) or list(self.own_faults(data))

    def own_faults(self, data: Microdata) -> Iterator[SdcError]:
        """Yield what is wrong with these parameters for data that are complete."""
        strange = [c for c in self.columns_named() if c not in data.keys]
        if strange:
            yield ColumnNotFound(strange, list(data.keys), "the keys")
        if self.weighting != "standard" and (self.model != "poisson" or data.weight is None):
            yield RoleMissing(
                f"{self.kind}: weighting={self.weighting!r} is a variant of model 'poisson' and needs a weight."
            )
        if self.weighting != "standard" and self.terms == "stepwise":
            yield InputError(
                f"{self.kind}: the stepwise search counts records; leave weighting= at 'standard'."
            )
        if self.metric not in METRICS:
            yield InputError(
                f"{self.kind}: there is no metric {self.metric!r}; there are {', '.join(METRICS)}, and name_metric adds one."
            )
        if self.reach is not None and self.radius is None:
            yield InputError(f"{self.kind}: reach= needs radius= too.")
        if self.jackknife and (self.jackknife == 1 or self.model == "argus"):
            yield InputError(
                f"{self.kind}: jackknife= is for models that are fitted, 'poisson' and 'negative_binomial', with at "
                "least 2 groups."
            )
        if not (self.population or self.sampling_fraction or self.margins or data.weight):
            yield unknown_draw()

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> SampleRiskResult:
        parts: dict[str, Part] = {}
        for name, keys in data.quasi_identifiers(self.quasi).items():
            ctx.tick(f"cells of {name}")
            table = self.tabulate(data, keys)
            fitted = self.fit(table, ctx)
            errors = self.standard_errors(table, fitted, ctx)
            truth = population_counts(table, other.register) if other.has_register else None
            parts[name] = Part(table, fitted, fitted.risks(table), errors, truth)
        worst = max(parts.values(), key=lambda p: p.tau2)
        return SampleRiskResult(
            kind=self.kind,
            title=f"Sample risk on {', '.join(parts)}, model {self.words()}",
            value=worst.tau2 / worst.table.records,
            numbers=worst.numbers(),
            frame=worst.frame(),
            explanation=worst.explain(with_fit=self.jackknife > 0),
            parts=parts,
            worst=worst,
        )

    def compare(
        self, data: Microdata, *, register: Microdata | None = None, seed: int | None = None
    ) -> SampleComparison:
        """Return tau1 and tau2 under all models and several neighbourhoods, beside the truth if a register is given.

        Parameters
        ----------
        data
            The sample.
        register
            The population with the same keys, where it is known.
        seed
            Seed of the groups of a jackknife.
        """
        from tacit.records.samples.sample_comparison import compare_models

        self.check(data)
        return compare_models(self, data, register, Context.start(seed))

    def words(self) -> str:
        """Return the model in words."""
        if self.model == "poisson":
            terms = self.terms if isinstance(self.terms, str) else "given margins"
            added = "" if self.weighting == "standard" else f", {self.weighting.replace('_', ' ')}"
            return f"Poisson ({terms.replace('_', '-')}{added})"
        return self.model.replace("_", " ")

    def tabulate(self, data: Microdata, keys: Sequence[str]) -> SampleTable:
        """Return the cells of the sample."""
        drawn = self.population, self.sampling_fraction
        return tabulate_sample(data, keys, *drawn, self.margins)

    def fit(self, table: SampleTable, ctx: Context) -> Fitted:
        """Return the fitted model."""

        def tick(share: float) -> None:
            ctx.tick(f"fitting {self.words()}", share)

        if self.model == "argus":
            return fit_argus(table)
        if self.model == "poisson":
            terms = self.terms
            if not isinstance(terms, str):
                # A margin may name keys of another quasi-identifier: only those of this one count.
                terms = tuple(tuple(k for k in m if k in table.keys) for m in terms)
            return fit_loglinear(table, terms, self.weighting, tick)
        ordinal = self.ordinal and [k for k in self.ordinal if k in table.keys]
        along = find_ordinal(table, ordinal)
        lattice = place_cells(table, along, self.positions, self.impossible)
        hoods = self.hoods(along)
        hood = hoods[0] if self.is_given else choose_hood(lattice, hoods, tick, **self.fitting)[0]
        made = fit_local(table, lattice, hood, self.up_to, tick, **self.fitting)
        notes = made.notes if ordinal else (*made.notes, TAKEN)
        return replace(
            made, numbers={"ordinal keys": ", ".join(along), **made.numbers}, notes=notes
        )

    @property
    def fitting(self) -> Fitting:
        """Return how the local model is fitted."""
        lower, scoring = self.separated == "lower", self.optimiser == "fisher"
        return {"outside": self.outside, "lower": lower, "scoring": scoring}

    @property
    def is_given(self) -> bool:
        """Return whether there is nothing to choose about the neighbourhood."""
        return self.radius is not None and self.degree is not None

    def hoods(self, along: Sequence[str]) -> list[Hood]:
        """Return the neighbourhoods among which the data choose; the one that was given."""
        steps = tuple(self.steps.get(k, 1.0) for k in along) if self.steps else ()
        degrees = DEGREES if self.degree is None else (self.degree,)
        if self.radius is None:
            return [h for t in degrees for h in list_hoods(len(along), t, steps, self.metric)]
        given = [Hood(self.radius, self.reach, t, steps, self.metric) for t in degrees]
        if self.is_given:
            return given
        return [h for h in given if h.size(len(along)) > h.parameters(len(along))]

    def standard_errors(
        self, table: SampleTable, fitted: Fitted, ctx: Context
    ) -> tuple[float, float]:
        """Return the standard errors of tau1 and tau2 as predictions of the true sums."""
        risks = fitted.risks(table)
        alone = table.n[fitted.cells] == 1
        unsure = (risks.unique * (1 - risks.unique))[alone].sum()
        chance = np.array([float(unsure), float(risks.spread[alone].sum())])
        if self.jackknife:
            chance += self.fit_variance(table, fitted, ctx)
        return float(math.sqrt(chance[0])), float(math.sqrt(chance[1]))

    def fit_variance(self, table: SampleTable, fitted: Fitted, ctx: Context) -> Floats:
        """Return the variance of tau1 and tau2 from the fit, by a jackknife over groups of whole clusters.

        The sample uniques, the terms and the neighbourhood stay as they are.
        """
        clusters, member = np.unique(table.cluster, return_inverse=True)
        groups = min(self.jackknife, len(clusters))
        if groups < 2:
            return np.zeros(2)
        part = (ctx.rng.permutation(len(clusters)) % groups)[member]
        local = self.model == "negative_binomial"
        by_model, fay = (self.refit_local, 1.0) if local else (self.refit_means, FAY)
        taus = []
        for g in range(groups):
            ctx.tick("jackknife", g / groups)
            risks = by_model(table, fitted, part == g, groups)
            taus.append((float(risks.unique.sum()), float(risks.inverse.sum())))
        spread = np.array(taus)
        squares = ((spread - spread.mean(axis=0)) ** 2).sum(axis=0)
        return np.asarray((groups - 1) / groups * squares / fay**2)

    def refit_means(self, table: SampleTable, fitted: Fitted, out: Flags, groups: int) -> CellRisks:
        """Return the risks of the sample uniques by a log-linear model in which one group counts less.

        It counts for half and the others for more (Fay), so that no margin becomes empty.
        """
        factor = np.where(out, 1 - FAY, 1 + FAY / (groups - 1))
        alone = np.flatnonzero(table.uniques)
        made = fit_poisson(table.reweighted(factor), fitted.margins, self.weighting)
        return poisson_risk(table.n[alone], made.mu[alone], table.fraction[alone])

    def refit_local(self, table: SampleTable, fitted: Fitted, out: Flags, groups: int) -> CellRisks:
        """Return the risks of the sample uniques by the local model fitted without one group of records.

        The local model is about whole counts, so that the group is left out, and means are scaled up to the whole sample.
        """
        assert fitted.lattice is not None
        assert fitted.hood is not None
        left = np.bincount(table.cell_of[~out], minlength=len(table.n)).astype(np.int64)
        lattice, hood = replace(fitted.lattice, n=left), fitted.hood
        alone = np.flatnonzero(table.uniques)
        here = lattice.places[alone], lattice.group[alone]
        offsets = hood.offsets(lattice.places.shape[1])
        made = fit_around(lattice, *here, offsets, hood.degree, **self.fitting)
        mu = made.mu * groups / (groups - 1)
        return gamma_risk(table.n[alone], mu, shapes_of(made), table.fraction[alone])


@dataclass(frozen=True)
class Part:
    """What was found for one quasi-identifier."""

    table: SampleTable
    fitted: Fitted
    risks: CellRisks
    errors: tuple[float, float]
    truth: Ints | None

    @property
    def alone(self) -> Flags:
        """Return which fitted cells are sample uniques."""
        return np.asarray(self.table.n[self.fitted.cells] == 1)

    @property
    def tau1(self) -> float:
        """Return the expected number of population uniques among the sample uniques."""
        return float(self.risks.unique[self.alone].sum())

    @property
    def tau2(self) -> float:
        """Return the expected number of correct matches with the sample uniques."""
        return float(self.risks.inverse[self.alone].sum())

    @property
    def true(self) -> tuple[float, float] | None:
        """Return tau1 and tau2 as they are in the register."""
        if self.truth is None:
            return None
        # Who is in the sample is in the population, even where the register lost them.
        people = np.maximum(self.truth[self.table.uniques], 1)
        return float((people == 1).sum()), float((1 / people).sum())

    def numbers(self) -> dict[str, Any]:
        """Return the few numbers that matter."""
        singles = int(self.table.uniques.sum())
        found: dict[str, Any] = {
            "records": self.table.records,
            "occupied cells": len(self.table.n),
            "sample uniques": singles,
            "sampling fraction": self.table.overall,
            "tau1": self.tau1,
            "standard error of tau1": self.errors[0],
            "tau2": self.tau2,
            "standard error of tau2": self.errors[1],
            "tau1 per sample unique": self.tau1 / singles if singles else 0.0,
            "tau2 per sample unique": self.tau2 / singles if singles else 0.0,
            **self.fitted.numbers,
        }
        if self.true is not None:
            found["true tau1"], found["true tau2"] = self.true
            found |= self.judge()
        return found

    def judge(self) -> dict[str, float]:
        """Return how well the risks of single sample uniques agree with the register."""
        if self.truth is None or not self.alone.any():
            return {}
        people = np.maximum(self.truth[self.fitted.cells[self.alone]], 1)
        risk, chance = self.risks.inverse[self.alone], self.risks.unique[self.alone]
        found = {
            "root mean squared error of 1/F": float(np.sqrt(((risk - 1 / people) ** 2).mean()))
        }
        alone = people == 1
        many, few = int(alone.sum()), int((~alone).sum())
        if many and few:
            # The chance that a population unique is ranked before another sample unique, ties for half.
            ranks = rankdata(chance)
            above = float(ranks[alone].sum()) - many * (many + 1) / 2
            found["area under the curve for population uniques"] = above / (many * few)
        return found

    def explain(self, *, with_fit: bool) -> str:
        """Return what the numbers mean."""
        singles = int(self.table.uniques.sum())
        text = (
            f"Of {singles:,} sample uniques about {self.tau1:,.1f} are alone in the population, and whoever matches all of "
            f"them by the keys is right about {self.tau2:,.1f} times. "
        )
        text += (
            "Standard errors hold chance and the uncertainty of the fit. "
            if with_fit
            else "Standard errors hold chance under the fitted model, not the uncertainty of the fit. "
        )
        return text + " ".join((*self.table.notes, *self.fitted.notes))

    def frame(self) -> nw.DataFrame[Any]:
        """Return one row per record, in order: its class size, P(F = 1) and E(1/F)."""
        size = len(self.table.n)
        unique, inverse = np.full(size, np.nan), np.full(size, np.nan)
        unique[self.fitted.cells], inverse[self.fitted.cells] = self.risks[:2]
        place = self.table.cell_of
        columns = {
            "sample_count": pa.array(self.table.n[place]),
            "population_unique": pa.array(unique[place], from_pandas=True),
            "risk": pa.array(inverse[place], from_pandas=True),
        }
        if self.truth is not None:
            columns["population_count"] = pa.array(self.truth[place])
        return as_frame(columns)

    def cells(self) -> nw.DataFrame[Any]:
        """Return one row per fitted cell: key values, counts, what was fitted, risks."""
        at, fitted = self.fitted.cells, self.fitted
        columns: dict[str, Any] = {
            k: [v[c] for c in self.table.codes[at, j]]
            for j, (k, v) in enumerate(zip(self.table.keys, self.table.values, strict=True))
        }
        fraction = self.table.fraction[at]
        shape = np.where(np.isinf(fitted.alpha), 0.0, fitted.alpha)
        rho = (fitted.mu + shape) / (fitted.mu / fraction + shape)
        rho[np.isinf(fitted.alpha)] = 1.0
        columns |= {
            "sample_count": self.table.n[at],
            "sampling_fraction": fraction,
            "mean": fitted.mu,
            "shape": fitted.alpha,
            "rho": rho,
            "population_unique": self.risks.unique,
            "risk": self.risks.inverse,
        }
        if fitted.local is not None:
            columns |= {
                "dispersion": fitted.local.a,
                "degree": fitted.local.degree,
                "converged": fitted.local.status == 0,
                "records_around": fitted.local.total,
            }
        return as_frame(columns)


@dataclass(frozen=True, repr=False)
class SampleRiskResult(Result):
    """tau1, tau2 and the risk of every record; ``frame`` has a row per record, ``cells`` one per fitted cell."""

    parts: Mapping[str, Part] = field(default_factory=dict)
    worst: Part = None  # type: ignore[assignment]

    @property
    def tau1(self) -> float:
        """Return the expected number of population uniques among the sample uniques."""
        return self.worst.tau1

    @property
    def tau2(self) -> float:
        """Return the expected number of correct matches with the sample uniques."""
        return self.worst.tau2

    @property
    def errors(self) -> tuple[float, float]:
        """Return the standard errors of tau1 and tau2."""
        return self.worst.errors

    @property
    def true(self) -> tuple[float, float] | None:
        """Return tau1 and tau2 in the register, where one was given."""
        return self.worst.true

    @property
    def cells(self) -> nw.DataFrame[Any]:
        """Return the fitted cells with what was fitted."""
        return self.worst.cells()

    def plot(self) -> Chart:
        """Return how the risk of the sample uniques is spread."""
        risk = self.worst.risks.inverse[self.worst.alone]
        edges = np.linspace(0, 1, 21)
        counts = np.histogram(risk, bins=edges)[0].astype(np.float64)
        return histogram(
            {"sample uniques": counts},
            edges,
            title="Risk of the sample uniques",
            x="expected 1/F",
            y="records",
            alt=f"Histogram of the risk of {len(risk):,} sample uniques; their sum is {self.tau2:,.1f}.",
        )

    def charts(self) -> Iterable[Chart]:
        """Return the spread of risk."""
        return (self.plot(),)
