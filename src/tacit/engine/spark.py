"""The distributed engine: Apache Spark, local for tests, a cluster in production."""

from __future__ import annotations

import itertools
import os
import re
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import pyarrow as pa

from tacit.engine import blocks, text
from tacit.engine.blocks import BLOCK, ROW, BlockFunction, Done, Mapped, T
from tacit.errors import EngineError, EngineMissing, SdcError, require
from tacit.events import can_interrupt

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Text files up to this size are parsed on the driver, exactly as for the embedded engine.
TEXT_LIMIT = 1 << 30

#: Frames up to this many records are worked on by the driver: starting workers would take longer.
SMALL = 1 << 17

#: Records fetched to the driver at a time.
FETCHED = 1 << 20

BAD_LINE = "__bad_line__"
TALLY = "__tally__"
NUMBER, FILE, N = "__number__", "__file__", "__n__"


class SparkEngine:
    """One Spark session. ``url`` is a master, or ``sc://...`` for Spark Connect."""

    name = "spark"

    def __init__(self, url: str | None = None) -> None:
        self._session = start_session(url or os.environ.get("TACIT_SPARK_URL"))
        #: Frames that are computed already, so that nothing computes them again.
        self._kept: weakref.WeakSet[Any] = weakref.WeakSet()
        can_interrupt(self)

    @property
    def session(self) -> SparkSession:
        """Return the Spark session."""
        return self._session

    def interrupt(self) -> None:
        """End the queries that run, if any do."""
        with suppress(Exception):
            self._session.interruptAll()

    def scan_parquet(self, path: Path) -> nw.LazyFrame[Any]:
        """Read Parquet, rows numbered 0, 1, ... in the order of file names and of rows in a file."""
        from pyspark.sql import functions as f

        read = self._session.read.parquet(literal_path(path))
        place = read.select(
            "*",
            f.col("_metadata.file_path").alias(FILE),
            f.col("_metadata.row_index").alias(NUMBER),
        )
        return self._counted_on(place)

    def scan_text(self, form: text.Form) -> nw.LazyFrame[Any]:
        """Read separated text with every field as a string; large files are read by the cluster."""
        if form.path.stat().st_size <= TEXT_LIMIT:
            return self.number_rows(self.from_arrow(form.parse()))
        return self._scan_large(form)

    def _scan_large(self, form: text.Form) -> nw.LazyFrame[Any]:
        from pyspark.sql import functions
        from pyspark.sql.types import StringType, StructField, StructType

        # Spark's strict mode writes the offending line to its log: malformed lines are set apart instead.
        schema = StructType([StructField(n, StringType()) for n in (*form.names, BAD_LINE)])
        reader = self._session.read.schema(schema).options(
            sep=form.separator,
            quote=form.quote,
            escape=form.quote,
            header=str(form.header).lower(),
            enforceSchema="true",
            mode="PERMISSIVE",
            columnNameOfCorruptRecord=BAD_LINE,
            multiLine=str(bool(form.quote)).lower(),
            nullValue="",
            encoding=form.encoding,
        )
        frame = reader.csv(literal_path(form.path.absolute())).localCheckpoint()
        bad = frame.filter(functions.col(BAD_LINE).isNotNull()).count()
        if bad:
            raise text.make_ragged_error(form.path, bad, len(form.names))
        form.require_every_record(frame.count())
        return self._number_rows(frame.drop(BAD_LINE))

    def from_arrow(self, table: pa.Table) -> nw.LazyFrame[Any]:
        """Take an Arrow table (never a pandas frame: nulls would be lost)."""
        return nw.from_native(self._session.createDataFrame(table))

    def adopt(self, native: Any) -> nw.LazyFrame[Any] | None:
        """Take a Spark frame as it is."""
        if not type(native).__module__.startswith("pyspark.sql"):
            return None
        return self._number_rows(native)

    def number_rows(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Add row numbers in the order of partitions."""
        return self._number_rows(frame.to_native())

    def _number_rows(self, native: Any) -> nw.LazyFrame[Any]:
        from pyspark.sql import functions as f

        # The number is drawn once and kept: a second evaluation could number the rows otherwise.
        drawn = native.withColumn(NUMBER, f.monotonically_increasing_id()).localCheckpoint()
        # It holds the partition in its upper bits; row numbers run on without gaps, as on every engine.
        parted = drawn.withColumn(FILE, f.shiftrightunsigned(NUMBER, 33)).withColumn(
            NUMBER, f.col(NUMBER).bitwiseAND(f.lit((1 << 33) - 1))
        )
        return self._counted_on(parted)

    def _counted_on(self, native: Any) -> nw.LazyFrame[Any]:
        """Return the frame with ROW: where a record's part (a file, a partition) begins plus its number there."""
        from pyspark.sql import functions as f

        sizes = native.groupBy(FILE).agg(f.count("*").alias(N)).toArrow().sort_by(FILE)
        starts = itertools.accumulate(sizes.column(N).to_pylist(), initial=0)
        pairs = [
            f.lit(v)
            for pair in zip(sizes.column(FILE).to_pylist(), starts, strict=False)
            for v in pair
        ]
        start = f.create_map(*pairs)[f.col(FILE)] if pairs else f.lit(0)
        numbered = native.withColumn(ROW, (start + f.col(NUMBER)).cast("long"))
        return nw.from_native(numbered.drop(FILE, NUMBER))

    def materialise(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Compute once and cut the lineage."""
        if frame.to_native() in self._kept:
            return frame
        return self._keep(frame.to_native())

    def _keep(self, native: Any) -> nw.LazyFrame[Any]:
        kept = native.localCheckpoint()
        self._kept.add(kept)
        return nw.from_native(kept)

    def in_order(self, frame: nw.LazyFrame[Any], consume: Callable[[pa.RecordBatchReader], T]) -> T:
        """Fetch ranges of row numbers one after the other."""
        from pyspark.sql import functions as f

        if ROW not in frame.collect_schema().names():
            return consume(self.to_arrow(frame).to_reader())
        native = frame.to_native()
        sizes = native.groupBy((f.col(ROW) / BLOCK).cast("long").alias(NUMBER)).count().toArrow()
        ranges = row_ranges(sizes.sort_by(NUMBER))
        if len(ranges) > 1:
            native = self.materialise(frame).to_native()

        def fetch(low: int, high: int) -> pa.Table:
            part = native.where(f.col(ROW).between(low, high)) if len(ranges) > 1 else native
            return part.toArrow().sort_by(ROW)

        first = fetch(*ranges[0])

        def batches() -> Iterator[pa.RecordBatch]:
            yield from first.to_batches()
            for low, high in ranges[1:]:
                yield from fetch(low, high).to_batches()

        return consume(pa.RecordBatchReader.from_batches(first.schema, batches()))

    def map_blocks(
        self,
        frame: nw.LazyFrame[Any],
        function: BlockFunction,
        schema: pa.Schema | None,
        tick: Callable[[], None] = blocks.go_on,
    ) -> Mapped:
        """Let workers apply a function, each to some of the blocks; small frames go to the driver."""
        kept = self.materialise(frame)
        if kept.to_native().count() <= SMALL:
            reader = self.to_arrow(kept).sort_by(ROW).to_reader()
            return blocks.map_here(
                reader, function, schema, tick, lambda made: self.from_arrow(made.read_all())
            )
        tick()
        return self._map_on_workers(kept.to_native(), function, schema)

    def _map_on_workers(
        self, native: Any, function: BlockFunction, schema: pa.Schema | None
    ) -> Mapped:
        from pyspark.sql import functions as f
        from pyspark.sql.pandas.types import from_arrow_schema

        told = (schema if schema is not None else pa.schema([])).append(
            pa.field(TALLY, pa.string())
        )

        def work(table: pa.Table) -> pa.Table:
            return work_on_block(table, function, schema, told)

        grouped = native.withColumn(NUMBER, f.floor(f.col(ROW) / BLOCK)).groupBy(NUMBER)
        try:
            done = grouped.applyInArrow(work, from_arrow_schema(told)).localCheckpoint()
        except Exception:  # noqa: BLE001 - the worker's own message may hold values of records
            raise EngineError(
                "a block of records could not be worked on by Spark. tacit must be installed on the workers; where it is, run the plan with engine='duckdb' to see what is wrong."
            ) from None
        texts = done.where(f.col(TALLY).isNotNull()).select(TALLY).toArrow().column(TALLY)
        tallies = blocks.unpack(texts.to_pylist())
        if schema is None:
            return Mapped(None, tallies)
        return Mapped(self._keep(done.where(f.col(TALLY).isNull()).drop(TALLY)), tallies)

    def to_arrow(self, frame: nw.LazyFrame[Any]) -> pa.Table:
        """Fetch to the driver as an Arrow table."""
        return frame.to_native().toArrow()

    def write_parquet(
        self, frame: nw.LazyFrame[Any], path: Path, metadata: Mapping[bytes, bytes] | None = None
    ) -> None:
        """Write a folder of Parquet parts, which has no footer for metadata."""
        del metadata
        native = frame.to_native()
        ordered = native.sort(ROW).drop(ROW) if ROW in native.columns else native
        ordered.write.mode("errorifexists").parquet(str(path))

    def close(self) -> None:
        """Stop the session."""
        self._session.stop()


def row_ranges(sizes: pa.Table) -> list[tuple[int, int]]:
    """Return ranges of row numbers, whole blocks each, with about as many records as are fetched."""
    found: list[tuple[int, int]] = []
    held, first = 0, 0
    for block, n in zip(*(sizes.column(i).to_pylist() for i in range(2)), strict=True):
        first = block if held == 0 else first
        held += n
        if held >= FETCHED:
            found.append((first * BLOCK, (block + 1) * BLOCK - 1))
            held = 0
    last = sizes.column(0).to_pylist()[-1] if sizes.num_rows else 0
    return [*found, (first * BLOCK, (last + 1) * BLOCK - 1)] if held or not found else found


def work_on_block(
    table: pa.Table, function: BlockFunction, schema: pa.Schema | None, told: pa.Schema
) -> pa.Table:
    """Return a block's records and, in one row more, its tally: what a worker does."""
    table = table.sort_by(ROW)
    block = int(table.column(ROW)[0].as_py()) // BLOCK
    done: Done | SdcError
    try:
        done = function(block, table.drop_columns([NUMBER]).combine_chunks())
    except SdcError as error:
        done = error
    note = pa.table({n: pa.nulls(1, told.field(n).type) for n in told.names}, schema=told)
    note = note.set_column(len(told) - 1, told.field(TALLY), pa.array([blocks.pack(block, done)]))
    if schema is None or isinstance(done, SdcError) or done.table is None:
        return note
    made = blocks.shape(done.table, schema)
    empty = pa.nulls(made.num_rows, pa.string())
    return pa.concat_tables([made.append_column(told.field(TALLY), empty).cast(told), note])


def literal_path(path: Path) -> str:
    """Return a path in which Spark sees no pattern: a name with ``[1]`` or ``*`` is that file alone."""
    return re.sub(r"([*?\[\]{}\\])", r"\\\1", str(path))


def start_session(url: str | None) -> SparkSession:
    """Start Spark, or say in one sentence what is missing."""
    import shutil
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyspark.sql import SparkSession
    except ImportError:
        raise require("pyspark", "spark", "engine='spark'") from None
    if url and url.startswith("sc://"):
        return SparkSession.builder.remote(url).getOrCreate()
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        raise EngineMissing(
            "engine='spark' needs a Java runtime (17 or later), and none was found. "
            "On Debian: apt-get install default-jre-headless."
        )
    master = url or "local[*]"
    builder = (
        SparkSession.builder.appName("tacit")
        .master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .config("spark.sql.ansi.enabled", "true")
        .config("spark.sql.session.timeZone", "UTC")
    )
    if master.startswith("local"):
        # Workers on this machine run the Python that tacit is installed in.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = (
            builder.config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.driver.memory", os.environ.get("TACIT_SPARK_MEMORY", "4g"))
        )
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
