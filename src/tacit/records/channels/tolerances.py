"""What a looser or stricter limit costs: risk and utility by risk tolerance, weights against thresholds.

References
----------
Garfinkel, Gopal, Thompson (2007), Information Systems Research 18(1), 23-41, sections 6.2 and 7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.errors import InvalidParameter
from tacit.records.channels.answer import Answer
from tacit.records.channels.problem import Problem
from tacit.records.channels.solve import solve
from tacit.records.channels.study import StudyAnswer
from tacit.records.channels.table import ChannelTable, as_frame

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


def weight_or_threshold(
    table: ChannelTable,
    u: Mapping[str, float],
    b: float,
    c: Mapping[str, float],
    *,
    weight: Mapping[str, float],
    threshold: Mapping[str, float],
    integer: bool = True,
) -> Frame:
    """Compare raising weights c_k with lowering thresholds u_k (section 6.2).

    A lower u_k binds in every output channel; a higher c_k only where other risk comes on top. Each row
    gives the cost and the largest share of the values concerned. A row without cost cannot be met.
    """
    cases: dict[str, tuple[Mapping[str, float], Mapping[str, float]]] = {
        "as set": (u, c),
        "weights raised": (u, {**c, **weight}),
        "thresholds lowered": ({**u, **threshold}, c),
    }
    picked = [k for k, v in enumerate(table.values) if v in {**weight, **threshold}]
    rows: list[Row] = []
    for name, (limits, weights) in cases.items():
        try:
            found = StudyAnswer(
                table, solve(table.problem(limits, b, weights), integer=integer, time_limit=60)
            )
        except InvalidParameter:
            rows.append({"case": name, "cost": None, "loss": None, "largest share": None})
            continue
        top = float(found.shares[:, picked].max(initial=0.0))
        rows.append({"case": name, "cost": found.cost, "loss": found.loss, "largest share": top})
    return frame_of(rows)


def frame_of(rows: Sequence[Row]) -> Frame:
    """Return rows as a frame."""
    return as_frame({name: pa.array([row[name] for row in rows]) for name in rows[0]})
