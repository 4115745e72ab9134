"""What makes a class safe and what may be claimed then: one condition and one claim per protection model.

A condition is either *local* (it asks each class by itself), *relative* (it compares a class with all released
records) or *overall* (it asks all released classes together). Two facts decide what a search may leave out:

``keeps``
    a class that passes still passes after any other class was merged into it, so that the records which pass
    only grow with generalisation;
``merges``
    a class made of passing classes alone passes, so that a node at which all pass has only such nodes above it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.claims import Claim
from tacit.data.microdata import Microdata
from tacit.records.classes.anonymise.members import People
from tacit.records.classes.anonymise.problem import Values
from tacit.spec import Measure

#: Room in comparisons of numbers that were added up.
TOLERANCE = 1e-9
ASSUMED = "The quasi-identifier holds every column that an intruder can find in other files."


@dataclass(frozen=True)
class View:
    """The released classes of one quasi-identifier.

    Attributes
    ----------
    n, weight
        Records and sum of weights of each class; 0 for a class that is suppressed.
    values
        For each sensitive column the released values by class.
    people
        The members of a population register by class, where there is one.
    """

    n: Ints
    weight: Floats | None
    values: Mapping[str, Values]
    people: People | None = None

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

    #: False when suppressing records never makes the released ones safe.
    helped: ClassVar[bool] = True

    def passes(self, view: View) -> Flags:
        """Return which classes are safe."""
        raise NotImplementedError

    def loads(self, view: View) -> Floats | None:
        """Return what each class adds to a sum that must not be above 0, where :meth:`holds` asks for just that."""
        del view
        return None

    def holds(self, view: View) -> bool:
        """Return whether all released classes together are safe."""
        return bool(self.passes(view)[view.n > 0].all())


@dataclass(frozen=True)
class Setting:
    """What a condition may know when it is made."""

    data: Microdata
    weighted_k: bool
    weighted: bool
    #: The distinct values of each sensitive column, ascending.
    values: Mapping[str, Any]


Maker = Callable[[Any, Setting], Sequence[Condition]]
CONDITIONS: dict[str, Maker] = {}


def condition_for(kind: str) -> Callable[[Maker], Maker]:
    """Register what makes the conditions of one kind of measure."""

    def note(maker: Maker) -> Maker:
        CONDITIONS[kind] = maker
        return maker

    return note


def make_conditions(models: Sequence[Measure], setting: Setting) -> list[Condition]:
    """Return the conditions of all models."""
    return [c for model in models for c in CONDITIONS[model.kind](model, setting)]


def model_faults(models: Sequence[Measure], method: str) -> list[str]:
    """Return a clause for each model that no class can be tested for."""
    known = ", ".join(sorted(CONDITIONS))
    return [
        f"{m.kind} is not a model that {method} can aim at; it knows {known}"
        for m in models
        if m.kind not in CONDITIONS
    ]


@dataclass(frozen=True)
class Made:
    """What a claim may know when it is made: the data before and after, and what was counted.

    Attributes
    ----------
    columns
        The quasi-identifier that the claim is about.
    in_k, in_shares
        The weight column where weights count in k, and in shares.
    register, levels
        The population register, if there is one, and the released level of each key.
    """

    data: Microdata
    result: Microdata
    columns: tuple[str, ...]
    in_k: str | None
    in_shares: str | None
    register: Microdata | None
    levels: Mapping[str, int]


class Part(NamedTuple):
    """What one model claims: its name, parameters, further assumptions, and the parameters that are withheld."""

    model: str
    parameters: dict[str, Any]
    assumptions: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()


Parts = Iterable[Part]
Claimer = Callable[[Any, Made], Parts]
CLAIMS: dict[str, Claimer] = {}


def claim_for(kind: str) -> Callable[[Claimer], Claimer]:
    """Register what a release claims that was made for one kind of measure."""

    def note(maker: Claimer) -> Claimer:
        CLAIMS[kind] = maker
        return maker

    return note


def claims_of(
    models: Sequence[Measure[Any]],
    weights: str,
    data: Microdata,
    result: Microdata,
    register: Microdata | None = None,
    levels: Mapping[str, int] | None = None,
) -> Iterable[Claim]:
    """Yield the claims of all models on all their quasi-identifiers."""
    in_k = None if weights == "records" else data.weight
    in_shares = data.weight if weights == "weighted" else None
    for model in models:
        for name, columns in data.quasi_identifiers(getattr(model, "quasi", None)).items():
            made = Made(data, result, tuple(columns), in_k, in_shares, register, levels or {})
            for part in CLAIMS[model.kind](model, made):
                known = (ASSUMED, *part.assumptions)
                yield Claim(part.model, part.parameters, name, made.columns, known, part.withheld)


def sensitive_columns(model: Any, data: Microdata) -> tuple[str, ...]:
    """Return the sensitive columns that a model is about."""
    named = model.sensitive
    if named is None:
        return data.sensitive
    return (named,) if isinstance(named, str) else tuple(named)
