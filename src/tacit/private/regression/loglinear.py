"""Log-linear models across owners: margins are added securely once, and everybody fits the table to them.

The model is given by its generating margins (the highest-order terms); proportional fitting from a table of ones gives the fitted
table, for Poisson and multinomial sampling alike (for product-multinomial sampling, name the margins fixed by the design too). A fit and a larger one
are compared by G2 = 2 sum m1 log(m1 / m0). For a binary response the coefficients of the logit model follow from the u-terms.

Errata of the paper: its Table 4 holds log odds, not log odds ratios; "reject ... the simpler model provides a better fit" is the
wrong way round; and its log-linear column was stopped after three cycles, before it had settled.

References
----------
Fienberg, Fulp, Slavkovic, Wrobel (2006), PSD 2006, LNCS 4302, 277-290, sections 3 and 4.
Haberman (1974), The Analysis of Frequency Data, University of Chicago Press (existence of the estimate).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import xlogy

from tacit.arrays import Flags, Floats
from tacit.errors import DisclosureRefused, InputError, InvalidParameter
from tacit.private.parties.roles import Role, agree
from tacit.private.regression.design import Values, code_values
from tacit.private.regression.equations import MARGIN
from tacit.private.regression.gate import Factor, Question, pass_gate
from tacit.private.regression.sums import SumSettings, add_securely
from tacit.private.regression.threshold import Forbidden, ask
from tacit.stats.margins import GridMargin, sweep_margins

Generator = tuple[str, ...]
#: Margins with so many free parameters to a cell nearly determine a table.
CLOSE = MARGIN
#: Cells of a table beyond which it would take too long to bound each.
MOST_BOUNDED = 2_000


@dataclass(frozen=True)
class TableSpec:
    """The axes of a table with their categories: what parties agree on before they count."""

    categories: Mapping[str, tuple[str, ...]]

    @property
    def axes(self) -> tuple[str, ...]:
        """Return the names of the axes."""
        return tuple(self.categories)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the number of categories of every axis."""
        return tuple(len(c) for c in self.categories.values())

    def sum_over(self, table: Floats, generator: Generator) -> Floats:
        """Return one margin of a table."""
        others = tuple(i for i, a in enumerate(self.axes) if a not in generator)
        return np.asarray(table.sum(axis=others))

    def count(self, columns: Mapping[str, Values], who: str) -> Floats:
        """Return the table of counts of one party's records."""
        codes = tuple(
            code_values(axis, columns[axis], known, who) for axis, known in self.categories.items()
        )
        flat = np.ravel_multi_index(codes, self.shape)
        counts = np.bincount(flat, minlength=int(np.prod(self.shape)))
        return counts.reshape(self.shape).astype(np.float64)


def check_generators(spec: TableSpec, generators: Iterable[Iterable[str]]) -> list[Generator]:
    """Return the generators of a hierarchical model, in the order given, or say what is wrong with them."""
    found = [tuple(g) for g in generators]
    for g in found:
        unknown = [a for a in g if a not in spec.axes]
        if unknown or not g or len(set(g)) < len(g):
            raise InvalidParameter(
                f"the margin {g!r} must name different axes of the table: {', '.join(spec.axes)}"
            )
    if not found:
        raise InvalidParameter("a log-linear model needs at least one margin")
    return found


def play_margins(
    settings: SumSettings,
    spec: TableSpec,
    counts: Floats,
    generators: Sequence[Generator],
    threshold: int = 3,
) -> Role[list[Floats]]:
    """Add the margins of all parties securely, after the gate; every party learns the totals."""
    terms = {
        **settings.terms(),
        "categories": {a: list(c) for a, c in spec.categories.items()},
        "margins": [list(g) for g in generators],
        "threshold": threshold,
    }
    yield from agree(settings.me, settings.parties, terms)
    yield from judge_margins(settings, spec, counts, generators, threshold)
    own = [spec.sum_over(counts, g) for g in generators]
    total = yield from add_securely(settings, np.concatenate([m.ravel() for m in own]))
    margins, place = [], 0
    for m in own:
        margins.append(np.round(total[place : place + m.size]).reshape(m.shape))
        place += m.size
    return margins


