"""SUDA: special uniques, records that stand alone on few keys already.

Minimal uniques are found on coded cells. A record that is unique on a set of keys is unique on every larger set, and what it shares a cell with on the larger
set is nobody, so it can be left out there altogether. Sets are therefore taken size by size: on a set S only the rows
that are unique on no S without one key remain, and those of them that are alone on S have S as a minimal unique.

Sets whose cells fit a dense table share passes over the rows: a block of several keys is counted once, together with
the sum of the row numbers, and each set inside the block is a sum over axes; where the count is one, the sum *is* the
row.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import comb, prod
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.engine.codes import Coded, dense_ids, encode
from tacit.engine.subsets import (
    CellTable,
    Codes,
    class_ids,
    class_sizes,
    dense_limit,
    sum_over_axes,
)
from tacit.errors import InputError, SdcError
from tacit.fields import OneQuasi, PositiveInt, PositiveShare, Probability
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.classes.class_values import free_name
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure, Role

Scores = Literal["elliot", "ihsn"]
#: Sets of keys are bits of one signed integer.
MOST_KEYS = 62


@register
class Suda(Measure):
    r"""Minimal sample uniques of each record, its SUDA score and its DIS-SUDA score.

    A set S of keys is a *minimal sample unique* of a record when the record is the only one with its values on S and
    is unique on no proper subset of S. All of them with up to ``max_size`` keys are found. With m keys and largest
    size M, a minimal unique of size s weighs (Elliot et al.)

    .. math:: w(s) = \prod_{i=s}^{\min(M, m-1)} (m - i), \qquad \mathrm{score} = \sum_{\mathrm{MSU}} w(|\mathrm{MSU}|),

    so a unique on few keys weighs most; with M = m this is (m - s)!. With ``scores="ihsn"`` a unique weighs
    (2^(m-s) - 1) s! (m-s)! / m! instead. Neither is a probability. The DIS-SUDA score is calibrated to one: with
    sampling fraction f, U records that are unique on all keys and P records in pairs,

    .. math:: \mathrm{DIS} = \frac{U f}{U f + P (1 - f)}, \qquad
        \mathrm{dis}_i = \Bigl(1 + \frac{U / \mathrm{DIS} - U}{\mathrm{score}_i^q \, A}\Bigr)^{-1}, \qquad
        A = \sum_i \mathrm{score}_i^{-q}, \qquad q = 1 + \frac{8 - m}{20},

    the sums over records with a score; a record without one has dis 0. U and P count a missing value as a value of its
    own, whatever ``missing`` says of minimal uniques. A key contributes to a score by the weights of
    the minimal uniques that contain it, so that shares of keys add up to more than one.

    References
    ----------
    Manning, Haglin, Keane (2008), A recursive search algorithm for statistical disclosure assessment, Data Mining and
    Knowledge Discovery 16, 165-196. Elliot, Manning, Mayes, Gurd, Bane (2005), SUDA: a program for detecting special
    uniques, UNECE work session on statistical data confidentiality, Geneva. Skinner, Elliot (2002), A measure of
    disclosure risk for microdata, JRSS B 64(4), 855-867. Templ, Kowarik, Meindl (2015), Statistical disclosure control
    for micro-data using the R package sdcMicro, J. Statistical Software 67(4).
    """

    kind: Literal["suda"] = "suda"
    max_size: PositiveInt = Field(default=3, description="most keys in a minimal unique")
    fraction: PositiveShare = Field(
        default=0.01, description="the sampling fraction of the data, for the DIS scores"
    )
    scores: Scores = Field(
        default="elliot",
        description="how a minimal unique weighs by its size: as Elliot et al. have it, or as the first implementation for the IHSN",
    )
    missing: Policy = Field(
        default="category",
        description="how a missing key value counts: as a value of its own; as agreeing with every value; or as no value, which agrees with none. In the latter two it is part of no minimal unique",
    )
    quasi: OneQuasi = None
    limit: Probability = Field(
        default=0.0, description="records with a DIS score above this are at risk"
    )

    needs: ClassVar[frozenset[Role]] = frozenset({"keys"})
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    axis: ClassVar[str] = "share of records at risk"

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: more keys than can be combined."""
        found = super().faults(data)
        if not found and len(self.keys_of(data)) > MOST_KEYS:
            found.append(
                InputError(
                    f"suda combines at most {MOST_KEYS} keys, and the data have {len(self.keys_of(data))}. "
                    "Name a quasi-identifier with quasi=."
                )
            )
        return found

    def keys_of(self, data: Microdata) -> tuple[str, ...]:
        """Return the keys that are combined."""
        return data.keys if self.quasi is None else data.quasi_identifiers(self.quasi)[self.quasi]

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> SudaResult:
        del other
        keys = self.keys_of(data)
        table = data.to_arrow(list(keys))
        coded = [encode(table.column(k)) for k in keys]
        records = table.num_rows
        of_record, n_cells = dense_ids([c.codes for c in coded], [c.size for c in coded])
        n = np.bincount(of_record, minlength=n_cells)
        first = np.empty(n_cells, dtype=np.int64)
        first[of_record] = np.arange(records)
        columns = [c.codes[first] for c in coded]
        weights = size_weights(len(keys), self.max_size, self.scores)
        tally = Tally(n_cells, len(keys))
        for members, rows in minimal_uniques(
            columns,
            [c.null for c in coded],
            n,
            self.max_size,
            self.missing,
            lambda share: ctx.tick("searching minimal uniques", share),
        ):
            tally.add(members, rows, weights[len(members)])
        uniques, pairs = int((n == 1).sum()), 2 * int((n == 2).sum())
        dis = dis_scores(tally.score, pairs, self.fraction, len(keys))
        at_risk = int((dis > self.limit).sum())
        special = int((tally.score > 0).sum())
        value = at_risk / records if records else 0.0
        title = f"Special uniques (SUDA) on {', '.join(keys)}"
        return SudaResult(
            kind=self.kind,
            title=title,
            value=value,
            numbers={
                "records": records,
                "unique on all keys"
                + ("" if self.missing == "category" else ", missing as a value"): uniques,
                f"with a minimal unique of up to {self.max_size} keys": special,
                "minimal uniques": int(tally.found.sum()),
                "largest score": float(tally.score.max(initial=0.0)),
                "largest DIS score": float(dis.max(initial=0.0)),
                "mean DIS score of those": float(dis[dis > 0].mean()) if special else 0.0,
                f"records with DIS above {self.limit:g}": at_risk,
                "sampling fraction": self.fraction,
            },
            frame=record_frame(keys, of_record, tally, dis),
            explanation=(
                "A minimal unique is a smallest set of keys on which a record stands alone; few keys and many such sets "
                "make a record special. Scores rank records; DIS scores estimate the probability that a match on the keys "
                "is correct, given the sampling fraction. The value compared before and after is the share of records with "
                f"a DIS score above {self.limit:g}."
            ),
            shortfall=(
                f"{title}: {at_risk:,} of {records:,} records have a DIS score above {self.limit:g}"
                if self.asked("limit") and at_risk
                else ""
            ),
            minimal_uniques=set_frame(keys, tally),
            contributions=key_frame(keys, tally),
            value_contributions=value_frame(keys, coded, columns, tally),
        )


