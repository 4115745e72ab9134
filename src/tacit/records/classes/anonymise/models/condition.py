"""What makes a class safe: conditions on the classes of a release, and what may be claimed of it.

A condition is either *local* (it asks each class by itself), *relative* (it compares a class with all released
records) or *overall* (it asks all released classes together). Two facts decide what a search may leave out:

``keeps``
    a class that passes still passes after any other class was merged into it, so that the records which pass
    only grow with generalisation;
``merges``
    a class made of passing classes alone passes, so that a node at which all pass has only such nodes above it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from tacit.arrays import Flags, Floats, Ints
from tacit.data.microdata import Microdata
from tacit.records.classes.anonymise.problem import Counted, People, Values

#: Room in comparisons of numbers that were added up.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class View(Counted):
    """The released classes of one quasi-identifier."""

    #: Records and sum of weights of each class; 0 for a class that is suppressed.
    n: Ints
    weight: Floats | None
    #: For each sensitive column the released values by class.
    values: Mapping[str, Values]
    #: The members of a population register by class, where there is one.
    people: People | None = None


@dataclass(frozen=True)
class Condition:
    """What one protection model asks of classes."""

    #: The quasi-identifier it is about; None for every one.
    quasi: str | None = None
    #: Sums of weights stand for numbers of records.
    weighted: bool = False
    #: The sensitive column that is looked at.
    column: str | None = None

    keeps: ClassVar[bool] = False
    merges: ClassVar[bool] = False
    #: True when suppressing one class can change the answer for another.
    relative: ClassVar[bool] = False
    #: True when all released classes are judged together, by :meth:`holds`.
    overall: ClassVar[bool] = False
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


@dataclass(frozen=True)
class Made:
    """What a claim may know when it is made: the data before and after, and what was counted."""

    data: Microdata
    result: Microdata
    #: The quasi-identifier that the claim is about.
    columns: tuple[str, ...]
    #: The weight column where weights count in k, and in shares.
    in_k: str | None
    in_shares: str | None
    #: The population register, if there is one, and the released level of each key.
    register: Microdata | None
    levels: Mapping[str, int]


class Part(NamedTuple):
    """What one model claims: its name, parameters, further assumptions, and the parameters that are withheld."""

    model: str
    parameters: dict[str, Any]
    assumptions: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()


Parts = Iterable[Part]


def given(model: Any, *names: str) -> dict[str, Any]:
    """Return the parameters that a model was given."""
    return {name: value for name in names if (value := getattr(model, name)) is not None}
