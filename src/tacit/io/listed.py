"""From listed cells to a table: placing codes, filling gaps, adding up totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.data.cells.dimension import Dimension
from tacit.data.cells.relations import TOLERANCE, linked_singletons, product_equations, roll_up
from tacit.data.cells.status import Status
from tacit.data.table import Contributors, Table
from tacit.errors import InputError, UnreadableFile, near_match

Totals = Literal["check", "recompute", "free"]

#: Above this many cells, a table of which few are listed keeps only the listed ones.
FULL_PRODUCT = 20_000_000
LEVELS = ("lower_level", "upper_level", "sliding_level")


@dataclass
class Listed:
    """Cells as a file lists them: one entry per record in every array.

    ``sums`` are further quantities that add up as the values do (shadow values).
    """

    codes: Sequence[Sequence[str]]
    value: Floats
    count: Floats | None = None
    status: npt.NDArray[np.int8] | None = None
    weight: Floats | None = None
    lower: Floats | None = None
    upper: Floats | None = None
    lower_level: Floats | None = None
    upper_level: Floats | None = None
    sliding_level: Floats | None = None
    top: Floats | None = None
    sums: Mapping[str, Floats] = field(default_factory=dict)

    def levels(self) -> dict[str, Floats]:
        """Return the protection levels that are listed, by name."""
        found = {name: getattr(self, name) for name in LEVELS}
        return {name: array for name, array in found.items() if array is not None}


def positions(dimensions: Sequence[Dimension], listed: Listed, where: str) -> Ints:
    """Return the place of each listed cell in the full product; strangers and doubles are refused."""
    places = []
    for d, codes in zip(dimensions, listed.codes, strict=True):
        known = dict(d.position)
        known.setdefault("", d.total)
        at = np.array([known.get(c, -1) for c in codes], dtype=np.int64)
        strange = np.flatnonzero(at < 0)
        if len(strange):
            code = codes[int(strange[0])]
            raise UnreadableFile(
                f"{where}, record {int(strange[0]) + 1}: the dimension {d.name!r} has no code "
                f"{code!r}. {near_match(code, d.codes)}".strip()
            )
        places.append(at)
    ids = np.ravel_multi_index(tuple(places), [len(d) for d in dimensions]).astype(np.int64)
    order = np.argsort(ids, kind="stable")
    same = np.flatnonzero(np.diff(ids[order]) == 0)
    if len(same):
        one, other = sorted(int(order[same[0] + k]) + 1 for k in (0, 1))
        raise UnreadableFile(f"{where}: the records {one} and {other} are the same cell")
    return ids


def table_of(
    dimensions: Sequence[Dimension],
    listed: Listed,
    *,
    where: str,
    totals: Totals = "check",
    trust_totals: bool = False,
    **more: Any,
) -> Table:
    """Make a table from listed cells; cells that are not listed are empty.

    ``totals``: with ``check`` they must be listed and add up, with ``recompute`` they are added up from the ground cells,
    with ``free`` nothing need add up, and the table has no relations. ``trust_totals`` calls recomputed totals that the
    file does not list safe, whatever a rule says. ``where`` is the file, for messages; ``more`` goes on to
    :meth:`Table.from_cells`.
    """
    ids = positions(dimensions, listed, where)
    shape = [len(d) for d in dimensions]
    product = int(np.prod(shape))
    if product > FULL_PRODUCT and totals == "check" and len(ids) < product // 4:
        return sparse_table(dimensions, listed, ids, shape, more)

    def spread(array: Floats, blank: float = 0.0) -> Floats:
        """Return one entry per cell; ``blank`` where none is listed."""
        out = np.full((product, *array.shape[1:]), blank)
        out[ids] = array
        return out

    value = spread(listed.value)
    count = None if listed.count is None else spread(listed.count)
    sums = {name: spread(array) for name, array in listed.sums.items()}
    top = None if listed.top is None else spread(listed.top)
    extra = dict(more.pop("extra", {}))
    given = np.zeros(product, dtype=bool)
    given[ids] = True
    if totals == "recompute":
        added = roll_up_cells(value, dimensions)
        require_ground(dimensions, value, added, given)
        extra["recomputed"] = int((given & differs(value, added)).sum())
        value = added
        count = None if count is None else roll_up_cells(count, dimensions)
        sums = {name: roll_up_cells(array, dimensions) for name, array in sums.items()}
        top = None if top is None else merge_tops(top, dimensions, given)
    counts = None if count is None else np.round(count).astype(np.int64)
    empty = (value == 0) & (np.zeros(product) if counts is None else counts <= 0).astype(bool)
    if counts is None:
        empty = (value == 0) & ~given
    status = np.where(empty, Status.EMPTY, Status.SAFE).astype(np.int8)
    if listed.status is not None:
        status[ids] = listed.status
    if totals == "recompute" and trust_totals:
        status[~given & ~empty] = Status.SAFE_MANUAL
    contributors = None
    if top is not None:
        known = np.full(product, -1, dtype=np.int64) if counts is None else counts
        who = np.full(top.shape, -1, dtype=np.int64)
        single = known == 1
        if single.any():
            # A total with a single contributor and the part of it with one have the same contributor.
            who[single, 0] = linked_singletons(product_equations(dimensions), single)[single]
        contributors = Contributors(known, top, who)
    weight = None
    if listed.weight is not None:
        if (listed.weight < 0).any():
            raise InputError("the costs of cells must not be negative or missing")
        # Cells without a cost cost their value.
        costs = spread(listed.weight, np.nan)
        weight = np.where(np.isnan(costs), np.abs(value), costs)
    # External bounds are those of the file, else what the caller says of all cells.
    for name, own, blank in (("lower", listed.lower, 0.0), ("upper", listed.upper, np.inf)):
        if own is not None:
            said = more.get(name)
            more[name] = spread(own, blank if said is None else float(said))
    return Table.from_cells(
        dimensions,
        value,
        count=counts,
        status=status,
        weight=weight,
        **{name: spread(levels) for name, levels in listed.levels().items()},
        equations=sparse.csr_array((0, product)) if totals == "free" else None,
        contributors=contributors,
        extra={**extra, **sums, **({"additive": False} if totals == "free" else {})},
        **more,
    )


def sparse_table(
    dimensions: Sequence[Dimension],
    listed: Listed,
    ids: Ints,
    shape: Sequence[int],
    more: dict[str, Any],
) -> Table:
    """Make a table of the listed cells only."""
    counts = None if listed.count is None else np.round(listed.count).astype(np.int64)
    contributors = None
    if listed.top is not None:
        known = np.full(len(ids), -1, dtype=np.int64) if counts is None else counts
        nobody = np.full(listed.top.shape, -1, dtype=np.int64)
        contributors = Contributors(known, listed.top, nobody)
    extra = {**more.pop("extra", {}), **listed.sums}
    for name in ("lower", "upper"):
        own = getattr(listed, name)
        more[name] = more.get(name) if own is None else own
    return Table.from_cells(
        dimensions,
        listed.value,
        count=counts,
        status=listed.status,
        weight=listed.weight,
        **listed.levels(),
        coordinates=np.stack(np.unravel_index(ids, shape), axis=1),
        contributors=contributors,
        extra=extra,
        **more,
    )


def roll_up_cells(array: Floats, dimensions: Sequence[Dimension]) -> Floats:
    """Return all cells, added up from the ground cells among them."""
    shaped = array.reshape([len(d) for d in dimensions])
    ground = shaped[np.ix_(*(d.leaves for d in dimensions))]
    return roll_up(ground, dimensions).ravel()


def differs(one: Floats, other: Floats) -> Flags:
    """Return where two arrays are not the same up to the tolerance of sums."""
    return np.abs(one - other) > TOLERANCE * np.maximum(1.0, np.abs(other))


def require_ground(
    dimensions: Sequence[Dimension], value: Floats, added: Floats, given: Flags
) -> None:
    """Refuse listed totals without any ground cell below them."""
    orphans = np.flatnonzero(given & (value != 0) & (added == 0))
    for cell in orphans:
        place = np.unravel_index(int(cell), [len(d) for d in dimensions])
        codes = [d.codes[int(c)] for d, c in zip(dimensions, place, strict=True)]
        below = [d.closure[[int(c)]].indices for d, c in zip(dimensions, place, strict=True)]
        grid = np.ix_(*(d.leaves[b] for d, b in zip(dimensions, below, strict=True)))
        if not given.reshape([len(d) for d in dimensions])[grid].any():
            raise InputError(
                f"the total {' x '.join(codes)} cannot be recomputed: the file lists no ground cell "
                "below it"
            )


def merge_tops(top: Floats, dimensions: Sequence[Dimension], given: Flags) -> Floats:
    """Return the largest contributions of totals: listed ones, else the largest among their parts.

    Contributors of different ground cells are taken to be different.
    """
    t = top.shape[1]
    shape = [len(d) for d in dimensions]
    array = top.reshape(*shape, t)[np.ix_(*(d.leaves for d in dimensions), np.arange(t))]
    for axis, d in enumerate(dimensions):
        moved = np.moveaxis(array, axis, 0)
        made = np.zeros((len(d), *moved.shape[1:]))
        for code in range(len(d)):
            parts = moved[d.closure[[code]].indices]
            joined = np.moveaxis(parts, 0, -2).reshape(*parts.shape[1:-1], -1)
            made[code] = -np.sort(-joined, axis=-1)[..., :t]
        array = np.moveaxis(made, 0, axis)
    flat = array.reshape(-1, t)
    return np.where(given[:, None], top, flat)
