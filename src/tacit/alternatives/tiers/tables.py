"""Products of one table: what each does to the cells, and what one tells that the next does not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacit.alternatives.tiers.functions import is_computed_from
from tacit.arrays import Floats, Ints
from tacit.data.table import Table


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
