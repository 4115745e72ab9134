"""Frames in memory: pandas, Polars, Arrow, DuckDB relations and Spark frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa

from tacit.engine.base import Engine
from tacit.errors import InputError


def is_frame(source: Any) -> bool:
    """Return True for anything that narwhals knows as a frame."""
    if isinstance(source, dict):
        return True
    return nw.from_native(source, pass_through=True) is not source or isinstance(source, nw.DataFrame | nw.LazyFrame)


def load(source: Any, engine: Engine) -> tuple[nw.LazyFrame[Any], Callable[[pa.Table], Any]]:
    """Return the frame on the engine and the way back to the user's own kind."""
    if isinstance(source, dict):
        source = pa.table(source)
    native = source.to_native() if isinstance(source, nw.DataFrame | nw.LazyFrame) else source
    adopted = engine.adopt(native)
    if adopted is not None:
        return adopted, way_back(native, engine)
    table = to_arrow(native)
    return engine.number_rows(engine.from_arrow(table)), way_back(native, engine)


def to_arrow(native: Any) -> pa.Table:
    """Return any frame as an Arrow table; pandas' NaN becomes null."""
    if isinstance(native, pa.Table):
        return native
    if type(native).__module__.startswith("pandas"):
        if not native.columns.is_unique:
            raise InputError("the frame has duplicate column names; rename them")
        return pa.Table.from_pandas(native, preserve_index=False).replace_schema_metadata(None)
    frame = nw.from_native(native)
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return eager.to_arrow()


def way_back(native: Any, engine: Engine) -> Callable[[pa.Table], Any]:
    """Return the function that turns an Arrow table into the kind of ``native``."""
    module = type(native).__module__
    if module.startswith("pandas"):
        return lambda table: table.to_pandas()
    if module.startswith("polars"):
        import polars

        lazy = type(native).__name__ == "LazyFrame"
        return lambda table: polars.from_arrow(table).lazy() if lazy else polars.from_arrow(table)  # type: ignore[union-attr]
    if module.startswith("pyspark") or "duckdb" in module:
        return lambda table: engine.from_arrow(table).to_native()
    return lambda table: table
