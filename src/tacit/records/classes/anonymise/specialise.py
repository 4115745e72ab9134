"""Specialise classes from the top down, each by itself, while every model holds.

All classes that are still open take their next step together: for every key the children of each class are
formed at once, the models are asked about all of them, and each class takes the key that serves it best. A
*partial* step specialises the children that pass and leaves the others where they are, as one class that must
pass too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.engine.coded import densify
from tacit.numerics.elementary import log
from tacit.records.classes.anonymise.evaluate import Task
from tacit.records.classes.anonymise.grouping import Codes, merge_classes
from tacit.records.classes.anonymise.mixed import Words, climb_words
from tacit.records.classes.anonymise.models.condition import View
from tacit.stats.class_models import sum_by

#: How many children a class may give back, smallest first, for the others to pass.
GIVEN_BACK = 4


@dataclass
class Classes:
    """Classes of rows on their way down."""

    #: The class of each row, 0 to n - 1.
    group: Ints
    #: The level of each class in each key; cut keys stay at their highest.
    levels: Codes


#: What one key offers to the open classes: for each class how much the step serves, minus infinity where it is not
#: allowed; and for each row the child to which it would go, -1 where it stays.
Step = tuple[Floats, Ints]


class Specialiser:
    """Takes classes down, key by key, as far as the models allow."""

    def __init__(
        self,
        task: Task,
        words: Sequence[Words],
        tick: Callable[[float], None],
        *,
        partial: bool,
        widest: bool = False,
        numbers: dict[int, Numbers] | None = None,
    ) -> None:
        self.task, self.words, self.tick = task, words, tick
        rows = self.rows = task.problem.base
        self.partial, self.widest, self.numbers = partial, widest, numbers or {}
        self.local = [c for c, _ in task.conditions if not c.overall]
        self.overall = [c for c, _ in task.conditions if c.overall]
        self.low, self.high = task.problem.low, task.problem.high
        #: Iyengar's loss of each word.
        spread = [max(climb.domain - 1, 1) for climb in task.problem.climbs]
        self.costs = [(w.leaves - 1) / s for w, s in zip(words, spread, strict=True)]
        self.size = rows.n.astype(np.float64)

    def start(self, levels: Codes | None = None, apart: Flags | None = None) -> Classes:
        """Return the classes of equal labels at some levels, by default the highest ones.

        Rows that are marked ``apart`` form classes of their own.
        """
        count = len(self.rows)
        if levels is None:
            levels = np.tile(np.array(self.high, dtype=np.int32), (count, 1))
        marks = np.zeros(count, dtype=bool) if apart is None else apart
        labels = climb_words(self.words, self.rows.codes, self.low, levels)
        columns = np.concatenate([labels, levels, marks[:, None]], axis=1).astype(np.int32)
        sizes = [*(len(w.texts) for w in self.words), *(h + 1 for h in self.high), 2]
        group = merge_classes(columns, sizes, self.rows.n).ids
        of_class = np.empty((int(group.max(initial=-1)) + 1, levels.shape[1]), dtype=np.int32)
        of_class[group] = levels
        return Classes(group, of_class)

    def run(self, classes: Classes) -> Classes:
        """Take the classes down until no step is allowed."""
        is_open = np.ones(len(classes.levels), dtype=bool)
        while is_open.any():
            self.tick(float(1 - is_open[classes.group].mean()))
            steps = [self.offer(classes, is_open, j) for j in range(len(self.words))]
            scores = np.stack([score for score, _ in steps], axis=1)
            best = scores.argmax(axis=1)
            moving = scores[np.arange(len(best)), best] > -np.inf
            if not moving.any():
                break
            moved, is_open = self.take(classes, steps, np.where(moving, best, -1))
            if self.overall:
                view = self.view(np.arange(len(self.rows)), moved.group, len(moved.levels))
                if not all(c.holds(view) for c in self.overall):
                    break
            classes = moved
        return classes

    def offer(self, classes: Classes, is_open: Flags, key: int) -> Step:
        """Return what one key offers to every open class."""
        count = len(classes.levels)
        child_of = np.full(len(self.rows), -1, dtype=np.int64)
        group = classes.group
        if key in self.numbers:
            child, allowed = self.numbers[key].cut(group, self.size, is_open)
        else:
            allowed = is_open & (classes.levels[:, key] > self.low[key])
            below = np.maximum(classes.levels[group, key] - 1 - self.low[key], 0)
            child = self.words[key].ladder[below, self.rows.codes[:, key]].astype(np.int64)
        asked = np.flatnonzero(allowed[group])
        if not len(asked):
            return np.full(count, -np.inf), child_of
        # A model that compares with the whole must see the whole.
        seen = np.arange(len(group)) if any(c.relative for c in self.local) else asked
        part = np.where(allowed[group[seen]], child[seen], 0)
        ids, n_children = densify(group[seen] * (int(part.max()) + 1) + part)
        parent = np.empty(n_children, dtype=np.int64)
        parent[ids] = group[seen]
        passing = self.passes(seen, ids, n_children)
        staying = ~passing & allowed[parent]
        stuck = np.bincount(parent[staying], minlength=count) > 0
        if self.partial and key not in self.numbers:
            staying, fine = self.settle(seen, ids, parent, passing, staying, count)
        else:
            fine = ~stuck
        usable = allowed & fine
        going = usable[parent] & ~staying
        usable &= np.bincount(parent[going], minlength=count) > 0
        going &= usable[parent]
        leaves = going[ids]
        child_of[seen[leaves]] = ids[leaves]
        return self.score(classes, key, seen, ids, parent, going, usable, child), child_of

    def settle(
        self, seen: Ints, ids: Ints, parent: Ints, passing: Flags, staying: Flags, count: int
    ) -> tuple[Flags, Flags]:
        """Return the children that stay with their class, so that it passes, and the classes that then do."""
        sizes = sum_by(ids, self.size[seen], len(parent))
        order = np.lexsort([np.arange(len(parent)), sizes, parent])
        for _ in range(GIVEN_BACK):
            rest = staying[ids]
            ok = np.ones(count, dtype=bool)
            if not rest.any():
                return staying, ok
            left, n_left = densify(parent[ids[rest]])
            of_left = np.empty(n_left, dtype=np.int64)
            of_left[left] = parent[ids[rest]]
            whole = np.full(len(ids), n_left, dtype=np.int64)
            whole[rest] = left
            # What leaves is one more class, whose answer is not asked for.
            ok[of_left] = self.passes(seen, whole, n_left + 1)[:n_left]
            if ok.all():
                return staying, ok
            free = order[(passing & ~staying & ~ok[parent])[order]]
            if not len(free):
                return staying, ok
            first = np.flatnonzero(np.diff(parent[free], prepend=-1))
            staying = staying.copy()
            staying[free[first]] = True
        return staying, ok

    def score(
        self,
        classes: Classes,
        key: int,
        seen: Ints,
        ids: Ints,
        parent: Ints,
        going: Flags,
        usable: Flags,
        child: Ints,
    ) -> Floats:
        """Return how much a step serves each class: the loss it saves for each bit that it tells.

        Mondrian takes the key in which the class is widest instead.
        """
        count = len(classes.levels)
        if key in self.numbers:
            before = self.numbers[key].width(classes.group, count)
            after = np.zeros(len(seen))
        else:
            word = self.words[key].ladder[
                classes.levels[classes.group, key] - self.low[key], self.rows.codes[:, key]
            ]
            before = np.zeros(count)
            before[classes.group] = self.costs[key][word]
            after = self.costs[key][np.where(usable[classes.group[seen]], child[seen], 0)]
        prices = self.words[key].prices
        weight = float(prices[self.words[key].top]) if len(prices) else 1.0
        if self.widest:
            return np.where(usable, weight * before, -np.inf)
        size = self.size[seen]
        lost = before[classes.group[seen]] - after
        saved = sum_by(classes.group[seen], np.where(going[ids], size * lost, 0.0), count)
        told = self.bits(ids, parent, going, size, count)
        return np.where(usable, weight * saved / np.maximum(told, 1e-9), -np.inf)

    def bits(self, ids: Ints, parent: Ints, going: Flags, size: Floats, count: int) -> Floats:
        """Return the entropy of each class's division, times its records."""
        inner = sum_by(ids, size, len(parent))
        stays = sum_by(parent[~going], inner[~going], count)
        total = sum_by(parent, inner, count)
        told = sum_by(
            parent[going], -inner[going] * log(inner[going] / total[parent[going]]), count
        )
        some = stays > 0
        told[some] -= stays[some] * log(stays[some] / total[some])
        return told

    def take(self, classes: Classes, steps: Sequence[Step], chosen: Ints) -> tuple[Classes, Flags]:
        """Return the classes after each took its step, and which of them are open."""
        group = classes.group
        key_of = chosen[group]
        child = np.full(len(group), -1, dtype=np.int64)
        for j, (_, child_of) in enumerate(steps):
            mine = key_of == j
            child[mine] = child_of[mine]
        new, count = densify(group * (int(child.max()) + 2) + child + 1)
        old = np.empty(count, dtype=np.int64)
        old[new] = group
        down = np.zeros(count, dtype=bool)
        down[new] = child >= 0
        levels = classes.levels[old].copy()
        for j in range(len(self.words)):
            if j not in self.numbers:
                levels[down & (chosen[old] == j), j] -= 1
        return Classes(new, levels), chosen[old] >= 0

    def passes(self, seen: Ints, ids: Ints, count: int) -> Flags:
        """Return which classes of the rows seen pass every model that asks class by class."""
        view = self.view(seen, ids, count)
        good = np.ones(count, dtype=bool)
        for condition in self.local:
            good &= condition.passes(view)
        return good

    def view(self, seen: Ints, ids: Ints, count: int) -> View:
        """Return classes as models see them."""
        rows = self.rows
        n = np.bincount(ids, weights=rows.n[seen], minlength=count).astype(np.int64)
        weight = None if rows.weight is None else sum_by(ids, rows.weight[seen], count)
        values = {}
        if any(c.column is not None for c, _ in self.task.conditions):
            place = np.full(len(rows), -1, dtype=np.int64)
            place[seen] = ids
            for column, found in rows.values.items():
                inside = found.within(place[found.of_class] >= 0)
                values[column] = inside.merged(place, count, self.task.problem.sizes[column])
        return View(n, weight, values)


