"""Parquet: read in place by the engine; descriptions of columns travel in the file's metadata."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tacit.data.files import Loaded, Options
from tacit.data.roles import Column
from tacit.engine.base import Engine
from tacit.errors import UnreadableFile

META = b"tacit"


def read(path: Path, options: Options, engine: Engine) -> Loaded:
    """Read a file or a folder of parts."""
    del options
    try:
        first = path if path.is_file() else next(iter(sorted(path.glob("**/*.parquet"))))
        schema = pq.read_schema(first)
    except (OSError, ValueError, StopIteration):
        raise UnreadableFile(f"{path.name!r} is not a Parquet file, or is damaged") from None
    described = json.loads((schema.metadata or {}).get(META, b"{}"))
    columns = {name: Column(name, label=d["label"], labels=dict(d["labels"]), missing=tuple(d["missing"])) for name, d in described.items()}
    return Loaded(engine.scan_parquet(path), columns)


def write(data: Any, path: Path, options: Options) -> None:
    """Write one Parquet file, with labels and missing codes in its metadata."""
    del options
    table = data.to_arrow()
    described = {n: {"label": c.label, "labels": list(c.labels.items()), "missing": list(c.missing)} for n, c in data.columns.items() if c.label or c.labels or c.missing}
    if described:
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), META: json.dumps(described).encode()})
    pq.write_table(table, path, compression="zstd")
