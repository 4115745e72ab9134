"""The distributed engine: Apache Spark, local for tests, a cluster in production."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import pyarrow as pa

from tacit.engine import text
from tacit.engine.base import ROW
from tacit.errors import EngineMissing, require

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Text files up to this size are parsed on the driver, exactly as for the embedded engine.
TEXT_LIMIT = 1 << 30

BAD_LINE = "__bad_line__"


class SparkEngine:
    """One Spark session. ``url`` is a master, or ``sc://...`` for Spark Connect."""

    name = "spark"

    def __init__(self, url: str | None = None) -> None:
        self._session = start_session(url or os.environ.get("TACIT_SPARK_URL"))

    @property
    def session(self) -> SparkSession:
        """Return the Spark session."""
        return self._session

    def scan_parquet(self, path: Path) -> nw.LazyFrame[Any]:
        """Read Parquet, rows numbered in file order."""
        return self._numbered(self._session.read.parquet(literal_path(path)))

    def scan_text(
        self,
        path: Path,
        *,
        names: Sequence[str],
        separator: str,
        quote: str,
        header: bool,
        encoding: str,
    ) -> nw.LazyFrame[Any]:
        """Read separated text with every field as a string; large files are read by the cluster."""
        if path.stat().st_size <= TEXT_LIMIT:
            table = text.parse(
                path, names, separator=separator, quote=quote, header=header, encoding=encoding
            )
            return self.number_rows(self.from_arrow(table))
        return self._scan_large(path, names, separator, quote, header=header, encoding=encoding)

    def _scan_large(
        self,
        path: Path,
        names: Sequence[str],
        separator: str,
        quote: str,
        *,
        header: bool,
        encoding: str,
    ) -> nw.LazyFrame[Any]:
        from pyspark.sql import functions
        from pyspark.sql.types import StringType, StructField, StructType

        # Spark's strict mode writes the offending line to its log: malformed lines are set apart instead.
        schema = StructType([StructField(n, StringType()) for n in (*names, BAD_LINE)])
        reader = self._session.read.schema(schema).options(
            sep=separator,
            quote=quote,
            escape=quote,
            header=str(header).lower(),
            enforceSchema="true",
            mode="PERMISSIVE",
            columnNameOfCorruptRecord=BAD_LINE,
            multiLine=str(bool(quote)).lower(),
            nullValue="",
            encoding=encoding,
        )
        frame = reader.csv(literal_path(path.absolute())).localCheckpoint()
        bad = frame.filter(functions.col(BAD_LINE).isNotNull()).count()
        if bad:
            raise text.ragged(path, bad, len(names))
        text.require_every_record(
            path,
            frame.count() + int(header),
            separator=separator,
            quote=quote,
            encoding=encoding,
            single=len(names) == 1,
        )
        return self._numbered(frame.drop(BAD_LINE))

    def from_arrow(self, table: pa.Table) -> nw.LazyFrame[Any]:
        """Take an Arrow table (never a pandas frame: nulls would be lost)."""
        return nw.from_native(self._session.createDataFrame(table))

    def adopt(self, native: Any) -> nw.LazyFrame[Any] | None:
        """Take a Spark frame as it is."""
        if not type(native).__module__.startswith("pyspark.sql"):
            return None
        return self._numbered(native)

    def number_rows(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Add row numbers in the order of partitions."""
        return self._numbered(frame.to_native())

    def _numbered(self, native: Any) -> nw.LazyFrame[Any]:
        from pyspark.sql import functions

        # The number is drawn once and kept: a second evaluation could number the rows otherwise.
        numbered = native.withColumn(ROW, functions.monotonically_increasing_id())
        return nw.from_native(numbered.localCheckpoint())

    def materialise(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Compute once and cut the lineage."""
        return nw.from_native(frame.to_native().localCheckpoint())

    def to_arrow(self, frame: nw.LazyFrame[Any]) -> pa.Table:
        """Fetch to the driver as an Arrow table."""
        return frame.to_native().toArrow()

    def write_parquet(self, frame: nw.LazyFrame[Any], path: Path) -> None:
        """Write a folder of Parquet parts."""
        frame.to_native().write.mode("errorifexists").parquet(str(path))

    def close(self) -> None:
        """Stop the session."""
        self._session.stop()


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