@dataclass(frozen=True, repr=False)
class SudaResult(Result):
    """Scores by record, minimal uniques by set of keys, and contributions."""

    #: One row per set of keys that is a minimal unique of some record: the set, its size, the records, and the sum of
    #: their weights.
    minimal_uniques: nw.DataFrame[Any] = None  # type: ignore[assignment]
    #: One row per key: the minimal uniques that contain it, their weights, and the share of the total score.
    contributions: nw.DataFrame[Any] = None  # type: ignore[assignment]
    #: One row per key and value: the weights of minimal uniques that contain it, and the share of the key's.
    value_contributions: nw.DataFrame[Any] = None  # type: ignore[assignment]

    def plot(self) -> Chart:
        """Return the share of the total score that each key contributes to."""
        rows = self.contributions.rows(named=True)
        items = [(str(r["key"]), float(r["share"])) for r in rows]
        return bars(items, title="Contribution of each key to SUDA scores", y="share of the score")


class Tally:
    """Sums over minimal uniques, by row and by set."""

    def __init__(self, n_rows: int, n_keys: int) -> None:
        self.score = np.zeros(n_rows)
        self.found = np.zeros(n_rows, dtype=np.int64)
        self.smallest = np.zeros(n_rows, dtype=np.int64)
        self.by_key = [np.zeros(n_rows) for _ in range(n_keys)]
        self.sets: list[tuple[tuple[int, ...], int, float]] = []

    def add(self, members: tuple[int, ...], rows: Ints, weight: float) -> None:
        """Add one set with the rows of which it is a minimal unique; sets come by size."""
        self.score[rows] += weight
        self.found[rows] += 1
        self.smallest[rows] = np.where(self.smallest[rows] == 0, len(members), self.smallest[rows])
        for i in members:
            self.by_key[i][rows] += weight
        self.sets.append((members, len(rows), weight))

    @property
    def total(self) -> float:
        """Return the sum of all scores."""
        return sum(n * weight for _, n, weight in self.sets)


def size_weights(m: int, max_size: int, scores: Scores) -> dict[int, float]:
    """Return what a minimal unique of each size weighs.

    >>> size_weights(4, 3, "elliot")
    {1: 6.0, 2: 2.0, 3: 1.0}
    """
    sizes = range(1, min(max_size, m) + 1)
    if scores == "ihsn":
        return {s: (2 ** (m - s) - 1) / comb(m, s) for s in sizes}
    return {s: float(prod(m - i for i in range(s, min(max_size, m - 1) + 1))) for s in sizes}


