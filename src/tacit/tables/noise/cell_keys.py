"""Cell keys, the record keys of a cell added up modulo 1; the noise that they look up, and what it gives away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.data.cells.tabulation import Columns, Tabulation, floats, sum_name
from tacit.data.microdata import Microdata
from tacit.data.table import Table
from tacit.engine.names import aggregate
from tacit.errors import ColumnNotFound, InputError
from tacit.io.p_tables import PTable
from tacit.numerics.elementary import power
from tacit.tables.attack.systems import tighten_bounds
from tacit.tables.noise import ptable as _ptable
from tacit.tables.noise.ptable import moments

#: Decimals of a key: 8 leading and 7 further ones, so that sums of parts stay exact in any order.
DIGITS, HEAD, TAIL = 15, 10**8, 10**7
KEY, VALUE = "__key__", "__value__"


def with_cell_keys(table: Table, data: Microdata, record_key: str) -> Table:
    """Return the table with the key of every cell: the sum of its records' keys, modulo 1.

    Keys are added in whole units of 10^-15, so that a cell has the same key in every table, whatever the
    engine and the order of the records. An empty cell has key 0.

    Parameters
    ----------
    table
        A table that was built from ``data``.
    data
        The records; the dimensions of the table are columns of theirs.
    record_key
        The column of record keys in [0, 1), as :class:`~tacit.records.identifiers.record_keys.RecordKeys` makes it.

    Returns
    -------
    Table
        With ``extra["cell_key"]`` and, where the table's values are a column of the data,
        ``extra["cell_key_nonzero"]`` (without the records whose value is 0) and ``extra["value_range"]``
        (largest less smallest value in the cell).

    Raises
    ------
    InputError
        When keys are missing or not in [0, 1), or the records are not those of the table.
    """
    work = tabulation(table, data, record_key)
    own = table.response if not table.frequency and table.response in data.columns else None
    found = ground_sums(work, record_key, own)
    cell = work.cells(found)
    counts = pick_own_cells(table, work.roll_up(cell, floats(found, sum_name("n"))))
    require_same_records(table, counts)
    extra: dict[str, Any] = {**table.extra, "cell_key": keys_of(table, work, found, cell, "")}
    if own is not None:
        extra["cell_key_nonzero"] = keys_of(table, work, found, cell, "_nonzero")
        extra["value_range"] = ranges(table, work, found, cell)
    return table.with_(extra=extra)


def tabulation(table: Table, data: Microdata, record_key: str) -> Tabulation:
    """Return the tabulation by which records find their cells."""
    if not table.dimensions or table.given is not None:
        raise InputError(
            "cell keys need a table with dimensions: a bare list of equations has no records"
        )
    lacking = [c for c in (*table.names, record_key) if c not in data.columns]
    if lacking:
        raise ColumnNotFound(lacking, list(data.columns), "the data")
    if not data.frame.collect_schema()[record_key].is_numeric():
        raise InputError(f"column {record_key!r} must hold record keys, numbers in [0, 1)")
    codes = {c for given in dict(table.extra.get("missing", {})).values() for c in given}
    missing = codes.pop() if len(codes) == 1 else None
    columns = Columns(table.names)
    return Tabulation(data, data.frame, columns, table.dimensions, 1, missing)


def ground_sums(work: Tabulation, record_key: str, own: str | None) -> pa.Table:
    """Return one row per ground cell: records, sums of both parts of the keys, and extremes of values."""
    key = nw.col(record_key).cast(nw.Float64)
    value = nw.lit(1.0) if own is None else nw.col(own).cast(nw.Float64)
    frame = work.frame.with_columns(key.alias(KEY), value.alias(VALUE))
    bad = frame.select(
        (nw.col(KEY).is_null() | (nw.col(KEY) < 0) | (nw.col(KEY) >= 1)).cast(nw.Int64).sum()
    ).collect("pyarrow")
    if bad.item():
        raise InputError(
            f"{int(bad.item()):,} records have no key in [0, 1) in column {record_key!r}"
        )
    scaled = nw.col(KEY) * float(HEAD)
    frame = frame.with_columns(scaled.floor().alias("__head__"))
    tail = ((nw.col(KEY) * float(HEAD) - nw.col("__head__")) * float(TAIL)).round(0)
    frame = frame.with_columns(tail.alias("__tail__"))
    counts = (nw.col(VALUE) != 0).cast(nw.Float64)
    sums = {"head": nw.col("__head__"), "tail": nw.col("__tail__")}
    parts = [expression.sum().alias(sum_name(name)) for name, expression in sums.items()]
    parts += [(e * counts).sum().alias(sum_name(f"{name}_nonzero")) for name, e in sums.items()]
    grouped = aggregate(
        frame,
        work.columns.dimensions,
        nw.len().cast(nw.Int64).alias(sum_name("n")),
        *parts,
        nw.col(VALUE).min().alias(sum_name("least")),
        nw.col(VALUE).max().alias(sum_name("most")),
    )
    return work.data.engine.to_arrow(grouped)


def keys_of(table: Table, work: Tabulation, found: pa.Table, cell: Ints, suffix: str) -> Floats:
    """Return the keys of all cells from the sums in ground cells; every number on the way is whole."""
    head = np.mod(floats(found, sum_name(f"head{suffix}")), HEAD)
    tail = floats(found, sum_name(f"tail{suffix}"))
    head = np.mod(head + np.floor(tail / TAIL), HEAD)
    heads = work.roll_up(cell, head).astype(np.int64)
    tails = work.roll_up(cell, np.mod(tail, TAIL)).astype(np.int64)
    units = ((heads + tails // TAIL) % HEAD) * TAIL + tails % TAIL
    return pick_own_cells(table, units / 10.0**DIGITS)


def pick_own_cells(table: Table, values: Floats) -> Floats:
    """Return the values of the table's own cells from those of the full product."""
    if table.coordinates is None:
        return values
    at = np.ravel_multi_index(tuple(table.coordinates.T.astype(np.int64)), table.shape)
    return np.asarray(values[at])


