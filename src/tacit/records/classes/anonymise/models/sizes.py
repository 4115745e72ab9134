"""Models of class sizes: k-anonymity, and the probability that an attacker finds a record.

The mean risk of all records is classes by records, and the records at risk are those in small classes; merging makes
classes fewer and larger, so both merge. They are asked of all classes together, and do not keep.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.arrays import Flags, Floats
from tacit.data.microdata import Microdata
from tacit.errors import InputError
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

BY_WEIGHT = "The sum of weights stands for the people of the population who share the key values."
FRACTION = "The sampling fraction is the same for all classes."


@dataclass(frozen=True)
class AtLeast(Condition):
    """k-anonymity: a class has at least k records, or weights that sum to k."""

    k: float = 2
    keeps: ClassVar[bool] = True
    merges: ClassVar[bool] = True

    def passes(self, view: View) -> Flags:
        """Return which classes have k records."""
        return np.asarray(view.amounts(self.weighted) >= self.k - TOLERANCE)


@dataclass(frozen=True)
class MeanRisk(Condition):
    """The mean of scale / size over all released records is at most a limit."""

    limit: float = 1.0
    scale: float = 1.0
    merges: ClassVar[bool] = True
    overall: ClassVar[bool] = True

    def holds(self, view: View) -> bool:
        """Return whether classes by records, scaled, are at most the limit."""
        classes, records = int((view.n > 0).sum()), int(view.n.sum())
        return self.scale * classes <= (self.limit + TOLERANCE) * records

    def loads(self, view: View) -> Floats:
        """Return by how much each class exceeds its share of the limit."""
        return np.asarray(self.scale - (self.limit + TOLERANCE) * view.n)


@dataclass(frozen=True)
class FewAtRisk(Condition):
    """At most a share of the released records has a risk scale / size above a threshold."""

    share: float = 0.0
    threshold: float = 0.2
    scale: float = 1.0
    merges: ClassVar[bool] = True
    overall: ClassVar[bool] = True

    def holds(self, view: View) -> bool:
        """Return whether few enough records are at risk."""
        n = view.n[view.n > 0]
        at_risk = int(n[self.scale / n > self.threshold + TOLERANCE].sum())
        return at_risk <= (self.share + TOLERANCE) * int(n.sum())

    def loads(self, view: View) -> Floats:
        """Return the records at risk of each class beyond the share that may be."""
        at_risk = self.scale > (self.threshold + TOLERANCE) * view.n
        return np.asarray(view.n * (at_risk - (self.share + TOLERANCE)))


def from_k_anonymity(model: Any, setting: Setting) -> Sequence[Condition]:
    """Return the condition of k-anonymity."""
    if model.missing != "category":
        raise InputError(
            "anonymise: k_anonymity counts a missing key as a value of its own here; leave missing= at 'category'."
        )
    return [AtLeast(model.quasi, setting.weighted_k, k=model.k)]


def claim_k(model: Any, made: Made) -> Parts:
    """Claim k records, or weights that sum to k, in every class."""
    if made.in_k is None:
        yield Part("k-anonymity", {"k": model.k})
    else:
        yield Part("weighted-k-anonymity", {"k": model.k, "weight": made.in_k}, (BY_WEIGHT,))


def from_attack_risk(model: Any, setting: Setting) -> Sequence[Condition]:
    """Return the conditions of the limits that were given."""
    scale = risk_scale(model, setting.data, weighted=setting.weighted_k)
    made: list[Condition] = []
    if model.highest is not None:
        least = scale / model.highest if model.highest > 0 else math.inf
        made.append(AtLeast(model.quasi, k=least))
    if model.average is not None:
        made.append(MeanRisk(model.quasi, limit=model.average, scale=scale))
    if model.at_risk is not None:
        made.append(
            FewAtRisk(model.quasi, share=model.at_risk, threshold=model.threshold, scale=scale)
        )
    return made


def risk_scale(model: Any, data: Microdata, *, weighted: bool = False) -> float:
    """Return s where the risk of a record in a class of n is s / n, or say why there is none."""
    if not given(model, "highest", "average", "at_risk"):
        raise InputError(
            "anonymise: attack_risk needs a limit: give highest=, average= or at_risk=."
        )
    if weighted:
        raise InputError(
            "anonymise: attack_risk counts records; leave weights= at 'records', or give fraction=."
        )
    if model.quasi is None and len(data.quasi) > 1:
        raise InputError(
            "anonymise: attack_risk is about one quasi-identifier; name it with quasi=."
        )
    if model.attacker == "prosecutor":
        return 1.0
    if model.fraction is None and data.weight is not None:
        raise InputError(
            "anonymise: attack_risk for this attacker needs fraction=; sums of weights are not used here."
        )
    return float(model.fraction or 1.0)


def claim_attack_risk(model: Any, made: Made) -> Parts:
    """Claim the limits on the probability of re-identification."""
    scale = risk_scale(model, made.data)
    told = {"attacker": model.attacker, **given(model, "highest", "average", "at_risk")}
    if model.at_risk is not None:
        told["threshold"] = model.threshold
    if scale != 1:
        told["fraction"] = scale
    yield Part("attack-risk", told, (FRACTION,) if scale != 1 else ())
