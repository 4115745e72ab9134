"""Rank swapping: values exchange places with values of nearby rank."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.block import Missing, list_maskable_columns
from tacit.data.in_blocks import constant_in_households, units_in_memory
from tacit.data.microdata import Microdata
from tacit.data.values import Numbers, as_numbers, target_faults
from tacit.errors import DisclosureRefused, InputError, SdcError, WeakProtection
from tacit.fields import ColumnName, ColumnNames, Secret
from tacit.numerics.kernels import Kernels
from tacit.registry import register
from tacit.spec import Method
from tacit.stats.ranks import rank, restore_record_order
from tacit.treatment import OnLinks

Percent = Annotated[float, Field(gt=0, le=100)]
Tail = Annotated[float, Field(ge=0, lt=50)]

#: Ties leave less than this share of the variance of ranks: the partners within them are arbitrary.
MANY_TIES = 0.9


@register
class RankSwap(Method):
    """Exchange each value of a column with one whose rank is at most p percent away.

    Each column is sorted by itself; rank i, unless it was exchanged before, picks a partner uniformly
    among the ranks not yet exchanged in

        i < j <= i + d,    d = max(1, floor(p n / 100)),

    and the two records exchange their values. A rank that finds no partner keeps its value. Equal values
    are ranked in random order. Every value is exchanged at most once, no value moves by more than d
    ranks, and the values of a column stay the same ones, so that all univariate statistics stay exact.
    Relations to other columns weaken with p. ``top`` and ``bottom`` replace the extreme values by their
    mean first (which keeps the column's mean), as the rank swap of sdcMicro does. A column that is constant in
    declared households is swapped between households.

    Drawing partners from both sides, or more than once, gives other correlations than the published
    ones. Table 4 of Muralidhar et al. (re-identification by swapping at 10 and 50 percent) is far above
    what any linkage can reach with such windows; and risk falls, not rises, with the swapping distance.

    References
    ----------
    Moore (1996), Controlled data-swapping techniques for masking public use microdata sets, US Bureau of
    the Census, Statistical Research Division Report RR96/04.
    Muralidhar, Sarathy, Dandekar (2006), Why swap when you can shuffle? A comparison of the proximity
    swap and data shuffle for numeric data, PSD 2006, LNCS 4302, 164-176.
    """

    kind: Literal["rank_swap"] = "rank_swap"
    columns: ColumnNames | None = Field(
        default=None,
        description="the numeric columns that are swapped, each by itself; by default those that percent names, else all that are neither identifiers nor weight, household or stratum",
    )
    percent: Percent | Mapping[ColumnName, Percent] = Secret(
        15.0,
        description="largest distance of exchanged ranks in percent of the records: one number, or one by column",
    )
    top: Tail = Field(
        default=0.0,
        description="percent of the largest values that are replaced by their mean and not swapped",
    )
    bottom: Tail = Field(
        default=0.0,
        description="percent of the smallest values that are replaced by their mean and not swapped",
    )
    missing: Missing = Field(
        default="refuse",
        description="refuse columns with missing values, or keep them missing and swap the rest",
    )
    reveal: bool = Field(
        default=False,
        description="state percent publicly; it tells users how far values moved, and intruders where to look",
    )

    on_household = "together"
    on_links = "carried"
    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("swap values",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"], "percent": 30}

    @model_validator(mode="after")
    def _consistent(self) -> RankSwap:
        if self.columns is not None and len(set(self.columns)) < len(self.columns):
            raise ValueError("columns must name each column once")
        if isinstance(self.percent, Mapping):
            if not self.percent:
                raise ValueError("percent must name at least one column")
            if self.columns is not None and set(self.columns) != set(self.percent):
                raise ValueError("percent must name the same columns as columns does")
        return self

    def to_dict(self, *, public: bool = False) -> dict[str, Any]:
        """Return the parameters; the public ones hold percent when it is revealed."""
        found = super().to_dict(public=public)
        if public and self.reveal:
            percent = self.percent
            found["percent"] = dict(percent) if isinstance(percent, Mapping) else percent
        return found

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns swapped, where they are named."""
        return self.columns or (tuple(self.percent) if isinstance(self.percent, Mapping) else ())

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: nothing to swap, columns without numbers."""
        lack = "the data have no numeric column to swap; name columns"
        return super().faults(data) or [*target_faults(data, self.targets(data), self.kind, lack)]

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns swapped."""
        return self.columns_named() or list_maskable_columns(data)

    def treats_links(self, data: Microdata) -> OnLinks:
        """Return that linked columns follow, unless means stand in the tails."""
        del data
        return "warned" if self.top or self.bottom else "carried"

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        names = self.targets(data)
        read = data.to_arrow(names)
        new, moves = {}, {}
        shared = constant_in_households(data, names)
        for i, name in enumerate(names):
            ctx.tick(f"swapping {name}", i / len(names))
            values, unit = read.column(name), None
            if name in shared:
                first, unit = units_in_memory(data)
                values = values.take(pa.array(first))
            column = as_numbers(values, name)
            self.usable(name, column)
            swapped, moves[name] = self.swap_column(name, column, ctx.rng)
            new[name] = swapped if unit is None else swapped.take(pa.array(unit))
        ctx.note(columns=list(names), rank_shift=moves)
        if shared:
            ctx.note(by_household=list(shared))
        return data.replace(new)

    def usable(self, name: str, column: Numbers) -> None:
        """Refuse missing values when told so, and infinite ones."""
        if not column.known.all() and self.missing == "refuse":
            raise InputError(
                f"rank_swap: {name!r} has missing values. Impute them first, or give missing='keep'."
            )
        if not column.whole and not np.isfinite(column.values).all():
            raise InputError(f"rank_swap: {name!r} holds infinite numbers. Clean or leave it out.")

    def swap_column(
        self, name: str, column: Numbers, rng: np.random.Generator
    ) -> tuple[pa.Array, dict[str, float]]:
        """Return one released column, and how far its ranks moved."""
        everyone = bool(column.known.all())
        x = column.values if everyone else column.values[column.known]
        if len(x) == 0:
            return column.restore(column.values), {"largest": 0, "mean": 0.0}
        ranking = rank(x, rng)
        n = len(x)
        low, high = int(n * self.bottom / 100), n - int(n * self.top / 100)
        if ranking.middle[0] == ranking.middle[-1]:
            raise InputError(f"rank_swap: {name!r} is constant, so there is nothing to swap")
        if ranking.kept < MANY_TIES:
            warnings.warn(
                f"rank_swap: {name!r} has many equal values; a swap between equals changes nothing, so it protects less than the window suggests",
                WeakProtection,
                stacklevel=4,
            )
        window = self.window(name, high - low)
        partner = np.arange(n)
        partner[low:high] = low + rank_partners(high - low, window, rng)
        ascending = x[ranking.order]
        released = restore_record_order(ranking.order, ascending[partner])
        check_swapped(released, ascending, partner, ranking.order, window)
        shift = np.abs(partner - np.arange(n))
        moved = {"largest": int(shift.max()), "mean": float(shift.mean())}
        if low or high < n:
            released = released.astype(np.float64)
            for tail in (ranking.order[:low], ranking.order[high:]):
                if len(tail):
                    released[tail] = released[tail].mean()
        if everyone:
            return column.restore(released), moved
        whole = column.values.astype(released.dtype)
        whole[column.known] = released
        return column.restore(whole), moved

    def window(self, name: str, n: int) -> int:
        """Return how many ranks a value of a column may move."""
        percent = self.percent[name] if isinstance(self.percent, Mapping) else self.percent
        return max(1, int(np.floor(percent * n / 100.0 + 1e-9)))


def check_swapped(
    released: npt.NDArray[Any],
    ascending: npt.NDArray[Any],
    partner: Ints,
    order: Ints,
    window: int,
) -> None:
    """Refuse a swap that lost a value, exchanged one twice, or moved one too far."""
    places = np.arange(len(partner))
    value = released[order]
    kept = (
        np.array_equal(partner[partner], places)
        and np.array_equal(np.sort(released), ascending)
        and bool((value >= ascending[np.maximum(places - window, 0)]).all())
        and bool((value <= ascending[np.minimum(places + window, len(places) - 1)]).all())
    )
    if not kept:
        raise DisclosureRefused("rank_swap: the swap broke its own rules; nothing was released")


def rank_partners(n: int, window: int, rng: np.random.Generator) -> Ints:
    """Return the partner of each rank 0 .. n-1; a rank without one is its own.

    Ranks are taken in ascending order; one that has not been exchanged picks uniformly among those not
    exchanged of the next ``window`` ranks (Moore 1996). A rank that finds none keeps its value.
    """
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    pair = KERNELS.pick(1.5 * n)["pair_up"]
    return np.asarray(pair(n, window, rng.random(n)))


def pair_up(n: int, window: int, uniform: Floats) -> Ints:
    """Pair ranks: the free ones of the window lie in a pool in any order, so that a pick costs O(1)."""
    partner = np.arange(n)
    pool = np.empty(min(window + 1, n), dtype=np.int32)
    seat = np.full(n, -1, dtype=np.int32)
    filled = 0
    entering = 0
    for i in range(n):
        while entering < n and entering <= i + window:
            pool[filled] = entering
            seat[entering] = filled
            filled += 1
            entering += 1
        if seat[i] < 0:
            continue
        filled -= 1
        last = pool[filled]
        pool[seat[i]] = last
        seat[last] = seat[i]
        if filled == 0:
            continue
        j = pool[int(uniform[i] * filled)]
        filled -= 1
        last = pool[filled]
        pool[seat[j]] = last
        seat[last] = seat[j]
        seat[j] = -1
        partner[i] = j
        partner[j] = i
    return partner


KERNELS = Kernels(globals(), pair_up)
