"""Linear regression when owners hold different columns of the same persons.

Two owners need X_A' X_B. Owner A sends an orthonormal Z of g columns with Z' X_A = 0; owner B returns W = (I - Z Z') X_B, and A
computes X_A' W = X_A' X_B. A learns that X_B lies in n - g dimensions given by W; B learns that X_A lies in n - g
dimensions. g = n p_A / (p_A + p_B) shares the burden by the number of columns.

That hides a column only while nothing else is known of it. One of 0 and 1, of a few values, or mostly of one value is the only such
column in its space, and a linear program finds it. Whole numbers, or numbers rounded to a common step, are points of a lattice, and
the shortest of them in the space is the column: lattice reduction finds it, also in columns that were shifted or scaled. A column that
is nearly such (two values and a little noise, or many small values and a few large ones) is nearly found. Such columns
are refused, and pairs whose sum or difference is one; whether a column is special in another way is for its owner to judge.

References
----------
Karr, Lin, Sanil, Reiter (2009), Privacy-preserving analysis of vertically partitioned data using secure matrix products,
Journal of Official Statistics 25, 125-138.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.arrays import Floats
from tacit.errors import DisclosureRefused, Infeasible, ProtocolError
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.roles import Receive, Role, Send, agree, receive_all, send_all
from tacit.private.parties.wire import take

#: Of the records, the share that must have different values in a column, and the largest share that one value may have.
FEWEST_VALUES, MOST_OFTEN = 0.5, 0.05
#: Within a window of so many standard deviations there may be this share of the values; between two values with a tenth of the column on
#: each side no gap so wide.
WINDOWS, WIDEST_GAP = ((0.1, 0.3), (0.01, 0.05)), 0.75
#: A column of so few decimals, or whose values are whole multiples of a step, at most so many from the smallest to the largest, is found
#: by lattice reduction.
MOST_DECIMALS, MOST_STEPS = 9, 1e6


@dataclass(frozen=True)
class VerticalFit:
    """The joint least-squares fit; every owner learns it."""

    names: tuple[str, ...]
    beta: Floats
    covariance: Floats
    n_records: int
    sigma2: float


def play_vertical(
    me: str,
    parties: Sequence[str],
    names: Sequence[str],
    x: Floats,
    y: Floats | None,
    random: Randomness,
) -> Role[VerticalFit]:
    """Play one owner of columns; the owner of the response (the first party) counts it as one more column.

    Records must stand in the same order at every owner (join them by a common identifier first).
    """
    terms = {"protocol": "vertical-1", "order": list(parties), "records": len(x)}
    yield from agree(me, parties, terms)
    n = len(x)
    # The constant belongs to the first owner, the response stands last in its block.
    own = np.column_stack([np.ones(n), x, y]) if y is not None else np.asarray(x, np.float64)
    labels = ["(constant)", *names, "(response)"] if y is not None else list(names)
    require_records(me, n, len(labels) + len(parties) - 1)
    require_many_values(me, labels, own)
    others = [p for p in parties if p != me]
    told_columns = {"names": labels, "square": np.ascontiguousarray(own.T @ own)}
    yield from send_all(others, "columns", told_columns)
    told = yield from receive_all(others, "columns")
    columns = {p: list(take(b, "names", list)) for p, b in told.items()}
    squares = {
        p: np.asarray(take(b, "square", "f8", (len(columns[p]), len(columns[p]))))
        for p, b in told.items()
    }
    squares[me], columns[me] = own.T @ own, labels
    every = [c for p in parties for c in columns[p]]
    if len(set(every)) < len(every) or "(response)" not in columns[parties[0]]:
        raise ProtocolError("two owners have columns of one name, or the first has no response")
    total = sum(len(c) for c in columns.values())
    require_records(me, n, total)
    products: dict[tuple[str, str], Floats] = {}
    for one, other in itertools.combinations(parties, 2):
        step = f"product {one} {other}"
        if me == one:
            yield Send(other, step, {"z": complement(own, len(columns[other]), random)})
            told = take((yield Receive(other, step)), "w", "f8", (n, len(columns[other])))
            products[one, other] = own.T @ np.asarray(told)
        elif me == other:
            z = np.asarray(take((yield Receive(one, step)), "z", "f8", (n, None)))
            skew = np.abs(z.T @ z - np.eye(z.shape[1])).max(initial=0.0) > 1e-8
            if skew or z.shape[1] < n // 10:
                raise DisclosureRefused(
                    f"{me!r} ends the run: what it was asked to multiply with would give its columns away"
                )
            yield Send(one, step, {"w": np.ascontiguousarray(own - z @ (z.T @ own))})
    # Every owner tells all others the products that it computed: so far these are its own.
    for (_, other), m in products.items():
        yield from send_all(others, f"result {me} {other}", {"m": np.ascontiguousarray(m)})
    for one, other in itertools.combinations(parties, 2):
        if one != me:
            shape = (len(columns[one]), len(columns[other]))
            told = take((yield Receive(one, f"result {one} {other}")), "m", "f8", shape)
            products[one, other] = np.asarray(told)
    return solve(parties, columns, squares, products, n)


def require_records(who: str, n: int, columns: int) -> None:
    """Refuse too few records for so many columns of all owners, or at least so many."""
    if n < 2 * columns + 10:
        raise DisclosureRefused(
            f"{who!r} ends the run: {n} records are too few for {columns} columns; the products would give the columns away"
        )


def require_many_values(who: str, names: Sequence[str], columns: Floats) -> None:
    """Refuse columns that a linear program would find in the space that the other owner is shown."""
    hidden = [(n, c) for n, c in zip(names, columns.T, strict=True) if n != "(constant)"]
    pairs = [
        (f"{a} and {b}", x + sign * z)
        for i, (a, x) in enumerate(hidden)
        for b, z in hidden[:i]
        for sign in (1, -1)
    ]
    for name, values in [*hidden, *pairs]:
        repeats = np.unique(np.round(values, 9), return_counts=True)[1]
        often = max(1, MOST_OFTEN * len(values))
        if len(repeats) < FEWEST_VALUES * len(values) or repeats.max() > often:
            raise DisclosureRefused(
                f"{who!r} ends the run: {name} has few distinct values, or one value often, and the other owners could find it by a linear "
                "program. Leave it out, or bring the columns together under another agreement."
            )
        if in_clusters(values):
            raise DisclosureRefused(
                f"{who!r} ends the run: {name} has most values close together, or values in groups apart, and the other owners could nearly find "
                "it by a linear program. Leave it out, or take a transformation (such as logarithms) that spreads its values."
            )
        if on_a_grid(values):
            raise DisclosureRefused(
                f"{who!r} ends the run: {name} has whole or rounded numbers, and the other owners could find it by lattice reduction. Leave it "
                "out, or add to each value random noise as wide as its rounding (between minus and plus half a step)."
            )


def in_clusters(values: Floats) -> bool:
    """Return True for values in a few narrow groups, or mostly in one: known but for a little noise, or for a few of them."""
    ordered, n = np.sort(values), len(values)
    spread = float(values.std())
    for width, share in WINDOWS:
        inside = np.searchsorted(ordered, ordered + width * spread, side="right") - np.arange(n)
        if inside.max(initial=0) > max(5, share * n):
            return True
    tenth = max(1, n // 10)
    between = np.diff(ordered[tenth - 1 : n - tenth + 1])
    return bool(between.max(initial=0.0) > WIDEST_GAP * spread)


def on_a_grid(values: Floats) -> bool:
    """Return True for numbers of a few decimals, or whose differences are whole multiples of one step (Euclid, with a tolerance)."""
    for decimals in range(MOST_DECIMALS):
        scaled = values * 10.0**decimals
        if np.abs(scaled).max() < 1e9 and np.abs(scaled - np.round(scaled)).max() < 1e-6:
            return True
    ordered = np.unique(values)
    width = float(ordered[-1] - ordered[0])
    divisor = width
    for step in np.sort(np.diff(ordered)):
        a, b = divisor, float(step)
        while b > width / MOST_STEPS / 100:
            a, b = b, min(a % b, b - a % b)
        divisor = a
    return divisor > width / MOST_STEPS


def complement(x: Floats, p_other: int, random: Randomness) -> Floats:
    """Return orthonormal columns that are orthogonal to x: random ones, made so."""
    n, p = x.shape
    g = max(1, min(n - p - 1, n * p // (p + p_other)))
    seed = int.from_bytes(random.draw(16), "big")
    drawn = np.random.default_rng(seed).standard_normal((n, g))
    basis, _ = np.linalg.qr(x)
    for _ in range(2):
        drawn = drawn - basis @ (basis.T @ drawn)
    z, _ = np.linalg.qr(drawn)
    return np.ascontiguousarray(z)


def solve(parties: Sequence[str], columns: Any, squares: Any, products: Any, n: int) -> VerticalFit:
    """Put the blocks of X'X together and solve the normal equations."""
    names = [c for p in parties for c in columns[p]]
    starts = np.cumsum([0, *(len(columns[p]) for p in parties)])
    gram = np.empty((len(names), len(names)))
    places = {p: slice(*ends) for p, ends in zip(parties, itertools.pairwise(starts), strict=True)}
    for p, own in places.items():
        gram[own, own] = squares[p]
    for (one, other), product in products.items():
        a, b = places[one], places[other]
        gram[a, b], gram[b, a] = product, product.T
    at = names.index("(response)")
    rest = [i for i in range(len(names)) if i != at]
    square, cross = gram[np.ix_(rest, rest)], gram[rest, at]
    if not np.isfinite(square).all() or np.linalg.cond(square) > 1e12:
        raise Infeasible("columns of the owners depend on each other: leave one out")
    beta = np.linalg.solve(square, cross)
    sigma2 = float((gram[at, at] - beta @ cross) / (n - len(rest)))
    covariance = np.asarray(np.linalg.inv(square)) * sigma2
    return VerticalFit(tuple(names[i] for i in rest), np.asarray(beta), covariance, n, sigma2)
