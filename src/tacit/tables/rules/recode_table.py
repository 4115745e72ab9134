"""Table redesign: a coarser table, judged again on the contributions that are kept."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.cells.contributions import merge
from tacit.data.cells.dimension import Dimension, Sum, keep_codes, steps_below
from tacit.data.cells.status import Status, is_primary, is_secondary
from tacit.data.table import Table
from tacit.errors import Approximate, InputError, SdcError
from tacit.registry import register
from tacit.spec import Method, Where
from tacit.tables.rules.rule import Rule, applied_rules


@register
class RecodeTable(Method[Table]):
    """Make one dimension of a table coarser and apply the sensitivity rules again.

    Three ways: ``collapse`` closes branches of a tree (their children go), ``depth`` closes all branches
    at a level, ``groups`` merges codes that stand side by side. Cells that stay keep what is known of
    them; merged cells are judged by the rules that were applied before, on the largest contributions of
    their parts merged by identity. Nested merges never add unsafe cells. The number of unsafe cells
    before and after stands in the history.

    References
    ----------
    Hundepool (2006), The ARGUS software in CENEX, PSD 2006, LNCS 4302, 334-346, section 2.3.4.
    """

    family: ClassVar[str] = "tables"
    runs_on: ClassVar[Where] = "cells"

    kind: Literal["recode_table"] = "recode_table"
    techniques: ClassVar[tuple[str, ...]] = ("generalisation",)
    example: ClassVar[Mapping[str, Any]] = {"dimension": 0, "depth": 1}

    dimension: str | int = Field(description="the dimension, by name or position")
    collapse: tuple[str, ...] = Field(
        default=(), description="codes of a tree whose children are left out of the table"
    )
    depth: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="the deepest level to keep; the total is level 0"
    )
    groups: Mapping[str, tuple[str, ...]] = Field(
        default_factory=dict, description="new code to the old codes that it merges"
    )

    @model_validator(mode="after")
    def _one_way(self) -> RecodeTable:
        """Refuse anything but one way of recoding."""
        if bool(self.collapse) + (self.depth is not None) + bool(self.groups) != 1:
            raise ValueError("give one of collapse, depth and groups")
        return self

    def _faults(self, data: Table) -> list[SdcError]:
        """Return what is wrong: the table must follow from its dimensions."""
        found = super()._faults(data)
        if not data.dimensions or data.given is not None:
            return [
                InputError(
                    f"{self.kind} needs a table whose relations follow from its dimensions; this one "
                    "is a list of equations"
                )
            ]
        if data.unpublished.any():
            found.append(
                InputError(f"{self.kind}: cells of the table are left out already; recode it first")
            )
        names = [*data.names, *range(len(data.names))]
        if self.dimension not in names:
            found.append(
                InputError(f"{self.kind}: no dimension {self.dimension!r}; there are {data.names}")
            )
        return found

    def _apply(self, table: Table, ctx: Context) -> Table:
        axis = (
            table.names.index(self.dimension) if isinstance(self.dimension, str) else self.dimension
        )
        old = table.dimensions[axis]
        new, target = self._recode_dimension(old)
        result, exact = rebuild_dimension(table, axis, new, target)
        rules = applied_rules(table.history, Rule)
        for rule in rules:
            result = rule._apply(result, Context.start(0, work=ctx.work.quiet()))
        ctx.note(
            cells_before=len(table),
            cells_after=len(result),
            unsafe_before=int(table.primary.sum()),
            unsafe_after=int(result.primary.sum()),
            exact=bool(exact.all()),
        )
        return result

    def _recode_dimension(self, old: Dimension) -> tuple[Dimension, Ints]:
        """Return the new dimension and the new position of each old code, -1 where it goes."""
        if self.groups:
            return merge_codes(old, self.groups)
        if not old.is_tree:
            raise InputError(
                f"{self.kind}: {old.name!r} has several groupings; merge codes with groups instead"
            )
        if self.depth is not None:
            return drop_codes(old, old.depth > self.depth)
        unknown = [c for c in self.collapse if c not in old.position]
        if unknown:
            raise InputError(f"{self.kind}: {old.name!r} has no code {unknown[0]!r}")
        tops = [old.position[c] for c in self.collapse]
        gone = np.any([steps_below(old, [top]) > 0 for top in tops], axis=0)
        return drop_codes(old, gone)


def drop_codes(old: Dimension, gone: Flags) -> tuple[Dimension, Ints]:
    """Return a dimension without some codes, and the new position of each old one."""
    return keep_codes(old, ~gone), np.where(gone, -1, np.cumsum(~gone) - 1)


def merge_codes(old: Dimension, groups: Mapping[str, tuple[str, ...]]) -> tuple[Dimension, Ints]:
    """Return a dimension in which codes that stand side by side are merged."""
    name = dict(zip(old.codes, old.codes, strict=True))
    for new, members in groups.items():
        require_mergeable(old, new, members, groups)
        name.update(dict.fromkeys(members, new))
    codes = tuple(dict.fromkeys(name[c] for c in old.codes))
    position = {c: i for i, c in enumerate(codes)}
    target = np.array([position[name[c]] for c in old.codes], dtype=np.int64)
    # Merged parents own the children of all of them.
    gathered: dict[tuple[int, int], list[int]] = {}
    seen: dict[int, int] = {}
    signs: dict[tuple[int, int], tuple[int, ...]] = {}
    for s in old.sums:
        grouping = seen.get(s.parent, 0)
        seen[s.parent] = grouping + 1
        key = (int(target[s.parent]), grouping)
        children = gathered.setdefault(key, [])
        for child in s.children:
            if int(target[child]) not in children:
                children.append(int(target[child]))
        if s.signs:
            signs[key] = s.signs
    sums = tuple(
        Sum(parent, tuple(children), signs.get((parent, g), ()))
        for (parent, g), children in gathered.items()
    )
    return Dimension(old.name, codes, sums, old.labels), target


def require_mergeable(
    old: Dimension,
    new: str,
    members: tuple[str, ...],
    groups: Mapping[str, tuple[str, ...]],
) -> None:
    """Raise when codes cannot be merged: unknown, not side by side, or of different kinds."""
    for code in members:
        if code not in old.position:
            raise InputError(f"recode_table: {old.name!r} has no code {code!r}")
    everything = [c for g in groups.values() for c in g]
    if len(set(everything)) < len(everything):
        raise InputError("recode_table: a code stands in two groups")
    if new in old.position and new not in members:
        raise InputError(f"recode_table: {old.name!r} has a code {new!r} already")
    own = {old.position[c] for c in members}
    for s in old.sums:
        inside = own & set(s.children)
        if inside and (inside != own or s.signs):
            raise InputError(
                f"recode_table: the codes merged to {new!r} do not stand side by side under one parent"
            )
    n_sums = [sum(s.parent == c for s in old.sums) for c in own]
    if len(set(n_sums)) > 1 or max(n_sums, default=0) > 1:
        raise InputError(
            f"recode_table: the codes merged to {new!r} must all be ground codes, or all have children"
        )


def rebuild_dimension(table: Table, axis: int, new: Dimension, target: Ints) -> tuple[Table, Flags]:
    """Return the table with one dimension replaced, and which of its cells are known exactly."""
    place = target[table.places[:, axis]]
    cells = np.flatnonzero(place >= 0)
    where = table.places[cells].astype(np.int64)
    where[:, axis] = place[cells]
    dimensions = tuple(new if i == axis else d for i, d in enumerate(table.dimensions))
    shape = [len(d) for d in dimensions]
    ids = np.ravel_multi_index(tuple(where.T), shape)
    if table.coordinates is None:
        group, n, coordinates = ids.astype(np.int64), int(np.prod(shape)), None
    else:
        kept, group = np.unique(ids, return_inverse=True)
        n = len(kept)
        coordinates = np.stack(np.unravel_index(kept, shape), axis=1).astype(np.int32)

    def added(values: npt.ArrayLike) -> Floats:
        return np.bincount(group, weights=np.asarray(values)[cells], minlength=n).astype(np.float64)

    status, levels = joint_status(table, cells, group, n)
    exact = np.ones(n, dtype=bool)
    behind: dict[str, Any] = {}
    for name in ("contributors", "holdings"):
        given = getattr(table, name)
        if given is None:
            continue
        disjoint = name in table.extra.get("disjoint", ())
        merged = merge(given, cells, group, n, disjoint=disjoint)
        behind[name] = merged.contributors
        exact &= merged.exact
    warn_of_bounds(exact)
    count = added(table.count).astype(np.int64)
    np.minimum.at(count, group, np.where(table.count[cells] < 0, -1, count[group]))
    if behind.get("contributors") is not None:
        count = behind["contributors"].count
    return (
        replace(
            table,
            dimensions=dimensions,
            value=added(table.value),
            count=count,
            status=status,
            lower=added(table.lower),
            upper=added(table.upper),
            weight=None if table.weight is None else added(table.weight),
            changed=None,
            interval=None,
            coordinates=coordinates,
            extra=joint_extra(table, cells, group, n),
            **levels,
            **behind,
        ),
        exact,
    )


#: Facts of cells that add up.
ADDED = ("rule_total", "shadow", "weighted_count", "record_count")


def joint_extra(table: Table, cells: Ints, group: Ints, n: int) -> dict[str, Any]:
    """Return the extra facts of a recoded table; what cannot be merged is left out."""
    merging = len(cells) > n
    extra: dict[str, Any] = {}
    for name, given in table.extra.items():
        if name in ("parts", "apriori"):
            continue
        if not isinstance(given, np.ndarray) or given.shape[:1] != (len(table),):
            extra[name] = given
        elif name in ADDED or name == "cell_key":
            total = np.bincount(group, weights=given[cells], minlength=n)
            extra[name] = total % 1.0 if name == "cell_key" else total.astype(given.dtype)
        elif given.dtype == bool and given.ndim == 1:
            extra[name] = np.bincount(group, weights=given[cells], minlength=n) > 0
        elif not merging:
            ordered = np.empty_like(given[cells])
            ordered[group] = given[cells]
            extra[name] = ordered
    return extra


def joint_status(
    table: Table, cells: Ints, group: Ints, n: int
) -> tuple[npt.NDArray[np.int8], dict[str, Any]]:
    """Return status and levels before the rules judge again.

    A cell that stays keeps them. A merged cell is empty when all parts are, unsafe when all its parts
    with something in them are (the rules may be unknown), and else safe. Secondary cells are open again.
    """
    own = table.status[cells]
    own = np.where(is_secondary(own), Status.SAFE, own)
    parts = np.bincount(group, minlength=n)
    filled = ~table.empty[cells]
    n_filled = np.bincount(group, weights=filled, minlength=n)
    n_unsafe = np.bincount(group, weights=is_primary(own), minlength=n)
    status = np.full(n, Status.SAFE, dtype=np.int8)
    one = parts[group] == 1
    status[group[one]] = own[one]
    several = parts > 1
    status[several & (n_filled == 0)] = Status.EMPTY
    lasting = several & (n_filled > 0) & (n_unsafe == n_filled)
    judged = bool(applied_rules(table.history, Rule))
    by_hand = np.bincount(group, weights=own == Status.UNSAFE_MANUAL, minlength=n) > 0
    lasting &= by_hand | (not judged)
    status[lasting] = Status.UNSAFE_MANUAL
    levels = {}
    for name in ("lower_level", "upper_level", "sliding_level"):
        out = np.zeros(n)
        np.maximum.at(out, group, np.asarray(getattr(table, name))[cells])
        levels[name] = np.where(is_primary(status), out, 0.0)
    return status, levels


def warn_of_bounds(exact: Flags) -> None:
    """Warn where contributors of merged cells are known by their bounds only."""
    if not exact.all():
        warnings.warn(
            f"recode_table: in {int((~exact).sum()):,} merged cells a holding may be larger than its kept "
            "contributions show; tabulate again for exact rules",
            Approximate,
            stacklevel=6,
        )