def dis_scores(score: Floats, pairs: int, fraction: float, m: int) -> Floats:
    """Return the DIS-SUDA scores, 0 where there is no score; U cancels out: U / DIS - U = P (1 - f) / f."""
    has = score > 0
    dis = np.zeros(len(score))
    if has.any():
        q = 1 + (8 - m) / 20
        # Divided by the largest first, as factorials to a power overflow; the ratio below does not change.
        power = (score[has] / score.max()) ** q
        odds = pairs * (1 - fraction) / fraction
        dis[has] = 1 / (1 + odds / (power * (1 / power).sum()))
    return dis


def record_frame(
    keys: Sequence[str], of_record: Ints, tally: Tally, dis: Floats
) -> nw.DataFrame[Any]:
    """Return one row per record, by position from 0; with the share of its score that each key contributes to."""
    names = {k: f"contribution of {k}" for k in keys}
    some = np.where(tally.score > 0, tally.score, 1.0)
    columns: dict[str, Any] = {
        "position": np.arange(len(of_record)),
        "score": tally.score[of_record],
        "dis": dis[of_record],
        "minimal_uniques": tally.found[of_record],
        "smallest": tally.smallest[of_record],
    }
    for key, amount in zip(keys, tally.by_key, strict=True):
        columns[free_name(names[key], columns)] = (amount / some)[of_record]
    return as_frame(columns)


def set_frame(keys: Sequence[str], tally: Tally) -> nw.DataFrame[Any]:
    """Return one row per set of keys, those with most records first."""
    ranked = sorted(tally.sets, key=lambda s: (-s[1], len(s[0]), s[0]))
    columns = {
        "columns": pa.array([" x ".join(keys[i] for i in s) for s, _, _ in ranked], pa.string()),
        "size": pa.array([len(s) for s, _, _ in ranked], pa.int64()),
        "records": pa.array([n for _, n, _ in ranked], pa.int64()),
        "score": pa.array([n * w for _, n, w in ranked], pa.float64()),
    }
    return as_frame(columns)


def key_frame(keys: Sequence[str], tally: Tally) -> nw.DataFrame[Any]:
    """Return one row per key."""
    found = [sum(n for s, n, _ in tally.sets if i in s) for i in range(len(keys))]
    score = [sum(n * w for s, n, w in tally.sets if i in s) for i in range(len(keys))]
    share = [x / tally.total if tally.total else 0.0 for x in score]
    columns = {
        "key": pa.array(list(keys), pa.string()),
        "minimal_uniques": pa.array(found, pa.int64()),
        "score": pa.array(score, pa.float64()),
        "share": pa.array(share, pa.float64()),
    }
    return as_frame(columns)


def value_frame(
    keys: Sequence[str],
    coded: Sequence[Coded],
    columns: Sequence[npt.NDArray[np.int32]],
    tally: Tally,
) -> nw.DataFrame[Any]:
    """Return one row per key and value that contributes, values as text."""
    names: list[str] = []
    values: list[pa.Array] = []
    scores: list[Floats] = []
    shares: list[Floats] = []
    for key, column, codes, amount in zip(keys, coded, columns, tally.by_key, strict=True):
        sums: Floats = np.bincount(codes, weights=amount, minlength=column.size).astype(np.float64)
        has = np.flatnonzero(sums)
        names += [key] * len(has)
        values.append(column.decode(has).cast(pa.string()))
        scores.append(sums[has])
        shares.append(sums[has] / sums.sum() if len(has) else sums[has])
    return as_frame(
        {
            "key": pa.array(names, pa.string()),
            "value": pa.concat_arrays(values),
            "score": np.concatenate(scores),
            "share": np.concatenate(shares),
        }
    )


Bits = npt.NDArray[np.uint8]
Policy = Literal["category", "wildcard", "ignore"]


