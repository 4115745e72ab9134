"""Decision-theoretic risk on codes: candidates in a dictionary, sensitivity, loss, MinRisk.

Records and dictionaries are matrices of codes, one column an attribute, -1 where a value is missing or suppressed.
A dictionary row is a candidate of a record when every attribute is missing on either side, or consistent
(equal, similar, or one above the other in a hierarchy). Which codes are consistent is a list for each code of the
records, so that every sort of consistency is counted in one way.

References
----------
Lebanon, Scannapieco, Fouad, Bertino (2006), Beyond k-anonymity: a decision theoretic framework for assessing
privacy risk, PSD 2006, LNCS 4302, 217-232.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Floats, Ints
from tacit.engine.codes import dense_ids
from tacit.numerics.algebra import dot
from tacit.numerics.elementary import exp
from tacit.numerics.kernels import Kernels

Codes = npt.NDArray[np.int32]
Per = Literal["record", "total", "attribute"]
Shape = Literal["sum", "product", "constant"]
#: What a user's own sensitivity is: the cells shown (records x attributes) and their weights, to one number a record.
OwnSensitivity = Callable[[Flags, Floats], npt.ArrayLike]

#: Code of a value that is missing or suppressed: it is consistent with everything.
MISSING = -1
#: Similarities are sums of a few fractions; one this little below the threshold has reached it.
SLIGHT = 1e-12
#: Pairs of rows looked at together where similarity is averaged over a record.
PAIRS = 4_000_000
#: The largest sum of weights of which the exponential is a number.
LARGEST_EXPONENT = 709.0


# -- dictionaries ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Consistent:
    """Which dictionary codes each code of the records is consistent with: ``index[start[v]:start[v + 1]]``."""

    start: Ints
    index: Codes

    @classmethod
    def equal(cls, n: int) -> Consistent:
        """Return that codes are consistent with themselves alone."""
        return cls(np.arange(n + 1), np.arange(n, dtype=np.int32))

    @classmethod
    def of(cls, lists: Sequence[npt.ArrayLike]) -> Consistent:
        """Return the lists, one for each code of the records, joined."""
        parts = [np.sort(np.asarray(one, dtype=np.int32)) for one in lists]
        ends = np.cumsum([0, *map(len, parts)])
        return cls(ends.astype(np.int64), np.concatenate([np.zeros(0, np.int32), *parts]))


@dataclass(frozen=True)
class Dictionary:
    """What an attacker knows: rows of codes, and how they compare with the codes of the records."""

    #: The different rows, -1 for null.
    codes: Codes
    #: How many rows of the dictionary are each of them.
    size: Ints
    #: By attribute, what each code of the records is consistent with.
    consistent: tuple[Consistent, ...]
    #: By attribute, similarities of codes of the records (rows) and of the dictionary (columns). When given, a row is
    #: a candidate from a mean similarity of ``threshold`` on, and ``consistent`` is not used.
    similarity: tuple[Floats, ...] = ()
    #: The least mean similarity.
    threshold: float = 1.0

    @classmethod
    def of(
        cls,
        codes: npt.ArrayLike,
        consistent: Sequence[Consistent],
        similarity: Sequence[Floats] = (),
        threshold: float = 1.0,
    ) -> Dictionary:
        """Return a dictionary from all its rows; equal rows are counted once."""
        rows = np.asarray(codes, dtype=np.int32)
        different, of = distinct_rows(rows)
        size = np.bincount(of, minlength=len(different)).astype(np.int64)
        return cls(different, size, tuple(consistent), tuple(similarity), threshold)

    @property
    def n(self) -> int:
        """Return N, the rows of the dictionary."""
        return int(self.size.sum())

    def count(self, shown: Codes) -> Ints:
        """Return the number of candidates |rho| of each record, as it is shown."""
        cells, of = distinct_rows(shown)
        found = count_alike(cells, self) if self.similarity else count_consistent(cells, self)
        return found[of]

    def count_values(self, attribute: int) -> Ints:
        """Return n_j: for each code of the records the rows consistent with it on one attribute alone."""
        column, how = self.codes[:, attribute], self.consistent[attribute]
        known = column >= 0
        largest = int(max(how.index.max(initial=-1), column.max(initial=-1))) + 1
        rows = np.bincount(column[known], weights=self.size[known], minlength=largest)
        sums = np.concatenate([[0], np.cumsum(rows[how.index])]).astype(np.int64)
        return sums[how.start[1:]] - sums[how.start[:-1]] + int(self.size[~known].sum())


def distinct_rows(codes: Codes) -> tuple[Codes, Ints]:
    """Return the different rows, in ascending order, and which of them each row is."""
    n, m = codes.shape
    if m == 0 or n == 0:
        return codes[: min(n, 1)], np.zeros(n, dtype=np.int64)
    columns = [codes[:, j] - MISSING for j in range(m)]
    ids, bound = dense_ids(columns, [int(c.max()) + 1 for c in columns])
    first = np.full(bound, n, dtype=np.int64)
    np.minimum.at(first, ids, np.arange(n))
    different = codes[first]
    order = np.lexsort(different.T[::-1])
    rank = np.empty(bound, dtype=np.int64)
    rank[order] = np.arange(bound)
    return different[order], rank[ids]


def count_consistent(shown: Codes, theta: Dictionary) -> Ints:
    """Return the candidates of different records: a walk down the tree of their common beginnings.

    At each node stand the dictionary rows that are consistent so far; they are sorted by the next attribute once,
    whatever the number of its values below the node.
    """
    if not len(shown) or not len(theta.codes):
        return np.zeros(len(shown), dtype=np.int64)
    used = [
        j
        for j in range(shown.shape[1])
        if (shown[:, j] >= 0).any() and (theta.codes[:, j] >= 0).any()
    ]
    if not used:
        return np.full(len(shown), theta.n, dtype=np.int64)
    # Few values first, so that many records share the nodes where the lists are long.
    used.sort(key=lambda j: (len(theta.consistent[j].start), j))
    cells, of = distinct_rows(np.ascontiguousarray(shown[:, used]))
    same = np.cumprod(cells[1:] == cells[:-1], axis=1).sum(axis=1)
    common = np.concatenate([[0], same, [-1]]).astype(np.int64)
    lists = [theta.consistent[j] for j in used]
    begins = np.cumsum([0, *(len(c.index) for c in lists)])
    offset = np.cumsum([0, *(len(c.start) for c in lists)])[:-1].astype(np.int64)
    start = np.concatenate([c.start + b for c, b in zip(lists, begins, strict=False)])
    index = np.concatenate([c.index for c in lists])
    rows = np.ascontiguousarray(theta.codes[:, used])
    out = np.zeros(len(cells), dtype=np.int64)
    turns = float(len(rows)) * len(used) + float(len(cells)) * len(used) * 20
    walk = KERNELS.pick(turns)["walk_tree"]
    walk(cells, common, rows, theta.size, offset, start.astype(np.int64), index, out)
    return out[of]


def walk_tree(
    cells: Any, common: Any, rows: Any, size: Any, offset: Any, start: Any, index: Any, out: Any
) -> None:
    """Write the number of candidates of each cell; cells stand in ascending order.

    ``common[t]`` is how many leading values cell t shares with the one before it. Row d of ``at`` lists the
    candidates on the first d attributes.
    """
    n, m = cells.shape
    at = np.empty((m + 1, len(rows)), dtype=np.int32)
    keys = np.empty((m, len(rows)), dtype=np.int32)
    length = np.zeros(m + 1, dtype=np.int64)
    is_sorted = np.zeros(m + 1, dtype=np.bool_)
    for r in range(len(rows)):
        at[0, r] = r
    length[0] = len(rows)
    for t in range(n):
        for j in range(common[t], m):
            v, here, kept = cells[t, j], length[j], 0
            is_sorted[j + 1] = False
            if v < 0:
                for r in range(here):
                    at[j + 1, r] = at[j, r]
                length[j + 1] = here
                continue
            low, high = start[offset[j] + v], start[offset[j] + v + 1]
            if not is_sorted[j] and common[t + 1] >= j and here > 32:
                sort_node(at, keys, rows, j, here)
                is_sorted[j] = True
            if is_sorted[j] and high - low < here:
                stop = find_first(keys[j], 0, here, 0)
                for r in range(stop):
                    at[j + 1, kept] = at[j, r]
                    kept += 1
                for p in range(low, high):
                    r = find_first(keys[j], 0, here, index[p])
                    while r < here and keys[j, r] == index[p]:
                        at[j + 1, kept] = at[j, r]
                        kept += 1
                        r += 1
            else:
                for r in range(here):
                    code = rows[at[j, r], j]
                    p = low
                    if code >= 0 and high - low > 1:
                        p = find_first(index, low, high, code)
                    if code < 0 or (p < high and index[p] == code):
                        at[j + 1, kept] = at[j, r]
                        kept += 1
            length[j + 1] = kept
        total = 0
        for r in range(length[m]):
            total += size[at[m, r]]
        out[t] = total


def find_first(values: Any, low: int, high: int, wanted: Any) -> int:
    """Return the first place in ascending values, from ``low`` up to ``high``, that is not below a wanted one."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


