"""Every measure of the framework, computed for one protected version; and what each one means."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tacit.arrays import Flags, Floats
from tacit.errors import InputError
from tacit.stats.small_cells import sample_risk, small_cell_risk
from tacit.tables.compare import association, distances, ranks, variance
from tacit.tables.compare.distributions import Distributions
from tacit.tables.compare.impute import Rule, fill_suppressed
from tacit.tables.compare.layout import Pick
from tacit.tables.compare.loglinear import Model, deviance
from tacit.tables.compare.summary import summary, suppression
from tacit.tables.compare.tests_of_bias import binomial_test, sign_test, signed_rank_test

Value = float | None

GROUPS: dict[str, str] = {
    "summary": "Summary",
    "risk": "Disclosure risk",
    "bias": "Tests for bias (p-values)",
    "distance": "Distances of internal cells",
    "totals": "Distances of totals",
    "variance": "Variance of the cells",
    "association": "Association and entropy",
    "ranks": "Rankings",
    "between": "Between variance of a proportion",
    "loglinear": "Log-linear model",
}

#: Symbol: group, words.
MEASURES: dict[str, tuple[str, str]] = {
    "cells": ("summary", "internal cells"),
    "small_cells": ("summary", "small cells"),
    "zeros": ("summary", "zeros"),
    "contributors": ("summary", "contributing units"),
    "total": ("summary", "total information"),
    "average": ("summary", "average cell"),
    "standard_error": ("summary", "standard error of the average"),
    "smallest": ("summary", "smallest cell"),
    "largest": ("summary", "largest cell"),
    "row_average_low": ("summary", "smallest average cell of a row"),
    "row_average_high": ("summary", "largest average cell of a row"),
    "column_average_low": ("summary", "smallest average cell of a column"),
    "column_average_high": ("summary", "largest average cell of a column"),
    "suppressed_cells": ("summary", "suppressed internal cells"),
    "suppressed_margins": ("summary", "suppressed margins"),
    "suppressed_contributors": ("summary", "units in suppressed cells"),
    "suppressed_information": ("summary", "information in suppressed cells"),
    "small_changed": ("risk", "small cells changed"),
    "small_unchanged": ("risk", "small cells not changed"),
    "percent_unchanged": ("risk", "small cells not changed, %"),
    "tau1": ("risk", "sample uniques that are population uniques"),
    "tau2": ("risk", "expected correct matches of sample uniques"),
    "binomial_p": ("bias", "exact binomial test of the rounding"),
    "sign_p": ("bias", "sign test"),
    "signed_rank_p": ("bias", "signed rank test"),
    "HD": ("distance", "Hellinger's distance"),
    "AAD": ("distance", "average absolute distance per cell"),
    "RAD": ("distance", "relative absolute distance"),
    "from_zero": ("distance", "empty cells that became positive"),
    "AT": ("totals", "average absolute distance per row total"),
    "RAT": ("totals", "relative absolute distance of row totals, summed"),
    "RAT_mean": ("totals", "relative absolute distance of row totals, mean"),
    "AT_published": ("totals", "the same of published margins: absolute"),
    "RAT_mean_published": ("totals", "the same of published margins: relative, mean"),
    "not_additive": ("totals", "rows that do not add up to their published total"),
    "AV": ("variance", "average variance of the cells of a row"),
    "RAV": ("variance", "its change, %"),
    "X2": ("association", "Pearson's chi-squared"),
    "RX2": ("association", "its change, %"),
    "CV": ("association", "Cramér's V"),
    "RCV": ("association", "its change, %"),
    "ENT": ("association", "entropy over all rows"),
    "ENTT": ("association", "its change, %"),
    "RC": ("ranks", "cells that changed their rank group, %"),
    "columns_moved": ("ranks", "columns above the rank threshold"),
    "percent_columns_moved": ("ranks", "columns above the rank threshold, %"),
    "spearman": ("ranks", "Spearman's correlation with the original"),
    "BV": ("between", "between variance of the target proportion"),
    "BVR": ("between", "its change, %"),
    "BV_ratio": ("between", "its ratio to the original"),
    "R2": ("between", "share of variance explained by the rows"),
    "L2": ("loglinear", "deviance of the model"),
    "LR": ("loglinear", "its ratio to the original"),
}

#: What can stand on the utility axis of a map: the measure, and the value that means no loss.
LOSSES: dict[str, float] = {
    "HD": 0.0, "AAD": 0.0, "RAD": 0.0, "AT": 0.0, "RAT": 0.0, "RAT_mean": 0.0, "RAV": 0.0,
    "RX2": 0.0, "RCV": 0.0, "ENTT": 0.0, "RC": 0.0, "columns_moved": 0.0, "BVR": 0.0,
    "spearman": 1.0, "BV_ratio": 1.0, "LR": 1.0,
}  # fmt: skip
#: What can stand on the risk axis.
RISKS = ("percent_unchanged", "small_unchanged", "tau1", "tau2")


@dataclass(frozen=True)
class Settings:
    """What the user chose; see :class:`tacit.TableComparison`."""

    impute: Rule | None = None
    along: Literal["rows", "columns"] = "rows"
    small: Collection[int] = (1, 2)
    zeros: distances.Zeros = "skip"
    rank_groups: int = 20
    rank_threshold: float = 0.2
    target: Pick | None = None
    base: Pick | None = None
    model: Model | None = None
    association: tuple[Sequence[str], Sequence[str]] | None = None
    subtotals: Mapping[str, Pick] = field(default_factory=dict)
    population: Distributions | None = None

    def __post_init__(self) -> None:
        if self.rank_groups < 2:
            raise InputError("rank_groups must be at least 2")
        if not 0 <= self.rank_threshold <= 1:
            raise InputError("rank_threshold is a share between 0 and 1")
        if any(s < 1 for s in self.small):
            raise InputError("small cells are counts of at least 1")


@dataclass(frozen=True)
class Measured:
    """The measures of one version, the same of the original where they exist, and what was left out."""

    values: dict[str, Value]
    original: dict[str, Value]
    notes: tuple[str, ...]
    by_row: Floats


def measure(
    original: Distributions,
    protected: Distributions,
    settings: Settings,
    rounded: int | None = None,
) -> Measured:
    """Return every measure of one protected version."""
    if original.hidden is not None:
        raise InputError("the original table has missing cells; it must be complete")
    if not original.cells.any():
        raise InputError("the original table is all zero: no relative measure is defined")
    o, p = original.cells, fill_suppressed(protected, settings.impute, settings.along)
    found = Collector()
    summarise(found, original, protected, p, settings)
    risks(found, original, protected, settings)
    bias(found, o, p, protected, rounded)
    distance(found, o, p, settings)
    totals(found, original, protected, p, settings)
    found.both("AV", variance.average_variance(o), variance.average_variance(p))
    found.change("RAV", "AV")
    associations(found, original, p, settings)
    rankings(found, o, p, settings)
    if settings.target is not None:
        add_between_variance(found, original, p, settings)
    fits(found, original, p, settings)
    return Measured(
        found.values, found.original, tuple(found.notes), distances.hellinger_by_row(o, p)
    )


class Collector:
    """Gathers values as they are computed."""

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}
        self.original: dict[str, Value] = {}
        self.notes: list[str] = []

    def put(self, **values: Value) -> None:
        """Add values of the version."""
        self.values.update(values)

    def both(self, name: str, before: Value, after: Value) -> None:
        """Add a value of the original and of the version."""
        self.original[name], self.values[name] = before, after

    def change(self, name: str, of: str) -> None:
        """Add the change of a value in percent."""
        self.values[name] = association.percent_change(self.values[of], self.original[of])

    def ratio(self, name: str, of: str) -> None:
        """Add the ratio of a value to that of the original."""
        after, before = self.values[of], self.original[of]
        self.values[name] = after / before if before and after is not None else None

    def note(self, count: int, one: str) -> None:
        """Add a remark with a count in front, if the count is not 0."""
        if count:
            self.notes.append(f"{count:,} {one}")


def summarise(
    found: Collector,
    original: Distributions,
    protected: Distributions,
    p: Floats,
    settings: Settings,
) -> None:
    """Add the summary block."""
    before = summary(original, settings.small)
    after = summary(
        Distributions(original.layout, p, units=original.units, counts=original.counts),
        settings.small,
    )  # fmt: skip
    for name in MEASURES:
        if name in before:
            found.both(name, before[name], after[name])
    if protected.hidden is not None or has_withheld_margin(protected):
        found.put(**suppression(original, protected))


def has_withheld_margin(table: Distributions) -> bool:
    """Return True when a published margin is suppressed."""
    margins = (table.row_totals, table.column_totals)
    return any(m is not None and bool(np.isnan(m).any()) for m in margins)


def risks(
    found: Collector, original: Distributions, protected: Distributions, settings: Settings
) -> None:
    """Add the risk of small cells, and of sample uniques when the population is known."""
    if settings.small:
        risk = small_cell_risk(
            original.cells,
            protected.cells,
            settings.small,
            units=original.units_behind(),
            hidden=protected.hidden,
        )
        found.put(
            small_changed=risk.changed,
            small_unchanged=risk.unchanged,
            percent_unchanged=risk.percent_unchanged,
        )
    if settings.population is not None:
        shown = protected.cells
        if protected.hidden is not None:
            shown = np.where(protected.hidden, 0.0, shown)
        before = sample_risk(original.cells, settings.population.cells)
        after = sample_risk(shown, settings.population.cells)
        found.both("tau1", before.tau1, after.tau1)
        found.both("tau2", before.tau2, after.tau2)
        found.note(after.outside, "sample uniques have no counterpart in the population")


def bias(
    found: Collector, o: Floats, p: Floats, protected: Distributions, rounded: int | None
) -> None:
    """Add the tests of section 2.2."""
    if rounded is not None:
        shown: Flags | slice = slice(None) if protected.hidden is None else ~protected.hidden
        found.put(binomial_p=binomial_test(o[shown], protected.cells[shown], rounded).p_value)
    found.put(sign_p=sign_test(o, p).p_value, signed_rank_p=signed_rank_test(o, p).p_value)


def distance(found: Collector, o: Floats, p: Floats, settings: Settings) -> None:
    """Add the distances of internal cells."""
    relative = distances.relative_absolute(o, p, settings.zeros)
    found.put(
        HD=distances.hellinger(o, p),
        AAD=distances.average_absolute(o, p),
        RAD=relative.value,
        from_zero=relative.from_zero,
    )
    found.note(relative.skipped, "empty cells of the original are left out of RAD")


def totals(
    found: Collector,
    original: Distributions,
    protected: Distributions,
    p: Floats,
    settings: Settings,
) -> None:
    """Add the distances of row totals, of published margins and of sub-totals."""
    o = original.cells
    rows_before, rows_after = o.sum(axis=1), p.sum(axis=1)
    plain = distances.totals(rows_before, rows_after)
    found.put(AT=plain.at, RAT=plain.rat_sum, RAT_mean=plain.rat_mean)
    found.note(plain.skipped, "rows with an empty total are left out of RAT")
    margin = protected.row_totals
    if margin is not None:
        shown = distances.totals(rows_before, margin)
        gap = np.abs(margin - rows_after) > 1e-9 * np.maximum(1.0, rows_after)
        found.put(
            AT_published=shown.at,
            RAT_mean_published=shown.rat_mean,
            not_additive=int((gap & ~np.isnan(margin)).sum()),
        )
    for name, where in settings.subtotals.items():
        part = original.layout.columns.pick(where)
        sub = distances.totals(o[:, part].sum(axis=1), p[:, part].sum(axis=1))
        found.put(
            **{
                f"AT ({name})": sub.at,
                f"RAT ({name})": sub.rat_sum,
                f"RAT_mean ({name})": sub.rat_mean,
            }
        )


def associations(found: Collector, original: Distributions, p: Floats, settings: Settings) -> None:
    """Add X2, Cramér's V and entropy."""
    tables = [original.cells, p]
    if settings.association is not None:
        tables = [original.layout.rearrange_cells(t, *settings.association) for t in tables]
    before, after = tables
    found.both("X2", association.pearson(before), association.pearson(after))
    found.change("RX2", "X2")
    found.both(
        "CV",
        association.cramers_v(before, found.original["X2"]),
        association.cramers_v(after, found.values["X2"]),
    )
    found.change("RCV", "CV")
    old, new = association.entropy(original.cells), association.entropy(p)
    found.both("ENT", old.value, new.value)
    found.change("ENTT", "ENT")
    found.note(new.skipped, "empty rows of the version have no entropy")


