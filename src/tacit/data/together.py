"""Households and linked columns around a step: what is warned of before, and treated together after, the work.

A value that was suppressed or changed in one place must not stand as it was in another: with the other
members of the household where a column is constant there, in a linked column of the same record, or in the
number of records of the household. The functions act on frames of the engine, so that they do the same to a
method on the records as to one on the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.arrays import Floats
from tacit.data.in_blocks import constant_in_households
from tacit.data.links import counts_members, determines, pairs_of
from tacit.data.microdata import Microdata
from tacit.engine.base import ROW
from tacit.engine.relational import N, count_where, counts
from tacit.treatment import OnHousehold, OnLinks

#: A copy of the leading column, to be turned into the one that follows it.
FOLLOWER = "__follower__"
SUPPRESSES = ("suppressed", "suppressed_or_warned")


@dataclass(frozen=True)
class Ways:
    """How a step treats households and links, with its parameters as they are."""

    #: The step, for messages.
    kind: str
    #: household, links: its words (see :mod:`tacit.treatment`).
    household: OnHousehold
    links: OnLinks
    #: The columns whose values it may change.
    changed: tuple[str, ...]
    #: Columns that other steps change, before or after it.
    elsewhere: frozenset[str] = field(default_factory=frozenset)
    #: True when columns are changed at random, each by itself.
    draws: bool = False


# -- before the work -----------------------------------------------------------------------------------


def open_ends(data: Microdata, ways: Ways) -> list[str]:
    """Return a sentence for each column that will still tell what the step hides."""
    found = []
    if data.household is not None and ways.household == "apart":
        shared = constant_in_households(data, list_values(data, ways.changed))
        found += [
            f"column {c!r} is constant in households, and members are changed apart, so that the other members may tell what one of them had."
            for c in shared
        ]
    if ways.links not in ("records", "unused"):
        found += [*untreated_links(data, ways), *still_counted(data, ways)]
    return found


def list_values(data: Microdata, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that are in the data and neither name people nor households."""
    apart = {*data.identifiers, data.household}
    return tuple(c for c in columns if c in data.columns and c not in apart)


def untreated_links(data: Microdata, ways: Ways) -> list[str]:
    """Return a sentence for each linked column that stays, or that is drawn apart from its partner."""
    found = []
    for c in list_values(data, ways.changed):
        for other in data.linked_with(c):
            if ways.links == "suppressed" or (
                ways.links == "carried" and determines(data, c, other)
            ):
                continue
            if other not in ways.changed and other not in ways.elsewhere:
                found.append(
                    f"column {other!r} is linked with {c!r} and stays as it is, so that it still tells {c!r}. Treat or drop it as well."
                )
            elif (
                other in ways.changed
                and ways.draws
                and ways.changed.index(c) < ways.changed.index(other)
            ):
                found.append(
                    f"columns {c!r} and {other!r} are linked and changed at random apart, so that together they tell more than each. Drop one of them."
                )
    return found


def still_counted(data: Microdata, ways: Ways) -> list[str]:
    """Return a sentence for each changed column that counting the records of a household restores."""
    home = data.household
    if home is None or home in ways.changed or home in ways.elsewhere:
        return []
    found = counts_members(data, list_values(data, ways.changed))
    if ways.links in SUPPRESSES:
        # Declared, it goes as was asked for; found, it goes all the same, and is told.
        return [
            f"column {c!r} counts the members of a household, so that where it is suppressed the household number in "
            f"{home!r} goes as well. Declare links=[[{home!r}, {c!r}]] to say that this is wanted, or drop {home!r}."
            for c in found
            if c not in data.counting
        ]
    return [
        f"column {c!r} counts the members of a household, so that counting records with the same {home!r} restores it. "
        f"Drop {home!r}, or leave the column as it is."
        for c in found
    ]


def list_counting(data: Microdata, columns: Sequence[str]) -> tuple[str, ...]:
    """Return those of some columns that count the members of a household, declared or found."""
    found = {*data.counting, *counts_members(data, columns)}
    return tuple(c for c in columns if c in found)


# -- after the work ------------------------------------------------------------------------------------


def carry_linked(
    before: Microdata, after: Microdata, ways: Ways
) -> tuple[Microdata, dict[str, str]]:
    """Return the data with linked columns that follow the changed ones, and which follows which.

    The column that follows gets the value that always stood beside the new value of the leading one. Where
    either is missing it stays as it is.
    """
    followers: dict[str, str] = {}
    for c in list_values(before, ways.changed):
        if c in followers or c not in after.columns:
            continue
        for other in before.linked_with(c):
            if other in followers or other not in after.columns:
                continue
            if determines(before, c, other):
                after, followers[other] = follow(before, after, c, other), c
    return after, followers


def follow(before: Microdata, after: Microdata, leader: str, follower: str) -> Microdata:
    """Return the data with one column set to what stood beside the values of another."""
    pairs = pairs_of(before, leader, follower)
    mapping = pa.table({"old": pairs.column(leader), "new": pairs.column(follower)})
    copied = after.with_frame(after.frame.with_columns(nw.col(leader).alias(FOLLOWER)))
    told = copied.materialise().recode(FOLLOWER, mapping)
    stays = nw.col(follower).is_null() | nw.col(leader).is_null()
    new = nw.when(stays).then(nw.col(follower)).otherwise(nw.col(FOLLOWER)).alias(follower)
    frame = told.frame.with_columns(new).select(*after.frame.collect_schema().names())
    return after.with_frame(frame).materialise()


