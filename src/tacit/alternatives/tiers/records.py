"""Products of records: what each does to a column, and what one tells that the next does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tacit.alternatives.tiers.functions import is_computed_from, is_function_of
from tacit.arrays import Floats, Ints
from tacit.data.microdata import Microdata
from tacit.data.paired import shared_positions
from tacit.engine.base import ROW
from tacit.engine.codes import encode
from tacit.errors import ColumnNotFound

#: A table that is public already: its columns, or each column with the level of its hierarchy.
Published = Sequence[str] | Mapping[str, int]


@dataclass(frozen=True)
class Product:
    """A product read into memory: row numbers and columns as codes, in record order."""

    rows: Ints
    codes: Mapping[str, Ints]
    values: Mapping[str, pa.Array]


def read_product(data: Microdata) -> Product:
    """Return a product's columns as codes."""
    table = data.to_arrow(with_row=True)
    coded = {c: encode(table.column(c)) for c in data.columns}
    return Product(
        table.column(ROW).to_numpy().astype(np.int64),
        {c: v.codes.astype(np.int64) for c, v in coded.items()},
        {c: v.values for c, v in coded.items()},
    )


def treatment(original: Product, product: Product, column: str) -> str:
    """Return what a product does to a column, in a few words."""
    if column not in product.codes:
        return "dropped"
    old, new = shared_positions(original.rows, product.rows)
    before, after = original.codes[column][old], product.codes[column][new]
    n_before, n_after = len(original.values[column]), len(product.values[column])
    if same_values(original, product, column, before, after):
        return "as it is"
    missing = (after == n_after) & (before != n_before)
    kept = ~missing
    if missing.any() and same_values(original, product, column, before[kept], after[kept]):
        return "suppressed in part"
    if n_after < n_before and is_recoded(original, before, product, after, column):
        return f"recoded, {n_after} categories"
    return "masked"


def is_recoded(original: Product, before: Ints, product: Product, after: Ints, column: str) -> bool:
    """Return True when a column is a coarsening of the true one; numbers must also show the rule."""
    numbers = (
        numbers_of(original.values[column], before),
        numbers_of(product.values[column], after),
    )
    if any(n is None for n in numbers):
        return is_function_of(before, after)
    return is_computed_from(before, after, *numbers)


def same_values(
    original: Product, product: Product, column: str, before: Ints, after: Ints
) -> bool:
    """Return True when records have the same values in two files."""
    old, new = original.values[column], product.values[column]
    if old.type != new.type:
        return False
    if old.equals(new):
        return bool((before == after).all())
    return bool(
        old.take(pa.array(before, mask=before == len(old))).equals(
            new.take(pa.array(after, mask=after == len(new)))
        )
    )


def nesting_faults(
    open_: str,
    more_open: Product,
    closed: str,
    more_closed: Product,
    treatments: Mapping[str, Mapping[str, str]],
) -> list[str]:
    """Return what the more open product tells that the more closed one does not."""
    faults = []
    at_open, at_closed = shared_positions(more_open.rows, more_closed.rows)
    if len(at_open) < len(more_open.rows):
        faults.append(f"{open_} holds records that {closed} does not.")
    for c, codes in more_open.codes.items():
        if c not in more_closed.codes:
            faults.append(f"{open_} releases {c!r}, which {closed} drops.")
            continue
        here, there = (treatments[name].get(c, "masked") for name in (open_, closed))
        if there == "masked" and here != "masked":
            faults.append(f"{closed} masks {c!r}, and {open_} does not.")
        elif here != "masked" and not is_function_of(
            more_closed.codes[c][at_closed], codes[at_open]
        ):
            faults.append(f"{c!r} in {open_} is no coarsening of what it is in {closed}.")
        elif (
            here == "masked"
            and there != "as it is"
            and not follows(more_open, at_open, more_closed, at_closed, c)
        ):
            faults.append(
                f"{open_} masks {c!r} in another way than {closed}, so that both together tell more "
                "than each alone."
            )
    return faults


def follows(
    more_open: Product, at_open: Ints, more_closed: Product, at_closed: Ints, column: str
) -> bool:
    """Return True when a masked column can be computed from what the more closed product releases."""
    coarse, fine = more_open.codes[column][at_open], more_closed.codes[column][at_closed]
    if same_values(more_closed, more_open, column, fine, coarse):
        return True
    numbers = tuple(
        numbers_of(p.values[column], codes)
        for p, codes in ((more_closed, fine), (more_open, coarse))
    )
    return is_computed_from(fine, coarse, *numbers)


def numbers_of(values: pa.Array, codes: Ints) -> Floats | None:
    """Return the numbers behind codes, NaN where missing; None for other values."""
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        return None
    known = np.append(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.nan)
    return np.asarray(known[codes], dtype=np.float64)


def explain_unrecovered(
    data: Microdata,
    table: str,
    columns: Published,
    name: str,
    product: Product,
    original: Product,
) -> list[str]:
    """Return why a product cannot give a published table again; nothing when it can."""
    levels = columns if isinstance(columns, Mapping) else dict.fromkeys(columns, 0)
    unknown = [c for c in levels if c not in data.columns]
    if unknown:
        raise ColumnNotFound(unknown, list(data.columns), "the data")
    if any(c not in product.codes for c in levels):
        return []
    old, new = shared_positions(original.rows, product.rows)
    if len(old) < len(original.rows):
        return [f"{name} lacks records, so that it cannot give the table {table!r} again."]
    lost = []
    for c, level in levels.items():
        wanted = encode(data.generalise(c, level).column(c)).codes.astype(np.int64)
        if not is_function_of(product.codes[c][new], wanted[old]):
            lost.append(c)
    return (
        [
            f"{name} cannot give the table {table!r} again: {', '.join(map(repr, lost))} differs from what is published."
        ]
        if lost
        else []
    )
