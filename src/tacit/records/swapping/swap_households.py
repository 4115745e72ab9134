"""Record swapping: households of the same make-up exchange their places."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator
from scipy.spatial import cKDTree

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import classes, household_faults, not_numeric, read_numeric_column
from tacit.engine.codes import dense_ids, densify
from tacit.errors import (
    DisclosureRefused,
    Infeasible,
    InputError,
    RoleMissing,
    SdcError,
    WeakProtection,
)
from tacit.fields import ColumnName, ColumnNames, HouseholdColumn, PositiveInt, Probability, Secret
from tacit.numerics.algebra import norm
from tacit.registry import register
from tacit.spec import Method
from tacit.stats.ranks import rank_within
from tacit.treatment import OnHousehold


@register
class SwapHouseholds(Method):
    """Exchange the geography of households of the same size and make-up within broad areas.

    Within each broad area (``within``) a ``share`` of the households is drawn; each is paired with a
    household of the same match key, that is the size (banded from ``size_band`` on) and the number of members
    by the ``match`` columns together, and both exchange the ``columns`` of all members. Partners come
    from different places wherever the group has them; of several, those nearest on the household means of the ``near``
    columns, each in units of its standard deviation. With ``targeted`` the households with a member in
    a small class on the keys are drawn first.

    Every table that does not involve the exchanged columns is unchanged, and so is every count of
    households by match key and place within a broad area.

    References
    ----------
    Shlomo, Young (2006), Statistical disclosure control methods through a risk-utility framework,
    PSD 2006, LNCS 4302, section 4.
    Dalenius, Reiss (1982), Data-swapping: a technique for disclosure control, JSPI 6, 73-85.
    """

    kind: Literal["swap_households"] = "swap_households"
    columns: ColumnNames = Field(description="the geography that is exchanged, all of it together")
    within: tuple[ColumnName, ...] = Field(
        default=(), description="the broad areas inside which households exchange places"
    )
    along: tuple[ColumnName, ...] = Field(
        default=(),
        description="what belongs to a place and moves with it, such as finer geography or pseudo-strata; it does not count when partners are looked for in another place",
    )
    match: tuple[ColumnName, ...] = Field(
        default=(),
        description="columns on which partners have the same make-up: equal numbers of members in each combination",
    )
    near: tuple[ColumnName, ...] = Field(
        default=(),
        description="columns of numbers on which partners of equal make-up should differ little, such as income",
    )
    share: Probability = Secret(0.1, description="share of the households that change places")
    size_band: PositiveInt = Field(
        default=8, description="households of this size and larger count as equally large"
    )
    targeted: bool = Field(
        default=False,
        description="draw households with a member in a small class on the keys first",
    )
    small: PositiveInt = Secret(2, description="largest class size that counts as small")
    household: HouseholdColumn = None

    on_household = "units"
    on_stratum = "by"
    on_links = "carried"
    random: ClassVar[bool] = True
    moves_together: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("swap values",)
    example: ClassVar[Mapping[str, Any]] = {
        "columns": ["zip"],
        "household": "id",
        "match": ["sex"],
        "share": 0.5,
    }

    @model_validator(mode="after")
    def _consistent(self) -> SwapHouseholds:
        if set(self.moved) & {*self.within, *self.match, *self.near}:
            raise ValueError("within, match and near must not hold a column that is exchanged")
        if set(self.columns) & set(self.along):
            raise ValueError("along must not hold a column that is exchanged already")
        return self

    @property
    def moved(self) -> tuple[str, ...]:
        """Return all columns whose values are exchanged."""
        return (*self.columns, *self.along)

    def stated_share(self) -> float | None:
        """Return the share that is to change."""
        return self.share

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns that are exchanged."""
        del data
        return self.moved

    def treats_household(self, data: Microdata) -> OnHousehold:
        """Return that the declared households are the units, unless others are named."""
        return "units" if self.household in (None, data.household) else "apart"

    def columns_named(self) -> tuple[str, ...]:
        """Return every column that the parameters name."""
        own = () if self.household is None else (self.household,)
        return (*self.moved, *self.within, *self.match, *self.near, *own)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: no households, no keys to target by, nearness on what is no number."""
        found = [*super().faults(data), *not_numeric(data, self.near, self.kind)]
        found += household_faults(self, data)
        if self.targeted and not data.keys:
            found.append(
                RoleMissing(
                    "swap_households: targeted swapping looks for small classes on the keys, and the "
                    "data declare none. Declare them with tacit.read(..., keys=[...])."
                )
            )
        return found

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        ctx.note(
            columns=list(self.columns),
            within=list(self.within),
            match=list(self.match),
            **({"along": list(self.along)} if self.along else {}),
            **({"near": list(self.near)} if self.near else {}),
            targeted=self.targeted,
        )
        homes = homes_of(data, self.household)
        if not homes.n:
            return data
        place = constant(self.kind, classes(data, self.columns)[0], homes, "columns")
        broad = constant(self.kind, classes(data, self.within)[0], homes, "within")
        make_up = composition(homes, classes(data, self.match)[0], self.size_band)
        group, _ = dense_ids([broad, make_up], [int(broad.max()) + 1, int(make_up.max()) + 1])
        constant(self.kind, classes(data, self.along)[0], homes, "along")
        near = self.household_means(data, homes)
        ctx.tick("pairing households")
        partner = partners(group, place, self.share, self.risky(data, homes), ctx.rng, near)
        check_exchange(partner, group, place)
        wanted = int(self.share * homes.n) // 2 * 2
        if np.array_equal(partner, np.arange(homes.n)):
            raise DisclosureRefused(
                "swap_households can swap nothing: "
                + (
                    "no household has a partner of the same make-up elsewhere in its broad area; match on less, or widen the areas"
                    if wanted
                    else "the share is less than two households; raise it"
                )
            )
        if (partner != np.arange(homes.n)).sum() < wanted:
            warnings.warn(
                "swap_households: fewer households than asked have a partner of the same make-up elsewhere "
                "in their broad area; match on less, or widen the areas",
                WeakProtection,
                stacklevel=4,
            )
        return exchanged(data, self.moved, homes, partner)

    def household_means(self, data: Microdata, homes: Households) -> Floats:
        """Return the mean of each column of ``near`` by household, standardised; one that is not known counts as average."""
        found = np.zeros((homes.n, len(self.near)))
        for j, column in enumerate(self.near):
            held = read_numeric_column(data, column)
            known = held.known & np.isfinite(
                np.where(held.known, held.values, 0).astype(np.float64)
            )
            values = np.where(known, held.values, 0).astype(np.float64)
            n = np.bincount(homes.of, known, minlength=homes.n)
            mean = np.bincount(homes.of, values, minlength=homes.n) / np.maximum(n, 1)
            scale = float(mean[n > 0].std()) if (n > 0).any() else 0.0
            if scale > 0:
                found[:, j] = np.where(n > 0, (mean - mean[n > 0].mean()) / scale, 0)
        return found

    def risky(self, data: Microdata, homes: Households) -> Flags:
        """Return which households have a member in a small class on the keys."""
        if not self.targeted:
            return np.zeros(homes.n, dtype=bool)
        cell, n = classes(data, data.keys)
        small = np.bincount(cell, minlength=n)[cell] <= self.small
        return np.bincount(homes.of, small, minlength=homes.n) > 0


@dataclass(frozen=True)
class Households:
    """Which household each record belongs to, 0 .. n-1, and the first record of each."""

    of: Ints
    first: Ints

    @property
    def n(self) -> int:
        """Return the number of households."""
        return len(self.first)


def homes_of(data: Microdata, column: str | None) -> Households:
    """Return the households, by default the declared ones; without any, every record is one."""
    column = column or data.household
    if column is None:
        return Households(np.arange(len(data)), np.arange(len(data)))
    return households(classes(data, [column])[0], data.column(column).is_null().to_numpy())


def constant(kind: str, codes: Ints, homes: Households, what: str) -> Ints:
    """Return the value of each household, or say that its members differ."""
    values = codes[homes.first]
    if np.any(codes != values[homes.of]):
        raise InputError(
            f"{kind}: members of one household differ in {what}; households that live in one place are needed"
        )
    return values


def exchanged(
    data: Microdata, columns: Sequence[str], homes: Households, partner: Ints
) -> Microdata:
    """Return the data in which each household has its partner's values of some columns."""
    moves = (partner != np.arange(homes.n))[homes.of]
    source = pa.array(np.where(moves, homes.first[partner[homes.of]], np.arange(len(homes.of))))
    table = data.to_arrow(columns)
    return data.replace({c: table.column(c).take(source) for c in columns})


