"""Newton's method across owners: every step adds the parties' statistics securely and moves all to the same coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.arrays import Floats
from tacit.errors import Infeasible, ProtocolError
from tacit.private.parties.roles import Receive, Role, agree
from tacit.private.parties.wire import take
from tacit.private.regression.families import Cox, Linear, Logistic, Poisson
from tacit.private.regression.gate import (
    ROUNDS,
    Allowance,
    Question,
    code_numbers,
    judge_tails,
    pass_gate,
)
from tacit.private.regression.steps_of_time import coarsen, require_rounds
from tacit.private.regression.sums import SumSettings, add_securely, tell_all

#: An information matrix with a condition number above this has no inverse worth a name.
WORST_CONDITION = 1e12


@dataclass(frozen=True)
class Newton:
    """How the coefficients are found; the same at every party."""

    tol: float = 1e-10
    max_iter: int = 25
    ridge: float = 0.0
    step_halving: bool = True
    firth: bool = False
    start: tuple[float, ...] | str = "zeros"
    #: The fewest records of others, and of others in a category, that a party may infer by subtracting its own.
    threshold: int = 3

    def terms(self) -> dict[str, Any]:
        """Return what parties must have agreed on."""
        start = self.start if isinstance(self.start, str) else list(self.start)
        return {
            "Newton": [self.tol, self.max_iter, self.ridge, self.step_halving, self.firth, start],
            "threshold": self.threshold,
        }


@dataclass(frozen=True)
class Found:
    """What every party holds at the end of a fit."""

    beta: Floats
    covariance: Floats
    likelihood: float
    n_records: int
    history: tuple[Floats, ...]
    fit_statistics: tuple[float, ...]
    n_sums: int
    #: Of a Cox model: where on the agreed grid each of its coarser steps of time begins.
    steps: tuple[int, ...] = ()


def play_fit(
    settings: SumSettings,
    model: Any,
    newton: Newton,
    coding: dict[str, Any],
    question: Question | None = None,
) -> Role[Found]:
    """Play one owner in a joint fit; ``question`` is what the sums tell about its records, as the gate judges it."""
    asked = question_of(model) if question is None else question
    told = {"coding": coding, "gate": asked.terms(), "model": type(model).__name__}
    yield from agree(settings.me, settings.parties, {**settings.terms(), **newton.terms(), **told})
    shown = 1 + model.n_parameters * (model.n_parameters + 3) // 2
    # The sums of a linear model at other coefficients follow from those at the first.
    at_once = isinstance(model, Linear)
    judged_rounds = 1 if at_once else ROUNDS
    n = yield from pass_gate(
        settings, asked, threshold=newton.threshold, numbers=shown, rounds=judged_rounds
    )
    steps: tuple[int, ...] = ()
    if isinstance(model, Cox):
        model, steps = yield from coarsen(settings, model, asked, newton.threshold)
    first = shown * judged_rounds
    allowance = Allowance.of(settings, asked, newton.threshold, first, judged_rounds)
    beta = yield from start_at(settings, model, newton, allowance)
    history: list[Floats] = [beta]
    best, previous, halved, settled, rounds = -np.inf, beta, 0, False, 0
    while True:
        rounds += 1
        if isinstance(model, Cox):
            require_rounds(settings.me, rounds, newton.threshold)
        elif rounds == 1 or not at_once:
            yield from allowance.spend(shown, 1)
        total = yield from add_securely(settings, model.parts(beta))
        sums = model.combine(total)
        if settled:
            break
        if rounds == 1 and asked.tails and not at_once:
            mean, spread = first_moments(model, total, sums, n, asked.tails)
            far = model.x[:, list(asked.tails)]
            yield from judge_tails(settings, far, mean, spread, n, newton.threshold)
        value = sums.likelihood - 0.5 * newton.ridge * float(beta @ beta)
        worse = value < best - 1e-9 * (1 + abs(best))
        if newton.step_halving and worse and halved < 30 and not newton.firth:
            # The likelihood fell: the step was too long.
            beta, halved = (beta + previous) / 2, halved + 1
            history.append(beta)
            continue
        best, previous, halved = value, beta, 0
        step = yield from next_step(settings, model, newton, beta, sums, allowance)
        beta = beta + step
        history.append(beta)
        # Against the coefficient or its standard error, whichever is larger: a column in other units settles as early.
        size = np.maximum(np.abs(beta), 1 / np.sqrt(np.diag(sums.information)))
        settled = bool((np.abs(step) / size).max(initial=0.0) < newton.tol) or (
            isinstance(model, Linear) and not newton.ridge
        )
        if not settled and len(history) > newton.max_iter:
            raise Infeasible(
                f"the joint fit has not settled after {newton.max_iter} rounds: the estimate may not exist, as the data are "
                "separated by a column. Leave that column out, or use ridge= or firth=True."
            )
    tail: list[float] = []
    if not isinstance(model, Cox):
        # Two or three numbers about all records.
        yield from allowance.spend(len(model.fit_names), 0)
        tail = list((yield from add_securely(settings, model.fit_statistics(beta))))
    information = sums.information + newton.ridge * np.eye(len(beta))
    require_inverse(information)
    require_precision(settings, information)
    covariance = invert(information)
    if isinstance(model, Linear):
        covariance = covariance * (tail[0] / max(n - len(beta), 1))
    return Found(
        beta, covariance, sums.likelihood, n, tuple(history), tuple(tail), settings.n_sums, steps
    )


def first_moments(
    model: Any, total: Floats, sums: Any, n: int, columns: Sequence[int]
) -> tuple[Floats, Floats]:
    """Return means and standard deviations of columns as the first round tells them to all."""
    chosen = list(columns)
    if isinstance(model, Cox):
        p = model.n_parameters
        # Those at risk in the first step are all.
        whole = total[p + 1 + model.n_times :].reshape(model.n_times, -1)[0]
        upper = np.zeros((p, p))
        upper[np.triu_indices(p)] = whole[p + 1 :]
        mean, square = whole[1 : p + 1][chosen] / whole[0], np.diag(upper)[chosen] / whole[0]
    else:
        constant = np.flatnonzero((model.x == 1).all(0))
        # Without a constant: as if the weights were those of records at coefficients of 0.
        weight = float(n) * (1.0 if isinstance(model, Poisson) else 0.25)
        mean, square = np.zeros(len(chosen)), np.diag(sums.information)[chosen] / weight
        if len(constant) and constant[0] == 0:
            weight = sums.information[0, 0]
            mean = sums.information[0, chosen] / weight
            square = np.diag(sums.information)[chosen] / weight
    return mean, np.sqrt(np.maximum(square - mean**2, 0.0))


def require_precision(settings: SumSettings, information: Floats) -> None:
    """Refuse a fit whose statistics are so small that the fixed point has rounded them too coarsely.

    Every entry is off by at most K 2^-(f+1); the covariance is then off by the factor that is bounded here.
    """
    p = len(information)
    if not p:
        return
    square, scale = scaled(information)
    spread = np.linalg.norm(np.linalg.inv(square), 2)
    error = len(settings.parties) * 2.0 ** -(settings.point.frac_bits + 1)
    if error * p * float(scale.max()) ** 2 * spread > 1e-8:
        raise Infeasible(
            "a column has values so small that sums in the agreed fixed point are too coarse for it: take a smaller unit for the "
            "column, so that its values become larger, or more frac_bits"
        )


def start_at(
    settings: SumSettings, model: Any, newton: Newton, allowance: Allowance
) -> Role[Floats]:
    """Return the coefficients from which the search starts."""
    p = model.n_parameters
    if newton.start == "ols":
        line = Linear(model.x, model.y)
        yield from allowance.spend(1 + p * (p + 3) // 2, 1)
        sums = line.combine((yield from add_securely(settings, line.parts(np.zeros(p)))))
        require_inverse(sums.information)
        return np.asarray(invert(sums.information) @ sums.slope)
    if newton.start == "zeros":
        return np.zeros(p)
    given = np.asarray(newton.start, np.float64)
    if given.shape != (p,):
        raise ProtocolError(f"start has {given.size} coefficients, and the model has {p}")
    return given


def next_step(
    settings: SumSettings, model: Any, newton: Newton, beta: Floats, sums: Any, allowance: Allowance
) -> Role[Floats]:
    """Return the step of Newton's method, the same at every party: the lead computes and tells it."""
    information = sums.information + newton.ridge * np.eye(len(beta))
    slope = sums.slope - newton.ridge * beta
    require_inverse(information)
    if newton.firth:
        if not isinstance(model, Logistic):
            raise ProtocolError("Firth's correction is for logistic regression")
        inverse = invert(information)
        # Of every group a column's slope, of three or more numbers that a round shows.
        yield from allowance.spend(len(beta), 0.5)
        slope = yield from add_securely(settings, model.firth_slope(beta, inverse))
    if settings.me == settings.lead:
        square, scale = scaled(information)
        step: Floats = np.asarray(scale * np.linalg.solve(square, scale * slope))
        yield from tell_all(settings, f"step {settings.n_sums}", {"step": step})
        return step
    told = yield Receive(settings.lead, f"step {settings.n_sums}")
    return np.asarray(take(told, "step", "f8", (len(beta),)))


