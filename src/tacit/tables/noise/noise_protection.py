"""Whether a file with noisy magnitudes protects the companies in the tables that are made from it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import not_numeric, read_numeric_column
from tacit.engine.codes import group_ids
from tacit.errors import ColumnNotFound, InputError, SdcError
from tacit.fields import ColumnName, PositiveFloat, Probability
from tacit.plot.chart import Chart
from tacit.records.utility.matched import common_codes
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure
from tacit.tables.noise.noise_study import (
    NoisyCells,
    change_classes,
    companies_of,
    draw_changes,
    judge_cells,
    random_group_cv,
    study_row,
)


@register
class NoiseProtection(Measure):
    r"""Whether tables made from a noisy file move sensitive cells as far as the p% rule asks.

    Both files are tabulated, each with its own weights. A cell of the original with total T, the two
    largest companies X1, X2 (weights that users do not know left out) and rounding protection r is
    sensitive when prot = p/100 X1 - (T - X1 - X2 + r) > 0, and must move by prot. Its protection multiplier
    is :math:`|T' - T| / prot`; alpha is the mean of max(0, 1 - multiplier) over sensitive cells, beta the
    mean relative change that was not needed over the others. The rule is met when no multiplier is below 1.
    Whoever made the noise, and how, does not matter; records need not be matched.

    References
    ----------
    Massell, Zayatz and Funk (2006), Protecting the confidentiality of survey tabular data by adding noise to
    the underlying microdata, PSD 2006, LNCS 4302, 304-317.
    """

    kind: Literal["noise_protection"] = "noise_protection"
    value: ColumnName = Field(description="the magnitude that has noise")
    company: ColumnName = Field(
        description="the column of the original that names the company behind a record"
    )
    tables: Mapping[str, tuple[ColumnName, ...]] = Field(
        description="the tables that are made from the file: name to the columns that span it"
    )
    p: Annotated[float, Field(gt=0, le=100)] = Field(default=10.0, description="of the p% rule")
    round_base: PositiveFloat | None = Field(
        default=None, description="the unit to which cells are rounded before publication, if any"
    )
    known_weight: ColumnName | None = Field(
        default=None,
        description="a column of weights that users know; the weight role holds those they do not",
    )
    flag_threshold: PositiveFloat | None = Field(
        default=None, description="flag cells that change by more than this share"
    )
    cv_threshold: PositiveFloat = Field(
        default=0.5, description="coefficient of variation above which a cell is of poor quality"
    )
    groups: Annotated[int, Field(ge=2)] = Field(
        default=10, description="random groups of companies for coefficients of variation"
    )
    alpha_limit: Probability | None = Field(
        default=None, description="the largest alpha that counts as protection enough; by default 0"
    )

    compares: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    random = True
    on_weight = "used"
    example: ClassVar[Mapping[str, Any]] = {
        "value": "income",
        "company": "job",
        "tables": {"by age": ["age"]},
    }

    @model_validator(mode="after")
    def _some_table(self) -> NoiseProtection:
        if not self.tables or not all(self.tables.values()):
            raise ValueError("tables needs at least one table, each with the columns that span it")
        return self

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: columns that do not exist, or hold no numbers."""
        spanning = list(itertools.chain(*self.tables.values()))
        weights = [self.known_weight] if self.known_weight else []
        named = [self.value, *dict.fromkeys(spanning), *weights]
        absent = [c for c in named if c not in data.columns]
        found = [e for e in super().faults(data) if not isinstance(e, ColumnNotFound)]
        if absent:
            found.append(ColumnNotFound(absent, list(data.columns), "the data"))
        numbers = [c for c in (self.value, *weights) if c in data.columns]
        return [*found, *not_numeric(data, numbers, self.kind)]

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> NoiseProtectionResult:
        before = self.side(other.original, "the original")
        after = self.side(data, "the release")
        owner = self.owners(other.original)[before.known]
        names = int(owner.max(initial=-1)) + 1
        group = ctx.rng.integers(0, self.groups, names)
        rows, judged = [], {}
        for name, columns in self.tables.items():
            ctx.tick(f"tabulating {name}")
            old, new, n = self.cells(other.original, data, columns)
            old, new = old[before.known], new[after.known]
            cells = self.judge(before, after, old, new, owner, n)
            cv = random_group_cv(old, group[owner], before.total, self.groups)
            rows.append(
                study_row(name, [cells], [cv[:0]], self.cv_threshold, self.flag_threshold, cv)
            )
            judged[name] = cells
        return self.result(rows, judged)

    def side(self, data: Microdata, name: str) -> Side:
        """Return what one file contributes: own values with known weights, and fully weighted ones."""
        column = read_numeric_column(data, self.value)
        x, known = np.asarray(column.values, dtype=np.float64), np.asarray(column.known)
        if (x[known] < 0).any():
            raise InputError(f"{self.kind}: {self.value!r} has negative values in {name}")
        own, total = x, np.ones(len(x))
        if self.known_weight is not None:
            given = read_numeric_column(data, self.known_weight)
            own, known = own * given.values, known & given.known
        if data.weight is not None:
            given = read_numeric_column(data, data.weight)
            total, known = np.asarray(given.values, dtype=np.float64), known & given.known
        return Side(known, own[known], (own * total)[known])

    def owners(self, original: Microdata) -> Ints:
        """Return the company of each record of the original."""
        if self.company not in original.columns:
            raise ColumnNotFound([self.company], list(original.columns), "the original data")
        company = original.codes(self.company)
        if (company.codes == company.null).any():
            raise InputError(f"{self.kind}: some records of the original have no {self.company!r}")
        return company.codes.astype(np.int64)

    def cells(
        self, original: Microdata, released: Microdata, columns: tuple[str, ...]
    ) -> tuple[Ints, Ints, int]:
        """Return the cell of each record of both files, and how many cells there are."""
        absent = [c for c in columns if c not in original.columns]
        if absent:
            raise ColumnNotFound(absent, list(original.columns), "the original data")
        coded = [common_codes(original, released, c) for c in columns]
        codes, n = [np.concatenate([c.old, c.new]) for c in coded], len(original)
        ids, _ = group_ids(codes, [c.size for c in coded], n_rows=len(codes[0]))
        kinds, cell = np.unique(ids, return_inverse=True)
        return cell[:n].astype(np.int64), cell[n:].astype(np.int64), len(kinds)

    def judge(
        self, before: Side, after: Side, old: Ints, new: Ints, owner: Ints, n: int
    ) -> NoisyCells:
        """Return one table before and after."""
        pre = np.bincount(old, weights=before.total, minlength=n).astype(np.float64)
        post = np.bincount(new, weights=after.total, minlength=n).astype(np.float64)
        filled = np.bincount(old, minlength=n) > 0
        # Cells that only the release has hold nobody of the original.
        place = np.cumsum(filled) - 1
        behind = companies_of(place[old], owner, before.own)
        return judge_cells(pre[filled], post[filled], behind, p=self.p, round_base=self.round_base)

    def result(
        self, rows: list[dict[str, Any]], judged: Mapping[str, NoisyCells]
    ) -> NoiseProtectionResult:
        """Put the result together."""
        missed = sum(int((c.multiplier < 1 - 1e-12).sum()) for c in judged.values())
        alpha = max(row["alpha"] for row in rows)
        limit = self.alpha_limit or 0.0
        met = alpha <= limit + 1e-12
        sensitive = sum(row["sensitive"] for row in rows)
        keep = [name for name in rows[0] if not name.endswith((" low", " high")) and name != CV]
        frame = pa.Table.from_pylist(
            [
                {**{name: row[name] for name in keep}, "rule met": row["alpha"] <= limit + 1e-12}
                for row in rows
            ]
        )
        return NoiseProtectionResult(
            kind=self.kind,
            title="Protection by noise before tabulation",
            value=alpha,
            numbers={
                "tables": len(rows),
                "sensitive cells": sensitive,
                "moved less than the rule asks": missed,
                "alpha": alpha,
                "beta": max(row["beta"] for row in rows),
                "rule met": met,
            },
            frame=nw.from_native(frame, eager_only=True),
            explanation=(
                f"Of {sensitive:,} sensitive cells {missed:,} move less than the {self.p:g}% rule asks. "
                "alpha is the mean shortfall over sensitive cells, beta the mean change that was not "
                "needed, each in the worst of the tables."
            ),
            shortfall=(
                f"{missed:,} of {sensitive:,} sensitive cells move less than the {self.p:g}% rule asks "
                f"(alpha {alpha:.4f}, at most {limit:g} was asked for)"
                if not met and self.asked("p", "alpha_limit")
                else ""
            ),
            met=met,
            changes={name: change_classes(cells.relative) for name, cells in judged.items()},
        )


#: Noise changes coefficients of variation, but a file without its factors does not tell by how much.
CV = "cv changed by less than 1 point"


@dataclass(frozen=True, eq=False)
class Side:
    """What the records of one file contribute to tables."""

    #: Records with a value and weights.
    known: Flags
    #: Values times weights that users know.
    own: Floats
    #: Values times all weights.
    total: Floats


@dataclass(frozen=True, repr=False)
class NoiseProtectionResult(Result):
    """Alpha, beta and the rest; ``frame`` has a row for each table."""

    met: bool = False
    changes: Mapping[str, Mapping[str, int]] | None = None

    def plot(self) -> Chart:
        """Return how many cells of the last table changed by how much."""
        return draw_changes(self.changes or {})
