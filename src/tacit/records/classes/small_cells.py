"""Risk of small cells: how many rare combinations are released as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.engine.base import ROW
from tacit.engine.codes import dense_ids, encode
from tacit.errors import RoleMissing, SdcError
from tacit.fields import ColumnName, PositiveInt
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure
from tacit.stats.small_cells import correct_matches, sample_risk, small_cell_risk


@register
class SmallCells(Measure):
    r"""How many small cells of the original are released with their true count.

    Records are counted by ``columns`` (by default all keys). The risk is the share of the original's
    small cells whose count is the same in the release: the probability that a small count is true. With
    a population register, whose cells have F members, the risk of the f released sample uniques is added:

    .. math:: \tau_1 = \sum I(F=1, f=1), \qquad \tau_2 = \sum I(f=1)/F.

    Where released records can be followed to the original, so is the share that an intruder who links
    on the columns would link correctly.

    References
    ----------
    Shlomo, Young (2006), Statistical disclosure control methods through a risk-utility framework,
    PSD 2006, LNCS 4302, section 3.
    """

    kind: Literal["small_cells"] = "small_cells"
    columns: tuple[ColumnName, ...] = Field(
        default=(), description="the variables that span the table; by default all keys"
    )
    small: tuple[PositiveInt, ...] = Field(default=(1, 2), description="the counts that are small")

    compares: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    example: ClassVar[Mapping[str, Any]] = {"columns": ["sex", "zip"]}

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: no columns to span the table."""
        found = super().faults(data)
        if not self.columns and not data.keys:
            found.append(
                RoleMissing(
                    "small_cells: name columns, or declare keys with tacit.read(..., keys=[...])"
                )
            )
        return found

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> SmallCellsResult:
        columns = self.columns or data.keys
        sources = [other.original, data]
        if other.has_register and all(c in other.register.columns for c in columns):
            sources.append(other.register)
        ctx.tick("counting combinations")
        counts = count_combinations(sources, columns)
        risk = small_cell_risk(counts[0], counts[1], self.small)
        numbers: dict[str, Any] = {
            "small cells in the original": risk.changed + risk.unchanged,
            "changed": risk.changed,
            "not changed": risk.unchanged,
            "not changed, %": risk.percent_unchanged,
        }
        tau1 = tau2 = None
        if len(counts) > 2:
            found = sample_risk(counts[1], counts[2])
            tau1, tau2 = found.tau1, found.tau2
            numbers |= {
                "sample uniques that are population uniques (tau1)": tau1,
                "expected correct matches of sample uniques (tau2)": tau2,
            }
        linked = linkage(other.original, data, columns)
        if linked is not None:
            numbers["records linked correctly, expected share"] = linked
        return SmallCellsResult(
            kind=self.kind,
            title=f"Small cells in the table {' x '.join(columns)}",
            value=risk.percent_unchanged / 100,
            numbers=numbers,
            explanation=(
                "A small count identifies whoever knows that person to be in it. The share not changed is the "
                "probability that a small count in the release is the true one."
            ),
            tau1=tau1,
            tau2=tau2,
        )


@dataclass(frozen=True, repr=False)
class SmallCellsResult(Result):
    """The risk of small cells; ``tau1`` and ``tau2`` where a register was given."""

    tau1: int | None = None
    tau2: float | None = None


def count_combinations(sources: Sequence[Microdata], columns: Sequence[str]) -> Floats:
    """Return sources x combinations: the records of each combination that occurs in any source."""
    cells = [d.cells(columns) for d in sources]
    own, n = joint_ids([[c.keys[name].decode() for name in columns] for c in cells])
    return np.stack([np.bincount(i, c.n, minlength=n) for i, c in zip(own, cells, strict=True)])


def joint_ids(sources: Sequence[Sequence[pa.Array]]) -> tuple[list[Ints], int]:
    """Return which combination of texts, numbered over all sources, each row of each has, and how many there are."""
    coded = [
        encode(pa.concat_arrays([part.cast(pa.string()) for part in parts]))
        for parts in zip(*sources, strict=True)
    ]
    ids, n = dense_ids([c.codes for c in coded], [c.size for c in coded])
    return np.split(ids, np.cumsum([len(source[0]) for source in sources])[:-1]), n


def linkage(original: Microdata, released: Microdata, columns: tuple[str, ...]) -> float | None:
    """Return the share of released records linked correctly; None when they cannot be followed."""
    old, new = (d.to_arrow(columns, with_row=True) for d in (original, released))
    before, after = (t.column(ROW).to_numpy() for t in (old, new))
    place = np.searchsorted(before, after)
    if not len(after) or place.max() >= len(before) or np.any(before[place] != after):
        return None
    tables = [[t.column(c).combine_chunks() for c in columns] for t in (old, new)]
    (cells, theirs), _ = joint_ids(tables)
    return correct_matches(cells, theirs, cells[place])
