"""Query restriction: answer counts and sums only when no small group can be singled out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame, not_numeric, read_numeric_column
from tacit.data.where import WhereRule, columns_of, where
from tacit.engine.base import ROW
from tacit.errors import DisclosureRefused
from tacit.fields import PositiveInt
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

FLAG = "__in__"

SMALL_SET = "the query set is smaller than the minimum"
SMALL_REST = "the complement of the query set is smaller than the minimum"
OVERLAP = "together with earlier answers it would single out fewer records than the minimum"


@register
class QueryRestriction(Measure):
    """Which queries on the data may be answered without singling out a small group.

    A count, sum or mean over the records for which a rule holds is refused when those records, or the
    others, are fewer than ``min_query_set``; and when the answer, combined by adding and subtracting
    with the answers already given, would determine the total of a smaller group (a tracker). As a
    measure it goes through ``queries`` in order and reports what would be answered; :meth:`open` gives a
    session that answers.

    The audit is exact for totals: the answered sets span a linear space over the groups of records that
    they tell apart, and no vector of that space may lie on fewer than ``min_query_set`` records.

    References
    ----------
    Denning, Denning, Schwartz (1979), The tracker: a threat to statistical database security, ACM TODS 4,
    76-96.
    Chin, Ozsoyoglu (1982), Auditing and inference control in statistical databases, IEEE TSE 8, 574-582.
    """

    kind: Literal["query_restriction"] = "query_restriction"
    min_query_set: PositiveInt = Field(
        default=2,
        description="fewest records that an answer may be about, in the set and in its complement",
    )
    queries: tuple[WhereRule, ...] = Field(
        default=(), description="the query sets to test, in order, as rules such as age > 60"
    )

    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    example: ClassVar[Mapping[str, Any]] = {"queries": ["age > 40", "sex == 'f' and age < 40"]}

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns that the queries name."""
        return tuple(dict.fromkeys(c for q in self.queries for c in columns_of(q)))

    def open(self, data: Microdata) -> QuerySession:
        """Return a session that answers, or refuses, queries on the data and remembers its answers."""
        return QuerySession(data, self.min_query_set)

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> QueryRestrictionResult:
        del other
        session = self.open(data)
        decisions = []
        for i, rule in enumerate(self.queries):
            ctx.tick("query restriction", i / len(self.queries))
            decisions.append(session.ask(rule))
        refused = sum(not d.allowed for d in decisions)
        told = ["allowed" if d.allowed else "refused" for d in decisions]
        return QueryRestrictionResult(
            kind=self.kind,
            title=f"Query restriction with at least {self.min_query_set} records",
            value=refused / len(decisions) if decisions else 0.0,
            numbers={
                "queries": len(decisions),
                "allowed": len(decisions) - refused,
                "refused": refused,
                "refused: small set": sum(d.reason == SMALL_SET for d in decisions),
                "refused: small complement": sum(d.reason == SMALL_REST for d in decisions),
                "refused: earlier answers": sum(d.reason == OVERLAP for d in decisions),
            },
            frame=as_frame(
                {
                    "query": pa.array(self.queries, pa.string()),
                    "records": pa.array([d.records for d in decisions], pa.int64()),
                    "answer": pa.array(told, pa.string()),
                    "reason": pa.array([d.reason for d in decisions], pa.string()),
                }
            ),
            explanation="Queries are taken in order; a refusal may be due to the answers given before it. The value compared is the share refused.",
            decisions=tuple(decisions),
        )


@dataclass(frozen=True)
class Decision:
    """Whether one query may be answered, and why not. ``records`` is confidential."""

    records: int
    complement: int
    allowed: bool
    reason: str = ""


@dataclass(frozen=True, repr=False)
class QueryRestrictionResult(Result):
    """The decisions, in the order of the queries."""

    decisions: tuple[Decision, ...] = field(default=())