def require_same_records(table: Table, counts: Floats) -> None:
    """Raise when a table of unweighted counts was made from other records."""
    if table.frequency and "weighted_count" not in table.extra:
        wrong = np.flatnonzero(np.abs(table.value - counts) > 0.5)
        if len(wrong):
            raise InputError(
                f"the records are not those of the table: {len(wrong):,} counts differ, the first at "
                f"{table.describe_cell(int(wrong[0]))}"
            )


def ranges(table: Table, work: Tabulation, found: pa.Table, cell: Ints) -> Floats:
    """Return the largest less the smallest value in each cell; 0 where there is none."""
    size = int(np.prod(work.ground_shape, dtype=np.int64))
    high, low = np.full(size, -np.inf), np.full(size, np.inf)
    np.maximum.at(high, cell, floats(found, sum_name("most")))
    np.minimum.at(low, cell, floats(found, sum_name("least")))
    most = extremes(high.reshape(work.ground_shape), table, largest=True)
    least = extremes(low.reshape(work.ground_shape), table, largest=False)
    return pick_own_cells(table, np.where(np.isfinite(most), most - least, 0.0))


def extremes(ground: Floats, table: Table, *, largest: bool) -> Floats:
    """Return the largest or smallest ground value below every cell of the full product."""
    reduce = np.maximum.reduce if largest else np.minimum.reduce
    array = ground
    for axis, d in enumerate(table.dimensions):
        moved = np.moveaxis(array, axis, 0)
        below = np.split(d.closure.indices, d.closure.indptr[1:-1])
        array = np.moveaxis(np.stack([reduce(moved[leaves]) for leaves in below]), 0, axis)
    return np.ascontiguousarray(array).ravel()


# -- digits --------------------------------------------------------------------------------------------


def digits_of(keys: Floats) -> int:
    """Return how many decimals keys have: up to 8 where that is all there is, else 15."""
    for digits in range(1, 9):
        scaled = keys * 10.0**digits
        if (np.abs(scaled - np.rint(scaled)) <= 1e-9 * 10.0**digits).all():
            return digits
    return DIGITS


def rotate_digits(keys: Floats, times: int, digits: int) -> Floats:
    """Return keys with their decimals turned to the left: 0.123 becomes 0.231, then 0.312."""
    base = 10**digits
    units = np.mod(np.rint(keys * float(base)).astype(np.int64), base)
    for _ in range(times):
        units = (units * 10) % base + units // (base // 10)
    return units / float(base)


# -- what a perturbed table gives away -----------------------------------------------------------------


