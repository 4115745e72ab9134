"""Attack audit: what several intruders come to believe about a named person.

All intruders see the release: the name and the output channel of everybody, and how output channels are
composed. They differ in what else they know:

``nothing withheld``
    the person's own input channel, as without protection (the risk before);
``assignment``
    the table of counts by input channel and x, which whoever knows the algorithm can compute again from
    that table: the posterior is equation (1), and the limits bound it;
``composition``
    the table of counts, but not x: he fits the x that is most even given the sizes on both sides;
``algorithm alone``
    the limits and that the algorithm is frugal, but not the table: he knows that a channel which was left
    to itself is safe and that a merged one was merged for a reason (the minimality attack), and imagines
    tables at random;
``two dealings``
    the table, x, and a second release of the same people dealt again: sets are intersected, and the
    limits no longer bound anything.

References
----------
Garfinkel, Gopal, Thompson (2007), Information Systems Research 18(1), 23-41.
Wong, Fu, Wang, Pei (2007), Minimality attack in privacy preserving data publishing, VLDB, 543-554.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from tacit.arrays import Floats
from tacit.data.values import as_frame
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.channels.answer import TOLERANCE
from tacit.records.channels.study import StudyAnswer, shares_of
from tacit.result import Summary
from tacit.stats.margins import Margin, sweep_margins

#: Rounds of iterative proportional fitting.
ROUNDS = 200
#: Fewer imagined tables than this in agreement with the release say nothing.
ENOUGH = 20


@dataclass(frozen=True, repr=False)
class AuditResult:
    """Posterior probabilities of risky values.

    Attributes
    ----------
    values, limits
        The risky values and u.
    posterior
        By intruder: P(v^k | what he sees), one row for each thing that he may see.
    """

    values: tuple[str, ...]
    limits: Floats
    posterior: Mapping[str, Floats]

    def worst(self, intruder: str) -> Floats:
        """Return the largest posterior of each value for an intruder."""
        rows = self.posterior[intruder]
        return rows.max(axis=0) if len(rows) else np.zeros(len(self.values))

    @property
    def max_posterior(self) -> dict[str, float]:
        """Return the largest posterior of any value, by intruder."""
        return {name: float(self.worst(name).max(initial=0.0)) for name in self.posterior}

    def within(self, intruder: str) -> bool:
        """Return True when an intruder's beliefs keep within u."""
        return bool(np.all(self.worst(intruder) <= self.limits + TOLERANCE))

    @property
    def frame(self) -> nw.DataFrame[Any]:
        """Return one row per intruder and value: largest posterior and limit."""
        rows = [(i, v, k) for i in self.posterior for k, v in enumerate(self.values)]
        return as_frame(
            {
                "intruder": [i for i, _, _ in rows],
                "value": [v for _, v, _ in rows],
                "largest posterior": [float(self.worst(i)[k]) for i, _, k in rows],
                "limit": [float(self.limits[k]) for _, _, k in rows],
            }
        )

    def summary(self) -> Summary:
        """Return the largest posterior by intruder."""
        return Summary(
            {
                name: f"{top:.4f}, {'within' if self.within(name) else 'beyond'} the limits"
                for name, top in self.max_posterior.items()
            }
        )

    def plot(self) -> Chart:
        """Return the largest posterior by intruder."""
        return bars(
            self.max_posterior.items(),
            title="Largest posterior probability of a risky value",
            subtitle="by what the intruder knows besides the release",
            y="probability",
        )

    def __repr__(self) -> str:
        return f"Attack audit\n------------\n{self.summary()}"


def audit(
    answer: StudyAnswer, *, draws: int = 4000, spread: float = 1.0, seed: int = 0
) -> AuditResult:
    """Return what intruders of different knowledge come to believe.

    Parameters
    ----------
    answer
        The assignment behind a release.
    draws
        Tables that the intruder without the table imagines for each output channel.
    spread
        How much he thinks that channels resemble each other: shares are drawn from a Dirichlet
        distribution around those of all subjects with this total weight; small means very different.
    seed
        Seed of those draws.
    """
    fitted = fit_assignment(answer)
    posterior = {
        "nothing withheld": answer.table.shares,
        "assignment": answer.shares,
        "composition": shares_of(fitted, answer.table.shares),
        "two dealings": intersect_dealings(answer),
    }
    imagined = compute_imagined_shares(answer, fitted, draws, spread, np.random.default_rng(seed))
    if len(imagined):
        posterior["algorithm alone"] = imagined
    limits = np.array([float(v) for v in answer.problem.u])
    return AuditResult(answer.table.values, limits, posterior)