class QuerySession:
    """A guarded way to ask for counts, sums and means; it keeps the log of answered query sets.

    Make one with :meth:`QueryRestriction.open`. A refused query raises
    :class:`~tacit.errors.DisclosureRefused`. The session protects against one person's (or one team's)
    questions; give each recipient who may compare notes the same session.
    """

    def __init__(self, data: Microdata, min_query_set: int) -> None:
        self._data = data
        self._minimum = min_query_set
        self._answered: list[Flags] = []

    def count(self, where: str | None = None) -> int:
        """Return the number of records for which a rule holds."""
        members = self._members(where)
        self._allow(members)
        return int(members.sum())

    def sum(self, column: str, where: str | None = None) -> float:
        """Return the total of a column over the records for which a rule holds."""
        members, values = self._values(column, where)
        self._allow(members)
        return plain_sum(values[members])

    def mean(self, column: str, where: str | None = None) -> float:
        """Return the mean of a column over the records for which a rule holds and it is known."""
        members, values = self._values(column, where)
        self._allow(members)
        n = int(members.sum())
        return plain_sum(values[members]) / n if n else float("nan")

    def ask(self, where: str | None = None) -> Decision:
        """Return whether a query set may be answered; if so, count it as answered."""
        return self._decide(self._members(where))

    @property
    def n_answered(self) -> int:
        """Return how many different query sets have been answered."""
        return len(self._answered)

    def _values(self, column: str, rule: str | None) -> tuple[Flags, npt.NDArray[Any]]:
        faults = not_numeric(self._data, [column], "query_restriction")
        if faults:
            raise faults[0]
        found = read_numeric_column(self._data, column)
        return self._members(rule) & found.known, found.values

    def _members(self, rule: str | None) -> Flags:
        frame = self._data.frame
        expr = (
            nw.col(ROW) == nw.col(ROW) if rule is None else where(rule, frame.collect_schema()).expr
        )
        table = self._data.engine.to_arrow(frame.select(ROW, expr.alias(FLAG)))
        order = np.argsort(table.column(ROW).to_numpy(), kind="stable")
        return table.column(FLAG).to_numpy().astype(bool)[order]

    def _allow(self, members: Flags) -> None:
        decision = self._decide(members)
        if not decision.allowed:
            raise DisclosureRefused(
                f"the query is refused: {decision.reason}. Ask about a larger group."
            )

    def _decide(self, members: Flags) -> Decision:
        n, minimum = len(members), self._minimum
        inside = int(members.sum())
        outside = n - inside
        if any(np.array_equal(members, old) for old in self._answered):
            return Decision(inside, outside, allowed=True)
        reason = ""
        if inside < minimum:
            reason = SMALL_SET
        elif 0 < outside < minimum:
            reason = SMALL_REST
        elif isolates([*self._answered, members], minimum):
            reason = OVERLAP
        else:
            self._answered.append(members)
        return Decision(inside, outside, allowed=not reason, reason=reason)


def plain_sum(values: npt.NDArray[Any]) -> float:
    """Return a sum, whole for whole numbers."""
    total = values.sum()
    return int(total) if values.dtype == np.int64 else float(total)


def isolates(query_sets: Sequence[Flags], minimum: int) -> bool:
    """Return True when sums over the sets determine something about fewer records than the minimum.

    Records in exactly the same sets form an atom. The answers determine every linear combination of
    the rows of the 0-1 matrix of sets by atoms (and the all-ones row: the size of the file is known). With
    an orthonormal basis Q of the row space, some combination lies wholly on a set S of atoms if and only
    if the largest singular value of Q restricted to S is 1.
    """
    matrix, size = atoms(query_sets)
    rows = np.vstack([matrix, np.ones(matrix.shape[1])])
    _, values, vectors = np.linalg.svd(rows, full_matrices=False)
    basis = vectors[values > 1e-9 * values.max(initial=0.0)]
    weight = (basis**2).sum(axis=0)
    small = np.flatnonzero(size < minimum)
    for group in small_groups(size[small], weight[small], minimum):
        if np.linalg.norm(basis[:, small[group]], 2) > 1 - 1e-9:
            return True
    return False


def atoms(query_sets: Sequence[Flags]) -> tuple[Floats, Ints]:
    """Return the matrix of sets by atoms, and the number of records in each atom."""
    members = np.stack(query_sets)
    packed = np.packbits(members, axis=0)
    _, first, size = np.unique(packed, axis=1, return_index=True, return_counts=True)
    return members[:, first].astype(np.float64), size.astype(np.int64)


def small_groups(
    size: Ints, weight: Floats, minimum: int, chosen: tuple[int, ...] = ()
) -> Iterator[list[int]]:
    """Yield sets of atoms that hold fewer records than the minimum and could carry a combination.

    A set whose squared column norms add up to less than 1 cannot, and a set that can still grow is
    tested when it is largest, so only sets that no further atom fits into are yielded.
    """
    used = int(size[list(chosen)].sum())
    start = chosen[-1] + 1 if chosen else 0
    grown = False
    for i in range(start, len(size)):
        if used + size[i] < minimum:
            grown = True
            yield from small_groups(size, weight, minimum, (*chosen, i))
    if chosen and not grown and weight[list(chosen)].sum() > 1 - 1e-9:
        yield list(chosen)
