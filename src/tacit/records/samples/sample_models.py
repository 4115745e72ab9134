"""The models of sample risk: each gives the expected sample count of a cell and how uncertain it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
from scipy import stats

from tacit.arrays import Floats, Ints
from tacit.errors import InputError, RoleMissing
from tacit.records.samples.frequency_risk import CellRisks, gamma_risk
from tacit.records.samples.local_counts import SEPARATED, Fitting, LocalFit, fit_around
from tacit.records.samples.local_lattice import Lattice, Rule, neighbourhood
from tacit.records.samples.sample_table import SampleTable
from tacit.stats import loglinear

Tick = Callable[[float], None]
#: The widest span of whole numbers for which a gap between values is kept as a gap.
SPAN = 1 << 20
#: Cells whose counts are foretold, and the largest neighbourhood that is tried.
CENTRES, LARGEST = 400, 1100


@dataclass(frozen=True)
class Fitted:
    """A fitted model: expected sample counts ``mu`` of the fitted ``cells``, and their gamma shapes ``alpha``.

    A shape is 0 for Argus and infinite for the Poisson model. ``numbers`` and ``notes`` go into the result.
    """

    mu: Floats
    alpha: Floats
    cells: Ints
    numbers: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    margins: tuple[loglinear.Margin, ...] = ()
    local: LocalFit | None = None
    #: Of a local model: the cells on their lattice, and the neighbourhood.
    lattice: Lattice | None = None
    hood: Hood | None = None

    def risks(self, table: SampleTable) -> CellRisks:
        """Return the risks of the fitted cells."""
        return gamma_risk(
            table.n[self.cells], self.mu, self.alpha, np.asarray(table.fraction[self.cells])
        )


def fit_argus(table: SampleTable) -> Fitted:
    """Return the model of Benedetti and Franconi: nothing is fitted, the fraction says all."""
    size = len(table.n)
    return Fitted(table.n.astype(np.float64), np.zeros(size), np.arange(size))


# -- Poisson log-linear models -----------------------------------------------------------------------------


def find_margins(
    table: SampleTable, terms: str | Sequence[Sequence[str]]
) -> tuple[loglinear.Margin, ...]:
    """Return the margins of a named or listed model."""
    axes = len(table.keys)
    if terms == "independence":
        return loglinear.main_effects(axes)
    if isinstance(terms, str):
        return loglinear.two_way(axes)
    return loglinear.reduce_margins(
        [tuple(table.keys.index(k) for k in margin) for margin in terms], axes
    )


def fit_poisson(
    table: SampleTable,
    margins: Sequence[loglinear.Margin],
    weighting: str,
    *,
    whole: bool = False,
    tick: Tick = lambda _: None,
) -> loglinear.Fit:
    """Fit a log-linear model to the counts, with the weights in one of the ways of the literature.

    Means are expected sample counts in every case: those of the pseudo-likelihood, which are about people, are
    multiplied by the sampling fraction of the cell.
    """

    def beat() -> None:
        tick(0.5)

    counts = loglinear.Counts(table.codes, table.sizes, table.n.astype(np.float64))
    try:
        if weighting == "standard":
            return loglinear.fit(counts, margins, whole=whole, tick=beat)
        assert table.weight is not None
        if weighting == "pseudo_ml":
            people = loglinear.Counts(table.codes, table.sizes, table.weight)
            made = loglinear.fit(people, margins, tick=beat)
            return loglinear.Fit(made.margins, made.mu * table.fraction, gap=made.gap)
        if weighting == "clogg_eliason":
            share = np.divide(
                table.n, table.weight, out=np.full(len(table.n), table.overall), where=table.n > 0
            )
            offset = (share, table.overall)
            return loglinear.fit(counts, margins, offset=offset, whole=whole, tick=beat)
        return loglinear.fit_with_covariate(counts, margins, table.weight, tick=beat)
    except loglinear.GridTooLarge:
        raise InputError(
            f"sample_risk: this model needs the whole grid of {counts.cells:.2g} cells, and at most "
            f"{loglinear.GRID:,} can be fitted. Take terms='independence', list margins that form a tree, "
            "or recode the keys."
        ) from None


def fit_loglinear(
    table: SampleTable,
    terms: str | Sequence[Sequence[str]],
    weighting: str,
    tick: Tick = lambda _: None,
) -> Fitted:
    """Fit a Poisson log-linear model, chosen stepwise if asked for."""
    counts = loglinear.Counts(table.codes, table.sizes, table.n.astype(np.float64))
    numbers: dict[str, Any] = {}
    if terms == "stepwise":
        if counts.cells > loglinear.GRID:
            raise InputError(
                f"sample_risk: the stepwise search needs the whole grid of {counts.cells:.2g} cells, and at most "
                f"{loglinear.GRID:,} can be searched. Take terms='independence' or recode the keys."
            )
        chosen, path = loglinear.search_forward(counts, table.overall, tick=lambda: tick(0.5))
        margins = chosen.margins
        numbers["steps"] = len(path) - 1
    else:
        margins = find_margins(table, terms)
    small = weighting == "standard" and counts.cells <= loglinear.GRID
    made = fit_poisson(table, margins, weighting, whole=small, tick=tick)
    numbers["margins"] = ", ".join(
        " x ".join(table.keys[a] for a in m) for m in sorted(made.margins)
    )
    notes: tuple[str, ...] = ()
    if small:
        bias, ratio = loglinear.minimum_error(made, counts, table.overall)
        numbers["minimum-error statistic"] = bias
        numbers["minimum-error ratio"] = ratio
        notes += (judge_fit(ratio),)
    if made.gap > 1e-6:
        notes += (f"Fitting was ended with margins off by up to {made.gap:.1g} of the total.",)
    size = len(table.n)
    return Fitted(
        made.mu, np.full(size, np.inf), np.arange(size), numbers, notes, margins=made.margins
    )


def judge_fit(ratio: float) -> str:
    """Return what the minimum-error statistic says of a model."""
    if abs(ratio) <= 1.96:
        return "The minimum-error statistic finds no fault with the model."
    if ratio > 0:
        return "By the minimum-error statistic the model is too simple, and the risk is overstated."
    return "By the minimum-error statistic the model is too rich, and the risk is understated."


# -- negative-binomial smoothing ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Hood:
    """A neighbourhood: radius c, reach d, degree t; lengths of steps along the axes, and how distances are measured."""

    c: float
    d: float | None
    degree: int
    steps: tuple[float, ...] = ()
    metric: str = "sum"

    def offsets(self, varied: int) -> Ints:
        """Return the offsets of its cells."""
        try:
            return neighbourhood(varied, self.c, self.d, self.steps, self.metric)
        except OverflowError:
            raise InputError(
                "sample_risk: the neighbourhood has more than a million cells; take a smaller radius= or fewer ordinal keys."
            ) from None
        except ValueError as error:
            raise InputError(
                f"sample_risk: the metric {self.metric!r} must give {error}."
            ) from None

    def size(self, varied: int) -> int:
        """Return the number of its cells."""
        return len(self.offsets(varied))

    def parameters(self, varied: int) -> int:
        """Return how many numbers are fitted in it."""
        return 2 + self.degree * varied

    def words(self, varied: int) -> str:
        """Return the neighbourhood in words."""
        reach = "" if self.d is None else f", d = {self.d:g}"
        how = "" if self.d is None or self.metric == "sum" else f" ({self.metric})"
        return f"c = {self.c:g}{reach}{how}, t = {self.degree}: {self.size(varied)} cells"


Impossible = Sequence[Mapping[str, Sequence[Any]]]


def place_cells(
    table: SampleTable,
    ordinal: Sequence[str],
    positions: Mapping[str, Mapping[str, int]],
    impossible: Impossible = (),
) -> Lattice:
    """Return the cells on a lattice of the ordinal keys, within groups equal on all others."""
    axes = [table.keys.index(k) for k in ordinal]
    placed = [
        place_values(k, table.values[a], positions.get(k))
        for k, a in zip(ordinal, axes, strict=True)
    ]
    places = np.stack([p[table.codes[:, a]] for p, a in zip(placed, axes, strict=True)], axis=1)
    fixed = [a for a in range(len(table.keys)) if a not in axes]
    rest = table.codes[:, fixed]
    first = np.zeros(1, dtype=np.int64)
    group = np.zeros(len(table.n), dtype=np.int64)
    if fixed:
        _, first, group = np.unique(rest, axis=0, return_index=True, return_inverse=True)
        group = group.ravel().astype(np.int64)
    rules = tuple(
        make_rule(table, dict(zip(ordinal, placed, strict=True)), positions, first, one)
        for one in impossible
        if all(k in table.keys for k in one)
    )
    ruled_out = sum(int(table.n[r.names(group, places)].sum()) for r in rules)
    if ruled_out:
        raise InputError(
            f"sample_risk: impossible= rules out cells in which there are {ruled_out:,} records; correct it or the data."
        )
    same = bool(np.ptp(table.fraction) <= 1e-12) if len(table.fraction) else True
    return Lattice(places, group, table.n, None if same else table.fraction, rules)


def make_rule(
    table: SampleTable,
    placed: Mapping[str, Ints],
    positions: Mapping[str, Mapping[str, int]],
    first: Ints,
    rule: Mapping[str, Sequence[Any]],
) -> Rule:
    """Return values of some keys that cannot occur together, on the lattice; ``first`` is a cell of each group."""
    groups = np.ones(len(first), dtype=bool)
    for key in rule.keys() - placed.keys():
        axis = table.keys.index(key)
        listed = {str(v) for v in rule[key]}
        here = np.array([v is not None and str(v) in listed for v in table.values[axis]])
        groups &= here[table.codes[first, axis]]
    places = tuple(
        find_places(table.values[table.keys.index(k)], p, positions.get(k), rule[k])
        if k in rule
        else None
        for k, p in placed.items()
    )
    return Rule(groups, places)


def find_places(
    values: Sequence[Any], places: Ints, given: Mapping[str, int] | None, listed: Sequence[Any]
) -> Ints:
    """Return the places of listed values, of those too that nobody has but whose place is known."""
    known = {str(v): int(p) for v, p in zip(values, places, strict=True) if v is not None}
    whole = [v for v in values if isinstance(v, int) and not isinstance(v, bool)]
    found = []
    for value in map(str, listed):
        if value in known:
            found.append(known[value])
        elif given is not None and value in given:
            found.append(given[value] - min(given[v] for v in known))
        elif given is None and len(whole) == len(known) > 1 and value.lstrip("-").isdecimal():
            step = (whole[1] - whole[0]) / int(places[1] - places[0])
            at = (int(value) - whole[0]) / step
            if at.is_integer():
                found.append(int(at))
    return np.array(found, dtype=np.int64)


def place_values(key: str, values: Sequence[Any], given: Mapping[str, int] | None) -> Ints:
    """Return the place of each value on its axis, from 0.

    Whole numbers keep their distances, in units of their common step, so that a value that nobody has is a gap; other
    values stand in ascending order. A missing value has no neighbours: it stands apart.
    """
    known = [v for v in values if v is not None]
    if given is not None:
        lost = sum(str(v) not in given for v in known)
        if lost:
            raise InputError(
                f"sample_risk: positions= lacks {lost} of the {len(known)} values of column {key!r}. "
                "Give every value a whole number."
            )
        places = np.array([given[str(v)] for v in known], dtype=np.int64)
    elif known and all(isinstance(v, int) and not isinstance(v, bool) for v in known):
        places = np.array(known, dtype=np.int64)
        places = (places - places.min()) // max(
            math.gcd(*(int(p) for p in places - places.min())), 1
        )
        if places.max() > SPAN:
            places = np.arange(len(known))
    else:
        places = np.arange(len(known))
    places = places - places.min(initial=0)
    far = int(places.max(initial=0)) + 1000
    return np.array([*places, *([far] if None in values else [])], dtype=np.int64)


def find_ordinal(table: SampleTable, named: Sequence[str] | None) -> tuple[str, ...]:
    """Return the keys that vary within a neighbourhood: those named, or those that hold numbers."""
    if named is not None:
        return tuple(named)
    found = tuple(
        k
        for k, values in zip(table.keys, table.values, strict=True)
        if len(values) > 2
        and all(
            isinstance(v, int | float) and not isinstance(v, bool) for v in values if v is not None
        )
    )
    if not found:
        raise RoleMissing(
            "sample_risk: model 'negative_binomial' needs an ordinal key. No key holds more than two different "
            "numbers; name ordinal keys with ordinal=[...]."
        )
    return found


def fit_local(
    table: SampleTable,
    lattice: Lattice,
    hood: Hood,
    up_to: int,
    tick: Tick = lambda _: None,
    **how: Unpack[Fitting],
) -> Fitted:
    """Fit the local model around every cell of at most ``up_to`` records."""
    varied = lattice.places.shape[1]
    size, wanted = hood.size(varied), hood.parameters(varied)
    if size <= wanted:
        raise InputError(
            f"sample_risk: a neighbourhood of {size} cells cannot carry {wanted} parameters; "
            "take a larger radius= or a lower degree=."
        )
    cells = np.flatnonzero((table.n >= 1) & (table.n <= up_to))
    try:
        here, offsets = (lattice.places[cells], lattice.group[cells]), hood.offsets(varied)
        made = fit_around(lattice, *here, offsets, hood.degree, tick=tick, **how)
    except OverflowError:
        raise InputError(
            "sample_risk: the grid of the ordinal keys is too large to number its cells; recode the keys."
        ) from None
    lowered = int((made.degree < hood.degree).sum())
    thin = int((made.total < hood.parameters(varied) - 1).sum())
    bound = int((made.status == 1).sum())
    apart = int((made.status == SEPARATED).sum())
    told = {
        f"Around {apart:,} cells the neighbours are empty on some side and no finite polynomial fits best: the risk "
        "there is uncertain and often understated; compare with separated='lower'.": apart,
        f"Around {lowered:,} cells no finite polynomial of degree {hood.degree} fits best and a lower one was taken, "
        "which tends to overstate the risk.": lowered,
        f"Around {thin:,} cells there are fewer records than parameters.": thin,
        f"For {bound:,} cells the dispersion lies at its bound.": bound,
    }
    notes = tuple(sentence for sentence, many in told.items() if many)
    numbers = {"neighbourhood": hood.words(varied), "cells that are separated": apart + lowered}
    fitted = made.mu, shapes_of(made), cells, numbers, notes
    return Fitted(*fitted, local=made, lattice=lattice, hood=hood)


def shapes_of(made: LocalFit) -> Floats:
    """Return the gamma shapes of local fits: one over the dispersion, infinite without any."""
    return np.where(made.a > 1e-8, 1 / np.maximum(made.a, 1e-8), np.inf)


# -- which neighbourhood: the one that best foretells counts that it has not seen --------------------------


def list_hoods(
    varied: int, degree: int, steps: tuple[float, ...] = (), metric: str = "sum"
) -> list[Hood]:
    """Return neighbourhoods that can carry the model, small ones first."""
    found: dict[int, Hood] = {}
    unit = max(steps, default=1.0)
    narrow = unit / min(steps, default=1.0)
    for c in (1, 2, 3, 4, 6, 8):
        for d in (2, 4, 6, 8, 12, None):
            if (d or c * varied) > c * varied or (2 * c * narrow + 1) ** varied > 200_000:
                continue
            hood = Hood(c * unit, None if d is None else d * unit, degree, steps, metric)
            size = hood.size(varied)
            if 2 * hood.parameters(varied) <= size <= LARGEST:
                found.setdefault(size, hood)
    # Sizes that differ by less than a half tell the same story.
    kept: list[Hood] = []
    for size in sorted(found):
        if not kept or size >= 1.5 * kept[-1].size(varied):
            kept.append(found[size])
    return kept


def choose_hood(
    lattice: Lattice,
    hoods: Sequence[Hood],
    tick: Tick,
    **how: Unpack[Fitting],
) -> tuple[Hood, dict[Hood, float]]:
    """Return the best neighbourhood with the mean log-likelihood of unseen counts under each.

    Counts of cells one step from occupied ones are foretold from their neighbours alone. Which cells are asked depends on
    the counts beside them and not on their own, empty cells are among them, and they are the same for all.
    """
    varied = lattice.places.shape[1]
    if not hoods:
        raise InputError(
            "sample_risk: no neighbourhood of bearable size can carry the model with "
            f"{varied} ordinal keys; give radius=, or name fewer with ordinal=[...]."
        )
    places, groups = pick_centres(lattice)
    seen = lattice.index(1).gather(
        places, groups, np.zeros((1, varied), dtype=np.int64), outside="zero"
    )[0][:, 0]
    # Cells that cannot be occupied foretell themselves.
    places, groups, seen = places[seen >= 0], groups[seen >= 0], seen[seen >= 0]
    scores: dict[Hood, float] = {}
    for i, hood in enumerate(hoods):
        offsets = hood.offsets(varied)
        made = fit_around(lattice, places, groups, offsets, hood.degree, without_centre=True, **how)
        tick((i + 1) / len(hoods))
        scores[hood] = float(foretell(seen, made.mu, made.a).mean()) if len(seen) else 0.0
    return max(hoods, key=lambda h: (scores[h], -h.size(varied), -h.degree)), scores


def pick_centres(lattice: Lattice) -> tuple[Ints, Ints]:
    """Return cells one step from occupied ones; the same for the same cells, whatever the order of records."""
    rng = np.random.default_rng(0)
    cells, varied = lattice.places.shape
    picked = rng.choice(cells, size=min(CENTRES, 2 * cells), replace=True)
    step = np.zeros((len(picked), varied), dtype=np.int64)
    step[np.arange(len(picked)), rng.integers(0, varied, len(picked))] = rng.choice(
        [-1, 1], len(picked)
    )
    places = lattice.places[picked] + step
    inside = ((places >= 0) & (places <= lattice.places.max(axis=0))).all(axis=1)
    return places[inside], lattice.group[picked][inside]


def foretell(seen: Ints, mu: Floats, a: Floats) -> Floats:
    """Return the log-probability of counts."""
    poisson = a <= 1e-8
    shape = 1 / np.where(poisson, 1.0, a)
    logs = np.where(
        poisson,
        stats.poisson.logpmf(seen, mu),
        stats.nbinom.logpmf(seen, shape, shape / (shape + mu)),
    )
    # One count that was thought impossible should not decide alone.
    return np.maximum(logs, -20.0)