def minimal_uniques(
    columns: Sequence[Codes],
    nulls: Sequence[int],
    n: Ints,
    max_size: int,
    missing: Policy = "category",
    tick: Callable[[float], None] = lambda _: None,
) -> Iterator[tuple[tuple[int, ...], Ints]]:
    """Yield each set of keys that is a minimal unique of some row, with those rows; small sets first.

    Rows are distinct: ``columns`` have one code per row and key, from 0, ``nulls`` the code of a missing value in each, and
    ``n`` the records of each row. A missing value is a value like others (``category``), belongs to no set and equals
    nothing (``ignore``), or belongs to no set and equals everything (``wildcard``). ``tick`` is told the share of the work
    that is done.
    """
    sizes = tuple(int(c.max(initial=0)) + 1 for c in columns)
    table = CellTable(tuple(str(i) for i in range(len(columns))), tuple(columns), sizes, n)
    gaps = Gaps(table, nulls, missing)
    below: dict[int, Bits] = {}
    last = min(max_size, len(columns))
    for size in range(1, last + 1):
        members = {
            sum(1 << i for i in s): s for s in itertools.combinations(range(len(columns)), size)
        }
        here: dict[int, Bits] = {}
        for done, (mask, alone) in enumerate(find_uniques(table, list(members), below)):
            tick((size - 1 + done / len(members)) / last)
            earlier = unique_below(below, mask, len(n))
            new = gaps.settle(alone, mask) & ~unpack(earlier, len(n))
            if new.any():
                yield members[mask], np.flatnonzero(new)
            if size < last:
                here[mask] = earlier | np.packbits(new)
        below = here


def find_uniques(
    table: CellTable, masks: list[int], below: dict[int, Bits]
) -> Iterator[tuple[int, Flags]]:
    """Yield each set with the rows that are alone on it; rows alone on a smaller set may be left out."""
    limit = dense_limit(len(table.n))
    small = [m for m in masks if table.cardinality(m) <= limit]
    for block, inside in table.blocks(small):
        yield from find_in_block(table, block, inside)
    for mask in [m for m in masks if table.cardinality(m) > limit]:
        rows = np.flatnonzero(~unpack(unique_below(below, mask, len(table.n)), len(table.n)))
        columns = [c[rows] for i in table.members(mask) if (c := table.columns[i]) is not None]
        alone = np.zeros(len(table.n), dtype=bool)
        if len(rows):
            counts = class_sizes(
                columns, [table.sizes[i] for i in table.members(mask)], table.n[rows]
            )
            alone[rows[counts == 1]] = True
        yield mask, alone


def find_in_block(table: CellTable, block: int, masks: list[int]) -> Iterator[tuple[int, Flags]]:
    """Yield the sets inside a block with the rows that are alone on them."""
    ids, bound = table.ids(block)
    shape = [table.sizes[i] for i in table.members(block)]
    counts = np.bincount(ids, weights=table.row_counts, minlength=bound).reshape(shape)
    places = np.bincount(ids, weights=np.arange(len(ids)), minlength=bound).reshape(shape)
    for mask in masks:
        n = sum_over_axes(counts, table.members(block), mask)
        where = sum_over_axes(places, table.members(block), mask)
        alone = np.zeros(len(table.n), dtype=bool)
        alone[where[n == 1].astype(np.int64)] = True
        yield mask, alone


class Gaps:
    """Missing values, and what they do to rows that are alone otherwise."""

    def __init__(self, table: CellTable, nulls: Sequence[int], missing: Policy) -> None:
        self.table, self.missing = table, missing
        #: Which keys each row lacks, as bits.
        self.bits = np.zeros(len(table.n), dtype=np.int64)
        if missing != "category":
            for i, (column, null) in enumerate(zip(table.columns, nulls, strict=True)):
                assert column is not None
                self.bits |= (column == null).astype(np.int64) << i
        self.patterns = np.unique(self.bits)

    def settle(self, alone: Flags, mask: int) -> Flags:
        """Return which rows are alone on a set by the policy."""
        patterns = np.unique(self.patterns & mask)
        if not patterns.any():
            return alone
        alone = alone & ((self.bits & mask) == 0)
        if self.missing == "wildcard":
            for pattern in patterns[patterns != 0]:
                rows = np.flatnonzero(alone)
                others = np.flatnonzero((self.bits & mask) == pattern)
                alone[rows[self.agree(rows, others, mask & ~int(pattern))]] = False
        return alone

    def agree(self, rows: Ints, others: Ints, mask: int) -> Flags:
        """Return which rows equal one of the others on a set."""
        members = self.table.members(mask)
        if not members:
            return np.ones(len(rows), dtype=bool)
        both = np.concatenate([rows, others])
        columns = [c[both] for i in members if (c := self.table.columns[i]) is not None]
        ids, _ = class_ids(columns, [self.table.sizes[i] for i in members])
        return np.isin(ids[: len(rows)], ids[len(rows) :])


def unique_below(below: dict[int, Bits], mask: int, n_rows: int) -> Bits:
    """Return, as bits, the rows that are unique on the set without one of its keys."""
    found = np.zeros((n_rows + 7) // 8, dtype=np.uint8)
    for i in range(mask.bit_length()):
        smaller = mask & ~(1 << i)
        if smaller != mask and smaller in below:
            found |= below[smaller]
    return found


def unpack(bits: Bits, n_rows: int) -> Flags:
    """Return bits as one truth value a row."""
    return np.unpackbits(bits, count=n_rows).astype(bool)
