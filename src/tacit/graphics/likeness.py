"""Whether two files hold the same people: sketches of columns that forget order, names and places.

A budget belongs to people, not to a file. Each column is kept as a sketch of its values with their counts, under a salt of
the ledger, without its place or the order of records; files are compared column by column, whatever the columns are
called. So a file is known again when records are put in another order, or when a few are left out or doubled, and a column
that was renamed, or left alone among others, still tells. Numbers are kept in rounded forms too, as they are and in units
of their own spread, so that a little noise, another unit or another origin does not hide them; and how often the categories of
a column occur tells where these have other names. Values that were changed by more are not recognised.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import gammainc, gammaln

from tacit.arrays import Floats, Ints
from tacit.data.checks.readings import in_numbers
from tacit.data.fingerprint import plain_array
from tacit.data.microdata import Microdata

Words = npt.NDArray[np.uint64]

#: Columns with so many different values are kept whole, others by the smallest hashes of their records.
WHOLE = 2048
SMALLEST = 256
#: So many records may differ where values repeat so often that unrelated files look alike.
FEW = 3
#: Different numbers from which on a column is kept in rounded forms too.
MANY = 20
#: What is said of forms of which only the counts are compared.
BINS = "bins"
#: Categories that so many records have are compared by their counts, whatever they are called.
OFTEN = 20
#: Natural logarithm of the odds against counts that agree by chance, from which on they are those of the same people.
ODDS = math.log(1e4)


@dataclass(frozen=True)
class ColumnSketch:
    """Values and counts of one column, hashed."""

    #: The column, for the message to the holder of the data.
    name: str
    #: How many there are.
    records: int
    #: Hash and count of each value; None where there are too many of them.
    values: Words | None
    counts: Ints | None
    #: The smallest hashes of (value, occurrence).
    smallest: Words
    #: How many values occur so many times: by count.
    repeats: Mapping[int, int]
    #: Empty for the values as they are; otherwise how they were rounded, which tells what they may
    #: be compared with.
    form: str = ""

    @property
    def whole(self) -> bool:
        """Return True when all values are kept."""
        return self.values is not None

    def to_dict(self) -> dict[str, Any]:
        """Return the sketch as plain data."""
        return {
            "name": self.name,
            "records": self.records,
            "values": None if self.values is None else self.values.tolist(),
            "counts": None if self.counts is None else self.counts.tolist(),
            "smallest": self.smallest.tolist(),
            "repeats": [[c, n] for c, n in self.repeats.items()],
            "form": self.form,
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> ColumnSketch:
        """Return the sketch that plain data describe."""
        whole = kept["values"] is not None
        return cls(
            str(kept["name"]),
            int(kept["records"]),
            np.array(kept["values"], dtype=np.uint64) if whole else None,
            np.array(kept["counts"], dtype=np.int64) if whole else None,
            np.array(kept["smallest"], dtype=np.uint64),
            {int(c): int(n) for c, n in kept["repeats"]},
            str(kept.get("form", "")),
        )


def sketch_columns(data: Microdata, salt: str) -> list[ColumnSketch]:
    """Return the sketches of every column, identifiers included: they tell best who is in the data."""
    columns = ((c, data.to_arrow([c]).column(0)) for c in data.columns)
    return [s for c, values in columns if not is_serial(values) for s in sketches(c, values, salt)]


def sketches(name: str, column: pa.ChunkedArray, salt: str) -> Iterator[ColumnSketch]:
    """Yield the sketch of a column, and those of its rounded forms."""
    yield sketch_column(name, column, salt)
    for form, rounded in rounded_forms(numbers_of(column)):
        found = sketch_column(name, pa.chunked_array([rounded]), salt)
        if found.values is not None and len(found.values) > SMALLEST:
            # These are many: a sample of each will do.
            found = replace(found, values=None, counts=None)
        yield replace(found, form=form)


def numbers_of(column: pa.ChunkedArray) -> Floats:
    """Return what a column says in numbers; nothing where it does not."""
    plain = plain_array(column).drop_null()
    kind = plain.type
    none = np.zeros(0)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        found = in_numbers(plain.cast(pa.string()))
        return none if found is None else found
    if pa.types.is_temporal(kind):
        plain = plain.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return none
    numbers = plain.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(numbers[np.isfinite(numbers)])


def rounded_forms(numbers: Floats) -> Iterator[tuple[str, Floats]]:
    """Yield numbers rounded to about the gaps between them, to ten times these, and to bins: as they are and in own units."""
    if len(np.unique(numbers)) < MANY:
        return
    low, middle, high = np.quantile(numbers, [0.25, 0.5, 0.75])
    spread = float(high - low)
    if not (spread > 0 and math.isfinite(spread)):
        return
    # The sign of the longer tail is kept: a column that was turned round is the same.
    turned = 1.0 if numbers.mean() >= middle else -1.0
    standard = turned * (numbers - middle) / spread
    for form, values, size in (("near", numbers, spread), ("scaled", standard, 1.0)):
        gap, bins = (math.floor(math.log10(size / parts)) for parts in (len(numbers), 3))
        for p in (gap, gap + 1):
            yield f"{form} {p}", np.rint(values / 10.0**p) + 0.0
        for p in (bins - 1, bins):
            yield f"{form} {BINS} {p}", np.rint(values / 10.0**p) + 0.0


def is_serial(column: pa.ChunkedArray) -> bool:
    """Return True for running numbers of records or households, which all files have."""
    if not pa.types.is_integer(column.type) or column.null_count:
        return False
    different = pc.count_distinct(column).as_py()
    low, high = pc.min_max(column).as_py().values()
    few_each = different >= 20 and len(column) <= 12 * different
    return bool(few_each and low in (0, 1) and high - low < 1.2 * different)


def sketch_column(name: str, column: pa.ChunkedArray, salt: str) -> ColumnSketch:
    """Return the sketch of one column."""
    counted = plain_array(column).value_counts()
    counts = counted.field("counts").to_numpy(zero_copy_only=False).astype(np.int64)
    values = hash_values(counted.field("values"), salt)
    order = np.lexsort((counts, values))
    values, counts = values[order], counts[order]
    times, how_many = np.unique(counts, return_counts=True)
    whole = len(values) <= WHOLE
    return ColumnSketch(
        name,
        int(counts.sum()),
        values if whole else None,
        counts if whole else None,
        smallest_of(values, counts),
        dict(zip(times.tolist(), how_many.tolist(), strict=True)),
    )


def digest_of(columns: Sequence[ColumnSketch]) -> str:
    """Return one name for data, whatever the order of records and columns and the names of columns."""
    parts = sorted(
        repr((c.records, c.smallest.tolist(), sorted(c.repeats.items()))).encode()
        for c in columns
        if not c.form
    )
    return hashlib.sha256(b"tacit likeness 1" + b"\0".join(parts)).hexdigest()


def shared_column(new: Sequence[ColumnSketch], old: Sequence[ColumnSketch]) -> str | None:
    """Return a column of the new data that shows the people of the old; None where nothing does.

    Where values seldom repeat, half of the smaller file must be found in the larger beyond what chance gives. Where they
    repeat, unrelated files agree nearly as well, so that nearly all must agree; and that counts for nothing where another
    column of the same name, whose values seldom repeat, shows different people.
    """
    alike = [(a, b) for a in new for b in old if a.form == b.form]
    for a, b in alike:
        if counts_agree(a, b):
            return a.name
    pairs = [(a, b, *agreement(a, b)) for a, b in alike if BINS not in a.form]
    telling = [p for p in pairs if p[3] < (0.5 if p[0].whole and p[1].whole else 0.85)]
    for a, _, found, chance in telling:
        if found - chance >= 0.5 * (1 - chance):
            return a.name
    others = {a.name for a, b, _, _ in telling if a.name == b.name and not a.form}
    rounded = {a.name for a, b, _, _ in pairs if a.name == b.name and a.form}
    still = {a.name for a, b, _, _ in telling if a.name == b.name and a.form}
    # Where only values as they are differ, a little noise may have been added.
    if others - (rounded - still):
        return None
    for a, b, found, chance in pairs:
        fewer = min(a.records, b.records)
        nearly = max(FEW, 0.1 * (1 - chance) * fewer)
        if chance >= 0.5 and a.whole and b.whole and (1 - found) * fewer <= nearly:
            return a.name
    return None


def counts_agree(a: ColumnSketch, b: ColumnSketch) -> bool:
    """Return True when counts agree too well for two files of other people, each with other records of one population."""
    small, large = by_size(a, b)
    if not small.records:
        return False
    times = max(1, round(large.records / small.records))
    if abs(large.records - times * small.records) > FEW * times:
        return False
    if BINS in a.form:
        return bins_agree(small, large, times)
    return not a.form and ranks_agree(frequent(small.repeats, 1), frequent(large.repeats, times))


def by_size(a: ColumnSketch, b: ColumnSketch) -> tuple[ColumnSketch, ColumnSketch]:
    """Return the column of fewer records first."""
    return (a, b) if a.records <= b.records else (b, a)


def bins_agree(small: ColumnSketch, large: ColumnSketch, times: int) -> bool:
    """Return True when the counts x, y in the bins of numbers are nearer to each other than chance brings them.

    Sums of (x - y)^2 / (x + y) are distributed as chi-squared; bins of few records are taken together, and three degrees of
    freedom are left to the choice of units.
    """
    if small.values is None or large.values is None:
        return False
    assert small.counts is not None
    assert large.counts is not None
    values = np.union1d(small.values, large.values)
    x, y = np.zeros(len(values)), np.zeros(len(values))
    x[np.searchsorted(values, small.values)] = small.counts
    y[np.searchsorted(values, large.values)] = large.counts / times
    few = x + y < OFTEN
    x, y = np.append(x[~few], x[few].sum()), np.append(y[~few], y[few].sum())
    freedom = int((x + y > 0).sum()) - 4
    if freedom < 1:
        return False
    found = ((x - y) ** 2 / np.maximum(x + y, 1)).sum()
    return bool(gammainc(freedom / 2, found / 2) <= math.exp(-ODDS))


def ranks_agree(x: Floats, y: Floats) -> bool:
    """Return True when the counts of frequent categories, in order of size, agree too well, whatever these are called.

    Counts c of two samples of one population differ by a normal amount of variance 2 c, so that they agree exactly with
    probability 1 / sqrt(4 pi c). Each is compared with that of the same rank, which could be one of those near it, and d
    records that are counted elsewhere could be so in (2 k)^d / d! ways. Groups of equal size are a design, and tell nothing.
    """
    k = len(x)
    if k != len(y) or k < 2 or 2 * len(np.unique(x)) < k:
        return False
    off = float(np.abs(x - y).sum())
    if off > FEW:
        return False
    near = np.abs(x[:, None] - x[None, :]) <= 3 * np.sqrt(2 * x)[:, None]
    ranks = min(gammaln(k + 1), np.log(np.tril(near).sum(axis=1)).sum())
    exact = np.sort(0.5 * np.log(4 * np.pi * x))[:-1].sum()
    return bool(exact - ranks - off * math.log(2 * k) + gammaln(off + 1) >= ODDS)


def frequent(repeats: Mapping[int, int], times: int) -> Floats:
    """Return the counts of frequent categories in a file that holds every record so many times, the largest last."""
    found = [c / times for c, n in sorted(repeats.items()) if c >= OFTEN * times for _ in range(n)]
    return np.array(found, dtype=np.float64)


def agreement(a: ColumnSketch, b: ColumnSketch) -> tuple[float, float]:
    """Return the share of the smaller column that is in the larger, and what chance would give."""
    small, large = by_size(a, b)
    if not small.records:
        return 0.0, 1.0
    return min(1.0, overlap(small, large) / small.records), chance_overlap(small, large)


def overlap(a: ColumnSketch, b: ColumnSketch) -> float:
    """Return how many records agree, each with one of the other column; exact where both are kept whole."""
    if a.values is not None and b.values is not None:
        assert a.counts is not None
        assert b.counts is not None
        _, i, j = np.intersect1d(a.values, b.values, return_indices=True)
        return float(np.minimum(a.counts[i], b.counts[j]).sum())
    both = np.union1d(a.smallest, b.smallest)[:SMALLEST]
    jaccard = (np.isin(both, a.smallest) & np.isin(both, b.smallest)).mean()
    return float(jaccard / (1 + jaccard) * (a.records + b.records))


def chance_overlap(small: ColumnSketch, large: ColumnSketch) -> float:
    """Return the share expected to agree if the smaller were drawn anew from the larger's population.

    A value seen c times is expected c* = (c + 1) N(c + 1) / N(c) times, at most c (Good 1953), so that values seen once are
    mostly not seen again where all are; X then being Poisson, E min(c, X) = x - x P(X >= c) + c P(X >= c + 1).
    """
    c = np.array(list(large.repeats), dtype=np.float64)
    n = np.array(list(large.repeats.values()), dtype=np.float64)
    after = np.array([large.repeats.get(int(i) + 1, 0) for i in c], dtype=np.float64)
    smoothed = np.where(c < 5, np.minimum(c, (c + 1) * after / n), c)
    x = np.maximum(smoothed * small.records / large.records, 1e-12)
    agree = x - x * gammainc(c, x) + c * gammainc(c + 1, x)
    return float(min(1.0, (n * agree).sum() / small.records))


# -- hashes ------------------------------------------------------------------------------------------


def hash_values(values: pa.Array, salt: str) -> Words:
    """Return 64 bits for each value: numbers by their value, everything else by its text."""
    key = salt.encode()
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        numbers = pc.cast(pc.cast(values, pa.float64(), safe=False), pa.float64())
        bits = (pc.fill_null(numbers, np.nan).to_numpy(zero_copy_only=False) + 0.0).view(np.uint64)
        start = hashlib.blake2b(b"number", key=key[:64], digest_size=8).digest()
        return mix(mix(bits) ^ np.uint64(int.from_bytes(start, "little")))
    texts = pc.cast(values, pa.string()).to_pylist()
    found = [
        hashlib.blake2b(b"\0" if t is None else b"t" + t.encode(), key=key[:64], digest_size=8)
        for t in texts
    ]
    return np.frombuffer(b"".join(h.digest() for h in found), dtype="<u8").astype(np.uint64)


def smallest_of(values: Words, counts: Ints) -> Words:
    """Return the smallest hashes of all (value, occurrence): a sample of the records that every file shares."""
    place = np.repeat(np.arange(len(values)), counts)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    nth = (np.arange(len(place)) - first).astype(np.uint64)
    hashes = mix(values[place] + nth * np.uint64(0x9E3779B97F4A7C15))
    if len(hashes) > SMALLEST:
        hashes = np.partition(hashes, SMALLEST)[:SMALLEST]
    return np.sort(hashes)


def mix(x: Words) -> Words:
    """Return well-mixed 64-bit words: the finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    z = x + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
