"""One variable of a PRAM step: where its categories are, and how a block of records is redrawn."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Flags, Floats, Ints
from tacit.data.in_blocks import Change, Draws
from tacit.engine.blocks import Tallies
from tacit.errors import DisclosureRefused, InvalidParameter, WeakProtection
from tacit.records.pram import Randomised, Transition, blocks, explicit, identity
from tacit.records.pram.randomised import cast_levels, codes_among, flags_in, part_numbers


@dataclass(frozen=True)
class Categories:
    """Where the categories of a column are among its matrix's rows: by themselves, or as text."""

    column: str
    places: Mapping[Any, int]
    size: int

    @classmethod
    def of(cls, column: str, levels: Sequence[Any], size: int) -> Categories:
        """Return the places of some levels; of none where several columns are drawn as one."""
        places = {key: i for i, v in enumerate(levels) for key in (str(v), v)}
        return cls(column, places, size)

    def place(self, level: Any, what: str) -> int:
        """Return the place of a category that a parameter names."""
        found = self.places.get(level, self.places.get(str(level)))
        if found is None:
            raise InvalidParameter(
                f"pram: {what} names a category that column {self.column!r} does not have; list all categories in levels"
            )
        return found

    def all_of(self, levels: Iterable[Any], what: str) -> list[int]:
        """Return the places of several categories."""
        return [self.place(v, what) for v in levels]

    def numbers(self, given: Mapping[Any, float], what: str, *, absent: float = np.nan) -> Floats:
        """Return a number a category."""
        out = np.full(self.size, absent)
        for level, value in given.items():
            out[self.place(level, what)] = value
        return out

    def rows(self, given: Mapping[Any, Mapping[Any, float]]) -> Floats:
        """Return the rows of a matrix that is given by category; a category left out stays as it is."""
        p = np.eye(self.size)
        for source, row in given.items():
            p[self.place(source, "matrix")] = self.numbers(row, "matrix", absent=0.0)
        return p


@dataclass(frozen=True)
class Prepared:
    """A variable with its matrices, the moves closed to each stratum, and the stream it draws from."""

    variable: Randomised
    closed: tuple[Flags | None, ...]
    stream: int


def randomise_block(plan: Prepared, draws: Draws, kind: str, block: int, table: pa.Table) -> Change:
    """Return a block with one variable redrawn, and how many of its values changed."""
    variable = plan.variable
    codes = codes_among([table.column(c) for c in variable.columns], variable, kind)
    by = [table.column(c) for c in variable.by]
    flags = flags_in(table, variable.rules)
    stratum = part_numbers(variable, by, flags, len(codes), kind)
    matrices = [p.matrix for p in variable.parts]
    released = draw(codes, stratum, matrices, draws(block, plan.stream))
    check_moves(codes, released, stratum, plan.closed)
    known = codes >= 0
    changed = int((released != codes)[known].sum())
    tally = {"stream": plan.stream, "known": int(known.sum()), "changed": changed}
    return Change(release_columns(table, variable, released), tally=tally)


def release_columns(table: pa.Table, variable: Randomised, released: Ints) -> dict[str, pa.Array]:
    """Return the released columns; records with a missing value keep what they have."""
    known = released >= 0
    found = {}
    for c, levels in zip(variable.columns, variable.levels, strict=True):
        kind = table.column(c).type
        values = cast_levels(levels, kind, c)
        drawn = values.take(pa.array(released, mask=~known))
        if not known.all():
            own = table.column(c).combine_chunks().cast(values.type)
            drawn = pc.if_else(pa.array(known), drawn, own)
        found[c] = drawn if drawn.type == kind else drawn.cast(kind)
    return found


def compute_changed_share(tallies: Tallies, stream: int) -> float:
    """Return the share of a variable's known values that changed; of households, where these drew."""
    mine = [t for t in tallies if t["stream"] == stream]
    known = sum(t["known"] for t in mine)
    return sum(t["changed"] for t in mine) / known if known else 0.0


def stratum_counts(codes: Ints, stratum: Ints, n: Floats, size: int, n_strata: int) -> Floats:
    """Return the frequencies of the categories in each stratum, from cells of n records."""
    known = codes >= 0
    ids = stratum[known] * size + codes[known]
    found = np.bincount(ids, weights=n[known], minlength=n_strata * size)
    return np.asarray(found, dtype=np.float64).reshape(n_strata, size)


def embed_free_matrix(matrix: Transition, free: Ints, n: int) -> Transition:
    """Return the matrix of all categories from that of the free ones; the others stay."""
    rest = np.setdiff1d(np.arange(n), free)
    joined = blocks([matrix, identity(len(rest))]).dense()
    order = np.argsort(np.concatenate([free, rest]), kind="stable")
    return explicit(joined[np.ix_(order, order)])


def draw(
    codes: Ints, stratum: Ints, matrices: Sequence[Transition], rng: np.random.Generator
) -> Ints:
    """Return released codes; missing ones (-1) stay, and each stratum draws from its own matrix."""
    out = codes.copy()
    for i, matrix in enumerate(matrices):
        group = np.flatnonzero((codes >= 0) & (stratum == i))
        out[group] = matrix.draw(codes[group], rng)
    return out


def check_moves(codes: Ints, released: Ints, stratum: Ints, closed: Sequence[Flags | None]) -> None:
    """Refuse a draw that made a forbidden move, or filled in or blanked a value."""
    if ((codes < 0) != (released < 0)).any():
        raise DisclosureRefused("pram: missing values did not stay as they were")
    moved = np.flatnonzero(codes != released)
    for s, shut in enumerate(closed):
        here = moved[stratum[moved] == s] if shut is not None else moved[:0]
        if shut is not None and shut[codes[here], released[here]].any():
            raise DisclosureRefused("pram: a forbidden move was made, so nothing was released")


def warn_of_many(column: str, categories: int, records: int) -> None:
    """Warn when a column has nearly as many categories as records: the public list of them tells much."""
    if categories > max(20, records // 2):
        warnings.warn(
            f"pram: column {column!r} has {categories} categories for {records} records; the matrices that users need name every one. Recode it first.",
            WeakProtection,
            stacklevel=6,
        )
