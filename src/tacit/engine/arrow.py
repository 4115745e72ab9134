"""Arrow tables of records: their order, and columns set in place."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from tacit.engine.base import ROW


def sort_by_row(table: pa.Table) -> pa.Table:
    """Return the records in the order of their numbers; most often they are in it already."""
    rows = table.column(ROW).to_numpy()
    if len(rows) > 1 and not bool(np.all(rows[1:] > rows[:-1])):
        return table.take(pa.array(np.argsort(rows, kind="stable")))
    return table


def set_columns(table: pa.Table, columns: Mapping[str, pa.Array | pa.ChunkedArray]) -> pa.Table:
    """Return a table with columns replaced where they stand, or added before the row number."""
    for name, column in columns.items():
        if name in table.column_names:
            table = table.set_column(table.column_names.index(name), name, column)
        else:
            table = table.add_column(table.num_columns - 1, name, column)
    return table
