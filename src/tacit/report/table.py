"""The report of a released table as one HTML page that opens without a network.

The page is public. It tells unsafe cells from secondary ones nowhere, and no width of an interval
relative to a value: both would help an attacker.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import tacit
from tacit.claims import Claim
from tacit.plot.families import bars
from tacit.plot.pattern import CHANGED, EMPTY, HIDDEN, PUBLISHED, pattern_map
from tacit.registry import lookup
from tacit.report import words
from tacit.report.html import Drawing, access_words, templates, tile
from tacit.result import Result, format_number

if TYPE_CHECKING:
    from tacit.data.table import Table
    from tacit.release import Release

#: A table is printed in the page when it has at most so many rows and columns.
MOST_ROWS, MOST_COLUMNS = 60, 24

#: What the public page does not tell of a result, because an attacker could use it.
WITHHELD = ("unsafe cells", "of them secondary", "largest change (per cent)")


def render(release: Release) -> str:
    """Return the report of a released table as a self-contained HTML page."""
    return templates().get_template("table.html").render(**view(release))


def view(release: Release) -> dict[str, Any]:
    """Return what the template shows."""
    drawing = Drawing()
    table = release.data
    today = dt.datetime.now(tz=dt.UTC).date()
    claims = [
        {"name": claim_name(c), "sentence": words.claim_sentence(c), "holds": c.holds(table)}
        for c in table_claims(release)
    ]
    hold = all(c["holds"] for c in claims)
    if claims and hold:
        heading = "The claim holds" if len(claims) == 1 else f"All {len(claims)} claims hold"
    else:
        heading = "A claim does not hold: do not release" if claims else "No protection is claimed"
    return {
        "title": release.plan.title or "Release of a table",
        "date": f"{today.day} {today:%B %Y}",
        "iso_date": today.isoformat(),
        "version": tacit.__version__,
        "access": release.plan.access,
        "access_words": access_words(release.plan.access),
        "mood": "good" if claims and hold else "bad" if claims else "none",
        "heading": heading,
        "claims": claims,
        "tiles": tiles(table),
        "dimensions": [dimension_view(d) for d in table.dimensions],
        "response": table.response,
        "steps": list(steps_view(table)),
        "grid": grid(table),
        "picture": drawing(picture(table)),
        "results": [result_view(r) for r in release.after],
        "assumptions": list(
            dict.fromkeys(text for claim in release.claims for text in claim.assumptions)
        ),
        "limits": limits(table),
    }


def table_claims(release: Release) -> list[Claim]:
    """Return the claims that can be recomputed on the table."""
    return [
        claim
        for action in release.data.history
        if lookup(action.kind).family in ("rules", "tables")
        for claim in action.claims
    ]


def claim_name(claim: Claim) -> str:
    """Return a claim as a short name."""
    return words.claim_name(claim)


def tiles(table: Table) -> list[dict[str, str]]:
    """Return the few numbers at the top."""
    full = int((~table.empty).sum())
    hidden = int(table.hidden.sum())
    shown = [
        tile(format_number(len(table)), "cells", f"{format_number(len(table) - full)} empty"),
        tile(format_number(hidden), "hidden", words.percent(hidden / full) if full else ""),
    ]
    if table.changed is not None:
        moved = int((np.abs(np.nan_to_num(table.changed - table.value)) > 0).sum())
        shown.append(tile(format_number(moved), "published with another value", ""))
    if table.interval is not None:
        n = int(np.isfinite(table.interval).all(axis=1).sum())
        shown.append(tile(format_number(n), "published as an interval", ""))
    return shown


def dimension_view(dimension: Any) -> dict[str, Any]:
    """Return one dimension in words."""
    if dimension.is_flat:
        shape = "codes and their total"
    elif dimension.is_tree:
        shape = f"a tree of depth {int(dimension.depth.max())}"
    else:
        shape = "several groupings of the same codes"
    return {"name": dimension.name, "codes": f"{len(dimension):,}", "shape": shape}


def steps_view(table: Table) -> Iterator[dict[str, Any]]:
    """Yield the steps with their public parameters."""
    for action in table.history:
        cls = lookup(action.kind)
        yield {
            "name": action.kind.replace("_", " "),
            "title": cls.title(),
            "parameters": [
                (name, words.parameter(value))
                for name, value in action.parameters.items()
                if name not in {"kind", *cls.secret_fields()}
            ],
            "withheld": bool(cls.secret_fields()),
        }


def state_words(table: Table) -> Any:
    """Return what became of each cell, in a word."""
    state = np.full(len(table), PUBLISHED, dtype=object)
    if table.changed is not None:
        state[np.abs(np.nan_to_num(table.changed - table.value)) > 0] = CHANGED
    state[table.empty] = EMPTY
    state[table.hidden] = HIDDEN
    return state


def picture(table: Table) -> Any:
    """Return the map of a two-way table, or the hidden cells by dimension of a larger one."""
    state = state_words(table)
    if table.is_product and len(table.shape) == 2 and max(table.shape) <= 80:
        rows, columns = table.dimensions
        return pattern_map(
            state.reshape(table.shape),
            rows.codes,
            columns.codes,
            title="What goes out",
            names=(rows.name, columns.name),
        )
    level = np.zeros(len(table), dtype=np.int64)
    for i, d in enumerate(table.dimensions):
        level += d.depth[table.places[:, i]]
    marked = table.hidden if table.changed is None else state == CHANGED
    what = "hidden" if table.changed is None else "changed"
    return bars(
        [(str(v), float((marked & (level == v)).sum())) for v in np.unique(level)],
        title=f"Cells {what} by level",
        x="level (0 is the grand total)",
        y="cells",
    )


def grid(table: Table) -> dict[str, Any] | None:
    """Return a small one- or two-way table as it goes out."""
    if not table.is_product or len(table.shape) > 2:
        return None
    array = table.to_array()
    array = array if array.ndim == 2 else array.reshape(1, -1)
    if array.shape[0] > MOST_ROWS or array.shape[1] > MOST_COLUMNS:
        return None
    two = len(table.shape) == 2
    depth = table.dimensions[0].depth if two else [0]
    empty = table.empty.reshape(array.shape)
    rows = table.dimensions[0].codes if two else (table.response,)
    low = None if table.interval is None else table.interval.reshape(*array.shape, 2)
    return {
        "columns": list(table.dimensions[-1].codes),
        "corner": table.dimensions[0].name if two else "",
        "rows": [
            {
                "code": label(table.dimensions[0], code) if two else code,
                "indent": int(depth[i]),
                "cells": [
                    cell_text(array[i, j], bool(empty[i, j]), None if low is None else low[i, j])
                    for j in range(array.shape[1])
                ],
            }
            for i, code in enumerate(rows)
        ],
    }


def label(dimension: Any, code: str) -> str:
    """Return a code with its longer name, if it has one."""
    name = dimension.labels.get(code)
    return f"{code} {name}" if name and name != code else code


def cell_text(value: float, empty: bool, interval: Any) -> str:
    """Return what goes out of one cell."""
    if np.isnan(value):
        if interval is not None and np.isfinite(interval).all():
            return f"{format_number(float(interval[0]))} to {format_number(float(interval[1]))}"
        return "x"
    return "-" if empty else f"{value:,.10g}"


def result_view(result: Result) -> dict[str, Any]:
    """Return one result; of an attack only counts are told."""
    attack = lookup(result.kind).family == "attacks"
    rows = [
        (name, format_number(value))
        for name, value in result.numbers.items()
        if name not in WITHHELD
        and not isinstance(value, Mapping)
        and (not attack or isinstance(value, int))
    ]
    return {
        "title": result.title,
        "explanation": f"{lookup(result.kind).title()}.",
        "rows": rows,
    }


def limits(table: Table) -> list[str]:
    """Return what the release does not promise."""
    found = []
    if table.hidden.any():
        found.append(
            "Outsiders who know more of hidden cells than was assumed, or who pool what they know of "
            "their own contributions, can narrow the intervals."
        )
    if table.changed is not None:
        found.append(
            "Values were changed on purpose. Differences and ratios of small cells can be far from the "
            "truth; totals were kept as close as the method allows."
        )
    found.append(
        "Another table from the same records can be combined with this one. Protection must then be "
        "proven on both together."
    )
    return found
