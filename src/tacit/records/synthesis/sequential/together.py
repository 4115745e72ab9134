"""All columns drawn together: by a copula, or from a table fitted to margins; and what repeats an original record drawn again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tacit.arrays import Flags, Ints
from tacit.data.microdata import Microdata
from tacit.engine.record_hash import find_uniques
from tacit.errors import LimitReached
from tacit.records.synthesis.sequential.copula import fit_copula
from tacit.records.synthesis.sequential.margins import Fitted, bin_column, fit_margins
from tacit.records.synthesis.sequential.sequence import Chain, State, Tick
from tacit.records.synthesis.sequential.variables import Values, Variable

#: Rounds of drawing again what repeats an original record.
ROUNDS = 100
Ranges = Mapping[str, tuple[float | None, float | None]]
#: Draws the columns of some records anew, in place.
Redraw = Callable[[State, Ints], None]
#: Rounds of drawing again what is out of range or forbidden.
TRIES = 200


def draw_copula(
    replaced: Sequence[str],
    given: Sequence[str],
    variables: Mapping[str, Variable],
    original: State,
    *,
    smooth: bool,
    rng: np.random.Generator,
) -> Redraw:
    """Fit a copula; return what draws records from it."""
    pairs = [(variables[c], original[c]) for c in replaced]
    alone = [(variables[c], original[c]) for c in given]
    model = fit_copula(pairs, alone)

    def redraw(state: State, rows: Ints) -> None:
        here = [(v, x.take(rows)) for v, x in alone]
        for c, new in zip(
            replaced, model.draw(here, len(rows), smooth=smooth, rng=rng), strict=True
        ):
            state[c] = state[c].put(rows, tidy(variables[c], new))

    return redraw


def draw_margins(
    replaced: Sequence[str],
    tables: Sequence[Sequence[str]],
    variables: Mapping[str, Variable],
    original: State,
    *,
    bins: int,
    ranges: Ranges,
    rho: float | None,
    rng: np.random.Generator,
) -> tuple[Redraw, Fitted]:
    """Fit a table to margins; return what draws records from it, and the table."""
    binned = [
        bin_column(
            variables[c],
            original[c],
            bins=bins,
            limits=ranges.get(c, (None, None)),
            private=rho is not None,
        )
        for c in replaced
    ]
    place = {c: j for j, c in enumerate(replaced)}
    model = fit_margins(binned, [[place[c] for c in t] for t in tables], rho=rho, rng=rng)

    def redraw(state: State, rows: Ints) -> None:
        for c, new in zip(replaced, model.draw(len(rows), rng), strict=True):
            state[c] = state[c].put(rows, new)

    return redraw, model


def draw_possible(redraw: Redraw, chain: Chain) -> Redraw:
    """Return what draws records until all keep the rules: values that rules and sums set are set after each draw."""

    def draw(state: State, rows: Ints) -> None:
        for _ in range(TRIES):
            redraw(state, rows)
            chain.settle_all(state)
            rows = chain.broken(state, rows)
            if not len(rows):
                return
        raise LimitReached(
            f"synthesise: {len(rows):,} records could not be drawn within the ranges and without forbidden combinations in {TRIES} attempts. Use cart, which learns them."
        )

    return draw


def tidy(variable: Variable, values: Values) -> Values:
    """Return numbers in the decimals of their column."""
    if values.numbers is None:
        return values
    return Values(values.codes, variable.tidy(values.numbers))


# -- records that repeat an original one -----------------------------------------------------------


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
    for attempt in range(ROUNDS):
        tick("looking for replicas", attempt / ROUNDS)
        rows = np.flatnonzero(np.isin(rows_of(state, names), sought))
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
