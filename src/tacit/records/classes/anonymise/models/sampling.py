"""Models of samples: the risk that a record is found in the population, and the share of population uniques."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.arrays import Flags, Floats
from tacit.data.microdata import Microdata
from tacit.errors import InputError
from tacit.numerics.algebra import dot
from tacit.records.classes.anonymise.models.registry import (
    Condition,
    Made,
    Part,
    Parts,
    Setting,
    View,
    claim_for,
    condition_for,
)
from tacit.records.samples.population_uniques import SizeCounts, estimate_all
from tacit.records.samples.posterior import expected_inverse, share_sampled

TOLERANCE = 1e-12
WEIGHTS_TELL = "The weights say how many people of the population a record stands for."
ALL_DRAWN = "Every person of the population was sampled with the same chance."
SAMPLED = "The records are a simple random sample of a population of the stated size."


@dataclass(frozen=True)
class OfPopulation(Condition):
    """A condition on E(1/F | f), with F estimated by the weights of a class or a sampling fraction."""

    sampling_fraction: float = 1.0

    def risks(self, view: View, at: Any) -> Floats:
        """Return the Benedetti-Franconi risk of some classes, none of them empty."""
        f = view.n[at].astype(np.float64)
        population = f if view.weight is None else view.weight[at]
        return expected_inverse(f, share_sampled(f, population / self.sampling_fraction))


@dataclass(frozen=True)
class RiskOfRecords(OfPopulation):
    """No record has a risk above the threshold.

    A class that another joins has more records and more people, and so at most its risk: what passes keeps passing.
    """

    threshold: float = 1.0
    keeps: ClassVar[bool] = True
    merges: ClassVar[bool] = True

    def passes(self, view: View) -> Flags:
        """Return which classes are safe; 1/f is never exceeded, so that large classes need no closer look."""
        limit = self.threshold * (1 + TOLERANCE)
        safe = view.n * limit >= 1
        unsure = np.flatnonzero(~safe & (view.n > 0))
        safe[unsure] = self.risks(view, unsure) <= limit
        return np.asarray(safe | (view.n == 0))


@dataclass(frozen=True)
class RiskOnAverage(OfPopulation):
    """The mean risk of the released records is at most the threshold."""

    average: float = 1.0
    overall: ClassVar[bool] = True

    def holds(self, view: View) -> bool:
        """Return whether the mean risk is low enough."""
        at = np.flatnonzero(view.n > 0)
        n = view.n[at]
        total = float(dot(self.risks(view, at), n))
        return total <= self.average * float(n.sum()) * (1 + TOLERANCE)

    def loads(self, view: View) -> Floats:
        """Return the sum of risks of each class beyond the mean that is allowed."""
        at = np.flatnonzero(view.n > 0)
        found = np.zeros(len(view.n))
        found[at] = view.n[at] * (self.risks(view, at) - self.average * (1 + TOLERANCE))
        return found


@condition_for("individual_risk")
def from_individual_risk(model: Any, setting: Setting) -> Sequence[Condition]:
    """Return the conditions of the thresholds that are given."""
    if model.estimator != "bf" or model.missing != "category":
        raise InputError(
            "anonymise: individual_risk is aimed at with estimator 'bf', and a missing key as a value of its own."
        )
    if model.threshold is None and model.average is None:
        raise InputError("anonymise: individual_risk needs threshold= or average= to aim at.")
    if model.average is not None and model.quasi is None and len(setting.data.quasi) > 1:
        raise InputError(
            "anonymise: the average of individual_risk is about one quasi-identifier; name it with quasi=."
        )
    fraction = model.sampling_fraction or 1.0
    made: list[Condition] = []
    if model.threshold is not None:
        made.append(RiskOfRecords(model.quasi, False, fraction, threshold=model.threshold))
    if model.average is not None:
        made.append(RiskOnAverage(model.quasi, False, fraction, average=model.average))
    return made


@claim_for("individual_risk")
def claim_risk(model: Any, made: Made) -> Parts:
    """Claim the thresholds, together with what the population is estimated from."""
    told: dict[str, Any] = {
        name: value
        for name in ("threshold", "average")
        if (value := getattr(model, name)) is not None
    }
    if made.data.weight is not None:
        yield Part("individual-risk", told | {"weight": made.data.weight}, (WEIGHTS_TELL,))
    else:
        told["sampling_fraction"] = model.sampling_fraction
        yield Part("individual-risk", told, (ALL_DRAWN,))


@dataclass(frozen=True)
class FewPopulationUniques(Condition):
    """The estimated share of the population that is unique is at most a limit; no estimate means no."""

    population: int = 1
    threshold: float = 0.01
    model: str = "dankar"
    overall: ClassVar[bool] = True

    def holds(self, view: View) -> bool:
        """Return whether the released classes suggest few population uniques."""
        counts = SizeCounts.of(view.n, self.population)
        if not len(counts.sizes):
            return True
        made, chosen = estimate_all(counts)
        found = made[chosen if self.model == "dankar" else self.model].uniques
        return bool(found <= self.threshold * self.population)


@condition_for("population_uniqueness")
def from_population_uniqueness(model: Any, setting: Setting) -> Sequence[Condition]:
    """Return the condition of a limit on population uniques."""
    if setting.weighted:
        raise InputError(
            "anonymise: population_uniqueness counts records; take weights='records' or 'weighted_k'."
        )
    return [
        FewPopulationUniques(
            model.quasi,
            population=size_of_population(model, setting.data),
            threshold=model.threshold,
            model=model.model,
        )
    ]


@claim_for("population_uniqueness")
def claim_few_uniques(model: Any, made: Made) -> Parts:
    """Claim few population uniques, in the population from which the file before suppression was drawn."""
    told = {
        "population": size_of_population(model, made.data),
        "threshold": model.threshold,
        "estimate": model.model,
    }
    yield Part("population-uniques", told, (SAMPLED,))


def size_of_population(model: Any, data: Microdata) -> int:
    """Return N; a sampling fraction is that of the file before records are suppressed."""
    return int(model.population_of(len(data)))
