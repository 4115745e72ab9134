"""Additional tuples: made-up records among the real ones."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import Numbers, as_numbers, not_numeric, unused_row_number
from tacit.engine.base import ROW
from tacit.errors import Infeasible, InputError, SdcError, WeakProtection
from tacit.fields import ColumnName, PositiveInt
from tacit.records.identifiers.substitute import substitute_values
from tacit.records.noise.add_noise import standard_deviation
from tacit.records.noise.outlier_to_median import nearest_whole
from tacit.registry import register
from tacit.spec import Method


@register
class AddTuples(Method):
    """Add made-up records that only the holder can tell from real ones.

    ``how="columns"`` draws each column from its own distribution, independently of the others;
    ``how="records"`` draws whole records and jitters their quantities, which keeps the relations
    between columns and follows real people more closely. With ``preserve_means`` the added records have
    the same mean as the real ones in every quantity, so that the mean of the release is the true one.

    Identifiers, if there are any, are made up in the format of the real ones, and are nobody's.

    The release is put in random order, with new row numbers, because made-up records at the end of a
    file would give themselves away; the links to the original are lost, so measure before this step.
    :meth:`added` tells the holder, from the data and the seed, which records are made up.

    References
    ----------
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, section 4.1, Figure 14.
    Efron (1979), Bootstrap methods: another look at the jackknife, Annals of Statistics 7, 1-26.
    """

    kind: Literal["add_tuples"] = "add_tuples"
    n: PositiveInt | None = Field(
        default=None, description="number of records to add; or give share"
    )
    share: float | None = Field(
        default=None, gt=0, description="records to add as a share of the records there are"
    )
    how: Literal["columns", "records"] = Field(
        default="columns", description="draw each column by itself, or whole records with jitter"
    )
    quantities: tuple[ColumnName, ...] = Field(
        default=(),
        description="numeric columns that measure something; by default all that are not identifiers, keys, stratum or household",
    )
    jitter: float = Field(
        default=0.1,
        ge=0,
        description="for whole records: standard deviation of the change, as a share of the column's own",
    )
    preserve_means: bool = Field(
        default=False,
        description="give the added records the same mean as the real ones in every quantity",
    )
    scramble: bool = Field(
        default=True,
        description="put the release in random order; without it the added records stand last",
    )

    on_household = "records"
    on_links = "carried"
    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("add tuples", "scramble tuples")
    example: ClassVar[Mapping[str, Any]] = {"n": 3}
    column_fields = ("quantities",)

    @model_validator(mode="after")
    def _one_size(self) -> AddTuples:
        if (self.n is None) == (self.share is None):
            raise ValueError("give either n or share")
        return self

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the linked columns, which would give a made-up record away if they were drawn apart."""
        linked = [c for group in data.links if data.household not in group for c in group]
        return tuple(linked) if self.how == "columns" else ()

    @property
    def cuts_links(self) -> bool:
        """Return True when the records are put in a drawn order."""
        return self.scramble

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: identifiers that cannot be made up; quantities without numbers."""
        found = [*super().faults(data), *not_numeric(data, self.quantities, self.kind)]
        schema = data.frame.collect_schema()
        found += [
            InputError(
                f"add_tuples: values of identifier {c!r} cannot be made up, since it holds neither "
                "text nor whole numbers. Drop or pseudonymise it first."
            )
            for c in data.identifiers
            if not (schema[c] == nw.String or schema[c].is_integer())
        ]
        return found

    def n_added(self, n: int) -> int:
        """Return how many records to add to n."""
        if n == 0:
            return 0
        return self.n if self.n is not None else int(np.floor((self.share or 0.0) * n + 0.5))

    def measured(self, data: Microdata) -> tuple[str, ...]:
        """Return the quantities."""
        schema = data.frame.collect_schema()
        coded = {*data.identifiers, *data.keys, data.stratum, data.household}
        return self.quantities or tuple(
            c for c in data.columns if c not in coded and schema[c].is_numeric()
        )

    def added(
        self, data: Microdata, *, seed: int | None = None, context: Context | None = None
    ) -> Flags:
        """Return which records of the release are made up, in the order of the release.

        Call it with the data and the seed (or context) that were given to :meth:`apply`.
        """
        if seed is None and context is None:
            raise InputError("add_tuples: give the seed that was used; without it nobody can tell")
        rng = (context or Context.start(seed)).rng
        n = len(data)
        place = self.places(n, self.n_added(n), rng)
        flags = np.zeros(len(place), dtype=bool)
        flags[place[n:]] = True
        return flags

    def places(self, n: int, m: int, rng: np.random.Generator) -> Ints:
        """Return the place in the release of each record, the n real ones first; drawn before all else."""
        return rng.permutation(n + m) if self.scramble else np.arange(n + m)

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        table = data.to_arrow(with_row=True)
        n = table.num_rows
        m = self.n_added(n)
        ctx.note(
            added=m, how=self.how, means_preserved=self.preserve_means, links_lost=self.scramble
        )
        if not self.scramble:
            warnings.warn(
                "add_tuples: the added records stand last and give themselves away; scramble before release",
                WeakProtection,
                stacklevel=3,
            )
        place = self.places(n, m, ctx.rng)
        block = self.block(table.drop_columns([ROW]), m, data, ctx)
        start = unused_row_number(data)
        old = start + place[:n] if self.scramble else table.column(ROW).to_numpy()
        numbers = np.concatenate([old, start + place[n:]]).astype(np.int64)
        whole = pa.concat_tables([table.drop_columns([ROW]), block])
        return data.with_table(whole.append_column(ROW, pa.array(numbers)))

    def block(self, table: pa.Table, m: int, data: Microdata, ctx: Context) -> pa.Table:
        """Return m made-up records."""
        n = max(table.num_rows, 1)
        quantities = self.measured(data) if m > 0 else ()
        rows = ctx.rng.integers(n, size=m)
        columns: dict[str, Any] = {}
        for c in table.column_names:
            picked = rows if self.how == "records" else ctx.rng.integers(n, size=m)
            column = table.column(c).take(pa.array(picked))
            if c in data.identifiers:
                column = invent_identifiers(column.combine_chunks(), table.column(c), ctx.rng, c)
            elif c in quantities:
                column = self.quantity(as_numbers(table.column(c), c), picked, c, ctx.rng)
            columns[c] = column
        return pa.table(columns, schema=table.schema)

    def quantity(
        self, real: Numbers, picked: Ints, column: str, rng: np.random.Generator
    ) -> pa.Array:
        """Return the made-up values of one quantity."""
        known = real.values[real.known]
        values, mask = real.values[picked], real.known[picked]
        if len(known) == 0:
            return Numbers(values, mask, real.type).restore(values)
        if self.preserve_means and not mask.any():
            values, mask = values.copy(), mask.copy()
            values[0], mask[0] = rng.choice(known), True
        if self.how == "records" and self.jitter > 0:
            moved = values + rng.normal(0.0, self.jitter * standard_deviation(real), len(values))
            moved = np.clip(moved, known.min(), known.max())
            values = nearest_whole(moved) if real.whole else moved
        if self.preserve_means:
            values = values.copy()
            values[mask] = with_mean_of(known, values[mask], column, rng)
        return Numbers(values, mask, real.type).restore(values)


def invent_identifiers(
    picked: pa.Array, real: pa.ChunkedArray, rng: np.random.Generator, column: str
) -> pa.Array:
    """Return identifiers in the format of real ones that are nobody's; missing stays missing."""
    known = picked.is_valid()
    new = substitute_values(picked.filter(known), rng, column, real)
    at = np.cumsum(known.to_numpy(zero_copy_only=False)) - 1
    return new.take(pa.array(at, mask=picked.is_null().to_numpy(zero_copy_only=False)))


