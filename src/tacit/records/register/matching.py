"""Linking a release to a population register: the people that each released record could be.

The candidates of a released record are the members of the register whose ground values generalise to
the released ones (Sweeney's relation g). A released value may stand at any level of its hierarchy; a
missing value or a top matches everybody; a text that is no label of the hierarchy matches nobody. A
member whose own value is missing is matched by missing values and tops only.

Nothing is compared pair by pair. Released records are grouped by the vector of levels at which their
values stand; for each such vector the register, reduced to coded cells by the engine, is counted once
at those levels and the records look their numbers up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.hierarchy import TOP, ground_label
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.engine.base import ROW
from tacit.engine.codes import encode, group_ids
from tacit.engine.subsets import unordered_cells
from tacit.errors import ColumnNotFound, InputError, RoleMissing
from tacit.fields import OneQuasi, Subject
from tacit.reveal import reveal
from tacit.spec import Companions, Measure, Role

#: Codes that match nothing: a text that is no label, and a member without a value.
NO_MATCH, UNKNOWN = -1, -2


class SubjectMeasure(Measure):
    """Base of measures that ask whether records lead to the people of the original data."""

    quasi: OneQuasi = None
    subject: Subject = None

    needs: ClassVar[frozenset[Role]] = frozenset({"keys"})
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    compares: ClassVar[bool] = True


@dataclass(frozen=True)
class Linked:
    """What linking a release to a register shows, one entry per released record."""

    #: Members of the register that the record could be.
    candidates: Ints
    #: Candidates among the subjects, the people of the original data; None without the original.
    in_subjects: Ints | None
    #: True when the record stems from the original (added records do not).
    has_subject: Flags
    #: True when the record's own subject is among its candidates.
    covers: Flags
    #: Released records that have this record's subject among their candidates (0 without subject).
    reached: Ints
    #: Size of the register and number of subjects.
    n_register: int
    n_subjects: int

    @property
    def n(self) -> int:
        """Return the number of released records."""
        return len(self.candidates)

    @property
    def pseudo_entities(self) -> int:
        """Return how many released records match nobody in the register."""
        return int((self.candidates == 0).sum())

    def frame(self, **extra: Any) -> nw.DataFrame[Any]:
        """Return the detail, one row per released record, by position from 0."""
        columns: dict[str, Any] = {"position": np.arange(self.n), "candidates": self.candidates}
        if self.in_subjects is not None:
            columns["subjects"] = self.in_subjects
            columns["covers_own_subject"] = self.covers
        return as_frame({**columns, **extra})


def link(
    data: Microdata, other: Companions, quasi: str | None, subject: str | None, ctx: Context
) -> Linked:
    """Link released data to a register (or to the original, which then stands for the population)."""
    keys = data.keys if quasi is None else data.quasi_identifiers(quasi)[quasi]
    if not keys:
        raise RoleMissing("no keys are declared. Declare them with tacit.read(..., keys=[...]).")
    original = other.original if other.has_original else None
    register = other.register if other.has_register else original or data
    scales, live, members, n, rows = place_on_scales(data, register, keys, ctx)
    # The subjects, the people of the original data: their ground values in the register by identifier, else in the
    # original, and the place among them of each released record's own.
    places: dict[str, npt.NDArray[np.int32]] = {}
    of_record, everyone = np.full(len(rows), -1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    found = 0
    if original is not None:
        require(original, keys, "the original data")
        if subject is None or register is original:
            table = original.to_arrow(live, with_row=True)
        else:
            table = by_identifier(original, register, live, subject)
        for key in live:
            coded = encode(table.column(key))
            places[key] = scales[key].positions(coded.values, key)[coded.codes]
        everyone = original.to_arrow([], with_row=True).column(ROW).to_numpy()
        of_record, found = index_of(rows, table.column(ROW).to_numpy()), table.num_rows
    candidates, in_subjects = np.zeros((2, len(rows)), dtype=np.int64)
    covers = np.zeros(len(rows), dtype=bool)
    reached, ones = np.zeros(found, dtype=np.int64), np.ones(found, dtype=np.int64)
    # Level vector by level vector: members and subjects for records, and records for subjects.
    for levels, here in level_vectors(scales, live, len(rows)):
        ctx.tick("counting candidates")
        records = [scales[k].code[here] for k in levels]
        lifted = [scales[k].lift(level, members[k]) for k, level in levels.items()]
        candidates[here] = sum_equal_tuples(records, lifted, n, here)
        if original is None:
            continue
        subjects = [scales[k].lift(level, places[k]) for k, level in levels.items()]
        in_subjects[here] = sum_equal_tuples(records, subjects, ones, here)
        reached += sum_equal_tuples(subjects, records, np.ones(len(here), dtype=np.int64), ones)
        own = of_record[here]
        same = own >= 0
        for code, theirs in zip(records, subjects, strict=True):
            same[same] = code[same] == theirs[own[same]]
        covers[here] = same
    return Linked(
        candidates=candidates,
        in_subjects=None if original is None else in_subjects,
        has_subject=index_of(rows, everyone) >= 0,
        covers=covers,
        reached=np.append(reached, 0)[of_record],
        n_register=int(n.sum()),
        n_subjects=len(everyone),
    )


def place_on_scales(
    data: Microdata, register: Microdata, keys: Sequence[str], ctx: Context
) -> tuple[dict[str, Scale], list[str], dict[str, npt.NDArray[np.int32]], Ints, Ints]:
    """Return the scales of keys, the keys that say something, the register as cells, and the released row numbers."""
    require(register, keys, "the register")
    released = data.to_arrow(list(keys), with_row=True)
    scales = {k: Scale.of(k, released.column(k), data, register) for k in keys}
    # A key says nothing when every released value is missing or a top.
    live = [k for k in keys if (scales[k].level != scales[k].top).any()]
    ctx.tick("reducing the register to cells")
    return scales, live, *reduce_register(register, live, scales), released.column(ROW).to_numpy()


def require(data: Microdata, columns: Sequence[str], where: str) -> None:
    """Say which columns a companion lacks."""
    missing = [c for c in columns if c not in data.columns]
    if missing:
        raise ColumnNotFound(missing, list(data.columns), where)


@dataclass(frozen=True)
class Scale:
    """The levels of one key, and where the released values stand on them."""

    #: The ground labels' positions.
    ground: Mapping[str, int]
    #: True without a hierarchy: values outside ``ground`` are not released and share one more position.
    is_open: bool
    #: For each level: each ground position's code; at the last, the top, everybody agrees.
    maps: tuple[npt.NDArray[np.int32], ...]
    #: The level and the code of each released record's value; code NO_MATCH matches nobody.
    level: npt.NDArray[np.int16]
    code: npt.NDArray[np.int32]

    @classmethod
    def of(cls, key: str, released: pa.ChunkedArray, data: Microdata, register: Microdata) -> Scale:
        """Place the released values of a key on the levels of its hierarchy.

        The register's hierarchy counts, else the data's; without one a value is as it is, or
        suppressed.
        """
        coded = encode(released)
        texts = [ground_label(v) for v in coded.values.to_pylist()]
        hierarchy = register.hierarchies.get(key, data.hierarchies.get(key))
        if hierarchy is None:
            ground: Mapping[str, int] = {t: i for i, t in enumerate(dict.fromkeys(texts))}
            everybody = np.zeros(len(ground) + 1, dtype=np.int32)
            maps: tuple[npt.NDArray[np.int32], ...] = (
                np.arange(len(ground) + 1, dtype=np.int32),
                everybody,
            )
            places, tops = {t: (0, i) for t, i in ground.items()}, {TOP}
        else:
            ground, maps = hierarchy.position, hierarchy.up
            # A label that stands on several levels does so in one branch, where padding repeats it: the highest
            # place holds the others.
            places = {
                label: (level, code)
                for level, labels in enumerate(hierarchy.labels[:-1])
                for code, label in enumerate(labels)
            }
            tops = {TOP, hierarchy.top}
        levels = np.full(coded.size, len(maps) - 1, dtype=np.int16)
        codes = np.zeros(coded.size, dtype=np.int32)
        for i, text in enumerate(texts):
            if text not in tops:
                levels[i], codes[i] = places.get(text, (0, NO_MATCH))
        return cls(ground, hierarchy is None, maps, levels[coded.codes], codes[coded.codes])

    @property
    def top(self) -> int:
        """Return the level at which everybody agrees."""
        return len(self.maps) - 1

    @property
    def representative(self) -> npt.NDArray[np.int32]:
        """Return for each ground position one that equals it at every level that is used.

        The last two entries serve positions NO_MATCH and UNKNOWN.
        """
        lowest = int(self.level.min(initial=self.top))
        ground = np.arange(len(self.maps[0]), dtype=np.int32)
        if lowest > 0:
            codes = self.maps[lowest]
            first = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.int32)
            first[codes[::-1]] = ground[::-1]
            ground = first[codes]
        return np.append(ground, np.array([UNKNOWN, NO_MATCH], dtype=np.int32))

    def lift(self, level: int, positions: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Return the codes of ground positions at a level; one without a value matches the top only."""
        lifted = self.maps[level][np.maximum(positions, 0)] if len(self.maps[0]) else positions
        return lifted if level == self.top else np.where(positions < 0, UNKNOWN, lifted)

    def positions(self, values: pa.Array, key: str) -> npt.NDArray[np.int32]:
        """Return the ground positions of values, with one more entry for null."""
        other = len(self.ground) if self.is_open else NO_MATCH
        known = [self.ground.get(ground_label(v), other) for v in values.to_pylist()]
        if NO_MATCH in known:
            raise InputError(
                f"the hierarchy of column {key!r} does not cover {known.count(NO_MATCH)} of the "
                f"{len(known)} different values in the register. Read the register with a hierarchy "
                "for this column. "
                + reveal(
                    f"Values of {key!r} in the register that the hierarchy lacks",
                    [v for v, k in zip(values.to_pylist(), known, strict=True) if k == NO_MATCH],
                )
            )
        return np.array([*known, UNKNOWN], dtype=np.int32)


