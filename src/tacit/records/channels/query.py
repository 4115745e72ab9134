"""Queries on a channel-expanded release: a superset of the true answer, always.

A query asks for the subjects who meet a condition on the related columns. On the release it returns
everybody whose output channel has a member that meets it, so that nobody is missed (recall 1); the rest
of those returned are spurious. That is why the release is called inclusive. What a query needs is in the
claim of the release, in plain data: what the paper takes to be public, the table of counts by input
channel, what each output channel is made of, and the limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.data.hierarchy import ground_label
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.data.where import where
from tacit.errors import InputError
from tacit.records.channels.study import StudyAnswer
from tacit.result import Summary

#: The protection model of the claim that carries the composition of a release.
MODEL = "channel-safety"
PLACE = "__place__"


@dataclass(frozen=True, repr=False)
class QueryResult:
    """What a query on the release brings.

    Attributes
    ----------
    returned
        Subjects returned.
    true
        Subjects who meet the condition in the data; known to the data holder alone.
    found
        Of the true ones, those returned.
    channels
        The output channels returned, numbered from 1.
    """

    returned: float
    true: float
    found: float
    channels: tuple[int, ...]

    @property
    def spurious(self) -> float:
        """Return the subjects returned who do not meet the condition."""
        return self.returned - self.found

    @property
    def recall(self) -> float:
        """Return the share of true subjects that are returned: always 1."""
        return self.found / self.true if self.true else 1.0

    @property
    def precision(self) -> float:
        """Return the share of returned subjects that are true."""
        return self.found / self.returned if self.returned else 1.0

    def summary(self) -> Summary:
        """Return the numbers of the query."""
        return Summary(
            {
                "returned": self.returned,
                "true": self.true,
                "spurious": self.spurious,
                "recall": self.recall,
                "precision": self.precision,
            }
        )

    def __repr__(self) -> str:
        return str(self.summary())


def evaluate_query(
    answer: StudyAnswer, rule: str | None = None, *, channels: Sequence[int] = ()
) -> QueryResult:
    """Return what a query would bring on the release of an answer.

    Parameters
    ----------
    answer
        The assignment.
    rule
        A condition on the related columns, as in ``"CRP == 'H' and Glucose == 'V'"``.
    channels
        Or input channels, numbered from 1.
    """
    wanted = find_wanted_channels(answer.table.combinations, rule, channels)
    hit = [w for w, members in enumerate(answer.sets) if wanted.intersection(members)]
    inside = answer.x[:, hit]
    rows = sorted(wanted)
    return QueryResult(
        returned=tidy_count(inside.sum()),
        true=tidy_count(answer.table.m[rows].sum()),
        found=tidy_count(inside[rows].sum() if rows and hit else 0),
        channels=tuple(w + 1 for w in hit),
    )


def query(
    released: Microdata, rule: str | None = None, *, channels: Sequence[int] = ()
) -> Microdata:
    """Return the released records that a query brings: a superset of those who meet it.

    It needs nothing but the release: the composition stands in its claim. The parameters are those of
    :func:`evaluate_query`; a rule speaks of the related columns as they were before.
    """
    parameters, column = composition_of(released)
    combinations = pa.table(dict(parameters["combinations"]))
    wanted = find_wanted_channels(combinations, rule, channels)
    hit = [
        int(output["channel"])
        for output in parameters["outputs"]
        if wanted.intersection(r - 1 for r in output["members"])
    ]
    return released.filter(nw.col(column).is_in(hit or [0]))  # channels are numbered from 1


def composition_of(released: Microdata) -> tuple[Mapping[str, Any], str]:
    """Return the composition that a release carries, and its column of output channels."""
    for action in reversed(released.history):
        for claim in action.claims:
            if claim.model == MODEL and claim.columns[0] in released.columns:
                return claim.parameters, claim.columns[0]
    raise InputError("these data are no release by channel expansion: they carry no composition")


def find_wanted_channels(
    combinations: pa.Table, rule: str | None, channels: Sequence[int]
) -> frozenset[int]:
    """Return the input channels, from 0, that a query asks for."""
    if (rule is None) == (not channels):
        raise InputError("a query needs a rule on the related columns, or channels, and not both")
    if rule is None:
        wrong = [r for r in channels if not 1 <= r <= combinations.num_rows]
        if wrong:
            raise InputError(
                f"there is no input channel {wrong[0]}; they are numbered 1 to {combinations.num_rows}"
            )
        return frozenset(r - 1 for r in channels)
    numbered = combinations.append_column(PLACE, pa.array(np.arange(combinations.num_rows)))
    frame = as_frame(numbered)
    schema = {n: t for n, t in frame.collect_schema().items() if n != PLACE}
    return frozenset(frame.filter(where(rule, schema).expr).get_column(PLACE).to_list())


def tidy_count(value: Any) -> float:
    """Return a count: whole when it is, within rounding."""
    near = round(float(value))
    return near if abs(float(value) - near) < 1e-6 else float(value)


# -- the claim that carries a composition ------------------------------------------------------------


def claim_parameters(
    answer: StudyAnswer, u: Mapping[str, float], b: float | None, c: Mapping[str, float]
) -> dict[str, Any]:
    """Return limits, public table and composition as plain data."""
    table, held = answer.table, answer.assignment
    return {
        "b": b,
        "u": {v: float(u[v]) for v in table.values},
        "c": {v: float(c.get(v, 1.0)) for v in table.values},
        "combinations": {
            name: [
                v if v is None or isinstance(v, str | int | float) else ground_label(v)
                for v in table.combinations.column(name).to_pylist()
            ]
            for name in table.related
        },
        "inputs": [
            {"subjects": int(m), "counts": [int(n) for n in line]}
            for m, line in zip(table.m, table.counts, strict=True)
        ],
        "outputs": [
            {
                "channel": w,
                "members": [r + 1 for r in members],
                "subjects": [round(held.get((r + 1, w), 0.0)) for r in members],
            }
            for w, members in enumerate(answer.sets, 1)
        ],
    }


def assumptions(names: Sequence[str], related: Sequence[str]) -> tuple[str, ...]:
    """Return what must be true for the claim to protect."""
    kept = ", ".join(names) or "none"
    return (
        f"Columns that name people are released on purpose ({kept}).",
        f"An intruder knows the counts by combination of {', '.join(related)} and this composition; both count as public, and nothing else about a person's confidential value.",
        "The columns released beside these are not related to the confidential value within an input channel.",
        "The same people are not dealt again in another release.",
    )
