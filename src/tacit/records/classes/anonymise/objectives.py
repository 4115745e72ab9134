"""What a node costs: information lost by generalising and suppressing, one objective per measure.

Lower is better throughout. Most objectives charge each record by itself, and a record's charge only grows as
its keys climb: from these a bound follows for all nodes between two (:mod:`tacit.records.classes.anonymise.search`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from tacit.arrays import Flags, Floats
from tacit.numerics.elementary import exp, log
from tacit.records.classes.anonymise.grouping import Codes, add_prices
from tacit.records.classes.anonymise.problem import Levels, Problem, State
from tacit.stats.class_models import sum_by

Utility = Literal[
    "loss",
    "precision",
    "entropy",
    "discernibility",
    "average_class_size",
    "ambiguity",
    "squared_error",
    "kullback_leibler",
    "classification",
]

#: What each objective is, in words for results and reports.
WORDS: Mapping[str, str] = {
    "loss": "mean loss of a cell: (leaves - 1) / (domain - 1), 1 in a suppressed record (Iyengar 2002)",
    "precision": "mean height of a cell: level / height, 1 in a suppressed record (Sweeney 2002)",
    "entropy": "non-uniform entropy lost, as a share of what suppressing all would lose (Gionis and Tassa 2009)",
    "discernibility": "sum over records of their class size, all records for a suppressed one (Bayardo and Agrawal 2005)",
    "average_class_size": "records per class, the suppressed ones being one class (LeFevre and others 2006)",
    "ambiguity": "mean number of ground combinations that a record may stand for (Nergiz and Clifton 2007)",
    "squared_error": "squared distance of numeric keys to their class mean, as a share of the total",
    "kullback_leibler": "Kullback-Leibler divergence of the records from their classes, spread evenly",
    "classification": "share of records whose target is not the most frequent one of their class (Iyengar 2002)",
}

#: What weights do, in words for results.
COUNTED: Mapping[str, str] = {
    "records": "Records are counted, not weights.",
    "weighted_k": "k compares sums of weights; the limit, shares and utility count records.",
    "weighted": "k, the suppression limit, shares and utility are weighted.",
}


@dataclass(frozen=True)
class Objective:
    """What suppressing and generalising cost."""

    #: Records count by their weights.
    weighted: bool = False
    #: Factors on the cost of kept and of suppressed records.
    generalise: float = 1.0
    suppress: float = 1.0

    #: True when a record's charge depends on its class alone and never falls as keys climb.
    by_record: ClassVar[bool] = False

    def charges(self, problem: Problem, state: State) -> Floats:
        """Return the charge per record of each class that is kept."""
        raise NotImplementedError

    def full_charges(self, problem: Problem, state: State) -> Floats:
        """Return the charge per record of each class that is suppressed."""
        raise NotImplementedError

    def value(self, problem: Problem, state: State, alive: Flags) -> float:
        """Return the cost of a node whose classes are kept where ``alive``."""
        amounts = state.amounts(self.weighted)
        kept = float((amounts * self.charges(problem, state))[alive].sum())
        gone = float((amounts * self.full_charges(problem, state))[~alive].sum())
        return (self.generalise * kept + self.suppress * gone) / problem.total(self.weighted)

    def compute_prices(self, problem: Problem, state: State) -> Floats | None:
        """Return by how much suppressing each class raises the sum over records; None: the classes do not add up."""
        if not self.by_record:
            return None
        charge = self.suppress * self.full_charges(problem, state)
        charge = charge - self.generalise * self.charges(problem, state)
        return state.amounts(self.weighted) * charge

    def needs_level(self, key: int, level: int) -> bool:
        """Return whether charges at a level of a key differ by value: if not, they follow from any level above."""
        del key, level
        return True

    def charges_below(self, problem: Problem, state: State, low: Levels) -> Floats:
        """Return the charges at a node ``low``; the state lies above it in keys whose level is not needed."""
        del low
        return self.charges(problem, state)

    def bound(self, problem: Problem, state: State, low: Levels, passing: Flags) -> float:
        """Return a cost below which no node lies that is at or above ``low`` and keeps at most ``passing``.

        A record that can be kept may still be suppressed, which some factors make the cheaper fate.
        """
        full = self.suppress * self.full_charges(problem, state)
        least = np.minimum(self.generalise * self.charges_below(problem, state, low), full)
        each = np.where(passing, least, full)
        return float((state.amounts(self.weighted) * each).sum()) / problem.total(self.weighted)


@dataclass(frozen=True)
class Additive(Objective):
    """A mean over the keys of a charge for each value."""

    #: The charges of all codes of all levels of all keys, one after the other, each times its key's share.
    prices: Floats = field(default_factory=lambda: np.zeros(0))
    #: For each key and level: where its charges begin.
    starts: tuple[tuple[int, ...], ...] = ()
    #: For each key and level: the charge of every code, NaN where they differ.
    same: tuple[tuple[float, ...], ...] = ()
    top: float = 1.0
    by_record: ClassVar[bool] = True

    def charges(self, problem: Problem, state: State) -> Floats:
        """Return the sum over keys of the charges of their values."""
        return self.charges_below(problem, state, state.levels)

    def needs_level(self, key: int, level: int) -> bool:
        """Return whether the prices of a level differ: those of the ground are all 0 in the loss."""
        return math.isnan(self.same[key][level])

    def charges_below(self, problem: Problem, state: State, low: Levels) -> Floats:
        """Return the sum over keys of the charges of their values at ``low``."""
        del problem
        here = [j for j, level in enumerate(low) if self.needs_level(j, level)]
        alike = [self.same[j][level] for j, level in enumerate(low) if j not in here]
        starts = np.array([self.starts[j][low[j]] for j in here], dtype=np.int64)
        codes = state.codes if len(here) == len(low) else np.ascontiguousarray(state.codes[:, here])
        return add_prices(codes, starts, self.prices, sum(alike, 0.0)) - self.known_before(state)

    def known_before(self, state: State) -> Floats | float:
        """Return what the charges of each class are counted from, per record."""
        del state
        return 0.0

    def full_charges(self, problem: Problem, state: State) -> Floats:
        """Return the charge of a record with every value at the top, less what was known before."""
        del problem
        return np.full(len(state), self.top) - self.known_before(state)


@dataclass(frozen=True)
class Entropy(Additive):
    """The non-uniform entropy: a record loses log(n of its label / n of its ground value) in each key."""

    #: For each key: log n of the ground value of each of the column's codes, times the key's share, scaled.
    ground: tuple[Floats, ...] = ()

    def needs_level(self, key: int, level: int) -> bool:
        """Return True also where keeping and suppressing count differently: each class by its own ground values then."""
        return self.generalise != self.suppress or super().needs_level(key, level)

    def known_before(self, state: State) -> Floats | float:
        """Return the mean of log n of the ground values in each class."""
        assert state.ground is not None, "the problem was built without ground values"
        amounts = state.amounts(self.weighted)
        return np.divide(state.ground, amounts, out=np.zeros(len(state)), where=amounts > 0)

    def ground_of(self, codes: Sequence[Codes]) -> Floats:
        """Return the sum over keys of log n of ground values, given by the columns' codes."""
        return np.asarray(sum(g[c] for g, c in zip(self.ground, codes, strict=True)))

    def placed_in(self, problem: Problem) -> Problem:
        """Return the problem with what every class knew before."""
        cells = problem.cells
        n = cells.n.astype(np.float64)
        if self.weighted and cells.weight is not None:
            n = cells.weight
        sums = n * self.ground_of([cells.keys[k].codes for k in problem.keys])
        base = problem.base
        ground = sum_by(problem.base_class, sums, len(base))
        return replace(problem, base=replace(base, ground=ground))


