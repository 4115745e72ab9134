"""The search for the subset of keys that maximises the disclosure risk.

Both files are held as distinct key combinations with counts. Leaving a key out rolls the
combinations up; records are never looked at again. A search node is the set S of keys that are still
in, of which some, A, are there to stay; since adding keys can only make clusters smaller,

    DR(T) <= prod_{k in A} (1 - icf_k) * g(S)      for every T with A within T within S,

where g is the share of the risk without the inversion and change factors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Floats, Ints
from tacit.engine.codes import DENSE
from tacit.errors import InputError

Subset = frozenset[int]
Preset = Literal["min", "max", "diagonal", "one_over_max"]
Rule = Callable[[int, int], float]
Matrix = Sequence[Sequence[float]]

#: Two risks that differ by less, relatively, are the same number computed in another order.
TOLERANCE = 1e-12

#: Links are merged once the combinations have shrunk to this share: merging costs as much as a look.
FEWER = 0.9
#: A rule's shape is checked on this many rows and columns before it is used.
CHECKED = 24


# -- weights of the weighted risk: presets, matrices of users, and their shape rules ------------


@dataclass(frozen=True)
class Weights:
    """A weight matrix as a function of the cluster sizes i (masked) and j (original).

    ``relative`` gives w_ij / w_11 for arrays of sizes. The matrix is ``monotone`` when w_ij / max(i, j) can only fall as a
    cluster grows: then adding a key that was not changed never lowers the weighted risk. It is ``admissible`` when every
    shape rule is known to hold; ``fault`` is the first one that is broken, in words.
    """

    relative: Callable[[Ints, Ints], Floats]
    monotone: bool
    admissible: bool
    fault: str | None = None

    def gain(self, i: Ints, j: Ints) -> Floats:
        """Return w_ij / (w_11 max(i, j)), a record's part of the weighted risk."""
        return self.relative(i, j) / np.maximum(i, j)

    def ceiling(self, i: Ints, j: Ints) -> Floats:
        """Return the largest gain of any clusters at least as large in both files.

        In an admissible matrix that is the gain on the diagonal at max(i, j): weights grow towards
        the diagonal and fall along it. Otherwise all that is known is that no weight exceeds w_11.
        """
        if self.monotone:
            return self.gain(i, j)
        largest = np.maximum(i, j)
        return self.gain(largest, largest) if self.admissible else 1.0 / largest


def weights_of(given: Preset | Matrix | Rule) -> Weights:
    """Return the weights of a preset, a matrix or a rule, after the checks that bounds rest on."""
    if isinstance(given, str):
        return preset(given)
    if callable(given):
        return by_rule(given)
    return by_matrix(np.asarray(given, dtype=np.float64))


def preset(name: Preset) -> Weights:
    """Return one of the named matrices."""
    if name == "min":
        return Weights(lambda i, j: ((i == 1) & (j == 1)).astype(np.float64), True, True)
    if name == "max":
        return Weights(lambda i, j: np.ones(np.broadcast(i, j).shape), True, True)
    if name == "diagonal":
        return Weights(lambda i, j: (i == j).astype(np.float64), False, True)
    return Weights(lambda i, j: 1.0 / np.maximum(i, j), True, True)


def by_matrix(w: Floats) -> Weights:
    """Return the weights of a t x n matrix, which may be smaller than the cluster sizes that occur.

    Beyond its edges the matrix goes on along its diagonals: each keeps its last value, and diagonals
    farther out than any take that of the outermost. This preserves every shape rule.
    """
    rows, columns = w.shape

    def relative(i: Ints, j: Ints) -> Floats:
        back = np.maximum(np.maximum(i - rows, j - columns), 0)
        return w[np.maximum(i - back, 1) - 1, np.maximum(j - back, 1) - 1] / w[0, 0]

    fault = shape_fault(w)
    return Weights(relative, monotone=False, admissible=fault is None, fault=fault)


def by_rule(rule: Rule) -> Weights:
    """Return the weights of a function w(i, j); it is called once for each pair of sizes that occurs."""
    sizes = range(1, CHECKED + 1)
    grid = np.array([[float(rule(i, j)) for j in sizes] for i in sizes])
    fault = matrix_fault(grid)
    if fault:
        raise InputError(f"global_risk: {fault}")
    top = grid[0, 0]
    known = functools.cache(rule)

    def relative(i: Ints, j: Ints) -> Floats:
        pairs = zip(i.tolist(), j.tolist(), strict=True)
        found = np.array([float(known(a, b)) for a, b in pairs], dtype=np.float64)
        if not bool(np.all((found >= 0) & (found <= top))):
            raise InputError(
                "global_risk: the weight function returned a weight that is negative or above w(1, 1)"
            )
        return found / top

    return Weights(relative, monotone=False, admissible=False, fault=shape_fault(grid))


