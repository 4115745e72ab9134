"""Models of samples as conditions: the risk that a record is re-identified in the population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.data.microdata import Microdata
from tacit.errors import InputError
from tacit.protect.anonymise.claims import Parts, claim_for
from tacit.protect.anonymise.conditions import Condition, Setting, View, condition_for
from tacit.protect.anonymise.grouping import Floats
from tacit.protect.anonymise.problem import Flags
from tacit.stats.individual_risk import expected_inverse, share_sampled

TOLERANCE = 1e-12
WEIGHTS_TELL = "The weights say how many people of the population a record stands for."
ALL_DRAWN = "Every person of the population was sampled with the same chance."


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
        total = float(self.risks(view, at) @ n)
        return total <= self.average * float(n.sum()) * (1 + TOLERANCE)


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
def claim_risk(
    model: Any, data: Microdata, result: Microdata, in_k: str | None, in_shares: str | None
) -> Parts:
    """Claim the thresholds, together with what the population is estimated from."""
    del result, in_k, in_shares
    told: dict[str, Any] = {
        name: value
        for name in ("threshold", "average")
        if (value := getattr(model, name)) is not None
    }
    if data.weight is not None:
        yield "individual-risk", told | {"weight": data.weight}, (WEIGHTS_TELL,)
    else:
        told["sampling_fraction"] = model.sampling_fraction
        yield "individual-risk", told, (ALL_DRAWN,)
