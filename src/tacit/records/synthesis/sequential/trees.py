"""CART: a tree over the predictors, and for each new record a donor from the leaf, or the stratum, that it falls into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import require
from tacit.numerics.algebra import dot, eigh
from tacit.numerics.elementary import power
from tacit.records.synthesis.sequential.variables import Given, Values, Variable

#: Categories beyond which a tree splits by random signs of the categories rather than by the categories themselves.
MANY = 40
#: Random signs that stand for many categories.
SIGNS = 8
#: A number that so many records share at least is kept as it is when leaves are smoothed: a wage of 0, a round sum.
ATOM = 20


@dataclass(frozen=True)
class Leaves:
    """Donors sorted by leaf of a fitted tree, which is None without predictors.

    ``scores`` has for each predictor the number that stands for each of its codes, ``start`` and ``count`` where each leaf
    begins and how many donors it has. Numbers of a leaf are smoothed with noise of the standard deviation ``spread``
    (None for none) but for those of an ``atom``; what that carries beyond the ``ends`` of all donors is reflected. A
    smoothed number keeps the share ``shrink`` of its distance from the ``middle`` of its leaf: noise adds to the
    variance what the share takes off it.
    """

    tree: Any
    scores: tuple[Floats, ...]
    donors: Values
    start: Ints
    count: Ints
    spread: Floats | None
    atom: Flags
    middle: Floats
    shrink: Floats
    ends: tuple[float, float]

    def draw(self, given: Given, rng: np.random.Generator) -> Values:
        """Return new values for records with these predictors."""
        leaf = self.find(given)
        at = self.start[leaf] + np.floor(rng.random(len(leaf)) * self.count[leaf]).astype(np.int64)
        drawn = self.donors.take(at)
        if self.spread is None or drawn.numbers is None:
            return drawn
        middle, share = self.middle[leaf], self.shrink[leaf]
        spread = self.spread[leaf]
        if self.ends[0] >= 0:
            # Amounts crowd at 0, from where reflected noise would drive their mean up.
            spread = np.minimum(spread, drawn.numbers / 2)
        noise = rng.standard_normal(len(leaf)) * spread
        moved = reflect(middle + share * (drawn.numbers - middle + noise), *self.ends)
        return Values(drawn.codes, np.where(self.atom[at], drawn.numbers, moved))

    def find(self, given: Given) -> Ints:
        """Return the leaf of each record."""
        n = len(given[0][1])
        if self.tree is None:
            return np.zeros(n, dtype=np.int64)
        x = predictors(given, self.scores)
        return np.asarray(self.tree.apply(x), dtype=np.int64)


def fit_leaves(
    target: Values,
    size: int,
    given: Given,
    *,
    leaf: int,
    smooth: bool,
    rng: np.random.Generator,
) -> Leaves:
    """Return a tree of the target over its predictors, with the donors of each leaf."""
    n = len(target)
    y = target.numbers
    scores = tuple(score_codes(v, x, target, size) for v, x in given)
    tree = None
    leaves = np.zeros(n, dtype=np.int64)
    if n >= 2 * leaf and given:
        x = predictors(given, scores)
        tree = grow(x, target, size, leaf, rng)
        leaves = np.asarray(tree.apply(x), dtype=np.int64)
    order = np.argsort(leaves, kind="stable")
    nodes = 1 if tree is None else int(tree.tree_.node_count)
    count = np.bincount(leaves, minlength=nodes).astype(np.int64)
    start = np.cumsum(count) - count
    donors = target.take(order)
    spread, atom = None, np.zeros(n, dtype=bool)
    middle, shrink, ends = np.zeros(nodes), np.ones(nodes), (0.0, 0.0)
    if smooth and y is not None and n:
        spread, atom, middle, shrink = smoothing(donors.numbers, leaves[order], nodes)
        ends = float(y.min()), float(y.max())
    return Leaves(tree, scores, donors, start, count, spread, atom, middle, shrink, ends)


def grow(x: Any, target: Values, size: int, leaf: int, rng: np.random.Generator) -> Any:
    """Fit a tree: of least squares for numbers, of Gini's index for categories."""
    try:
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
    except ImportError:
        raise require("scikit-learn", "models", "synthesis by trees (method: cart)") from None
    options = {"min_samples_leaf": leaf, "random_state": int(rng.integers(2**31))}
    if target.numbers is not None:
        return DecisionTreeRegressor(**options).fit(x, target.numbers)
    if size <= MANY:
        return DecisionTreeClassifier(**options).fit(x, target.codes)
    # Squared distances of random signs are, on average, Gini's index; a tree over thousands of categories is slow.
    signs = rng.choice([-1.0, 1.0], (size, SIGNS))
    return DecisionTreeRegressor(**options).fit(x, signs[target.codes])


def score_codes(variable: Variable, values: Values, target: Values, size: int) -> Floats:
    """Return the number that stands for each code of a predictor.

    Categories are put in the order of the mean of the target, by which the best split of categories is found among
    splits of an ordered column (Breiman et al. 1984, section 4.2.2); for a target of categories in the order of the
    first component of their distributions. States of numbers lie below all numbers.
    """
    codes = values.codes
    if variable.numeric:
        assert values.numbers is not None
        low, high = float(values.numbers.min(initial=0.0)), float(values.numbers.max(initial=0.0))
        return np.asarray(low - (high - low + 1.0) * np.arange(variable.size), dtype=np.float64)
    counts = np.bincount(codes, minlength=variable.size)
    if target.numbers is not None:
        sums = np.bincount(codes, weights=target.numbers, minlength=variable.size)
        mean = sums / np.maximum(counts, 1)
        return np.where(counts > 0, mean, float(target.numbers.mean()))
    return first_component(codes, variable.size, target.codes, size)


