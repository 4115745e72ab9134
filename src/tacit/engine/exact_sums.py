"""Sums of floating-point columns on the engine that no order of summation changes.

An engine adds in the order in which its threads come, so its own sums of fractions differ in the last bits from run to
run and from engine to engine. Here each number is cut into three pieces that are multiples of fixed units (Demmel and
Nguyen, Fast reproducible floating-point summation, ARITH 2013). Units are chosen from the largest number and the
number of records, so that no partial sum of pieces is ever rounded: any order gives the same bits. What the three
pieces leave over is below 2^-80 of the largest number for ten million records.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from tacit.engine.names import aggregate

Frame = nw.LazyFrame[Any]

#: Pieces of a number.
PIECES = 3
#: Bits of a float's fraction.
DIGITS = 52
#: Above this power of two numbers are scaled down first, so that no unit overflows.
HIGHEST = 1000
N = "__rows__"


def sum_columns(
    frame: Frame, keys: Sequence[str], sums: Mapping[str, str], *others: nw.Expr
) -> Frame:
    """Group by keys and return, besides other aggregates, the sums of columns: name of the sum to column."""
    with_pieces, tables = cut_columns(frame, list(dict.fromkeys(sums.values())))
    parts = [
        nw.col(piece).sum().alias(f"__cut_sum_{i}_{j}__")
        for i, column in enumerate(sums.values())
        for j, piece in enumerate(tables[column].pieces)
    ]
    grouped = aggregate(with_pieces, keys, *others, *parts)
    totals = [tables[c].joined(i).alias(name) for i, (name, c) in enumerate(sums.items())]
    kept = [c for c in grouped.collect_schema().names() if not c.startswith("__cut_sum_")]
    return grouped.with_columns(*totals).select(*dict.fromkeys([*kept, *sums]))


class Cut:
    """How the numbers of one column are cut: the names of the pieces, their units and the scale."""

    def __init__(self, number: int, n: int, largest: float) -> None:
        self.pieces = [f"__piece_{number}_{j}__" for j in range(PIECES)]
        self.rest = f"__rest_{number}__"
        self.largest = largest
        spare = max(n, 1).bit_length() + 1
        top = math.frexp(largest)[1] + spare if largest > 0 else 0
        self.down = max(top - HIGHEST, 0)
        tops = [top - self.down]
        for _ in range(PIECES - 1):
            tops.append(tops[-1] - DIGITS - 1 + spare)
        # Adding and taking off 1.5 * 2^t rounds to a multiple of 2^(t - 52); where that is below all floats, to nothing.
        self.shifts = [math.ldexp(1.5, t) if t > -1000 else 0.0 for t in tops]

    def first(self, column: str) -> nw.Expr:
        """Return the numbers to cut; what is not finite goes into the first piece as it is."""
        return nw.col(column).cast(nw.Float64) * math.ldexp(1.0, -self.down)

    def joined(self, number: int) -> nw.Expr:
        """Return the sum from the sums of the pieces, smallest first."""
        total = nw.col(f"__cut_sum_{number}_{PIECES - 1}__")
        for j in range(PIECES - 2, -1, -1):
            total = total + nw.col(f"__cut_sum_{number}_{j}__")
        return total * math.ldexp(1.0, self.down)


def cut_columns(frame: Frame, columns: Sequence[str]) -> tuple[Frame, dict[str, Cut]]:
    """Return the frame with the pieces of each column, and how they were cut; one pass over the data."""
    sizes = [nw.col(c).cast(nw.Float64).abs() for c in columns]
    # What is not finite has no size.
    finite = [nw.when(size < math.inf).then(size).otherwise(nw.lit(0.0)) for size in sizes]
    largest = [size.max().alias(f"__most_{i}__") for i, size in enumerate(finite)]
    told = frame.select(nw.len().cast(nw.Int64).alias(N), *largest).collect("pyarrow")
    row = told.rows(named=True)[0]
    cuts = {c: Cut(i, row[N], float(row[f"__most_{i}__"] or 0.0)) for i, c in enumerate(columns)}
    frame = frame.with_columns(*[cut.first(c).alias(cut.rest) for c, cut in cuts.items()])
    for j in range(PIECES):
        frame = frame.with_columns(
            *[piece_of(cut, j).alias(cut.pieces[j]) for cut in cuts.values()]
        )
        frame = frame.with_columns(*[what_is_left(cut, j).alias(cut.rest) for cut in cuts.values()])
    return frame, cuts


def piece_of(cut: Cut, j: int) -> nw.Expr:
    """Return the nearest multiple of the unit; an infinite number is a piece of its own."""
    rest = nw.col(cut.rest)
    if not cut.shifts[j]:
        return rest
    shifted = (rest + cut.shifts[j]) - cut.shifts[j]
    return nw.when(rest.abs() < math.inf).then(shifted).otherwise(rest)


def what_is_left(cut: Cut, j: int) -> nw.Expr:
    """Return what a piece leaves over: nothing of an infinite number."""
    rest, piece = nw.col(cut.rest), nw.col(cut.pieces[j])
    known = nw.when(rest.abs() < math.inf).then(rest - piece).otherwise(nw.lit(0.0))
    return nw.when(rest.is_null()).then(rest).otherwise(known)
