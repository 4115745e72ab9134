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

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.data.microdata import Microdata
from tacit.errors import InputError
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

    @property
    def members(self) -> People:
        """Return the members of the register in each class."""
        assert self.people is not None, "the problem was built without a register"
        return self.people


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


# -- sizes of classes: k-anonymity, and the probability that an attacker finds a record ----------------
#
# The mean risk of all records is classes by records, and the records at risk are those in small classes; merging makes
# classes fewer and larger, so both merge. They are asked of all classes together, and do not keep.

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