@dataclass(frozen=True)
class Suppressed:
    """What was suppressed together: columns constant in households, linked groups, counts of members."""

    constant: tuple[str, ...] = ()
    links: tuple[tuple[str, ...], ...] = ()
    counting: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Return every column concerned, each once."""
        linked = [c for group in self.links for c in group]
        return tuple(dict.fromkeys([*self.constant, *linked, *self.counting]))


def suppress_together(
    before: Microdata, after: Microdata, changed: Sequence[str]
) -> tuple[Microdata, Suppressed]:
    """Return the data with what a step suppressed also gone where it would still stand.

    Where one member of a household lost a value of a column that is constant in households, all lose it.
    Where one of several linked values of a record is missing, all are. Where a column that counts the members
    of a household is missing, so is the household's number, whether that was declared or is seen.
    """
    home = before.household
    touched = newly_missing(before, after, list_values(before, changed))
    links = tuple(
        kept
        for group in before.links
        if len(kept := tuple(c for c in group if c != home and c in after.columns)) > 1
        and touched & set(kept)
    )
    concerned = tuple(dict.fromkeys([*sorted(touched), *(c for g in links for c in g)]))
    if not concerned:
        return after, Suppressed()
    constant = constant_in_households(before, concerned) if home in after.columns else ()
    counting = list_counting(before, concerned) if home in after.columns else ()
    frame = after.frame
    # Links first, then members, then links of those members: after that nothing changes any more.
    for _ in range(2):
        for group in links:
            frame = without_all(frame, group, group)
        if constant and home is not None:
            frame = spread_to_members(frame, constant, home)
    if counting and home is not None:
        frame = without_all(frame, counting, (*counting, home))
    result = after.with_frame(frame).materialise()
    return result, Suppressed(constant, links, counting)


def without_all(
    frame: nw.LazyFrame[Any], asked: Sequence[str], columns: Sequence[str]
) -> nw.LazyFrame[Any]:
    """Return the frame with all of some columns missing where one of those asked about is."""
    gone = nw.any_horizontal(*[nw.col(c).is_null() for c in asked], ignore_nulls=True)
    return frame.with_columns(*[nw.when(~gone).then(nw.col(c)).alias(c) for c in columns])


def spread_to_members(
    frame: nw.LazyFrame[Any], columns: Sequence[str], home: str
) -> nw.LazyFrame[Any]:
    """Return the frame with a value missing for all members of a household where one lacks it."""
    own = nw.col(home).is_null()
    expressions = []
    for c in columns:
        lacking = nw.col(c).is_null().cast(nw.Int64).max().over(home) > 0
        expressions.append(nw.when(own | ~lacking).then(nw.col(c)).alias(c))
    return frame.with_columns(*expressions)


def count_going_together(data: Microdata, columns: Sequence[str]) -> Floats:
    """Return how many cells go, on average, where one of each column does: linked ones, and those of members."""
    constant = constant_in_households(data, columns)
    counting = list_counting(data, columns)
    per_record = np.array([1.0 + len(data.linked_with(c)) + (c in counting) for c in columns])
    if not constant or data.household is None:
        return per_record
    homes = counts(data.frame.filter(~nw.col(data.household).is_null()), [data.household])
    size = homes.select(nw.col(N)).collect("pyarrow").get_column(N).to_numpy().astype(np.float64)
    members = float((size**2).sum() / size.sum())
    return per_record * np.array([members if c in constant else 1.0 for c in columns])


@dataclass(frozen=True)
class Gone:
    """How many cells a step made missing: by column, in all, and in how many records."""

    columns: Mapping[str, int]
    cells: int
    records: int


def count_suppressed(before: Microdata, after: Microdata) -> Gone:
    """Return what is missing in the result and was known in the data."""
    names = [c for c in before.columns if c in after.columns]
    was = {c: f"__was{i}__" for i, c in enumerate(names)}
    old = before.frame.select(ROW, *[nw.col(c).is_null().alias(w) for c, w in was.items()])
    both = after.frame.select(*names, ROW).join(old, on=ROW, how="inner")
    lost = [nw.col(c).is_null() & ~nw.col(w) for c, w in was.items()]
    *told, records = count_where(both, [*lost, nw.any_horizontal(*lost, ignore_nulls=True)])
    columns = {c: n for c, n in zip(names, told, strict=True) if n}
    return Gone(columns, sum(told), records)


def newly_missing(before: Microdata, after: Microdata, columns: Sequence[str]) -> set[str]:
    """Return the columns of which the result lacks more values than the data did."""
    asked = [c for c in columns if c in after.columns]
    gone = [nw.col(c).is_null() for c in asked]
    was, now = (count_where(data.frame, gone) for data in (before, after))
    return {c for c, old, new in zip(asked, was, now, strict=True) if new > old}
