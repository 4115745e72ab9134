"""k-map: every released record could be any of at least k people, its own subject among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.fields import ClassSize, OneQuasi
from tacit.plot.chart import Chart
from tacit.plot.families import SIZE_BINS, bars
from tacit.records.register.matching import Linked, link
from tacit.registry import register
from tacit.result import Result, shown
from tacit.spec import Companions, Measure, Role


@register
class KMap(Measure):
    r"""How many people of a population register each released record could be.

    The candidates of a released record t are the members u of the register whose ground key values
    generalise to the released ones; a missing value or a top matches everybody. The release adheres to
    k-map when every record covers its own subject and has at least k candidates. The achieved k is

    .. math:: k = \min_{t \in RT} |\{ u : u \mathrm{\ generalises\ to\ } t \}|,

    and 0 when some record misses its own subject. The register should hold the whole population; by
    default the original data stand for it, and without them the data themselves. Without the original
    the own subject cannot be checked.

    References
    ----------
    Sweeney (2000), Foundations of Privacy Protection from a Computer Science Perspective,
    definition of k-map protection and Figure 17.
    """

    kind: Literal["k_map"] = "k_map"
    k: ClassSize = Field(default=2, description="candidates that each record should have")
    quasi: OneQuasi = None
    subject: str | None = Field(
        default=None,
        description="identifier column found in the original and in the register, to tell own subjects",
    )

    needs: ClassVar[frozenset[Role]] = frozenset({"keys"})
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> KMapResult:
        linked = link(data, other, self.quasi, self.subject, ctx)
        missed = linked.has_subject & ~linked.covers
        few = (linked.candidates < self.k) | missed
        smallest = int(linked.candidates.min()) if linked.n else 0
        share = float(few.mean()) if linked.n else 0.0
        achieved = 0 if missed.any() else smallest
        return KMapResult(
            kind=self.kind,
            title="k-map against the register",
            value=share,
            records=linked.n,
            register=linked.n_register,
            k=achieved,
            fewest=smallest,
            missed=int(missed.sum()),
            share=share,
            pseudo_entities=linked.pseudo_entities,
            frame=linked.frame(),
            explanation=explain(achieved, other),
            linked=linked,
            requested=self.k,
            shortfall=(
                f"k-map against the register: k = {achieved} is reached, and {self.k} was asked for"
                if self.asked("k") and linked.n and achieved < self.k
                else ""
            ),
        )


@dataclass(frozen=True, repr=False, kw_only=True)
class KMapResult(Result):
    """Candidates of each released record; ``linked`` holds the detail as arrays."""

    records: int = shown("records")
    register: int = shown("register")
    #: 0 when a record misses its own subject, or there are none.
    k: int = shown("achieved k")
    fewest: int = shown("fewest candidates")
    missed: int = shown("records that miss their own subject")
    share: float = shown("share with fewer than {requested} candidates")
    pseudo_entities: int = shown("pseudo-entities")
    linked: Linked
    requested: int

    @property
    def holds(self) -> bool:
        """Return True when every record has the requested number of candidates."""
        return self.linked.n == 0 or self.k >= self.requested

    def plot(self) -> Chart:
        """Return records by number of candidates."""
        found = self.linked.candidates
        items = [("0", float((found == 0).sum()))] + [
            (label, float(((found >= low) & (found <= (high or np.inf))).sum()))
            for label, low, high in SIZE_BINS
        ]
        return bars(items, title="Records by number of candidates", x="candidates", y="records")


def explain(achieved: int, other: Companions) -> str:
    """Return what the achieved k means, and what could not be checked."""
    text = f"Every released record could be any of at least {achieved} people of the register."
    if not achieved:
        text = (
            "Some released record does not cover its own subject, or nobody: this is not a k-map."
        )
    if not other.has_register:
        text += " No register was given: the original data stood for the population."
    if not other.has_original:
        text += (
            " Without the original data it was not checked that records cover their own subjects."
        )
    return text


def average_k(n: int, *values: Sequence[object] | int) -> float:
    """Return the average class size when n people spread over all combinations of some values.

    Each of ``values`` is the number of values of a column, or the values themselves. Sweeney's
    example: 135,000 people by 2 genders and 60 birth years give 1,125.

    >>> average_k(135_000, 2, 60)
    1125.0
    """
    return n / prod(v if isinstance(v, int) else len(set(v)) for v in values)