def matrix_fault(w: Floats) -> str | None:
    """Return what makes a matrix unusable: the bounds DR_min <= DR_W <= DR_max would fail."""
    if w.ndim != 2 or not w.size:
        return (
            "weights must be a matrix with at least one row and one column, all rows equally long"
        )
    if not bool(np.all(np.isfinite(w))) or bool(np.any(w < 0)):
        return "weights must be numbers of at least 0"
    if w[0, 0] <= 0:
        return "the first weight, w_11, must be greater than 0"
    if w.max() > w[0, 0]:
        return "the first weight, w_11, must be the largest of all"
    return None


def shape_fault(w: Floats) -> str | None:
    """Return the first pair of weights that breaks a shape rule of Truta et al. (3.4), in words.

    Weights must fall, or stay, away from the diagonal along rows and columns, and down every diagonal.
    """
    rows, columns = w.shape
    i, j = np.indices(w.shape)
    at_or_right, at_or_below = np.asarray(j >= i), np.asarray(i >= j)
    steps = (
        (w[:, :-1], w[:, 1:], at_or_right[:, :-1], (0, 1), "away from the diagonal"),
        (w[:, 1:], w[:, :-1], ~at_or_right[:, :-1], (0, -1), "away from the diagonal"),
        (w[:-1], w[1:], at_or_below[:-1], (1, 0), "away from the diagonal"),
        (w[1:], w[:-1], ~at_or_below[:-1], (-1, 0), "away from the diagonal"),
        (w[:-1, :-1], w[1:, 1:], np.ones((rows - 1, columns - 1), bool), (1, 1), "down a diagonal"),
    )
    for near, far, applies, (down, right), words in steps:
        broken = np.argwhere((far > near) & applies)
        if len(broken):
            a, b = (int(v) + 1 for v in broken[0])
            a, b = a + (down < 0), b + (right < 0)
            return (
                f"weights must not grow {words}, but w({a + down}, {b + right}) exceeds w({a}, {b})"
            )
    return None


# -- tables ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Side:
    """The distinct key combinations of one file, and the records in each: the cluster sizes on the keys that are left.

    Codes are packed into ``words``, several integers a combination when one cannot hold all keys; ``places`` has for each
    key its word, the stride of its digit, and the number of its codes.
    """

    words: tuple[Ints, ...]
    places: Mapping[int, tuple[int, int, int]]
    n: Ints

    @classmethod
    def of(
        cls, columns: Sequence[npt.NDArray[Any]], sizes: Sequence[int], n: Ints
    ) -> tuple[Side, Ints]:
        """Pack codes and merge equal rows; return also the combination of each row."""
        words: list[Ints] = []
        places = {}
        bound = 2**62
        for key, (column, size) in enumerate(zip(columns, sizes, strict=True)):
            if bound * size >= 2**62:
                words.append(np.zeros(len(n), dtype=np.int64))
                bound = 1
            places[key] = (len(words) - 1, bound, int(size))
            words[-1] += column.astype(np.int64) * bound
            bound *= int(size)
        return cls(tuple(words), places, n).merged()

    def merged(self) -> tuple[Side, Ints]:
        """Merge equal combinations; return also where each old one went."""
        ids = self.words[0]
        for word in self.words[1:]:
            first, _ = compact_ids(ids)
            second, width = compact_ids(word)
            ids = first * width + second
        into, at, n = merge_equal(ids, self.n)
        return Side(tuple(w[at] for w in self.words), self.places, n), into

    def without(self, key: int) -> tuple[Side, Ints]:
        """Leave a key out."""
        place, stride, size = self.places[key]
        words = list(self.words)
        words[place] = words[place] - words[place] // stride % size * stride
        left = {k: p for k, p in self.places.items() if k != key}
        return Side(tuple(words), left, self.n).merged()


