"""Sampling as protection: how many of those who are alone in the sample are alone in the population."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import read_numeric_column
from tacit.errors import InputError
from tacit.fields import EachQuasi, Probability
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.samples.population_uniques import SizeCounts, estimate_all
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure, Role


@register
class SamplingUniqueness(Measure):
    r"""Expected share of population uniques among those who are unique in a sample.

    On the whole population, with S_F classes of F people on the keys, a sample that takes each with chance f is
    expected to hold :math:`\sum_F S_F F f (1-f)^{F-1}` sample uniques, of which :math:`f S_1` are alone in the population:

    .. math:: share = S_1 / \sum_F S_F F (1-f)^{F-1}.

    On a sample with weights the population uniques are estimated by the model that Dankar's rule takes (see
    population_uniqueness), and the sample uniques are counted. An intruder who finds a person alone in the
    sample is right with that share at most. Of several quasi-identifiers the largest share counts.

    References
    ----------
    McCaa, Ruggles, Davern, Swenson, Palipudi (2006), PSD 2006, LNCS 4302, 375-382, section 6.
    Skinner, Marsh, Openshaw, Wymer (1994), Disclosure control for census microdata, J. Official Statistics 10, 31-51.
    """

    kind: Literal["sampling_uniqueness"] = "sampling_uniqueness"
    interval: Annotated[float, Field(ge=1, allow_inf_nan=False)] | None = Field(
        default=None, description="every how many households one is taken; or give fraction"
    )
    fraction: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None, description="share of the population that is taken"
    )
    threshold: Probability = Field(default=0.1, description="largest share that is accepted")
    quasi: EachQuasi = None

    on_weight = "used"
    needs: ClassVar[frozenset[Role]] = frozenset({"keys"})
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"
    axis: ClassVar[str] = "share of population uniques among sample uniques"
    example: ClassVar[Mapping[str, Any]] = {"interval": 2}

    @model_validator(mode="after")
    def _one_density(self) -> SamplingUniqueness:
        if (self.interval is None) == (self.fraction is None):
            raise ValueError("give either interval or fraction")
        return self

    @property
    def density(self) -> float:
        """Return the share of the population that is taken."""
        return self.fraction if self.fraction is not None else 1 / (self.interval or 1.0)

    def _measure(
        self, data: Microdata, other: Companions, ctx: Context
    ) -> SamplingUniquenessResult:
        del other
        # Without weights the data are the population.
        population = None
        if data.weight is not None:
            weight = read_numeric_column(data, data.weight)
            population = round(float(weight.values[weight.known].sum()))
        found: dict[str, Expected] = {}
        for name, keys in data.quasi_identifiers(self.quasi).items():
            ctx.tick(f"class sizes on {name}")
            sizes = data.cells(keys).n
            if not len(sizes):
                raise InputError("sampling_uniqueness: there are no records.")
            found[name] = (
                expected_shares(sizes, self.density)
                if population is None
                else estimated_shares(sizes, population)
            )
        name, worst = max(found.items(), key=lambda item: (np.isnan(item[1].share), item[1].share))
        title = f"Population uniques among sample uniques on {', '.join(found)}"
        numbers = {
            "sampling fraction": self.density if population is None else worst.fraction,
            "population": worst.population,
            "sample uniques": worst.alone,
            "of them alone in the population": worst.both,
            "share": worst.share,
        }
        return SamplingUniquenessResult(
            kind=self.kind,
            title=title,
            value=worst.share,
            numbers=numbers,
            explanation=worst.explain(estimated=population is not None),
            shortfall=(
                f"{title}: {worst.share:.3g}, at most {self.threshold:g} was asked for"
                if self.asked("threshold") and not worst.share <= self.threshold
                else ""
            ),
            shares={n: e.share for n, e in found.items()},
        )


@dataclass(frozen=True)
class Expected:
    """Sample uniques, those of them that are alone in the population, and its size."""

    alone: float
    both: float
    population: int
    fraction: float

    @property
    def share(self) -> float:
        """Return the share of population uniques among sample uniques; 0 where there are none."""
        return min(self.both / self.alone, 1.0) if self.alone else 0.0

    def explain(self, *, estimated: bool) -> str:
        """Return what the numbers mean."""
        how = "estimated" if estimated else "expected"
        return (
            f"Of 100 people who are alone in the sample with their key values, {100 * self.share:.0f} are {how} to be alone in "
            "the population. Whoever takes such a record for the person it fits is wrong about the others. Members of a "
            "household are drawn together, which the formula leaves out."
        )


def expected_shares(sizes: Ints, fraction: float) -> Expected:
    """Return expected sample uniques and population uniques among them, from classes of the population."""
    alone = float((sizes * fraction * (1 - fraction) ** (sizes - 1.0)).sum())
    both = fraction * int(np.count_nonzero(sizes == 1))
    return Expected(alone, both, int(sizes.sum()), fraction)


def estimated_shares(sizes: Ints, population: int) -> Expected:
    """Return sample uniques and the estimated population uniques among them, from classes of a sample."""
    counts = SizeCounts.of(sizes, max(population, int(sizes.sum())))
    estimates, chosen = estimate_all(counts)
    both = estimates[chosen].uniques * counts.fraction
    return Expected(float(counts.number_of(1)), both, counts.population, counts.fraction)


@dataclass(frozen=True, repr=False)
class SamplingUniquenessResult(Result):
    """Share of population uniques among sample uniques, by quasi-identifier."""

    shares: Mapping[str, float] = None  # type: ignore[assignment]

    def plot(self) -> Chart:
        """Return the shares as bars."""
        items = [(n, s) for n, s in self.shares.items() if not np.isnan(s)]
        return bars(items, title="Population uniques among sample uniques", y="share")
