"""The rule of least risk among those that disclose k cells in total, of each record, or of each attribute.

Every record discloses one set of its attributes. The table of losses says what each set of each record costs against
each dictionary; a rule picks one set a record. The risk of a rule is the mean over records, against one dictionary or
a prior over several, or the largest over dictionaries.

- Of each record (Delta2) with one objective, the records are independent.
- In total (Delta1) with one objective, dynamic programming over the records; with very many, cells are taken in the
  order of what they cost, which is the best but for one record.
- Otherwise an integer program: exact while it is small; larger ones are solved without wholeness, which gives a bound
  and leaves a few records divided, and those are then made whole. For the largest (of each attribute), cells are
  exchanged between records until no exchange helps, with a bound from prices on the attributes.
- The largest over dictionaries, with very many records: weights on the dictionaries are raised where the risk is
  largest. Each set of weights gives a bound and a rule; records then choose among the sets of those rules.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.numerics.algebra import dot
from tacit.numerics.elementary import exp
from tacit.records.decision.sensitivity import (
    Codes,
    Dictionary,
    Per,
    Sensitivity,
    hide,
    losses,
    weigh,
)
from tacit.solve import Highs, LinearModel, Solution

#: Numbers in a table of losses, choices of an integer program that is solved exactly and of one that is
#: relaxed, steps of dynamic programming.
TABLE, EXACT, RELAXED, STEPS = 20_000_000, 30_000, 60_000, 30_000_000
#: A gain of less than this is none; a choice this near to 1 is made.
SLIGHT = 1e-9
#: To this share of the risk solvers are exact.
TOLERANCE = 1e-6
#: Stands for an infinite loss where sets that cannot be disclosed at all are infinite.
HUGE = 1e290
#: Rounds in which prices of attributes, and weights of dictionaries, are improved.
ROUNDS, TURNS = 60, 12

Tick = Callable[[str, float | None], None]


@dataclass(frozen=True)
class Rule:
    """A rule that was found."""

    #: The cells that it discloses.
    shown: Flags
    #: Its risk: known, Bayes, or the largest over the dictionaries.
    risk: float
    #: A risk that no rule of the set can undercut.
    bound: float
    #: How it was found.
    how: str

    @property
    def proven(self) -> bool:
        """Return True when no rule of the set has a risk that is smaller by more than a millionth."""
        return self.risk <= self.bound * (1 + TOLERANCE)


@dataclass(frozen=True)
class Choices:
    """The sets that records may disclose, and what they cost."""

    #: The sets, sets x attributes.
    sets: Flags
    #: Losses: dictionaries x sets x records, infinite where a set is barred.
    cost: Floats
    #: Which sets each record can disclose, sets x records: it must know all the values.
    allowed: Flags
    #: The weights of dictionaries, or None: then the largest risk counts.
    prior: tuple[float, ...] | None

    @property
    def n(self) -> int:
        """Return the number of records."""
        return self.cost.shape[2]

    @property
    def is_single(self) -> bool:
        """Return True when one number says what a set of a record costs."""
        return self.prior is not None or len(self.cost) == 1

    def single(self) -> Floats:
        """Return that number: HUGE for an infinite loss, infinite for sets that cannot be disclosed; sets x records."""
        mean = self.cost[0] if self.prior is None else weigh(self.prior, self.cost)
        return np.where(self.allowed, np.minimum(mean, HUGE), np.inf)

    def risk(self, picked: Ints) -> float:
        """Return the risk of a rule: the set that each record discloses."""
        each = self.cost[:, picked, np.arange(self.n)].mean(axis=1)
        return float(each.max()) if self.prior is None else float(weigh(self.prior, each))

    def rule(self, picked: Ints, bound: float, how: str) -> Rule:
        """Return the rule."""
        risk = self.risk(picked)
        return Rule(self.sets[picked], risk, min(bound, risk), how)


def find_rule(
    codes: Codes,
    dictionaries: Sequence[Dictionary],
    sensitivity: Sensitivity,
    *,
    prior: Sequence[float] | None,
    per: Per,
    k: int,
    seconds: float = 60.0,
    tick: Tick = lambda *_: None,
) -> Rule | None:
    """Return the best rule that was found, or None where the sets of attributes are too many to look at.

    ``prior`` of None asks for the smallest of the largest risks over the dictionaries. Records with fewer than k
    values disclose all of them; so does an attribute.
    """
    n, m = codes.shape
    if n == 0:
        return Rule(np.zeros((0, m), dtype=bool), 0.0, 0.0, "no records")
    known = codes >= 0
    sets = list_sets(m, known, per, k)
    if sets is None or len(sets) * n * len(dictionaries) > TABLE:
        return None
    cost = np.empty((len(dictionaries), len(sets), n))
    for s, one in enumerate(sets):
        if s % 16 == 0:
            tick("losses of sets of attributes", s / len(sets))
        shown = np.broadcast_to(one, codes.shape) & known
        phi, cells = sensitivity.of(shown), hide(codes, shown)
        for d, theta in enumerate(dictionaries):
            cost[d, s] = losses(theta.count(cells), phi)
    allowed: Flags = dot(sets.astype(np.float32), (~known).T.astype(np.float32)) == 0
    if per == "record":
        allowed &= sets.sum(axis=1)[:, None] == np.minimum(k, known.sum(axis=1))[None, :]
    choices = Choices(sets, cost, allowed, None if prior is None else tuple(prior))
    return choose_sets(choices, known, per, k, seconds)


def list_sets(m: int, known: Flags, per: Per, k: int) -> Flags | None:
    """Return the sets of attributes that a record may disclose, small ones first; None if too many."""
    most = m if per == "attribute" else min(k, m)
    sizes: Sequence[int] = range(most + 1)
    if per == "record":
        sizes = sorted({min(k, int(c)) for c in np.unique(known.sum(axis=1))})
    if m > 20 and max(sizes, default=0) not in (0, 1, m - 1, m):
        return None
    rows = [one for size in sizes for one in itertools.combinations(range(m), size)]
    out = np.zeros((len(rows), m), dtype=bool)
    for row, one in enumerate(rows):
        out[row, list(one)] = True
    return out


def choose_sets(choices: Choices, known: Flags, per: Per, k: int, seconds: float) -> Rule:
    """Pick one set for each record."""
    total = int(known.sum())
    targets = {
        "record": np.zeros(0),
        "total": np.array([min(k, total)], dtype=float),
        "attribute": np.minimum(k, known.sum(axis=0)).astype(float),
    }[per]
    if choices.is_single and per == "record":
        picked = choices.single().argmin(axis=0)
        return choices.rule(picked, choices.risk(picked), "each record by itself")
    if choices.is_single and per == "total":
        wanted = min(k, total)
        if choices.n * (wanted + 1) * (known.shape[1] + 1) <= STEPS:
            picked = share_out(choices, wanted)
            return choices.rule(picked, choices.risk(picked), "dynamic programming")
        return take_cheapest(choices, wanted)
    n_choices = int(choices.allowed.sum())
    if n_choices <= RELAXED:
        program = Program.of(choices, per, targets)
        return (
            program.solve_whole(seconds) if n_choices <= EXACT else program.solve_relaxed(seconds)
        )
    if choices.is_single:
        return exchange_cells(choices, targets)
    return weigh_dictionaries(choices, known, per, k, targets, seconds)


# -- in total, one objective: dynamic programming ----------------------------------------------


def best_by_count(choices: Choices) -> tuple[Floats, Ints]:
    """Return for each record and number of cells the least loss, and the set that has it (-1 if none can)."""
    table, size = choices.single(), choices.sets.sum(axis=1)
    m = int(size.max())
    best = np.full((choices.n, m + 1), np.inf)
    which = np.full((choices.n, m + 1), -1, dtype=np.int64)
    for c in range(m + 1):
        rows = np.flatnonzero(size == c)
        can = choices.allowed[rows].any(axis=0)
        at = table[rows].argmin(axis=0)
        best[:, c] = table[rows[at], np.arange(choices.n)]
        which[can, c] = rows[at][can]
    return best, which


def share_out(choices: Choices, wanted: int) -> Ints:
    """Return the sets of least total loss that disclose a wanted number of cells (Delta1)."""
    best, which = best_by_count(choices)
    m = best.shape[1] - 1
    # Infinite losses are counted first, so that there are as few as can be; then the finite ones are summed.
    endless = best >= HUGE
    cost = np.stack([endless.astype(float), np.where(endless, 0.0, best)], axis=2)
    reached = np.full((wanted + 1, 2), np.inf)
    reached[0] = 0.0
    took = np.zeros((choices.n, wanted + 1), dtype=np.int8)
    for i in range(choices.n):
        new = np.full_like(reached, np.inf)
        for c in range(min(m, wanted) + 1):
            if which[i, c] < 0:
                continue
            moved = reached[: wanted + 1 - c] + cost[i, c]
            old = new[c:]
            better = (moved[:, 0] < old[:, 0]) | (
                (moved[:, 0] == old[:, 0]) & (moved[:, 1] < old[:, 1])
            )
            new[c:][better] = moved[better]
            took[i, c:][better] = c
        reached = new
    picked, left = np.empty(choices.n, dtype=np.int64), wanted
    for i in range(choices.n - 1, -1, -1):
        c = int(took[i, left])
        picked[i] = which[i, c]
        left -= c
    return picked


def take_cheapest(choices: Choices, wanted: int) -> Rule:
    """Return a rule in which cells are disclosed in the order of their price, and the bound that this gives.

    The price is the slope of the lower hull of a record's losses by number of cells. Steps of the hull in ascending
    order are the best way to disclose as many cells as they add up to; only the last may have to be cut short.
    """
    best, which = best_by_count(choices)
    n, m = choices.n, best.shape[1] - 1
    size, record, end, price = [], [], [], []
    at = np.zeros(n, dtype=np.int64)
    for _ in range(m):
        # The flattest step from where each record stands; the longest among equals.
        steps = np.arange(m + 1)[None, :] - at[:, None]
        rise = best - best[np.arange(n), at][:, None]
        slope = np.where((steps > 0) & (which >= 0), rise / np.maximum(steps, 1), np.inf)
        to = m - slope[:, ::-1].argmin(axis=1)
        moves = np.flatnonzero(np.isfinite(slope[np.arange(n), to]))
        size.append((to - at)[moves])
        record.append(moves)
        end.append(to[moves])
        price.append(slope[moves, to[moves]])
        at[moves] = to[moves]
    sizes, records, ends, prices = map(np.concatenate, (size, record, end, price))
    order = np.argsort(prices, kind="stable")
    total = np.cumsum(sizes[order])
    whole = int(np.searchsorted(total, wanted, side="right"))
    count = np.zeros(n, dtype=np.int64)
    # Along the hull prices ascend, so that a later step of a record ends higher.
    np.maximum.at(count, records[order[:whole]], ends[order[:whole]])
    left = wanted - (int(total[whole - 1]) if whole else 0)
    now = best[np.arange(n), count]
    bound = float(now.sum())
    if left:
        bound += left * float(prices[order[whole]])
        more = np.minimum(count + left, m)
        can = (count + left <= m) & (which[np.arange(n), more] >= 0)
        extra = np.where(can, best[np.arange(n), more] - now, np.inf)
        count[int(extra.argmin())] += left
    return choices.rule(which[np.arange(n), count], bound / n, "cells in the order of their price")


# -- several objectives, or attributes that bind: an integer program ----------------------------


@dataclass(frozen=True)
class Program:
    """One choice for each pair of a record and a set it can disclose, and last the largest risk."""

    #: The sets and their costs.
    choices: Choices
    #: The pairs.
    of_set: Ints
    of_record: Ints
    #: Minimise the last variable: at least every risk; one set a record; the wanted numbers of cells.
    model: LinearModel
    #: The risk that is 1 in the model, about the least one, as solvers round off what is far below 1.
    unit: float = 1.0
    #: True when every rule has an infinite risk; then the model counts infinite losses.
    unbounded: bool = False

    @classmethod
    def of(cls, choices: Choices, per: Per, targets: Floats) -> Program:
        """Pose the program; sets of infinite loss are left out while some rule does without them."""
        cost = choices.single()[None] if choices.is_single else choices.cost
        finite = (cost < HUGE).all(axis=0) & choices.allowed
        build = partial(cls.build, choices, per, targets)
        program = build(cost, finite)
        loose = None if program is None else program.relax()
        if program is None or loose is None or loose.state == "infeasible":
            barred = build((cost >= HUGE).astype(float), choices.allowed)
            assert barred is not None, "every record can disclose something"
            return replace(barred, unbounded=True)
        if loose.state != "optimal" or not 0 < loose.value < np.inf:
            return program
        # About the least risk becomes the unit.
        return build(cost, finite, program.unit * loose.value) or program

    @classmethod
    def build(
        cls,
        choices: Choices,
        per: Per,
        targets: Floats,
        cost: Floats,
        usable: Flags,
        unit: float = 0.0,
    ) -> Program | None:
        """Return the program over some pairs; None when a record has none."""
        if not usable.any(axis=0).all():
            return None
        of_set, of_record = np.nonzero(usable)
        n, pairs = choices.n, len(of_set)
        at = np.arange(pairs)
        one = sparse.csr_array((np.ones(pairs), (of_record, at)), shape=(n, pairs))
        each = cost[:, of_set, of_record]
        unit = unit or float(np.median(each[each > 0])) if (each > 0).any() else 1.0
        risks = sparse.csr_array(each / n / unit)
        shown = choices.sets[of_set].astype(float)
        cells = {
            "record": shown[:, :0],
            "total": shown.sum(axis=1, keepdims=True),
            "attribute": shown,
        }
        rows = sparse.vstack([one, risks, sparse.csr_array(cells[per].T)]).tocsr()
        last = np.concatenate([np.zeros(n), -np.ones(len(cost)), np.zeros(len(targets))])
        matrix = sparse.hstack([rows, sparse.csr_array(last[:, None])])
        free = np.full(len(cost), -np.inf)
        model = LinearModel.of(
            np.concatenate([np.zeros(pairs), [1.0]]),
            matrix,
            np.concatenate([np.ones(n), free, targets]),
            np.concatenate([np.ones(n), np.zeros(len(cost)), targets]),
            0.0,
            np.concatenate([np.ones(pairs), [np.inf]]),
            integer=np.concatenate([np.ones(pairs, dtype=bool), [False]]),
        )
        return cls(choices, of_set, of_record, model, unit)

    def relax(self, seconds: float | None = None) -> Solution:
        """Solve without wholeness."""
        program = replace(self.model, integer=None)
        return Highs(program, presolve=True).solve(time_limit=seconds)

    def solve_whole(self, seconds: float) -> Rule:
        """Solve the integer program; after the time, the best rule with its bound."""
        found = Highs(self.model, options={"mip_abs_gap": 0.0}).solve(time_limit=seconds, gap=0.0)
        if found.x is None:
            return self.solve_relaxed(seconds)
        return self.read(found.x, found.bound, "integer program")

    def solve_relaxed(self, seconds: float) -> Rule:
        """Solve without wholeness, keep the records that are whole, and solve for those that are divided."""
        loose = self.relax(seconds)
        x = loose.point.copy()
        divided = np.zeros(self.choices.n, dtype=bool)
        between = (x[:-1] > SLIGHT) & (x[:-1] < 1 - SLIGHT)
        divided[self.of_record[between]] = True
        fixed = ~divided[self.of_record]
        lower, upper = self.model.lower.copy(), self.model.upper.copy()
        lower[:-1][fixed] = upper[:-1][fixed] = np.round(x[:-1][fixed])
        # Sets that the relaxed program left out of its basis may be needed to meet whole numbers of cells.
        rest = replace(self.model, lower=lower, upper=upper)
        bound = loose.value if loose.state == "optimal" else 0.0
        found = Highs(rest).solve(time_limit=seconds)
        if found.x is None:
            # Barred sets can leave the divided records without a whole choice.
            found = Highs(self.model).solve(time_limit=seconds)
        return self.read(found.point, bound, "relaxed integer program, divided records made whole")

    def read(self, x: Floats, bound: float, how: str) -> Rule:
        """Return the rule of a point."""
        chosen = x[:-1] > 0.5
        picked = np.empty(self.choices.n, dtype=np.int64)
        picked[self.of_record[chosen]] = self.of_set[chosen]
        if self.unbounded:
            return self.choices.rule(picked, np.inf, f"{how}; every rule has an infinite risk")
        return self.choices.rule(picked, bound * self.unit, how)


def weigh_dictionaries(
    choices: Choices, known: Flags, per: Per, k: int, targets: Floats, seconds: float
) -> Rule:
    """Return a rule of small largest risk, with the bound from weights on the dictionaries (mirror ascent)."""
    weights = np.full(len(choices.cost), 1.0 / len(choices.cost))
    usable = np.zeros_like(choices.allowed)
    everyone, bound = np.arange(choices.n), 0.0
    for turn in range(TURNS):
        mean = Choices(choices.sets, choices.cost, choices.allowed, tuple(weights))
        rule = choose_sets(mean, known, per, k, seconds)
        picked = number_sets(choices.sets, rule.shown)
        usable[picked, everyone] = True
        bound = max(bound, rule.bound)
        risks = choices.cost[:, picked, everyone].mean(axis=1)
        if not np.isfinite(risks).all() or risks.max() <= 0:
            # Nothing is left to gain: nobody loses anything, or an infinite loss cannot be avoided.
            return choices.rule(picked, rule.bound, "weights on dictionaries")
        weights = weights * exp(risks / risks.max() / np.sqrt(1 + turn))
        weights /= weights.sum()
    program = Program.build(choices, per, targets, choices.cost, usable)
    assert program is not None, "every record has the sets of the rules"
    found = program.solve_relaxed(seconds)
    return choices.rule(number_sets(choices.sets, found.shown), bound, "weights on dictionaries")


def number_sets(sets: Flags, shown: Flags) -> Ints:
    """Return which of the sets each record discloses."""
    bits = 1 << np.arange(sets.shape[1])
    numbers = dot(sets, bits)
    order = np.argsort(numbers, kind="stable")
    return order[np.searchsorted(numbers[order], dot(shown, bits))]


# -- of each attribute, many records: exchange of cells ------------------------------------------


def exchange_cells(choices: Choices, targets: Floats) -> Rule:
    """Return a rule in which no exchange of a cell of one attribute between two records helps (Delta3)."""
    table = choices.single()
    m = choices.sets.shape[1]
    # Sets as binary numbers: all subsets are there, so that one more or one less attribute is a look-up.
    number = dot(choices.sets, 1 << np.arange(m))
    row_of = np.empty(1 << m, dtype=np.int64)
    row_of[number] = np.arange(len(number))
    cost = np.minimum(table, HUGE)
    prices, bound, best = np.zeros(m), 0.0, np.zeros(0, dtype=np.int64)
    for _ in range(2):
        # The risk of the first rule says how far prices have to go for the second.
        reach = choices.risk(best) if len(best) else None
        prices, bound = price_attributes(choices.sets, table, targets, prices, reach)
        # Every record begins with what is cheapest at the prices; then attributes shown too often or too seldom are set right.
        state = number[(table - (dot(choices.sets, prices))[:, None]).argmin(axis=0)].astype(
            np.int64
        )
        for j in range(m):
            set_count(j, int(targets[j]), state, cost, row_of, choices.allowed)
        improved = True
        while improved:
            improved = any(swap_cells(j, state, cost, row_of, choices.allowed) for j in range(m))
        picked = row_of[state]
        if not len(best) or choices.risk(picked) < choices.risk(best):
            best = picked
    return choices.rule(best, bound, "exchange of cells between records")


def set_count(j: int, wanted: int, state: Ints, cost: Floats, row_of: Ints, allowed: Flags) -> None:
    """Show an attribute in a wanted number of records, changing those where that costs least."""
    bit, everyone = 1 << j, np.arange(len(state))
    has = (state & bit) > 0
    more = wanted - int(has.sum())
    other = row_of[state ^ bit]
    extra = np.where(allowed[other, everyone], cost[other, everyone], np.inf)
    extra = extra - cost[row_of[state], everyone]
    extra[has if more > 0 else ~has] = np.inf
    state[np.argsort(extra, kind="stable")[: abs(more)]] ^= bit


def swap_cells(j: int, state: Ints, cost: Floats, row_of: Ints, allowed: Flags) -> bool:
    """Move cells of an attribute to records where they cost less; all pairs at once, as records are apart."""
    bit, everyone = 1 << j, np.arange(len(state))
    now = cost[row_of[state], everyone]
    has = (state & bit) > 0
    other = row_of[state ^ bit]
    change = cost[other, everyone] - now
    change[~allowed[other, everyone]] = np.inf
    out, into = np.flatnonzero(has), np.flatnonzero(~has)
    out = out[np.argsort(change[out], kind="stable")]
    into = into[np.argsort(change[into], kind="stable")]
    pairs = min(len(out), len(into))
    gain = change[out[:pairs]] + change[into[:pairs]]
    take = int((gain < -SLIGHT * np.maximum(1.0, now[out[:pairs]])).sum())
    state[out[:take]] ^= bit
    state[into[:take]] ^= bit
    return take > 0


def price_attributes(
    sets: Flags, table: Floats, targets: Floats, prices: Floats, reach: float | None
) -> tuple[Floats, float]:
    """Return prices of attributes and the bound they give: every record takes its cheapest set (Lagrange).

    ``reach`` is a risk that a rule has: steps are then as long as the way to it (Polyak).
    """
    n = table.shape[1]
    best, kept = -np.inf, prices
    finite = table[table < HUGE]
    step = float(np.median(finite)) if len(finite) else 1.0
    for turn in range(ROUNDS):
        paid = table - (dot(sets, prices))[:, None]
        at = paid.argmin(axis=0)
        value = (paid[at, np.arange(n)].sum() + dot(prices, targets)) / n
        if value > best:
            best, kept = float(value), prices
        short = (targets - sets[at].sum(axis=0)) / n
        length = float(dot(short, short))
        if length == 0:
            break
        if reach is None or not np.isfinite(reach):
            prices = prices + step / (1 + turn / 4) * short
        else:
            prices = prices + (reach - value) / length * short / (1 + turn / 20)
    return kept, max(0.0, best)
