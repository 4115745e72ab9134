"""Reports on suppression patterns: loss by level, risk, and changes between releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.table import Table
from tacit.data.values import as_frame
from tacit.errors import InputError
from tacit.result import Result
from tacit.tables.agencies.coordination import other_depth, regions_of
from tacit.tables.attack.audit import Audit


def information_loss(table: Table, region: str, agencies: Sequence[str] | None = None) -> Result:
    """Report what a pattern costs, by level of the region and level of the other dimensions.

    Parameters
    ----------
    table
        A protected table.
    region, agencies
        As in :class:`~tacit.tables.agencies.coordinate.Coordinate`.

    Returns
    -------
    Result
        ``frame``: for each pair of levels cells that are not empty, unsafe and secondary ones, their
        share, and the share of value that is secondary. Region level 0 is federal, 1 an agency's total.
    """
    regions = regions_of(table, region, agencies)
    level, other = regions.levels(table), other_depth(table, regions.axis).sum(axis=1)
    full, value = ~table.empty, np.abs(table.value)
    second = table.hidden & ~table.primary
    rows = []
    for a in np.unique(level):
        own = full & (level == a)
        rows += [
            loss_row(table, own & (other == b), second, value, int(a), int(b))
            for b in np.unique(other[own])
        ]
        rows.append(loss_row(table, own, second, value, int(a), None))
    numbers: dict[str, Any] = {
        "cells that are not empty": int(full.sum()),
        "unsafe": int(table.primary.sum()),
        "secondary": int(second.sum()),
        "federal": int((second & (level == 0)).sum()),
        "totals of agencies": int((second & (level == 1)).sum()),
        "below": int((second & (level > 1)).sum()),
        "value secondary (per cent)": percent(value[second].sum(), value[full].sum()),
    }
    return Result(
        kind="information_loss",
        title="Secondary cells by level",
        value=numbers["value secondary (per cent)"],
        numbers=numbers,
        frame=as_frame(pa.Table.from_pylist(rows)),
        explanation="Region level 0 is federal, 1 the total of an agency; level None is all of them.",
    )


def loss_row(
    table: Table, cells: Flags, second: Flags, value: Floats, region: int, level: int | None
) -> dict[str, Any]:
    """Return one row of the report."""
    mine = second & cells
    return {
        "region_level": region,
        "level": level,
        "cells": int(cells.sum()),
        "unsafe": int((table.primary & cells).sum()),
        "secondary": int(mine.sum()),
        "secondary_percent": percent(mine.sum(), cells.sum()),
        "value_percent": percent(value[mine].sum(), value[cells].sum()),
    }


def percent(part: float, whole: float) -> float:
    """Return a part in per cent of the whole, 0 of nothing."""
    return float(100 * part / whole) if whole else 0.0


def risk_report(table: Table, *, context: Context | None = None) -> Result:
    """Report which share of the unsafe cells is at risk, by attacks of different strength.

    The attacker uses all relations at once, or one subtable at a time (tables that are a full product),
    or is the only respondent of a cell.
    """
    rows = []
    scopes: tuple[Any, ...] = ("full", "subtable") if table.is_product else ("full",)
    unsafe = int(table.primary.sum())
    pairs = 0
    for scope in scopes:
        options: dict[str, Any] = {"scope": scope, "cells": "unsafe", "singletons": scope == "full"}
        found = Audit(**options).measure(table, context=context)
        pairs = max(pairs, int(found.numbers["worked out by a respondent"]))
        exposed, exact = (int(found.numbers[k]) for k in ("exposed", "worked out exactly"))
        rows.append(
            {
                "attack": scope,
                "at_risk": exposed,
                "at_risk_percent": percent(exposed, unsafe),
                "exact": exact,
            }
        )
    rows.append({"attack": "respondent", "at_risk": pairs, "at_risk_percent": None, "exact": pairs})
    return Result(
        kind="risk_report",
        title="Unsafe cells at risk",
        value=float(rows[0]["at_risk_percent"] or 0.0),
        numbers={
            "unsafe": unsafe,
            **{f"at risk, {r['attack']} (per cent)": r["at_risk_percent"] for r in rows[:-1]},
            "worked out by a respondent": pairs,
        },
        frame=as_frame(pa.Table.from_pylist(rows)),
        explanation="At risk: the attacker's interval does not reach the cell's protection levels.",
    )


@dataclass(frozen=True, repr=False)
class PatternChanges(Result):
    """How a pattern differs from an earlier one; ``hidden`` and ``shown`` name the cells.

    Attributes
    ----------
    hidden
        Codes of the cells that were published before and are hidden now.
    shown
        Codes of the cells that were hidden before and are published now: with the earlier values
        of their neighbours, they may give away what was protected then.
    """

    hidden: tuple[tuple[str, ...], ...] = ()
    shown: tuple[tuple[str, ...], ...] = ()


def pattern_changes(old: Table, new: Table) -> PatternChanges:
    """Compare the patterns of two releases, cell by cell of the same codes.

    Parameters
    ----------
    old, new
        Protected tables with the same dimensions; codes may have come and gone.

    Returns
    -------
    PatternChanges
        ``value`` is the share of cells hidden in either release that are hidden in both (1: the same).
    """
    at_old, at_new = match_cells(old, new)
    was, now = old.hidden[at_old], new.hidden[at_new]
    both, either = int((was & now).sum()), int((was | now).sum())

    def names(cells: Ints) -> tuple[tuple[str, ...], ...]:
        return tuple(sorted(new.codes(int(c)) for c in cells))

    hidden, shown = names(at_new[now & ~was]), names(at_new[was & ~now])
    rows = [
        {**dict(zip(new.names or ("cell",), codes, strict=True)), "change": change}
        for change, cells in (("hidden", hidden), ("published", shown))
        for codes in cells
    ]
    return PatternChanges(
        kind="pattern_changes",
        title="Changes of the pattern",
        value=both / either if either else 1.0,
        numbers={
            "cells in both releases": len(at_old),
            "only in the old": len(old) - len(at_old),
            "only in the new": len(new) - len(at_new),
            "hidden in both": both,
            "newly hidden": len(hidden),
            "newly published": len(shown),
        },
        frame=as_frame(pa.Table.from_pylist(rows)) if rows else None,
        explanation="Cells are matched by their codes; a cell that is newly published may tell of before.",
        hidden=hidden,
        shown=shown,
    )


def match_cells(old: Table, new: Table) -> tuple[Ints, Ints]:
    """Return the positions of the cells that two tables have in common, in each."""
    if set(old.names) != set(new.names):
        raise InputError(f"the tables have different dimensions: {old.names} and {new.names}")
    if not new.dimensions:
        if len(old) != len(new):
            raise InputError("two lists of equations can only be compared cell by cell")
        return np.arange(len(old)), np.arange(len(new))
    ids = []
    for table in (old, new):
        key = np.zeros(len(table), dtype=np.int64)
        known = np.ones(len(table), dtype=bool)
        for d in new.dimensions:
            axis = table.names.index(d.name)
            place = np.array(
                [d.position.get(c, -1) for c in table.dimensions[axis].codes], dtype=np.int64
            )[table.places[:, axis]]
            known &= place >= 0
            key = key * len(d) + np.maximum(place, 0)
        ids.append(np.where(known, key, -1))
    keys, at_old, at_new = np.intersect1d(ids[0], ids[1], return_indices=True)
    keep = keys >= 0
    return at_old[keep].astype(np.int64), at_new[keep].astype(np.int64)