def scaled(information: Floats) -> tuple[Floats, Floats]:
    """Return the information with ones on its diagonal, and the factors: the units of columns are no reason to refuse them."""
    scale = 1 / np.sqrt(np.diag(information))
    return information * np.outer(scale, scale), scale


def require_inverse(information: Floats) -> None:
    """Refuse a fit whose information cannot be inverted."""
    lost = not np.isfinite(information).all() or bool((np.diag(information) <= 0).any())
    try:
        lost = lost or bool(np.linalg.cond(scaled(information)[0]) > WORST_CONDITION)
    except np.linalg.LinAlgError:
        lost = True
    if lost:
        raise Infeasible(
            "the information matrix of the joint fit cannot be inverted: columns depend on each other, or the data are "
            "separated. Leave a column out, or use ridge= or firth=True."
        )


def invert(information: Floats) -> Floats:
    """Return the inverse, computed on a diagonal of ones."""
    square, scale = scaled(information)
    return np.asarray(np.linalg.inv(square) * np.outer(scale, scale))


def question_of(model: Any) -> Question:
    """Return what the sums of a bare model tell: its response is a factor when it is 0 or 1, its columns are numbers."""
    columns = [c for c in np.asarray(model.x).T if not (c == 1).all()]
    response = np.asarray(getattr(model, "event", getattr(model, "y", None)))
    known = (0.0, 1.0) if isinstance(model, Logistic | Cox) else None
    factor, answer = code_numbers("response", response, known)
    numbers = [code_numbers(f"column {i}", c, None)[1] for i, c in enumerate(columns, 1)]
    known_numbers = tuple(n for n in (*numbers, answer) if n)
    if factor is None:
        return Question(model.n_records, numbers=known_numbers)
    return Question(model.n_records, (factor,), ((0,),), 0, None, known_numbers)
