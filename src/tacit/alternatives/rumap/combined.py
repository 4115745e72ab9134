"""Combined maps: several users and several intruders in one picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.alternatives.rumap.points import Point
from tacit.arrays import Floats
from tacit.errors import InputError, InvalidParameter

if TYPE_CHECKING:
    from tacit.alternatives.rumap.result import RUMapResult

Combination = Literal["mean", "max", "worst"]


def combine(
    maps: Sequence[RUMapResult],
    *,
    how: Combination = "mean",
    weights: Sequence[float] | None = None,
) -> RUMapResult:
    """Combine maps of the same candidates: several users, several intruders, one picture.

    ``mean`` takes the weighted average of the risks and of the utilities, ``max`` the largest of each,
    and ``worst`` the largest risk with the least utility (the largest distortion), which no user and no
    respondent can complain about. Utilities must be comparable, for instance relative to no masking.

    References
    ----------
    Duncan, Keller-McNulty, Stokes (2001), section 6: a weighted average or maximum of a small set of R
    and U values.
    """
    from tacit.alternatives.rumap.result import RUMapResult

    if not maps:
        raise InputError("combine: give at least one map")
    share = normalise_weights(weights, len(maps))
    first = maps[0]
    if any(m.higher_utility_is_better != first.higher_utility_is_better for m in maps):
        raise InputError("combine: some maps show utility and some distortion")
    names = [[(p.method, p.label) for p in m.points] for m in maps]
    if any(set(n) != set(names[0]) for n in names):
        raise InputError("combine: the maps must have the same candidates")
    worse = min if first.higher_utility_is_better else max
    pick_utility = {"mean": None, "max": max, "worst": worse}[how]
    pick_risk = None if how == "mean" else max

    def joined(points: Sequence[Point]) -> Point:
        reasons = [p.reason for p in points if p.reason]
        return replace(
            points[0],
            risk=pool_weighted([p.risk for p in points], share, pick_risk),
            utility=pool_weighted([p.utility for p in points], share, pick_utility),
            risk_interval=None,
            utility_interval=None,
            seconds=sum(p.seconds for p in points),
            reason=reasons[0] if reasons else "",
            detail={},
        )

    points = [joined([m.points[m.index(p)] for m in maps]) for p in first.points]
    references = [m.reference for m in maps if m.reference is not None]
    caps = [m.max_risk for m in maps if m.max_risk is not None]
    return RUMapResult.from_points(
        points,
        risk_label=joint_label([m.risk_label for m in maps], how),
        utility_label=joint_label([m.utility_label for m in maps], how),
        reference=joined(references) if len(references) == len(maps) else None,
        max_risk=min(caps) if caps else None,
        min_utility=first.min_utility,
        higher_utility_is_better=first.higher_utility_is_better,
        log_risk=first.log_risk,
        title=first.title,
        plans=first.plans,
    )


def normalise_weights(weights: Sequence[float] | None, n: int) -> Floats:
    """Return weights that add up to 1."""
    given = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    if len(given) != n or not np.all(given >= 0) or not given.sum() > 0:
        raise InvalidParameter(f"weights: give {n} numbers from 0, not all of them 0")
    return given / given.sum()


def pool_weighted(values: Sequence[float], share: Floats, pick: Any) -> float:
    """Return the weighted mean, or what ``pick`` picks; NaN if any is NaN."""
    if any(math.isnan(v) for v in values):
        return math.nan
    if pick:
        return float(pick(values))
    return float(sum(v * w for v, w in zip(values, share, strict=True) if w))


def joint_label(labels: Sequence[str], how: str) -> str:
    """Return the label of a combined axis."""
    unique = list(dict.fromkeys(labels))
    word = {"mean": "mean", "max": "largest", "worst": "worst"}[how]
    return unique[0] if len(unique) == 1 else f"{word} of {', '.join(unique)}"
