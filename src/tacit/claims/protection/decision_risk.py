"""The claim that the expected loss of a release against given dictionaries is what was said, or less."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.claims import Claim, check_for
from tacit.claims.classes import SIZE, Frame, class_sizes, label_text

#: Relative difference between sums in different order.
SLIGHT = 1e-9


@check_for("decision-risk")
def risk_is_as_said(frame: Frame, claim: Claim) -> bool:
    """Return True when the mean loss against every dictionary is at most the one claimed.

    The loss of a record is its sensitivity over the number of dictionary rows that agree with it wherever both
    have a value; 0 when there are none.
    """
    columns = list(claim.columns)
    found = class_sizes(frame, claim.columns).collect("pyarrow")
    sizes = [int(s) for s in found.get_column(SIZE).to_list()]
    shown = zip(*(map(label_text, found.get_column(c).to_list()) for c in columns), strict=True)
    classes = list(zip(shown, sizes, strict=True))
    n = sum(sizes)
    for name, rows in claim.parameters["dictionaries"].items():
        theta = Counter(rows_of(rows, columns))
        total = sum(size * loss(one, theta, claim.parameters, columns) for one, size in classes)
        said = float(claim.parameters["risks"][name])
        risk = total / n if n else 0.0
        if not (risk <= said * (1 + SLIGHT) or math.isinf(said)):
            return False
    return True


def rows_of(given: Mapping[str, Sequence[Any]], columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the rows of a dictionary on some columns, None for those it lacks."""
    n = max((len(v) for v in given.values()), default=0)
    lists = [[label_text(v) for v in given[c]] if c in given else [None] * n for c in columns]
    return list(zip(*lists, strict=True))


def loss(
    shown: Sequence[Any],
    theta: Mapping[tuple[Any, ...], int],
    known: Mapping[str, Any],
    columns: Sequence[str],
) -> float:
    """Return the loss of one released record."""
    candidates = sum(
        size
        for row, size in theta.items()
        if all(a is None or b is None or a == b for a, b in zip(shown, row, strict=True))
    )
    return phi(shown, known, columns) / candidates if candidates else 0.0


def phi(shown: Sequence[Any], known: Mapping[str, Any], columns: Sequence[str]) -> float:
    """Return the sensitivity of one released record."""
    if known["sensitivity"] == "constant":
        return float(known["constant"])
    there = {c for c, value in zip(columns, shown, strict=True) if value is not None}
    parts = [float(w) for c, w in zip(columns, known["weights"], strict=True) if c in there]
    parts += [float(w) for names, w in known["interactions"] if there.issuperset(names)]
    return math.exp(sum(parts)) if known["sensitivity"] == "phi5" else sum(parts)
