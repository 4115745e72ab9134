"""Steps of time of a joint Cox model: so coarse that those who leave in one step hide each other.

The sums over the risk sets of two consecutive steps differ by whoever left in between: on a grid of single days, by one person. Before
any sum is taken, the owners join neighbouring steps until in each the others of every owner are enough: 1.25 unknown values for
each number that the rounds tell about the step, and about every group of records in it that some of them are about alone; some had the event and some had not, as whoever is known to have left in the step
would otherwise be known to have had it or not; and no count of events, of ends without event, or of a category in it
is small and not zero. They learn which steps of the agreed grid were too small for somebody, and no count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tacit.arrays import Flags
from tacit.errors import DisclosureRefused
from tacit.private.parties.roles import Role
from tacit.private.regression.equations import MARGIN
from tacit.private.regression.families import Cox
from tacit.private.regression.gate import MOST_CELLS, Question
from tacit.private.regression.sums import SumSettings
from tacit.private.regression.threshold import Forbidden, ask

#: Rounds of Newton's method that the steps are made for; a search that needs more is ended.
MOST_ROUNDS = 10
#: Rounds that a group of records hides are counted in parts of one.
PARTS = 2


def coarsen(
    settings: SumSettings, model: Cox, question: Question, threshold: int
) -> Role[tuple[Cox, tuple[int, ...]]]:
    """Return the model on steps of time that may be shown, and the places of the grid where they begin."""
    steps = list(range(model.n_times))
    # Each round tells one number more than p(p+3)/2 about those who leave in a step.
    p = model.n_parameters
    numbers = MOST_ROUNDS * (p + 1) * (p + 2) / 2
    fewest = max(threshold, math.ceil(MARGIN * numbers / max(1, p))) if threshold else 0
    attempt = 0
    while True:
        attempt += 1
        merged = model.merge(steps)
        tests = tests_of(merged, question, fewest, threshold)
        flags = yield from ask(settings, f"gate, steps of time {attempt}", tests)
        if len(steps) < 2 or len(steps) * len(tests) > 10 * MOST_CELLS:
            raise DisclosureRefused(
                f"{settings.me!r} ends the run: the other parties of one have too few records in any two steps of time, and sums over "
                "risk sets would give them away. Agree on fewer covariates or categories, or find more records."
            )
        if not flags.any():
            return merged, tuple(steps)
        steps = join_steps(steps, flags)


def tests_of(model: Cox, question: Question, fewest: int, threshold: int) -> list[Forbidden]:
    """Return what must not be seen of a step: too few people, all with the event or all without, or a few in a cell of the design."""
    people = np.bincount(model.place, minlength=model.n_times).astype(np.int64)
    events = np.bincount(model.place, model.event > 0, minlength=model.n_times).astype(np.int64)
    tests = [Forbidden(people, 0, fewest - 1)]
    if threshold:
        tests += [Forbidden(events, 0, 0), Forbidden(people - events, 0, 0)]
    for crossing in question.crossings:
        shape = tuple(question.factors[i].n_levels for i in crossing)
        cells = np.ravel_multi_index([question.factors[i].codes for i in crossing], shape)
        for cell in range(int(np.prod(shape))):
            inside = np.bincount(model.place, cells == cell, minlength=model.n_times)
            tests.append(Forbidden(inside.astype(np.int64), 1, threshold - 1))
    for group in question.groups if threshold else ():
        hidden = group.rounds_hidden(PARTS, model.place, model.n_times)
        in_steps = hidden.reshape(model.n_times, -1).T
        tests += [Forbidden(each, 1, MOST_ROUNDS * PARTS - 1) for each in in_steps]
    return tests


def join_steps(steps: Sequence[int], flags: Flags) -> list[int]:
    """Join every step that is too small with the one after it, the last with the one before."""
    kept, i = [], 0
    while i < len(steps):
        kept.append(steps[i])
        i += 2 if flags[i] else 1
    if flags[-1] and kept[-1] == steps[-1] and len(kept) > 1:
        kept.pop()
    return kept


def require_rounds(who: str, rounds: int, threshold: int) -> None:
    """End a search that needs more rounds than the steps of time were made for."""
    if threshold and rounds > MOST_ROUNDS:
        raise DisclosureRefused(
            f"{who!r} ends the run: the fit needs more than {MOST_ROUNDS} rounds, for which the steps of time are not coarse enough. Fit a "
            "smaller model, or begin nearer to the solution (start)."
        )
