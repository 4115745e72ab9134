"""What makes a class safe: one condition per protection model, on plain arrays.

A condition is either *local* (it asks each class by itself), *relative* (it compares a class with all released
records) or *overall* (it asks all released classes together). Two facts decide what a search may leave out:

``keeps``
    a class that passes still passes after any other class was merged into it, so that the records which pass
    only grow with generalisation;
``merges``
    a class made of passing classes alone passes, so that a node at which all pass has only such nodes above it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.data.microdata import Microdata
from tacit.errors import InputError
from tacit.protect.anonymise.grouping import Floats, Ints
from tacit.protect.anonymise.problem import Flags, Values
from tacit.spec import Measure
from tacit.stats import class_models

TOLERANCE = 1e-9


@dataclass(frozen=True)
class View:
    """The released classes of one quasi-identifier.

    Attributes
    ----------
    n, weight
        Records and sum of weights of each class; 0 for a class that is suppressed.
    values
        For each sensitive column the released values by class.
    """

    n: Ints
    weight: Floats | None
    values: Mapping[str, Values]

    def amounts(self, weighted: bool) -> Floats:
        """Return sums of weights, or numbers of records, of each class."""
        return self.weight if weighted and self.weight is not None else self.n.astype(np.float64)


@dataclass(frozen=True)
class Condition:
    """What one protection model asks of classes."""

    #: The quasi-identifier it is about; None for every one.
    quasi: str | None = None
    #: Sums of weights stand for numbers of records.
    weighted: bool = False

    keeps: ClassVar[bool] = False
    merges: ClassVar[bool] = False
    #: True when suppressing one class can change the answer for another.
    relative: ClassVar[bool] = False
    #: True when all released classes are judged together, by :meth:`holds`.
    overall: ClassVar[bool] = False

    @property
    def sensitive(self) -> str | None:
        """Return the sensitive column that is looked at."""
        return None

    def passes(self, view: View) -> Flags:
        """Return which classes are safe."""
        raise NotImplementedError

    def holds(self, view: View) -> bool:
        """Return whether all released classes together are safe."""
        return bool(self.passes(view)[view.n > 0].all())


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


@dataclass(frozen=True)
class Setting:
    """What a condition may know when it is made."""

    data: Microdata
    weighted_k: bool
    weighted: bool
    #: The distinct values of each sensitive column, ascending.
    values: Mapping[str, Any]
    register: Microdata | None = None


Maker = Callable[[Any, Setting], Sequence[Condition]]
MAKERS: dict[str, Maker] = {}


def condition_for(kind: str) -> Callable[[Maker], Maker]:
    """Register what makes the conditions of one kind of measure."""

    def note(maker: Maker) -> Maker:
        MAKERS[kind] = maker
        return maker

    return note


def make_conditions(models: Sequence[Measure], setting: Setting) -> list[Condition]:
    """Return the conditions of all models."""
    return [c for model in models for c in MAKERS[model.kind](model, setting)]


def model_faults(models: Sequence[Measure], method: str) -> list[str]:
    """Return a clause for each model that no class can be tested for."""
    known = ", ".join(sorted(MAKERS))
    return [
        f"{m.kind} is not a model that {method} can aim at; it knows {known}"
        for m in models
        if m.kind not in MAKERS
    ]


@condition_for("k_anonymity")
def from_k_anonymity(model: Any, setting: Setting) -> Sequence[Condition]:
    """Return the condition of k-anonymity."""
    if model.missing != "category":
        raise InputError(
            "anonymise: k_anonymity counts a missing key as a value of its own here; leave missing= at 'category'."
        )
    return [AtLeast(model.quasi, setting.weighted_k, k=model.k)]


def sensitive_columns(model: Any, data: Microdata) -> tuple[str, ...]:
    """Return the sensitive columns that a model is about."""
    named = model.sensitive
    if named is None:
        return data.sensitive
    return (named,) if isinstance(named, str) else tuple(named)


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
            ignored=len(setting.values[column]) if model.missing == "ignore" else -1,
            l=model.l,
            variant=model.variant,
            c=model.c,
        )
        for column in sensitive_columns(model, setting.data)
    ]


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


def rank_values(values: Any, order: Sequence[str] | None) -> npt.NDArray[np.int64]:
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
    return np.argsort(np.argsort([place[text] for text in texts])).astype(np.int64)
