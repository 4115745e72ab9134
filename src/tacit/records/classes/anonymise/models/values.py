"""Models of the values in a class: how diverse they are, how far from those of all records, how large their shares.

Why the flags are what they are. With nothing suppressed, the shares q of values among all records are the same at every
node, and the shares p in a merged class are means, weighted by size, of those of its parts.

* A share p is at most alpha, or a gain (p - q) / q at most a bound that depends on q alone: means of numbers below a bound
  are below it, so these *merge*. They do not *keep*: a class that fails may be merged into one that passes, and spoil it.
* |log2(p / q)| < delta holds for p in an open interval, and means stay in intervals, so it merges. Where absent values are ignored
  p may also be 0, and a mean of 0 and a number inside may be below the interval: then it does not merge.
* Distinct values are never made fewer by more records, so that their number *keeps*.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.data.hierarchy import ground_label
from tacit.data.microdata import Microdata
from tacit.errors import InputError
from tacit.records.classes.anonymise.models.condition import (
    TOLERANCE,
    AtLeast,
    Condition,
    Made,
    Part,
    Parts,
    Setting,
    View,
    claim_k,
    given,
)
from tacit.records.classes.class_values import columns_of_interest, rank_texts
from tacit.stats import class_models

KNOWN = "An intruder knows at most the stated number of keys of a person."
#: By kind of measure: what it claims of each sensitive column, and the parameters that the claim has from it.
CLAIMED: Mapping[str, tuple[str, ...]] = {
    "alpha_k": ("bounded-share", "alpha"),
    "beta_likeness": ("beta-likeness", "beta", "variant"),
    "delta_disclosure": ("delta-disclosure", "delta", "absent"),
    "l_diversity": ("l-diversity", "l", "variant"),
    "lkc": ("lkc-privacy", "known", "k", "confidence"),
    "t_closeness": ("t-closeness", "t", "distance"),
}


class Rows(NamedTuple):
    """Classes and their values as measures take them: class, value and amount of each row that counts."""

    of_class: Ints
    value: Ints
    n: Floats
    n_classes: int
    values: Sequence[Any] = ()
    levels: Sequence[Ints] = ()


@dataclass(frozen=True)
class OfValues(Condition):
    """A condition on the sensitive values of a class."""

    column: str = ""
    #: The code of a missing value when its records are left out; -1 when missing is a value like others.
    ignored: int = -1
    merges: ClassVar[bool] = True

    def rows(self, view: View) -> Rows:
        """Return the rows of a view that count."""
        found = view.values[self.column]
        amounts = found.amounts(self.weighted)
        take = (found.value != self.ignored) & (found.n > 0)
        return Rows(found.of_class[take], found.value[take], amounts[take], len(view.n))


@dataclass(frozen=True)
class WithinLimit(OfValues):
    """The number that a measure gives each class is within its limit; relative ones are against all released records."""

    model: Any = None
    #: By hierarchy: for each level the label of each value; by rank: the rank of each.
    labels: tuple[Ints, ...] = ()
    ranks: Ints | None = None

    @property
    def keeps(self) -> bool:  # type: ignore[override]
        """Return True for distinct values."""
        return not self.relative and self.model.variant == "distinct"

    @property
    def merges(self) -> bool:  # type: ignore[override]
        """Return False where values that are absent are ignored."""
        return getattr(self.model, "absent", "violates") == "violates"

    @property
    def relative(self) -> bool:  # type: ignore[override]
        """Return False for diversity alone."""
        return bool(self.model.kind != "l_diversity")

    def passes(self, view: View) -> Flags:
        """Return which classes are within the limit; one whose values are all left out has nothing to disclose."""
        rows = self.rows(view)._replace(levels=self.labels)
        if self.ranks is not None:
            value = self.ranks[rows.value]
            order = np.lexsort([value, rows.of_class])
            m = int(self.ranks.max(initial=-1)) + 1
            rows = Rows(rows.of_class[order], value[order], rows.n[order], rows.n_classes, range(m))
        figures = self.model.figures(rows)
        if self.relative:
            return np.asarray(self.model.is_within(figures, TOLERANCE))
        known = np.bincount(rows.of_class, minlength=rows.n_classes) > 0
        return np.asarray(self.model.is_within(figures, TOLERANCE * self.model.l) | ~known)


@dataclass(frozen=True)
class SmallShare(OfValues):
    """No value that counts has a share above alpha among all records of a class."""

    alpha: float = 0.5
    #: For each value, and null after the last, whether it counts.
    counted: Flags = field(default_factory=lambda: np.ones(0, dtype=bool))

    def passes(self, view: View) -> Flags:
        """Return which classes have small shares alone."""
        rows = self.rows(view)
        take = self.counted[rows.value]
        sizes = view.amounts(self.weighted)
        share = class_models.largest_share(rows.of_class[take], rows.n[take], sizes)
        return np.asarray(share <= self.alpha + TOLERANCE)


def from_values(model: Any, setting: Setting) -> Sequence[Condition]:
    """Return one condition per sensitive column."""
    distance = getattr(model, "distance", None)
    left_out = model.missing == "ignore" or distance == "ordered"
    made: list[Condition] = []
    for column in columns_of_interest(setting.data, model.sensitive):
        values = setting.values[column]
        labels: tuple[Ints, ...] = ()
        ranks: Ints | None = None
        if distance == "hierarchical":
            lifted = setting.data.hierarchy(column).lift(values)
            labels = tuple(level.astype(np.int64) for level in lifted)
        elif distance == "ordered":
            ranks = np.arange(len(values), dtype=np.int64)
            if model.order is not None:
                ranks = rank_texts([str(v) for v in values.to_pylist()], model.order, "anonymise")
        left = len(values) if left_out else -1
        made.append(WithinLimit(model.quasi, setting.weighted, column, left, model, labels, ranks))
    return made


def from_l_diversity(model: Any, setting: Setting) -> Sequence[Condition]:
    """Return one condition per sensitive column, or say what is not aimed at."""
    if model.missing_keys != "category":
        raise InputError(
            "anonymise: l_diversity counts a missing key as a value of its own here; leave missing_keys= at 'category'."
        )
    if model.together and len(columns_of_interest(setting.data, model.sensitive)) > 1:
        raise InputError(
            "anonymise: l_diversity looks at each sensitive column by itself here; leave together= at false."
        )
    return from_values(model, setting)


def from_alpha_k(model: Any, setting: Setting) -> Sequence[Condition]:
    """Return the size of classes, and the shares of each sensitive column."""
    made: list[Condition] = [AtLeast(model.quasi, setting.weighted_k, k=model.k)]
    for column in columns_of_interest(setting.data, model.sensitive):
        counted = model.counted(setting.values[column].to_pylist())
        made.append(
            SmallShare(model.quasi, setting.weighted, column, alpha=model.alpha, counted=counted)
        )
    return made


def from_lkc(model: Any, setting: Setting) -> Sequence[Condition]:
    """Return size and shares on every set of L keys: smaller sets have unions of their classes, and hold too."""
    made: list[Condition] = []
    for name in few_keys(model, setting.data):
        made.append(AtLeast(name, setting.weighted_k, k=model.k))
        for column in columns_of_interest(setting.data, model.sensitive):
            counted = np.ones(len(setting.values[column]) + 1, dtype=bool)
            counted[-1] = model.missing == "category"
            made.append(
                SmallShare(name, setting.weighted, column, alpha=model.confidence, counted=counted)
            )
    return made


def few_keys(model: Any, data: Microdata) -> Mapping[str, tuple[str, ...]]:
    """Return the sets of L keys of an LKC model, by a name each."""
    return {
        f"{name}: {' x '.join(subset)}": subset
        for name, keys in data.quasi_identifiers(model.quasi).items()
        for subset in itertools.combinations(keys, min(model.known, len(keys)))
    }


def claim_alpha_k(model: Any, made: Made) -> Parts:
    """Claim classes of k, and small shares of each sensitive column."""
    yield from claim_k(model, made)
    yield from claim_values(model, made)


def claim_values(model: Any, made: Made) -> Parts:
    """Claim what the model asks of each sensitive column."""
    claim, *names = CLAIMED[model.kind]
    for column in columns_of_interest(made.data, model.sensitive):
        told = {name: getattr(model, name) for name in names} | {"sensitive": column}
        told |= claim_further(model, made, column)
        if model.missing != "category":
            told["missing"] = model.missing
        if made.in_shares is not None:
            told["weight"] = made.in_shares
        yield Part(claim, told, (KNOWN,) if model.kind == "lkc" else ())


def claim_further(model: Any, made: Made, column: str) -> dict[str, Any]:
    """Return the parameters of a claim that go with others."""
    match model.kind:
        case "alpha_k" if model.values is not None:
            return {"values": list(model.values)}
        case "l_diversity" if model.variant == "recursive":
            return {"c": model.c}
        case "lkc" if made.in_k is not None:
            return {"k_weight": made.in_k}
        case "t_closeness":
            told: dict[str, Any] = {k: list(v) for k, v in given(model, "order").items()}
            if model.distance == "hierarchical":
                # Only values that are released are named.
                values, tree = made.result.codes(column).values, made.data.hierarchy(column)
                told["paths"] = {ground_label(v): list(tree.path(v)) for v in values.to_pylist()}
            return told
    return {}
