"""Newton's method across owners: every step adds the parties' statistics securely and moves all to the same coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import DisclosureRefused, Infeasible, ProtocolError
from tacit.private.parties.roles import Receive, Role, agree
from tacit.private.parties.wire import take
from tacit.private.regression.families import Cox, Linear, Logistic, local_vector, total_sums
from tacit.private.regression.sums import SumSettings, add_securely, tell_all

Floats = npt.NDArray[np.float64]
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
    #: The parties whose records were fitted; others have gone during the run.
    members: tuple[str, ...] = ()


def play_fit(
    settings: SumSettings, model: Any, newton: Newton, coding: dict[str, Any]
) -> Role[Found]:
    """Play one owner in a joint fit."""
    terms = {**settings.terms(), **newton.terms(), "coding": coding, "model": type(model).__name__}
    yield from agree(settings.me, settings.parties, terms)
    names = coding.get("columns", [])
    n = yield from check_sizes(settings, model, newton, names)
    beta = yield from start_at(settings, model, newton)
    history: list[Floats] = [beta]
    best, previous, halved, settled = -np.inf, beta, 0, False
    members = settings.included
    while True:
        total = yield from add_securely(settings, local_vector(model, beta))
        sums = total_sums(model, total)
        tail: list[float] = []
        if settled and not isinstance(model, Cox):
            tail = list((yield from add_securely(settings, model.fit_statistics(beta))))
        if settings.included != members:
            # A party has gone: what is fitted from here on are the records of the others.
            n = yield from check_sizes(settings, model, newton, names)
            members, best, settled = settings.included, -np.inf, False
            continue
        if settled:
            break
        value = sums.likelihood - 0.5 * newton.ridge * float(beta @ beta)
        worse = value < best - 1e-9 * (1 + abs(best))
        if newton.step_halving and worse and halved < 30 and not newton.firth:
            # The likelihood fell: the step was too long.
            beta, halved = (beta + previous) / 2, halved + 1
            history.append(beta)
            continue
        best, previous, halved = value, beta, 0
        step = yield from next_step(settings, model, newton, beta, sums)
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
    information = sums.information + newton.ridge * np.eye(len(beta))
    require_inverse(information)
    require_precision(settings, information)
    covariance = invert(information)
    if isinstance(model, Linear):
        covariance = covariance * (tail[0] / max(n - len(beta), 1))
    return Found(
        beta, covariance, sums.likelihood, n, tuple(history), tuple(tail), settings.n_sums, members
    )


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


def start_at(settings: SumSettings, model: Any, newton: Newton) -> Role[Floats]:
    """Return the coefficients from which the search starts."""
    p = model.n_parameters
    if newton.start == "ols":
        line = Linear(model.x, model.y)
        total = yield from add_securely(settings, local_vector(line, np.zeros(p)))
        sums = total_sums(line, total)
        require_inverse(sums.information)
        return np.asarray(invert(sums.information) @ sums.slope)
    if newton.start == "zeros":
        return np.zeros(p)
    given = np.asarray(newton.start, np.float64)
    if given.shape != (p,):
        raise ProtocolError(f"start has {given.size} coefficients, and the model has {p}")
    return given


def next_step(
    settings: SumSettings, model: Any, newton: Newton, beta: Floats, sums: Any
) -> Role[Floats]:
    """Return the step of Newton's method, the same at every party: the lead computes and tells it."""
    information = sums.information + newton.ridge * np.eye(len(beta))
    slope = sums.slope - newton.ridge * beta
    require_inverse(information)
    if newton.firth:
        if not isinstance(model, Logistic):
            raise ProtocolError("Firth's correction is for logistic regression")
        inverse = invert(information)
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


def check_sizes(
    settings: SumSettings, model: Any, newton: Newton, names: Sequence[str] = ()
) -> Role[int]:
    """Refuse to go on where totals would tell too much about the other parties.

    A party that subtracts its own part must be left with more records than coefficients, and with enough records in every category of
    the design and of the response: of a single case among the others, X'y would be its record.
    """
    own, n_own = count_categories(model), model.n_records
    total = yield from add_securely(settings, np.concatenate([[n_own], *own]))
    n = round(total[0])
    # Who says so tells nothing new: everybody can compute it from the total and its own part.
    if n - n_own < max(newton.threshold, model.n_parameters + 1):
        raise DisclosureRefused(
            f"{settings.me!r} ends the run: the other parties together have too few records for a model with "
            f"{model.n_parameters} coefficients, and totals would give them away"
        )
    marked, ones = np.split(np.round(total[1:]), 2)
    rest = ones - own[1]
    left = (n - n_own) - rest
    small = ((rest > 0) & (rest < newton.threshold)) | ((left > 0) & (left < newton.threshold))
    found = np.flatnonzero((marked == len(settings.included)) & small)
    if len(found):
        # The names of columns and levels are part of the agreement.
        p = model.x.shape[1]
        known = names[len(names) - p :] if len(names) >= p else ()
        where = f" ({known[found[0]]})" if found[0] < len(known) else ""
        raise DisclosureRefused(
            f"{settings.me!r} ends the run: a category{where} holds so few records of the other parties that totals would give "
            "them away. Merge categories."
        )
    return n


def count_categories(model: Any) -> tuple[Floats, Floats]:
    """Return, for every column of the design and of the response, whether it holds only 0 and 1 at this party, and its ones."""
    response = getattr(model, "indicator", getattr(model, "event", getattr(model, "y", None)))
    columns: Floats = np.column_stack([model.x, np.asarray(response)])
    marked = np.isin(columns, (0.0, 1.0)).all(axis=0)
    ones: Floats = np.where(marked, columns.sum(axis=0), 0.0)
    return np.asarray(marked, np.float64), ones