def rankings(found: Collector, o: Floats, p: Floats, settings: Settings) -> None:
    """Add the changes of rank groups."""
    moved = ranks.column_changes(o, p, settings.rank_groups)
    over = int((moved > 100 * settings.rank_threshold).sum())
    found.put(
        RC=ranks.all_cells_change(o, p, settings.rank_groups),
        columns_moved=over,
        percent_columns_moved=100.0 * over / len(moved),
        spearman=ranks.spearman(o, p),
    )


def add_between_variance(
    found: Collector, original: Distributions, p: Floats, settings: Settings
) -> None:
    """Add the between variance of the target proportion, on rows that have it in both tables."""
    assert settings.target is not None
    target = original.layout.columns.pick(settings.target)
    base = None if settings.base is None else original.layout.columns.pick(settings.base)
    if base is not None and np.any(target & ~base):
        raise InputError("the target must be part of its base")
    part: Any = slice(None) if base is None else base
    common = (original.cells[:, part].sum(axis=1) > 0) & (p[:, part].sum(axis=1) > 0)
    before = variance.between_variance(original.cells, target, base, common)
    after = variance.between_variance(p, target, base, common)
    found.both("BV", before.variance, after.variance)
    found.change("BVR", "BV")
    found.ratio("BV_ratio", "BV")
    found.both("R2", before.r2, after.r2)
    found.note(int((~common).sum()), "rows without a base are left out of the between variance")


def fits(found: Collector, original: Distributions, p: Floats, settings: Settings) -> None:
    """Add the deviance of the log-linear model, fitted to each table by itself."""
    model = settings.model or [original.layout.rows.names, original.layout.columns.names]
    before = deviance(original.layout, original.cells, model)
    after = deviance(original.layout, p, model)
    found.both("L2", before.deviance, after.deviance)
    found.ratio("LR", "L2")
    if not (before.converged and after.converged):
        found.notes.append("The log-linear model was not fitted to full accuracy")
