"""Population uniqueness: how many people are alone in the population, estimated from a sample."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
from pydantic import Field

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.errors import InputError, SdcError
from tacit.fields import EachQuasi, PositiveInt, Probability
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.samples.population_uniques import Estimate, SizeCounts, estimate_all
from tacit.records.samples.sample_table import population_size
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure, Role

Model = Literal["pitman", "zayatz", "snb", "dankar"]
NAMES: Mapping[str, str] = {
    "pitman": "Pitman",
    "zayatz": "Zayatz",
    "snb": "slide negative binomial",
}


@register
class PopulationUniqueness(Measure):
    r"""Share of the population that is unique on the keys, estimated from the class sizes of a sample.

    A record that is alone in a sample is found with certainty only if its person is alone in the population too. Three
    models estimate how many such people there are from the numbers s_i of classes with i records:

    - Pitman's sampling formula with maximum-likelihood theta and alpha,
      :math:`E(S_1) = N (\theta+\alpha)_{N-1} / (\theta+1)_{N-1}`;
    - Zayatz: Bayes' rule with the class sizes of the sample in place of the population's,
      :math:`S_1 = s_1 P(F=1|f=1) / \pi`;
    - the slide negative binomial, F = 1 + NB(alpha, beta), with
      :math:`E(s_1)` and :math:`E(s_2)` set equal to what was seen: :math:`S_1 = K \beta^\alpha`.

    Dankar's rule takes Pitman's up to a sampling fraction of 0.1, and above it the smaller of the other two. A model whose
    equations have no solution gives NaN and says why. With several quasi-identifiers the largest share counts.

    References
    ----------
    Dankar, El Emam, Neisa, Roffey (2012), Estimating the re-identification risk of clinical data sets, BMC Medical
    Informatics and Decision Making 12:66.
    Hoshino (2001), Applying Pitman's sampling formula to microdata disclosure risk assessment, J. Official Statistics 17,
    499-520.
    Zayatz (1991), Estimation of the number of unique population elements using a sample, ASA Survey Research Methods, 369-373.
    Chen, Keller-McNulty (1998), Estimation of identification disclosure risk in microdata, J. Official Statistics 14, 79-95.
    Haas, Stokes (1998), Estimating the number of classes in a finite population, JASA 93, 1475-1487.
    """

    kind: Literal["population_uniqueness"] = "population_uniqueness"
    population: PositiveInt | None = Field(
        default=None, description="people in the population from which the sample was drawn"
    )
    sampling_fraction: float | None = Field(
        default=None, gt=0, le=1, description="records over people; in place of population"
    )
    model: Model = Field(
        default="dankar", description="the estimate by which releases are compared and judged"
    )
    threshold: Probability = Field(
        default=0.01, description="largest share of population uniques that is accepted"
    )
    quasi: EachQuasi = None

    needs: ClassVar[frozenset[Role]] = frozenset({"keys"})
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"
    axis: ClassVar[str] = "share of the population that is unique"
    example: ClassVar[Mapping[str, Any]] = {"sampling_fraction": 0.1}

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: no size of the population."""
        found = super().faults(data)
        if self.population is None and self.sampling_fraction is None:
            found.append(
                InputError(f"{self.kind}: give population= or sampling_fraction=, one of the two.")
            )
        return found

    def population_of(self, records: int) -> int:
        """Return the size of the population of a file with so many records."""
        found = population_size(self.kind, records, self.population, self.sampling_fraction)
        assert found is not None
        return found

    def _measure(
        self, data: Microdata, other: Companions, ctx: Context
    ) -> PopulationUniquenessResult:
        del other
        parts: dict[str, Part] = {}
        for name, keys in data.quasi_identifiers(self.quasi).items():
            ctx.tick(f"class sizes on {name}")
            sizes = data.cells(keys).n
            counts = SizeCounts.of(sizes, self.population_of(int(sizes.sum())))
            parts[name] = Part(counts, *estimate_all(counts))
        # A share that could not be estimated is worse than any that could.
        worst = max(
            parts.values(), key=lambda p: (math.isnan(p.share(self.model)), p.share(self.model))
        )
        value = worst.share(self.model)
        title = f"Population uniqueness on {', '.join(parts)}"
        return PopulationUniquenessResult(
            kind=self.kind,
            title=title,
            value=value,
            numbers=worst.numbers(),
            frame=frame_of(parts),
            explanation=worst.explain(self.model),
            parts=parts,
            worst=worst,
            shortfall=(
                f"{title}: {describe_share(value)} of the population, at most {self.threshold:g} was asked for"
                if self.asked("threshold") and not value <= self.threshold
                else ""
            ),
        )


