"""Rules that synthetic records keep: structural values, combinations that cannot be, sums and ranges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, field_validator

from tacit.arrays import Flags, Floats
from tacit.data.decimals import decimals_of
from tacit.data.values import as_numbers
from tacit.data.where import WhereRule, columns_of, where
from tacit.errors import InvalidParameter
from tacit.fields import ColumnName

#: Error of adding, relative to the size of the parts.
DUST = 1e-9
Scalar = bool | int | float | str | None


class Setting(BaseModel):
    """A structural value: where a rule holds, columns have these values and no others."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    when: WhereRule = Field(description="the rule, e.g. 'age < 16'")
    values: Mapping[ColumnName, Scalar] = Field(
        alias="set", description="columns and the value they then have; null for missing"
    )

    @field_validator("values")
    @classmethod
    def _some(cls, values: Mapping[str, Scalar]) -> Mapping[str, Scalar]:
        if not values:
            raise ValueError("set names no column")
        return values

    def columns(self) -> tuple[str, ...]:
        """Return the columns that the rule looks at."""
        return columns_of(self.when)


def holds(text: str, table: pa.Table) -> Flags:
    """Return for each record of a table whether a rule holds."""
    frame = nw.from_native(table, eager_only=True)
    rule = where(text, frame.collect_schema())
    if not table.num_rows:
        return np.zeros(0, dtype=bool)
    found = frame.select(rule.expr.alias("__holds__")).get_column("__holds__").to_numpy()
    return np.asarray(found, dtype=bool)


def dependencies(
    settings: Sequence[Setting], sums: Mapping[str, Sequence[str]], targets: Iterable[str]
) -> dict[str, set[str]]:
    """Return for each synthesised column the synthesised columns that must come before it."""
    wanted = set(targets)
    before: dict[str, set[str]] = {c: set() for c in wanted}
    for setting in settings:
        for column in setting.values:
            if column in wanted:
                before[column] |= wanted.intersection(setting.columns()) - {column}
    for total, parts in sums.items():
        if total in wanted:
            before[total] |= wanted.intersection(parts)
    return before


def put_in_order(preferred: Sequence[str], before: Mapping[str, set[str]]) -> list[str]:
    """Return the columns in the preferred order, each after those that must come before it."""
    left = list(preferred)
    done: list[str] = []
    while left:
        ready = next((c for c in left if before.get(c, set()) <= set(done)), None)
        if ready is None:
            raise InvalidParameter(
                "synthesise: the rules depend on each other in a circle, so that no column can come first ("
                + ", ".join(map(repr, left))
                + ")"
            )
        left.remove(ready)
        done.append(ready)
    return done


def add_up(parts: Sequence[tuple[Floats, Flags]]) -> tuple[Floats, Flags]:
    """Return the sums of numbers, a missing one counting nothing, and whether any was known."""
    total = np.zeros(len(parts[0][0]))
    some = np.zeros(len(total), dtype=bool)
    for numbers, known in parts:
        total = total + np.where(known, numbers, 0.0)
        some |= known
    return total, some


def adds_up(table: pa.Table, total: str, parts: Sequence[str]) -> bool:
    """Return True when a column is the sum of others in every record: whole numbers exactly, others up to rounding."""
    columns = [table.column(c) for c in (total, *parts)]
    read = [as_numbers(x, c) for x, c in zip(columns, (total, *parts), strict=True)]
    whole, *added = [(x.values.astype(np.float64), x.known) for x in read]
    sums, some = add_up(added)
    decimals = [decimals_of(x[known]) for x, known in (whole, *added)]
    rounded = [d for d in decimals if d is not None]
    exact = not rounded or pa.types.is_integer(columns[0].type)
    unit = 0.0 if exact else 10.0 ** -min(rounded)
    size = sum(np.abs(np.where(known, x, 0.0)) for x, known in added)
    room = (len(parts) + 1) * unit / 2 + DUST * (size + 1.0)
    apart = np.where(some, ~whole[1] | (np.abs(whole[0] - sums) > room), whole[1])
    return not bool(apart.any())


def as_claim(
    settings: Sequence[Setting], forbid: Sequence[str], sums: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Return the rules as plain data for a claim."""
    return {
        "settings": [{"when": s.when, "set": dict(s.values)} for s in settings],
        "forbid": list(forbid),
        "sums": {total: list(parts) for total, parts in sums.items()},
    }
