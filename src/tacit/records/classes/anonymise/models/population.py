"""Models of the population: a register that is at hand, or one that the records are a sample of.

F is the number of members of the register whose ground values climb to the labels of a class, and f the number of its
released records. Merging classes adds up both.

* F >= k only gets easier to meet as classes grow: k-map *keeps* and *merges*.
* f / F <= delta_max holds for a class made of such classes (a mean of shares, weighted by F), so it *merges*; joined by one that
  fails it may fail, so it does not *keep*.
* f / F >= delta_min is asked of every member of the register, those in no released class included: of all classes together. It
  *merges* for the same reason. Suppressing a class only makes it worse.

Without a register there are the risk that a record is found in the population, and the share of population uniques.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np

from tacit.arrays import Flags, Floats
from tacit.data.fingerprint import fingerprint
from tacit.data.hierarchy import Hierarchy, ground_label
from tacit.data.microdata import Microdata
from tacit.engine.names import aggregate
from tacit.errors import InputError
from tacit.numerics.algebra import dot
from tacit.records.classes.anonymise.models.condition import (
    TOLERANCE,
    Condition,
    Made,
    Part,
    Parts,
    Setting,
    View,
    given,
)
from tacit.records.samples.population_uniques import SizeCounts, estimate_all
from tacit.records.samples.posterior import expected_inverse, share_sampled

#: The kinds of measure that need a register here.
KINDS = ("k_map", "delta_presence")
EVERYBODY = "The register holds every person who may be in the release, with the key values that the records have."
WEIGHTS_TELL = "The weights say how many people of the population a record stands for."
ALL_DRAWN = "Every person of the population was sampled with the same chance."
SAMPLED = "The records are a simple random sample of a population of the stated size."
#: Room for the last binary digits of a risk.
SLIGHT = 1e-12


# -- a register ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ManyCandidates(Condition):
    """k-map: a record could be at least k members of the register."""

    k: int = 2
    keeps: ClassVar[bool] = True
    merges: ClassVar[bool] = True

    def passes(self, view: View) -> Flags:
        """Return which classes have k candidates."""
        return np.asarray(view.members.n >= self.k)


@dataclass(frozen=True)
class PresentAtMost(Condition):
    """No member of the register is present with more than a probability; records that match nobody fail."""

    most: float = 1.0
    merges: ClassVar[bool] = True

    def passes(self, view: View) -> Flags:
        """Return which classes tell little about presence."""
        people = view.members.n
        return np.asarray((view.n <= (self.most + TOLERANCE) * people) & (people > 0))


@dataclass(frozen=True)
class PresentAtLeast(Condition):
    """Every member of the register is present with at least a probability."""

    least: float = 0.0
    merges: ClassVar[bool] = True
    overall: ClassVar[bool] = True
    #: Suppression leaves members of the register with fewer records, or none.
    helped: ClassVar[bool] = False

    def holds(self, view: View) -> bool:
        """Return whether nobody can be said to be absent."""
        people = view.members
        return people.elsewhere == 0 and bool(
            (view.n >= (self.least - TOLERANCE) * people.n)[people.n > 0].all()
        )


def from_k_map(model: Any, setting: Setting) -> Sequence[Condition]:
    """Return the condition of k-map."""
    del setting
    if model.subject is not None:
        raise InputError(
            "anonymise: k_map looks for candidates by the keys alone here; leave out subject=."
        )
    return [ManyCandidates(model.quasi, k=model.k)]


def from_delta_presence(model: Any, setting: Setting) -> Sequence[Condition]:
    """Return the conditions of the largest presence and, where one was given, of the smallest."""
    refuse_overlaps(setting.data, model.quasi)
    made: list[Condition] = [PresentAtMost(model.quasi, most=model.delta_max)]
    if model.delta_min > 0:
        made.append(PresentAtLeast(model.quasi, least=model.delta_min))
    return made


def refuse_overlaps(data: Microdata, quasi: str | None) -> None:
    """Refuse keys of which one released value could stand for another: presence is then no ratio of two counts."""
    for columns in data.quasi_identifiers(quasi).values():
        for key in columns:
            coded = data.codes(key)
            if (coded.codes == len(coded.values)).any():
                raise InputError(
                    f"anonymise: key {key!r} has missing values, which could be anybody, so that delta_presence does not "
                    "follow from classes. Impute them, or leave these records out first."
                )
            ground = data.hierarchy(key).position
            if any(ground_label(v) not in ground for v in coded.values.to_pylist()):
                raise InputError(
                    f"anonymise: key {key!r} is generalised in part already, so that delta_presence does not follow from "
                    "classes. Take this step first."
                )


def claim_of_register(model: Any, made: Made) -> Parts:
    """Claim k candidates for every record, or the limits on presence."""
    told = given(model, *(("k",) if model.kind == "k_map" else ("delta_min", "delta_max")))
    told |= {"people": count_people(made)}
    yield Part(model.kind.replace("_", "-"), told, (EVERYBODY,), ("people",))


def count_people(made: Made) -> dict[str, Any]:
    """Return the members of the register by released class, counted by labels and apart from the search."""
    assert made.register is not None, "a register was asked for"
    keys = list(made.columns)
    released = {tuple(row) for row in distinct_labels(made.result, keys)[0]}
    found = dict.fromkeys(released, 0)
    elsewhere = 0
    climbs = [
        climb_labels(made.data.hierarchy(k), made.register.hierarchies.get(k), made.levels[k])
        for k in keys
    ]
    for row, n in zip(*distinct_labels(made.register, keys), strict=True):
        label = tuple(climb(v) for climb, v in zip(climbs, row, strict=True))
        if label in found:
            found[label] += n
        else:
            elsewhere += n
    return {
        "register": fingerprint(made.register),
        "classes": [[*labels, n] for labels, n in sorted(found.items(), key=str)],
        "elsewhere": elsewhere,
    }


def distinct_labels(data: Microdata, keys: Sequence[str]) -> tuple[list[Any], list[int]]:
    """Return the combinations of key values that occur, as texts, and how often each does."""
    counted = aggregate(data.frame, keys, nw.len().alias("__n__")).collect("pyarrow").to_native()
    columns = [
        [None if v is None else ground_label(v) for v in counted.column(k).to_pylist()]
        for k in keys
    ]
    return list(zip(*columns, strict=True)), counted.column("__n__").to_pylist()


def climb_labels(hierarchy: Hierarchy, other: Hierarchy | None, level: int) -> Any:
    """Return a function from a value's text to its label at a level; a missing one is itself below the top."""
    if level == hierarchy.height:
        return lambda _: hierarchy.top
    known = {**(other.at(level) if other is not None and other.height == hierarchy.height else {})}
    known |= hierarchy.at(level)
    return lambda text: None if text is None else known[text]


