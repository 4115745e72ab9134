"""What a looser or stricter limit costs: risk and utility by risk tolerance.

References
----------
Garfinkel, Gopal, Thompson (2007), Information Systems Research 18(1), 23-41, section 7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.data.values import as_frame
from tacit.records.channels.answer import Answer
from tacit.records.channels.problem import Problem
from tacit.records.channels.solve import solve
from tacit.records.channels.study import StudyAnswer
from tacit.records.channels.table import ChannelTable

Row = dict[str, Any]
Frame = nw.DataFrame[Any]

TOLERANCES = (1.0, 1.2, 1.4, 1.6, 1.8)


def scale_limits(problem: Problem, factor: float) -> Problem:
    """Return the problem with limits multiplied by the risk tolerance RT; u stays at most 1."""
    by = Fraction(float(factor)).limit_denominator(10**6)
    looser = replace(
        problem, u=tuple(min(Fraction(1), v * by) for v in problem.u), b=problem.b * by
    )
    looser.check()
    return looser


def points(
    table: ChannelTable,
    problem: Problem,
    *,
    factors: Sequence[float] = TOLERANCES,
    answer: Callable[[Problem], Answer] = solve,
) -> Frame:
    """Return risk and utility for each risk tolerance, for an R-U map.

    Risk is the largest posterior share of a risky value that an output channel shows, and the largest
    in proportion to the limits at RT = 1; utility is 1 - Omega.

    Parameters
    ----------
    table, problem
        The input channels, and the limits at RT = 1.
    factors
        The risk tolerances.
    answer
        How each problem is solved; by default in fractions of subjects, over all sets.
    """
    base = np.array([float(v) for v in problem.u])
    rows = []
    for factor in factors:
        found = StudyAnswer(table, answer(scale_limits(problem, factor)))
        shares = found.shares
        rows.append(
            {
                "risk tolerance": float(factor),
                "risk": float(shares.max(initial=0.0)),
                "relative risk": float((shares / base).max(initial=0.0)),
                "utility": 1 - found.loss,
                "loss": found.loss,
                "output channels": len(found.sets),
            }
        )
    return frame_of(rows)


def frame_of(rows: Sequence[Row]) -> Frame:
    """Return rows as a frame."""
    return as_frame({name: pa.array([row[name] for row in rows]) for name in rows[0]})
