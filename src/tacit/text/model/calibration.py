"""Certainties as shares: what a voter's number means, measured on letters of their own (calibration.json)."""

from __future__ import annotations

import bisect
import functools
import json
from pathlib import Path

TABLE = Path(__file__).with_name("calibration.json")


@functools.cache
def read_table() -> dict[str, tuple[list[float], list[float]]]:
    """Return the knots of each voter; a voter without any is taken at its word."""
    raw = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    return {
        voter: ([float(a) for a, _ in knots], [float(b) for _, b in knots])
        for voter, knots in raw.get("voters", {}).items()
    }


def calibrate(voter: str, certainty: float) -> float:
    """Return the calibrated certainty, linear between the knots."""
    knots = read_table().get(voter)
    if not knots or not knots[0]:
        return certainty
    xs, ys = knots
    k = bisect.bisect_right(xs, certainty)
    if k == 0:
        return ys[0]
    if k == len(xs):
        return ys[-1]
    share = (certainty - xs[k - 1]) / (xs[k] - xs[k - 1])
    return ys[k - 1] + share * (ys[k] - ys[k - 1])
