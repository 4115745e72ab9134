"""The claim of the cell-key method, recomputed from its definition."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.arrays import Floats
from tacit.claims import Claim, check_for
from tacit.claims.view import TableView

#: The status of cells that must be published, and the first of those that are empty.
PUBLISHED, EMPTY = 10, 13
#: Magnitudes that are computed one by one.
CHECKED = 2000


@check_for("cell-keys", of="table")
def is_looked_up(table: TableView, claim: Claim) -> bool:
    """Return True when every published value is the truth plus what the key looks up.

    Where the keys are no longer at hand, every change must be one that the perturbation table has.
    """
    del claim
    facts = table.extra.get("perturbation")
    if facts is None or table.changed is None or np.isnan(table.changed).any():
        return False
    plan = json.loads(facts)
    fixed = (table.status == PUBLISHED) | (table.status >= EMPTY)
    if (table.changed[fixed] != table.value[fixed]).any():
        return False
    keys = table.extra.get(table.extra.get("used_key", "cell_key"))
    moving = np.flatnonzero(~fixed)
    if table.frequency:
        return counts_agree(table, plan["main"], keys, moving)
    return magnitudes_agree(table, plan, keys, moving)


def counts_agree(table: TableView, rows: Mapping[str, Any], keys: Any, cells: Any) -> bool:
    """Return True when the changes of counts are those of the rows, line by line."""
    whole = "weighted_count" not in table.extra and (table.value % 1 == 0).all()
    n = (table.value if whole else table.count.astype(np.float64))[cells]
    published = np.asarray(table.changed)[cells]
    mean = np.divide(table.value[cells], n, out=np.ones(len(n)), where=n > 0)
    change = published / np.where(mean > 0, mean, 1.0) - n
    starts, moves, bounds = (np.array(rows[k]) for k in ("i", "v", "bound"))
    line = np.minimum(n, starts.max())
    for i in np.unique(line):
        at = line == i
        own = starts == i
        if i == 0:
            agree = np.abs(change[at]) < 1e-6
        elif keys is None:
            agree = np.isin(np.rint(change[at]), moves[own])
        else:
            first = np.searchsorted(bounds[own], np.asarray(keys)[cells][at], side="right")
            expected = moves[own][np.minimum(first, own.sum() - 1)]
            agree = np.abs(change[at] - expected) < 1e-6 * np.maximum(1.0, n[at])
        if not agree.all():
            return False
    return True


def magnitudes_agree(table: TableView, plan: Mapping[str, Any], keys: Any, cells: Any) -> bool:
    """Return True when changes stay within their limits, and a sample of cells is as defined."""
    parts = scaling_parts(table, plan["scale_by"], len(plan["scaling"]["epsilon"]) + 1)
    change = np.asarray(table.changed) - table.value
    limit = limit_magnitudes(plan, parts)
    if (np.abs(change[cells]) > limit[cells] * (1 + 1e-9) + 1e-6).any():
        return False
    if keys is None:
        return True
    for c in cells[:: max(1, len(cells) // CHECKED)]:
        expected = one_change(
            float(table.value[c]),
            [float(x) for x in parts[c]],
            f"{float(keys[c]):.{table.extra['digits']}f}"[2:],
            plan,
            mu=plan["mu_c"] if table.primary[c] else 0.0,
            even=bool(table.count[c] % 2 == 0),
        )
        if abs(change[c] - expected) > 1e-7 * max(1.0, abs(float(table.value[c]))):
            return False
    return True


def limit_magnitudes(plan: Mapping[str, Any], parts: Floats) -> Floats:
    """Return how far the magnitudes of cells can move at most."""
    reach = max(abs(v) for name in ("main", "small") if plan[name] for v in plan[name]["v"])
    # The share peaks at most at sigma0 + sigma1 x / xstar (2 xstar / (xstar + x))^q <= sigma0 + 2 sigma1.
    most = plan["scaling"]["sigma1"]
    if plan["scaling"]["xstar"] is not None:
        most = 2 * most + plan["scaling"]["sigma0"]
    widest = np.abs(parts) * most + (1.0 if plan["small"] else 0.0)
    return np.asarray((widest * (reach + plan["mu_c"])).sum(axis=1), dtype=np.float64)


def key_reach(table: TableView) -> Floats:
    """Return how far the truth may lie from each published value for someone who knows the method's numbers."""
    facts = table.extra.get("perturbation")
    if facts is None:
        return np.zeros(len(table.value))
    plan = json.loads(facts)
    if not table.frequency:
        top = len(plan["scaling"]["epsilon"]) + 1
        return limit_magnitudes(plan, scaling_parts(table, plan["scale_by"], top))
    most = max(abs(v) for v in plan["main"]["v"])
    mean = np.divide(
        table.value, table.count, out=np.ones(len(table.value)), where=np.asarray(table.count) > 0
    )
    return np.asarray(
        most * (mean if "weighted_count" in table.extra else 1.0) * np.ones(len(mean))
    )