def first_component(codes: Ints, n: int, target: Ints, size: int) -> Floats:
    """Return the first principal component of the distributions of the target by category."""
    if n * size > 2_000_000:
        return np.arange(n, dtype=np.float64)
    table = np.bincount(codes * size + target, minlength=n * size).reshape(n, size).astype(float)
    counts = table.sum(axis=1)
    shares = table / np.maximum(counts, 1.0)[:, None]
    centred = (shares - table.sum(axis=0) / max(counts.sum(), 1.0)) * (counts > 0)[:, None]
    _, vectors = eigh(dot((centred * counts[:, None]).T, centred))
    return np.asarray(dot(centred, vectors[:, -1]))


def predictors(given: Given, scores: Sequence[Floats]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return one column a predictor, in the precision in which trees split."""
    out = np.empty((len(given[0][1]), len(given)), dtype=np.float32)
    for j, ((_, values), score) in enumerate(zip(given, scores, strict=True)):
        plain = score[values.codes]
        if values.numbers is not None:
            plain = np.where(values.codes == 0, values.numbers, plain)
        out[:, j] = np.clip(plain, -1e37, 1e37)
    return out


def reflect(numbers: Floats, low: float, high: float) -> Floats:
    """Return numbers with what lies beyond the ends reflected at them: cut off or drawn again, means would move."""
    once = np.where(numbers < low, 2 * low - numbers, numbers)
    return np.clip(np.where(once > high, 2 * high - once, once), low, high)


def smoothing(
    numbers: Floats | None, leaf: Ints, nodes: int
) -> tuple[Floats, Flags, Floats, Floats]:
    """Return the bandwidth of each leaf by Silverman's rule, which numbers stay as they are, and what keeps variances.

    The bandwidth and its shrinkage are those of the numbers that do not stay (Silverman 1986, section 6.4.1).
    """
    assert numbers is not None
    _, place, n = np.unique(numbers, return_inverse=True, return_counts=True)
    atom = (n >= max(ATOM, len(numbers) // 200))[place.ravel()]
    numbers, leaf = numbers[~atom], leaf[~atom]
    count = np.bincount(leaf, minlength=nodes)
    some = np.maximum(count, 1)
    mean = np.bincount(leaf, weights=numbers, minlength=nodes) / some
    square = np.bincount(leaf, weights=(numbers - mean[leaf]) ** 2, minlength=nodes) / some
    # Quartiles after sorting within leaves.
    ranked = np.append(numbers[np.lexsort((numbers, leaf))], 0.0)
    start = np.cumsum(count) - count
    low, high = (
        ranked[np.minimum(start + np.floor(share * (some - 1)).astype(np.int64), len(ranked) - 1)]
        for share in (0.25, 0.75)
    )
    quartiles = np.where(count > 0, np.abs(high - low) / 1.349, 0.0)
    scale = np.where(quartiles > 0, np.minimum(np.sqrt(square), quartiles), np.sqrt(square))
    spread = 0.9 * scale * power(some, -0.2)
    shrink = np.sqrt(square / np.maximum(square + spread**2, 1e-300))
    return spread, atom, mean, np.where(square > 0, shrink, 1.0)


# -- without a tree: random draws within strata ----------------------------------------------------


@dataclass(frozen=True)
class Strata:
    """Donors sorted by class.

    ``names`` are the columns whose classes are the strata, ``seen`` the sorted values that each has in the original, and
    ``classes`` the numbers of the classes, ascending. ``start`` and ``count`` say where each class begins and how many
    donors it has; the last entry is the whole file.
    """

    names: tuple[str, ...]
    seen: tuple[Floats, ...]
    classes: Ints
    donors: Values
    start: Ints
    count: Ints

    def draw(self, given: Given, rng: np.random.Generator) -> Values:
        """Return values of random donors of the same class; of the whole file where the class is new."""
        number = number_classes(given, self.names, self.seen)
        at = np.minimum(np.searchsorted(self.classes, number), len(self.classes) - 1)
        at = np.where(self.classes[at] == number, at, len(self.classes))
        place = self.start[at] + np.floor(rng.random(len(at)) * self.count[at]).astype(np.int64)
        return self.donors.take(place)


def fit_strata(target: Values, given: Given, within: Sequence[str]) -> Strata:
    """Return the donors by class of some of the predictors."""
    picked = [(v, x) for v, x in given if v.name in within]
    names = tuple(dict.fromkeys(v.name for v, _ in picked))
    seen = tuple(np.unique(x.keys()) for v, x in picked[: len(names)])
    number = number_classes(given, names, seen)
    order = np.argsort(number, kind="stable")
    classes, start, count = np.unique(number[order], return_index=True, return_counts=True)
    return Strata(
        names,
        seen,
        classes,
        target.take(order),
        np.append(start, 0),
        np.append(count, len(target)),
    )


def number_classes(given: Given, names: Sequence[str], seen: Sequence[Floats]) -> Ints:
    """Return the number of each record's class; -1 where a value was never seen."""
    number = np.zeros(len(given[0][1]), dtype=np.int64)
    new = np.zeros(len(number), dtype=bool)
    for name, known in zip(names, seen, strict=True):
        values = next(x for v, x in given if v.name == name).keys()
        at = np.minimum(np.searchsorted(known, values), len(known) - 1)
        new |= known[at] != values
        number = number * (len(known) + 1) + at
    return np.where(new, -1, number)
