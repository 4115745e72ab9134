"""A limit on the share of population uniques as a model that a lattice search can aim at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tacit.data.microdata import Microdata
from tacit.errors import InputError
from tacit.protect.anonymise.claims import Parts, claim_for
from tacit.protect.anonymise.conditions import Condition, Setting, View, condition_for
from tacit.stats.population_uniques import SizeCounts, estimate_all

SAMPLED = "The records are a simple random sample of a population of the stated size."


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
def claim_few_uniques(
    model: Any, data: Microdata, result: Microdata, in_k: str | None, in_shares: str | None
) -> Parts:
    """Claim few population uniques, in the population from which the file before suppression was drawn."""
    del result, in_k, in_shares
    told = {
        "population": size_of_population(model, data),
        "threshold": model.threshold,
        "estimate": model.model,
    }
    yield "population-uniques", told, (SAMPLED,)


def size_of_population(model: Any, data: Microdata) -> int:
    """Return N; a sampling fraction is that of the file before records are suppressed."""
    return int(model.population_of(len(data)))
