"""What the concentration rules share: contributions at a level, weights, waivers, levels."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.cells.status import Status
from tacit.data.table import Contributors, Table
from tacit.errors import InputError, SdcError, WeakProtection
from tacit.tables.rules.rule import Rule, Verdict

Level = Literal["auto", "record", "holding"]

# What several rules ask for in the same words.
JudgedLevel = Annotated[
    Level,
    Field(description="judge records or holdings; auto takes holdings where they are known"),
]
MissingSafe = Annotated[
    bool, Field(description="cells of a code for missing values are never unsafe")
]
Coalition = Annotated[
    int, Field(ge=1, description="number of contributors who put their knowledge together")
]

#: A rule fires when its level is more than this share of the total: less is rounding of floats.
NOISE = 1e-12


def missing_cells(table: Table) -> Flags:
    """Return the cells that have a code for missing values in some dimension."""
    flags = np.zeros(len(table), dtype=bool)
    for axis, d in enumerate(table.dimensions):
        codes = table.extra.get("missing", {}).get(d.name, ())
        at = [d.position[c] for c in codes if c in d.position]
        if at:
            flags |= np.isin(table.places[:, axis], at)
    return flags


def at_level(table: Table, level: Level) -> Contributors | None:
    """Return the contributors that a rule looks at: holdings where they are known and wanted."""
    if level == "record" or (level == "auto" and table.holdings is None):
        return table.contributors
    return table.holdings


def judged_at_level(table: Table, level: Level) -> Contributors:
    """Return the contributors that a rule looks at, where there must be some."""
    given = at_level(table, level)
    if given is None:
        raise InputError("the table knows of no contributions")
    return given


def level_faults(kind: str, table: Table, level: Level) -> list[SdcError]:
    """Return what is missing for a rule that needs the largest contributions."""
    if level == "holding" and table.holdings is None:
        return [InputError(f"{kind}: the table knows of no holdings; tabulate with holding=")]
    if at_level(table, level) is None:
        return [
            InputError(
                f"{kind} needs the largest contributions of each cell: tabulate microdata, or read "
                "them with the table"
            )
        ]
    return []


@dataclass(frozen=True, eq=False)
class Behind:
    """What a concentration rule needs to know of every cell."""

    total: Floats  # X, the sum of (absolute) contributions
    count: Ints  # number of contributors; -1 when unknown
    top: Floats  # the largest contributions (absolute), cells x t
    weight: Floats  # how often each of them counts
    waived: Flags  # which of them waived protection

    def units(self, m: Floats | float) -> Floats:
        """Return the sum of the m largest units: a contribution of weight w counts as w units.

        The last record is split when weights are fractional.
        """
        before = np.cumsum(self.weight, axis=1) - self.weight
        taken = np.clip(np.asarray(m, dtype=float).reshape(-1, 1) - before, 0.0, self.weight)
        return np.asarray((taken * self.top).sum(axis=1))


def list_judged_contributions(table: Table, level: Level, *, expand: bool) -> Behind:
    """Return the contributions that a rule judges, with the total to which they belong."""
    given = judged_at_level(table, level)
    top = np.abs(given.top)
    weight = given.weight if expand and given.weight is not None else np.ones_like(top)
    total = np.asarray(table.extra.get("rule_total", np.abs(table.value)), dtype=np.float64)
    waived = np.zeros(top.shape, dtype=bool) if given.waived is None else given.waived.astype(bool)
    return Behind(total, given.count, top, weight, waived)


class Concentration(Rule):
    """Base of p%, pq and dominance: rules on the largest contributions of a cell."""

    level: JudgedLevel = "auto"
    weights: Literal["expand", "unknown"] = Field(
        default="expand",
        description="in a weighted table a contribution of weight w counts as w (expand), or intruders "
        "know contributions and not weights (unknown)",
    )
    waivers: bool = Field(
        default=True, description="respondents who waived protection are not protected"
    )
    missing_safe: MissingSafe = False
    protection: Literal["symmetric", "upper", "sliding"] = Field(
        default="symmetric",
        description="the level is asked for on both sides, above only, or as a width of twice its size",
    )
    shadow: Literal["share", "same"] = Field(
        default="share",
        description="when a shadow variable is judged, its levels are asked for as a share of the value, "
        "or as they are (same), which is what tau-ARGUS does and right when both have the same unit",
    )
    mark_singletons: bool = Field(
        default=False,
        description="give unsafe cells of one record or of one holding a status of their own",
    )

    mark: ClassVar[Status] = Status.UNSAFE

    def _needed(self) -> int:
        """Return how many of the largest contributions the rule looks at."""
        raise NotImplementedError

    def _level(self, cells: Behind) -> Floats:
        """Return the smallest distance at which the rule holds; positive where the cell is unsafe."""
        raise NotImplementedError

    def _faults(self, data: Table) -> list[SdcError]:
        """Return what is wrong: counts have no contributions, or too few of them are kept."""
        found = super()._faults(data)
        if data.frequency:
            return [
                InputError(
                    f"{self.kind} judges sums of contributions; for a table of counts use "
                    "minimum_frequency"
                )
            ]
        lacking = level_faults(self.kind, data, self.level)
        if lacking:
            return [*found, *lacking]
        given = judged_at_level(data, self.level)
        short = np.flatnonzero(
            find_cells_known_too_little(given, self._needed(), self.weights == "expand")
        )
        if len(short):
            found.append(
                InputError(
                    f"{self.kind} needs the {self._needed()} largest contributions of each cell, and the "
                    f"table keeps {given.t} (first at {data.describe_cell(int(short[0]))}): tabulate "
                    f"with top={self._needed()} or more"
                )
            )
        return found

    def _judge(self, table: Table, ctx: Context) -> Verdict:
        del ctx
        warn_of_signs(self.kind, table)
        cells = list_judged_contributions(table, self.level, expand=self.weights == "expand")
        if not self.waivers:
            cells = replace(cells, waived=np.zeros_like(cells.waived))
        level = self._level(cells)
        unsafe = (level > NOISE * cells.total) & (cells.top[:, 0] > 0)
        if self.missing_safe:
            unsafe &= ~missing_cells(table)
        if self.shadow == "share":
            level = own_units(table, cells, level)
        if self.protection == "sliding":
            return Verdict(unsafe, 0.0, 0.0, 2 * level)
        return Verdict(unsafe, level if self.protection == "symmetric" else 0.0, level)

    def _apply(self, table: Table, ctx: Context) -> Table:
        result = super()._apply(table, ctx)
        return mark_single_records(table, result) if self.mark_singletons else result


def find_cells_known_too_little(given: Contributors, needed: int, expand: bool) -> Flags:
    """Return the cells of which too few of the largest contributions are kept.

    With weights above 1 the kept records make more units than records; with weights below 1, fewer.
    """
    more = (given.count > given.t) | (given.count < 0)
    if given.weight is None or not expand:
        # Without a count, room for one more contribution shows that all are there.
        unknown = (given.count < 0) & (given.top[:, -1] != 0)
        return np.asarray(((given.count > given.t) | unknown) & (given.t < needed))
    return np.asarray(more & (given.weight.sum(axis=1) < needed * (1 - 1e-9)))


def warn_of_signs(kind: str, table: Table) -> None:
    """Warn of cells whose contributions have both signs."""
    mixed = table.extra.get("mixed")
    if mixed is not None and np.any(mixed):
        warnings.warn(
            f"{kind}: {int(np.sum(mixed)):,} cells have contributions of both signs; they are judged "
            "by absolute values, which is a convention and no proof of safety",
            WeakProtection,
            stacklevel=6,
        )


def own_units(table: Table, cells: Behind, level: Floats) -> Floats:
    """Return levels in units of the response where contributions are those of a shadow variable.

    The same share of the value is asked for; contributions of both signs keep their absolute level.
    """
    if "rule_total" not in table.extra or "mixed" in table.extra:
        return level
    share = np.divide(level, cells.total, out=np.zeros_like(level), where=cells.total > 0)
    return np.asarray(share * np.abs(table.value))


def mark_single_records(before: Table, after: Table) -> Table:
    """Give newly unsafe cells of one record, or of several records of one holding, their own status."""
    new = after.primary & ~before.primary
    status = after.status.copy()
    status[new & (after.count == 1)] = Status.UNSAFE_SINGLETON
    if after.holdings is not None:
        several = (after.count > 1) & (after.holdings.count == 1)
        status[new & several] = Status.UNSAFE_MULTI_SINGLETON
    return after.with_(status=status)


def target_and_rest(cells: Behind, coalition: int) -> tuple[Floats, Floats]:
    """Return the contribution to protect, and what remains when its intruders take theirs away.

    The target is the largest contributor who has not waived; the intruders are the ``coalition``
    largest others. Without waivers they are x1 and x2 ... x(n+1), and the rest is X - x1 - ... - x(n+1).
    """
    rows = np.arange(len(cells.total))
    waits = ~cells.waived & (cells.top > 0)
    place = np.where(waits.any(axis=1), waits.argmax(axis=1), cells.top.shape[1] - 1)
    unknown = (cells.count > cells.top.shape[1]) | (cells.count < 0)
    # When all that are kept have waived, the target is not larger than the smallest of them.
    there = waits.any(axis=1) | (unknown & (cells.top[:, -1] > 0))
    target = np.where(there, cells.top[rows, place], 0.0)
    own = np.minimum(1.0, cells.weight[rows, place])
    weight = cells.weight.copy()
    weight[rows, place] -= own
    others = replace(cells, weight=weight).units(coalition + 1.0 - own)
    return target, cells.total - own * target - others