def cell_key_study(table: Table, *, rounds: int = 50) -> dict[str, Any]:
    """Return how a table was perturbed, and what an attacker learns from the sums that it breaks.

    The attacker is assumed to know the perturbation table, but no key: each published count alone leaves
    an interval of true counts. Sums of true counts hold, so that a total and its parts narrow each other's
    intervals (differencing); this is followed through all relations until nothing changes. The intervals
    are what propagation finds; an attacker with linear programming may find narrower ones.

    Parameters
    ----------
    table
        A table that :class:`~tacit.tables.noise.cell_key.CellKey` perturbed. Confidential, as is the answer.
    rounds
        Rounds of propagation at most.

    Returns
    -------
    dict
        ``cells`` (perturbed ones), ``share_unchanged``, ``mean``, ``variance`` and, for counts,
        ``expected_variance``, ``distribution`` (change to share), ``width_alone`` and ``width_with_sums``
        (mean number of values that a cell may have, before and after differencing), ``disclosed`` (cells
        with a single possible value that were not known before) and ``largest_gap_of_sums``.
    """
    from tacit.tables.noise.cell_key import find_unperturbed_cells, read_stored_ptable, records

    still = find_unperturbed_cells(table)
    moved = (table.published - table.value)[~still]
    out: dict[str, Any] = {
        "cells": len(moved),
        "share_unchanged": float((moved == 0).mean()) if len(moved) else 1.0,
        "mean": float(moved.mean()) if len(moved) else 0.0,
        "variance": float(moved.var()) if len(moved) else 0.0,
        "largest_gap_of_sums": float(np.abs(table.equations @ table.published).max(initial=0.0)),
    }
    if not table.frequency:
        return out
    ptable = read_stored_ptable(table)
    n = records(table)
    weight = np.divide(table.value, n, out=np.zeros(len(n)), where=n > 0)
    steps, _, variance = _ptable.moments(ptable)
    line = np.searchsorted(steps, n[~still], side="right") - 1
    out["expected_variance"] = (
        float((variance[line] * weight[~still] ** 2).mean()) if len(line) else 0.0
    )
    change = np.rint(np.divide(moved, weight[~still], out=np.zeros(len(moved)), where=moved != 0))
    kinds, times = np.unique(change, return_counts=True)
    out["distribution"] = {int(k): float(t / len(moved)) for k, t in zip(kinds, times, strict=True)}
    if (weight[n > 0] == 1).all():
        out |= differencing(table, ptable, still, rounds)
    return out


def differencing(table: Table, ptable: PTable, still: Flags, rounds: int) -> dict[str, float]:
    """Return how far intervals of true counts shrink when the sums are used."""
    low, high = _ptable.truths(ptable, table.published)
    low[still] = high[still] = table.value[still]
    low, high = np.maximum(low, table.lower), np.minimum(high, table.upper)
    alone = high - low + 1
    least, most = narrow_integer_bounds(table.equations, low, high, rounds)
    after = most - least + 1
    free = ~still
    return {
        "width_alone": float(alone[free].mean()) if free.any() else 1.0,
        "width_with_sums": float(after[free].mean()) if free.any() else 1.0,
        "disclosed": int(((after <= 1) & (alone > 1))[free].sum()),
    }


def narrow_integer_bounds(
    matrix: sparse.csr_array, low: Floats, high: Floats, rounds: int
) -> tuple[Floats, Floats]:
    """Return bounds of whole numbers narrowed by relations M x = 0 until nothing changes."""
    zero = np.zeros(matrix.shape[0])
    for _ in range(rounds):
        before = low, high
        low, high = tighten_bounds(matrix, zero, low, high, 1)
        low, high = np.ceil(low - 1e-9), np.floor(high + 1e-9)
        if np.array_equal(low, before[0]) and np.array_equal(high, before[1]):
            break
    return low, high


# -- the arithmetic of the cell-key method: changes of counts and of magnitudes, given keys ---------
#
# References
# ----------
# Fraser and Wooton (2005), A proposed method for confidentialising tabular output to protect against
# differencing, UNECE/Eurostat work session on statistical data confidentiality, Geneva.
# Thompson, Broadfoot and Elazar (2013), Methodology for the automatic confidentialisation of statistical
# outputs from remote servers at the Australian Bureau of Statistics, UNECE/Eurostat work session, Ottawa.
# Giessing and Tent (2019), Concepts for generalising tools implementing the cell key method to the case of
# continuous variables, UNECE/Eurostat work session, The Hague.


@dataclass(frozen=True)
class Scaling:
    """How large the noise of a magnitude is: Delta_j = m_j |x_j| for its j-th largest contribution.

    m_1 is ``sigma1`` up to ``xstar`` and falls to ``sigma0`` beyond it (flex), or always ``sigma1``
    (``xstar`` None, simple); m_j = epsilon_j m_1.
    """

    sigma1: float
    sigma0: float | None = None
    xstar: float | None = None
    q: float = 3.0
    epsilon: tuple[float, ...] = ()

    @property
    def weights(self) -> Floats:
        """Return epsilon_1 = 1, epsilon_2, ..."""
        return np.array([1.0, *self.epsilon])

    def share(self, x: Floats) -> Floats:
        """Return m_1 for absolute contributions."""
        if self.xstar is None or self.sigma0 is None:
            return np.full(x.shape, self.sigma1)
        beyond = np.maximum(x, self.xstar)
        slope = (self.sigma1 * beyond - self.sigma0 * self.xstar) / (self.sigma0 * self.xstar)
        fade = power(2 * self.xstar / (self.xstar + beyond), self.q)
        return self.sigma0 * (1 + slope * fade)

    def separation(self, main: PTable, small: PTable) -> float:
        """Return where scaled and fixed noise have the same standard deviation."""
        variance = moments(main, next(iter(main.blocks)))[2][-1]
        fixed = moments(small, next(iter(small.blocks)))[2][-1]
        size = float((self.weights**2).sum() * variance)
        return float(np.sqrt(fixed / size) / self.sigma1) if size > 0 else 0.0


