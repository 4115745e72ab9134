"""The gate of a joint computation: what a party gets by subtracting its own part must not tell the records of the others.

It is judged on the others of every party, before any total is shown (see :mod:`~tacit.private.regression.threshold`):

* **Counts.** A column with few distinct values, whatever its codes, is a factor. For every crossing of factors that the totals show, the
  others of every party must have no record in a cell, or at least ``threshold``; and no group of them may have one response alone.
  Where all columns are factors, rounds of weighted sums determine the whole cross-classification, and that is judged.
* **Columns.** What a column is follows from the others of a party together: with many distinct values at one of them it is a column of
  numbers, and the values of another who has few are hidden among them. Only where all others of somebody have few distinct values must
  these be agreed on, so that they can be counted.
* **Equations.** The totals are equations, the values of the others' records unknowns: those of a party whose column has many
  distinct values, beyond its most frequent one. There must be 1.25 times as many unknowns as numbers are shown in all rounds together,
  in the whole file and in every group of records that some of the numbers are about alone: a category, a crossing, the records that
  do not have the most frequent value of a column (:mod:`~tacit.private.regression.equations`).
  Before the first, the others must have unknowns for a few rounds; a fit that needs more rounds than they hide is ended.
* **Single values.** Where one value is so far from all others that sums of squares tell it, the run is refused. Rounds of weighted sums
  tell values at 8 standard deviations and more, where there are one or two of them, to several digits: after the first round, from which
  mean and standard deviation are known to all, it is asked whether the others of somebody have so few there.

The count of equations is a rule of thumb: it keeps a system from being determined, and no more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints
from tacit.errors import DisclosureRefused, InputError
from tacit.private.parties.roles import Role
from tacit.private.regression.equations import MARGIN, Group
from tacit.private.regression.sums import SumSettings, add_securely
from tacit.private.regression.threshold import Forbidden, ask

#: Rounds that must be possible before a fit begins that has to search for its coefficients.
ROUNDS = 4
#: A column with at most so many distinct values, at most three quarters as many as records, is a factor: from rounds of weighted
#: sums in double precision, least squares finds how often each of so many values occurs.
FEW_VALUES = 12
#: Sums of powers up to the second, all that a linear model shows, determine the counts of so many values.
DETERMINED = 3
#: Rounds that a group of records hides are counted in parts of one.
PARTS = 8
#: A value is told by a sum of squares to this share of its distance from the others.
CLOSELY = 0.1
#: Standard deviations from the mean beyond which there must be several values or none, and by what the next bound is larger.
FAR, FARTHER = 8.0, 1.4
#: Beyond so many cells no count could be judged in reasonable time.
MOST_CELLS = 20_000


@dataclass(frozen=True)
class Factor:
    """A column with few distinct values: its name and this party's codes, from 0."""

    name: str
    codes: Ints
    n_levels: int


@dataclass(frozen=True)
class Numbers:
    """A column of numbers, and how many unknown values it holds here: none where it has few distinct ones."""

    name: str
    unknown: int
    #: All parties know which values are counted, or none need be.
    agreed: bool = False
    #: How many of its values a sum of squares would tell.
    far: int = 0


@dataclass(frozen=True)
class Question:
    """What the totals of a computation tell about this party's records."""

    n_records: int
    factors: tuple[Factor, ...] = ()
    #: The crossings of factors (their numbers) whose counts the totals show or determine.
    crossings: tuple[tuple[int, ...], ...] = ()
    #: The factor whose categories are the response.
    response: int | None = None
    #: Persons behind every row, where a row counts several.
    weights: Ints | None = None
    #: Columns of numbers with many values, at some party.
    numbers: tuple[Numbers, ...] = ()
    #: Records that some of the numbers shown in a round are about alone.
    groups: tuple[Group, ...] = ()
    #: Which columns of the design are columns of numbers, or products of such.
    tails: tuple[int, ...] = ()

    @property
    def unknowns(self) -> int:
        """Return the unknown values of this party's records: its numbers; whoever guesses its categories knows them."""
        return sum(column.unknown for column in self.numbers)

    def count(self, crossing: Sequence[int]) -> Ints:
        """Return this party's records in every cell of a crossing."""
        shape = tuple(self.factors[i].n_levels for i in crossing)
        if not shape:
            total = self.n_records if self.weights is None else int(self.weights.sum())
            return np.array([total], np.int64)
        flat = np.ravel_multi_index([self.factors[i].codes for i in crossing], shape)
        counts = np.bincount(flat, self.weights, minlength=int(np.prod(shape)))
        return counts.astype(np.int64).reshape(shape)

    def terms(self) -> dict[str, Any]:
        """Return what parties must have agreed on."""
        return {
            "factors": [[f.name, f.n_levels] for f in self.factors],
            "crossings": [list(c) for c in self.crossings],
            "groups": [[*g.columns, g.n_cells, g.shown] for g in self.groups],
        }