@dataclass(frozen=True)
class Ambiguity(Objective):
    """The number of ground combinations that a record may stand for."""

    by_record: ClassVar[bool] = True

    def charges(self, problem: Problem, state: State) -> Floats:
        """Return the product over keys of the leaves below their values."""
        return exp(log_leaves(problem, state))

    def full_charges(self, problem: Problem, state: State) -> Floats:
        """Return the number of all ground combinations."""
        return np.full(len(state), np.prod([float(c.domain) for c in problem.climbs]))


@dataclass(frozen=True)
class Discernibility(Objective):
    """Each record is charged the size of its class, a suppressed one the size of the file."""

    by_record: ClassVar[bool] = True

    def charges(self, problem: Problem, state: State) -> Floats:
        """Return class sizes, scaled so that the value is their sum over records."""
        return state.amounts(self.weighted) * problem.total(self.weighted)

    def full_charges(self, problem: Problem, state: State) -> Floats:
        """Return the size of the file, scaled in the same way."""
        return np.full(len(state), problem.total(self.weighted) ** 2)


@dataclass(frozen=True)
class AverageClassSize(Objective):
    """Records per class; the suppressed records form one class."""

    def value(self, problem: Problem, state: State, alive: Flags) -> float:
        """Return records over classes."""
        del state
        classes = int(alive.sum()) + int(not alive.all())
        return problem.total(self.weighted) / max(classes, 1)