# -- a sample ----------------------------------------------------------------------------------------


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
        limit = self.threshold * (1 + SLIGHT)
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
        return total <= self.average * float(n.sum()) * (1 + SLIGHT)

    def loads(self, view: View) -> Floats:
        """Return the sum of risks of each class beyond the mean that is allowed."""
        at = np.flatnonzero(view.n > 0)
        found = np.zeros(len(view.n))
        found[at] = view.n[at] * (self.risks(view, at) - self.average * (1 + SLIGHT))
        return found


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
        made.append(
            RiskOfRecords(model.quasi, sampling_fraction=fraction, threshold=model.threshold)
        )
    if model.average is not None:
        made.append(RiskOnAverage(model.quasi, sampling_fraction=fraction, average=model.average))
    return made


def claim_risk(model: Any, made: Made) -> Parts:
    """Claim the thresholds, together with what the population is estimated from."""
    told = given(model, "threshold", "average")
    if made.data.weight is not None:
        yield Part("individual-risk", told | {"weight": made.data.weight}, (WEIGHTS_TELL,))
    else:
        drawn = {"sampling_fraction": model.sampling_fraction}
        yield Part("individual-risk", told | drawn, (ALL_DRAWN,))


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


def from_population_uniqueness(model: Any, setting: Setting) -> Sequence[Condition]:
    """Return the condition of a limit on population uniques."""
    if setting.weighted:
        raise InputError(
            "anonymise: population_uniqueness counts records; take weights='records' or 'weighted_k'."
        )
    return [
        FewPopulationUniques(
            model.quasi,
            # A sampling fraction is that of the file before records are suppressed.
            population=int(model.population_of(len(setting.data))),
            threshold=model.threshold,
            model=model.model,
        )
    ]


def claim_few_uniques(model: Any, made: Made) -> Parts:
    """Claim few population uniques, in the population from which the file before suppression was drawn."""
    told = {
        "population": int(model.population_of(len(made.data))),
        "threshold": model.threshold,
        "estimate": model.model,
    }
    yield Part("population-uniques", told, (SAMPLED,))
