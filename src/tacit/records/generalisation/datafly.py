"""Datafly II: generalise whole columns until few records are left over, then drop those."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from tacit.arrays import Flags, Ints
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import tuples_at
from tacit.engine.codes import Cells, Coded, dense_ids, group_ids
from tacit.engine.relational import drop_matching
from tacit.engine.subsets import unordered_cells
from tacit.errors import Infeasible, RoleMissing, SdcError, WeakProtection
from tacit.fields import ClassSize, IdentifierColumns, Probability
from tacit.registry import register
from tacit.spec import Method, Role


@register
class Datafly(Method):
    """Generalise whole columns, most distinct values first, until at most max_drop records are left over.

    While more than ``max_drop`` records stand in classes smaller than k, the column with the largest
    (profile, number of distinct values, -level/height, -position) is raised one level; then the
    records left over are dropped. With several quasi-identifiers the loop runs until every one holds.

    The choice of column follows Sweeney's description; ties are broken by relative level and then by
    column order, which reproduces her Figure 29.

    References
    ----------
    Sweeney (1997), Datafly: a system for providing anonymity in medical data, IFIP TC11 WG11.3, 356-381.
    """

    kind: Literal["datafly"] = "datafly"
    k: ClassSize | None = Field(
        default=None, description="smallest class size allowed; or give anonymity_level"
    )
    max_drop: float = Field(
        default=0, ge=0, description="records that may be dropped: a number, or a share below 1"
    )
    anonymity_level: Probability | None = Field(
        default=None,
        description="level A in [0, 1] instead of k: 0 changes nothing, 1 suppresses all keys, else k = floor(A N / 100)",
    )
    distortion: Mapping[str, Probability] = Field(
        default_factory=dict,
        description="profile 1: how much distortion of a column the recipient tolerates (default 1)",
    )
    linking: Mapping[str, Probability] = Field(
        default_factory=dict,
        description="profile 2: how likely a column is used for linking (default 1; 0 leaves it out)",
    )
    identifiers: IdentifierColumns = "drop"
    per_attribute: bool = Field(
        default=False, description="the older Datafly: each key by itself must reach k"
    )

    on_household = "by_value"
    needs: ClassVar[frozenset[Role]] = frozenset({"keys"})
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"
    example: ClassVar[Mapping[str, Any]] = {"k": 2, "max_drop": 4}
    techniques: ClassVar[tuple[str, ...]] = ("generalise values", "suppression (tuple)")

    @model_validator(mode="after")
    def _one_requirement(self) -> Datafly:
        if (self.k is None) == (self.anonymity_level is None):
            raise ValueError("give either k or anonymity_level")
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns of the two profiles."""
        return tuple(dict.fromkeys([*self.distortion, *self.linking]))

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: keys without hierarchy, k that no release can meet."""
        found = super().faults(data)
        found += [
            RoleMissing(
                f"datafly: key {key!r} has no hierarchy. Give one, or tacit.hierarchy.flat() to allow suppression only."
            )
            for key in data.keys
            if key not in data.hierarchies and self.linking.get(key, 1.0) > 0
        ]
        n = len(data)
        k = self.requirement(n)
        if k > max(n - drop_limit(self.max_drop, n), 0) and n > 0:
            found.append(
                Infeasible(
                    f"datafly: k = {k} cannot be met: there are not that many records to keep. Choose a smaller k."
                )
            )
        return found

    def requirement(self, n: int) -> int:
        """Return k for n records."""
        if self.anonymity_level is not None:
            return k_for_level(self.anonymity_level, n)
        return self.k or 1

    def groups(self, data: Microdata) -> dict[str, tuple[str, ...]]:
        """Return the groups of columns that must each reach k."""
        trusted = {key for key, chance in self.linking.items() if chance == 0}
        groups = {
            name: tuple(c for c in keys if c not in trusted) for name, keys in data.quasi.items()
        }
        if self.per_attribute:
            groups = {f"{name}: {c}": (c,) for name, keys in groups.items() for c in keys}
        return {name: keys for name, keys in groups.items() if keys}

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        n = len(data)
        k = self.requirement(n)
        if self.identifiers == "drop":
            data = data.drop(data.identifiers)
        if k == 1 and self.anonymity_level != 1:
            warnings.warn("datafly: k = 1 asks for no protection", WeakProtection, stacklevel=3)
        groups = self.groups(data)
        keys = tuple(dict.fromkeys(c for group in groups.values() for c in group))
        cells = unordered_cells(data.frame, keys, data.engine)
        search = Search.start(data, cells, groups, k)
        profile = {key: self.distortion.get(key, 1.0) * self.linking.get(key, 1.0) for key in keys}
        if self.anonymity_level == 1:
            search = search.at({key: data.hierarchy(key).height for key in keys})
        limit = drop_limit(self.max_drop, n)
        trace = [search.row()]
        while search.dropped > limit:
            key = search.next_key(profile)
            if key is None:
                raise Infeasible(
                    f"datafly: k = {k} cannot be met with max_drop = {self.max_drop:g}, even with every key suppressed. "
                    "Allow more records to be dropped, or choose a smaller k."
                )
            search = search.at({**search.levels, key: search.levels[key] + 1})
            ctx.tick(f"{key} raised to level {search.levels[key]}")
            trace.append(search.row())
        result = data
        for key, level in search.levels.items():
            result = result.generalise(key, level)
        if search.dropped:
            out = np.flatnonzero(~search.survivors)
            gone = tuples_at(data, search.cells, out, search.levels)
            frame = drop_matching(result.frame, keys, gone, data.engine)
            result = result.keep_rows(frame)
        result = result.materialise()
        ctx.note(
            k=k,
            levels=dict(search.levels),
            heights={c: data.hierarchy(c).height for c in keys},
            dropped=search.dropped,
            trace=trace,
        )
        return result

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        k = len(result) if self.anonymity_level == 1 else self.requirement(len(data))
        if k <= 1:
            return
        known = [
            "The quasi-identifier holds every column that an intruder can find in other files."
        ]
        if trusted := [c for c, chance in self.linking.items() if chance == 0]:
            known.append(f"The recipient does not link on {', '.join(trusted)}.")
        for name, columns in self.groups(data).items():
            yield Claim("k-anonymity", {"k": k}, name, columns, tuple(known))


def k_for_level(level: float, n: int) -> int:
    """Return k for an anonymity level: floor(A N / 100), at least 1 (Sweeney, Figure 27)."""
    if level in (0, 1):
        return 1
    # Round first: 0.29 * 100 is 28.999... in binary, and the level is given in decimals.
    return max(1, int(np.floor(round(level * n / 100, 9))))


def drop_limit(max_drop: float, n: int) -> int:
    """Return how many records may be dropped: a share below 1, otherwise a number."""
    return int(np.floor(max_drop * n)) if 0 < max_drop < 1 else int(min(max_drop, n))


@dataclass(frozen=True)
class Search:
    """The state of Datafly's loop: a level per key, and the cells merged at these levels.

    A merged cell keeps the ground codes of one of its members: all of them climb alike from here.
    """

    cells: Cells
    groups: Mapping[str, tuple[str, ...]]
    k: int
    lifts: Mapping[str, list[npt.NDArray[np.int32]]]
    levels: Mapping[str, int]
    has_null: Mapping[str, bool]

    @classmethod
    def start(
        cls, data: Microdata, cells: Cells, groups: Mapping[str, tuple[str, ...]], k: int
    ) -> Search:
        """Start at the lowest level of every key at which a value stands."""
        values = {key: column.values for key, column in cells.keys.items()}
        lifts = {key: data.hierarchy(key).lift(v) for key, v in values.items()}
        levels = {key: data.hierarchy(key).lowest(v) for key, v in values.items()}
        has_null = {key: bool((c.codes == c.null).any()) for key, c in cells.keys.items()}
        return cls(cells, groups, k, lifts, levels, has_null)

    def at(self, levels: Mapping[str, int]) -> Search:
        """Return the state at other levels, none lower than the present ones."""
        moved = replace(self, levels=dict(levels))
        columns = [moved.codes(key) for key in self.cells.keys]
        ids, n_cells = dense_ids(columns, [moved.size(key) for key in self.cells.keys])
        member = np.empty(n_cells, dtype=np.int64)
        member[ids] = np.arange(len(ids))
        keys = {c: Coded(v.codes[member], v.values) for c, v in self.cells.keys.items()}
        n = np.bincount(ids, weights=self.cells.n, minlength=n_cells).astype(np.int64)
        return replace(moved, cells=Cells(keys, n))

    def codes(self, key: str) -> npt.NDArray[np.int32]:
        """Return a key's codes at its present level."""
        return self.lifts[key][self.levels[key]][self.cells.keys[key].codes]

    def size(self, key: str) -> int:
        """Return a bound on a key's codes at its present level."""
        return int(self.lifts[key][self.levels[key]].max(initial=0)) + 1

    def class_sizes(self, group: Sequence[str], alive: Flags) -> Ints:
        """Return the size of each cell's class, counting only cells that are kept."""
        if set(group) == set(self.cells.keys):
            return self.cells.n * alive
        ids, bound = group_ids([self.codes(c) for c in group], [self.size(c) for c in group])
        counted = np.bincount(ids, weights=self.cells.n * alive, minlength=bound)
        return counted.astype(np.int64)[ids]

    @functools.cached_property
    def survivors(self) -> Flags:
        """Return the cells that can stay.

        Dropping for one quasi-identifier can push a class of another below k, so the rule is applied
        until nothing changes.
        """
        alive = np.ones(len(self.cells), dtype=bool)
        while True:
            keep = alive.copy()
            for group in self.groups.values():
                keep &= self.class_sizes(group, keep) >= self.k
            if np.array_equal(keep, alive):
                return alive
            alive = keep

    @property
    def dropped(self) -> int:
        """Return how many records would have to be dropped now."""
        return int(self.cells.n[~self.survivors].sum())

    def distinct(self, key: str) -> int:
        """Return how many different values of a key would be released."""
        lift = self.lifts[key][self.levels[key]]
        return len(np.unique(lift if self.has_null[key] else lift[:-1]))

    def next_key(self, profile: Mapping[str, float]) -> str | None:
        """Return the key to raise next, or None when all are at their top."""
        heights = {key: len(lift) - 1 for key, lift in self.lifts.items()}
        open_keys = [key for key in self.lifts if self.levels[key] < heights[key]]
        order = list(self.lifts)
        return max(
            open_keys,
            key=lambda c: (
                profile[c],
                self.distinct(c),
                -self.levels[c] / heights[c],
                -order.index(c),
            ),
            default=None,
        )

    def row(self) -> dict[str, Any]:
        """Return the state for the trace."""
        return {
            "levels": dict(self.levels),
            "distinct": {key: self.distinct(key) for key in self.lifts},
            "left_over": self.dropped,
        }
