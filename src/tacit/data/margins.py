"""Known totals: tables of categories with counts, as parameters, and placed on coded cells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator

from tacit.arrays import Flags, Ints
from tacit.engine.coded import Coded
from tacit.errors import InputError
from tacit.stats.margins import Margin

#: The column of a table of totals that holds the totals.
COUNT = "count"
#: Totals that should agree may differ by this share.
AGREE = 1e-6


def read_totals(given: Any) -> Any:
    """Return a table of totals as columns: from columns, from rows, from {column: {value: total}}, or from a frame."""
    if isinstance(given, list | tuple) and given and all(isinstance(r, Mapping) for r in given):
        names = list(dict.fromkeys(k for row in given for k in row))
        if any(set(row) != set(names) for row in given):
            raise ValueError("every row of a table of totals has the same columns")
        given = {n: [row[n] for row in given] for n in names}
    elif not isinstance(given, Mapping | list | tuple | str) and given is not None:
        given = read_frame(given)
    if not isinstance(given, Mapping):
        raise ValueError(  # noqa: TRY004 - pydantic's protocol
            "a table of totals is given as columns (with one named 'count'), as rows, or as {column: {value: total}}"
        )
    if len(given) == 1 and isinstance(next(iter(given.values())), Mapping):
        [(name, totals)] = given.items()
        given = {name: list(totals), COUNT: list(totals.values())}
    return check_totals({str(k): tuple(v) for k, v in given.items()})


def read_frame(frame: Any) -> Mapping[str, list[Any]]:
    """Return any frame's columns as lists."""
    import narwhals.stable.v2 as nw

    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise ValueError("a table of totals is a mapping or a frame") from None
    return {name: table.get_column(name).to_list() for name in table.columns}


def check_totals(table: Mapping[str, tuple[Any, ...]]) -> Mapping[str, tuple[Any, ...]]:
    """Refuse tables that no totals can be read from."""
    if COUNT not in table:
        raise ValueError("a table of totals has a column named 'count'")
    if len(table) < 2:
        raise ValueError("a table of totals has at least one column beside 'count'")
    if len({len(v) for v in table.values()}) != 1:
        raise ValueError("the columns of a table of totals are equally long")
    if not table[COUNT]:
        raise ValueError("a table of totals has at least one row")
    counts = table[COUNT]
    if any(isinstance(c, bool) or not isinstance(c, int | float) for c in counts):
        raise ValueError("the counts of a table of totals are numbers")
    if any(not math.isfinite(c) or c < 0 for c in counts):
        raise ValueError("the counts of a table of totals are not negative and not missing")
    return table


#: Columns of categories, and their totals in the column ``count``.
Totals = Annotated[Mapping[str, tuple[Any, ...]], BeforeValidator(read_totals)]


def columns_of(table: Mapping[str, tuple[Any, ...]]) -> tuple[str, ...]:
    """Return the columns that a table of totals is about."""
    return tuple(c for c in table if c != COUNT)


def describe(columns: Iterable[str]) -> str:
    """Return columns as the name of a margin."""
    return " x ".join(columns)


def find_codes(values: Sequence[Any], coded: Coded) -> Ints:
    """Return the code of each value, -1 where the column lacks it; a number in quotes is the number."""
    known = coded.values.to_pylist()
    exact = {v: i for i, v in enumerate(known)}
    texts = {str(v): i for i, v in enumerate(known)}

    def code(value: Any) -> int:
        if value is None:
            return coded.null
        try:
            found = exact.get(value)
        except TypeError:
            found = None
        return texts.get(str(value), -1) if found is None else found

    return np.array([code(v) for v in values], dtype=np.int64)


def check_agreement(
    tables: Sequence[Mapping[str, tuple[Any, ...]]], where: str, hint: str = ""
) -> None:
    """Refuse margins that contradict each other: on the columns that two share, their totals must agree."""
    for i, first in enumerate(tables):
        for second in tables[:i]:
            shared = [c for c in columns_of(second) if c in first]
            one, two = collapse(first, shared), collapse(second, shared)
            keys = one.keys() | two.keys()
            if any(differ(one.get(k, 0.0), two.get(k, 0.0)) for k in keys):
                on = f"their totals by {describe(shared)}" if shared else "their grand totals"
                raise InputError(
                    f"{where}: the margins {describe(columns_of(second))} and {describe(columns_of(first))} "
                    f"contradict each other: {on} differ. Correct one of them{hint}."
                )


