"""The sequence: one column after the other, each drawn given those before it, within the rules."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np
import pyarrow as pa

from tacit.arrays import Flags, Ints
from tacit.data.where import columns_of
from tacit.errors import Infeasible, LimitReached
from tacit.events import side_by_side
from tacit.numerics.streams import generator_of, spawn_sequences
from tacit.records.synthesis.sequential.regressions import (
    fit_counts,
    fit_logit,
    fit_multinomial,
    fit_numbers,
)
from tacit.records.synthesis.sequential.rules import add_up, holds
from tacit.records.synthesis.sequential.trees import fit_leaves, fit_strata
from tacit.records.synthesis.sequential.variables import Given, Values, Variable

Way = Literal["cart", "logit", "multinomial", "linear", "spline", "count", "sample"]
State = dict[str, Values]
T = TypeVar("T")
Tick = Callable[[str, float | None], None]

EVERYONE = slice(None)
#: Draws until a value is within its range, or a record is a possible one.
TRIES = 200
#: Rounds of drawing whole records again that break a rule.
ROUNDS = 100
#: Share of the records from which on a number is a state of its own in a regression.
SPIKE = 0.1
#: Records from which on threads are worth their start.
LONG = 20_000


@dataclass(frozen=True)
class Step:
    """How one column is drawn: by what model (``way``), and given which columns.

    All members of a household have one value where it is ``shared``. ``settings`` are its structural values, ``forbid``
    rules that must not hold once it is drawn, ``limits`` its range. The sum of ``parts`` is not drawn.
    """

    column: str
    way: Way
    predictors: tuple[str, ...]
    shared: bool = False
    settings: tuple[tuple[str, Any], ...] = ()
    forbid: tuple[str, ...] = ()
    limits: tuple[float | None, float | None] = (None, None)
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Homes:
    """Who lives with whom: the household of each record, and the record of each household's head."""

    unit: Ints
    head: Ints

    @property
    def head_of(self) -> Ints:
        """Return the record of each record's head."""
        return self.head[self.unit]


@dataclass(frozen=True)
class Options:
    """What models are told: smallest leaf, smoothing, degree of products, classes of random draws."""

    leaf: int
    smooth: bool
    degree: int
    within: tuple[str, ...]


@dataclass
class ColumnModel:
    """The model of a column: of its state where numbers may be missing, and of its value.

    A ``spike`` is a number that many records share and no normal distribution knows, such as a wage of 0: one more state.
    """

    variable: Variable
    value: Any
    state: Any
    donors: Values
    spike: float | None = None

    def draw(self, given: Given, rng: np.random.Generator) -> Values:
        """Return new values for records with these predictors."""
        if self.state is None:
            found: Values = self.value.draw(given, rng)
            return found
        states = self.state.draw(given, rng).codes
        ordinary = np.flatnonzero(states == 0)
        spiked = states == self.variable.size
        out = Values(np.where(spiked, 0, states), np.where(spiked, self.spike or 0.0, 0.0))
        if not len(ordinary):
            return out
        drawn = self.value.draw([(v, x.take(ordinary)) for v, x in given], rng)
        return out.put(ordinary, drawn)