@dataclass(frozen=True)
class Numbers:
    """A numeric key that is cut where its records are."""

    #: For each row the rank of its value among the values of the data; -1 where it is missing.
    rank: Ints
    #: The values of the data, ascending.
    values: Floats
    #: The ground values of the hierarchy, ascending.
    domain: Floats
    #: Whether records with the median value may go to either side.
    ties: bool = False

    def cut(self, group: Ints, size: Floats, is_open: Flags) -> tuple[Ints, Flags]:
        """Return the side of each row, and the classes that can be cut.

        Missing values go apart first. The cut lies between two different values, as near as possible to
        half the records; with ``ties`` it lies at half the records.
        """
        count = len(is_open)
        low, high = self.ends(group, count)
        mixed = (low < 0) & (high >= 0)
        allowed = is_open & (low < high)
        side = np.where(mixed[group], (self.rank >= 0).astype(np.int64), 0)
        rows = np.flatnonzero((allowed & ~mixed)[group])
        if len(rows):
            order = rows[np.lexsort([self.rank[rows], group[rows]])]
            side[order] = self.halves(group[order], self.rank[order], size[order])
        return side, allowed

    def halves(self, group: Ints, rank: Ints, size: Floats) -> Ints:
        """Return the side of each row; rows ascend by class and rank."""
        run = np.cumsum(size)
        begins = np.flatnonzero(np.diff(group, prepend=-1))
        of_class = np.cumsum(np.diff(group, prepend=-1) != 0) - 1
        before = run[begins] - size[begins]
        ends = np.append(begins[1:], len(group)) - 1
        total = run[ends] - before
        done = run - before[of_class]
        last = np.append((np.diff(group) != 0) | (np.diff(rank) != 0), True)
        if self.ties:
            last = np.ones(len(group), dtype=bool)
        last[ends] = False
        off = np.where(last, np.abs(done - total[of_class] / 2), np.inf)
        least = np.minimum.reduceat(off, begins)
        # The first place of those that divide best.
        places = np.flatnonzero(off == least[of_class])
        first = places[np.unique(of_class[places], return_index=True)[1]]
        return (np.arange(len(group)) > first[of_class]).astype(np.int64)

    def ends(self, group: Ints, count: int) -> tuple[Ints, Ints]:
        """Return the lowest and highest rank of each class."""
        low = np.full(count, len(self.values), dtype=np.int64)
        high = np.full(count, -1, dtype=np.int64)
        np.minimum.at(low, group, self.rank)
        np.maximum.at(high, group, self.rank)
        return low, high

    def leaves(self, low: Ints, high: Ints) -> Ints:
        """Return how many ground values lie between two ranks, ends included; all of them with a missing value."""
        known = np.maximum(low, 0)
        first = np.searchsorted(self.domain, self.values[known], side="left")
        after = np.searchsorted(self.domain, self.values[np.maximum(high, 0)], side="right")
        found = np.where(low < 0, np.where(high < 0, 1, len(self.domain)), after - first)
        return found.astype(np.int64)

    def width(self, group: Ints, count: int) -> Floats:
        """Return the share of the ground values that each class spans."""
        low, high = self.ends(group, count)
        return np.asarray((self.leaves(low, high) - 1) / max(len(self.domain) - 1, 1))
