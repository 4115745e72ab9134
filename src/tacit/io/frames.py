"""Frames in memory: pandas, Polars, Arrow, DuckDB relations, Spark frames, and plain columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc
from narwhals.exceptions import DuplicateError

from tacit.engine.base import Engine
from tacit.engine.names import check_names as refuse_names
from tacit.errors import InputError, UnreadableFile

#: Half of a pair of code units, as a damaged conversion leaves it.
NO_TEXT = "a column holds characters that are no text (lone surrogates); clean it first"


def is_frame(source: Any) -> bool:
    """Return True for anything that narwhals knows as a frame, and for a dict of columns."""
    if isinstance(source, dict | nw.DataFrame | nw.LazyFrame):
        return True
    try:
        return isinstance(nw.from_native(source, pass_through=True), nw.DataFrame | nw.LazyFrame)
    except DuplicateError:
        return True


def is_spark(source: Any) -> bool:
    """Return True for a Spark frame, without importing Spark."""
    native = source.to_native() if isinstance(source, nw.LazyFrame) else source
    return type(native).__module__.startswith("pyspark.sql")


def load(source: Any, engine: Engine) -> tuple[nw.LazyFrame[Any], Callable[[pa.Table], Any]]:
    """Return the frame on the engine and the way back to the user's own kind."""
    native = source.to_native() if isinstance(source, nw.DataFrame | nw.LazyFrame) else source
    if isinstance(native, dict):
        native = from_columns(native)
    check_names(native)
    if is_spark(native) and engine.name == "spark":
        adopted = engine.adopt(native)
        assert adopted is not None
        return adopted, way_back(native, engine)
    frame = engine.number_rows(engine.from_arrow(plain_table(to_arrow(native))))
    return frame, way_back(native, engine)


def from_columns(columns: dict[Any, Any]) -> pa.Table:
    """Return a dict of columns as a table; NaN becomes null."""
    refuse_names([str(name) for name in columns])
    try:
        return pa.table(
            {
                str(n): v
                if isinstance(v, pa.Array | pa.ChunkedArray)
                else pa.array(v, from_pandas=True)
                for n, v in columns.items()
            }
        )
    except OverflowError:
        raise InputError(
            "a column holds whole numbers beyond 64 bits; give it as numbers with decimals, or as text"
        ) from None
    except UnicodeEncodeError:
        raise InputError(NO_TEXT) from None
    except (pa.ArrowException, TypeError, ValueError):
        raise InputError(
            "the columns do not form a table: each needs values of one type, and all the same length"
        ) from None


def check_names(native: Any) -> None:
    """Refuse names that occur twice."""
    if type(native).__name__ == "LazyFrame":
        names = native.collect_schema().names()
    else:
        names = list(native.column_names if isinstance(native, pa.Table) else native.columns)
    if not names:
        raise InputError("the data have no columns")
    refuse_names([str(n) for n in names])


def to_arrow(native: Any) -> pa.Table:
    """Return any frame as an Arrow table; pandas' NaN becomes null."""
    if isinstance(native, pa.Table):
        return native
    if type(native).__module__.startswith("pandas"):
        try:
            texts = spell_ranges(native.rename(columns=str))
            return pa.Table.from_pandas(texts, preserve_index=False).replace_schema_metadata(None)
        except UnicodeEncodeError:
            raise InputError(NO_TEXT) from None
        except (pa.ArrowException, TypeError, OverflowError) as error:
            raise make_mixed_column_error(error, list(native.columns)) from None
    frame = nw.from_native(native)
    try:
        eager = frame.collect("pyarrow") if isinstance(frame, nw.LazyFrame) else frame
        return eager.to_arrow()
    except pa.ArrowInvalid:
        raise InputError(
            "a column of the frame is of a type that cannot be read, such as whole numbers beyond 64 bits; convert it"
        ) from None


def spell_ranges(frame: Any) -> Any:
    """Return a pandas frame with intervals (``pd.cut``) and periods as text."""
    spelled = {}
    for name in frame.columns:
        values = frame[name]
        kind = getattr(values.dtype, "categories", values).dtype
        if type(kind).__name__ in ("IntervalDtype", "PeriodDtype"):
            spelled[name] = values.astype(str).where(values.notna(), None)
    return frame.assign(**spelled) if spelled else frame


def make_mixed_column_error(error: Exception, names: Sequence[Any]) -> InputError:
    """Return the error for an object column of several types; Arrow's own message quotes a value."""
    context = str(error.args[-1]) if error.args else ""
    name = next((str(n) for n in names if f"column {n} " in context), None)
    where = f"column {name!r}" if name else "a column"
    return InputError(
        f"{where} mixes types that do not go together (numbers and text?), or is of a type that cannot be read; convert it"
    )


def plain_table(table: pa.Table) -> pa.Table:
    """Return a table in the few types that every engine holds alike.

    Dictionaries are decoded; integers become 64 bits wide; decimals and short floats become double;
    times are kept to the microsecond; a column without any type becomes text.
    """
    names = table.schema.names
    return pa.table({n: plain_column(n, table.column(j)) for j, n in enumerate(names)})


def plain_column(name: str, values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return one column in a type that every engine holds."""
    if pa.types.is_dictionary(values.type):
        values = pc.cast(values, values.type.value_type)
    target = plain_type(values.type)
    if target is None:
        raise UnreadableFile(
            f"column {name!r} holds {values.type}, not single values; leave it out, or spread it over columns"
        )
    if target == values.type:
        return values
    try:
        safe = not pa.types.is_temporal(target) and not pa.types.is_floating(target)
        return pc.cast(values, target, safe=safe)
    except pa.ArrowInvalid:
        # Whole numbers beyond 64 bits are codes, not amounts: as text they stay exact.
        return pc.cast(values, pa.string())


def plain_type(kind: pa.DataType) -> pa.DataType | None:
    """Return the type that stands for ``kind`` on every engine, or None when there is none."""
    checks: tuple[tuple[Callable[[pa.DataType], bool], pa.DataType], ...] = (
        (pa.types.is_boolean, pa.bool_()),
        (pa.types.is_integer, pa.int64()),
        (pa.types.is_floating, pa.float64()),
        (pa.types.is_decimal, pa.float64()),
        (pa.types.is_date, pa.date32()),
        (pa.types.is_time, pa.time64("us")),
        (pa.types.is_null, pa.string()),
        (
            lambda t: pa.types.is_string(t) or pa.types.is_large_string(t) or t == pa.string_view(),
            pa.string(),
        ),
    )
    if pa.types.is_decimal(kind) and kind.scale == 0:
        return pa.int64()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", tz=kind.tz)
    return next((target for check, target in checks if check(kind)), None)


def way_back(native: Any, engine: Engine) -> Callable[[pa.Table], Any]:
    """Return the function that turns an Arrow table into the kind of ``native``."""
    module = type(native).__module__
    if module.startswith("pandas"):
        return lambda table: table.to_pandas()
    if module.startswith("polars"):
        import polars as pl

        lazy = type(native).__name__ == "LazyFrame"
        return lambda table: pl.from_arrow(table).lazy() if lazy else pl.from_arrow(table)  # type: ignore[union-attr]
    if module.startswith("pyspark"):
        return native.sparkSession.createDataFrame
    if "duckdb" in module:
        return lambda table: engine.from_arrow(table).to_native()
    return lambda table: table
