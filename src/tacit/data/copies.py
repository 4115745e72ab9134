"""Several synthetic copies in one file: told apart again, each with the numbers of the records it stands for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from tacit.arrays import Ints
from tacit.data.microdata import Microdata
from tacit.engine.base import ROW
from tacit.engine.coded import encode
from tacit.errors import InputError


def split_copies(data: Microdata) -> list[Microdata]:
    """Return the copies as data of their own; a file without copies is one.

    Copies of equal length get the row numbers of the first, so that a record can be followed through them.
    """
    name = data.copies
    if name is None:
        return [data]
    table = data.to_arrow(with_row=True)
    coded = encode(table.column(name))
    if (coded.codes == coded.null).any():
        raise InputError(f"some records have no number of a copy in column {name!r}")
    numbers = range(len(coded.values))
    parts = [table.filter(pa.array(coded.codes == number)) for number in numbers]
    rows = parts[0].column(ROW) if parts else None
    found = []
    for part in parts:
        if rows is not None and len(rows) == part.num_rows:
            part = part.set_column(part.column_names.index(ROW), ROW, rows)
        found.append(data.with_table(part.drop_columns([name])))
    return [replace(d, links=data.links) for d in found]


def copy_numbers(data: Microdata) -> Ints:
    """Return the copy of each record, numbered from 0."""
    if data.copies is None:
        return np.zeros(len(data), dtype=np.int64)
    return data.codes(data.copies).codes.astype(np.int64)