def crossings_of(
    terms: Iterable[Iterable[int]], response: int | None, *, whole: bool
) -> list[tuple[int, ...]]:
    """Return the crossings that sums of products show: terms with each other and with the response, or of everything."""
    known = {frozenset[int](), *(frozenset(t) for t in terms)}
    found = {a | b for a in known for b in known}
    if response is not None:
        found |= {a | {response} for a in known}
    if whole:
        found.add(frozenset().union(*found))
    return sorted(tuple(sorted(c)) for c in found if c)


def has_few_values(values: npt.NDArray[Any]) -> bool:
    """Return True for a column that is a factor, whatever it is coded with."""
    n = len(np.unique(values))
    return n <= FEW_VALUES and 4 * n <= 3 * len(values)


def pass_gate(
    settings: SumSettings,
    question: Question,
    *,
    threshold: int,
    numbers: int,
    rounds: int,
    responses: Sequence[tuple[int, Sequence[Sequence[int]]]] = (),
) -> Role[int]:
    """Refuse a computation whose totals would give others away; otherwise return the number of records of all.

    ``numbers`` is how many numbers one round shows, ``rounds`` how many rounds there must be. ``responses``
    names further factors of which a group of others in some crossings may not have one category alone.
    """
    if threshold:
        yield from judge_columns(settings, question)
        yield from judge_single_values(settings, question)
    tests = [Forbidden(np.array([question.n_records]), 0, threshold - 1)]
    if threshold and question.numbers:
        tests.append(Forbidden(np.array([question.unknowns]), 0, needed(numbers * rounds) - 1))
    few = yield from ask(settings, "gate, records", tests)
    if few.any():
        raise DisclosureRefused(
            f"{settings.me!r} ends the run: the other parties of one together have too few records for what would be shown (fewer than "
            f"{threshold}, or fewer than {needed(numbers * rounds)} unknown numbers in them), and totals would give them away"
        )
    yield from judge_cells(settings, question, threshold)
    if threshold:
        yield from judge_groups(settings, question, 0, rounds)
    for response, crossings in responses if threshold > 1 else ():
        yield from judge_responses(settings, question, response, crossings)
    # From here on totals are over exactly these parties.
    settings.included = tuple(settings.parties)
    (total,) = yield from add_securely(settings, [float(question.n_records)])
    return round(total)


def needed(shown: int) -> int:
    """Return how many unknown numbers there must be where so many are shown."""
    return math.ceil(MARGIN * shown)


def judge_columns(settings: SumSettings, question: Question) -> Role[None]:
    """Refuse a column that has few distinct values at all others of some party, where nobody has said which."""
    open_ones = [column for column in question.numbers if not column.agreed]
    many = np.array([column.unknown > 0 for column in open_ones], np.int64)
    few = yield from ask(settings, "gate, columns", [Forbidden(many, 0, 0)])
    if few.any():
        names = ", ".join(repr(c.name) for c, flag in zip(open_ones, few, strict=True) if flag)
        raise DisclosureRefused(
            f"{settings.me!r} ends the run: {names} has at most {FEW_VALUES} distinct values at every other party of one, and how often each "
            "occurs must be judged before sums are taken. Name its values under levels, the same at every party."
        )


def judge_cells(settings: SumSettings, question: Question, threshold: int) -> Role[None]:
    """Refuse crossings with few records of others, and groups of others that have one response alone."""
    if threshold < 2 or not question.crossings:
        return
    tables = [question.count(c) for c in question.crossings]
    cells = all_cells(settings, tables)
    sizes = [t.size for t in tables]
    tests = [Forbidden(cells, 1, threshold - 1)]
    small = yield from ask(settings, "gate, cells", tests, fold=sizes)
    for crossing, flag in zip(question.crossings, small, strict=True):
        if flag:
            # The names of columns are part of the agreement; which category it is stays unknown.
            where = " x ".join(question.factors[i].name for i in crossing)
            raise DisclosureRefused(
                f"{settings.me!r} ends the run: a category ({where}) holds so few records of the other parties that totals would give them "
                "away. Merge categories."
            )
    if question.response is not None:
        yield from judge_responses(settings, question, question.response, question.crossings)


