"""Every measure of the framework, computed for one protected version; and what each one means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.arrays import Floats
from tacit.errors import InputError
from tacit.stats.small_cells import sample_risk, small_cell_risk
from tacit.tables.compare import formulas
from tacit.tables.compare.distributions import Distributions, fill_suppressed
from tacit.tables.compare.formulas import binomial_test, sign_test, signed_rank_test
from tacit.tables.compare.layout import Pick
from tacit.tables.compare.loglinear import deviance

if TYPE_CHECKING:
    from tacit.tables.compare.table_comparison import TableComparison

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


def describe_symbol(symbol: str) -> tuple[str, str] | None:
    """Return the group and the words of a symbol; ``AT (name)`` is that of a sub-total; None for others."""
    if symbol in MEASURES:
        return MEASURES[symbol]
    stem, found, name = symbol.partition(" (")
    if not found or stem not in MEASURES:
        return None
    return "totals", MEASURES[stem][1].replace("row total", f"sub-total {name.rstrip(')')}")


def symbol_order(symbol: str) -> tuple[int, int]:
    """Return where a measure stands in tables."""
    known, groups = list(MEASURES), list(GROUPS)
    group = groups.index((describe_symbol(symbol) or ("", ""))[0])
    return group, known.index(symbol) if symbol in MEASURES else len(known)


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
    settings: TableComparison,
    rounded: int | None = None,
    population: Distributions | None = None,
) -> Measured:
    """Return every measure of one protected version, with what the user chose."""
    if original.hidden is not None:
        raise InputError("the original table has missing cells; it must be complete")
    if not original.cells.any():
        raise InputError("the original table is all zero: no relative measure is defined")
    p = fill_suppressed(protected, settings.impute, settings.along)
    found = Measuring(original, protected, p, settings)
    found.summarise()
    found.add_risks(population)
    found.add_bias(rounded)
    found.add_distances()
    found.add_totals()
    found.both("AV", *map(formulas.average_variance, (found.o, p)))
    found.change("RAV", "AV")
    found.add_associations()
    found.add_rankings()
    if settings.target is not None:
        found.add_between_variance(settings.target)
    found.add_fits()
    by_row = formulas.hellinger_by_row(found.o, p)
    return Measured(found.values, found.before, tuple(found.notes), by_row)


class Measuring:
    """Gathers values as they are computed, for an original, a version of it, and its cells with imputed ones."""

    def __init__(
        self,
        original: Distributions,
        protected: Distributions,
        p: Floats,
        settings: TableComparison,
    ) -> None:
        self.original, self.protected, self.settings = original, protected, settings
        self.o, self.p = original.cells, p
        self.values: dict[str, Value] = {}
        self.before: dict[str, Value] = {}
        self.notes: list[str] = []

    def put(self, **values: Value) -> None:
        """Add values of the version."""
        self.values.update(values)

    def both(self, name: str, before: Value, after: Value) -> None:
        """Add a value of the original and of the version."""
        self.before[name], self.values[name] = before, after

    def change(self, name: str, of: str) -> None:
        """Add the change of a value in percent."""
        self.values[name] = formulas.percent_change(self.values[of], self.before[of])

    def ratio(self, name: str, of: str) -> None:
        """Add the ratio of a value to that of the original."""
        after, before = self.values[of], self.before[of]
        self.values[name] = after / before if before and after is not None else None

    def note(self, count: int, one: str) -> None:
        """Add a remark with a count in front, if the count is not 0."""
        if count:
            self.notes.append(f"{count:,} {one}")

    def summarise(self) -> None:
        """Add the summary block."""
        own, small = self.original, self.settings.small
        before = formulas.summary(own, small)
        after = formulas.summary(
            Distributions(own.layout, self.p, units=own.units, counts=own.counts), small
        )
        for name in MEASURES:
            if name in before:
                self.both(name, before[name], after[name])
        margins = (self.protected.row_totals, self.protected.column_totals)
        withheld = any(m is not None and bool(np.isnan(m).any()) for m in margins)
        if self.protected.hidden is not None or withheld:
            self.put(**formulas.suppression(own, self.protected))

    def add_risks(self, population: Distributions | None) -> None:
        """Add the risk of small cells, and of sample uniques when the population is known."""
        shown, hidden, settings = self.protected.cells, self.protected.hidden, self.settings
        if settings.small:
            units = self.original.units_behind()
            risk = small_cell_risk(self.o, shown, settings.small, units=units, hidden=hidden)
            self.put(
                small_changed=risk.changed,
                small_unchanged=risk.unchanged,
                percent_unchanged=risk.percent_unchanged,
            )
        if population is not None:
            if hidden is not None:
                shown = np.where(hidden, 0.0, shown)
            before = sample_risk(self.o, population.cells)
            after = sample_risk(shown, population.cells)
            self.both("tau1", before.tau1, after.tau1)
            self.both("tau2", before.tau2, after.tau2)
            self.note(after.outside, "sample uniques have no counterpart in the population")

    def add_bias(self, rounded: int | None) -> None:
        """Add the tests of section 2.2."""
        if rounded is not None:
            shown: Any = slice(None) if self.protected.hidden is None else ~self.protected.hidden
            test = binomial_test(self.o[shown], self.protected.cells[shown], rounded)
            self.put(binomial_p=test.p_value)
        self.put(
            sign_p=sign_test(self.o, self.p).p_value,
            signed_rank_p=signed_rank_test(self.o, self.p).p_value,
        )

    def add_distances(self) -> None:
        """Add the distances of internal cells."""
        relative = formulas.relative_absolute(self.o, self.p, self.settings.zeros)
        self.put(
            HD=formulas.hellinger(self.o, self.p),
            AAD=formulas.average_absolute(self.o, self.p),
            RAD=relative.value,
            from_zero=relative.from_zero,
        )
        self.note(relative.skipped, "empty cells of the original are left out of RAD")

    def add_totals(self) -> None:
        """Add the distances of row totals, of published margins and of sub-totals."""
        rows_before, rows_after = self.o.sum(axis=1), self.p.sum(axis=1)
        plain = formulas.totals(rows_before, rows_after)
        self.put(AT=plain.at, RAT=plain.rat_sum, RAT_mean=plain.rat_mean)
        self.note(plain.skipped, "rows with an empty total are left out of RAT")
        margin = self.protected.row_totals
        if margin is not None:
            shown = formulas.totals(rows_before, margin)
            gap = np.abs(margin - rows_after) > 1e-9 * np.maximum(1.0, rows_after)
            self.put(
                AT_published=shown.at,
                RAT_mean_published=shown.rat_mean,
                not_additive=int((gap & ~np.isnan(margin)).sum()),
            )
        for name, where in self.settings.subtotals.items():
            part = self.original.layout.columns.pick(where)
            sub = formulas.totals(self.o[:, part].sum(axis=1), self.p[:, part].sum(axis=1))
            kinds = {"AT": sub.at, "RAT": sub.rat_sum, "RAT_mean": sub.rat_mean}
            self.put(**{f"{kind} ({name})": value for kind, value in kinds.items()})

    def add_associations(self) -> None:
        """Add X2, Cramér's V and entropy."""
        before, after = self.o, self.p
        if self.settings.association is not None:
            layout, sides = self.original.layout, self.settings.association
            before, after = (layout.rearrange_cells(t, *sides) for t in (before, after))
        self.both("X2", formulas.pearson(before), formulas.pearson(after))
        self.change("RX2", "X2")
        self.both(
            "CV",
            formulas.cramers_v(before, self.before["X2"]),
            formulas.cramers_v(after, self.values["X2"]),
        )
        self.change("RCV", "CV")
        old, new = formulas.entropy(self.o), formulas.entropy(self.p)
        self.both("ENT", old.value, new.value)
        self.change("ENTT", "ENT")
        self.note(new.skipped, "empty rows of the version have no entropy")

    def add_rankings(self) -> None:
        """Add the changes of rank groups."""
        moved = formulas.column_changes(self.o, self.p, self.settings.rank_groups)
        over = int((moved > 100 * self.settings.rank_threshold).sum())
        self.put(
            RC=formulas.all_cells_change(self.o, self.p, self.settings.rank_groups),
            columns_moved=over,
            percent_columns_moved=100.0 * over / len(moved),
            spearman=formulas.spearman(self.o, self.p),
        )

    def add_between_variance(self, where: Pick) -> None:
        """Add the between variance of the target proportion, on rows that have it in both tables."""
        columns, base = self.original.layout.columns, self.settings.base
        target, whole = columns.pick(where), None if base is None else columns.pick(base)
        if whole is not None and np.any(target & ~whole):
            raise InputError("the target must be part of its base")
        part: Any = slice(None) if whole is None else whole
        common = (self.o[:, part].sum(axis=1) > 0) & (self.p[:, part].sum(axis=1) > 0)
        before = formulas.between_variance(self.o, target, whole, common)
        after = formulas.between_variance(self.p, target, whole, common)
        self.both("BV", before.variance, after.variance)
        self.change("BVR", "BV")
        self.ratio("BV_ratio", "BV")
        self.both("R2", before.r2, after.r2)
        self.note(int((~common).sum()), "rows without a base are left out of the between variance")

    def add_fits(self) -> None:
        """Add the deviance of the log-linear model, fitted to each table by itself."""
        layout = self.original.layout
        model = self.settings.model or [layout.rows.names, layout.columns.names]
        before, after = deviance(layout, self.o, model), deviance(layout, self.p, model)
        self.both("L2", before.deviance, after.deviance)
        self.ratio("LR", "L2")
        if not (before.converged and after.converged):
            self.notes.append("The log-linear model was not fitted to full accuracy")
