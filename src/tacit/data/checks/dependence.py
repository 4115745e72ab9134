"""Which released columns give back the values that a release hides in others.

A hidden value is an original one that the release does not show: the column is not there, or shows something else for
the record. A released column tells the hidden values of another when every value of it belongs to one hidden value,
and that is no accident of the file:

- equal values of it occur often, and always with equal hidden values (zip code and region);
- it runs up or down with the hidden values, or each of these fills one stretch of it (age and year of birth);
- it follows from the hidden values with at most three turns (a probability with two limits);
- it is a coarser copy of the hidden values in at least ``FINE`` steps (amounts rounded to tens). Of running numbers, of
  which each is the name of one record, it must leave no more than ``FEW``: a date of admission tells about when a number was
  given, which names somebody only where few were admitted that day;
- it is a running number, and its order is nearly that of the hidden values (numbers given on arrival, a day early or late);
- its texts hold the hidden values among other things (a code made of region and number);
- some columns of numbers add up to the hidden ones with fixed factors, or multiply with fixed powers (a total and its
  parts, a ratio and its denominator).

Text that says numbers or dates is taken in their order. Nobody can see which records a swap or noise has changed, so that a
relation must also hold for the records that look like those with hidden values, but for ``EXCEPTIONS`` of them: one wrong
entry hides nothing. How surprising it would be if columns had nothing to do with each other is counted over permutations of
the records and choices of the exceptions, and taken as evidence from ``EVIDENCE`` on. Columns that tell values for fewer
records, and other relations among several columns, are not looked for. Of a large file on an engine
some records are looked at first, and only what is found there is counted on all: a relation that holds everywhere holds among
them, unless it needs values that are hidden in very few records.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import gammaln

from tacit.arrays import Flags, Floats, Ints
from tacit.data.checks.hidden import Hidden, are_running, by_meaning, drawn_labels, hidden_values
from tacit.data.microdata import Microdata
from tacit.data.paired import thin_out
from tacit.data.values import as_numbers, is_number
from tacit.engine.base import ROW

#: Natural logarithm of how many permutations of the records there must be to one with such a relation.
EVIDENCE = 20.0
#: Share of the records that may differ from a relation which tells the values of the others.
EXCEPTIONS = 0.02
#: Share of the unusual hidden values that must be told by codes which occur again.
TOLD = 0.1
#: Ranks must be correlated so much before the longest run in order is looked for.
ALIKE = 0.9
#: Rounds in which a linear relation is fitted to the records that follow it best, this share of them.
ROUNDS, BEST = 6, 0.9
#: How far, in standard deviations, the middle record may be off for a linear relation that is worth looking at.
START = 0.25
#: Records on which a relation is tried first.
FIRST = 4_096
#: Turns that a function of the hidden values may take: few candidates are left for each.
TURNS = 3
#: Steps that a coarser copy of the hidden values has at least, each counted by how many records are in it.
FINE = 50
#: Running numbers that a released value leaves, on average over the records, when it tells them nearly.
FEW = 3.0
#: How far a linear relation may be off, in standard deviations of the hidden values: rounding to three digits passes.
OFF = 1e-3
#: Factors that count, in standard deviations of their column.
FACTOR = 1e-4
#: Records that a linear relation needs beyond its coefficients, and columns that are looked at together.
MORE, WIDEST = 12, 60


@dataclass(frozen=True)
class Relation:
    """Released columns that tell the hidden values of one column."""

    columns: tuple[str, ...]
    hidden: str
    how: str

    def sentence(self) -> str:
        """Return what is told by what, without values."""
        listed = " and ".join(map(repr, self.columns))
        return f"{listed} in the release {self.how.format(hidden=repr(self.hidden))}"


BY_VALUE = "has one hidden value of {hidden} to each of its own, and tells them"
BY_ORDER = "runs in the order of the hidden values of {hidden}, and tells them"
BY_TURNS = "follows from the hidden values of {hidden} with few turns, and tells them nearly"
BY_STEPS = "is a coarser copy of the hidden values of {hidden}, and tells them nearly"
BY_TURN = "is given nearly in the order of the hidden values of {hidden}, and tells them nearly"
BY_TEXT = "holds the hidden values of {hidden} in its texts"
BY_SUM = "give the hidden values of {hidden} by fixed factors"
BY_PRODUCT = "give the hidden values of {hidden} by products or ratios"
IN_ORDER = "still stands in the order of its own hidden values"
NEARLY = ", in nearly all records"


def find_relations(
    original: Microdata,
    released: Microdata,
    carried: Collection[str] = (),
    fewer: Collection[str] = (),
) -> list[Relation]:
    """Return which released columns tell hidden values of which others.

    ``carried`` columns were not changed to hide them; of ``fewer`` some values, nobody can say which, are hidden later.
    """
    some = thin_out(original, released)
    if some[0] is not original and not relations_of(*some, carried, fewer):
        return []
    return relations_of(original, released, carried, fewer)


def relations_of(
    original: Microdata, released: Microdata, carried: Collection[str], fewer: Collection[str]
) -> list[Relation]:
    """Return the relations that hold for every record."""
    rows = [d.to_arrow([], with_row=True).column(ROW).to_numpy() for d in (original, released)]
    if not len(rows[0]) or not len(rows[1]):
        return []
    place = np.searchsorted(rows[0], rows[1]).clip(max=len(rows[0]) - 1)
    both = rows[0][place] == rows[1]
    names = [c for c in original.columns if c not in carried]
    secret = [
        h
        for c in names
        if (h := hidden_values(original, released, c, place, both, later=c in fewer))
    ]
    if not secret:
        return []
    meaningless = drawn_labels(released)
    asked = [c for c in released.columns if c not in meaningless]
    if not asked:
        return []
    least = EVIDENCE + np.log(len(asked) * len(secret))
    homes = None if released.household is None else released.codes(released.household).codes
    found = [r for c in asked for r in told_by(released, c, secret, homes, least)]
    known = {r.hidden for r in found}
    left = [h for h in secret if h.name not in known]
    return [*found, *sums_of(released, asked, left)]


# -- one column ------------------------------------------------------------------------------------------


def told_by(
    released: Microdata,
    column: str,
    secret: Sequence[Hidden],
    homes: npt.NDArray[np.int32] | None,
    least: float,
) -> Iterable[Relation]:
    """Yield the hidden columns that one released column tells."""
    coded = released.codes(column)
    usable = coded.codes != coded.null
    if column in released.hierarchies:
        top = pc.index(
            coded.values.cast(pa.string()), pa.scalar(released.hierarchies[column].top)
        ).as_py()
        usable &= coded.codes != top
    codes, values = by_meaning(coded.codes.astype(np.int64), coded.values)
    text = pa.types.is_string(values.type)
    ordered = not text or values is not coded.values
    in_turn = usable.sum() == len(values) and are_running(values)
    looked = Looked(codes, usable, ordered, homes, least)
    for hidden in secret:
        at = np.flatnonzero(usable & hidden.at)
        if len(at) < 2 or (column == hidden.name and not hidden.masked):
            continue
        how = relation_among(looked, hidden) or nearly_among(looked, hidden)
        if not how and in_turn and column != hidden.name:
            how = nearly_in_turn(looked, hidden)
        if how and column == hidden.name:
            # New names for old values hide nothing, and are not meant to; an order kept by noise is.
            kept = ordered and how is not None and how.startswith(BY_ORDER)
            how = f"{IN_ORDER}{how.removeprefix(BY_ORDER)}" if kept and how else ""
        elif not how and text and column != hidden.name:
            how = BY_TEXT if holds_values(codes, values, hidden, at, least) else ""
        if how:
            yield Relation((column,), hidden.name, how)


@dataclass(frozen=True, eq=False)
class Looked:
    """A released column as it is looked at."""

    codes: Ints
    #: Which of its values can tell anything.
    usable: Flags
    #: Whether the order of its codes means something.
    ordered: bool
    #: The household of each record.
    homes: npt.NDArray[np.int32] | None
    #: The evidence that is asked for.
    least: float

    def relation(
        self, hidden: Hidden, at: Ints, least: float, *, alone: bool = False
    ) -> str | None:
        """Return how it tells hidden values of some records, members of a household taken together or each ``alone``."""
        homes = None if alone or self.homes is None else self.homes[at]
        told = self.codes[at], hidden.codes[at]
        return relation(*told, homes, least, ordered=self.ordered, running=hidden.running)


def relation_among(column: Looked, hidden: Hidden) -> str | None:
    """Return how a column tells hidden values: by the records that hide them and by all that look like these.

    Where they are too few for a conclusion, the other records say what the column tells.
    """
    codes, usable = column.codes, column.usable
    at = np.flatnonzero(usable & hidden.at)
    low, high = codes[at].min(), codes[at].max()
    between = (codes >= low) & (codes <= high)
    seen = np.zeros(codes.max() + 1, dtype=bool)
    seen[codes[at]] = True

    def look(where: Flags) -> str | None:
        how: str | None = ""
        for part in parts(np.flatnonzero(where)):
            how = column.relation(hidden, part, column.least)
            if how is None:
                break
        return how

    for part in parts(at):
        if column.relation(hidden, part, 0.0, alone=True) is None:
            return None
    how = look(usable & hidden.judged & between)
    if how == "":
        how = look(usable & hidden.known & between)
    if how:
        return how
    for where in (hidden.judged, hidden.known):
        alike = np.flatnonzero(usable & where & seen[codes])
        of = None if column.homes is None else column.homes[alike]
        if repeats_tell(codes[alike], hidden.codes[alike], of, column.least):
            return BY_VALUE
    return ""


def nearly_among(column: Looked, hidden: Hidden) -> str:
    """Return how a column tells all hidden values but a few; empty where it does not.

    The records that stand against a relation are left out, and the others must show it so clearly that this choice
    explains nothing.
    """
    seen = column.codes[column.usable & hidden.at]
    between = column.usable & (column.codes >= seen.min()) & (column.codes <= seen.max())
    for where in (hidden.judged, hidden.known):
        asked = np.flatnonzero(between & where)
        for follow in (most_common, rising, falling) if column.ordered else (most_common,):
            how = nearly(column, hidden, asked, follow)
            if how:
                return how + NEARLY
    return ""


def nearly(
    column: Looked, hidden: Hidden, asked: Ints, follow: Callable[[Ints, Ints], Flags]
) -> str | None:
    """Return the relation among the records that ``follow`` keeps, where it leaves out few."""
    for part in parts(asked):
        # Among some records there may by chance be more exceptions.
        slack = 1 if len(part) == len(asked) else 2
        kept = follow(column.codes[part], hidden.codes[part])
        if not is_few(~kept, slack):
            return None
    if kept.all() or not is_few(~kept[hidden.at[asked]]):
        return None
    n, out = len(asked), int((~kept).sum())
    chosen = gammaln(n + 1) - gammaln(out + 1) - gammaln(n - out + 1)
    return column.relation(hidden, asked[kept], column.least + float(chosen))


def nearly_in_turn(column: Looked, hidden: Hidden) -> str:
    """Return whether running numbers and hidden values in many steps stand at nearly the same place among the records."""
    at = np.flatnonzero(column.usable & hidden.known)
    n = len(at)
    # So many ways to choose the half that is near, each of which has its place by chance in one of FINE cases.
    if not hidden.at[at].any() or n / 2 * np.log(FINE / 4) < column.least:
        return ""
    place = np.argsort(np.argsort(column.codes[at], kind="stable"), kind="stable")
    _, y, sizes = np.unique(hidden.codes[at], return_inverse=True, return_counts=True)
    if (sizes**2).sum() * FINE > n * n:
        return ""
    first = (np.cumsum(sizes) - sizes)[y]
    last = first + sizes[y] - 1
    for there in (place, n - 1 - place):
        off = np.maximum(np.maximum(first - there, there - last), 0)
        if 2 * np.median(off) * FINE <= n:
            return BY_TURN
    return ""


def is_few(exceptions: Flags, times: float = 1) -> bool:
    """Return True where at most the share of exceptions is marked."""
    return bool(exceptions.sum() <= times * EXCEPTIONS * len(exceptions))


def most_common(r: Ints, y: Ints) -> Flags:
    """Return the records with the most common code ``y`` of their code ``r``."""
    pairs, at, n = np.unique(r * (y.max() + 1) + y, return_inverse=True, return_counts=True)
    of = pairs // (y.max() + 1)
    order = np.lexsort((-n, of))
    first = np.append(True, np.diff(of[order]) != 0)
    best = np.zeros(len(pairs), dtype=bool)
    best[order[first]] = True
    found: Flags = best[at.reshape(-1)]
    return found


def rising(r: Ints, y: Ints) -> Flags:
    """Return a longest run of records in which y never falls where r rises; none for columns that are not alike."""
    kept = np.zeros(len(r), dtype=bool)
    if len(r) < 2 or correlation_of_ranks(r, y) < ALIKE:
        return kept
    order = np.lexsort((y, r))
    last: list[int] = []
    ends: list[int] = []
    before = np.full(len(r), -1, dtype=np.int64)
    for i, value in enumerate(y[order].tolist()):
        place = bisect_right(last, value)
        if place:
            before[i] = ends[place - 1]
        if place == len(last):
            last.append(value)
            ends.append(i)
        else:
            last[place], ends[place] = value, i
    i = ends[-1]
    while i >= 0:
        kept[order[i]] = True
        i = int(before[i])
    return kept


def falling(r: Ints, y: Ints) -> Flags:
    """Return a longest run of records in which y never rises where r rises."""
    return rising(r, y.max() - y)


def correlation_of_ranks(r: Ints, y: Ints) -> float:
    """Return Spearman's correlation, ties at their middle; 0 where one column is constant."""
    one, other = (np.cumsum(n := np.bincount(c))[c] - n[c] / 2 for c in (r, y))
    if one.std() == 0 or other.std() == 0:
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])


