"""Classes numbered once, found again block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Ints
from tacit.engine.codes import encode


@dataclass(frozen=True)
class ClassIndex:
    """The classes of some columns, numbered in ascending order of their values; null is a value, the last."""

    #: The columns that form classes; none for one class of all records.
    columns: tuple[str, ...]
    #: The distinct values of each column, ascending.
    values: tuple[pa.Array, ...]
    #: For each column after the first: the numbers, ascending, that the classes so far and the
    #: column's codes make together.
    steps: tuple[Ints, ...]

    @classmethod
    def build(cls, columns: Sequence[str], cells: pa.Table) -> ClassIndex:
        """Give numbers to the classes that stand in a table."""
        coded = [encode(cells.column(c)) for c in columns]
        steps: list[Ints] = []
        ids = np.zeros(cells.num_rows, dtype=np.int64)
        for c in coded:
            pairs = ids * c.size + c.codes
            known = np.unique(pairs).astype(np.int64)
            steps.append(known)
            ids = np.searchsorted(known, pairs).astype(np.int64)
        return cls(tuple(columns), tuple(c.values for c in coded), tuple(steps))

    @property
    def size(self) -> int:
        """Return the number of classes."""
        return len(self.steps[-1]) if self.steps else 1

    def find(self, table: pa.Table) -> Ints:
        """Return the class number of each record; all its classes must be known."""
        ids = np.zeros(table.num_rows, dtype=np.int64)
        for column, values, known in zip(self.columns, self.values, self.steps, strict=True):
            asked = table.column(column)
            same = asked if asked.type == values.type else asked.cast(values.type)
            found = pc.index_in(same, value_set=values)
            codes = pc.fill_null(found, len(values)).to_numpy()
            ids = np.searchsorted(known, ids * (len(values) + 1) + codes).astype(np.int64)
        return ids
