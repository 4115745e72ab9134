"""delta-presence: how sure an intruder can be that a person of the register is in the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.fields import OneQuasi, Probability
from tacit.plot.chart import Chart
from tacit.plot.families import columns
from tacit.records.register.matching import level_vectors, place_on_scales, sum_where_equal
from tacit.registry import register
from tacit.result import Result, shown
from tacit.spec import Companions, Measure, Role

TOLERANCE = 1e-9


@register
class DeltaPresence(Measure):
    r"""The probability, for each person of a register, of being in the release.

    An intruder who holds a register of the population looks up the released records. A released record t could be any of
    its F(t) candidates, the members of the register whose ground values generalise to it. The presence of a
    member u is

    .. math:: P(u \in T) = \sum_{t : u \mathrm{\ generalises\ to\ } t} 1 / F(t),

    at most 1. Where no two different released records share a candidate, as after full-domain generalisation, this is
    f / F: the released records of the member's class by the register's members in it. A release is
    (delta_min, delta_max)-present when every member's presence lies between the two. Members that no released record
    covers have presence 0, and delta_min above 0 makes that a violation. The register must hold everybody in the release.

    References
    ----------
    Nergiz, Atzori, Clifton (2007), Hiding the presence of individuals from shared databases, SIGMOD, 665-676.
    """

    kind: Literal["delta_presence"] = "delta_presence"
    delta_min: Probability = Field(
        default=0.0, description="the smallest presence that a member of the register may have"
    )
    delta_max: Probability = Field(
        default=0.5, description="the largest presence that a member of the register may have"
    )
    quasi: OneQuasi = None

    needs: ClassVar[frozenset[Role]] = frozenset({"keys"})
    needs_register: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    axis: ClassVar[str] = "share of the register that violates"

    @model_validator(mode="after")
    def _ordered(self) -> DeltaPresence:
        if self.delta_min > self.delta_max:
            raise ValueError("delta_min must be at most delta_max")
        return self

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> DeltaPresenceResult:
        keys = data.keys if self.quasi is None else data.quasi_identifiers(self.quasi)[self.quasi]
        found = count_presence(data, other.register, keys, ctx)
        high = found.presence > self.delta_max + TOLERANCE
        low = found.presence < self.delta_min - TOLERANCE
        members = int(found.n.sum())
        bad = int(found.n[high | low].sum())
        share = bad / members if members else 0.0
        title = "delta-presence against the register"
        # One row per presence that occurs: how many members of the register have it.
        levels, at = np.unique(np.round(found.presence, 12), return_inverse=True)
        counts = np.bincount(at.ravel(), weights=found.n, minlength=len(levels))
        return DeltaPresenceResult(
            kind=self.kind,
            title=title,
            value=share,
            records=found.records,
            register=members,
            smallest=float(found.presence.min(initial=1.0)) if members else 0.0,
            largest=float(found.presence.max(initial=0.0)),
            uncovered=int(found.n[found.presence == 0].sum()),
            above=int(found.n[high].sum()),
            below=int(found.n[low].sum()),
            unmatched=found.unmatched,
            frame=as_frame({"presence": levels, "members": counts.astype(np.int64)}),
            explanation=(
                "Presence is the probability that a person of the register is in the release, for an intruder who holds both. "
                "The value compared before and after is the share of the register outside the limits."
                + (
                    " Some released records match nobody: the register lacks people, and the true figures are lower."
                    if found.unmatched
                    else ""
                )
            ),
            shortfall=(
                f"{title}: {bad:,} of {members:,} members have a presence outside {self.delta_min:g} to {self.delta_max:g}"
                if bad and self.asked("delta_min", "delta_max")
                else ""
            ),
            presence=found,
            limits=(self.delta_min, self.delta_max),
        )


@dataclass(frozen=True, repr=False, kw_only=True)
class DeltaPresenceResult(Result):
    """Presence by cell of the register."""

    records: int = shown("records")
    register: int = shown("register")
    smallest: float = shown("smallest presence")
    largest: float = shown("largest presence")
    uncovered: int = shown("members that no record covers")
    above: int = shown("members above {limits[1]:g}")
    below: int = shown("members below {limits[0]:g}")
    unmatched: int = shown("records that match nobody")
    presence: Presence
    limits: tuple[float, float]

    def plot(self) -> Chart:
        """Return members of the register by presence."""
        rows = []
        for i in range(10):
            low, high = i / 10, (i + 1) / 10
            inside = (self.presence.presence > low) & (self.presence.presence <= high)
            if i == 0:
                inside |= self.presence.presence == 0
            outside = high <= self.limits[0] or low >= self.limits[1]
            rows.append((f"to {high:g}", int(self.presence.n[inside].sum()), outside))
        return columns(rows, title="Members of the register by presence", x="presence")


@dataclass(frozen=True)
class Presence:
    """The presence of the members of each cell of the register."""

    #: Members of each cell.
    n: Ints
    #: The probability that a member of the cell is in the release.
    presence: Floats
    #: Released records, and those among them that match nobody.
    records: int
    unmatched: int


def count_presence(
    data: Microdata, register: Microdata, keys: Sequence[str], ctx: Context
) -> Presence:
    """Sum 1 / F over the released records that cover each cell, level vector by level vector."""
    scales, live, members, n, numbers = place_on_scales(data, register, keys, ctx)
    rows = len(numbers)
    presence, matched = np.zeros(len(n)), 0
    for levels, here in level_vectors(scales, live, rows):
        ctx.tick("counting candidates")
        records = [scales[k].code[here] for k in levels]
        lifted = [scales[k].lift(level, members[k]) for k, level in levels.items()]
        candidates = sum_where_equal(records, lifted, n, len(here))
        found = candidates > 0
        matched += int(found.sum())
        sure = 1 / candidates[found]
        presence += sum_where_equal(lifted, [r[found] for r in records], sure, len(n))
    return Presence(n, np.minimum(presence, 1.0), rows, rows - matched)
