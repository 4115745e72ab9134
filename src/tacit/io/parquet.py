"""Parquet: read in place by the engine; descriptions of columns travel in the file's metadata."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tacit.engine.base import Engine
from tacit.engine.names import check_names, check_usable
from tacit.errors import UnreadableFile
from tacit.io import FileFormat, Loaded, Options, describe
from tacit.io.frames import plain_type

FORMAT = FileFormat("records", reads=(".parquet",), writes=("parquet",), rank=2)

META = b"tacit"

#: In a folder of parts the description is a file of its own; the underscore hides it from engines.
SIDECAR = "_tacit.json"


def read(path: Path, options: Options, engine: Engine) -> Loaded:
    """Read a file or a folder of parts."""
    del options
    damaged = UnreadableFile(f"{path.name!r} is not a Parquet file, or is damaged")
    parts = [path] if path.is_file() else sorted(path.glob("**/*.parquet"))
    try:
        schemas = [pq.read_schema(part) for part in parts]
        # A file cut short can have a sound footer; the row groups must lie inside it.
        for part in parts:
            pq.ParquetFile(part).close()
    except (OSError, ValueError, pa.ArrowException):
        raise damaged from None
    check_schema(schemas[0], path, engine.name)
    sidecar = path / SIDECAR
    text = (
        sidecar.read_bytes() if sidecar.is_file() else (schemas[0].metadata or {}).get(META, b"{}")
    )
    columns = describe.from_json(text)
    try:
        return Loaded(engine.scan_parquet(path), columns)
    except Exception:  # noqa: BLE001 - every engine has its own class
        raise damaged from None


def check_schema(schema: pa.Schema, path: Path, engine: str) -> None:
    """Refuse names that occur twice or cannot be held, and columns that do not hold single values."""
    check_names(schema.names, repr(path.name), UnreadableFile)
    check_usable(schema.names, engine)
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if plain_type(kind) is None:
            raise UnreadableFile(
                f"column {field.name!r} of {path.name!r} holds {field.type}, not single values"
            )


def write(data: Any, path: Path, options: Options) -> None:
    """Write Parquet; labels and missing codes go into its metadata.

    Data on Spark are written by Spark as a folder of parts, in record order.
    """
    del options
    described = describe.to_json(data.columns)
    data.engine.write_parquet(data.frame, path, {META: described.encode()} if described else {})
    if described and path.is_dir():
        (path / SIDECAR).write_text(described, "utf-8")
