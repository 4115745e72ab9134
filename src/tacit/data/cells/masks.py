"""Masks: sets of cells by the codes of their dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tacit.arrays import Flags
from tacit.data.cells.cell_names import code_index
from tacit.data.table import Table
from tacit.errors import InputError

#: Dimension to code or codes.
Mask = Mapping[str, str | tuple[str, ...]]


def match_masks(table: Table, masks: Sequence[Mask], field: str) -> Flags:
    """Return which cells match at least one mask; a dimension that a mask leaves out is free."""
    inside = np.zeros(len(table), dtype=bool)
    for one in masks:
        unknown = sorted(set(one) - set(table.names))
        if unknown:
            raise InputError(f"{field} names the dimension {unknown[0]!r}; there are {table.names}")
        fits = np.ones(len(table), dtype=bool)
        for axis, dimension in enumerate(table.dimensions):
            codes = one.get(dimension.name)
            if codes is None:
                continue
            listed = (codes,) if isinstance(codes, str) else codes
            places = [code_index(dimension, code) for code in listed]
            fits &= np.isin(table.places[:, axis], places)
        inside |= fits
    return inside
