"""Local suppression: single cells made missing until every record agrees with k records on its keys."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field, model_validator

from tacit.claims import Claim
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.together import count_going_together
from tacit.errors import Infeasible, InputError, RoleMissing, SdcError, WeakProtection
from tacit.fields import ColumnName, ColumnNames, PositiveFloat
from tacit.protect.suppress.local_cells import (
    ALL_SETS,
    MISSING,
    Flags,
    Floats,
    Ints,
    suppress_each,
    suppress_shared,
    suppress_strict,
)
from tacit.protect.suppress.mu_argus import entropy
from tacit.registry import register
from tacit.spec import Method

#: The weight of a column that tells nothing.
SMALLEST_WEIGHT = 1e-6


class Combination(BaseModel):
    """Columns that must be shared by k records together."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    columns: ColumnNames = Field(description="the columns")
    k: int = Field(ge=2, description="records that must agree on them")


@register
class LocalSuppression(Method):
    """Make single cells missing until every record agrees with at least k records on the keys.

    A missing value agrees with every value. Three rules:

    ``each``
        Every record whose combination fewer than k records share loses the lightest set of cells that
        makes k records agree with what is left of it: no such record is released whole. Up to twelve
        columns all sets are looked at; with more, sets of up to three, and then one column at a time
        (``method="greedy"`` does only the last).
    ``shared``
        The missing values of one record also help the others that then agree with it, so that far fewer
        cells go. Many records with a rare combination are then released as they are: the count that
        protects them rests on the missing values of others. A heuristic.
    ``strict``
        A missing value is a value of its own: every combination, missing values included, is shared by
        k records, which is k-anonymity proper. A heuristic; it needs most cells.

    The weight of a cell is the importance of its column, times the cells that go with it where households or
    linked columns are declared. ``combinations`` asks for several sets of
    columns instead of the keys, each with its own k; suppression for one never harms another, except
    under ``strict``, where they are repeated until all hold.

    References
    ----------
    Templ, Kowarik, Meindl (2015), Statistical disclosure control for micro-data using the R package
    sdcMicro, Journal of Statistical Software 67(4), section 3.3.
    Hundepool (2006), The ARGUS software in CENEX, PSD 2006, LNCS 4302, 334-346.
    """

    kind: Literal["local_suppression"] = "local_suppression"
    k: int = Field(default=3, ge=2, description="records that must agree on the keys")
    rule: Literal["each", "shared", "strict"] = Field(
        default="each",
        description="every rare record loses cells; or missing values of others count too; or missing is a value of its own",
    )
    method: Literal["optimal", "greedy"] = Field(
        default="optimal",
        description="each: the lightest set of cells of a record, or one column at a time",
    )
    combinations: tuple[Combination, ...] = Field(
        default=(), description="sets of columns with their own k, instead of the keys"
    )
    importance: Mapping[ColumnName, PositiveFloat] | Literal["entropy"] = Field(
        default_factory=dict,
        description="how much a column's values are worth keeping (default 1), or entropy: as much as they tell",
    )
    keep: tuple[ColumnName, ...] = Field(
        default=(), description="columns that are never suppressed"
    )

    on_household = "together"
    on_weight = "kept"
    on_stratum = "kept"
    on_links = "suppressed"
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("suppression (cell)",)
    example: ClassVar[Mapping[str, Any]] = {"k": 2}

    @model_validator(mode="after")
    def _consistent(self) -> LocalSuppression:
        if self.method == "greedy" and self.rule != "each":
            raise ValueError(
                "method 'greedy' goes with rule 'each' only; the others are heuristics"
            )
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns of combinations, importances and those kept."""
        named = [c for one in self.combinations for c in one.columns]
        weighed = () if self.importance == "entropy" else self.importance
        return tuple(dict.fromkeys([*named, *weighed, *self.keep]))

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns in which cells may be suppressed."""
        names = dict.fromkeys(c for columns, _ in self.asked(data) for c in columns)
        return tuple(c for c in names if c not in self.keep)

    def asked(self, data: Microdata) -> list[tuple[tuple[str, ...], int]]:
        """Return the sets of columns with their k, larger sets first."""
        found = [(one.columns, one.k) for one in self.combinations] or [
            (keys, self.k) for keys in data.quasi.values()
        ]
        return sorted(found, key=lambda one: -len(one[0]))

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: nothing to protect, nothing that may be suppressed, too few records."""
        found = super().faults(data)
        if found:
            return found
        asked = self.asked(data)
        if not asked:
            return [
                RoleMissing(
                    "local_suppression needs keys declared with tacit.read(..., keys=...), or combinations."
                )
            ]
        if any(set(columns) <= set(self.keep) for columns, _ in asked):
            found.append(
                InputError(
                    "local_suppression: every column of a combination is in 'keep', so nothing may be suppressed"
                )
            )
        torn = [(c, o) for c in self.keep for o in data.linked_with(c) if o in self.targets(data)]
        if torn:
            found.append(
                InputError(
                    f"local_suppression: {torn[0][0]!r} is in 'keep' and linked with {torn[0][1]!r}, which would be suppressed for nothing. Keep both, or neither."
                )
            )
        if any(len(columns) > 62 for columns, _ in asked):
            found.append(
                InputError("local_suppression: at most 62 columns can be looked at together")
            )
        n = len(data)
        if 0 < n < max(k for _, k in asked):
            found.append(
                Infeasible(
                    "local_suppression: there are fewer records than k. Lower k or add records."
                )
            )
        return found

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        if len(data) == 0:
            return data
        asked = self.asked(data)
        names = tuple(dict.fromkeys(c for columns, _ in asked for c in columns))
        coded = {c: data.codes(c) for c in names}
        codes = np.column_stack(
            [np.where(v.codes == v.null, MISSING, v.codes).astype(np.int64) for v in coded.values()]
        )
        # A cell is as dear as all that go with it: linked ones, and those of members.
        together = count_going_together(data, names)
        hidden = self.hidden(codes, names, asked, together, ctx)
        self.tell(codes, hidden, names, asked, ctx)
        table = data.to_arrow(names)
        return data.replace(
            {
                c: blank_values(table.column(c), hidden[:, j])
                for j, c in enumerate(names)
                if hidden[:, j].any()
            }
        )

    def hidden(
        self,
        codes: Ints,
        names: tuple[str, ...],
        asked: list[tuple[tuple[str, ...], int]],
        together: Floats,
        ctx: Context,
    ) -> Flags:
        """Return the cells to make missing; repeated while one combination spoils another."""
        hidden = np.zeros(codes.shape, dtype=bool)
        while True:
            before = int(hidden.sum())
            for columns, k in asked:
                at = [names.index(c) for c in columns]
                weights = self.weights(codes[:, at], columns) * together[at]
                fixed = np.array([c in self.keep for c in columns])
                now = np.where(hidden[:, at], MISSING, codes[:, at])
                match self.rule:
                    case "each":
                        greedy = self.method == "greedy"
                        found = suppress_each(now, k, weights, fixed, greedy=greedy, tick=ctx.tick)
                    case "shared":
                        found = suppress_shared(now, k, weights, fixed, tick=ctx.tick)
                    case _:
                        found = suppress_strict(now, k, weights, fixed, tick=ctx.tick)
                hidden[:, at] |= found
            if self.rule != "strict" or len(asked) == 1 or int(hidden.sum()) == before:
                return np.asarray(hidden & (codes != MISSING))

    def weights(self, codes: Ints, columns: tuple[str, ...]) -> Floats:
        """Return the weight of a cell of each column."""
        if self.importance == "entropy":
            return np.array(
                [max(entropy(c - MISSING, np.ones(len(c))), SMALLEST_WEIGHT) for c in codes.T]
            )
        return np.array([self.importance.get(c, 1.0) for c in columns])

    def tell(
        self,
        codes: Ints,
        hidden: Flags,
        names: tuple[str, ...],
        asked: list[tuple[tuple[str, ...], int]],
        ctx: Context,
    ) -> None:
        """Note what went, and warn of what the rule leaves open."""
        exact = self.rule == "each" and self.method == "optimal"
        ctx.note(
            suppressed={c: int(n) for c, n in zip(names, hidden.sum(axis=0), strict=True)},
            cells=int(hidden.sum()),
            records=int(hidden.any(axis=1).sum()),
            lightest_for_each_record=exact and all(len(c) <= ALL_SETS for c, _ in asked),
        )
        if self.rule == "shared":
            whole = count_untouched_rare(codes, hidden, names, asked)
            ctx.note(rare_records_left_whole=whole)
            if whole:
                warnings.warn(
                    "local_suppression: under rule 'shared' records with a rare combination are released as they are; only the missing values of others make them agree with k records. Rule 'each' changes every one.",
                    WeakProtection,
                    stacklevel=4,
                )

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        del result
        strict = self.rule == "strict"
        for name, (columns, k) in zip(self.titles(data), self.asked(data), strict=True):
            yield Claim(
                "k-anonymity" if strict else "k-agreement",
                {"k": k},
                name,
                columns,
                () if strict else ("A missing cell cannot be filled in from other columns.",),
            )

    def titles(self, data: Microdata) -> list[str]:
        """Return a name for each set of columns."""
        if self.combinations:
            return ["combination"] * len(self.combinations)
        of = {keys: name for name, keys in data.quasi.items()}
        return [of[columns] for columns, _ in self.asked(data)]


def blank_values(column: pa.ChunkedArray, hidden: Flags) -> pa.Array:
    """Return a column with some values missing."""
    whole = column.combine_chunks()
    return pc.if_else(pa.array(~hidden), whole, pa.scalar(None, whole.type))


def count_untouched_rare(
    codes: Ints, hidden: Flags, names: tuple[str, ...], asked: list[tuple[tuple[str, ...], int]]
) -> int:
    """Return how many records with a rare combination lost nothing of it."""
    whole = np.zeros(len(codes), dtype=bool)
    for columns, k in asked:
        at = [names.index(c) for c in columns]
        _, ids, size = np.unique(codes[:, at], axis=0, return_inverse=True, return_counts=True)
        whole |= (size[ids.ravel()] < k) & ~hidden[:, at].any(axis=1)
    return int(whole.sum())