def sort_node(at: Any, keys: Any, rows: Any, j: int, here: int) -> None:
    """Sort the candidates at a node by their code of the next attribute, null first."""
    for r in range(here):
        keys[j, r] = rows[at[j, r], j]
    order = np.argsort(keys[j, :here], kind="mergesort")
    members, values = at[j, :here].copy(), keys[j, :here].copy()
    for r in range(here):
        at[j, r] = members[order[r]]
        keys[j, r] = values[order[r]]


KERNELS = Kernels(globals(), find_first, sort_node, walk_tree)


def count_alike(shown: Codes, theta: Dictionary) -> Ints:
    """Return the candidates where the mean similarity over the attributes known on both sides decides."""
    out = np.zeros(len(shown), dtype=np.int64)
    step = max(1, PAIRS // max(1, len(theta.codes)))
    theirs = theta.codes >= 0
    for begin in range(0, len(shown), step):
        block = shown[begin : begin + step]
        total = np.zeros((len(block), len(theta.codes)))
        known = np.zeros(total.shape)
        for j, table in enumerate(theta.similarity):
            both = (block[:, j] >= 0)[:, None] & theirs[:, j][None, :]
            alike = np.pad(table, ((0, 1), (0, 1)))[block[:, j]][:, theta.codes[:, j]]
            total += np.where(both, alike, 0.0)
            known += both
        enough = total >= (theta.threshold - SLIGHT) * known
        out[begin : begin + step] = dot(enough, theta.size)
    return out


# -- sensitivity and loss ----------------------------------------------------------------------


@dataclass(frozen=True)
class Sensitivity:
    """How much it hurts to be identified, given the cells that are shown (the paper's Phi)."""

    #: w_{j,i}, records x attributes; infinite for what may never be identified.
    weights: Floats
    #: ``sum`` of the weights of what is shown (phi1 to phi4), ``product`` of their exponentials (phi5), or
    #: ``constant``.
    form: Shape = "sum"
    #: Weights of sets of attributes that are shown together: attributes, and one weight a record.
    terms: tuple[tuple[tuple[int, ...], Floats], ...] = ()
    #: Sensitivity of every record under ``constant``.
    constant: float = 1.0
    #: A function of the user's that takes the place of the form.
    own: OwnSensitivity | None = field(default=None, compare=False)

    def of(self, shown: Flags) -> Floats:
        """Return Phi of each record, given which of its cells are shown."""
        if self.own is not None:
            values = np.asarray(self.own(shown, self.weights), dtype=np.float64)
            if values.shape != (len(shown),):
                raise ValueError(
                    f"a sensitivity gives one number a record: {len(shown)} were expected"
                )
            if np.isnan(values).any() or (values < 0).any():
                raise ValueError("a sensitivity is a number from 0 up, or infinite")
            return values
        if self.form == "constant":
            return np.full(len(shown), self.constant)
        total = np.where(shown, self.weights, 0.0).sum(axis=1)
        for attributes, weight in self.terms:
            total = total + np.where(shown[:, list(attributes)].all(axis=1), weight, 0.0)
        if self.form == "sum":
            return total
        with np.errstate(over="ignore"):
            return exp(total)


#: Sensitivities of users, by name.
OWN_SENSITIVITIES: dict[str, OwnSensitivity] = {}


def name_sensitivity(name: str) -> Callable[[OwnSensitivity], OwnSensitivity]:
    """Give a sensitivity of your own a name, under which Specs and plans of this process find it.

    The function takes the cells shown (True or False, records x attributes) and their weights, and returns one
    number from 0 up for each record.
    """
    if not name or name.startswith("phi") or name == "constant":
        raise ValueError("the name of a sensitivity is a word of your own, not phi... or constant")

    def keep(function: OwnSensitivity) -> OwnSensitivity:
        OWN_SENSITIVITIES[name] = function
        return function

    return keep


def hide(codes: Codes, shown: Flags) -> Codes:
    """Return the records with only some cells shown."""
    return np.where(shown, codes, MISSING).astype(np.int32)


def losses(candidates: Ints, sensitivity: Floats | float) -> Floats:
    """Return Phi / |rho|, and 0 without candidates, even for an infinite Phi; for 1 the chance of identification."""
    return np.divide(sensitivity, candidates, out=np.zeros(len(candidates)), where=candidates > 0)


def risk_of(loss: Floats) -> float:
    """Return R, the mean loss; 0 without records."""
    return float(loss.mean()) if len(loss) else 0.0


def weigh(prior: Sequence[float] | Floats, values: Floats) -> Any:
    """Return the prior mean over the first axis; a dictionary of weight 0 counts nothing, even infinite."""
    total = np.zeros(np.shape(values)[1:])
    for weight, one in zip(prior, values, strict=True):
        if weight > 0:
            total = total + weight * one
    return total


def concentrate(loss: Floats, share: float) -> int:
    """Return the least number of records that carry a share of the total loss."""
    if np.isinf(loss).any():
        return math.ceil(share * int(np.isinf(loss).sum()))
    total = float(loss.sum())
    if total <= 0:
        return 0
    carried = np.cumsum(np.sort(loss)[::-1])
    return int(np.searchsorted(carried, share * total * (1 - SLIGHT)) + 1)


# -- rules -------------------------------------------------------------------------------------


def count_rules(known: Flags, per: Per, k: int) -> int:
    """Return how many rules disclose k cells in total, of each record, or of each attribute.

    ``known`` says which cells have a value to disclose. All cells of an n x m table give the sizes of the
    paper: C(nm, k), C(m, k)^n and C(n, k)^m.
    """
    if per == "total":
        return math.comb(int(known.sum()), k)
    counts = known.sum(axis=1 if per == "record" else 0)
    return math.prod(math.comb(int(c), k) for c in counts)


def marginal_counts(codes: Codes, theta: Dictionary) -> Ints:
    """Return n_j(x_ij): the rows consistent with each cell alone; N where it is missing."""
    out = np.full(codes.shape, theta.n, dtype=np.int64)
    for j in range(codes.shape[1]):
        known = codes[:, j] >= 0
        out[known, j] = theta.count_values(j)[codes[known, j]]
    return out


def gammas(codes: Codes, theta: Dictionary, weights: Floats) -> Floats:
    """Return gamma_j = exp(w_ji) N / n_j(x_ij) of Algorithm 1; infinite where nothing can be disclosed.

    A value that matches nobody makes the loss 0: its gamma is 0, so that it is taken first.
    """
    counts = marginal_counts(codes, theta)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        found = np.where(counts > 0, exp(weights) * theta.n / counts, 0.0)
    return np.where(codes >= 0, found, np.inf)


def select_smallest(gamma: Floats, known: Flags, k: int) -> Flags:
    """Return the k attributes of each record with the smallest gamma, the first ones among equals.

    A record with fewer values discloses all of them.
    """
    # A value of infinite gamma still goes before a missing one.
    order = np.lexsort((gamma, ~known), axis=1)
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(gamma.shape[1]), order.shape), axis=1)
    return (rank < k) & known


