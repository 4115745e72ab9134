"""What the checks on sensitive values share: how often each value occurs in each class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from tacit.arrays import Floats, Ints
from tacit.claims.claim import Claim
from tacit.claims.classes import Frame
from tacit.engine.exact_sums import sum_columns
from tacit.engine.names import aggregate

AMOUNT = "__amount__"


@dataclass(frozen=True)
class Rows:
    """One row per class and value: its class and value as numbers, and its records (or their weight)."""

    of_class: Ints
    value: Ints
    amount: Floats
    values: list[Any]

    @classmethod
    def of(cls, frame: Frame, claim: Claim, missing: str | None = None) -> Rows:
        """Return the rows of the sensitive column that a claim names, by its columns and with its weight."""
        p = claim.parameters
        told = p.get("missing", "category") if missing is None else missing
        return count_values(frame, claim.columns, p["sensitive"], p.get("weight"), told)

    @property
    def whole(self) -> Floats:
        """Return the amount of each value in all classes together."""
        return np.bincount(self.value, weights=self.amount, minlength=len(self.values))

    def part(self, members: Ints) -> Floats:
        """Return the amount of each value in one class."""
        amount = self.amount[members]
        return np.bincount(self.value[members], weights=amount, minlength=len(self.values))

    def classes(self) -> list[Ints]:
        """Return the positions of the rows of each class."""
        order = np.argsort(self.of_class, kind="stable")
        cuts = np.flatnonzero(np.diff(self.of_class[order])) + 1
        return np.split(order, cuts) if len(order) else []


def exceeds_share(rows: Rows, largest: float, counts: Callable[[Any], bool]) -> bool:
    """Return True when a value that counts has more than the largest share of some class."""
    for members in rows.classes():
        total = float(rows.amount[members].sum())
        for value, amount in zip(rows.value[members], rows.amount[members], strict=True):
            if counts(rows.values[value]) and float(amount) > (largest + 1e-8) * total:
                return True
    return False


def count_values(
    frame: Frame, columns: Sequence[str], sensitive: str, weight: str | None, missing: str
) -> Rows:
    """Count the values of a column within the classes of others; null equals null."""
    if missing == "ignore":
        frame = frame.filter(~nw.col(sensitive).is_null())
    keys = list(dict.fromkeys([*columns, sensitive]))
    if weight is None:
        counted = aggregate(frame, keys, nw.len().alias(AMOUNT))
    else:
        counted = sum_columns(frame, keys, {AMOUNT: weight})
    table = counted.collect("pyarrow").to_native()
    classes: dict[tuple[Any, ...], int] = {}
    values: dict[Any, int] = {}
    told = zip(*(table.column(c).to_pylist() for c in columns), strict=True)
    of_class = [classes.setdefault(row, len(classes)) for row in told]
    value = [values.setdefault(v, len(values)) for v in table.column(sensitive).to_pylist()]
    return Rows(
        np.array(of_class, dtype=np.int64),
        np.array(value, dtype=np.int64),
        table.column(AMOUNT).to_numpy().astype(np.float64),
        list(values),
    )