def magnitude_changes(
    value: Floats,
    parts: Floats,
    keys: Floats,
    scaling: Scaling,
    table: PTable,
    *,
    digits: int,
    small: PTable | None = None,
    extra: Floats | None = None,
    even: Flags | None = None,
) -> Floats:
    """Return what is added to each magnitude.

    Contribution x_j draws v_j at a_j = |x_j| / Delta_j with the key turned j times, and moves the value by
    Delta_j v_j, the first one by Delta_1 sign(v_1) (mu + |v_1|). A value never changes its sign on the
    way: Delta_j is at most what is left of it.

    ``parts`` (cells x k) are the contributions that scale the noise, ``digits`` the decimals of the keys, ``small`` the
    table for contributions below the separation point, whose noise has Delta = 1, ``extra`` the mu of each cell, and
    ``even`` says which cells have an even number of contributors, where that chooses the rows.
    """
    left = value.astype(np.float64).copy()
    point = 0.0 if small is None else scaling.separation(table, small)
    for j in range(parts.shape[1]):
        x = np.abs(parts[:, j])
        weight = scaling.weights[j]
        delta = weight * scaling.share(x) * x
        tiny = x < point
        delta[tiny] = 1.0
        # Noise larger than what is left of the value is scaled down to it.
        short = np.abs(left) < delta
        x = np.where(short, np.abs(left) / (scaling.sigma1 * max(weight, 1e-300)), x)
        tiny = np.where(short, x < point, tiny)
        delta = np.where(tiny, 1.0, np.where(short, np.abs(left), delta))
        on = (parts[:, j] != 0) & (delta > 0) & (left != 0)
        if j > 0:
            on &= ~tiny
        key = rotate_digits(keys, j + 1, digits)
        step = np.divide(x, delta, out=np.zeros_like(x), where=on)
        v = draws(step, key, table, small, tiny, even, on)
        if j == 0 and extra is not None:
            side = np.where(v == 0, np.where(key < 0.5, 1.0, -1.0), np.sign(v))
            v = np.where(extra > 0, side * (extra + np.abs(v)), v)
        change = np.where(on, np.sign(left) * delta * v, 0.0)
        left = np.where(np.sign(left) * change < -np.abs(left), 0.0, left + change)
    return left - value


def draws(
    step: Floats,
    key: Floats,
    table: PTable,
    small: PTable | None,
    tiny: Flags,
    even: Flags | None,
    on: Flags,
) -> Floats:
    """Return v of every cell that draws one: from the table for small ones, or for even or odd cells."""
    v = np.zeros(len(step))
    large = on & ~tiny
    if even is None:
        v[large] = table.interpolate(step[large], key[large])
    else:
        for kind, cells in (("even", large & even), ("odd", large & ~even)):
            v[cells] = table.interpolate(step[cells], key[cells], kind)
    if small is not None:
        cells = on & tiny
        v[cells] = small.interpolate(step[cells], key[cells])
    return v


def contributions(table: Table, scale_by: str, top: int) -> Floats:
    """Return what scales the noise: cells x draws."""
    if scale_by == "top":
        behind = table.contributors
        if behind is None or behind.t < top:
            raise InputError(
                f"scale_by='top' needs the {top} largest contributions of each cell: build the table "
                f"with tacit.Table.from_microdata(..., top={top}), or set scale_by='mean' or 'value'"
            )
        parts = behind.top[:, :top]
        return np.array(parts if behind.weight is None else parts * behind.weight[:, :top])
    if scale_by == "value":
        return np.array(table.value[:, None])
    if scale_by == "mean":
        if (table.count < 0).any():
            raise InputError("scale_by='mean' needs the number of contributors of each cell")
        return np.array((table.value / np.maximum(table.count, 1))[:, None])
    spans = table.extra.get("value_range")
    if spans is None:
        raise InputError(
            "scale_by='range' needs the range of values in each cell: attach it with "
            "tacit.tables.with_cell_keys(table, data, ...)"
        )
    return np.array(np.asarray(spans, dtype=np.float64)[:, None])