def product_candidates(counts: Ints, shown: Flags, n: int) -> Floats:
    """Return N prod_j n_j / N over what is shown: the candidates if attributes were independent."""
    if n == 0:
        return np.zeros(len(counts))
    return n * np.where(shown, counts / n, 1.0).prod(axis=1)


def departure(exact: Ints, product: Floats) -> float:
    """Return the largest |exact / product - 1|: 0 where attributes are independent in the dictionary."""
    some = product > 0
    return float(np.abs(exact[some] / product[some] - 1).max(initial=0.0))


def bound_losses(counts: Ints, known: Flags, weights: Floats, k: int, found: Flags) -> Floats:
    """Return a loss under phi5 that no choice of k attributes of a record can undercut.

    The candidates of k attributes are no more than the rarest of them has, so at most the k-th largest n_j; the
    weights are at least the k smallest. ``found`` says which records have candidates with all they show; the
    others may reach 0.
    """
    if k == 0 or not known.shape[1]:
        return np.zeros(len(counts))
    take = np.minimum(k, known.sum(axis=1))
    many = -np.sort(-np.where(known, counts, -1), axis=1)
    light = np.sort(np.where(known, weights, np.inf), axis=1)
    at = np.maximum(take - 1, 0)[:, None]
    most = np.take_along_axis(many, at, axis=1)[:, 0]
    ranks = np.arange(known.shape[1])[None, :] < take[:, None]
    with np.errstate(over="ignore"):
        least = exp(np.where(ranks, light, 0.0).sum(axis=1))
    return np.where(found & (take > 0), least / np.maximum(most, 1), 0.0)