def parts(at: Ints) -> list[Ints]:
    """Return some records of many, then all."""
    return [at[:: len(at) // FIRST], at] if len(at) > 2 * FIRST else [at]


def relation(
    r: Ints,
    y: Ints,
    homes: npt.NDArray[np.int32] | None,
    least: float,
    *,
    ordered: bool,
    running: bool,
) -> str | None:
    """Return how codes ``r`` tell codes ``y``; empty where nothing is shown yet, None where it is ruled out.

    Of ``running`` numbers a coarser copy must leave few.
    """
    order = np.lexsort((y, r))
    rs, ys = r[order], y[order]
    new_r, new_y = np.diff(rs) != 0, np.diff(ys) != 0
    if (new_y & ~new_r).any():
        coarser = steps(r, y, least, running=running) if ordered else None
        return coarser or (turns(r, y, least) if ordered else None)
    first = np.append(True, new_r)
    heads = ys[first]
    _, sizes = np.unique(ys, return_counts=True)
    _, among = np.unique(heads, return_counts=True)
    if len(sizes) == 1:
        return ""
    repeats = evidence_of_repeats(times_in_homes(r, homes) - len(heads), sizes)
    rises = np.diff(heads)
    stretches, shuffles = (
        1 + int((rises != 0).sum()),
        gammaln(len(heads) + 1) - gammaln(among + 1).sum(),
    )
    if stretches == len(among) and ((rises >= 0).all() or (rises <= 0).all()):
        return BY_ORDER if repeats + shuffles - np.log(2) >= least else ""
    if stretches == len(among):
        repeats += shuffles - gammaln(len(among) + 1)
    if repeats >= least and unusual_told(r, y):
        return BY_VALUE
    bent = turns(r, y, least) if ordered else None
    return bent or ""


def repeats_tell(r: Ints, y: Ints, homes: npt.NDArray[np.int32] | None, least: float) -> bool:
    """Return True when equal codes ``r`` always come with equal codes ``y``, too often for chance."""
    heads = len(np.unique(r))
    _, sizes = np.unique(y, return_counts=True)
    if len(np.unique(r * (y.max() + 1) + y)) > heads:
        return False
    again = times_in_homes(r, homes) - heads
    return evidence_of_repeats(again, sizes) >= least and unusual_told(r, y)


def unusual_told(r: Ints, y: Ints) -> bool:
    """Return True when codes ``r`` that occur again tell more than the usual code ``y``, such as zero beside zero."""
    again = np.bincount(r)[r] > 1
    unusual = y != np.bincount(y).argmax()
    return bool(unusual.any() and again[unusual].mean() >= TOLD)


def times_in_homes(r: Ints, homes: npt.NDArray[np.int32] | None) -> int:
    """Return how often codes occur, once for each household: its members share what is theirs."""
    return len(r) if homes is None else len(np.unique(r * (int(homes.max()) + 1) + homes))


def evidence_of_repeats(again: int, sizes: Ints) -> float:
    """Return how surprising it is that records which repeat the value of another do not have another hidden value."""
    return float(-again * np.log(((sizes / sizes.sum()) ** 2).sum()))


def steps(r: Ints, y: Ints, least: float, *, running: bool) -> str | None:
    """Return whether r never falls, or never rises, where y rises, in many steps; None where it does not."""
    order = np.lexsort((r, y))
    step = np.diff(r[order])
    if (step > 0).any() and (step < 0).any():
        return None
    _, sizes = np.unique(r, return_counts=True)
    left = (sizes**2).sum() / len(r)
    most = min(len(r) / FINE, FEW) if running else len(r) / FINE
    shuffles = gammaln(len(r) + 1) - gammaln(sizes + 1).sum() - np.log(2)
    return BY_STEPS if left <= most and shuffles >= least else ""


def holds_values(codes: Ints, values: pa.Array, hidden: Hidden, at: Ints, least: float) -> bool:
    """Return True when the text of nearly every record holds its hidden value, and that of another record seldom."""
    originals = hidden.values.cast(pa.string()).to_pylist()
    texts = values.to_pylist()

    def held(rows: Ints, others: Ints) -> Flags:
        pairs = zip(codes[rows], hidden.codes[others], strict=True)
        return np.array([originals[y] in texts[r] for r, y in pairs], dtype=bool)

    for part in parts(at):
        if not is_few(~held(part, part)):
            return False
    some = at[:: max(1, len(at) // FIRST)]
    by_chance = np.mean([held(some, np.roll(some, shift)).mean() for shift in (1, 2, 5)])
    return bool(-len(at) * np.log(max(by_chance, 1 / (len(some) + 1))) >= least)


def turns(r: Ints, y: Ints, least: float) -> str | None:
    """Return whether r follows from y, up and down in turn, with few turns; None where it does not."""
    order = np.lexsort((r, y))
    rs, ys = r[order], y[order]
    new_y, step = np.diff(ys) != 0, np.diff(rs)
    if (step[~new_y] != 0).any() or (step[new_y] == 0).any():
        return None
    sign = np.sign(step[new_y])
    n, bends = len(sign) + 1, int((np.diff(sign) != 0).sum())
    if bends > TURNS:
        return None
    return BY_TURNS if gammaln(n + 1) - n * np.log(bends + 1) - np.log(2) >= least else ""


# -- several columns of numbers ----------------------------------------------------------------------------


def sums_of(
    released: Microdata, columns: Sequence[str], secret: Sequence[Hidden]
) -> list[Relation]:
    """Return the hidden columns of numbers that are linear in released ones, or in their logarithms."""
    schema = released.frame.collect_schema()
    numbers = [c for c in columns if schema[c].is_numeric()][:WIDEST]
    asked = [h for h in secret if is_number(h.values.type)]
    if not numbers or not asked:
        return []
    x = np.column_stack([as_numbers(released.column(c), c).floats for c in numbers])
    found = []
    for hidden in asked:
        y = as_numbers(hidden.values, hidden.name).floats[np.where(hidden.known, hidden.codes, 0)]
        # What a column still tells of itself is seen by its order; a sum may not lean on it.
        others = [i for i, c in enumerate(numbers) if c != hidden.name]
        if not others:
            continue
        for how, from_x, from_y in ((BY_SUM, x, y), (BY_PRODUCT, logs(x), logs(y))):
            used = linear_in(from_x[:, others], from_y, hidden)
            if used is not None and used.any():
                names = tuple(numbers[i] for i, u in zip(others, used, strict=True) if u)
                found.append(Relation(names, hidden.name, how))
                break
    return found


def logs(x: Floats) -> Floats:
    """Return logarithms of sizes; zeros have none."""
    size = np.abs(x)
    return np.log(size, out=np.full_like(size, np.nan), where=size > 0)


def linear_in(x: Floats, y: Floats, hidden: Hidden) -> Flags | None:
    """Return which columns of x enter the linear relation that gives y; None without one.

    It is found by the records with hidden values, or by all where these are few.
    """
    known = hidden.known & np.isfinite(y)
    kept = mostly_known(x[known & hidden.at])
    complete = known & np.isfinite(x[:, kept]).all(axis=1)
    needed = kept.sum() + 1 + MORE
    if not kept.any() or not (complete & hidden.at).any():
        return None
    enough = (complete & hidden.at).sum() >= needed
    fitted, judged = (hidden.at, hidden.judged) if enough else (hidden.known, hidden.known)
    fitted, judged = fitted & complete, judged & complete
    if fitted.sum() < needed or np.ptp(y[fitted]) == 0:
        return None
    b, near = fit_line(x[fitted][:, kept], y[fitted], x[judged][:, kept], y[judged])
    if b is None and near:
        b = fit_most(x[judged][:, kept], y[judged], fitted[judged])
    if b is None:
        return None
    used = kept.copy()
    used[kept] = np.abs(b) > FACTOR
    return used


def mostly_known(x: Floats) -> Flags:
    """Return the columns of which so many are known that half of the records are complete."""
    kept = np.zeros(x.shape[1], dtype=bool)
    complete = np.ones(len(x), dtype=bool)
    finite = np.isfinite(x)
    for c in np.argsort((~finite).sum(axis=0), kind="stable"):
        if 2 * (complete & finite[:, c]).sum() >= len(x):
            kept[c] = True
            complete &= finite[:, c]
    return kept


def fit_line(x: Floats, y: Floats, all_x: Floats, all_y: Floats) -> tuple[Floats | None, bool]:
    """Return the factors, in standard deviations, of a linear relation that holds for all records, and whether most are near.

    There are no factors without such a relation.
    """
    middle, spread = x.mean(axis=0), x.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    level, size = y.mean(), y.std()
    some = slice(None, None, max(1, len(y) // FIRST))
    z = np.where(spread > 0, (x[some] - middle) / scale, 0.0)
    b = np.linalg.lstsq(
        np.column_stack([np.ones(len(z)), z]), (y[some] - level) / size, rcond=1e-10
    )[0]
    off = np.abs(b[0] + ((all_x - middle) / scale) @ b[1:] - (all_y - level) / size)
    if not np.isfinite(off).all():
        return None, False
    return (np.asarray(b[1:]) if off.max() <= OFF else None), bool(np.median(off) <= START)


def fit_most(x: Floats, y: Floats, hidden: Flags) -> Floats | None:
    """Return the factors of a linear relation that holds for nearly all records; None without one.

    The line is fitted again and again to the records that follow it best. It must hold where the number is not the
    usual one, such as zero, and more closely than these numbers lie together.
    """
    values, times = np.unique(y, return_counts=True)
    unusual = y != values[times.argmax()]
    asked = np.flatnonzero(unusual)
    if len(asked) < x.shape[1] + 1 + MORE or not len(values):
        return None
    spread = x.std(axis=0)
    z = np.column_stack([np.ones(len(x)), (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)])
    some = asked[:: max(1, len(asked) // FIRST)]
    best = some
    for _ in range(ROUNDS):
        b = np.linalg.lstsq(z[best], y[best], rcond=1e-10)[0]
        off = np.abs(y[some] - z[some] @ b)
        best = some[off <= np.quantile(off, BEST)]
        size = float(y[best].std())
        if not np.isfinite(off).all() or np.median(off) > START * size or size == 0:
            return None
    off = np.abs(y - z @ b)
    middle = float(np.median(np.abs(y[asked] - np.median(y[asked]))))
    if middle < 10 * OFF * size:
        return None
    close = off <= OFF * size
    if not all(
        is_few(~close[where]) for where in (unusual, hidden, unusual & hidden) if where.any()
    ):
        return None
    return np.asarray(b[1:] / size)
