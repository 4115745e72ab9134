"""Views of the same data: full, minimal and partial revelation, and attribute-level recoding.

*Full* revelation leaves every subject in his own input channel (Figure 2 of Garfinkel, Gopal and
Thompson 2007), *minimal* revelation puts everybody in one output channel (Figure 3), *partial*
revelation is anything between (Figure 4). All three are assignments, so that they can be judged, asked
and drawn like the best one. Points for an R-U map say what a looser or stricter limit costs (section 7).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tacit.arrays import Flags, Floats
from tacit.data.values import as_frame
from tacit.plot.chart import Chart
from tacit.plot.flows import Node, flows
from tacit.plot.parts import short_number
from tacit.records.channels.problem import Problem
from tacit.records.channels.solve import evaluate, solve
from tacit.records.channels.study import Given, StudyAnswer, numbers_text, parse_proposal
from tacit.records.channels.table import NUMBERED, ChannelTable

#: A share below this is not worth a word in a picture.
VISIBLE = 0.005


def full(table: ChannelTable, problem: Problem) -> StudyAnswer:
    """Return full revelation: every subject is described by his own input channel (Figure 2)."""
    return StudyAnswer(table, evaluate(problem, {}), "Full revelation")


def minimal(table: ChannelTable, problem: Problem) -> StudyAnswer:
    """Return minimal revelation: one output channel for everybody (Figure 3)."""
    everyone = {r: float(n) for r, n in enumerate(table.m)}
    given: Mapping[Sequence[int], Mapping[int, float]]
    given = {tuple(everyone): everyone} if everyone else {}
    return StudyAnswer(table, evaluate(problem, given), "Minimal revelation")


def partial(
    table: ChannelTable, problem: Problem, given: Sequence[Given], title: str = "Partial revelation"
) -> StudyAnswer:
    """Return the assignment that somebody proposes, to be judged, asked and drawn (Figures 4 to 6).

    ``given`` lists the output channels: each a list of input channel numbers from 1, all of whose
    subjects go there, or a mapping from number to subjects. Whoever is not mentioned stays where he is.
    """
    return StudyAnswer(table, evaluate(problem, parse_proposal(table, given)), title)


# -- attribute-level recoding --------------------------------------------------------------------


def recoding(answer: StudyAnswer) -> nw.DataFrame[Any]:
    """Compare each output channel with recoding column by column (section 3.1).

    A recoding that lets a subject hold any of an output channel's values in each related column spans
    the product of the numbers of values: for the first output channel of Figure 4, 3 x 2 x 3 x 2 = 36
    combinations where the output channel names 3.
    """
    texts = answer.table.texts
    values = [zip(*(texts[r] for r in w), strict=True) for w in answer.sets]
    spans = [math.prod(len(set(column)) for column in columns) for columns in values]
    return as_frame(
        {
            "channel": np.arange(1, len(answer.sets) + 1),
            "members": [numbers_text(w) for w in answer.sets],
            "combinations named": [len(w) for w in answer.sets],
            "combinations spanned": spans,
        }
    )


# -- pictures ------------------------------------------------------------------------------------


def picture(answer: StudyAnswer, *, most: int = 24) -> Chart:
    """Return the flow picture of an assignment; beyond ``most`` nodes a side, the small are joined."""
    held = answer.x.tocoo()
    inputs = choose_drawn_nodes(answer.table.m, ~answer.problem.risky, most)
    outputs = choose_drawn_nodes(
        answer.subjects, np.array([len(w) == 1 for w in answer.sets], dtype=bool), most
    )
    left = [input_node(answer, r) for r in inputs]
    right = [output_node(answer, w) for w in outputs]
    if len(inputs) < len(answer.table):
        left.append(Node(f"{len(answer.table) - len(inputs):,} other input channels"))
    if len(outputs) < len(answer.sets):
        right.append(Node(f"{len(answer.sets) - len(outputs):,} other output channels"))
    row_of = {r: i for i, r in enumerate(inputs)}
    column_of = {w: j for j, w in enumerate(outputs)}
    links: dict[tuple[int, int], float] = {}
    named = {(r, w): 0.0 for w in outputs if len(answer.sets[w]) <= most for r in answer.sets[w]}
    amounts = zip(held.row.tolist(), held.col.tolist(), held.data.tolist(), strict=True)
    for r, w, n in [*((r, w, n) for (r, w), n in named.items()), *amounts]:
        link = (row_of.get(r, len(inputs)), column_of.get(w, len(outputs)))
        links[link] = links.get(link, 0.0) + n
    bad = int(np.count_nonzero(~answer.output_safe))
    told = (
        f"{bad:,} of {len(answer.sets):,} output channels unsafe"
        if bad
        else f"cost {short_number(answer.cost)}, loss {answer.loss:.2%}"
    )
    return flows(left, right, links, title=answer.title, subtitle=f"{told}; risky in red")


def choose_drawn_nodes(sizes: npt.NDArray[Any], plain: Flags, most: int) -> list[int]:
    """Return which nodes are drawn by themselves: the remarkable first, then the largest."""
    order = np.lexsort((-sizes.astype(np.float64), plain))
    return sorted(int(i) for i in (order if len(order) <= most else order[: most - 1]))


def input_node(answer: StudyAnswer, r: int) -> Node:
    """Return an input channel as a node."""
    return Node(
        f"{r + 1}" if answer.table.related == (NUMBERED,) else f"{r + 1} {answer.table.label(r)}",
        shares_text(answer, answer.table.shares[r]),
        "risky" if answer.problem.risky[r] else "safe",
    )


def output_node(answer: StudyAnswer, w: int) -> Node:
    """Return an output channel as a node."""
    members = answer.sets[w]
    everything = 1 < len(members) == len(answer.table)
    label = (
        f"all {len(members):,} input channels"
        if everything
        else numbers_text(members)
        if len(members) <= 10
        else f"{len(members):,} input channels"
    )
    tone = "safe" if answer.output_safe[w] else "unsafe"
    return Node(label, shares_text(answer, answer.shares[w]), tone)


def shares_text(answer: StudyAnswer, shares: Floats) -> str:
    """Return the shares of values that can be seen: ``Heart 14%, Diabetes|Heart 29%``."""
    seen = [
        f"{value} {share:.0%}"
        for value, share in zip(answer.table.values, shares, strict=True)
        if share >= VISIBLE
    ]
    return ", ".join(seen) or "no risky value"


# -- risk and utility by risk tolerance --------------------------------------------------------------


Row = dict[str, Any]
Frame = nw.DataFrame[Any]

TOLERANCES = (1.0, 1.2, 1.4, 1.6, 1.8)


def scale_limits(problem: Problem, factor: float) -> Problem:
    """Return the problem with limits multiplied by the risk tolerance RT; u stays at most 1."""
    by = Fraction(float(factor)).limit_denominator(10**6)
    u = tuple(min(Fraction(1), v * by) for v in problem.u)
    looser = replace(problem, u=u, b=problem.b * by)
    looser.check()
    return looser


def points(
    table: ChannelTable, problem: Problem, *, factors: Sequence[float] = TOLERANCES
) -> Frame:
    """Return risk and utility for each risk tolerance, for an R-U map.

    Risk is the largest posterior share of a risky value that an output channel shows, and the largest
    in proportion to the limits at RT = 1, which are those of ``problem``; utility is 1 - Omega. Each
    problem is solved in fractions of subjects, over all sets.
    """
    base = np.array([float(v) for v in problem.u])
    rows = []
    for factor in factors:
        found = StudyAnswer(table, solve(scale_limits(problem, factor)))
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
