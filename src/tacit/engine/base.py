"""The engine seam: eleven small functions, and the choice of an engine by name."""

from __future__ import annotations

import atexit
import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import narwhals.stable.v2 as nw
import pyarrow as pa

from tacit.engine import blocks
from tacit.engine.blocks import ROW, BlockFunction, Mapped, T
from tacit.engine.text import Form
from tacit.errors import EngineMissing, near_match

__all__ = ["ENGINES", "ROW", "Engine", "get_engine"]

ENGINES = ("duckdb", "spark")


class Engine(Protocol):
    """What an engine must give. Frames are narwhals lazy frames over the engine's own."""

    name: str

    def scan_parquet(self, path: Path) -> nw.LazyFrame[Any]:
        """Read Parquet (a file or a folder of parts), with the column ROW in file order."""

    def scan_text(self, form: Form) -> nw.LazyFrame[Any]:
        """Read separated text with every field as a string and ROW in file order; empty is null."""

    def from_arrow(self, table: pa.Table) -> nw.LazyFrame[Any]:
        """Take an Arrow table."""

    def adopt(self, native: Any) -> nw.LazyFrame[Any] | None:
        """Take the engine's own frame with ROW added, or return None when it is not one."""

    def number_rows(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Add the column ROW: 0, 1, ... in the frame's present order."""

    def materialise(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Compute the frame once, so that what follows does not repeat the work."""

    def in_order(self, frame: nw.LazyFrame[Any], consume: Callable[[pa.RecordBatchReader], T]) -> T:
        """Hand over the records in order of ROW, batch by batch, in bounded memory.

        ``consume`` may be called a second time, from the first record on: it must start again.
        """

    def map_blocks(
        self,
        frame: nw.LazyFrame[Any],
        function: BlockFunction,
        schema: pa.Schema | None,
        tick: Callable[[], None] = blocks.go_on,
    ) -> Mapped:
        """Apply a function to every block of records, once each, in bounded memory.

        ``schema`` is that of the tables which the function returns; None when it only tells tallies.
        ``tick`` is called before the work, and before each block that this process works on.
        """

    def to_arrow(self, frame: nw.LazyFrame[Any]) -> pa.Table:
        """Fetch the frame into memory."""

    def write_parquet(
        self, frame: nw.LazyFrame[Any], path: Path, metadata: Mapping[bytes, bytes] | None = None
    ) -> None:
        """Write Parquet in order of ROW, without it, at ``path`` (one file, or a folder of parts).

        ``metadata`` goes into the footer where there is one file.
        """

    def close(self) -> None:
        """Free what the engine holds."""


@functools.cache
def get_engine(name: str = "duckdb", url: str | None = None) -> Engine:
    """Return the engine of that name; one is shared by all data of the process.

    Parameters
    ----------
    name
        ``duckdb`` (embedded, no set-up) or ``spark`` (the extra ``tacit[spark]`` and a Java runtime).
    url
        For Spark: a master such as ``local[2]`` (the default uses all cores) or ``spark://host:7077``,
        or ``sc://host:15002`` for Spark Connect.
    """
    if name == "duckdb":
        from tacit.engine.duckdb import DuckDbEngine

        return close_at_exit(DuckDbEngine())
    if name == "spark":
        from tacit.engine.spark import SparkEngine

        return close_at_exit(SparkEngine(url))
    hint = near_match(name, ENGINES)
    raise EngineMissing(f"no engine {name!r}; there are {' and '.join(ENGINES)}. {hint}".strip())


def close_at_exit(engine: Engine) -> Engine:
    """Return the engine; it is closed in good order when the process ends."""

    def close() -> None:
        get_engine.cache_clear()
        engine.close()

    atexit.register(close)
    return engine