def judge_margins(
    settings: SumSettings,
    spec: TableSpec,
    counts: Floats,
    generators: Sequence[Generator],
    threshold: int,
) -> Role[None]:
    """Refuse margins with small cells of others, or in which a group of others has one category alone.

    Margins that leave few cells free determine them or nearly do: then the cells of the whole table are judged too. Otherwise small
    cells of the whole table must be free to move (:func:`judge_bounds`).
    """
    places = np.indices(spec.shape).reshape(len(spec.shape), -1)
    shown = [tuple(sorted(spec.axes.index(a) for a in g)) for g in generators]
    close = CLOSE * count_parameters(spec, generators) > counts.size
    whole = [tuple(range(len(spec.axes)))] if close else []
    question = Question(
        round(counts.sum()),
        tuple(
            Factor(a, codes.astype(np.int64), n)
            for a, codes, n in zip(spec.axes, places, spec.shape, strict=True)
        ),
        tuple(dict.fromkeys([*shown, *whole])),
        weights=counts.ravel().astype(np.int64),
    )
    alone = [
        (axis, [c for c in shown if axis in c and len(c) > 1]) for axis in range(len(spec.axes))
    ]
    yield from pass_gate(
        settings, question, threshold=threshold, numbers=0, rounds=0, responses=alone
    )
    if not close and threshold > 1:
        yield from judge_bounds(settings, spec, counts, generators, threshold)


def judge_bounds(
    settings: SumSettings,
    spec: TableSpec,
    counts: Floats,
    generators: Sequence[Generator],
    threshold: int,
    min_width: int = 3,
) -> Role[None]:
    """Refuse margins that bound a small cell of the others' table closely, though no margin is small.

    Each party finds by itself how far its own cells can move while its own margins stay. Tables of several parties can move at
    least by the sum of that: where it is ``min_width`` or more, no linear or integer program on the margins of the others does
    better. It is asked in secret whether the others of somebody have a cell of 1 to ``threshold`` - 1 records without that room.
    """
    n = counts.size
    if n > MOST_BOUNDED:
        raise DisclosureRefused(
            f"{settings.me!r} ends the run: the table has {n:,} cells, too many to judge how closely its margins bound each. Merge "
            "categories, or leave an axis out."
        )
    room = np.minimum(room_to_move(spec, counts, generators), min_width).ravel()
    # Count and room in one number: the others' room stays below the base.
    base = min_width * len(settings.parties) + 1
    both = (counts.ravel() * base + room).astype(np.int64)
    tests = [Forbidden(both, c * base, c * base + min_width - 1) for c in range(1, threshold)]
    if (yield from ask(settings, "gate, bounds", tests)).any():
        raise DisclosureRefused(
            f"{settings.me!r} ends the run: the margins may bound a cell of the table that holds few records of the other parties so closely "
            "that it would be known. Merge categories, or fit a smaller model."
        )


def room_to_move(spec: TableSpec, counts: Floats, generators: Sequence[Generator]) -> Floats:
    """Return by how much each cell of a table can change while its margins stay: what tables that were found show."""
    from tacit.tables.margins.entry_bounds import entry_bounds
    from tacit.tables.margins.margins import MarginSet

    margins = MarginSet.of(
        spec.shape,
        {axes_of(spec, g): spec.sum_over(counts, g).astype(np.int64) for g in generators},
    )
    found = entry_bounds(margins)
    return np.asarray(found.inner_upper - found.inner_lower, np.float64).reshape(spec.shape)


def axes_of(spec: TableSpec, generator: Generator) -> tuple[int, ...]:
    """Return the numbers of a margin's axes, in the order of the table."""
    return tuple(i for i, a in enumerate(spec.axes) if a in generator)


