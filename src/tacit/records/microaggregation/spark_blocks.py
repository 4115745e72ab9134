"""Microaggregation by stratum on Spark: every stratum is grouped by a worker, none travels to the driver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.engine.base import ROW
from tacit.errors import EngineError, InputError
from tacit.numerics.streams import Sequences, generator_of, spawn_sequences
from tacit.stats.moments import scale_of

if TYPE_CHECKING:
    from tacit.records.microaggregation.base import GroupingMethod

STRATUM, LABEL, LOST = "__stratum__", "__label__", "__lost__"


def mask_by_stratum(spec: GroupingMethod, data: Microdata, ctx: Context) -> Microdata:
    """Return the masked data; equal to what one machine gives.

    Strata are numbered by their first record, so that each draws the same random numbers wherever it is
    grouped.
    """
    from pyspark.sql import functions as f

    targets = spec.targets(data)
    native = nw.to_native(data.frame)
    whole = {c: d in {"tinyint", "smallint", "int", "bigint"} for c, d in native.dtypes}
    complete = f.lit(True)
    for c in targets:
        complete = complete & f.col(c).isNotNull()
    strata = native.groupBy(*spec.by).agg(
        f.min(ROW).alias("__first__"), f.sum(complete.cast("long")).alias("__n__")
    )
    found = strata.toArrow().sort_by("__first__")
    spread = column_spreads(native.where(complete), targets)
    n = int(pa.compute.sum(found.column("__n__")).as_py() or 0)
    if not n:
        return data
    if spec.missing == "refuse" and n < len(data):
        raise InputError(
            f"{spec.kind}: the masked columns have missing values. Impute them first, or give missing='keep'."
        )
    spec.refuse_sizes(n, int(pa.compute.min(found.column("__n__")).as_py()))
    numbered = number_strata(native, found, spec.by, data)
    seeds = spawn_sequences(ctx.rng, found.num_rows)

    def mask(table: pa.Table) -> pa.Table:
        return mask_stratum(table, spec, targets, seeds, spread)

    kinds = ", ".join(f"`{c}` double" for c in targets)
    schema = f"`{ROW}` bigint, `{STRATUM}` bigint, `{LABEL}` bigint, `{LOST}` double, {kinds}"
    needed = numbered.select(ROW, STRATUM, *[f.col(c).cast("double").alias(c) for c in targets])
    try:
        masked = needed.groupBy(STRATUM).applyInArrow(mask, schema).persist()
        sizes = masked.where(f.col(LABEL) >= 0).groupBy(STRATUM, LABEL).count()
        told = sizes.agg(f.count("*"), f.min("count"), f.max("count")).collect()[0]
        lost = masked.agg(f.sum(LOST)).collect()[0][0]
    except Exception:  # noqa: BLE001 - the worker's own message may hold values of records
        raise EngineError(
            f"{spec.kind}: a stratum could not be grouped on Spark. tacit must be installed on the workers; where it is, run the stratum with engine='duckdb' to see what is wrong."
        ) from None
    total = n * float((spread > 0).sum())
    ctx.note(
        columns=list(targets),
        groups=int(told[0]),
        smallest_group=int(told[1]),
        largest_group=int(told[2]),
        sse_percent=100.0 * float(lost) / total if total > 0 else 0.0,
        strata_on_spark=found.num_rows,
    )
    for c in targets:
        if spec.whole and whole[c]:
            away = f.signum(c) * f.floor(f.abs(f.col(c)) + f.lit(0.5))
            masked = masked.withColumn(c, away.cast(dict(native.dtypes)[c]))
    joined = native.drop(*targets).join(masked.drop(STRATUM, LABEL, LOST), on=ROW)
    frame = nw.from_native(joined.select(*native.columns))
    return data.with_frame(data.engine.materialise(frame))


def column_spreads(native: Any, targets: Sequence[str]) -> Floats:
    """Return the standard deviation of each column over the complete records; refuse infinite numbers."""
    from pyspark.sql import functions as f

    columns = [
        c for t in targets for c in (f.stddev_pop(t), f.max(f.abs(f.col(t))), f.min(t), f.max(t))
    ]
    row = native.agg(*columns).collect()[0]
    endless = [
        t for i, t in enumerate(targets) if row[4 * i + 1] is not None and np.isinf(row[4 * i + 1])
    ]
    if endless:
        raise InputError(
            f"{', '.join(map(repr, endless))} holds infinite numbers. Clean or leave out such columns."
        )
    return np.array(
        [
            0.0 if row[4 * i + 2] == row[4 * i + 3] else float(row[4 * i] or 0.0)
            for i in range(len(targets))
        ]
    )


def number_strata(native: Any, found: pa.Table, by: Sequence[str], data: Microdata) -> Any:
    """Return the records with the number of their stratum; a missing class value is a class."""
    from pyspark.sql import functions as f

    numbers = found.select(list(by)).append_column(STRATUM, pa.array(np.arange(found.num_rows)))
    renamed = numbers.rename_columns([*(f"__by_{i}__" for i in range(len(by))), STRATUM])
    small = f.broadcast(nw.to_native(data.engine.from_arrow(renamed)))
    same = None
    for i, c in enumerate(by):
        equal = native[c].eqNullSafe(small[f"__by_{i}__"])
        same = equal if same is None else same & equal
    return native.join(small, on=same).drop(*(f"__by_{i}__" for i in range(len(by))))


def mask_stratum(
    table: pa.Table,
    spec: GroupingMethod,
    targets: Sequence[str],
    seeds: Sequence[Sequences],
    spread: Floats,
) -> pa.Table:
    """Return one stratum masked: what a worker does."""
    from tacit.records.microaggregation.base import Units

    table = table.sort_by(ROW)
    x = np.column_stack(
        [table.column(c).to_numpy(zero_copy_only=False).astype(np.float64) for c in targets]
    )
    there = ~np.isnan(x).any(axis=1)
    units = Units(
        x[there],
        np.zeros(int(there.sum()), dtype=np.int64),
        None,
        np.arange(int(there.sum())),
        tuple(targets),
    )
    stratum = table.column(STRATUM)[0].as_py()
    rng = generator_of(seeds[stratum])
    z = scale_of(units.x).there(units.x) if spec.standardise else units.x
    labels = np.full(len(x), -1, dtype=np.int64)
    out, lost = x.copy(), np.zeros(len(x))
    if there.any():
        labels[there] = spec.grouped(units, np.arange(len(z)), z, rng, lambda _m, _s: None)
        out[there] = spec.aggregate_units(units, labels[there])
        vary = spread > 0
        lost[there] = (((x - out)[there][:, vary] / spread[vary]) ** 2).sum(axis=1)
    columns = {c: pa.array(out[:, j], from_pandas=True) for j, c in enumerate(targets)}
    return pa.table(
        {
            ROW: table.column(ROW).cast(pa.int64()),
            STRATUM: table.column(STRATUM).cast(pa.int64()),
            LABEL: labels,
            LOST: lost,
            **columns,
        }
    )
