"""LocalRecode: generalise record by record, after the best generalisation of whole columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Flags, Ints
from tacit.context import Context
from tacit.data.hierarchies.rules import flat
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.engine.codes import Cells, encode
from tacit.errors import Infeasible, InputError
from tacit.records.classes.anonymise.base import LatticeMethod
from tacit.records.classes.anonymise.evaluate import Task
from tacit.records.classes.anonymise.grouping import Codes, merge_classes
from tacit.records.classes.anonymise.mixed import (
    Release,
    Words,
    climb_words,
    judge_release,
    least_value,
    list_words,
)
from tacit.records.classes.anonymise.mondrian import has_intervals, partition
from tacit.records.classes.anonymise.objectives import COUNTED, WORDS, Entropy
from tacit.records.classes.anonymise.problem import Problem, State, Values, sum_moments
from tacit.records.classes.anonymise.search import Limits, Tick, gap_of, search_lattice, search_soon
from tacit.records.classes.anonymise.specialise import Specialiser
from tacit.registry import register
from tacit.result import Result

Way = Literal["iterative", "top_down", "mondrian", "mondrian_relaxed"]
#: What a lattice run pays for a record that it leaves to the next; each makes one series of runs.
PRICES = (1.0, 0.25, 0.1)
#: Runs after which the rest is left as it is, and the share of what it was given that a run must release.
RUNS, LEAST = 20, 0.02
#: The share of the effort that one of the later runs may take, and the nodes that it may judge in any case.
SHARE, NODES = 0.004, 30


@dataclass(frozen=True, repr=False)
class Recoding(Result):
    """What a search for a release of mixed levels found: one row a key in ``frame``."""

    #: The best release: for each row the labels, and whether it is kept.
    release: Release = None  # type: ignore[assignment]
    #: What the best generalisation of whole columns costs, beside ``value``.
    global_value: float = 0.0
    #: How it was made: the method asked for, or ``global`` where that found nothing better.
    chosen: str = "global"
    #: A value below which no release of hierarchy labels lies; 0 where none is known.
    bound: float = 0.0
    #: Whether the generalisation of whole columns was proven to be the best.
    proven: bool = False
    #: What was searched; the rows of its base state are distinct combinations of key values, or records.
    task: Task = None  # type: ignore[assignment]


@register
class LocalRecode(LatticeMethod):
    """Generalise each record only as far as its own class needs while every model holds.

    The best generalisation of whole columns is found first, as by Anonymise; then each record may stand at a
    level of its own, and the better of both is released, so that the utility is never worse. ``iterative`` runs the
    lattice again on the records that a run suppressed, until nothing more can be released, and specialises
    the classes further where they allow it. ``top_down`` begins with one class of all records and specialises
    class by class. ``mondrian`` cuts numeric keys at their medians, releases the intervals, and
    specialises the other keys along their hierarchies; ``mondrian_relaxed`` lets records with the median value
    go to either side, and records that cannot be specialised stay behind. All are heuristics; the value comes
    with a bound where one is known. Models are tested on classes of equal released labels.

    References
    ----------
    LeFevre, DeWitt, Ramakrishnan (2006), Mondrian multidimensional k-anonymity, ICDE, 25.
    Prasser, Bild, Eicher, Spengler, Kohlmayer, Kuhn (2016), Lightning: utility-driven anonymization of
    high-dimensional data, Transactions on Data Privacy 9, 161-185.
    Fung, Wang, Yu (2005), Top-down specialization for information and privacy preservation, ICDE, 205-216.
    """

    kind: Literal["local_recode"] = "local_recode"
    method: Way = Field(
        default="iterative",
        description="lattice runs on what was suppressed; specialising from the top; or cuts at medians",
    )

    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("generalise values (cell)", "suppression (tuple)")

    def prepare(self, data: Microdata) -> Microdata:
        """Return the data; numeric keys that Mondrian cuts need no hierarchy."""
        if not self.method.startswith("mondrian"):
            return data
        bare = [k for k in self.numbers(data) if k not in data.hierarchies]
        values = {k: data.codes(k).values for k in bare}
        made = {k: flat().build(v.to_pylist()).bind(v, k) for k, v in values.items()}
        return replace(data, hierarchies={**data.hierarchies, **made})

    def faults(self, data: Microdata) -> list[Any]:
        """Take numeric keys without hierarchy where they are cut."""
        if not self.type_fault(data) and all(k in data.columns for k in data.keys):
            data = self.prepare(data)
        found = super().faults(data)
        if self.asks_register:
            found.append(
                InputError(
                    "local_recode: records of mixed levels share their candidates in a register, so that k_map and "
                    "delta_presence do not follow from classes. Use anonymise for them."
                )
            )
        return found

    def search(self, data: Microdata, *, context: Context | None = None) -> Recoding:
        """Find the release without making it.

        Raises
        ------
        Infeasible
            When not even a generalisation of whole columns is safe.
        """
        self.check(data)
        ctx = context or Context.start(None)
        numeric = self.cut_keys(data)
        data = self.prepare(data)
        task = self.pose(data)
        if not task.problem.records:
            raise InputError("local_recode: there are no records.")
        tick = partial(ctx.tick, "recoding")
        limits = Limits(self.effort * 1e6, self.seconds)
        found = search_lattice(task, limits, 1, tick)
        best = found.incumbent
        if best is None:
            raise Infeasible(
                f"local_recode: no generalisation of whole columns is safe with suppression = {self.suppression:g}, "
                "and local recoding starts from one. Allow more suppression, or ask for less."
            )
        words = list_words(task, data.hierarchies)
        state, ids = task.problem.raise_state(task.problem.base, best.levels)
        kept = task.keep(state).alive[ids]
        if self.method == "mondrian_relaxed":
            task, row_of = by_record(task, data, self.numbers(data))
            kept = kept[row_of]
        every = np.tile(np.array(best.levels, dtype=np.int32), (len(kept), 1))
        begin = Start(task, words, kept, every, tick)
        start = begin.judge(every, kept)
        assert start is not None, "a safe node is a safe release"
        candidates: list[tuple[str, Release | None]] = [("global", start)]
        if self.method == "iterative":
            part = limits.part(SHARE)
            part = replace(part, work=max(part.work, NODES * len(kept)))
            candidates += [("iterative", release) for release in begin.run_again(part)]
        if self.method in ("iterative", "top_down"):
            candidates += [("top_down", release) for release in begin.specialise()]
        else:
            relaxed, by_count = self.method == "mondrian_relaxed", self.utility == "entropy"
            cut = partition(
                task, data.hierarchies, words, numeric, tick, by_count=by_count, relaxed=relaxed
            )
            candidates.append((self.method, cut))
        able = [(name, r) for name, r in candidates if r is not None]
        chosen, release = min(able, key=lambda c: c[1].value)
        hierarchical = not self.method.startswith("mondrian")
        names = [" ".join(m.kind.split("_")) for m in self.models]
        bound = least_value(task, words, task.problem.base) if hierarchical else 0.0
        known = f"no release lies below {bound:.3g}." if bound else "no bound is known."
        return Recoding(
            kind=self.kind,
            title=f"Local recoding for {', '.join(names)}",
            value=release.value,
            numbers={
                f"{self.utility} record by record": release.value,
                f"{self.utility} of whole columns": start.value,
                "chosen": chosen,
                "records suppressed": release.suppressed,
                "share suppressed": release.share,
                "classes": release.classes,
            },
            frame=key_table(task, release),
            explanation=f"Value: {WORDS[self.utility]}. {COUNTED[self.weights]} The method is a heuristic; {known}",
            release=release,
            global_value=start.value,
            chosen=chosen,
            bound=bound,
            proven=found.bound == np.inf,
            task=task,
        )

    def cut_keys(self, data: Microdata) -> tuple[str, ...]:
        """Return the keys that Mondrian cuts: numbers without hierarchy, or with one of intervals.

        Numbers whose hierarchy does not keep their order are codes, and a flat one says that they are not to be
        joined.
        """
        return tuple(
            k
            for k in self.numbers(data)
            if k not in self.levels
            and (k not in data.hierarchies or has_intervals(data.hierarchy(k)))
        )

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        data = self.without_identifiers(data)
        found = self.search(data, context=ctx)
        release, keys = found.release, found.task.problem.keys
        table = data.to_arrow(keys)
        row_of = (
            np.arange(table.num_rows)
            if self.method == "mondrian_relaxed"
            else find_rows(found.task, table)
        )
        columns, left = {}, dict(data.hierarchies)
        for j, key in enumerate(keys):
            words, codes = release.words[j], release.codes[:, j]
            if (codes[release.alive] < words.ground).all():
                continue
            columns[key] = words.texts.take(pa.array(codes[row_of]))
            if (codes[release.alive] >= words.known).any():
                # Intervals that were cut are no labels of the hierarchy.
                left.pop(key, None)
        result = replace(data.replace(columns) if columns else data, hierarchies=left)
        alive = release.alive[row_of]
        if not alive.all():
            result = result.take(np.flatnonzero(alive))
        result = self.aggregate(result)
        ctx.note(
            method=self.method,
            chosen=found.chosen,
            dropped=release.suppressed,
            classes=release.classes,
            value=found.value,
            global_value=found.global_value,
            utility=self.utility,
            weights=self.weights,
            proven_global=found.proven,
        )
        if found.bound:
            ctx.note(bound=found.bound, gap=gap_of(found.value, found.bound))
        return result.materialise()


@dataclass(frozen=True)
class Start:
    """What every way of recoding starts from: the best whole columns, and the rows that they keep."""

    task: Task
    words: tuple[Words, ...]
    kept: Flags
    levels: Codes
    tick: Tick

    def judge(self, levels: Codes, kept: Flags) -> Release | None:
        """Return what it is worth to release some rows at levels of their own."""
        problem = self.task.problem
        codes = climb_words(self.words, problem.base.codes, problem.low, levels)
        return judge_release(self.task, problem.base, self.words, codes, kept)

    def run_again(self, limits: Limits) -> Iterator[Release | None]:
        """Yield the releases of each series of lattice runs, as they are and specialised further."""
        for price in PRICES:
            rounds = run_rounds(self.task, limits, price, self.tick)
            if rounds is not None:
                levels, kept = rounds
                yield self.judge(levels, kept)
                yield self.refine(kept, levels)

    def specialise(self) -> Iterator[Release | None]:
        """Yield the releases that specialising leads to, from the top and from the best whole columns."""
        top = np.tile(np.array(self.task.problem.high, dtype=np.int32), (len(self.kept), 1))
        yield self.refine(np.ones(len(self.kept), dtype=bool), top)
        yield self.refine(self.kept, self.levels)

    def refine(self, kept: Flags, levels: Codes) -> Release | None:
        """Return a release with every class specialised as far as it can be.

        The rows that were not kept form one more class at the highest levels, where the models allow that.
        """
        task = self.task
        high = np.array(task.problem.high, dtype=np.int32)
        starting = np.where(kept[:, None], levels, high)
        for included in (np.ones(len(kept), dtype=bool), kept):
            places = np.flatnonzero(included)
            part = part_of(task, places, task.suppression)
            down = Specialiser(part, self.words, self.tick, partial=True)
            classes = down.start(starting[places], apart=~kept[places])
            added = np.bincount(classes.group[~kept[places]], minlength=len(classes.levels)) > 0
            good = down.passes(np.arange(len(places)), classes.group, len(classes.levels))
            if added.any() and not good[added].all():
                continue
            done = down.run(classes)
            chosen = starting.copy()
            chosen[places] = done.levels[done.group]
            return self.judge(chosen, included)
        return None


def run_rounds(task: Task, limits: Limits, price: float, tick: Tick) -> tuple[Codes, Flags] | None:
    """Return the level of each row in each key, and the rows released, by lattice runs on what those before suppressed.

    None when the rest cannot be brought within the suppression limit. ``price`` is what is paid for a record that is left
    to the next run, as a share of the cost of suppressing it: the lower, the finer are the first releases.
    """
    base = task.problem.base
    levels = np.zeros(base.codes.shape, dtype=np.int32)
    # The run that released a row, -1 for none.
    run_of = np.full(len(base), -1, dtype=np.int64)

    def left() -> float:
        return float(base.amounts(task.weighted)[run_of < 0].sum())

    def release(run: int, suppression: float, price: float = 1.0) -> bool:
        """Release what the best node for the rest keeps; return False when no node is safe."""
        rest = np.flatnonzero(run_of < 0)
        objective = replace(task.objective, suppress=task.objective.suppress * price)
        part = replace(part_of(task, rest, suppression), objective=objective)
        best = search_soon(part, limits, tick).incumbent
        if best is None:
            return False
        state, ids = part.problem.raise_state(part.problem.base, best.levels)
        kept = rest[part.keep(state).alive[ids]]
        levels[kept] = best.levels
        run_of[kept] = run
        return True

    for run in range(RUNS):
        if (run_of >= 0).all() or not release(run, 1.0 - LEAST, price):
            break
    for run in range(int(run_of.max(initial=-1)), -1, -1):
        # Too much is left: take back the last runs, and release their rows with the rest as one.
        if left() <= task.limit:
            break
        run_of[run_of == run] = -1
        if release(run, min(1.0, task.limit / left())):
            return levels, run_of >= 0
    return (levels, run_of >= 0) if left() <= task.limit else None


def part_of(task: Task, rows: Ints, suppression: float) -> Task:
    """Return the task on some of the rows, numbered anew."""
    problem, state = task.problem, task.problem.base
    place = np.full(len(state), -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    values = {}
    for column, found in state.values.items():
        inside = found.within(place[found.of_class] >= 0)
        values[column] = Values(place[inside.of_class], inside.value, inside.n, inside.weight)
    weight, moments, ground = (
        None if x is None else x[rows] for x in (state.weight, state.moments, state.ground)
    )
    codes, n = state.codes[rows], state.n[rows]
    base = State(state.levels, codes, n, weight, values, moments, None, ground)
    return replace(task, problem=replace(problem, base=base), suppression=suppression)


def key_table(task: Task, release: Release) -> nw.DataFrame[Any]:
    """Return for each key the share of released records as they were, and the mean loss of a released cell."""
    n, alive = task.problem.base.n[release.alive], release.alive
    total = max(int(n.sum()), 1)
    untouched, lost = [], []
    for words, climb, codes in zip(
        release.words, task.problem.climbs, release.codes[alive].T, strict=True
    ):
        untouched.append(float(n[codes < words.ground].sum()) / total)
        spread = (words.leaves[codes] - 1) / max(climb.domain - 1, 1)
        lost.append(float((n * spread).sum()) / total)
    return as_frame({"key": task.problem.keys, "as in the data": untouched, "loss": lost})


def find_rows(task: Task, table: pa.Table) -> Ints:
    """Return the row of the base state to which each record belongs."""
    base = task.problem.base
    codes = record_codes(task.problem, table)
    both = np.concatenate([base.codes, codes])
    sizes = task.problem.code_sizes(task.problem.low)
    # The rows of the base state all differ and come first, so that they keep their numbers.
    merged = merge_classes(both, sizes, np.ones(len(both), dtype=np.int64))
    return merged.ids[len(base) :]


def record_codes(problem: Problem, table: pa.Table) -> Codes:
    """Return the codes of all records at the lowest levels."""
    columns = []
    for j, key in enumerate(problem.keys):
        ground = problem.ground[j][encode(table.column(key)).codes]
        columns.append(problem.climbs[j].lift(ground, 0, problem.low[j]))
    return np.stack(columns, axis=1).astype(np.int32)


def by_record(task: Task, data: Microdata, numbers: Sequence[str]) -> tuple[Task, Ints]:
    """Return the task with one row per record, in their order, and the row that each had before."""
    problem = task.problem
    named = [*problem.keys, *problem.sizes, *([data.weight] if data.weight else [])]
    table = data.to_arrow(list(dict.fromkeys(named)))
    count = table.num_rows
    ones, every = np.ones(count, dtype=np.int64), np.arange(count, dtype=np.int64)
    weight = None
    if data.weight is not None:
        weight = table.column(data.weight).to_numpy(zero_copy_only=False).astype(np.float64)
    values = {
        c: Values(every, encode(table.column(c)).codes.astype(np.int64), ones, weight)
        for c in problem.sizes
    }
    moments = None
    if problem.base.moments is not None:
        coded = {k: encode(table.column(k)) for k in numbers}
        moments = sum_moments(Cells(coded, ones), numbers, every, count)
    ground = None
    if isinstance(task.objective, Entropy):
        own = task.objective.ground_of([encode(table.column(k)).codes for k in problem.keys])
        counted = weight if task.objective.weighted and weight is not None else ones
        ground = own * counted
    rows = State(
        problem.low, record_codes(problem, table), ones, weight, values, moments, None, ground
    )
    return replace(task, problem=replace(problem, base=rows)), find_rows(task, table)