def differ(one: float, two: float) -> bool:
    """Return whether two totals are not the same number."""
    return abs(one - two) > AGREE * max(abs(one), abs(two), 1.0)


def collapse(
    table: Mapping[str, tuple[Any, ...]], columns: Sequence[str]
) -> dict[tuple[str, ...], float]:
    """Return the totals of a table by some of its columns."""
    found: dict[tuple[str, ...], float] = {}
    for i, count in enumerate(table[COUNT]):
        key = tuple(str(table[c][i]) for c in columns)
        found[key] = found.get(key, 0.0) + float(count)
    return found


def recode_totals(
    table: Mapping[str, tuple[Any, ...]], categories: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, tuple[Any, ...]]:
    """Return a table of totals with categories joined; those that are not listed stay."""
    if not any(c in categories for c in columns_of(table)):
        return table
    columns = {
        c: [categories.get(c, {}).get(str(v), v) for v in table[c]] for c in columns_of(table)
    }
    sums: dict[tuple[Any, ...], float] = {}
    for *cell, count in zip(*columns.values(), table[COUNT], strict=True):
        sums[tuple(cell)] = sums.get(tuple(cell), 0) + count
    joined = zip(*sums, strict=True)
    return {**dict(zip(columns, joined, strict=True)), COUNT: tuple(sums.values())}


def rescale_to(
    table: Mapping[str, tuple[Any, ...]], standard: Mapping[str, tuple[Any, ...]]
) -> Mapping[str, tuple[Any, ...]]:
    """Return a table whose totals, on the columns that it shares with a standard, are those of the standard."""
    shared = [c for c in columns_of(standard) if c in table]
    mine, theirs = collapse(table, shared), collapse(standard, shared)
    counts = []
    for i, count in enumerate(table[COUNT]):
        key = tuple(str(table[c][i]) for c in shared)
        factor = theirs.get(key, 0.0) / mine[key] if mine[key] else 0.0
        counts.append(float(count) * factor)
    return {**table, COUNT: tuple(counts)}


def place_totals(
    table: Mapping[str, tuple[Any, ...]],
    cells: Mapping[str, Coded],
    occupied: Flags,
    where: str,
    *,
    rest: bool = False,
) -> Margin:
    """Return a table of totals as a margin over coded cells.

    ``occupied`` says which cells can be scaled at all. Refused: a category twice, a category of the cells without
    a total (its total is 0 when ``rest`` says so), and a positive total over cells that are all empty.
    """
    columns = columns_of(table)
    name = describe(columns)
    sizes = [cells[c].size for c in columns]
    codes = [find_codes(table[c], cells[c]) for c in columns]
    total = np.array(table[COUNT], dtype=np.float64)
    known = np.all([c >= 0 for c in codes], axis=0)
    rows = mix(codes, sizes)
    if len(np.unique(rows[known])) != int(known.sum()):
        raise InputError(
            f"{where}: the margin {name} lists a category twice. Give one total for each."
        )
    of_cell = mix([cells[c].codes.astype(np.int64) for c in columns], sizes)
    listed = np.sort(rows[known])
    place = np.searchsorted(listed, of_cell)
    found = np.zeros(len(of_cell), dtype=bool)
    if len(listed):
        found = listed[np.minimum(place, len(listed) - 1)] == of_cell
    if not rest and not found[occupied].all():
        raise InputError(
            f"{where}: the margin {name} lacks a total for some categories that occur. Add them, or recode the data to "
            "the categories of the margin."
        )
    order = np.argsort(rows[known], kind="stable")
    totals = total[known][order]
    filled = np.bincount(place[found & occupied], minlength=len(listed)) > 0
    if bool((totals[~filled] > 0).any()) or bool((total[~known] > 0).any()):
        raise InputError(
            f"{where}: the margin {name} has a positive total for categories in which there is nothing to scale. Merge "
            "these categories with others."
        )
    # Cells outside of the list are empty, or to become so.
    group = np.where(found, place, len(totals)).astype(np.int64)
    return Margin(group, np.append(totals, 0.0))


def mix(codes: Sequence[Ints], sizes: Sequence[int]) -> Ints:
    """Return one number for several codes; margins are small enough for 64 bits."""
    ids = np.zeros(len(codes[0]), dtype=np.int64)
    for column, size in zip(codes, sizes, strict=True):
        ids = ids * size + column
    return ids