def scaling_parts(table: TableView, scale_by: str, top: int) -> Floats:
    """Return what scales the noise of each cell: cells x draws."""
    if scale_by == "top" and table.contributors is not None:
        parts, weight = table.contributors.top[:, :top], table.contributors.weight
        return parts if weight is None else parts * weight[:, :top]
    if scale_by == "mean":
        return (table.value / np.maximum(table.count, 1))[:, None]
    if scale_by == "range":
        return np.asarray(table.extra["value_range"], dtype=np.float64)[:, None]
    return table.value[:, None]


def one_change(
    value: float, parts: list[float], key: str, plan: Mapping[str, Any], *, mu: float, even: bool
) -> float:
    """Return the change of one magnitude, step by step as defined."""
    s = plan["scaling"]
    epsilon = [1.0, *s["epsilon"]]
    point = 0.0
    if plan["small"]:
        spread = last_variance(plan["main"]) * sum(e * e for e in epsilon)
        point = float(np.sqrt(last_variance(plan["small"]) / spread)) / s["sigma1"]
    kind = ("even" if even else "odd") if plan["parity"] else "all"
    left = value
    for j, part in enumerate(parts):
        key = key[1:] + key[:1]
        x = abs(part)
        tiny = x < point
        delta = 1.0 if tiny else epsilon[j] * largest_share(s, x) * x
        if abs(left) < delta:
            x = abs(left) / (s["sigma1"] * epsilon[j])
            tiny = x < point
            delta = 1.0 if tiny else abs(left)
        if part == 0 or delta == 0 or left == 0 or (tiny and j > 0):
            continue
        at = float("0." + key)
        v = interpolate_change(
            plan["small" if tiny else "main"], x / delta, at, "all" if tiny else kind
        )
        if j == 0 and mu > 0:
            side = (1 if at < 0.5 else -1) if v == 0 else (1 if v > 0 else -1)
            v = side * (mu + abs(v))
        moved = abs(left) + delta * v
        left = float(np.sign(left)) * max(moved, 0.0)
    return left - value


def largest_share(s: Mapping[str, Any], x: float) -> float:
    """Return m_1 of a contribution."""
    if s["xstar"] is None or x <= s["xstar"]:
        return float(s["sigma1"])
    far = (s["sigma1"] * x - s["sigma0"] * s["xstar"]) / (s["sigma0"] * s["xstar"])
    return float(s["sigma0"] * (1 + far * (2 * s["xstar"] / (s["xstar"] + x)) ** s["q"]))


def last_variance(rows: Mapping[str, Any]) -> float:
    """Return the variance of the change at the largest i."""
    kind = rows["kind"][0]
    every = zip(rows["i"], rows["v"], rows["bound"], rows["kind"], strict=True)
    own = [r for r in every if r[3] == kind]
    last = [r for r in own if r[0] == max(o[0] for o in own)]
    below, mean, square = 0.0, 0.0, 0.0
    for _, v, bound, _ in last:
        mean, square, below = mean + (bound - below) * v, square + (bound - below) * v * v, bound
    return square - mean * mean


def interpolate_change(rows: Mapping[str, Any], a: float, key: float, kind: str) -> float:
    """Return the change at a, linear between the nearest i."""
    kinds = set(rows["kind"])
    wanted = kind if kind in kinds else "all"
    lines: dict[float, float] = {}
    for i, v, bound, own in zip(rows["i"], rows["v"], rows["bound"], rows["kind"], strict=True):
        if own == wanted and i not in lines and key < bound:
            lines[i] = v
    steps = sorted(lines)
    lower = max(i for i in steps if i <= a)
    upper = min((i for i in steps if i > a), default=lower)
    share = 0.0 if upper == lower else (a - lower) / (upper - lower)
    return (1 - share) * lines[lower] + share * lines[upper]
