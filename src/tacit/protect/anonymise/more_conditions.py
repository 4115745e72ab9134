"""More models that classes can be tested for: gains, ratios and shares of values, sets of few keys, and attack risk.

Why the flags are what they are. With nothing suppressed, the shares q of values among all records are the same at every
node, and the shares p in a merged class are means, weighted by size, of those of its parts.

* A share p is at most alpha, or a gain (p - q) / q at most a bound that depends on q alone: means of numbers below a bound
  are below it, so these *merge*. They do not *keep*: a class that fails may be merged into one that passes, and spoil it.
* |log2(p / q)| < delta holds for p in an open interval, and means stay in intervals, so it merges. Where absent values are ignored
  p may also be 0, and a mean of 0 and a number inside may be below the interval: then it does not merge.
* The mean risk of all records is classes by records, and the records at risk are those in small classes; merging makes classes fewer
  and larger, so both merge. They are asked of all classes together, and do not keep.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tacit.data.microdata import Microdata
from tacit.errors import InputError
from tacit.protect.anonymise.conditions import (
    TOLERANCE,
    AtLeast,
    Condition,
    OfValues,
    Setting,
    View,
    condition_for,
    sensitive_columns,
)
from tacit.protect.anonymise.problem import Flags
from tacit.spec import Measure
from tacit.stats import class_models


@dataclass(frozen=True)
class LittleGain(OfValues):
    """beta-likeness, against the values of all released records."""

    beta: float = 1.0
    enhanced: bool = True
    relative: ClassVar[bool] = True

    def passes(self, view: View) -> Flags:
        """Return which classes gain at most beta."""
        of_class, value, n = self.rows(view)
        gain = class_models.bounded_gain if self.enhanced else class_models.relative_gain
        return np.asarray(gain(of_class, value, n, len(view.n)) <= self.beta + TOLERANCE)


@dataclass(frozen=True)
class LittleRatio(OfValues):
    """delta-disclosure privacy, against the values of all released records."""

    delta: float = 1.0
    all_values: bool = True
    relative: ClassVar[bool] = True

    @property
    def merges(self) -> bool:  # type: ignore[override]
        """Return True when every value must occur in every class."""
        return self.all_values

    def passes(self, view: View) -> Flags:
        """Return which classes stay below delta."""
        of_class, value, n = self.rows(view)
        far = class_models.log_ratio(of_class, value, n, len(view.n), all_values=self.all_values)
        return np.asarray(far <= self.delta - TOLERANCE)


@dataclass(frozen=True)
class SmallShare(OfValues):
    """No value that counts has a share above alpha among all records of a class."""

    alpha: float = 0.5
    #: For each value, and null after the last, whether it counts.
    counted: Flags = field(default_factory=lambda: np.ones(0, dtype=bool))

    def passes(self, view: View) -> Flags:
        """Return which classes have small shares alone."""
        of_class, value, n = self.rows(view)
        take = self.counted[value]
        sizes = view.amounts(self.weighted)
        share = class_models.largest_share(of_class[take], n[take], sizes)
        return np.asarray(share <= self.alpha + TOLERANCE)


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


def ignored_code(model: Any, setting: Setting, column: str) -> int:
    """Return the code of null when its records are left out, else -1."""
    return len(setting.values[column]) if model.missing == "ignore" else -1


@condition_for("beta_likeness")
def from_beta_likeness(model: Any, setting: Setting) -> Sequence[Condition]:
    """Return one condition per sensitive column."""
    return [
        LittleGain(
            model.quasi,
            setting.weighted,
            column=column,
            ignored=ignored_code(model, setting, column),
            beta=model.beta,
            enhanced=model.variant == "enhanced",
        )
        for column in sensitive_columns(model, setting.data)
    ]


@condition_for("delta_disclosure")
def from_delta_disclosure(model: Any, setting: Setting) -> Sequence[Condition]:
    """Return one condition per sensitive column."""
    return [
        LittleRatio(
            model.quasi,
            setting.weighted,
            column=column,
            ignored=ignored_code(model, setting, column),
            delta=model.delta,
            all_values=model.absent == "violates",
        )
        for column in sensitive_columns(model, setting.data)
    ]


@condition_for("alpha_k")
def from_alpha_k(model: Any, setting: Setting) -> Sequence[Condition]:
    """Return the size of classes, and the shares of each sensitive column."""
    made: list[Condition] = [AtLeast(model.quasi, setting.weighted_k, k=model.k)]
    for column in sensitive_columns(model, setting.data):
        counted = model.counted(setting.values[column].to_pylist())
        made.append(
            SmallShare(
                model.quasi, setting.weighted, column=column, alpha=model.alpha, counted=counted
            )
        )
    return made


@condition_for("lkc")
def from_lkc(model: Any, setting: Setting) -> Sequence[Condition]:
    """Return size and shares on every set of L keys: smaller sets have unions of their classes, and hold too."""
    made: list[Condition] = []
    for name in few_keys(model, setting.data):
        made.append(AtLeast(name, setting.weighted_k, k=model.k))
        for column in sensitive_columns(model, setting.data):
            counted = np.ones(len(setting.values[column]) + 1, dtype=bool)
            counted[-1] = model.missing == "category"
            made.append(
                SmallShare(
                    name,
                    setting.weighted,
                    column=column,
                    alpha=model.confidence,
                    counted=counted,
                )
            )
    return made


def few_keys(model: Any, data: Microdata) -> Mapping[str, tuple[str, ...]]:
    """Return the sets of L keys of an LKC model, by a name each."""
    return {
        f"{name}: {' x '.join(subset)}": subset
        for name, keys in data.quasi_identifiers(model.quasi).items()
        for subset in itertools.combinations(keys, min(model.known, len(keys)))
    }


def further_groups(
    models: Sequence[Measure[Any]], data: Microdata
) -> Mapping[str, tuple[str, ...]]:
    """Return the sets of keys, beside the quasi-identifiers, on which models are judged."""
    groups: dict[str, tuple[str, ...]] = {}
    for model in models:
        if model.kind == "lkc":
            groups |= few_keys(model, data)
    return groups


@condition_for("attack_risk")
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
    if model.highest is None and model.average is None and model.at_risk is None:
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