def fit_assignment(answer: StudyAnswer) -> sparse.csc_array:
    """Return the most even x with the known sizes on both sides, by proportional fitting.

    Of all assignments within the published sets that have the sizes of input and output channels, this
    is the one of largest entropy (Deming and Stephan 1940).
    """
    columns = np.repeat(np.arange(len(answer.sets)), [len(w) for w in answer.sets])
    rows = np.array([r for w in answer.sets for r in w], dtype=np.int64)
    m, n = answer.table.m.astype(np.float64), answer.subjects
    value = m[rows]
    for sweep in sweep_margins(value, [Margin(columns, n), Margin(rows, m)], ROUNDS):
        value = sweep.values
    return sparse.coo_array((value, (rows, columns)), shape=(len(m), len(n))).tocsc()


def intersect_dealings(answer: StudyAnswer) -> Floats:
    """Return the shares seen by whoever can intersect two independent dealings of the same x.

    A subject of channel r is in w with probability x_rw / m_r, independently each time, so that the pair (w, w')
    is held by sum_r x_rw x_rw' / m_r subjects on average.
    """
    chance = sparse.diags_array(1.0 / np.maximum(answer.table.m, 1)) @ answer.x
    pairs = (answer.x.T @ chance).tocoo()
    seen = (np.asarray(pairs.row), np.asarray(pairs.col))
    columns = []
    for share in answer.table.shares.T:
        both = (answer.x.T @ sparse.diags_array(share) @ chance).tocsr()
        columns.append(np.asarray(both[seen]).reshape(-1) / np.maximum(pairs.data, 1e-300))
    return np.stack(columns, axis=1) if columns else np.zeros((len(pairs.data), 0))


def compute_imagined_shares(
    answer: StudyAnswer,
    x: sparse.csc_array,
    draws: int,
    spread: float,
    rng: np.random.Generator,
) -> Floats:
    """Return what the intruder without the table expects of each output channel.

    He imagines the shares of its members and keeps what agrees with the release: members seen by
    themselves elsewhere are safe, a merged set holds a risky and a safe member, and the mixture keeps
    within the limits. Output channels about which too few imagined tables agree are left out.
    """
    alone = {w[0] for w in answer.sets if len(w) == 1}
    everyone = answer.problem.P_k
    alpha = np.append(everyone, max(1 - everyone.sum(), 0.0)) * spread + 1e-9
    rows = []
    for w, members in enumerate(answer.sets):
        size = max(ENOUGH, draws // max(1, len(members) // 8))
        shares = rng.dirichlet(alpha, size=(size, len(members)))[..., :-1]
        risky = over_limits(answer, shares)
        keep = ~risky[:, [r in alone for r in members]].any(axis=1) & ~risky.all(axis=1)
        if len(members) > 1:
            keep &= risky.any(axis=1)
        weight = x[list(members), [w] * len(members)]
        part = np.asarray(weight).reshape(-1) / max(float(answer.subjects[w]), 1e-300)
        mixture = np.einsum("dmk,m->dk", shares, part)
        keep &= ~over_limits(answer, mixture)
        if keep.sum() >= ENOUGH:
            rows.append(mixture[keep].mean(axis=0))
    return np.stack(rows) if rows else np.zeros((0, len(answer.table.values)))


def over_limits(answer: StudyAnswer, shares: Floats) -> Any:
    """Return where shares, values last, exceed u or b."""
    limits = np.array([float(v) for v in answer.problem.u])
    weights = np.array([float(v) for v in answer.problem.c])
    above = (shares > limits + TOLERANCE).any(axis=-1)
    return above | (shares @ weights > float(answer.problem.b) + TOLERANCE)
