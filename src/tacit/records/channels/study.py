"""An assignment of subjects to output channels, in the words of the data.

An *input channel* is one combination of values of the related columns; an *output channel* is a set of
input channels. A :class:`StudyAnswer` says how many subjects of each input channel stand in each output
channel, with every number that the literature reports about it.

References
----------
Garfinkel, Gopal, Thompson (2007), Releasing individually identifiable microdata with privacy protection
against stochastic threat, Information Systems Research 18(1), 23-41.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from tacit.arrays import Flags, Floats
from tacit.data.values import as_frame
from tacit.errors import InputError
from tacit.records.channels.answer import TOLERANCE, Answer
from tacit.records.channels.problem import Problem
from tacit.records.channels.table import ChannelTable
from tacit.result import Summary

if TYPE_CHECKING:
    from tacit.plot.chart import Chart
    from tacit.records.channels.belief_audit import AuditResult
    from tacit.records.channels.query import QueryResult


@dataclass(frozen=True, repr=False)
class StudyAnswer:
    """An assignment of subjects to output channels, in the words of the data.

    Output channels are numbered from 1 in the order of their members; safe subjects who stay where they
    are stand in output channels of one member.

    Attributes
    ----------
    table
        The input channels.
    answer
        The assignment as the solver (or the user) gave it, with its cost and checks.
    title
        What this is, for headings.
    """

    table: ChannelTable
    answer: Answer
    title: str = "Channel expansion"

    # -- numbers -------------------------------------------------------------------------------

    @property
    def problem(self) -> Problem:
        """Return the counts and limits that were set."""
        return self.answer.problem

    @property
    def cost(self) -> float:
        """Return the total coarsening Psi (10)."""
        return self.answer.cost

    @property
    def bound(self) -> float:
        """Return the lower bound: no assignment of this kind (of fractions, or of whole subjects) costs less."""
        return self.answer.bound

    @property
    def gap(self) -> float:
        """Return the distance between cost and bound, as a share of the cost."""
        return self.answer.gap

    @property
    def loss(self) -> float:
        """Return Omega, the cost as a share of putting everybody in one channel."""
        return self.answer.loss

    @property
    def proven(self) -> bool:
        """Return True when the cost is known to be the optimum."""
        return self.answer.proven

    @property
    def risky(self) -> tuple[int, ...]:
        """Return the numbers, from 1, of the risky input channels."""
        return tuple(int(r) + 1 for r in np.flatnonzero(self.problem.risky))

    @property
    def safe(self) -> bool:
        """Return True when every output channel is safe."""
        return self.answer.is_safe

    @functools.cached_property
    def _completed(self) -> tuple[tuple[tuple[int, ...], ...], sparse.csc_array]:
        return complete_sets(self.answer)

    @property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """Return the members of each output channel in use, numbered from 0."""
        return self._completed[0]

    @property
    def x(self) -> sparse.csc_array:
        """Return the subjects from each input channel (row) in each output channel (column)."""
        return self._completed[1]

    @functools.cached_property
    def subjects(self) -> Floats:
        """Return the subjects in each output channel."""
        return np.asarray(self.x.sum(axis=0), dtype=np.float64).reshape(-1)

    @functools.cached_property
    def shares(self) -> Floats:
        """Return P(v^k | output channel), equation (1)."""
        return shares_of(self.x, self.table.shares)

    @property
    def aggregate(self) -> Floats:
        """Return the weighted sum of shares of each output channel (8)."""
        return np.asarray(self.shares @ np.array([float(w) for w in self.problem.c]))

    @property
    def output_safe(self) -> Flags:
        """Return which output channels hold a safe member and keep within every limit."""
        limits = np.array([float(v) for v in self.problem.u])
        within = (self.shares <= limits + TOLERANCE).all(axis=1)
        within &= self.aggregate <= float(self.problem.b) + TOLERANCE
        member = [self.problem.a_priori_safe(w) for w in self.sets]
        return np.asarray(within & np.array(member, dtype=bool))

    # -- frames --------------------------------------------------------------------------------

    @property
    def channels(self) -> nw.DataFrame[Any]:
        """Return one row per output channel: members, subjects, cost, share of each value."""
        columns: dict[str, Any] = {
            "channel": np.arange(1, len(self.sets) + 1),
            "members": pa.array([numbers_text(w) for w in self.sets], pa.string()),
            "subjects": as_integers(self.subjects),
            "psi": np.array([self.problem.psi(w) for w in self.sets], dtype=np.int64),
        }
        columns |= {f"share of {v}": self.shares[:, k] for k, v in enumerate(self.table.values)}
        columns |= {"aggregate": self.aggregate, "safe": self.output_safe}
        return as_frame(columns)

    @property
    def composition(self) -> nw.DataFrame[Any]:
        """Return the public table of what each output channel is made of: one row per member."""
        pairs = [(r, w) for w, members in enumerate(self.sets) for r in members]
        inputs = pa.array([r for r, _ in pairs], pa.int64())
        columns: dict[str, Any] = {
            "channel": pa.array([w + 1 for _, w in pairs], pa.int64()),
            "input": pa.array([r + 1 for r, _ in pairs], pa.int64()),
        }
        columns |= {
            name: self.table.combinations.column(name).take(inputs) for name in self.table.related
        }
        lookup = self.assignment
        amounts = [lookup.get((r + 1, w + 1), 0.0) for r, w in pairs]
        columns["subjects"] = as_integers(np.array(amounts, dtype=np.float64))
        return as_frame(columns)

    @property
    def assignment(self) -> dict[tuple[int, int], float]:
        """Return x by (input channel, output channel), both from 1; zeros left out."""
        held = self.x.tocoo()
        return {
            (int(r) + 1, int(w) + 1): float(v)
            for r, w, v in zip(held.row, held.col, held.data, strict=True)
        }

    # -- people --------------------------------------------------------------------------------

    @property
    def numbers(self) -> dict[str, Any]:
        """Return the few numbers of the summary."""
        at_risk = self.problem.m[self.problem.risky].sum()
        best = {"lower bound": self.bound, "proven optimal": self.proven}
        return {
            "subjects": self.table.subjects,
            "input channels": len(self.table),
            "risky input channels": len(self.risky),
            "share of subjects at risk": float(at_risk) / max(self.table.subjects, 1),
            "output channels": len(self.sets),
            "every output channel safe": self.safe,
            "cost": self.cost,
            **(best if self.answer.method != "given" else {}),
            "loss (Omega)": self.loss,
            "share in the all-channel set": self.answer.share_in_all,
            "loss outside the all-channel set": self.answer.loss_without_all,
            "input channels per at-risk subject": self.answer.average_set_size,
        }

    def summary(self) -> Summary:
        """Return the few numbers that matter."""
        return Summary(self.numbers)

    def __repr__(self) -> str:
        return f"{self.title}\n{'-' * len(self.title)}\n{self.summary()}"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def plot(self, *, most: int = 24) -> Chart:
        """Return the flow picture: input channels, output channels, widths as subjects."""
        from tacit.records.channels.views import picture

        return picture(self, most=most)

    def query(self, rule: str | None = None, *, channels: Sequence[int] = ()) -> QueryResult:
        """Ask the release for subjects: see :func:`tacit.records.channels.query.evaluate_query`."""
        from tacit.records.channels.query import evaluate_query

        return evaluate_query(self, rule, channels=channels)

    def audit(self, *, draws: int = 4000, seed: int = 0) -> AuditResult:
        """Ask what intruders come to believe: see :func:`tacit.records.channels.belief_audit.audit`."""
        from tacit.records.channels.belief_audit import audit

        return audit(self, draws=draws, seed=seed)


def shares_of(x: sparse.csc_array, shares: Floats) -> Floats:
    """Return the shares of each output channel, a mixture of those of input channels (1)."""
    held = np.asarray(x.T @ shares, dtype=np.float64)
    total = np.asarray(x.sum(axis=0), dtype=np.float64).reshape(-1)
    return np.asarray(held / np.maximum(total, 1e-300)[:, None])


def complete_sets(answer: Answer) -> tuple[tuple[tuple[int, ...], ...], sparse.csc_array]:
    """Return the sets in use, leftovers as sets of one member, ordered by members, with their x."""
    held = answer.x.tocoo()
    left = answer.leftover
    alone = np.flatnonzero(left > 1e-6 * np.maximum(answer.problem.m, 1))
    members = [*answer.columns, *((int(r),) for r in alone)]
    used = np.zeros(len(members), dtype=bool)
    used[held.col[held.data > 0]] = True
    used[len(answer.columns) :] = True
    names = sorted({w for w, flag in zip(members, used, strict=True) if flag})
    place = {w: k for k, w in enumerate(names)}
    target = np.array([place.get(w, 0) for w in members], dtype=np.int64)
    rows = np.r_[held.row, alone]
    data = np.r_[held.data, left[alone]]
    kept = data > 0
    columns = np.r_[target[held.col], target[len(answer.columns) :]]
    shape = (answer.problem.n_channels, len(names))
    matrix = sparse.coo_array((data[kept], (rows[kept], columns[kept])), shape=shape)
    return tuple(names), matrix.tocsc()


def numbers_text(members: Sequence[int]) -> str:
    """Return members as text, counted from 1: ``{1, 2, 6}``."""
    return "{" + ", ".join(str(r + 1) for r in members) + "}"


def as_integers(values: Floats) -> npt.NDArray[Any]:
    """Return numbers as integers where all of them are, else as they are."""
    rounded = np.rint(values)
    close = bool(np.all(np.abs(values - rounded) < 1e-6))
    return rounded.astype(np.int64) if close else values


# -- judging an assignment that somebody proposes -----------------------------------------------

Given = Mapping[int, float] | Sequence[int] | set[int] | frozenset[int]


def parse_proposal(
    table: ChannelTable, given: Sequence[Given]
) -> dict[Sequence[int], dict[int, float]]:
    """Return a proposal by members, channels numbered from 0.

    Each output channel is a list of input channel numbers from 1 (all of their subjects go there), or a
    mapping from number to subjects. Subjects who are not mentioned stay in a channel of their own.
    """
    found: dict[Sequence[int], dict[int, float]] = {}
    left = table.m.astype(np.float64)
    for place, entry in enumerate(given, 1):
        chosen: Mapping[int, float | None]
        chosen = entry if isinstance(entry, Mapping) else dict.fromkeys(entry)
        refuse_numbers(chosen, len(table), place)
        taken = {
            int(r) - 1: float(table.m[int(r) - 1] if n is None else n) for r, n in chosen.items()
        }
        for r, n in taken.items():
            left[r] -= n
        one = found.setdefault(tuple(sorted(taken)), {})
        one |= {r: one.get(r, 0.0) + n for r, n in taken.items()}
    for channel in np.flatnonzero(left < -TOLERANCE)[:1]:
        raise InputError(f"input channel {channel + 1} gives away more subjects than it has")
    return found


def refuse_numbers(chosen: Mapping[int, Any], n: int, place: int) -> None:
    """Refuse an output channel without members, or with input channels that do not exist."""
    if not chosen:
        raise InputError(f"output channel {place} has no members")
    wrong = [r for r in chosen if not 1 <= int(r) <= n]
    if wrong:
        raise InputError(
            f"output channel {place} names input channel {wrong[0]}; they are numbered 1 to {n}"
        )
    if any(amount is not None and not amount >= 0 for amount in chosen.values()):
        raise InputError(f"output channel {place} is given a negative number of subjects")
