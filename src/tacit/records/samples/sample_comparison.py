"""All models of sample risk side by side, and how stable the local one is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.errors import SdcError
from tacit.plot.chart import Chart
from tacit.plot.families import grouped_bars
from tacit.plot.lines import lines
from tacit.records.samples.sample_models import find_ordinal, place_cells
from tacit.records.samples.sample_risk import SampleRisk
from tacit.result import Result
from tacit.spec import Companions

TRUE = "true"
NUMBERS = ("tau1", "tau2", "error1", "error2")


@dataclass(frozen=True)
class Line:
    """One model: its estimates, or why there are none."""

    name: str
    tau1: float | None = None
    tau2: float | None = None
    error1: float | None = None
    error2: float | None = None
    cells: int | None = None
    note: str = ""


@dataclass(frozen=True, repr=False)
class SampleComparison(Result):
    """tau1 and tau2 by model; ``lines`` holds the rows of ``frame``."""

    lines: tuple[Line, ...] = ()

    def line(self, name: str) -> Line:
        """Return the row of a model."""
        return next(row for row in self.lines if row.name == name)

    def plot(self) -> Chart:
        """Return both measures by model as bars."""
        rows = [row for row in self.lines if row.tau1 is not None and row.tau2 is not None]
        items = [
            (r.name, part, float(v or 0.0))
            for r in rows
            for part, v in (("tau1", r.tau1), ("tau2", r.tau2))
        ]
        return grouped_bars(items, title="Sample risk by model", y="expected number of records")

    def charts(self) -> Iterable[Chart]:
        """Return the bars and, with a local model, how it changes with the neighbourhood."""
        yield self.plot()
        if any(r.cells is not None for r in self.lines):
            yield self.stability()

    def stability(self) -> Chart:
        """Return tau1 and tau2 of the local model by size of the neighbourhood, beside the truth if known."""
        local = [r for r in self.lines if r.cells is not None and r.tau2 is not None]
        points: list[tuple[str, Any, float]] = []
        for r in local:
            points += [("tau1", r.cells, float(r.tau1 or 0)), ("tau2", r.cells, float(r.tau2 or 0))]
        for r in (row for row in self.lines if row.name == TRUE):
            for at in (local[0].cells, local[-1].cells):
                points += [
                    ("true tau1", at, float(r.tau1 or 0)),
                    ("true tau2", at, float(r.tau2 or 0)),
                ]
        return lines(
            points,
            title="How the local model depends on the neighbourhood",
            x="cells in the neighbourhood",
            y="expected number of records",
            dashed=True,
            marked=True,
            x_axis={"scale": {"type": "log"}},
            alt=(
                "Estimates of the local model by size of the neighbourhood: "
                + "; ".join(f"{s} {y:.1f} with {x} cells" for s, x, y in points)
                + "."
            ),
        )


def compare_models(
    spec: SampleRisk, data: Microdata, register: Microdata | None, ctx: Context
) -> SampleComparison:
    """Measure with every model; what cannot be fitted says why."""
    other: Companions[Microdata] = Companions(register=register)

    def measured(name: str, base: SampleRisk, cells: int | None = None, **update: Any) -> Line:
        try:
            found = base.model_copy(update=update)._measure(data, other, ctx)
        except SdcError as error:
            return Line(name, cells=cells, note=str(error))
        return Line(name, found.tau1, found.tau2, *found.errors, cells=cells)

    common = {"weighting": "standard", "radius": None, "reach": None, "jackknife": 0}
    argus = spec.model_copy(update={"model": "argus", **common})
    first = argus._measure(data, other, ctx)
    rows = [Line("Argus", first.tau1, first.tau2, *first.errors)]
    if first.true is not None:
        rows.insert(0, Line(TRUE, *first.true))
    poisson = argus.model_copy(update={"model": "poisson"})
    for terms in ("independence", "two_way", "stepwise"):
        name = f"Poisson, {terms.replace('_', '-')}"
        rows.append(measured(name, poisson, terms=terms))
    if data.weight is not None:
        for way, words in (("clogg_eliason", "Clogg-Eliason"), ("pseudo_ml", "pseudo-ML")):
            update: dict[str, Any] = {"terms": "independence", "weighting": way}
            rows.append(measured(f"Poisson, independence, {words}", poisson, **update))
    degree = 2 if spec.degree is None else spec.degree
    local = argus.model_copy(update={"model": "negative_binomial", "degree": degree})
    try:
        table = local.tabulate(data, next(iter(data.quasi_identifiers(local.quasi).values())))
        along = find_ordinal(table, local.ordinal)
        place_cells(table, along, local.positions, local.impossible)
        hoods = [(hood, hood.size(len(along))) for hood in local.hoods(along)]
    except SdcError as error:
        rows.append(Line("negative binomial", note=str(error)))
        hoods = []
    for hood, cells in hoods:
        name = f"negative binomial, {cells} cells"
        rows.append(measured(name, local, cells, radius=hood.c, reach=hood.d))
    return SampleComparison(
        kind=spec.kind,
        title="Sample risk by model",
        value=first.value,
        numbers={f"tau2, {r.name}": r.tau2 for r in rows if r.tau2 is not None},
        frame=as_frame(
            {
                "model": [r.name for r in rows],
                **{c: pa.array([getattr(r, c) for r in rows], pa.float64()) for c in NUMBERS},
                "cells": pa.array([r.cells for r in rows], pa.int64()),
                "note": [r.note for r in rows],
            }
        ),
        explanation=(
            "Models that agree support each other; estimates of the local model that keep rising with the neighbourhood say "
            "that its polynomial no longer fits."
        ),
        lines=tuple(rows),
    )
