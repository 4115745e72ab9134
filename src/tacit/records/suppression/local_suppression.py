"""Local suppression: single cells made missing until every record agrees with k records on its keys."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field, model_validator

from tacit.arrays import Flags, Floats, Ints
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.together import count_going_together
from tacit.data.values import read_numeric_column
from tacit.errors import Infeasible, InputError, RoleMissing, SdcError, WeakProtection
from tacit.fields import ColumnName, ColumnNames, OpenShare, PositiveInt
from tacit.records.suppression.local_cells import suppress_shared, suppress_strict
from tacit.records.suppression.local_each import suppress_each
from tacit.records.suppression.local_problem import (
    MISSING,
    Demand,
    Problem,
    bound_by_classes,
    bound_by_records,
    find_risky,
    find_short,
    hide_until_safe,
    make_views,
)
from tacit.records.suppression.mu_argus import SMALLEST_WEIGHT, Importance, entropy
from tacit.registry import register
from tacit.spec import Method

#: A share of the weight that does not count as a gap.
SLIGHT = 1e-9


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
        No rare combination stays whole. A record that shows all keys keeps them only when k records show
        the same; every other one loses the lightest set of cells that makes k records agree with what is
        left of it. A record with a missing key loses cells only where fewer than k agree with it even then. Up to twelve columns all sets are looked at; with more, sets of up to three, and then one
        column at a time. ``method="greedy"`` does only the last; ``"optimal"`` goes both ways, lets records
        exchange cells for lighter ones, and takes the lighter result, so that it never weighs more.
    ``shared``
        The missing values of one record also help the others that then agree with it, so that far fewer
        cells go. Many records with a rare combination are then released as they are: the count that
        protects them rests on the missing values of others. A heuristic.
    ``strict``
        A missing value is a value of its own: every combination, missing values included, is shared by
        k records, which is k-anonymity proper. A heuristic; it needs most cells.

    The weight of a cell is the importance of its column, times the cells that go with it where households or
    linked columns are declared. The notes give the weight of all cells hidden, a lower
    bound that no other choice of cells can undercut, and whether the choice is thereby proven to be the lightest.

    ``combinations`` asks for several sets of columns instead of the keys, each with its own k, and ``sizes`` for
    all sets of so many keys. Several sets, and several quasi-identifiers, are met together: a cell that goes for
    one takes its record out of the counts of others, so that under ``each`` and ``strict`` counting and hiding
    are repeated until all hold.

    With ``risk_above``, every record whose individual risk (Benedetti and Franconi, by the weights) is above it loses
    cells until it is not, a missing value agreeing with every value; k then counts only where it is given. Missing values
    never raise the risk of another record. A heuristic: the lightest cells go first.

    With ``l``, the records that agree must also have at least l different known values of the ``sensitive`` column
    (distinct l-diversity), in every place where k of them are asked for.

    References
    ----------
    Templ, Kowarik, Meindl (2015), Statistical disclosure control for micro-data using the R package
    sdcMicro, Journal of Statistical Software 67(4).
    Hundepool (2006), The ARGUS software in CENEX, PSD 2006, LNCS 4302, 334-346.
    Benedetti, Franconi (1998), Statistical and technological solutions for controlled data dissemination, Pre-proceedings
    of New Techniques and Technologies for Statistics, vol. 1, 225-232.
    Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam (2007), l-diversity: privacy beyond k-anonymity, ACM
    Transactions on Knowledge Discovery from Data 1(1), article 3.
    """

    kind: Literal["local_suppression"] = "local_suppression"
    k: int | None = Field(
        default=None,
        ge=2,
        description="records that must agree on the keys (default 3; with risk_above none)",
    )
    rule: Literal["each", "shared", "strict"] = Field(
        default="each",
        description="every rare record loses cells; or missing values of others count too; or missing is a value of its own",
    )
    method: Literal["optimal", "greedy"] = Field(
        default="optimal",
        description="each: the lightest cells that were found, or one column at a time",
    )
    combinations: tuple[Combination, ...] = Field(
        default=(), description="sets of columns with their own k, instead of the keys"
    )
    sizes: Mapping[PositiveInt, int] = Field(
        default_factory=dict,
        description="number of keys to k: all sets of so many keys with that k, instead of all keys together",
    )
    risk_above: OpenShare | None = Field(
        default=None,
        description="records with a larger individual risk lose cells until it is at most this",
    )
    l: int = Field(  # noqa: E741 - the letter of l-diversity
        default=1, ge=1, description="different sensitive values among the records that agree"
    )
    sensitive: ColumnName | None = Field(
        default=None, description="the sensitive column of l (default: the only one declared)"
    )
    importance: Importance = Field(default_factory=dict)
    keep: tuple[ColumnName, ...] = Field(
        default=(), description="columns that are never suppressed"
    )

    on_household = "together"
    on_weight = "option"
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
        if self.combinations and self.sizes:
            raise ValueError("give combinations or sizes, not both")
        if any(k < 2 for k in self.sizes.values()):
            raise ValueError("sizes must ask for at least 2 records")
        if self.risk_above is not None and (self.combinations or self.sizes):
            raise ValueError("risk_above looks at the keys; leave out combinations and sizes")
        if self.risk_above is not None and self.rule == "strict":
            raise ValueError(
                "risk_above goes with the rules each and shared, in which a missing value agrees with every value"
            )
        if self.sensitive is not None and self.l < 2:
            raise ValueError("sensitive goes with l of at least 2")
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns of combinations, importances and those kept."""
        named = [c for one in self.combinations for c in one.columns]
        weighed = () if self.importance == "entropy" else self.importance
        told = () if self.sensitive is None else (self.sensitive,)
        return tuple(dict.fromkeys([*named, *weighed, *self.keep, *told]))

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns in which cells may be suppressed."""
        names = dict.fromkeys(c for columns, _ in self.asked(data) for c in columns)
        return tuple(c for c in names if c not in self.keep)

    def asked(self, data: Microdata) -> list[tuple[tuple[str, ...], int]]:
        """Return the sets of columns with their k, larger sets first."""
        if self.sizes:
            found = [
                (columns, k)
                for size, k in self.sizes.items()
                for keys in data.quasi.values()
                for columns in itertools.combinations(keys, size)
            ]
        else:
            # Where the risk alone counts no records are asked for.
            k = self.k or (3 if self.risk_above is None else 1)
            found = [(one.columns, one.k) for one in self.combinations] or [
                (keys, k) for keys in data.quasi.values()
            ]
        return sorted(dict.fromkeys(found), key=lambda one: -len(one[0]))

    def sensitive_column(self, data: Microdata) -> str | None:
        """Return the column whose values must differ, if they must."""
        if self.l < 2:
            return None
        declared = data.sensitive
        return self.sensitive or (declared[0] if len(declared) == 1 else None)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: nothing to protect, nothing that may be suppressed, too few records."""
        found = super().faults(data) or list(self.faults_of_sizes(data))
        return found or list(self.own_faults(data))

    def own_faults(self, data: Microdata) -> Iterator[SdcError]:
        """Yield what is wrong with the sets of columns."""
        asked = self.asked(data)
        if not asked:
            yield RoleMissing(
                "local_suppression needs keys declared with tacit.read(..., keys=...), or combinations."
            )
            return
        yield from self.faults_of_values(data)
        if self.risk_above is not None and data.weight is None:
            yield RoleMissing(
                "local_suppression: risk_above needs survey weights, declared with tacit.read(..., weight=...)."
            )
        if any(set(columns) <= set(self.keep) for columns, _ in asked):
            yield InputError(
                "local_suppression: every column of a combination is in 'keep', so nothing may be suppressed"
            )
        torn = [(c, o) for c in self.keep for o in data.linked_with(c) if o in self.targets(data)]
        if torn:
            yield InputError(
                f"local_suppression: {torn[0][0]!r} is in 'keep' and linked with {torn[0][1]!r}, which would be suppressed for nothing. Keep both, or neither."
            )
        if any(len(columns) > 62 for columns, _ in asked):
            yield InputError("local_suppression: at most 62 columns can be looked at together")
        n = len(data)
        if 0 < n < max(k for _, k in asked):
            yield Infeasible(
                "local_suppression: there are fewer records than k. Lower k or add records."
            )

    def faults_of_sizes(self, data: Microdata) -> Iterator[SdcError]:
        """Yield sizes that no set of keys has, and quasi-identifiers of which nothing would be checked."""
        if not self.sizes or not data.quasi:
            return
        lengths = [len(keys) for keys in data.quasi.values()]
        if max(self.sizes) > (top := max(lengths)):
            yield InputError(f"local_suppression: sizes go up to the number of keys, {top}")
        elif min(self.sizes) > min(lengths):
            yield InputError(
                "local_suppression: a quasi-identifier has fewer keys than every size, so nothing of it would be checked; add a smaller size"
            )

    def faults_of_values(self, data: Microdata) -> Iterator[SdcError]:
        """Yield why l different values cannot be asked for."""
        if self.l < 2:
            return
        column = self.sensitive_column(data)
        if column is None:
            yield RoleMissing(
                "local_suppression: l needs the sensitive column, as sensitive=... or declared with tacit.read."
            )
        elif any(column in columns for columns, _ in self.asked(data)):
            yield InputError(
                f"local_suppression: column {column!r} is sensitive and among the columns to suppress"
            )
        elif len(data) and len(data.codes(column).values) < self.l:
            yield Infeasible(
                f"local_suppression: column {column!r} has fewer than l different values. Lower l."
            )

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        if len(data) == 0:
            return data
        asked = self.asked(data)
        names = tuple(dict.fromkeys(c for columns, _ in asked for c in columns))
        problem = self.pose(data, names, asked)
        if self.risk_above is None:
            hidden = self.hidden(problem, ctx)
        else:
            hidden = hide_until_safe(
                problem, weights_of(data), self.risk_above, lambda one: self.hidden(one, ctx)
            )
        self.tell(problem, hidden, names, ctx)
        return blank_values(data, names, hidden)

    def pose(
        self, data: Microdata, names: tuple[str, ...], asked: list[tuple[tuple[str, ...], int]]
    ) -> Problem:
        """Return the problem on codes, with the records at risk marked."""
        codes = np.column_stack([code_values(data, c) for c in names])
        told = self.sensitive_column(data)
        demands = tuple(Demand(tuple(names.index(c) for c in columns), k) for columns, k in asked)
        marked = None
        # On several sets of columns a record may be at risk on one alone; the rounds after the first mark these.
        if self.risk_above is not None and len(demands) == 1:
            marked = find_risky(codes, weights_of(data), demands, self.risk_above)
        return Problem(
            codes,
            demands,
            # A cell is as dear as all that go with it: linked ones, and those of members.
            self.weights(codes, names) * count_going_together(data, names),
            np.array([c in self.keep for c in names]),
            in_full=self.rule == "each",
            kinds=self.l,
            sensitive=None if told is None else code_values(data, told),
            marked=marked,
        )

    def hidden(self, problem: Problem, ctx: Context) -> Flags:
        """Return the cells to make missing."""
        match self.rule:
            case "each":
                return suppress_each(problem, greedy=self.method == "greedy", tick=ctx.tick)
            case "shared":
                return suppress_shared(problem, tick=ctx.tick)
            case _:
                return suppress_strict(problem, tick=ctx.tick)

    def bound(self, problem: Problem) -> float:
        """Return a weight that no choice of cells can undercut."""
        if self.rule == "strict":
            return bound_by_classes(problem)
        nothing = np.zeros(problem.codes.shape, dtype=bool)
        views = make_views(problem, nothing)
        if not find_short(problem, nothing, views).any():
            return 0.0
        # One missing value can settle everybody who need not lose one.
        known = (problem.codes >= 0).any(axis=0) & ~problem.fixed
        least = float(problem.weights[known].min())
        if self.rule == "shared":
            return least
        whole = find_short(replace(problem, marked=None), nothing, views, partly=False)
        return max(bound_by_records(problem, whole), least)

    def weights(self, codes: Ints, columns: tuple[str, ...]) -> Floats:
        """Return the weight of a cell of each column."""
        if self.importance == "entropy":
            told = [entropy(c - MISSING, np.ones(len(c))) for c in codes.T]
            return np.maximum(told, SMALLEST_WEIGHT)
        return np.array([self.importance.get(c, 1.0) for c in columns])

    def tell(self, problem: Problem, hidden: Flags, names: tuple[str, ...], ctx: Context) -> None:
        """Note what went and how little could have gone, and warn of what the rule leaves open."""
        weight, bound = problem.cost(hidden), self.bound(problem)
        gap = weight - bound
        ctx.note(
            **count_hidden(names, hidden),
            weight=weight,
            lower_bound=bound,
            gap=gap / weight if gap > SLIGHT * weight else 0.0,
            proven=gap <= SLIGHT * weight,
        )
        if self.rule == "shared":
            # The records with a rare combination that lost nothing of it.
            left = np.zeros(len(problem.codes), dtype=bool)
            for view in make_views(problem, np.zeros_like(hidden)):
                left |= view.find_short(in_full=True) & ~hidden[:, view.need.columns].any(axis=1)
            whole = int(left.sum())
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
        full = {"in_full": True} if self.rule == "each" else {}
        assumed = () if strict else ("A missing cell cannot be filled in from other columns.",)
        told = self.sensitive_column(data)
        asked: dict[str, Any]
        if self.risk_above is not None:
            asked = {"threshold": self.risk_above, "weight": data.weight, "missing": "wildcard"}
            weighed = "The weights say how many people of the population a record stands for."
            for name, columns in data.quasi.items():
                yield Claim("individual-risk", dict(asked), name, columns, (*assumed, weighed))
        for name, sets, k in self.stated(data):
            if k < 2 and told is None:
                continue
            columns = tuple(dict.fromkeys(c for one in sets for c in one))
            listed = {} if len(sets) == 1 else {"combinations": [list(one) for one in sets]}
            model = "k-anonymity" if strict else "k-agreement"
            if strict and listed:
                for one in sets:
                    yield Claim(model, {"k": k}, name, one)
            elif k > 1:
                yield Claim(model, {"k": k, **full, **listed}, name, columns, assumed)
            if told is not None:
                asked = {"l": self.l, "sensitive": told, "missing": "value" if strict else "agrees"}
                yield Claim("l-agreement", {**asked, **full, **listed}, name, columns, assumed)

    def stated(self, data: Microdata) -> list[tuple[str, list[tuple[str, ...]], int]]:
        """Return a name, sets of columns and k for each claim: one a set, or one for all sets of a size."""
        asked = self.asked(data)
        if not self.sizes:
            of = {} if self.combinations else {keys: name for name, keys in data.quasi.items()}
            return [(of.get(columns, "combination"), [columns], k) for columns, k in asked]
        return [
            (f"all sets of {size} keys", [c for c, _ in asked if len(c) == size], k)
            for size, k in self.sizes.items()
        ]


def blank_values(data: Microdata, names: Sequence[str], hidden: Flags) -> Microdata:
    """Return the data with some cells of columns missing."""
    table, columns = data.to_arrow(names), {}
    for j in np.flatnonzero(hidden.any(axis=0)).tolist():
        whole = table.column(names[j]).combine_chunks()
        kept = pa.array(~hidden[:, j])
        columns[names[j]] = pc.if_else(kept, whole, pa.scalar(None, whole.type))
    return data.replace(columns)


def count_hidden(names: Sequence[str], hidden: Flags) -> dict[str, Any]:
    """Return how many cells of each column, cells and records are hidden."""
    return {
        "suppressed": {c: int(n) for c, n in zip(names, hidden.sum(axis=0), strict=True)},
        "cells": int(hidden.sum()),
        "records": int(hidden.any(axis=1).sum()),
    }


def weights_of(data: Microdata) -> Floats:
    """Return the weight of each record."""
    assert data.weight is not None
    return read_numeric_column(data, data.weight).values.astype(np.float64)


def code_values(data: Microdata, column: str) -> Ints:
    """Return a column as integers, -1 where missing."""
    coded = data.codes(column)
    return np.where(coded.codes == coded.null, MISSING, coded.codes).astype(np.int64)
