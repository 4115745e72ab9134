"""Models of shares of values: gains, ratios and bounds, in classes of all keys and of few.

Why the flags are what they are. With nothing suppressed, the shares q of values among all records are the same at every
node, and the shares p in a merged class are means, weighted by size, of those of its parts.

* A share p is at most alpha, or a gain (p - q) / q at most a bound that depends on q alone: means of numbers below a bound
  are below it, so these *merge*. They do not *keep*: a class that fails may be merged into one that passes, and spoil it.
* |log2(p / q)| < delta holds for p in an open interval, and means stay in intervals, so it merges. Where absent values are ignored
  p may also be 0, and a mean of 0 and a number inside may be below the interval: then it does not merge.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tacit.arrays import Flags
from tacit.data.microdata import Microdata
from tacit.records.classes.anonymise.models.registry import (
    TOLERANCE,
    Condition,
    Made,
    Part,
    Parts,
    Setting,
    View,
    claim_for,
    condition_for,
    sensitive_columns,
)
from tacit.records.classes.anonymise.models.sizes import AtLeast, claim_k
from tacit.records.classes.anonymise.models.values import OfValues, ignored_code, shared
from tacit.spec import Measure
from tacit.stats import class_models

KNOWN = "An intruder knows at most the stated number of keys of a person."


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


@claim_for("beta_likeness")
def claim_beta(model: Any, made: Made) -> Parts:
    """Claim small gains of each sensitive column."""
    for column in sensitive_columns(model, made.data):
        told = {"beta": model.beta, "variant": model.variant, "sensitive": column}
        yield Part("beta-likeness", told | shared(model, made.in_shares))


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


@claim_for("delta_disclosure")
def claim_delta(model: Any, made: Made) -> Parts:
    """Claim small ratios of each sensitive column."""
    for column in sensitive_columns(model, made.data):
        told = {"delta": model.delta, "absent": model.absent, "sensitive": column}
        yield Part("delta-disclosure", told | shared(model, made.in_shares))


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


@claim_for("alpha_k")
def claim_alpha_k(model: Any, made: Made) -> Parts:
    """Claim classes of k, and small shares of each sensitive column."""
    yield from claim_k(model, made)
    for column in sensitive_columns(model, made.data):
        told: dict[str, Any] = {"alpha": model.alpha, "sensitive": column}
        if model.values is not None:
            told["values"] = list(model.values)
        yield Part("bounded-share", told | shared(model, made.in_shares))


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


@claim_for("lkc")
def claim_lkc(model: Any, made: Made) -> Parts:
    """Claim classes of K and small shares on every set of at most L keys."""
    for column in sensitive_columns(model, made.data):
        told: dict[str, Any] = {
            "known": model.known,
            "k": model.k,
            "confidence": model.confidence,
            "sensitive": column,
        }
        if made.in_k is not None:
            told["k_weight"] = made.in_k
        yield Part("lkc-privacy", told | shared(model, made.in_shares), (KNOWN,))