def all_cells(settings: SumSettings, tables: Iterable[Ints]) -> Ints:
    """Return the cells of several tables, or refuse more than can be judged."""
    cells = np.concatenate([t.ravel() for t in tables])
    if len(cells) > MOST_CELLS:
        raise DisclosureRefused(
            f"{settings.me!r} ends the run: the categories have {len(cells):,} combinations, too many for none to hold a few records only. "
            "Merge categories, or leave some out."
        )
    return cells


def judge_responses(
    settings: SumSettings, question: Question, response: int, crossings: Sequence[Sequence[int]]
) -> Role[None]:
    """Refuse a group of others all of whom have the same response."""
    groups, rests = [], []
    for crossing in crossings:
        if response in crossing:
            table = np.moveaxis(question.count(crossing), crossing.index(response), -1)
            whole = np.repeat(table.sum(-1)[..., None], table.shape[-1], axis=-1)
            groups.append(whole.ravel())
            rests.append((whole - table).ravel())
    if not groups:
        return
    group, rest = np.concatenate(groups), np.concatenate(rests)
    same = False
    for viewer in settings.parties:
        # A group that is empty among the others of somebody tells that party nothing about them. That party alone learns which are
        # empty, as it would from the totals, and keeps them out: of a total over the others of another party it is one part.
        step = f"gate, response {response} seen by {viewer}"
        if len(settings.parties) == 2:
            full, kept_out = Forbidden(rest + (group == 0), 0, 0), None
        else:
            none = [Forbidden(group, 0, 0)]
            empty = yield from ask(settings, f"{step}, groups", none, [viewer], told=viewer)
            full, kept_out = Forbidden(rest, 0, 0), empty.astype(np.int64)
        one = yield from ask(settings, step, [full], [viewer], fold=[len(rest)], more=kept_out)
        same |= bool(one.any())
    if same:
        raise DisclosureRefused(
            f"{settings.me!r} ends the run: all records of the other parties in some category have the same response, and totals would tell "
            "it of each of them. Merge categories."
        )


def judge_groups(
    settings: SumSettings, question: Question, known: float, rounds: float
) -> Role[None]:
    """Refuse rounds from which a group of others' records would be solved; ``known`` rounds are known to be hidden."""
    low, high = max(1, math.ceil(known * PARTS)), math.ceil(rounds * PARTS) - 1
    groups = [g.rounds_hidden(PARTS) for g in question.groups]
    if not groups or high < low:
        return
    cells = all_cells(settings, groups)
    sizes = [len(g) for g in groups]
    step = f"gate, groups in {rounds:g} rounds"
    small = yield from ask(settings, step, [Forbidden(cells, low, high)], fold=sizes)
    for group, flag in zip(question.groups, small, strict=True):
        if flag:
            where = " x ".join(group.columns) or "all records"
            raise DisclosureRefused(
                f"{settings.me!r} ends the run: {rounds:g} rounds of sums would tell the records of the other parties in some group ({where}: a "
                "category, or the records away from the usual value of a column), which is too small for so many numbers. Merge "
                "categories, leave a column out, or take a larger tol."
            )


def far_values(values: Floats) -> int:
    """Return how many of the largest and the smallest value of a column are so far from all others that a sum of squares tells them closely.

    Records of other parties can only add to the sum of squares: what is not told of this party's part is not told of any total.
    """
    found = 0
    for far in {int(values.argmax()), int(values.argmin())} if len(values) > 1 else ():
        rest = np.delete(values, far)
        distance = float(values[far] - rest.mean())
        square = float(((rest - rest.mean()) ** 2).sum())
        found += square < ((1 + CLOSELY) ** 2 - 1) * distance**2
    return found


def judge_single_values(settings: SumSettings, question: Question) -> Role[None]:
    """Refuse columns in which somebody has a value that a sum of squares would tell."""
    far = np.array([column.far for column in question.numbers], np.int64)
    tests = [Forbidden(far, 1, 2 * len(settings.parties))]
    flags = yield from ask(settings, "gate, single values", tests)
    if flags.any():
        names = ", ".join(
            repr(c.name) for c, flag in zip(question.numbers, flags, strict=True) if flag
        )
        raise DisclosureRefused(
            f"{settings.me!r} ends the run: {names} has, at some party, a value so far from all others that sums of squares would tell it. Give "
            "the column a largest and a smallest value (top coding), take its logarithm, or leave the record out."
        )


