"""How common values are: u of equality and of tables from the files themselves, and the weight of rare values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.arrays import Floats
from tacit.records.linkage.agreement import Comparison
from tacit.records.linkage.fellegi_sunter import EDGE, Model
from tacit.records.linkage.linking import Fields


def value_shares(values: Floats, others: Floats) -> Floats:
    """Return the share of each value, coded from 0 in both files, among those that are known."""
    known = values[np.isfinite(values)].astype(np.int64)
    size = int(max(np.nanmax(values, initial=0.0), np.nanmax(others, initial=0.0))) + 1
    return np.bincount(known, minlength=size) / max(len(known), 1)


def compute_level_shares(
    fields: Fields, comparison: Comparison, drawn: Sequence[Floats]
) -> tuple[Floats, ...]:
    """Return u by field: exactly over all pairs for codes and texts, as ``drawn`` from random pairs for others."""
    out = []
    files = fields.files
    for f, u in enumerate(drawn):
        table = comparison.table(f)
        equality = table is None and comparison.tolerances[f] == (0.0,)
        coded = comparison.by_level[f] and (equality or comparison.tolerances[f] == ())
        if not coded:
            out.append(u)
            continue
        a, b = files.original[:, f], files.released[:, f]
        left, right = value_shares(a, b), value_shares(b, a)
        found = np.zeros(len(u))
        if table is None:
            found[1] = left @ right
        else:
            rows = np.repeat(np.arange(len(table)), np.diff(table.start))
            found += np.bincount(table.level, left[rows] * right[table.other], minlength=len(u))
        found[0] = 1.0 - found.sum()
        out.append(np.clip(found, EDGE, 1 - EDGE))
    return tuple(out)


def weigh_rare_values(
    fields: Fields, model: Model, columns: Sequence[str]
) -> tuple[Floats | None, ...]:
    """Return, by field, what equality on each value weighs more than on average: log2(u / f_v).

    f_v is the share of the value in the release.
    """
    out: list[Floats | None] = []
    for f, column in enumerate(fields.columns):
        if column not in columns:
            out.append(None)
            continue
        a, b = fields.files.original[:, f], fields.files.released[:, f]
        share = value_shares(b, a)
        bonus = np.zeros(len(share))
        there = share > 0
        bonus[there] = np.log2(model.u[f][-1] / share[there])
        out.append(bonus)
    return tuple(out)
