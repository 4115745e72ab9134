"""What columns tell about each other: one determines another, or counts the members of a household."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import narwhals.stable.v2 as nw
import pyarrow as pa

from tacit.data.microdata import Microdata
from tacit.engine.names import aggregate
from tacit.engine.relational import N, count_where, counts

#: Share of households of two and more whose size a column must give for it to count their members.
COUNTS = 0.95
#: A column with more different values than this is linked with nothing that a count of pairs could show.
MOST_VALUES = 2_000


def pairs_of(data: Microdata, one: str, other: str) -> pa.Table:
    """Return the pairs of known values of two columns that occur, each once, ascending."""
    known = data.frame.filter(~nw.col(one).is_null() & ~nw.col(other).is_null())
    found: pa.Table = counts(known, [one, other]).collect("pyarrow").to_native()
    return found.select([one, other]).sort_by([(one, "ascending"), (other, "ascending")])


def determines(data: Microdata, one: str, other: str) -> bool:
    """Return True when no known value of a column stands beside two known values of the other."""
    known = data.frame.filter(~nw.col(one).is_null() & ~nw.col(other).is_null())
    beside = counts(known, [one, other]).group_by(one).agg(nw.len().cast(nw.Int64).alias(N))
    most = beside.select(nw.col(N).max()).collect("pyarrow").rows(named=True)[0][N]
    return int(most or 0) <= 1


def counts_members(
    data: Microdata, columns: Sequence[str], least: float = COUNTS
) -> tuple[str, ...]:
    """Return those of some columns, which hold numbers, that give the number of records of a household.

    ``least`` is the share of households, of two and more members where there are such, that must be right.
    """
    home = data.household
    schema = data.frame.collect_schema()
    asked = [c for c in columns if c != home and c in schema and schema[c].is_numeric()]
    if home is None or not asked:
        return ()
    size = nw.len().cast(nw.Int64).alias(N)
    ends = [
        e
        for i, c in enumerate(asked)
        for e in (nw.col(c).min().alias(f"low{i}"), nw.col(c).max().alias(f"high{i}"))
    ]
    homes = aggregate(data.frame.filter(~nw.col(home).is_null()), [home], size, *ends)
    several = nw.col(N) > 1
    facts = [several]
    for i in range(len(asked)):
        low, high = nw.col(f"low{i}"), nw.col(f"high{i}")
        known = ~low.is_null()
        right = (known & (low == nw.col(N)) & (high == nw.col(N))).fill_null(value=False)
        facts += [known, right, known & several, right & several]
    large, *told = count_where(homes, facts)
    known_at = 2 if large else 0
    shares = zip(told[known_at::4], told[known_at + 1 :: 4], strict=True)
    return tuple(
        c for c, (n, same) in zip(asked, shares, strict=True) if same and same >= least * n
    )


def find_links(
    data: Microdata, values: Mapping[str, int], household: str | None
) -> list[list[str]]:
    """Return groups of columns that the data show to tell each other.

    Two columns of the same number of values, of which each value of one always stands beside one value of the
    other; and columns that count the members of the household. Columns with a value for nearly every record
    say nothing in this way, and are left out. ``values`` are the columns to look at, with the number of different values
    of each; ``household`` names the household, declared or proposed.
    """
    most = min(MOST_VALUES, len(data) // 2)
    few = [c for c, n in values.items() if 1 < n <= most and c != household]
    groups: list[list[str]] = []
    for one, other in itertools.combinations(few, 2):
        if values[one] != values[other] or any({one, other} <= set(g) for g in groups):
            continue
        if determines(data, one, other) and determines(data, other, one):
            group = next((g for g in groups if one in g or other in g), None)
            if group is None:
                groups.append([one, other])
            else:
                group += [c for c in (one, other) if c not in group]
    if household is not None:
        described = replace(data.columns[household], roles=frozenset({"household"}))
        homes = data.with_columns_described({household: described})
        counting = counts_members(homes, list(values))
        if counting:
            groups.append([household, *counting])
    return groups
