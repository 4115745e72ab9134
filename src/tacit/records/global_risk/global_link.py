"""Original and masked records brought together: one join and one group-by on the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.arrays import Flags, Ints
from tacit.data.microdata import Microdata
from tacit.engine.base import ROW
from tacit.engine.codes import Coded
from tacit.engine.relational import N, attach_counts
from tacit.engine.subsets import unordered_cells
from tacit.errors import InputError, require_columns
from tacit.records.global_risk.factors import Pairs
from tacit.records.global_risk.search import Linked, Side, merge_equal, merge_links

Frame = nw.LazyFrame[Any]

LINK, IN_ORIGINAL, IN_MASKED, WHERE = "__link__", "__in_o__", "__in_m__", "__where__"
SIZE_ORIGINAL, SIZE_MASKED = "__size_o__", "__size_m__"
#: Values of WHERE: the sum of 1 for the masked and 2 for the original file.
MASKED_ONLY, ORIGINAL_ONLY, BOTH = 1, 2, 3


@dataclass(frozen=True)
class JointCells:
    """Distinct combinations of original and masked key values, and the records in each.

    ``original`` and ``masked`` are the coded keys of each file, one code per cell; ``where`` says in which files the
    records of a cell stand.
    """

    keys: tuple[str, ...]
    original: tuple[Coded, ...]
    masked: tuple[Coded, ...]
    where: Ints
    n: Ints

    @property
    def in_original(self) -> Flags:
        """Return which cells hold records of the original."""
        return self.where != MASKED_ONLY

    @property
    def in_masked(self) -> Flags:
        """Return which cells hold masked records."""
        return self.where != ORIGINAL_ONLY

    @property
    def in_both(self) -> Flags:
        """Return which cells hold linked records."""
        return self.where == BOTH

    def records(self, cells: Flags) -> int:
        """Return the records in some cells."""
        return int(self.n[cells].sum())

    def missing(self) -> list[str]:
        """Return the keys with a missing value in either file."""
        return [
            key
            for key, x, y in zip(self.keys, self.original, self.masked, strict=True)
            if bool(np.any(x.codes[self.in_original] == x.null))
            or bool(np.any(y.codes[self.in_masked] == y.null))
        ]

    def pairs(self, key: int) -> Pairs:
        """Return the pairs of original and masked values of one key among linked records."""
        x, y, both = self.original[key], self.masked[key], self.in_both
        old, new = (c.codes[both].astype(np.int64) for c in (x, y))
        _, at, n = merge_equal(old * (len(y.values) + 1) + new, self.n[both])
        return Pairs(old[at], new[at], n, x.values, y.values)

    def linked(self) -> Linked:
        """Return both files as distinct combinations, with the links between them."""
        original, there = side(self.original, self.in_original, self.n)
        masked, here = side(self.masked, self.in_masked, self.n)
        both = self.in_both
        return merge_links(original, masked, there[both], here[both], self.n[both])


def side(columns: Sequence[Coded], present: Flags, n: Ints) -> tuple[Side, Ints]:
    """Return one file's combinations, and for every cell the combination it belongs to (or -1)."""
    found, into = Side.of(
        [c.codes[present] for c in columns], [c.size for c in columns], n[present]
    )
    at = np.full(len(n), -1, dtype=np.int64)
    at[present] = into
    return found, at


def joint_cells(
    original: Microdata, masked: Microdata, keys: Sequence[str], link: str | None
) -> JointCells:
    """Join the two files on the link and count distinct combinations of key values."""
    left = rename_link_keys(original.frame, keys, link, "o", IN_ORIGINAL)
    right = rename_link_keys(on_engine(masked, original, keys, link), keys, link, "m", IN_MASKED)
    check_links(left, right, link)
    names = [f"{mark}{i}" for mark in "om" for i in range(len(keys))]
    where = nw.col(IN_ORIGINAL).fill_null(0) * 2 + nw.col(IN_MASKED).fill_null(0)
    joined = left.join(right, on=LINK, how="full").select(*names, where.cast(nw.Int64).alias(WHERE))
    frame = original.engine.materialise(joined)
    cells = unordered_cells(frame, [*names, WHERE], original.engine)
    coded = [cells.keys[name] for name in names]
    place = cells.keys[WHERE]
    found = place.values.to_numpy(zero_copy_only=False).astype(np.int64)
    return JointCells(
        tuple(keys),
        tuple(coded[: len(keys)]),
        tuple(coded[len(keys) :]),
        found[place.codes],
        cells.n,
    )


def on_engine(
    masked: Microdata, original: Microdata, keys: Sequence[str], link: str | None
) -> Frame:
    """Return the masked frame on the engine of the original."""
    if masked.engine is original.engine:
        return masked.frame
    names = list(dict.fromkeys([*keys, *([link] if link else [])]))
    return original.engine.from_arrow(masked.to_arrow(names, with_row=True))


def rename_link_keys(
    frame: Frame, keys: Sequence[str], link: str | None, mark: str, flag: str
) -> Frame:
    """Return the link and the keys under neutral names, with a flag that the record is there."""
    columns = [nw.col(key).alias(f"{mark}{i}") for i, key in enumerate(keys)]
    return frame.select(
        nw.col(link or ROW).alias(LINK), *columns, (nw.col(ROW) * 0 + 1).alias(flag)
    )


def check_links(left: Frame, right: Frame, link: str | None) -> None:
    """Refuse links that are missing or stand twice in a file, or differ in type."""
    what = f"the link column {link!r}" if link else "the record number"
    if left.collect_schema()[LINK] != right.collect_schema()[LINK]:
        raise InputError(
            f"global_risk: {what} has different types in the two files; read it as text in both"
        )
    for frame, file in ((left, "original"), (right, "masked")):
        sizes = frame.group_by(LINK).agg(nw.len().cast(nw.Int64).alias(N))
        bad = sizes.filter((nw.col(N) > 1) | nw.col(LINK).is_null()).head(1).collect("pyarrow")
        if len(bad):
            raise InputError(
                f"global_risk: {what} is missing or stands twice in the {file} data; each record needs one of its own"
            )


def check_columns(
    original: Microdata, masked: Microdata, keys: Sequence[str], link: str | None
) -> None:
    """Refuse keys or a link that one of the files lacks."""
    wanted = [*keys, *([link] if link else [])]
    for data, file in ((original, "the original"), (masked, "the masked data")):
        require_columns(wanted, data.columns, file)


def record_sizes(
    original: Microdata, masked: Microdata, keys: Sequence[str], link: str | None
) -> tuple[Ints, Ints]:
    """Return, for each masked record in order, its cluster sizes in the masked and the original file.

    A record that was added has the size 0 in the original.
    """
    by = link or ROW
    theirs = attach_counts(original.frame, keys, SIZE_ORIGINAL).select(
        nw.col(by).alias(LINK), SIZE_ORIGINAL
    )
    frame = on_engine(masked, original, keys, link)
    ours = attach_counts(frame, keys, SIZE_MASKED).select(
        nw.col(ROW).alias(WHERE), nw.col(by).alias(LINK), SIZE_MASKED
    )
    table: pa.Table = ours.join(theirs, on=LINK, how="left").collect("pyarrow").to_native()
    order = np.argsort(table.column(WHERE).to_numpy())
    found = table.column(SIZE_ORIGINAL).fill_null(0).to_numpy().astype(np.int64)
    return table.column(SIZE_MASKED).to_numpy().astype(np.int64)[order], found[order]
