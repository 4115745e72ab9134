"""Products of records or of one table: what each does to a column or cell, and what one tells that the next does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tacit.arrays import Floats, Ints
from tacit.data.microdata import Microdata
from tacit.data.paired import shared_positions
from tacit.data.table import Table
from tacit.engine.base import ROW
from tacit.engine.codes import dense_ids, encode
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
    old = numbers_of(original.values[column], before)
    new = numbers_of(product.values[column], after)
    if old is None or new is None:
        return is_function_of(before, after)
    return is_computed_from(before, after, old, new)


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
            lost.append(repr(c))
    why = f"{', '.join(lost)} differs from what is published"
    return [f"{name} cannot give the table {table!r} again: {why}."] if lost else []


# -- whether one column was computed from another, judged by the values alone ----------------------------

#: Numbers that differ by less than this share are equal.
CLOSE = 1e-9


def is_function_of(fine: Ints, coarse: Ints) -> bool:
    """Return True when the coarse value is a function of the fine one."""
    if not len(fine):
        return True
    pairs = dense_ids([fine, coarse], [int(fine.max()) + 1, int(coarse.max()) + 1])[1]
    return bool(pairs == len(np.unique(fine)))


def is_computed_from(
    fine: Ints, coarse: Ints, fine_numbers: Floats | None, coarse_numbers: Floats | None
) -> bool:
    """Return True when the values show that the coarse column was computed from the fine one.

    A value that no two records share determines anything, noise redrawn as well. So where most fine
    values stand alone, only a straight line or a rising step function counts: rounding, classes, a change
    of unit.
    """
    if not is_function_of(fine, coarse):
        return False
    n, kinds = len(fine), len(np.unique(fine))
    if 2 * kinds <= n:
        return True
    if fine_numbers is None or coarse_numbers is None:
        return False
    gaps = np.isnan(fine_numbers) != np.isnan(coarse_numbers)
    known = ~np.isnan(fine_numbers)
    if gaps.any() or not known.any():
        return False
    x, y = fine_numbers[known], coarse_numbers[known]
    return is_line(x, y) or is_stair(x, y)


def is_line(x: Floats, y: Floats) -> bool:
    """Return True when y lies on a straight line over at least three different x."""
    if len(np.unique(x)) < 3:
        return False
    low, high = int(np.argmin(x)), int(np.argmax(x))
    slope = (y[high] - y[low]) / (x[high] - x[low])
    fitted = y[low] + slope * (x - x[low])
    return bool(np.allclose(fitted, y, rtol=CLOSE, atol=CLOSE * np.abs(y).max(initial=0.0)))


def is_stair(x: Floats, y: Floats) -> bool:
    """Return True when y never falls as x rises, and has at most half as many different values."""
    rising = y[np.argsort(x, kind="stable")]
    few = 2 * len(np.unique(y)) <= len(np.unique(x))
    return few and bool((np.diff(rising) >= 0).all())


# -- products of one table -------------------------------------------------------------------------------


def table_treatment(table: Table) -> dict[str, int]:
    """Return how many cells are published as they are, changed, as intervals, and not at all."""
    hidden = np.isnan(table.published)
    ranged = hidden & has_interval(table)
    same = ~hidden & (table.published == table.value)
    return {
        "cells as they are": int(same.sum()),
        "cells changed": int((~hidden & ~same).sum()),
        "cells as intervals": int(ranged.sum()),
        "cells hidden": int((hidden & ~ranged).sum()),
    }


def has_interval(table: Table) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which cells are published with an interval."""
    if table.interval is None:
        return np.zeros(len(table), dtype=bool)
    return np.asarray(~np.isnan(table.interval).any(axis=1), dtype=bool)


def table_faults(open_: str, a: Table, closed: str, b: Table) -> Iterator[str]:
    """Yield what the more open table tells that the more closed one does not."""
    at_open, at_closed = shared_cells(a, b)
    if len(at_open) < len(a):
        yield f"{open_} holds {len(a) - len(at_open):,} cells that {closed} does not."
    low_a, high_a = ranges_of(a, at_open)
    low_b, high_b = ranges_of(b, at_closed)
    shown_a, shown_b = ~np.isnan(a.published[at_open]), ~np.isnan(b.published[at_closed])
    more = int((shown_a & ~shown_b).sum())
    if more:
        yield f"{open_} publishes {more:,} cells that {closed} hides."
    narrower = int((~shown_a & ~shown_b & ((low_a > low_b) | (high_a < high_b))).sum())
    if narrower:
        yield f"{open_} gives narrower intervals of {narrower:,} cells than {closed}."
    both = shown_a & shown_b
    fine, coarse = b.published[at_closed][both], a.published[at_open][both]
    other = int((fine != coarse).sum())
    true = b.changed is None
    if other and not true and not computed(fine, coarse):
        yield (
            f"{open_} changes {other:,} cells in another way than {closed}, so that both together tell "
            "more than each alone."
        )


def computed(fine: Floats, coarse: Floats) -> bool:
    """Return True when published values follow from others."""
    codes: list[Ints] = [np.unique(v, return_inverse=True)[1] for v in (fine, coarse)]
    return is_computed_from(codes[0], codes[1], fine, coarse)


def ranges_of(table: Table, at: Ints) -> tuple[Floats, Floats]:
    """Return the published intervals of some cells, infinite where there is none."""
    if table.interval is None:
        return np.full(len(at), -np.inf), np.full(len(at), np.inf)
    low, high = table.interval[at].T
    return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)


def shared_cells(a: Table, b: Table) -> tuple[Ints, Ints]:
    """Return the positions of the cells that both tables have, by their codes."""
    spans = [[(d.name, d.codes) for d in t.dimensions] for t in (a, b)]
    if spans[0] == spans[1] and len(a) == len(b):
        everyone = np.arange(len(a))
        return everyone, everyone
    order = [b.names.index(n) for n in a.names] if set(a.names) == set(b.names) else None
    if order is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    place = {tuple(b.codes(i)[o] for o in order): i for i in range(len(b))}
    found = [(i, place[a.codes(i)]) for i in range(len(a)) if a.codes(i) in place]
    pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]