# -- order of dictionaries ---------------------------------------------------------------------


@dataclass(frozen=True)
class Certificate:
    """Whether one dictionary precedes another (Definition 8), so that its risk is an upper bound (Theorem 1)."""

    #: True when the first precedes the second.
    holds: bool
    #: Identifiers of the first that the second lacks.
    absent: tuple[Any, ...] = field(default=(), repr=False)
    #: Identifiers whose row in the second says something else than, or more than, their row in the first.
    differ: tuple[Any, ...] = field(default=(), repr=False)

    def sentence(self) -> str:
        """Return what follows, without naming anybody."""
        if self.holds:
            return "The first dictionary precedes the second: a risk against it is never below one against the second."
        return (
            f"The order does not hold: {len(self.absent):,} identifiers are absent from the second dictionary, and "
            f"{len(self.differ):,} have values there that differ from the first. The risk is no proven bound."
        )


def precedes(
    theta: Mapping[str, Sequence[Any]], eta: Mapping[str, Sequence[Any]], identifier: str
) -> Certificate:
    """Return whether eta has at least the people of theta, and of each of them at most the same values.

    Dictionaries are columns by name; None is null. A column that a dictionary lacks is null in it.
    """
    for name, one in (("first", theta), ("second", eta)):
        if identifier not in one:
            raise ValueError(f"the {name} dictionary has no column {identifier!r}")
        if len(set(one[identifier])) < len(one[identifier]):
            raise ValueError(
                f"column {identifier!r} of the {name} dictionary holds an identifier twice"
            )
    place = {name: row for row, name in enumerate(eta[identifier])}
    columns = [c for c in eta if c != identifier]
    absent, differ = [], []
    for row, name in enumerate(theta[identifier]):
        other = place.get(name)
        if other is None:
            absent.append(name)
        elif any(
            eta[c][other] is not None and (c not in theta or theta[c][row] != eta[c][other])
            for c in columns
        ):
            differ.append(name)
    return Certificate(not absent and not differ, tuple(absent), tuple(differ))


def assumptions_of_kanonymity() -> Mapping[str, str]:
    """Return what k-anonymity takes for granted, in the words of this framework (Theorem 3)."""
    return {
        "dictionary": "the table itself",
        "sensitivity": "constant",
        "rule set": "not specified",
    }