def households(codes: Ints, alone: Flags) -> Households:
    """Return households from coded identifiers; a record without one is a household of its own."""
    top = int(codes.max(initial=0)) + 1
    own, n = densify(np.where(alone, top + np.arange(len(codes)), codes))
    first = np.zeros(n, dtype=np.int64)
    first[own[::-1]] = np.arange(len(own))[::-1]
    return Households(own, first)


def composition(homes: Households, kinds: Ints, size_band: int) -> Ints:
    """Return a number per household, equal exactly for equal sizes and equal numbers of each kind.

    Sizes and numbers from ``size_band`` on count as equal. The sorted list of (kind, number) pairs of
    a household is hashed pair by pair, so households that differ never get the same number.
    """
    size = np.minimum(np.bincount(homes.of, minlength=homes.n), size_band)
    result = size.astype(np.int64)
    n_kinds = int(kinds.max(initial=0)) + 1
    pairs, counts = np.unique(homes.of * n_kinds + kinds, return_counts=True)
    home = pairs // n_kinds
    item, n_items = densify((pairs % n_kinds) * (size_band + 1) + np.minimum(counts, size_band))
    starts = np.flatnonzero(np.r_[True, home[1:] != home[:-1]])
    lengths = np.diff(np.r_[starts, len(home)])
    left, fresh = np.arange(homes.n), size_band + 1
    for step in range(int(lengths.max(initial=0))):
        # A household whose list is longer gets a new number, which no shorter one has.
        left = left[lengths[left] > step]
        longer, n = densify(result[left] * n_items + item[starts[left] + step])
        result[left] = fresh + longer
        fresh += n
    return densify(result)[0]