@dataclass(frozen=True)
class SquaredError(Objective):
    """Within-class squares of the numeric keys over their total; suppressed records lie at the overall mean."""

    def value(self, problem: Problem, state: State, alive: Flags) -> float:
        """Return the mean over numeric keys of the share of squares lost."""
        del problem
        moments = state.moments
        assert moments is not None, "the problem was built without numeric keys"
        n = state.n.astype(np.float64)
        shares = []
        for sums, squares in zip(moments.T[::2], moments.T[1::2], strict=True):
            mean = sums.sum() / n.sum()
            total = squares.sum() - n.sum() * mean**2
            within = np.maximum(squares - sums**2 / n, 0.0)[alive].sum()
            gone = (squares - 2 * mean * sums + n * mean**2)[~alive].sum()
            lost = self.generalise * within + self.suppress * gone
            shares.append(lost / total if total > 0 else 0.0)
        return float(np.mean(shares))


@dataclass(frozen=True)
class KullbackLeibler(Objective):
    """Divergence of the records from what the release tells, its classes spread evenly over their leaves."""

    def value(self, problem: Problem, state: State, alive: Flags) -> float:
        """Return sum p log(p / q) in nats."""
        base = problem.base.amounts(self.weighted)
        total = base.sum()
        # Where some values of a key are missing, the top stands for one value more.
        coded = [problem.cells.keys[k] for k in problem.keys]
        more = [bool((c.codes == c.null).any()) for c in coded]
        spread = log_leaves(problem, state, more)
        amounts = state.amounts(self.weighted)
        everything = float(
            log([c.domain + m for c, m in zip(problem.climbs, more, strict=True)]).sum()
        )
        told = float((amounts * (log(amounts / total) - spread))[alive].sum())
        gone = float(amounts[~alive].sum())
        if gone:
            told += gone * (log(gone / total) - everything)
        spread = log_leaves(problem, problem.base, more)
        truth = float((base * (log(base / total) - spread)).sum())
        return max(truth - told, 0.0) / total


@dataclass(frozen=True)
class Classification(Objective):
    """Records whose target differs from the most frequent one of their class; suppressed ones all differ."""

    target: str = ""

    def value(self, problem: Problem, state: State, alive: Flags) -> float:
        """Return the share of records that a majority vote in classes gets wrong."""
        found = state.values[self.target]
        amounts = found.amounts(self.weighted)
        top = np.zeros(len(state))
        np.maximum.at(top, found.of_class, amounts)
        right = float(top[alive].sum())
        return 1.0 - right / problem.total(self.weighted)


def log_leaves(problem: Problem, state: State, more: Sequence[bool] = ()) -> Floats:
    """Return the log of the ground combinations below each class; ``more``: keys whose top holds a missing value too."""
    total = np.zeros(len(state))
    for j, (climb, level) in enumerate(zip(problem.climbs, state.levels, strict=True)):
        leaves = climb.leaves[level].astype(np.float64)
        if more and more[j] and level == climb.height:
            leaves = leaves + 1
        total += log(leaves)[state.codes[:, j]]
    return total


