"""Several files on common columns: numbers by their range, categories by common codes; and nearest records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tacit.arrays import Flags, Floats, Ints
from tacit.data.microdata import Microdata
from tacit.data.values import as_numbers, is_number
from tacit.engine.coded import encode
from tacit.errors import ColumnNotFound, InputError

#: Numbers of a block of distances held at a time.
BLOCK = 8_000_000


@dataclass(frozen=True)
class Side:
    """One file: a column of numbers for each column, missing values as NaN; codes for categories."""

    x: Floats

    def __len__(self) -> int:
        return len(self.x)

    def take(self, rows: Ints) -> Side:
        """Return some records."""
        return Side(self.x[rows])


@dataclass(frozen=True)
class Files:
    """Files on common columns."""

    columns: tuple[str, ...]
    #: Which hold numbers.
    numeric: Flags
    #: Range of each column of numbers over all files; 1 for categories.
    spread: Floats
    sides: tuple[Side, ...]


def shared_columns(synthetic: Microdata, others: Sequence[Microdata]) -> tuple[str, ...]:
    """Return the columns in all files that describe people: no identifier, weight or household."""
    apart: set[str | None] = set()
    for data in (synthetic, *others):
        apart |= {*data.identifiers, data.weight, data.household, data.copies}
    return tuple(
        c for c in synthetic.columns if c not in apart and all(c in d.columns for d in others)
    )


def line_up(files: Sequence[Microdata], columns: Sequence[str], kind: str) -> Files:
    """Return files on common columns."""
    for data in files:
        absent = [c for c in columns if c not in data.columns]
        if absent:
            raise ColumnNotFound(absent, list(data.columns), "one of the files")
    if not columns:
        raise InputError(f"{kind}: the files share no column to attack by")
    if min(len(d) for d in files) < 2:
        raise InputError(f"{kind}: every file needs at least two records")
    tables = [d.to_arrow(columns) for d in files]
    ends = np.cumsum([t.num_rows for t in tables])[:-1]
    numeric, spread, whole = [], [], []
    for c in columns:
        found = [t.column(c) for t in tables]
        number = all(is_number(f.type) for f in found)
        x = read_numbers(found, c) if number else read_codes(found)
        known = x[np.isfinite(x)]
        wide = float(np.ptp(known)) if number and len(known) else 0.0
        numeric.append(number)
        spread.append(wide if number and wide > 0 else 1.0)
        whole.append(x)
    sides = np.split(np.column_stack(whole), ends)
    return Files(tuple(columns), np.array(numeric), np.array(spread), tuple(Side(s) for s in sides))


def read_numbers(found: Sequence[pa.ChunkedArray], name: str) -> Floats:
    """Return the numbers of all files, NaN where missing."""
    x = np.concatenate([as_numbers(f, name).floats for f in found])
    if np.isinf(x).any() or (np.abs(x) > 1e100).any():
        raise InputError(
            f"column {name!r} holds infinite numbers, or numbers beyond 1e100. Leave it out."
        )
    return np.asarray(x, dtype=np.float64)


def read_codes(found: Sequence[pa.ChunkedArray]) -> Floats:
    """Return common codes of the categories of all files, a missing one as a category."""
    same = all(f.type == found[0].type for f in found)
    arrays = [f if same else f.cast(pa.string()) for f in found]
    chunks = [c for a in arrays for c in a.chunks]
    return encode(pa.chunked_array(chunks, type=arrays[0].type)).codes.astype(np.float64)


def distances(files: Files, targets: Floats, others: Floats, at: Sequence[int]) -> Floats:
    """Return Gower's distances: mean over columns of |x - y| / range, or 0 and 1; missing equals missing."""
    out = np.zeros((len(targets), len(others)))
    for j in at:
        a, b = targets[:, j][:, None], others[:, j][None, :]
        if files.numeric[j]:
            part = np.abs(a - b) / files.spread[j]
            gaps = np.isnan(part)
            if gaps.any():
                part = np.where(gaps, np.isnan(a) != np.isnan(b), part)
            out += part
        else:
            out += a != b
    return out / max(len(at), 1)


def nearest(
    files: Files, targets: Side, others: Side, at: Sequence[int], k: int = 1
) -> tuple[Ints, Floats]:
    """Return the k nearest records of another file to each target, and their distances."""
    k = min(k, len(others))
    step = max(1, BLOCK // max(len(others), 1))
    found, how_far = [], []
    for begin in range(0, len(targets), step):
        far = distances(files, targets.x[begin : begin + step], others.x, at)
        near = np.argsort(far, axis=1, kind="stable")[:, :k]
        found.append(near)
        how_far.append(np.take_along_axis(far, near, axis=1))
    return np.vstack(found).astype(np.int64), np.vstack(how_far)


def pick(n: int, most: int, rng: np.random.Generator) -> Ints:
    """Return some of n records at random, or all."""
    return np.sort(rng.choice(n, most, replace=False)) if n > most else np.arange(n)