#: How often households that found no partner in another place make room for others.
ROUNDS = 12
#: Nearest households that each looks at in the first round (twice as many in the next), in all, and how often they ask.
SEEN, MOST_SEEN, ASKED = 16, 20_000_000, 50


def partners(
    group: Ints,
    place: Ints,
    share: float,
    risky: Flags,
    rng: np.random.Generator,
    near: Floats | None = None,
) -> Ints:
    """Return with whom each household exchanges its place; itself when it stays.

    Households are drawn and paired; where a drawn one has no partner in another place, others are
    drawn in its stead, until the share is reached or no group has households in two places left.
    """
    n = len(group)
    result = np.arange(n)
    wanted = int(np.floor(share * n / 2 + 0.5))
    for i in range(ROUNDS):
        free = np.flatnonzero(result == np.arange(n))
        short = wanted - (n - len(free)) // 2
        free = free[has_two_places(group[free], place[free])]
        if short < 1 or not len(free):
            break
        if near is None or not near.shape[1]:
            first, second = pairs(group[free], place[free], short, risky[free], rng)
        else:
            at = near[free], SEEN << i
            first, second = near_pairs(group[free], place[free], short, risky[free], rng, *at)
        result[free[first]], result[free[second]] = free[second], free[first]
    return result


def check_exchange(partner: Ints, group: Ints, place: Ints) -> None:
    """Make sure of what swapping promises: pairs, of equal make-up, from different places, and every count unchanged."""
    n = len(partner)
    moves = partner != np.arange(n)
    key = group * (int(place.max(initial=0)) + 1)
    kept = (
        bool((partner[partner] == np.arange(n)).all())
        and bool((group[partner] == group).all())
        and bool((place[partner] != place)[moves].all())
        and np.array_equal(np.sort(key + place), np.sort(key + place[partner]))
    )
    if not kept:
        raise Infeasible(
            "swap_households: the exchange would not keep the number of households by place and make-up. Nothing was changed."
        )


