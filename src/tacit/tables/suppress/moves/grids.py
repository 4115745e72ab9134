"""Grids: small sets of cells around one cell, closed enough for movements to exist within them.

A movement inside one unstructured subtable lives on a product of codes; cells that are sums need some
of their parts beside them. Grids are such products: relatives of the cell's code in each dimension.
"""

from __future__ import annotations

import functools

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.data.cells.dimension import Dimension
from tacit.data.table import Table

#: Parts of a sum that are taken along with it.
PARTS = 2


class Grids:
    """Finds the grid around a cell of a table with dimensions.

    Parameters
    ----------
    table
        The table: a full product, or one with coordinates.
    cells
        About how many cells a grid has.
    """

    def __init__(self, table: Table, cells: int = 300) -> None:
        self.shape = table.shape
        self.places = table.places
        self.kin = [Kin(d) for d in table.dimensions]
        self.width = max(4, int(cells ** (1 / max(1, len(self.shape)))))
        self.strides = np.array(
            [int(np.prod(self.shape[a + 1 :])) for a in range(len(self.shape))], dtype=np.int64
        )
        self.keys: Ints | None = None
        self.order: Ints | None = None
        if not table.is_product:
            key = table.places.astype(np.int64) @ self.strides
            self.order = np.argsort(key, kind="stable").astype(np.int64)
            self.keys = key[self.order]

    def around(self, cell: int, price: Floats, *, wide: bool) -> Ints:
        """Return the cells of the grid, by preference those that are cheap to hide."""
        place = self.places[cell].astype(np.int64)
        here = int(place @ self.strides)
        chosen = []
        for axis, kin in enumerate(self.kin):
            code = int(place[axis])
            base = here - code * int(self.strides[axis])
            chosen.append(self._codes(kin, code, base, int(self.strides[axis]), price, wide=wide))
        keys = np.zeros(1, dtype=np.int64)
        for axis, codes in enumerate(chosen):
            keys = (keys[:, None] + codes * self.strides[axis]).ravel()
        return self._cells(keys)

    def _codes(
        self, kin: Kin, code: int, base: int, stride: int, price: Floats, *, wide: bool
    ) -> Ints:
        """Return the code, the cheapest of its relatives, and parts of those that are sums."""
        width = self.width * 3 // 2 if wide else self.width
        near = kin.beside(code, wide)
        if len(near) > width:
            toll = self._compute_toll(base + near * stride, price)
            near = near[np.argsort(toll, kind="stable")[:width]]
        picked = {code, *near.tolist()}
        todo = [c for c in picked if len(kin.parts[c])]
        while todo:
            parts = kin.parts[todo.pop()]
            if len(parts) > PARTS:
                toll = self._compute_toll(base + parts * stride, price)
                parts = parts[np.argsort(toll, kind="stable")[:PARTS]]
            for part in parts.tolist():
                if part not in picked:
                    picked.add(part)
                    if len(kin.parts[part]):
                        todo.append(part)
        return np.array(sorted(picked), dtype=np.int64)

    def _compute_toll(self, keys: Ints, price: Floats) -> Floats:
        if self.keys is None or self.order is None:
            return price[keys]
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, price[self.order[at]], np.inf)

    def _cells(self, keys: Ints) -> Ints:
        if self.keys is None or self.order is None:
            return keys
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return self.order[at[self.keys[at] == keys]]


class Kin:
    """The relatives of the codes of one dimension."""

    def __init__(self, dimension: Dimension) -> None:
        n = len(dimension)
        self.above: list[list[int]] = [[] for _ in range(n)]
        parts: list[list[int]] = [[] for _ in range(n)]
        self.sums = [np.array(s.children, dtype=np.int64) for s in dimension.sums]
        self.parent = [s.parent for s in dimension.sums]
        for i, s in enumerate(dimension.sums):
            parts[s.parent] += s.children
            for child in s.children:
                self.above[child].append(i)
        self.parts = [np.array(sorted(set(p)), dtype=np.int64) for p in parts]
        self.beside = functools.cache(self._find_sibling_codes)

    def _find_sibling_codes(self, code: int, wide: bool) -> Ints:
        """Return the codes that share a sum with a code; with ``wide``, their sums and those beside."""
        near = {int(c) for i in self.above[code] for c in self.sums[i]}
        if wide:
            for i in self.above[code]:
                parent = self.parent[i]
                near.add(parent)
                near.update(int(c) for j in self.above[parent] for c in self.sums[j])
        return np.array(sorted(near - {code}), dtype=np.int64)
