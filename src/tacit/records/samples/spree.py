"""SPREE: population counts from an old census, raked to what is known today."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from tacit.arrays import Floats, Ints
from tacit.data.margins import (
    COUNT,
    check_agreement,
    columns_of,
    describe,
    place_totals,
    rescale_to,
)
from tacit.data.microdata import Microdata
from tacit.engine.coded import separate
from tacit.engine.codes import Cells, Coded, combine_codes, encode
from tacit.errors import InputError, LimitReached, SdcWarning
from tacit.stats.margins import fit_proportionally

if TYPE_CHECKING:
    from tacit.records.samples.individual_risk import IndividualRisk

Table = Mapping[str, tuple[Any, ...]]

#: Cells of a whole table at most, where zeros are to be filled.
LARGEST = 20_000_000


@dataclass(frozen=True)
class Spree:
    """Population counts of the occupied cells, and how the fit went."""

    population: Floats
    sweeps: int
    residual: float


def association_of(keys: Sequence[str], given: Table | None, census: Microdata | None) -> Table:
    """Return the old census as a table: as given, or counted in a file of its records."""
    if given is not None:
        if set(columns_of(given)) != set(keys):
            raise InputError(
                f"individual_risk: the association table must have the keys {describe(keys)} as its columns, and 'count'."
            )
        return given
    if census is None:
        raise InputError(
            "individual_risk: SPREE needs the old census, as association= (a table of the keys with counts) or as "
            "register= (its records)."
        )
    lacking = [k for k in keys if k not in census.columns]
    if lacking:
        raise InputError(
            f"individual_risk: the register lacks the key {lacking[0]!r}, so that it gives no association table."
        )
    found = census.cells(keys, weight=census.weight)
    counts = found.n if found.weight is None else found.weight
    return {
        **{k: tuple(found.keys[k].decode().to_pylist()) for k in keys},
        COUNT: tuple(counts.tolist()),
    }


def estimate_populations(
    cells: Cells, direct: Floats, association: Table, margins: Sequence[Any], spec: IndividualRisk
) -> Spree:
    """Rake the association table to the margins; ``direct`` are the weighted counts of the occupied cells."""
    keys = tuple(cells.keys)
    if any(bool((cells.keys[k].codes == cells.keys[k].null).any()) for k in keys):
        raise InputError(
            "individual_risk: SPREE compares with a census table, so that missing keys must be coded as a value first."
        )
    coded, counts = shared_codes(cells, association, keys)
    tables = consistent([as_table(m, cells, direct, keys) for m in margins], spec)
    start, support = spread(coded, counts, spec.zeros)
    # What the sample has not seen, it estimates to be empty.
    placed = [
        place_totals(t, support, start > 0, "individual_risk", rest=not isinstance(m, Mapping))
        for m, t in zip(margins, tables, strict=True)
    ]
    fit = fit_proportionally(start, placed, tolerance=spec.tolerance, most=spec.sweeps)
    if not fit.met:
        raise LimitReached(
            f"individual_risk: the census table does not fit the margins after {fit.rounds} sweeps; empty cells of the census "
            "may make it impossible. Set zeros= to a small number, or allow more sweeps."
        )
    both = [np.concatenate([support[k].codes, coded_sample(cells, support, k)]) for k in keys]
    ids, _ = combine_codes(both, [support[k].size for k in keys])
    at, mine = ids[: len(start)], ids[len(start) :]
    order = np.argsort(at)
    place = np.minimum(np.searchsorted(at[order], mine), len(at) - 1)
    found = at[order][place] == mine
    return Spree(np.where(found, fit.values[order][place], 0.0), fit.rounds, fit.residual)


def shared_codes(
    cells: Cells, association: Table, keys: Sequence[str]
) -> tuple[dict[str, Coded], Floats]:
    """Return the census table coded; it must know every category that the sample has."""
    coded = {}
    for key in keys:
        values = pa.array(list(association[key]), from_pandas=True)
        mine = cells.keys[key].values
        if values.type != mine.type:
            try:
                values = values.cast(mine.type)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                values = pa.array([None if v is None else str(v) for v in association[key]])
        coded[key] = encode(values)
        known = {str(v) for v in coded[key].values.to_pylist()}
        if any(str(v) not in known for v in mine.to_pylist()):
            raise InputError(
                f"individual_risk: the census table lacks categories of the key {key!r} that occur in the data. Recode one to "
                "the categories of the other."
            )
    ids, _ = combine_codes([coded[k].codes for k in keys], [coded[k].size for k in keys])
    if len(np.unique(ids)) != len(ids):
        raise InputError(
            "individual_risk: the census table lists a cell twice. Give each cell once."
        )
    return coded, np.array(association[COUNT], dtype=np.float64)


def coded_sample(cells: Cells, support: Mapping[str, Coded], key: str) -> Ints:
    """Return the codes of the sample's cells in the census table's coding."""
    known = {str(v): i for i, v in enumerate(support[key].values.to_pylist())}
    of = np.array([known[str(v)] for v in cells.keys[key].values.to_pylist()], dtype=np.int64)
    return of[cells.keys[key].codes]


def spread(
    coded: Mapping[str, Coded], counts: Floats, zeros: float
) -> tuple[Floats, dict[str, Coded]]:
    """Return the starting table: as it is, or with a constant in every cell of the product that is empty."""
    if not zeros:
        return counts, dict(coded)
    sizes = [len(c.values) for c in coded.values()]
    if math.prod(sizes) > LARGEST:
        raise InputError(
            f"individual_risk: zeros= fills {math.prod(sizes):,} cells, more than {LARGEST:,}. Leave it at 0, or recode the keys."
        )
    whole = np.zeros(math.prod(sizes))
    ids, _ = combine_codes([c.codes for c in coded.values()], sizes)
    whole[ids] = counts
    codes = separate(np.arange(len(whole), dtype=np.int64), sizes)
    columns = {k: Coded(c, coded[k].values) for k, c in zip(coded, codes, strict=True)}
    return np.where(whole > 0, whole, zeros), columns


def as_table(margin: Any, cells: Cells, direct: Floats, keys: Sequence[str]) -> Table:
    """Return a margin as given, or as the weights of the sample estimate it where only columns are named."""
    named = columns_of(margin) if isinstance(margin, Mapping) else tuple(margin)
    strange = [c for c in named if c not in keys]
    if strange:
        raise InputError(
            f"individual_risk: the margin {describe(named)} has the column {strange[0]!r}, which is not a key."
        )
    if isinstance(margin, Mapping):
        return margin
    picked = [cells.keys[c] for c in named]
    ids, _ = combine_codes([c.codes for c in picked], [c.size for c in picked])
    _, first, of = np.unique(ids, return_index=True, return_inverse=True)
    sums = np.bincount(of.ravel(), weights=direct)
    values = {
        c: tuple(p.decode(p.codes[first]).to_pylist()) for c, p in zip(named, picked, strict=True)
    }
    return {**values, COUNT: tuple(sums.tolist())}


def consistent(tables: Sequence[Table], spec: IndividualRisk) -> list[Table]:
    """Return margins that agree on what they share: refused, or scaled to the first on request."""
    if not spec.rescale:
        check_agreement(tables, "individual_risk", ", or set rescale=true")
        return list(tables)
    scaled = [tables[0], *(rescale_to(t, tables[0]) for t in tables[1:])]
    both = zip(tables, scaled, strict=True)
    if not all(np.allclose(old[COUNT], new[COUNT], rtol=1e-6) for old, new in both):
        warnings.warn(
            "individual_risk: margins after the first were scaled to its totals, as asked with rescale.",
            SdcWarning,
            stacklevel=5,
        )
    check_agreement(scaled, "individual_risk")
    return scaled
