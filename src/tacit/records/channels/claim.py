"""The claim of a release by channel expansion, in plain data.

The claim carries what the paper takes to be public: the table of counts by input channel, what each output
channel is made of, and the limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.data.hierarchy import ground_label
from tacit.records.channels.study import StudyAnswer


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