@dataclass(frozen=True)
class Part:
    """The estimates of one quasi-identifier."""

    counts: SizeCounts
    estimates: Mapping[str, Estimate]
    chosen: str

    def share(self, model: str) -> float:
        """Return the share of the population that is unique, by a model."""
        picked = self.estimates[self.chosen if model == "dankar" else model]
        return picked.uniques / self.counts.population

    def numbers(self) -> dict[str, Any]:
        """Return the few numbers that matter."""
        found = self.counts
        singles = found.number_of(1)
        likely = self.estimates[self.chosen].uniques * found.fraction
        return {
            "records": found.records,
            "population": found.population,
            "sampling fraction": found.fraction,
            "sample uniques": singles,
            **{f"population uniques, {NAMES[m]}": e.uniques for m, e in self.estimates.items()},
            **{f"share, {NAMES[m]}": self.share(m) for m in NAMES},
            "share, Dankar's rule": self.share("dankar"),
            "model by Dankar's rule": NAMES[self.chosen],
            "share of population uniques among sample uniques": (
                min(likely / singles, 1.0) if singles else 0.0
            ),
        }

    def explain(self, model: str) -> str:
        """Return what the numbers mean, and what could not be estimated."""
        used = self.chosen if model == "dankar" else model
        text = f"By the model {NAMES[used]}, {describe_share(self.share(model))} of the population are alone with their key values."
        lost = [f"{NAMES[m]}: {e.reason}" for m, e in self.estimates.items() if e.reason]
        text += f" No estimate by {'; '.join(lost)}." if lost else ""
        preferred = "pitman" if self.counts.fraction <= 0.1 else "snb"
        if self.chosen == "zayatz" and math.isnan(self.estimates[preferred].uniques):
            text += " Zayatz stands in for the model that Dankar's rule prefers."
        text += " It assumes a simple random sample; the models can differ by a factor of ten."
        return text


@dataclass(frozen=True, repr=False)
class PopulationUniquenessResult(Result):
    """Shares of the population that are unique: ``pitman``, ``zayatz``, ``snb`` and ``dankar``; NaN where none exists."""

    parts: Mapping[str, Part] = field(default_factory=dict)
    worst: Part = None  # type: ignore[assignment]

    @property
    def pitman(self) -> float:
        """Return the share by Pitman's model."""
        return self.worst.share("pitman")

    @property
    def zayatz(self) -> float:
        """Return the share by Zayatz."""
        return self.worst.share("zayatz")

    @property
    def snb(self) -> float:
        """Return the share by the slide negative binomial."""
        return self.worst.share("snb")

    @property
    def dankar(self) -> float:
        """Return the share by the model that Dankar's rule takes."""
        return self.worst.share("dankar")

    @property
    def chosen(self) -> str:
        """Return the model that Dankar's rule takes."""
        return self.worst.chosen

    @property
    def uniques(self) -> dict[str, float]:
        """Return the expected number of population uniques by model."""
        return {m: e.uniques for m, e in self.worst.estimates.items()}

    def plot(self) -> Chart:
        """Return the shares as bars."""
        items = [(NAMES[m], self.worst.share(m)) for m in NAMES]
        items.append(("Dankar's rule", self.dankar))
        return bars(
            [(name, v) for name, v in items if not math.isnan(v)],
            title="Share of the population that is unique",
            y="share of people",
        )


def describe_share(share: float) -> str:
    """Return a share in words."""
    return "an unknown share" if math.isnan(share) else f"{share:.3g}"


def frame_of(parts: Mapping[str, Part]) -> nw.DataFrame[Any]:
    """Return one row per quasi-identifier and model."""
    rows = [(q, m, p) for q, p in parts.items() for m in (*NAMES, "dankar")]
    picked = [p.estimates[p.chosen if m == "dankar" else m] for _, m, p in rows]
    return as_frame(
        {
            "quasi": [q for q, _, _ in rows],
            "model": [m for _, m, _ in rows],
            "uniques": [e.uniques for e in picked],
            "share": [p.share(m) for _, m, p in rows],
            "reason": [e.reason for e in picked],
        }
    )
