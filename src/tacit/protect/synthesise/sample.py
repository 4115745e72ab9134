"""Sampling: only a random part of the records is released."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import Ints, classes, numbers
from tacit.errors import InputError, SdcError
from tacit.fields import ColumnName, PositiveInt
from tacit.protect.swap.swap import rank_in_group
from tacit.registry import register
from tacit.spec import Method


@register
class Sample(Method):
    """Release a random sample of the records, drawn without replacement.

    ``n`` records, or a ``share``, are drawn; with ``within`` each class of those columns is a stratum and
    is drawn from in proportion to its size, at least once. A weight, if declared, is multiplied by the
    inverse sampling fraction N_h / n_h, so that weighted totals still estimate the same population.

    References
    ----------
    Cochran (1977), Sampling Techniques, 3rd edition, Wiley, chapter 5.
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, section 4.1, Figure 14.
    """

    kind: Literal["sample"] = "sample"
    n: PositiveInt | None = Field(None, description="number of records to release; or give share")
    share: float | None = Field(None, gt=0, le=1, description="share of the records to release")
    within: tuple[ColumnName, ...] = Field((), description="columns whose classes are the strata")

    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("sampling",)
    example: ClassVar[Mapping[str, Any]] = {"share": 0.5}

    @model_validator(mode="after")
    def _one_size(self) -> Sample:
        if (self.n is None) == (self.share is None):
            raise ValueError("give either n or share")
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns of the strata."""
        return self.within

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: more records asked for than there are."""
        found = super().faults(data)
        if self.n is not None and self.n > len(data) > 0:
            found.append(InputError(f"sample: n = {self.n} is more than there are records"))
        return found

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        groups, n_groups = classes(data, self.within)
        sizes = np.bincount(groups, minlength=n_groups).astype(np.int64)
        wanted = (
            by_share(sizes, self.share) if self.share is not None else by_number(sizes, self.n or 0)
        )
        chosen = draw(groups, wanted, ctx.rng)
        result = data.take(chosen)
        if data.weight is not None:
            old = numbers(data, data.weight).values.astype(np.float64)
            factor = sizes / np.maximum(wanted, 1)
            result = result.replace({data.weight: (old * factor[groups])[chosen]})
        ctx.note(
            n=len(chosen),
            strata=n_groups,
            weight="multiplied by the inverse sampling fraction"
            if data.weight
            else "none declared: estimates of totals need the inverse sampling fraction",
        )
        return result


def by_share(sizes: Ints, share: float) -> Ints:
    """Return how many records to draw from each stratum: the share, rounded, at least one."""
    return np.minimum(sizes, np.maximum(1, np.floor(share * sizes + 0.5))).astype(np.int64)


def by_number(sizes: Ints, n: int) -> Ints:
    """Return how many records to draw from each stratum: n in all, in proportion, at least one each."""
    n = min(n, int(sizes.sum()))
    filled = int(np.count_nonzero(sizes))
    if n < filled:
        raise InputError(
            f"sample: n = {n} is less than one record a stratum. Ask for more records, or for coarser strata."
        )
    exact = n * sizes / max(int(sizes.sum()), 1)
    wanted = np.maximum(np.floor(exact), np.minimum(sizes, 1)).astype(np.int64)
    # Largest remainders get what is left; where the one-each rule took too much, it is given back.
    while gap := n - int(wanted.sum()):
        able = np.flatnonzero(wanted < sizes if gap > 0 else wanted > 1)
        order = able[np.argsort(-np.sign(gap) * (exact - wanted)[able], kind="stable")]
        wanted[order[: abs(gap)]] += np.sign(gap)
    return wanted


def draw(groups: Ints, wanted: Ints, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return the positions drawn, ascending."""
    order = np.lexsort((rng.random(len(groups)), groups)).astype(np.int64)
    ordered = groups[order]
    return np.sort(order[rank_in_group(ordered) < wanted[ordered]])