#: Objectives that take no parameters of their own.
PLAIN: Mapping[str, type[Objective]] = {
    "discernibility": Discernibility,
    "average_class_size": AverageClassSize,
    "ambiguity": Ambiguity,
    "squared_error": SquaredError,
    "kullback_leibler": KullbackLeibler,
}


def make_objective(
    utility: Utility,
    problem: Problem,
    *,
    weighted: bool,
    importance: Mapping[str, float],
    balance: float,
    target: str | None,
) -> Objective:
    """Return the objective.

    ``balance`` is the factor between generalisation and suppression: at 0.5 both count in full, towards 0
    suppression counts less, towards 1 generalisation does.
    """
    generalise = 1.0 if balance <= 0.5 else 2 * (1 - balance)
    suppress = 1.0 if balance >= 0.5 else 2 * balance
    common: dict[str, Any] = {"weighted": weighted, "generalise": generalise, "suppress": suppress}
    if utility in ("loss", "precision", "entropy"):
        given = np.array([importance.get(k, 1.0) for k in problem.keys], dtype=np.float64)
        shares = tuple(float(s) for s in given / given.sum())
        if utility == "entropy":
            return entropy_objective(problem, shares, common)
        tables = [
            [
                # The relative height of each code, or its share of leaves.
                np.full(len(leaves), level / max(climb.height, 1))
                if utility == "precision"
                else np.asarray((leaves - 1) / max(climb.domain - 1, 1))
                for level, leaves in enumerate(climb.leaves)
            ]
            for climb in problem.climbs
        ]
        return Additive(**common, **lay_out(tables, shares))
    if utility == "classification":
        return Classification(**common, target=target or "")
    return PLAIN[utility](**common)


def lay_out(tables: Sequence[Sequence[Floats]], shares: Sequence[float]) -> dict[str, Any]:
    """Return the charges of all keys and levels in one array, and where each begins."""
    parts, starts, same, at = [], [], [], 0
    for levels, share in zip(tables, shares, strict=True):
        begins, equal = [], []
        for table in levels:
            begins.append(at)
            at += len(table)
            parts.append(share * table)
            alike = bool((parts[-1] == parts[-1][0]).all())
            equal.append(float(parts[-1][0]) if alike else math.nan)
        starts.append(tuple(begins))
        same.append(tuple(equal))
    return {"prices": np.concatenate(parts), "starts": tuple(starts), "same": tuple(same)}


def entropy_objective(
    problem: Problem, shares: Sequence[float], common: Mapping[str, Any]
) -> Entropy:
    """Return the entropy objective, scaled to 1 when everything is lost and both factors are 1."""
    weighted = bool(common["weighted"])
    cells = problem.cells
    amounts = cells.weight if weighted and cells.weight is not None else cells.n.astype(np.float64)
    total = float(amounts.sum())
    tables, ground, known = [], [], 0.0
    for key, climb, share in zip(problem.keys, problem.climbs, shares, strict=True):
        column = cells.keys[key]
        per_level = []
        at = level_codes(problem, key, column.codes)
        for level, leaves in enumerate(climb.leaves):
            count = np.bincount(at[level], weights=amounts, minlength=len(leaves))
            per_level.append(log(np.maximum(count, 1e-300)))
        every = np.arange(len(column.values) + 1, dtype=np.int32)
        own = per_level[0][level_codes(problem, key, every)[0]]
        ground.append(share * own)
        known += float((amounts * ground[-1][column.codes]).sum()) / total
        tables.append(tuple(per_level))
    most = log(total) - known
    scale = 1.0 / most if most > 0 else 0.0
    scaled = tuple(tuple(t * scale for t in per_level) for per_level in tables)
    return Entropy(
        **common,
        **lay_out(scaled, shares),
        top=float(log(total)) * scale,
        ground=tuple(g * scale for g in ground),
    )


def level_codes(problem: Problem, key: str, codes: Codes) -> list[Codes]:
    """Return the codes of a key's cells at every level."""
    j = problem.keys.index(key)
    lifted = [problem.ground[j][codes]]
    for parent in problem.climbs[j].parents:
        lifted.append(parent[lifted[-1]])
    return lifted
