"""Targeted record swapping: households at risk exchange their geography with similar ones elsewhere."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import classes, read_numeric_column
from tacit.engine.codes import dense_ids
from tacit.errors import (
    DisclosureRefused,
    Infeasible,
    InputError,
    RoleMissing,
    SdcError,
    WeakProtection,
)
from tacit.fields import ColumnName, ColumnNames, NaturalInt, PositiveInt, Probability, Secret
from tacit.records.swapping.record_pairs import swap_partners
from tacit.records.swapping.swap_households import (
    Households,
    composition,
    constant,
    exchanged,
    homes_of,
)
from tacit.registry import register
from tacit.spec import Method
from tacit.treatment import OnHousehold


@register
class SwapRecords(Method):
    """Exchange the geography of households at risk with that of similar households elsewhere.

    The ``hierarchy`` names the geography from broad to fine (NUTS 1, NUTS 2, ...). On each level a record
    whose values of the ``risk_columns`` occur fewer than k times in its area is at risk, and its household
    must move across that level: from the top down it exchanges its whole geography with a household that
    lives in another area of the level and has the same size and make-up on the first ``similar`` profile,
    or else on the next one. On the lowest level further households are drawn until the ``swap_rate`` of
    each area has moved; what one area cannot do falls to the others. Households are drawn, and chosen as partners, with probabilities in proportion to
    their risk (one over the count). No household moves twice. Partners come from the same wider area
    where it has one, so that the tables of the wider areas change as little as need be.

    The number of households by area and by the columns that all profiles share (each household's numbers
    of members by their values) stays exactly the same, on every level; this is recomputed before the
    release. What must move and cannot is counted and warned of. A household that the first
    draw left without a partner gets one by undoing other exchanges wherever that is possible in
    its make-up.

    References
    ----------
    Shlomo, Tudor, Groom (2010), Data swapping for protecting census tables, PSD 2010, LNCS 6344, 41-51.
    Gussenbauer (2023), Targeted record swapping, documentation of sdcMicro 5.7 (its recordSwap, after the
    practice of the Office for National Statistics and Eurostat's census guidelines).
    """

    kind: Literal["swap_records"] = "swap_records"
    hierarchy: ColumnNames = Field(
        description="the columns of the geography that is exchanged, from broad to fine"
    )
    similar: tuple[tuple[ColumnName, ...], ...] = Field(
        default=((),),
        min_length=1,
        description="profiles: columns on which partners have the same numbers of members in each combination; a later profile is tried when an earlier one finds no partner",
    )
    swap_rate: Probability = Secret(
        0.05, description="share of the households of each lowest area that change places"
    )
    k: NaturalInt = Secret(
        3, description="a record whose combination occurs fewer times in an area is at risk there"
    )
    risk_columns: tuple[ColumnName, ...] | None = Field(
        default=None,
        description="the columns whose combinations are counted; by default the keys outside the hierarchy",
    )
    risk: tuple[ColumnName, ...] = Field(
        default=(),
        description="columns with a ready risk of each record, one a level of the hierarchy, instead of counts",
    )
    threshold: float = Secret(
        0.0, ge=0, description="risk from which a household must move, where risk columns are given"
    )
    carry_along: tuple[ColumnName, ...] = Field(
        default=(),
        description="further columns of the household's place that move with the hierarchy",
    )
    size_band: PositiveInt | None = Field(
        default=None,
        description="households of this size and larger count as equally large; by default sizes must be equal",
    )
    household: ColumnName | None = Field(
        default=None,
        description="the household of each record; by default the data's household column, and without one every record is its own",
    )

    on_household = "units"
    on_links = "carried"
    random: ClassVar[bool] = True
    moves_together: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("swap values",)
    example: ClassVar[Mapping[str, Any]] = {
        "hierarchy": ["zip"],
        "similar": [["sex"]],
        "risk_columns": ["sex", "age"],
        "k": 2,
        "swap_rate": 0.3,
    }

    @model_validator(mode="after")
    def _consistent(self) -> SwapRecords:
        moving = (*self.hierarchy, *self.carry_along)
        if len(set(moving)) < len(moving):
            raise ValueError("hierarchy and carry_along must name each column once")
        if any(set(moving) & set(profile) for profile in self.similar):
            raise ValueError("similar must not hold a column that is exchanged")
        if set(moving) & set(self.risk_columns or ()):
            raise ValueError("risk_columns must not hold a column that is exchanged")
        if self.risk and len(self.risk) != len(self.hierarchy):
            raise ValueError("risk needs one column for each level of the hierarchy")
        if self.risk and self.risk_columns is not None:
            raise ValueError("give risk or risk_columns, not both")
        return self

    def treats_household(self, data: Microdata) -> OnHousehold:
        """Return that the declared households are the units, unless others are named."""
        return "units" if self.household in (None, data.household) else "apart"

    def columns_named(self) -> tuple[str, ...]:
        """Return every column that the parameters name."""
        profiles = [c for profile in self.similar for c in profile]
        own = () if self.household is None else (self.household,)
        named = (*self.hierarchy, *profiles, *(self.risk_columns or ()), *self.risk)
        return tuple(dict.fromkeys((*named, *self.carry_along, *own)))

    def stated_share(self) -> float | None:
        """Return the share that is to change."""
        return self.swap_rate

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns exchanged."""
        del data
        return (*self.hierarchy, *self.carry_along)

    def counted(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns whose combinations are counted."""
        if self.risk_columns is not None:
            return self.risk_columns
        return tuple(c for c in data.keys if c not in self.hierarchy and c not in self.carry_along)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: nothing to count risk by, risks without numbers."""
        found = super().faults(data)
        if found:
            return found
        if not self.risk and self.k and not self.counted(data):
            found.append(
                RoleMissing(
                    "swap_records counts combinations of keys, and the data declare none. Name risk_columns, declare keys with tacit.read(..., keys=[...]), or give k=0."
                )
            )
        schema = data.frame.collect_schema()
        found.extend(
            InputError(f"swap_records: the risk column {c!r} does not hold numbers")
            for c in self.risk
            if not schema[c].is_numeric()
        )
        return found

    # -- the work ----------------------------------------------------------------------------

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        if not len(data):
            return data
        homes = homes_of(data, self.household)
        areas = self.areas(data, homes)
        constant(self.kind, classes(data, self.carry_along)[0], homes, "the columns of carry_along")
        if (areas[:, -1] == areas[0, -1]).all():
            raise Infeasible(
                "swap_records: all households live in one area, so that none can move. Name a finer geography."
            )
        make_ups = [self.make_up(data, homes, profile) for profile in self.similar]
        risk, must = self.risks(data, homes, areas)
        partner, profile, unmet = swap_partners(
            areas,
            make_ups,
            must,
            risk,
            self.swap_rate,
            ctx.rng,
            lambda share: ctx.tick("finding partners", share),
        )
        common = [c for c in self.similar[0] if all(c in other for other in self.similar)]
        check_partners(partner, areas, self.make_up(data, homes, common))
        self.report(partner, profile, unmet, areas, must, ctx)
        return exchanged(data, self.targets(data), homes, partner)

    def areas(self, data: Microdata, homes: Households) -> Ints:
        """Return the area of each household on each level; a finer area lies within one broader area."""
        levels = [classes(data, self.hierarchy[: i + 1])[0] for i in range(len(self.hierarchy))]
        return np.column_stack(
            [constant(self.kind, level, homes, "the columns of hierarchy") for level in levels]
        )

    def make_up(self, data: Microdata, homes: Households, columns: Any) -> Ints:
        """Return what partners must share on some columns."""
        largest = int(np.bincount(homes.of).max())
        band = largest if self.size_band is None else self.size_band
        return composition(homes, classes(data, columns)[0], band)

    def risks(self, data: Microdata, homes: Households, areas: Ints) -> tuple[Floats, Flags]:
        """Return the risk of each household on each level, and whether it must move across it."""
        levels = areas.shape[1]
        risk = np.ones((homes.n, levels))
        if self.risk:
            for level, name in enumerate(self.risk):
                risk[:, level] = highest(self.ready(data, name), homes)
            return risk, (risk >= self.threshold) & (risk > 0)
        if not self.k:
            return risk, np.zeros((homes.n, levels), dtype=bool)
        values, size = classes(data, self.counted(data))
        for level in range(levels):
            place = areas[:, level][homes.of]
            cell, cells = dense_ids([place, values], [int(place.max()) + 1, size])
            risk[:, level] = highest(1.0 / np.bincount(cell, minlength=cells)[cell], homes)
        # Counts are whole, so half a record apart is far from rounding.
        return risk, 1.0 / risk < self.k - 0.5

    def ready(self, data: Microdata, name: str) -> Floats:
        """Return a column of ready risks."""
        column = read_numeric_column(data, name)
        values = column.values.astype(np.float64)
        if not column.known.all() or not np.isfinite(values).all() or (values < 0).any():
            raise InputError(
                f"swap_records: the risk column {name!r} must be complete, finite and without negative numbers"
            )
        return values

    def report(
        self, partner: Ints, profile: Ints, unmet: int, areas: Ints, must: Flags, ctx: Context
    ) -> None:
        """Note what was swapped, and warn of households that could not be swapped as asked."""
        n = len(partner)
        moved = partner != np.arange(n)
        crossed = areas[partner] != areas
        left = must & ~crossed
        ctx.note(
            households=n,
            swapped=int(moved.sum()),
            by_area={
                name: {
                    "at risk": int(must[:, i].sum()),
                    "at risk and not moved across": int(left[:, i].sum()),
                    "moved across": int(crossed[:, i].sum()),
                }
                for i, name in enumerate(self.hierarchy)
            },
            by_profile=[int((profile[moved] == p).sum()) for p in range(len(self.similar))],
        )
        if left.any():
            share = left.any(axis=1).sum() / must.any(axis=1).sum()
            warnings.warn(
                f"swap_records: {share:.1%} of the households at risk have no similar partner across the level on which they are at risk, and did not cross it; add a coarser profile to similar, or protect them otherwise",
                WeakProtection,
                stacklevel=4,
            )
        if unmet:
            warnings.warn(
                "swap_records: fewer households than asked have a similar partner in another area; add a coarser profile to similar",
                WeakProtection,
                stacklevel=4,
            )


def highest(values: Floats, homes: Households) -> Floats:
    """Return the highest value among the members of each household."""
    out = np.full(homes.n, -np.inf)
    np.maximum.at(out, homes.of, values)
    return out


def check_partners(partner: Ints, areas: Ints, make_up: Ints) -> None:
    """Refuse exchanges that are not mutual, lead nowhere, or change how many of a make-up live in an area."""
    everyone = np.arange(len(partner))
    apart = areas[:, -1] != areas[partner, -1]
    good = np.array_equal(partner[partner], everyone) and bool(
        (apart | (partner == everyone)).all()
    )
    for level in areas.T:
        cell = level * (int(make_up.max()) + 1) + make_up
        new = level[partner] * (int(make_up.max()) + 1) + make_up
        good = good and np.array_equal(np.sort(cell), np.sort(new))
    if not good:
        raise DisclosureRefused("swap_records: the swap broke its own rules; nothing was released")