def compact_ids(ids: Ints) -> tuple[Ints, int]:
    """Return the same grouping with numbers 0 .. n-1; by a table when the numbers are small, else sorted."""
    if not len(ids):
        return ids, 0
    top = int(ids.max()) + 1
    if top <= min(DENSE, max(4096, 4 * len(ids))):
        seen = np.zeros(top, dtype=np.int64)
        seen[ids] = 1
        number = np.cumsum(seen) - 1
        return number[ids], int(number[-1]) + 1
    order = np.argsort(ids)
    ascending = ids[order]
    number = np.zeros(len(ids), dtype=np.int64)
    np.cumsum(ascending[1:] != ascending[:-1], out=number[1:])
    into = np.empty_like(number)
    into[order] = number
    return into, int(number[-1]) + 1


def merge_equal(ids: Ints, n: Ints) -> tuple[Ints, Ints, Ints]:
    """Return for each number its place among the different ones; for each of these where it stands, and its sum of n."""
    into, size = compact_ids(ids)
    at = np.zeros(size, dtype=np.int64)
    at[into] = np.arange(len(into))
    return into, at, np.bincount(into, weights=n, minlength=size).astype(np.int64)


@dataclass(frozen=True)
class Linked:
    """Both files on the keys that are left, and how many records link each pair of combinations."""

    original: Side
    masked: Side
    at_original: Ints
    at_masked: Ints
    n: Ints

    def without(self, key: int) -> Linked:
        """Leave a key out of both files."""
        original, there = self.original.without(key)
        masked, here = self.masked.without(key)
        links = there[self.at_original], here[self.at_masked], self.n
        if len(original.n) > FEWER * len(self.original.n):
            return Linked(original, masked, *links)
        return merge_links(original, masked, *links)

    def only(self, keys: Subset) -> Linked:
        """Leave out every key but some."""
        table = self
        for key in [k for k in self.original.places if k not in keys]:
            table = table.without(key)
        return table

    def matrix(self) -> tuple[Ints, Ints, Ints]:
        """Return the occupied entries of the classification matrix: i (masked), j (original), c_ij."""
        i, j = self.masked.n[self.at_masked], self.original.n[self.at_original]
        width = int(j.max(initial=0)) + 1
        packed = i * width + j
        _, at, c = merge_equal(packed, self.n)
        # A fixed order of entries: sums come out the same whatever the order of the records.
        order = np.argsort(packed[at])
        return i[at][order], j[at][order], c[order]


def merge_links(
    original: Side, masked: Side, at_original: Ints, at_masked: Ints, n: Ints
) -> Linked:
    """Merge links between the same two combinations."""
    _, at, counts = merge_equal(at_original * len(masked.n) + at_masked, n)
    return Linked(original, masked, at_original[at], at_masked[at], counts)


# -- search ------------------------------------------------------------------------------------