def reduce_register(
    register: Microdata, live: Sequence[str], scales: Mapping[str, Scale]
) -> tuple[dict[str, npt.NDArray[np.int32]], Ints]:
    """Return the register as cells: ground positions of each key that matters, and counts."""
    if not live:
        return {}, np.array([len(register)], dtype=np.int64)
    cells = unordered_cells(register.frame, live, register.engine)
    members = {
        k: scales[k].representative[scales[k].positions(c.values, k)[c.codes]]
        for k, c in cells.keys.items()
    }
    ids, bound = group_ids(
        [m - UNKNOWN for m in members.values()], [len(scales[k].maps[0]) + 2 for k in live]
    )
    n = np.bincount(ids, weights=cells.n, minlength=bound).astype(np.int64)
    first = np.zeros(bound, dtype=np.int64)
    first[ids] = np.arange(len(ids))
    occurs = np.flatnonzero(n)
    return {k: m[first[occurs]] for k, m in members.items()}, n[occurs]


def by_identifier(
    original: Microdata, register: Microdata, keys: Sequence[str], subject: str
) -> pa.Table:
    """Return the register's key values for each subject, with the subject's record number."""
    require(original, [subject], "the original data")
    require(register, [subject], "the register")
    identity = "__subject__"
    ids = original.to_arrow([subject], with_row=True).rename_columns([identity, ROW])
    values = [k for k in keys if k != subject]
    found = register.frame.select(*values, subject)
    joined = found.join(
        register.engine.from_arrow(ids), left_on=subject, right_on=identity, how="inner"
    )
    table = register.engine.to_arrow(joined.select(*dict.fromkeys([*keys, ROW])))
    numbers = table.column(ROW).to_numpy()
    if len(np.unique(numbers)) < len(numbers):
        raise InputError(
            f"column {subject!r} does not identify the members of the register: a subject has several "
            "entries. Name a column that is unique in the register."
        )
    return table


