"""Weights of synthetic records: computed again, copied, old or none, and raked to known totals."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import read_numeric_column
from tacit.errors import DisclosureRefused, WeakProtection
from tacit.records.samples.weights.calibrate import Calibrate
from tacit.records.samples.weights.design import Design, copy_weights, recalculate
from tacit.records.synthesis.sequential.parameters import SynthesisParameters


def plan_of_sample(spec: SynthesisParameters, data: Microdata) -> Design | None:
    """Return the design: the one given, or strata where they are declared."""
    if spec.design is not None or data.stratum is None:
        return spec.design
    return Design(kind="stratified", columns=(data.stratum,))


def check_old_weights(spec: SynthesisParameters, data: Microdata) -> None:
    """Refuse old weights that tell a size which was replaced; warn where nobody said what weights are made of."""
    if data.weight is None:
        return
    design = plan_of_sample(spec, data)
    if design is None:
        if spec.weights in ("rcal", "cpp"):
            warnings.warn(
                "synthesise: weights stay as they are, since neither design nor a stratum says what they are made of. If a replaced column was used to draw or to weigh the sample, say so with design=.",
                WeakProtection,
                stacklevel=6,
            )
        return
    touched = [c for c in design.columns if c in spec.replaced(data)]
    if spec.weights == "oldw" and touched and not spec.allow_disclosure:
        if design.is_size:
            raise DisclosureRefused(
                f"synthesise: the old weights tell the size that replaces column {touched[0]!r}: it is the total over n times the weight. Use weights='rcal', or give allow_disclosure=true."
            )
        warnings.warn(
            f"synthesise: old weights may tell the {touched[0]!r} that was replaced; weights='rcal' computes them again",
            WeakProtection,
            stacklevel=6,
        )


def weigh(
    spec: SynthesisParameters,
    data: Microdata,
    before: pa.Table,
    after: pa.Table,
    ctx: Context,
) -> pa.Table:
    """Return the records of one copy with the weights that fit them."""
    name = data.weight
    if name is None:
        return after
    if spec.weights == "unw":
        ctx.note(weights="left out")
        return after.drop_columns([name])
    design = plan_of_sample(spec, data)
    told = "as they were: no column of the design was replaced"
    if (
        design is not None
        and spec.weights != "oldw"
        and set(design.columns) & set(spec.replaced(data))
    ):
        old = read_numeric_column(data, name).values.astype(np.float64)
        if spec.weights == "rcal":
            new: Floats = recalculate(design, old, before, after)
        else:
            new = copy_weights(design, old, before, after, ctx.rng)
        after = set_values(after, {name: pa.array(new)})
        told = f"{spec.weights}, {design.kind} by {', '.join(design.columns)}"
    elif spec.weights == "oldw":
        told = "as they were"
    if spec.calibrate:
        after = rake(spec, data, after)
        told += "; raked"
    ctx.note(weights=told)
    return after


def rake(spec: SynthesisParameters, data: Microdata, table: pa.Table) -> pa.Table:
    """Return one copy with its weights raked to known totals."""
    done = Calibrate(margins=spec.calibrate).apply(data.with_table(table))
    return done.to_arrow(with_row=True)


def set_values(table: pa.Table, new: Mapping[str, Any]) -> pa.Table:
    """Return a table with columns replaced."""
    for name, column in new.items():
        table = table.set_column(table.column_names.index(name), name, column)
    return table