@dataclass
class Search:
    """The state of a search.

    ``icf`` are the factors of the keys, ``weights`` those of the weighted measure, ``n`` the records of the original (the
    denominator); ``tick`` is called before each subset, so that the work can be cancelled. Found are the shares of every
    subset ``seen`` (minimal, weighted and maximal, before the factors), the ``best`` minimal, weighted and maximal risk so far, and for every subset looked at, as bits, bounds of
    the shares of its own subsets (``limits``).
    """

    icf: Floats
    weights: Weights
    n: int
    tick: Callable[[], None] = lambda: None
    seen: dict[Subset, Floats] = field(default_factory=dict)
    best: Floats = field(default_factory=lambda: np.zeros(3))
    limits: dict[int, Floats] = field(default_factory=dict)

    def factor(self, subset: Subset) -> float:
        """Return prod (1 - icf_k) over a subset."""
        return float(np.prod([1 - self.icf[k] for k in sorted(subset)]))

    def risks(self, subset: Subset) -> Floats:
        """Return the three risks of a subset that has been looked at."""
        return self.factor(subset) * self.seen[subset]

    def look(self, table: Linked, subset: Subset) -> Floats:
        """Record a subset's shares; return the ceilings of the shares of its own subsets."""
        self.tick()
        i, j, c = table.matrix()
        maximum = float((c / np.maximum(i, j)).sum()) / self.n
        minimum = float(c[(i == 1) & (j == 1)].sum()) / self.n
        weighted = float((c * self.weights.gain(i, j)).sum()) / self.n
        ceiling = float((c * self.weights.ceiling(i, j)).sum()) / self.n
        self.seen[subset] = np.array([minimum, weighted, maximum])
        self.best = np.maximum(self.best, self.risks(subset))
        limits = np.array([minimum, ceiling, maximum])
        self.limits[bits(subset)] = limits
        return limits

    def enumerate(self, table: Linked) -> None:
        """Look at every subset, each rolled up from one with a key more."""
        self._subsets_of(table, sorted(table.original.places), 0)

    def _subsets_of(self, table: Linked, keys: list[int], start: int) -> None:
        self.look(table, frozenset(keys))
        for at in range(start, len(keys)):
            if len(keys) > 1:
                left = keys[:at] + keys[at + 1 :]
                self._subsets_of(table.without(keys[at]), left, at)

    def listed(self, table: Linked, subsets: Sequence[Subset]) -> None:
        """Look at given subsets."""
        for subset in subsets:
            self.look(table.only(subset), subset)

    def branch_and_bound(self, table: Linked) -> None:
        """Find the maxima of all three measures; subsets that cannot reach them are left out.

        A key with icf 1 brings every product to 0 and is dropped at once. A key with icf 0 stays in
        for the minimal and the maximal measure; for the weighted one only when the weights are
        monotone (otherwise a smaller subset can have the larger risk).
        """
        useful = frozenset(k for k in table.original.places if self.icf[k] < 1)
        if not useful:
            self.look(table, frozenset(table.original.places))
            return
        root = table.only(useful)
        ceilings = self.look(root, useful)
        self._greedy(root, useful)
        # The most changed keys go first: kept, they lower the bound at once.
        order = sorted(useful, key=lambda k: (-self.icf[k], k))
        self._descend(root, useful, ceilings, order, 1.0)

    def _greedy(self, table: Linked, subset: Subset) -> None:
        """Leave out one key after another while that raises the maximal risk: a good start."""
        while len(subset) > 1:
            tries = {}
            for key in sorted(k for k in subset if self.icf[k] > 0):
                tries[key] = table.without(key)
                self.look(tries[key], subset - {key})
            risks = {k: self.risks(subset - {k})[2] for k in tries}
            if not risks or max(risks.values()) <= self.risks(subset)[2]:
                return
            key = max(risks, key=lambda k: (risks[k], -k))
            table, subset = tries[key], subset - {key}

    def _descend(
        self, table: Linked, subset: Subset, ceilings: Floats, undecided: list[int], kept: float
    ) -> None:
        """Leave out each undecided key of S in turn, most changed first, the ones before it being there to stay.

        ``ceilings`` bound the shares of all subsets of S, minus infinity for measures that are settled; ``kept`` is
        prod (1 - icf_k) over the keys that are there to stay.
        """
        if len(subset) == 1:
            return
        factors = kept * np.cumprod([1.0, *(1 - self.icf[k] for k in undecided)])
        # The last key first: then the supersets of a subset come before it, and bound it.
        for at in reversed(range(len(undecided))):
            key, rest = undecided[at], subset - {undecided[at]}
            limits = np.where(self._find_forced_measures(key), -np.inf, ceilings)
            if not self._open(factors[at] * limits):
                continue
            limits = np.minimum(limits, self._known_limits(rest))
            if self._open(factors[at] * limits):
                child = table.without(key)
                found = np.minimum(self.look(child, rest), limits)
                self._descend(child, rest, found, undecided[at + 1 :], float(factors[at]))

    def _known_limits(self, subset: Subset) -> Floats:
        """Return the smallest ceilings of the supersets that have been looked at."""
        mask = bits(subset)
        known = np.fromiter(self.limits, dtype=np.int64, count=len(self.limits))
        ceilings = np.array(list(self.limits.values()))
        return ceilings[(known & mask) == mask].min(axis=0, initial=np.inf)

    def _find_forced_measures(self, key: int) -> Flags:
        """Return the measures that some largest subset with this key always maximises."""
        unchanged = bool(self.icf[key] == 0)
        return np.array([unchanged, unchanged and self.weights.monotone, unchanged])

    def _open(self, bounds: Floats) -> bool:
        """Return True when some measure could still exceed the best that is known."""
        return bool(np.any(bounds > self.best * (1 + TOLERANCE)))

    def maximisers(self, measure: int) -> list[Subset]:
        """Return the subsets looked at that reach the maximum of a measure: largest first, then by key."""
        bound = self.best[measure] * (1 - TOLERANCE)
        found = [s for s in self.seen if self.risks(s)[measure] >= bound]
        return sorted(found, key=lambda s: (-len(s), sorted(s)))


def bits(subset: Subset) -> int:
    """Return a subset as bits."""
    return sum(1 << key for key in subset)