def fit_margins(
    spec: TableSpec,
    generators: Sequence[Generator],
    margins: Sequence[Floats],
    *,
    tol: float = 1e-10,
    cycles: int = 10_000,
) -> tuple[Floats, int, bool]:
    """Fit a table to margins by proportional fitting from ones; return it, the cycles taken, and whether it has settled."""
    table = np.ones(spec.shape)
    known = [
        GridMargin.of(axes_of(spec, g), m, spec.shape)
        for g, m in zip(generators, margins, strict=True)
    ]
    before = table
    for fitted, _, cycle in sweep_margins(table, known, cycles):
        if np.abs(fitted - before).max() < tol:
            return fitted, cycle, True
        before = fitted.copy()
    return before, cycles, False


def count_parameters(spec: TableSpec, generators: Sequence[Generator]) -> int:
    """Return the number of free parameters of a hierarchical model, the constant included."""
    terms: set[Generator] = {()}
    for g in generators:
        for chosen in product((False, True), repeat=len(g)):
            terms.add(tuple(a for a, c in zip(g, chosen, strict=True) if c))
    sizes = dict(zip(spec.axes, spec.shape, strict=True))
    return sum(
        int(np.prod([sizes[a] - 1 for a in {*t}])) for t in {tuple(sorted(t)) for t in terms}
    )


def deviance(observed: Floats, fitted: Floats) -> float:
    """Return G2 = 2 sum n log(n / m); infinite where a fitted cell is 0 and the observed is not."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(observed > 0, observed / fitted, 1.0)
    return float(2 * np.sum(xlogy(observed, ratio)))


def pearson(observed: Floats, fitted: Floats) -> float:
    """Return X2 = sum (n - m)^2 / m over cells that are not structurally empty."""
    some = fitted > 0
    return float(np.sum((observed[some] - fitted[some]) ** 2 / fitted[some]))


def u_terms(spec: TableSpec, fitted: Floats) -> dict[Generator, Floats]:
    """Return the u-terms of a fitted table, which sum to zero over every axis.

    u_S = sum over subsets T of S of (-1)^(|S| - |T|) times the mean of log m given T.
    """
    if (fitted <= 0).any():
        raise InputError("u-terms need a fitted table without empty cells")
    logs = np.log(fitted)
    n = len(spec.axes)
    terms: dict[Generator, Floats] = {}
    for chosen in product((False, True), repeat=n):
        total = np.zeros_like(logs)
        size = sum(chosen)
        for inside in product(*((False, True) if c else (False,) for c in chosen)):
            others = tuple(i for i in range(n) if not inside[i])
            total = total + (-1) ** (size - sum(inside)) * logs.mean(axis=others, keepdims=True)
        index = tuple(slice(None) if c else 0 for c in chosen)
        terms[tuple(a for a, c in zip(spec.axes, chosen, strict=True) if c)] = total[index]
    return terms


def logit_coefficients(spec: TableSpec, fitted: Floats, response: str) -> dict[str, float]:
    """Return the coefficients of the logit model behind a log-linear fit with a binary response.

    The log odds of the response's first category, on 0/1 columns that are 1 in the first category of every predictor;
    beta = 4 u for a predictor with two categories (the factor follows from terms that sum to zero).
    """
    sizes = dict(zip(spec.axes, spec.shape, strict=True))
    if response not in sizes or sizes[response] != 2:
        raise InvalidParameter("the response of a logit model must be an axis with two categories")
    if any(sizes[a] != 2 for a in spec.axes):
        raise InvalidParameter(
            "coefficients are read off tables whose axes have two categories each"
        )
    terms = u_terms(spec, fitted)
    predictors = [a for a in spec.axes if a != response]
    found = {a: 4 * float(pair_term(spec, terms, a, response)) for a in predictors}
    constant = 2 * float(terms[(response,)][0])
    constant -= sum(2 * float(pair_term(spec, terms, a, response)) for a in predictors)
    return {"(constant)": constant, **found}


def pair_term(spec: TableSpec, terms: Mapping[Generator, Floats], one: str, two: str) -> float:
    """Return the u-term of the first categories of two axes."""
    return float(terms[tuple(a for a in spec.axes if a in (one, two))][0, 0])


def estimate_exists(
    spec: TableSpec, generators: Sequence[Generator], margins: Sequence[Floats]
) -> bool:
    """Return True when the estimate of a log-linear model exists: some table without empty cells has these margins.

    The linear program maximises t with A x = margins and x >= t.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, hstack

    n = int(np.prod(spec.shape))
    places = np.indices(spec.shape).reshape(len(spec.shape), n)
    rows, values, first = [], [], 0
    for g, margin in zip(generators, margins, strict=True):
        axes = axes_of(spec, g)
        sizes = [spec.shape[i] for i in axes]
        rows.append(first + np.ravel_multi_index([places[i] for i in axes], sizes))
        values.append(np.asarray(margin, np.float64).ravel())
        first += int(np.prod(sizes))
    matrix = coo_array(
        (np.ones(n * len(rows)), (np.concatenate(rows), np.tile(np.arange(n), len(rows)))),
        shape=(first, n),
    )
    totals = np.concatenate(values)
    # x = y + t with y >= 0, so that A y + (A 1) t = totals.
    shifted = hstack([matrix, coo_array(np.asarray(matrix.sum(axis=1)).reshape(-1, 1))]).tocsr()
    cost = np.zeros(n + 1)
    cost[-1] = -1.0
    found = linprog(cost, A_eq=shifted, b_eq=totals, bounds=(0, None), method="highs")
    if found.status != 0:
        raise InputError("no table has these margins: they do not agree with each other")
    return bool(-found.fun > 1e-9 * max(1.0, float(totals.max(initial=1.0))))


