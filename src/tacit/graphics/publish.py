"""Protected plots as files: the pictures, the protected values, and what a reader of the statement must know."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.errors import DisclosureRefused, InputError
from tacit.graphics.base import TOLD_DELTA, ProtectedPlot, make_claim
from tacit.result import as_json_number
from tacit.stats.concentrated import epsilon_of

#: The file of the public records of all plots of a release.
PLOTS = "plots.json"


def write_plot_files(plots: Sequence[ProtectedPlot], folder: Path) -> None:
    """Write each plot as a picture and as a Vega-Lite specification, and all protected values as data."""
    for plot in plots:
        claim = plot.claim
        if claim is None:
            raise DisclosureRefused(
                f"{plot.title}: the seed was given, so that whoever tries it takes the noise off; leave the seed out"
            )
        claim.require(plot.record, where=plot.kind)
    for i, plot in enumerate(plots, 1):
        chart = plot.plot()
        chart.save(folder / f"plot-{i}.svg")
        chart.save(folder / f"plot-{i}.json")
    text = json.dumps(as_json_number([dict(p.record) for p in plots]), ensure_ascii=False)
    (folder / PLOTS).write_text(text, encoding="utf-8")


def read_plot_records(folder: Path) -> list[dict[str, Any]]:
    """Return the public records of the plots of a release; none where it has none."""
    file = folder / PLOTS
    if not file.exists():
        return []
    try:
        found = list(json.loads(file.read_text(encoding="utf-8")))
        whole = all(isinstance(r, dict) and r["queries"] for r in found)
    except (OSError, ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        raise InputError(f"{PLOTS!r} is damaged: it does not hold what it should")
    return found


def plot_facts(plots: Sequence[ProtectedPlot]) -> list[dict[str, Any]]:
    """Return what the statement says of each plot: claim, what it spent, and the budget."""
    return [as_json_number(facts_of(p.record, i)) for i, p in enumerate(plots, 1)]


def facts_of(record: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return what the statement says of one plot."""
    claim = None if record["study"] else make_claim(record)
    return {
        "title": record["title"],
        "kind": record["kind"],
        "files": [f"plot-{number}.svg", f"plot-{number}.json"],
        "columns": record["columns"],
        "unit": record["unit"],
        "members": record["members"],
        "rho": record["rho"],
        "epsilon": epsilon_of(record["rho"], TOLD_DELTA),
        "delta": TOLD_DELTA,
        "budget": record["budget"],
        "claim": None if claim is None else claim.to_dict(public=True),
    }


def plot_lines(facts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what the statement says of plots, in Markdown."""
    lines = []
    for plot in facts:
        unit = plot["unit"]
        lines.append(
            f"- **{plot['title']}** ({plot['files'][0]}): zCDP with rho = {plot['rho']:.4g}, that is epsilon = {plot['epsilon']:.3g} "
            f"at delta = {plot['delta']:.0e}, for one {unit} more or less."
        )
        if plot["budget"]:
            spent, limit = plot["budget"]["spent"], plot["budget"]["limit"]
            lines.append(f"  Budget of the data: {spent:.4g} of {limit:.4g} spent with it.")
        if plot["claim"]:
            lines += [f"  Assumed: {text}" for text in plot["claim"]["assumptions"]]
    return lines
