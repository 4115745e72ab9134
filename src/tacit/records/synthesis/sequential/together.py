"""All columns drawn together: by a copula, or from a table fitted to margins; and what repeats an original record drawn again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tacit.arrays import Flags, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.engine.record_hash import find_uniques
from tacit.errors import LimitReached
from tacit.records.synthesis.sequential.copula import fit_copula
from tacit.records.synthesis.sequential.margins import bin_column, fit_margins
from tacit.records.synthesis.sequential.parameters import SynthesisParameters
from tacit.records.synthesis.sequential.sequence import Chain, State, Tick
from tacit.records.synthesis.sequential.variables import Values, Variable

#: Rounds of drawing again what repeats an original record.
ROUNDS = 100
#: Draws the columns of some records anew, in place.
Redraw = Callable[[State, Ints], None]
#: Returns new values of the columns for some records.
Draw = Callable[[Ints], list[Values]]
#: Rounds of drawing again what is out of range or forbidden.
TRIES = 200


def fit_together(spec: SynthesisParameters, data: Microdata, chain: Chain, ctx: Context) -> Redraw:
    """Fit the model of all columns together; return what draws records from it until all keep the rules.

    Values that rules and sums set are set after each draw.
    """
    replaced = [c for c in spec.replaced(data) if c not in spec.sums]
    ctx.tick("fitting", 0.0)
    fit = fit_to_copula if spec.method == "copula" else fit_to_margins
    draw = fit(spec, data, replaced, chain, ctx)

    def redraw(state: State, rows: Ints) -> None:
        for _ in range(TRIES):
            for c, new in zip(replaced, draw(rows), strict=True):
                state[c] = state[c].put(rows, new)
            chain.settle_all(state)
            rows = chain.broken(state, rows)
            if not len(rows):
                return
        raise LimitReached(
            f"synthesise: {len(rows):,} records could not be drawn within the ranges and without forbidden combinations in {TRIES} attempts. Use cart, which learns them."
        )

    return redraw


def fit_to_copula(
    spec: SynthesisParameters, data: Microdata, replaced: Sequence[str], chain: Chain, ctx: Context
) -> Draw:
    """Fit a copula of the columns replaced, given those left alone."""
    del data
    pairs = {c: (chain.variables[c], chain.original[c]) for c in chain.variables}
    alone = [pairs[c] for c in pairs if c not in replaced and c not in spec.sums]
    model = fit_copula([pairs[c] for c in replaced], alone)

    def draw(rows: Ints) -> list[Values]:
        here = [(v, x.take(rows)) for v, x in alone]
        drawn = model.draw(here, len(rows), smooth=spec.smooth, rng=ctx.rng)
        return [tidy(pairs[c][0], new) for c, new in zip(replaced, drawn, strict=True)]

    return draw


def fit_to_margins(
    spec: SynthesisParameters, data: Microdata, replaced: Sequence[str], chain: Chain, ctx: Context
) -> Draw:
    """Fit a table of the columns replaced to its margins."""
    tables, private = spec.tables(data), spec.rho is not None
    binned = []
    for c in replaced:
        limits = spec.ranges.get(c, (None, None))
        column = chain.variables[c], chain.original[c]
        binned.append(bin_column(*column, bins=spec.bins, limits=limits, private=private))
    margins = [[replaced.index(c) for c in table] for table in tables]
    model = fit_margins(binned, margins, rho=spec.rho, rng=ctx.rng)
    ctx.note(cells=len(model.shares), margins=len(tables))
    if private:
        ctx.note(rho=spec.rho, sigma=model.sigma)
    return lambda rows: model.draw(len(rows), ctx.rng)


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
