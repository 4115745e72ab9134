"""Arrays of the measures, and rows taken in blocks that fit a processor's cache."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.arrays import Floats

#: Cells that are worked on at a time.
BLOCK = 1 << 16


def row_blocks(cells: Floats) -> Iterator[slice]:
    """Yield the rows in blocks: sums over cells then run at the speed of the cache."""
    step = max(1, BLOCK // max(cells.shape[1], 1))
    for start in range(0, len(cells), step):
        yield slice(start, start + step)
