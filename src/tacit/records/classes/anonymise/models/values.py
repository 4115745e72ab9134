"""Models of the values in a class: how diverse they are, and how far from those of all records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.data.hierarchy import ground_label
from tacit.errors import InputError
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
from tacit.stats import class_models


@dataclass(frozen=True)
class OfValues(Condition):
    """A condition on the sensitive values of a class."""

    column: str = ""
    #: The code of a missing value when its records are left out; -1 when missing is a value like others.
    ignored: int = -1
    merges: ClassVar[bool] = True

    @property
    def sensitive(self) -> str:
        """Return the sensitive column."""
        return self.column

    def rows(self, view: View) -> tuple[Ints, Ints, Floats]:
        """Return class, value and amount of each row that counts."""
        found = view.values[self.column]
        amounts = found.amounts(self.weighted)
        take = (found.value != self.ignored) & (found.n > 0)
        return found.of_class[take], found.value[take], amounts[take]


def ignored_code(model: Any, setting: Setting, column: str) -> int:
    """Return the code of null when its records are left out, else -1."""
    return len(setting.values[column]) if model.missing == "ignore" else -1


def shared(model: Any, weight: str | None) -> dict[str, Any]:
    """Return the parameters that claims on values share."""
    told: dict[str, Any] = {} if model.missing == "category" else {"missing": model.missing}
    return told if weight is None else told | {"weight": weight}


@dataclass(frozen=True)
class Diverse(OfValues):
    """l-diversity; a class whose values are all left out has nothing to disclose and passes."""

    l: float = 2  # noqa: E741 - the literature's letter
    variant: str = "distinct"
    c: float = 3.0

    @property
    def keeps(self) -> bool:  # type: ignore[override]
        """Return True for distinct values: more records never make them fewer."""
        return self.variant == "distinct"

    def passes(self, view: View) -> Flags:
        """Return which classes have diversity l."""
        of_class, _, n = self.rows(view)
        size = len(view.n)
        if self.variant == "entropy":
            diversity = class_models.entropy_diversity(of_class, n, size)
        elif self.variant == "recursive":
            diversity = class_models.recursive_diversity(of_class, n, size, self.c)
        else:
            diversity = class_models.distinct_diversity(of_class, size)
        known = np.bincount(of_class, minlength=size) > 0
        return np.asarray((diversity >= self.l - TOLERANCE * self.l) | ~known)


@condition_for("l_diversity")
def from_l_diversity(model: Any, setting: Setting) -> Sequence[Condition]:
    """Return one condition per sensitive column."""
    if model.missing_keys != "category":
        raise InputError(
            "anonymise: l_diversity counts a missing key as a value of its own here; leave missing_keys= at 'category'."
        )
    if model.together and len(sensitive_columns(model, setting.data)) > 1:
        raise InputError(
            "anonymise: l_diversity looks at each sensitive column by itself here; leave together= at false."
        )
    return [
        Diverse(
            model.quasi,
            setting.weighted,
            column=column,
            ignored=ignored_code(model, setting, column),
            l=model.l,
            variant=model.variant,
            c=model.c,
        )
        for column in sensitive_columns(model, setting.data)
    ]


@claim_for("l_diversity")
def claim_l(model: Any, made: Made) -> Parts:
    """Claim diversity of each sensitive column."""
    for column in sensitive_columns(model, made.data):
        told: dict[str, Any] = {"l": model.l, "variant": model.variant, "sensitive": column}
        if model.variant == "recursive":
            told["c"] = model.c
        yield Part("l-diversity", told | shared(model, made.in_shares))


@dataclass(frozen=True)
class Close(OfValues):
    """t-closeness, against the values of all released records."""

    t: float = 0.2
    distance: str = "equal"
    labels: tuple[Ints, ...] = ()
    ranks: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    relative: ClassVar[bool] = True

    def passes(self, view: View) -> Flags:
        """Return which classes are at most t from the whole."""
        of_class, value, n = self.rows(view)
        size = len(view.n)
        if self.distance == "ordered":
            value = self.ranks[value]
            order = np.lexsort([value, of_class])
            far = class_models.ordered_distance(
                of_class[order], value[order], n[order], size, int(self.ranks.max(initial=-1)) + 1
            )
        elif self.distance == "hierarchical":
            far = class_models.hierarchical_distance(of_class, value, n, size, self.labels)
        else:
            far = class_models.equal_distance(of_class, value, n, size)
        return np.asarray(far <= self.t + TOLERANCE)


@condition_for("t_closeness")
def from_t_closeness(model: Any, setting: Setting) -> Sequence[Condition]:
    """Return one condition per sensitive column."""
    made = []
    for column in sensitive_columns(model, setting.data):
        values = setting.values[column]
        ordered = model.distance == "ordered"
        labels: tuple[Ints, ...] = ()
        if model.distance == "hierarchical":
            lifted = setting.data.hierarchy(column).lift(values)
            labels = tuple(level.astype(np.int64) for level in lifted)
        made.append(
            Close(
                model.quasi,
                setting.weighted,
                column=column,
                ignored=len(values) if ordered or model.missing == "ignore" else -1,
                t=model.t,
                distance=model.distance,
                labels=labels,
                ranks=rank_values(values, model.order) if ordered else np.zeros(0, dtype=np.int64),
            )
        )
    return made


def rank_values(values: Any, order: Sequence[str] | None) -> Ints:
    """Return the rank of each coded value: ascending, or as ``order`` lists them."""
    if order is None:
        return np.arange(len(values), dtype=np.int64)
    place = {label: i for i, label in enumerate(order)}
    texts = [str(v) for v in values.to_pylist()]
    missing = sum(text not in place for text in texts)
    if missing:
        raise InputError(
            f"anonymise: order= lacks {missing} of the {len(texts)} different values. List every value, from low to high."
        )
    return np.argsort(
        np.argsort([place[text] for text in texts], kind="stable"), kind="stable"
    ).astype(np.int64)


@claim_for("t_closeness")
def claim_t(model: Any, made: Made) -> Parts:
    """Claim closeness of each sensitive column to all released records."""
    for column in sensitive_columns(model, made.data):
        told: dict[str, Any] = {"t": model.t, "distance": model.distance, "sensitive": column}
        if model.order is not None:
            told["order"] = list(model.order)
        if model.distance == "hierarchical":
            # Only values that are released are named.
            values = made.result.codes(column).values.to_pylist()
            told["paths"] = {
                ground_label(v): list(made.data.hierarchy(column).path(v)) for v in values
            }
        yield Part("t-closeness", told | shared(model, made.in_shares))