@dataclass(frozen=True)
class MarginReport:
    """What released margins tell about the cells: their bounds, and how many tables are possible."""

    lower: Floats
    upper: Floats
    n_tables: int | None
    #: Small cells whose bounds are narrower than allowed.
    exposed: Flags


def check_margins(
    spec: TableSpec,
    generators: Sequence[Generator],
    margins: Sequence[Floats],
    *,
    threshold: int = 3,
    min_width: int = 3,
    most: int = 100_000,
) -> MarginReport:
    """Bound every cell of the pooled table from released margins, and count the tables where they are few.

    A cell is exposed when it may be small (its lower bound is below the threshold and its upper bound narrower than ``min_width`` away).
    """
    from tacit.tables.margins.entry_bounds import entry_bounds
    from tacit.tables.margins.margins import MarginSet

    axes = tuple(axes_of(spec, g) for g in generators)
    known = MarginSet.of(
        spec.shape, {a: np.asarray(m, np.int64) for a, m in zip(axes, margins, strict=True)}
    )
    ranges = entry_bounds(known)
    lower = np.asarray(ranges.lower, np.float64).reshape(spec.shape)
    upper = np.asarray(ranges.upper, np.float64).reshape(spec.shape)
    exposed = (upper - lower < min_width) & (lower < threshold) & (upper > 0)
    return MarginReport(lower, upper, count_tables(axes, margins, lower, upper, most), exposed)


def count_tables(
    axes: Sequence[tuple[int, ...]],
    margins: Sequence[Floats],
    lower: Floats,
    upper: Floats,
    most: int,
) -> int | None:
    """Count the tables of whole numbers with given margins, cell by cell; None beyond so many steps."""
    shape = lower.shape
    cells = list(np.ndindex(*shape))
    left = [np.array(m, np.int64) for m in margins]
    # A margin is complete at the last of its cells.
    last = [{tuple(cell[i] for i in a): k for k, cell in enumerate(cells)} for a in axes]
    steps = 0

    def go_on(k: int) -> int | None:
        nonlocal steps
        steps += 1
        if steps > most:
            return None
        if k == len(cells):
            return 1
        cell = cells[k]
        spots = [tuple(cell[i] for i in a) for a in axes]
        low, high = int(lower[cell]), int(upper[cell])
        for margin, spot, ends in zip(left, spots, last, strict=True):
            high = min(high, int(margin[spot]))
            if ends[spot] == k:
                low = max(low, int(margin[spot]))
        total = 0
        for value in range(low, high + 1):
            for margin, spot in zip(left, spots, strict=True):
                margin[spot] -= value
            found = go_on(k + 1)
            for margin, spot in zip(left, spots, strict=True):
                margin[spot] += value
            if found is None:
                return None
            total += found
        return total

    return go_on(0) if len(cells) <= 200 else None
