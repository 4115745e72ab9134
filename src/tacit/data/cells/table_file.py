"""The file of a table with everything known of it (``.table``): confidential, for work in steps.

A zip archive of ``cells.parquet`` (one row per cell), ``table.json`` (dimensions and what was done) and,
where relations do not follow from the dimensions, ``equations.npz``. It is written for its owner alone.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

from tacit.claims import Claim
from tacit.data.base import Action
from tacit.data.cells.dimension import Dimension, Sum
from tacit.data.table import Contributors, Table
from tacit.errors import DisclosureRefused, SdcError, UnreadableFile, explain_target
from tacit.storage.own_folders import note_begun
from tacit.storage.packed import refuse_bomb

VERSION = 1
CELLS = (
    "value",
    "count",
    "status",
    "lower",
    "upper",
    "lower_level",
    "upper_level",
    "sliding_level",
)
OPTIONAL = ("weight", "changed")
PEOPLE = ("contributors", "holdings")
PARTS = ("top", "who", "weight", "asked", "waived")
#: Begins the names of columns that hold further facts of the cells.
EXTRA = "extra_"


def save_table(table: Table, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a table with everything known of it; readable by its owner alone."""
    target = Path(path)
    with explain_target(target):
        if target.exists() and not overwrite:
            raise DisclosureRefused(f"{target.name!r} exists already; use overwrite=True (--force)")
        write_archive(table, target)
    return target


def write_archive(table: Table, target: Path) -> None:
    """Write the archive under another name, and move it into place."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    note_begun(name)
    os.close(handle)
    try:
        with zipfile.ZipFile(name, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr("table.json", json.dumps(heading(table), default=str))
            buffer = io.BytesIO()
            pq.write_table(pa.table(cell_columns(table)), buffer, compression="zstd")
            archive.writestr("cells.parquet", buffer.getvalue())
            if table.given is not None:
                buffer = io.BytesIO()
                sparse.save_npz(buffer, sparse.csr_matrix(table.given))
                archive.writestr("equations.npz", buffer.getvalue())
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)


def load_table(path: str | Path) -> Table:
    """Read a table that :func:`save_table` wrote."""
    source = Path(path)
    refuse_bomb(source)
    try:
        with zipfile.ZipFile(source) as archive:
            head = json.loads(archive.read("table.json"))
            cells = pq.read_table(io.BytesIO(archive.read("cells.parquet")))
            given = None
            if "equations.npz" in archive.namelist():
                inner = io.BytesIO(archive.read("equations.npz"))
                refuse_bomb(source, inner)
                given = sparse.csr_array(sparse.load_npz(inner))
    except SdcError:
        raise
    except (OSError, KeyError, ValueError, zipfile.BadZipFile, pa.ArrowInvalid):
        raise UnreadableFile(f"{source.name!r} is not a table file that tacit wrote") from None
    if head.get("version") != VERSION:
        raise UnreadableFile(f"{source.name!r} was written by another version of tacit")
    columns = {n: cells.column(n).to_numpy() for n in cells.column_names}
    fields: dict[str, Any] = {n: columns[n] for n in CELLS}
    fields |= {n: columns.get(n) for n in OPTIONAL}
    fields |= {n: people_from(columns, n, head["top"].get(n, 0)) for n in PEOPLE}
    if "interval_low" in columns:
        fields["interval"] = np.stack([columns["interval_low"], columns["interval_high"]], axis=1)
    dimensions = tuple(
        Dimension(
            d["name"],
            tuple(d["codes"]),
            tuple(Sum(s[0], tuple(s[1]), tuple(s[2])) for s in d["sums"]),
            d["labels"],
        )
        for d in head["dimensions"]
    )
    if head["listed"]:
        fields["coordinates"] = np.stack(
            [columns[f"place_{i}"] for i in range(len(dimensions))], axis=1
        ).astype(np.int32)
    return Table(
        dimensions=dimensions,
        given=given,
        response=head["response"],
        frequency=head["frequency"],
        source=str(source),
        history=tuple(action_from(a) for a in head["history"]),
        extra={
            **head.get("extra", {}),
            **{n.removeprefix(EXTRA): a for n, a in columns.items() if n.startswith(EXTRA)},
        },
        **fields,
    )


def heading(table: Table) -> dict[str, Any]:
    """Return everything but the cells, as plain data."""
    from tacit.result import as_json_number

    return {
        "version": VERSION,
        "response": table.response,
        "frequency": table.frequency,
        "listed": table.coordinates is not None,
        "top": {n: c.t for n in PEOPLE if (c := getattr(table, n)) is not None},
        "dimensions": [
            {
                "name": d.name,
                "codes": list(d.codes),
                "sums": [[s.parent, list(s.children), list(s.signs)] for s in d.sums],
                "labels": dict(d.labels),
            }
            for d in table.dimensions
        ],
        "history": [
            as_json_number({**vars(a), "claims": [c.to_dict() for c in a.claims]})
            for a in table.history
        ],
        "extra": {k: as_json_number(v) for k, v in table.extra.items() if is_plain(v)},
    }


def is_plain(value: Any) -> bool:
    """Return True for what JSON can hold."""
    if isinstance(value, dict):
        return all(isinstance(k, str) and is_plain(v) for k, v in value.items())
    if isinstance(value, list | tuple):
        return all(is_plain(v) for v in value)
    return value is None or isinstance(value, str | int | float | bool)


def action_from(entry: dict[str, Any]) -> Action:
    """Return one step of the history."""
    made = {
        "techniques": tuple(entry["techniques"]),
        "claims": tuple(Claim.from_dict(c) for c in entry["claims"]),
    }
    return Action(**{**entry, **made})


def cell_columns(table: Table) -> dict[str, Any]:
    """Return the cells as columns."""
    columns: dict[str, Any] = {n: np.ascontiguousarray(getattr(table, n)) for n in CELLS}
    columns |= {n: getattr(table, n) for n in OPTIONAL if getattr(table, n) is not None}
    for name, array in table.extra.items():
        if isinstance(array, np.ndarray) and array.shape == (len(table),):
            columns[f"{EXTRA}{name}"] = np.ascontiguousarray(array)
    if table.interval is not None:
        columns["interval_low"], columns["interval_high"] = table.interval.T.copy()
    if table.coordinates is not None:
        for i in range(table.coordinates.shape[1]):
            columns[f"place_{i}"] = np.ascontiguousarray(table.coordinates[:, i])
    for name in PEOPLE:
        people = getattr(table, name)
        if people is None:
            continue
        columns[f"{name}_count"] = np.ascontiguousarray(people.count)
        for part in PARTS:
            array = getattr(people, part)
            if array is not None:
                for i in range(people.t):
                    columns[f"{name}_{part}_{i}"] = np.ascontiguousarray(array[:, i])
    return columns


def people_from(columns: dict[str, Any], name: str, t: int) -> Contributors | None:
    """Return the contributors that were kept, if any."""
    if f"{name}_count" not in columns:
        return None

    def stacked(part: str) -> Any:
        if f"{name}_{part}_0" not in columns:
            return None
        return np.stack([columns[f"{name}_{part}_{i}"] for i in range(t)], axis=1)

    return Contributors(columns[f"{name}_count"], *map(stacked, PARTS))