def index_of(wanted: Ints, known: Ints) -> Ints:
    """Return the position in ``known`` of each wanted number, or -1."""
    found = pc.index_in(pa.array(wanted, pa.int64()), value_set=pa.array(known, pa.int64()))
    return found.fill_null(-1).to_numpy().astype(np.int64)


def level_vectors(
    scales: Mapping[str, Scale], live: Sequence[str], n: int
) -> Iterator[tuple[dict[str, int], Ints]]:
    """Yield each vector of levels that occurs, with the records that have it and match somebody."""
    possible = np.ones(n, dtype=bool)
    for key in live:
        possible &= scales[key].code != NO_MATCH
    rows = np.flatnonzero(possible)
    if not len(rows):
        return
    sizes = [len(scales[k].maps) for k in live]
    ids, _ = group_ids([scales[k].level[rows] for k in live], sizes, n_rows=len(rows))
    order = np.argsort(ids, kind="stable")
    cuts = np.flatnonzero(np.diff(ids[order])) + 1
    for part in np.split(rows[order], cuts):
        levels = {k: int(scales[k].level[part[0]]) for k in live}
        yield {k: v for k, v in levels.items() if v != scales[k].top}, part


def sum_equal_tuples(
    wanted: Sequence[npt.NDArray[Any]], known: Sequence[npt.NDArray[Any]], n: Ints, rows: Ints
) -> Ints:
    """Return, for each wanted tuple, the sum of ``n`` over the known tuples equal to it."""
    return np.rint(sum_where_equal(wanted, known, n, len(rows))).astype(np.int64)


def sum_where_equal(
    wanted: Sequence[npt.NDArray[Any]],
    known: Sequence[npt.NDArray[Any]],
    amounts: npt.NDArray[Any],
    n_wanted: int,
) -> Floats:
    """Return, for each wanted tuple, the sum of the amounts of the known tuples equal to it."""
    if not wanted:
        return np.full(n_wanted, float(amounts.sum()))
    both = [
        np.concatenate([a, b]).astype(np.int64) - UNKNOWN
        for a, b in zip(wanted, known, strict=True)
    ]
    ids, bound = group_ids(both, [int(c.max(initial=0)) + 1 for c in both])
    split = len(wanted[0])
    sums = np.bincount(ids[split:], weights=amounts, minlength=bound)
    return sums[ids[:split]].astype(np.float64)