def judge_tails(
    settings: SumSettings, columns: Floats, mean: Floats, spread: Floats, n: int, threshold: int
) -> Role[None]:
    """Refuse further rounds where the others of somebody have one value or two far out in a column, on one side."""
    # No value of n is more than the root of n from the mean.
    farthest = max(FAR, math.sqrt(max(n, 0)))
    bounds = FAR * FARTHER ** np.arange(math.ceil(math.log(farthest / FAR, FARTHER)))
    if not columns.shape[1] or not len(bounds) or threshold < 2:
        return
    apart = (columns - mean) / np.where(spread > 0, spread, np.inf)
    counts = np.array([[(side * apart > b).sum(0) for b in bounds] for side in (1, -1)])
    test = Forbidden(counts.ravel().astype(np.int64), 1, threshold - 1)
    few = yield from ask(settings, "gate, far values", [test], fold=[counts.size])
    if few.any():
        raise DisclosureRefused(
            f"{settings.me!r} ends the run: in some column of numbers the other parties of one together have a few values so far from the mean "
            "that further rounds would tell them. Give columns a largest and a smallest value (top coding), or take logarithms."
        )


@dataclass
class Allowance:
    """How many numbers may still be shown about the records of the others; asked in secret before they are."""

    settings: SumSettings
    #: This party's unknown numbers; None when nothing is judged.
    unknowns: int | None
    #: So many unknown numbers the others of every party are known to have.
    known: int
    question: Question
    #: So many rounds every group of others' records is known to hide.
    known_rounds: float
    shown: int = 0
    rounds: float = 0.0

    @classmethod
    def of(
        cls, settings: SumSettings, question: Question, threshold: int, first: int, rounds: int
    ) -> Allowance:
        """Return the allowance of a run in which the gate has judged the ``first`` numbers, in so many rounds."""
        judged = bool(question.numbers) and threshold > 0
        unknowns = question.unknowns if judged else None
        return cls(settings, unknowns, needed(first), question, rounds)

    def spend(self, n: int, rounds: float) -> Role[None]:
        """Count numbers that are about to be shown; end the run when they would be too many, of all or of some group."""
        self.shown += n
        self.rounds += rounds
        more = needed(self.shown)
        if self.unknowns is not None and self.rounds > self.known_rounds:
            yield from judge_groups(self.settings, self.question, self.known_rounds, self.rounds)
            self.known_rounds = self.rounds
        if self.unknowns is None or more <= self.known:
            return
        step = f"gate, {self.shown} numbers"
        test = Forbidden(np.array([self.unknowns]), self.known, more - 1)
        few = yield from ask(self.settings, step, [test])
        if few.any():
            raise DisclosureRefused(
                f"{self.settings.me!r} ends the run: the fit needs more rounds than the records of the other parties hide. Fit a smaller "
                "model, begin nearer to the solution (start), or take a larger tol."
            )
        self.known = more


def code_numbers(
    name: str, values: Floats, known: Sequence[float] | None, determined: int = FEW_VALUES
) -> tuple[Factor | None, Numbers | None]:
    """Return a column of numbers as a factor, and as a column with many values; either may be None.

    Where the sums determine the counts of up to ``determined`` values, these are levels, as are all others together. Of more
    values the lowest, often none at all, is told from the rest. Without agreed values the parties ask each other first whether
    the column has many (:func:`judge_columns`).
    """
    many = int(len(values) - np.unique(values, return_counts=True)[1].max(initial=0) + 1)
    if known is None:
        return None, Numbers(name, 0 if has_few_values(values) else many, far=far_values(values))
    ordered = np.unique(np.asarray(known, np.float64))
    if len(ordered) > determined:
        codes = (values != ordered[0]).astype(np.int64)
        return Factor(name, codes, 2), Numbers(name, many, agreed=True, far=far_values(values))
    place = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    codes = np.where(ordered[place] == values, place, len(ordered))
    return Factor(name, codes.astype(np.int64), len(ordered) + 1), None


def require_agreed(name: str, values: Floats, known: Sequence[float] | None, who: str) -> None:
    """Refuse a column of few distinct values that has one which was not agreed on, and so would not be counted."""
    if known is not None and has_few_values(values) and not np.isin(values, known).all():
        raise InputError(f"column {name!r} of {who!r} holds a value that is not among those agreed")