@dataclass
class Chain:
    """Columns with their models, fitted once to the original records."""

    variables: dict[str, Variable]
    original: State
    steps: Sequence[Step]
    options: Options
    homes: Homes | None = None
    models: dict[tuple[str, str], ColumnModel | None] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Return the number of records."""
        return len(self.original[self.steps[0].column])

    # -- fitting -----------------------------------------------------------------------------------

    def fit(self, rng: np.random.Generator, tick: Tick, *, resample: bool = False) -> None:
        """Fit the models; ``resample`` fits them to a bootstrap sample of the records."""
        jobs = []
        for step in self.steps:
            if step.parts:
                continue
            free = ~self.structural(step, self.original)
            for group, rows in self.groups(step).items():
                use = rows[free[rows]]
                if resample and len(use):
                    use = np.sort(rng.choice(use, len(use)))
                jobs.append((step, group, use))
        # No model waits for another: each is fitted to the original.
        streams = [generator_of(s) for s in spawn_sequences(rng, len(jobs))]

        def fit(at: int) -> ColumnModel | None:
            step, group, use = jobs[at]
            return self.fit_column(step, group, use, streams[at]) if len(use) else None

        for i, model in enumerate(in_threads(fit, len(jobs), self.n)):
            step, group, _ = jobs[i]
            tick(f"fitting {step.column}", (i + 1) / len(jobs))
            self.models[step.column, group] = model

    def groups(self, step: Step) -> dict[str, Ints]:
        """Return the records with a model of their own: all, or heads and then members."""
        everyone = np.arange(len(self.original[step.column]))
        if self.homes is None:
            return {"all": everyone}
        head = np.sort(self.homes.head)
        return (
            {"head": head} if step.shared else {"head": head, "member": np.delete(everyone, head)}
        )

    def fit_column(
        self, step: Step, group: str, rows: Ints, rng: np.random.Generator
    ) -> ColumnModel:
        """Fit the model of a column to some records."""
        variable = self.variables[step.column]
        given = self.given(step, group, self.original, rows)
        donors = target = self.original[step.column].take(rows)
        state = None
        spike = find_spike(target) if step.way in ("linear", "spline") else None
        codes = target.codes
        if spike is not None:
            codes = np.where((codes == 0) & (target.numbers == spike), variable.size, codes)
        if variable.numeric and (codes > 0).any():
            state = self.fit_model(Values(codes), variable.size, given, step, rng, states=True)
            ordinary = np.flatnonzero(codes == 0)
            given = [(v, x.take(ordinary)) for v, x in given]
            target = target.take(ordinary)
        if variable.numeric:
            target = Values(np.zeros(len(target), dtype=np.int64), target.numbers)
        size = variable.size
        value = self.fit_model(target, size, given, step, rng) if len(target) else None
        return ColumnModel(variable, value, state, donors, spike)

    def fit_model(
        self,
        target: Values,
        size: int,
        given: Given,
        step: Step,
        rng: np.random.Generator,
        *,
        states: bool = False,
    ) -> Any:
        """Fit what gives the values, or the ``states``: what says whether a number is missing."""
        way, options = step.way, self.options
        if way == "sample":
            return fit_strata(target, given, options.within)
        if way == "cart":
            smooth = options.smooth and not states
            return fit_leaves(target, size, given, leaf=options.leaf, smooth=smooth, rng=rng)
        if states:
            return fit_multinomial(target, given, name=step.column, degree=1)
        if way in ("linear", "spline"):
            return fit_numbers(target, given, kind=way, degree=options.degree)
        return NAMED[way](target, given, name=step.column, degree=options.degree)

    def given(self, step: Step, group: str, state: State, rows: Ints | slice) -> Given:
        """Return the predictors of some records; for members those of the head of the household as well."""
        found = [(self.variables[p], state[p].take(rows)) for p in step.predictors]
        if group == "member" and self.homes is not None:
            heads = self.homes.head_of[rows]
            shared = {s.column for s in self.steps if s.shared}
            known = [p for p in step.predictors if p in self.targets and p not in shared]
            found += [(self.variables[p], state[p].take(heads)) for p in (step.column, *known)]
        if not found:
            n = len(state[step.column].take(rows))
            nothing = Variable("", pa.string(), pa.array([""]), False)
            found = [(nothing, Values(np.zeros(n, dtype=np.int64)))]
        return found

    @property
    def targets(self) -> set[str]:
        """Return the columns that are drawn."""
        return {s.column for s in self.steps}

    # -- drawing -----------------------------------------------------------------------------------

    def draw(self, rng: np.random.Generator, tick: Tick) -> State:
        """Return one copy: all columns, those synthesised drawn anew."""
        state, zeros = dict(self.original), np.zeros(self.n, dtype=np.int64)
        for step in self.steps:
            x = self.original[step.column]
            state[step.column] = Values(zeros, None if x.numbers is None else np.zeros(self.n))
        self.fill(state, None, rng, tick)
        return state

    def fill(self, state: State, rows: Ints | None, rng: np.random.Generator, tick: Tick) -> None:
        """Draw the columns of some records, whole households of them, until they keep the rules; of all where none are named.

        A column is drawn within its own rules. What a rule sets, a sum or the head's value may still make a record
        an impossible one, which is then drawn again from its first column on.
        """
        for _ in range(ROUNDS):
            self.fill_once(state, rows, rng, tick)
            wrong = self.broken(state, rows)
            if not len(wrong):
                return
            rows = self.whole_homes(wrong)
        raise LimitReached(
            f"synthesise: {len(wrong):,} records break a rule however often they are drawn. Do rules, forbidden combinations, sums and ranges contradict each other?"
        )

    def fill_once(
        self, state: State, rows: Ints | None, rng: np.random.Generator, tick: Tick
    ) -> None:
        """Draw the columns of some records once."""
        for i, step in enumerate(self.steps):
            tick(f"drawing {step.column}", i / max(len(self.steps), 1))
            if step.parts:
                self.add(step, state)
                continue
            for group, at in self.groups(step).items():
                chosen = at if rows is None else np.intersect1d(at, rows, assume_unique=True)
                if len(chosen):
                    self.draw_rows(step, group, state, chosen, rng)
            if step.shared and self.homes is not None:
                state[step.column] = state[step.column].take(self.homes.head_of)

    def whole_homes(self, rows: Ints) -> Ints:
        """Return the records of the households that some records belong to."""
        if self.homes is None:
            return rows
        return np.flatnonzero(np.isin(self.homes.unit, self.homes.unit[rows]))

    def draw_rows(
        self, step: Step, group: str, state: State, rows: Ints, rng: np.random.Generator
    ) -> None:
        """Draw a column of some records until all are within range and possible."""
        fixed = self.structural(step, state)[rows]
        self.settle(step, state)
        todo = rows[~fixed]
        for attempt in range(TRIES):
            if not len(todo):
                return
            model = self.models[step.column, group]
            if model is None:
                raise Infeasible(
                    f"synthesise: no original record shows what column {step.column!r} is where its rules leave it free"
                )
            if attempt < TRIES // 2 or not step.forbid:
                drawn = model.draw(self.given(step, group, state, todo), rng)
            else:
                # Values of any records: a leaf may know only what cannot be.
                drawn = model.donors.take(rng.integers(len(model.donors), size=len(todo)))
            drawn, wrong = self.bound(step, drawn, last=attempt == TRIES - 1)
            state[step.column] = state[step.column].put(todo, drawn)
            todo = todo[wrong | self.impossible(step, state, todo)]
        if len(todo) and step.forbid:
            raise LimitReached(
                f"synthesise: {len(todo):,} records of column {step.column!r} could not be drawn without a forbidden combination in {TRIES} attempts. Put the column before, or set its value by a rule."
            )

    def bound(self, step: Step, drawn: Values, *, last: bool) -> tuple[Values, Flags]:
        """Return numbers in the decimals of the column, and which lie outside its range; the last are cut off."""
        if drawn.numbers is None:
            return drawn, np.zeros(len(drawn), dtype=bool)
        numbers = self.variables[step.column].tidy(drawn.numbers)
        tidy = Values(drawn.codes, numbers)
        wrong = outside(tidy, step.limits)
        if last:
            low, high = step.limits
            least, most = -np.inf if low is None else low, np.inf if high is None else high
            return Values(drawn.codes, np.clip(numbers, least, most)), np.zeros_like(wrong)
        return tidy, wrong

    # -- rules -------------------------------------------------------------------------------------

    def holds(self, rule: str, state: Mapping[str, Values], rows: Any = EVERYONE) -> Flags:
        """Return in which of some records a rule holds."""
        columns = {c: self.variables[c].restore(state[c].take(rows)) for c in columns_of(rule)}
        return holds(rule, pa.table(columns))

    def set_by_rules(
        self, step: Step, state: Mapping[str, Values], rows: Any = EVERYONE
    ) -> Iterator[tuple[Ints, Values]]:
        """Yield which of some records have a value of the column set by a rule, and the values."""
        for when, value in step.settings:
            at = np.flatnonzero(self.holds(when, state, rows))
            yield at, value_of(self.variables[step.column], value, len(at))

    def structural(self, step: Step, state: Mapping[str, Values]) -> Flags:
        """Return the records in which a rule sets the column."""
        found = np.zeros(self.n, dtype=bool)
        for at, _ in self.set_by_rules(step, state):
            found[at] = True
        return found

    def settle(self, step: Step, state: State) -> None:
        """Give the column the values that rules set."""
        for at, values in self.set_by_rules(step, state):
            state[step.column] = state[step.column].put(at, values)

    def impossible(self, step: Step, state: State, rows: Any) -> Flags:
        """Return which of some records are forbidden."""
        found = np.zeros(len(state[step.column].take(rows)), dtype=bool)
        for text in step.forbid:
            found |= self.holds(text, state, rows)
        return found

    def settle_all(self, state: State) -> None:
        """Give all columns the values that rules and sums set, in their order."""
        for step in self.steps:
            if step.parts:
                self.add(step, state)
            else:
                self.settle(step, state)

    def broken(self, state: State, rows: Ints | None) -> Ints:
        """Return which of some records, of all where none are named, break a rule or lie outside a range."""
        some: Any = EVERYONE if rows is None else rows
        wrong = np.zeros(self.n if rows is None else len(rows), dtype=bool)
        for step in self.steps:
            here = state[step.column].take(some)
            for at, wanted in self.set_by_rules(step, state, some):
                wrong[at[here.take(at).keys() != wanted.keys()]] = True
            wrong |= self.impossible(step, state, some)
            if step.column in self.ranges:
                wrong |= outside(here, self.ranges[step.column])
        found = np.flatnonzero(wrong)
        return found if rows is None else rows[found]

    def add(self, step: Step, state: State) -> None:
        """Make a column the sum of its parts."""
        parts = [(state[p].numbers, state[p].codes == 0) for p in step.parts]
        total, some = add_up([(x, known) for x, known in parts if x is not None])
        # A total in fewer decimals than its parts would not be their sum.
        decimals = [self.variables[p].decimals for p in step.parts]
        total = total if None in decimals else np.round(total, max(d or 0 for d in decimals)) + 0.0
        state[step.column] = Values(np.where(some, 0, 1).astype(np.int64), total)


#: Models that name their column where they cannot be fitted to it.
NAMED: Mapping[Way, Callable[..., Any]] = {
    "logit": fit_logit,
    "multinomial": fit_multinomial,
    "count": fit_counts,
}


def find_spike(values: Values) -> float | None:
    """Return the number that at least a tenth of the records share, where numbers are otherwise spread."""
    assert values.numbers is not None
    numbers, counts = np.unique(values.numbers[values.codes == 0], return_counts=True)
    if not len(counts):
        return None
    top = int(counts.argmax())
    others = np.delete(counts, top)
    # Among a few round values none is a spike: it has to stand out from the next.
    apart = counts[top] >= SPIKE * counts.sum() and counts[top] >= 5 * others.max(initial=0)
    return float(numbers[top]) if apart and len(others) else None


def in_threads(work: Callable[[int], T], n: int, records: int) -> Iterator[T]:
    """Yield what work gives for 0, 1, ..., n - 1: in threads where it is long, since trees are grown outside Python."""
    if records < LONG or n < 2:
        yield from map(work, range(n))
        return
    yield from side_by_side(work, range(n), min(os.cpu_count() or 1, n))


def outside(values: Values, limits: tuple[float | None, float | None]) -> Flags:
    """Return which ordinary numbers lie outside limits."""
    wrong = np.zeros(len(values), dtype=bool)
    low, high = limits
    if values.numbers is None:
        return wrong
    if low is not None:
        wrong |= values.numbers < low
    if high is not None:
        wrong |= values.numbers > high
    return wrong & (values.codes == 0)


def value_of(variable: Variable, value: Any, n: int) -> Values:
    """Return a value n times, in the codes of its column."""
    if variable.numeric:
        code = 1 if value is None else 0
        return Values(np.full(n, code), np.full(n, 0.0 if value is None else float(value)))
    code = variable.labels.to_pylist().index(value)
    return Values(np.full(n, code, dtype=np.int64))
