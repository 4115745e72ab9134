"""Records that repeat an original one which nobody shares: found, and drawn again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tacit.arrays import Flags, Ints
from tacit.data.microdata import Microdata
from tacit.engine.record_hash import find_uniques
from tacit.errors import LimitReached
from tacit.records.synthesis.sequential.sequence import State, Tick
from tacit.records.synthesis.sequential.variables import Values

#: Rounds of drawing again.
TRIES = 100


def hash_uniques(data: Microdata, columns: Sequence[str]) -> list[str]:
    """Return a number, as text, for each record that is unique on all columns."""
    hashes, unique = find_uniques(data.to_arrow(columns))
    return sorted(f"{h:016x}" for h in hashes[unique])


def flag_uniques(data: Microdata, columns: Sequence[str]) -> Flags:
    """Return which records are unique on all columns."""
    return find_uniques(data.to_arrow(columns))[1]


def avoid_replicas(
    state: State,
    original: Mapping[str, Values],
    unique: Flags,
    redraw: Callable[[State, Ints], None],
    tick: Tick,
) -> State:
    """Draw records again until none repeats a unique original one."""
    names = list(state)
    sought = rows_of(original, names)[unique]
    for attempt in range(TRIES):
        tick("looking for replicas", attempt / TRIES)
        rows = np.flatnonzero(are_among(rows_of(state, names), sought))
        if not len(rows):
            return state
        redraw(state, rows)
    raise LimitReached(
        f"synthesise: {len(rows):,} records repeat a unique original one however often they are drawn. Synthesise more columns, or use larger leaves."
    )


def rows_of(
    state: Mapping[str, Values], names: Sequence[str]
) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """Return each record as one value."""
    keys = np.ascontiguousarray(np.column_stack([state[c].keys() + 0.0 for c in names]))
    return keys.view(np.dtype((np.void, keys.dtype.itemsize * keys.shape[1]))).ravel()


def are_among(
    rows: np.ndarray[tuple[int], np.dtype[np.void]],
    sought: np.ndarray[tuple[int], np.dtype[np.void]],
) -> Flags:
    """Return which records stand in a list."""
    return np.asarray(np.isin(rows, sought))