def has_two_places(group: Ints, place: Ints) -> Flags:
    """Return which households belong to a group that lives in more than one place."""
    if not len(group):
        return np.zeros(0, dtype=bool)
    low = np.full(int(group.max()) + 1, np.iinfo(np.int64).max)
    high = np.full(len(low), -1)
    np.minimum.at(low, group, place)
    np.maximum.at(high, group, place)
    return (low < high)[group]


def pairs(
    group: Ints, place: Ints, wanted: int, risky: Flags, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Return at most about ``wanted`` pairs of households of one group and different places.

    As many households as pairs are drawn, risky ones first; each group then moves twice as many as
    were drawn in it. Its movers are put in order of place, and each of the first half is paired with the
    one half-way on, which is in another place unless one place has more than half of the movers.
    """
    n = len(group)
    priority = np.lexsort((rng.random(n), ~risky))
    drawn = np.zeros(n, dtype=bool)
    drawn[priority[:wanted]] = True
    rank = np.empty(n, dtype=np.int64)
    rank[priority] = np.arange(n)
    size = np.bincount(group)
    moving = np.minimum(2 * np.bincount(group, drawn).astype(np.int64), size // 2 * 2)
    order = np.lexsort((rank, group))
    movers = order[rank_within(group[order]) < moving[group[order]]]
    shuffled = rng.permutation(int(place.max()) + 1)[place]
    movers = movers[np.lexsort((rng.random(len(movers)), shuffled[movers], group[movers]))]
    seat, half = rank_within(group[movers]), moving[group[movers]] // 2
    ahead = np.flatnonzero(seat < half)
    first, second = movers[ahead], movers[ahead + half[ahead]]
    apart = place[first] != place[second]
    return first[apart], second[apart]


def near_pairs(
    group: Ints,
    place: Ints,
    wanted: int,
    risky: Flags,
    rng: np.random.Generator,
    near: Floats,
    seen: int,
) -> tuple[Ints, Ints]:
    """Return at most ``wanted`` pairs of households of one group and different places that differ little.

    Each household drawn, risky ones first, looks at the ``seen`` nearest of its group and takes the first that is
    in another place and free. Those that find none look further in the next round.
    """
    n = len(group)
    drawn = np.lexsort((rng.random(n), ~risky))[:wanted]
    # Groups lie farther apart than any two households of one; equal ones are looked at in random order.
    points = near + rng.random(near.shape) * 1e-9
    apart = 2 * float(norm(np.ptp(points, axis=0))) + 1
    points = np.column_stack([points, group * apart])
    k = max(2, min(seen, n, MOST_SEEN // max(len(drawn), 1)))
    others = cKDTree(points).query(points[drawn], k=k)[1]
    fit = others < n
    others = np.where(fit, others, 0)
    fit &= (group[others] == group[drawn][:, None]) & (place[others] != place[drawn][:, None])
    used = np.zeros(n, dtype=bool)
    found: list[Ints] = []
    for _ in range(ASKED):
        free = fit & ~used[others] & ~used[drawn][:, None]
        asking = np.flatnonzero(free.any(axis=1))
        if not len(asking):
            break
        ends = np.column_stack([drawn[asking], others[asking, free[asking].argmax(axis=1)]])
        # A pair stands when neither end is in an earlier one.
        _, first, of = np.unique(ends.ravel(), return_index=True, return_inverse=True)
        stands = (first[of.ravel()] // 2).reshape(-1, 2) == np.arange(len(ends))[:, None]
        ends = ends[stands.all(axis=1)]
        used[ends] = True
        found.append(ends)
    made = np.concatenate(found) if found else np.zeros((0, 2), dtype=np.int64)
    return made[:, 0], made[:, 1]