def with_mean_of(
    real: npt.NDArray[Any], values: npt.NDArray[Any], column: str, rng: np.random.Generator
) -> npt.NDArray[Any]:
    """Return values moved so that their mean is the mean of the real ones, within the real range."""
    if real.dtype != np.int64:
        return move_to_mean(values, float(np.mean(real)), float(real.min()), float(real.max()))
    total, rest = divmod(int(real.sum()) * len(values), len(real))
    if rest:
        step = len(real) // int(np.gcd(int(real.sum()), len(real)))
        raise Infeasible(
            f"add_tuples: column {column!r} holds whole numbers, and no {len(values)} of them have the same mean as the real ones. "
            f"Add a multiple of {step} records, or leave the column out of 'quantities'."
        )
    return move_to_total(values, total, int(real.min()), int(real.max()), rng)


def move_to_mean(values: Floats, mean: float, low: float, high: float) -> Floats:
    """Move values towards one end of their range, in proportion to their distance from it."""
    gap = mean - float(np.mean(values))
    end = high if gap > 0 else low
    distance = float(np.mean(end - values))
    if gap == 0 or distance == 0:
        return values
    return values + gap / distance * (end - values)


def move_to_total(values: Ints, total: int, low: int, high: int, rng: np.random.Generator) -> Ints:
    """Move whole numbers by whole steps, evenly, to a total, without leaving their range."""
    result = values.copy()
    while gap := total - int(result.sum()):
        room = high - result if gap > 0 else result - low
        open_places = rng.permutation(np.flatnonzero(room > 0))
        step = max(1, abs(gap) // len(open_places))
        takers = open_places[: abs(gap)]
        result[takers] += np.sign(gap) * np.minimum(step, room[takers])
    return result
