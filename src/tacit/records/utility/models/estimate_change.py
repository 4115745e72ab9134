"""Change of estimates: means, medians, quantiles and ratios by group, from original and masked file."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import matrix, shared_positions, weights_of
from tacit.data.values import as_frame, not_numeric, row_numbers
from tacit.errors import ColumnNotFound, InputError, require_columns
from tacit.fields import ColumnName, ColumnNames, Probability
from tacit.plot.chart import Chart
from tacit.plot.families import grouped_bars
from tacit.plot.parts import short_number
from tacit.records.utility.matched import (
    ALL,
    LossMeasure,
    choose_compared_columns,
    classes_of_both,
    common_codes,
    mean_of,
)
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions
from tacit.stats.estimates import (
    Estimate,
    combine_imputations,
    duncan_utility,
    interval_overlap,
    mean_estimate,
    percent_difference,
    quantile_estimate,
    ratio_estimate,
    sd_estimate,
    standardised_difference,
    total_estimate,
    weighted_quantiles,
)

Statistic = Literal["mean", "median", "total", "sd"]
#: What estimates from replicate weights deviate from.
Centre = Literal["estimate", "mean"]

SIMPLE: dict[str, Callable[[Floats, Floats], Estimate]] = {
    "mean": mean_estimate,
    "median": partial(quantile_estimate, share=0.5),
    "total": total_estimate,
    "sd": sd_estimate,
}
#: Groups of the income distribution in Kennickell and Lane's Table 2: quintiles, the top one split.
QUINTILES = (0.2, 0.4, 0.6, 0.8, 0.9)


@dataclass(frozen=True)
class File:
    """Numbers, weights and row numbers of one file."""

    numbers: Mapping[str, Floats]
    weights: Floats
    rows: Ints
    #: The completed data set that each record belongs to, where there are several.
    implicate: Ints | None = None
    #: Replicates x records.
    replicates: Floats | None = None

    def values(self, column: str, inside: Flags) -> tuple[Floats, Floats]:
        """Return the known numbers of some records, with their weights."""
        x = self.numbers[column]
        use = inside & np.isfinite(x) & (self.weights > 0)
        return x[use], self.weights[use]

    def ratio(self, above: str, below: str, inside: Flags) -> Estimate:
        """Return the ratio of two totals over records that have both."""
        x, y = self.numbers[above], self.numbers[below]
        use = inside & np.isfinite(x) & np.isfinite(y)
        return ratio_estimate(x[use], y[use], self.weights[use])


#: The original and the masked file.
Both = tuple[File, File]


@register
class EstimateChange(LossMeasure):
    """Percent difference of estimates by group, with Duncan's utility, between original and masked file.

    For every column, statistic and group the percent difference is

        100 (estimate from the original - estimate from the masked file) / estimate from the original,

    not given where the original is 0, and Duncan's utility 1 / (difference)^2, not given without a
    difference. The first speaks to users of the data; the second depends on the unit of the column, so
    that it ranks releases but not columns. Beside them stand the difference in standard errors and the
    overlap of the 95 % confidence intervals, which have no unit.

    Groups are classes of columns (``by``), bands of a number (``bands``), and parts of a distribution
    (``quantiles_of``, by default quintiles with the top one split at 90 %). A user of the masked file
    forms them from masked values, and so does the measure; ``groups_from="original"`` keeps the original
    groups, which tells changes of values from moves between groups. Weights are used where declared.

    With ``implicate``, the number of the completed data set to which a record belongs, every estimate is made
    in each of them, with weights that stand for the whole population, and combined by Rubin's rules: the
    mean, with error sqrt(W + (1 + 1/m) B). With ``replicate_weights`` the error is that of the R estimates
    by these weights, sqrt(c sum_r (t_r - t)^2), with c = 1/(R - 1) around their mean (bootstrap), 1/R (balanced
    repeated replication), 1/(R (1 - f)^2) (Fay) or (R - 1)/R (jackknife).

    The paper's formula swaps the primes of released and original data; here masked is what is released.

    References
    ----------
    Kennickell, Lane (2006), Measuring the impact of data protection techniques on data utility: evidence
    from the Survey of Consumer Finances, PSD 2006, LNCS 4302, 291-303.
    Duncan, Keller-McNulty, Stokes (2001), Disclosure risk vs. data utility: the R-U confidentiality map,
    Technical Report 121, National Institute of Statistical Sciences.
    Rubin (1987), Multiple imputation for nonresponse in surveys, Wiley.
    Wolter (2007), Introduction to variance estimation, second edition, Springer, chapters 3 to 5.
    Karr, Kohnen, Oganian, Reiter, Sanil (2006), A framework for evaluating the utility of data altered to
    protect confidentiality, The American Statistician 60, 224-232.
    """

    kind: Literal["estimate_change"] = "estimate_change"
    columns: ColumnNames | None = Field(
        default=None,
        description="the numeric columns estimated; by default all that are neither identifiers nor weight, household or stratum",
    )
    statistics: tuple[Statistic, ...] = Field(
        default=("mean", "median"), description="what is estimated in every group"
    )
    quantiles: tuple[Probability, ...] = Field(
        default=(), description="quantiles estimated as well"
    )
    ratios: tuple[str, ...] = Field(
        default=(),
        description="ratios such as 'debt/income': estimated as a column, a ratio per record, and as the ratio of totals",
    )
    by: tuple[ColumnName, ...] = Field(
        default=(), description="columns each of whose classes is a group"
    )
    bands: Mapping[ColumnName, tuple[float, ...]] = Field(
        default_factory=dict,
        description="for numeric columns, the values at which a next group begins: age 35, 45, 55",
    )
    quantiles_of: ColumnName | None = Field(
        default=None, description="the column whose distribution is cut into groups"
    )
    cuts: tuple[Probability, ...] = Field(
        default=QUINTILES, description="shares at which it is cut"
    )
    groups_from: Literal["each", "original"] = Field(
        default="each",
        description="form groups in each file from its own values, or from the original",
    )
    implicate: ColumnName | None = Field(
        default=None,
        description="the column that numbers the completed data sets of a multiple imputation",
    )
    replicate_weights: tuple[ColumnName, ...] = Field(
        default=(), description="columns of replicate weights, from which standard errors are made"
    )
    replication: Literal["bootstrap", "brr", "fay", "jackknife"] = Field(
        default="bootstrap", description="how the replicate weights were made"
    )
    fay: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.5, description="the factor of Fay's method"
    )
    value: Literal["mean", "median", "largest"] = Field(
        default="mean", description="which absolute percent difference results are compared by"
    )

    on_weight = "used"
    on_stratum = "by"
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"], "by": ["sex"]}

    @model_validator(mode="after")
    def _consistent(self) -> EstimateChange:
        for ratio in self.ratios:
            if sum(map(bool, split_ratio(ratio))) != 2:
                raise ValueError(f"a ratio is written 'debt/income' (got {ratio!r})")
        for limits in (*self.bands.values(), self.cuts):
            if not limits or list(limits) != sorted(set(limits)):
                raise ValueError("limits of groups must be given in ascending order, each once")
        if not (self.statistics or self.quantiles):
            raise ValueError("name a statistic or a quantile")
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return every column that the parameters name."""
        parts = [p for ratio in self.ratios for p in split_ratio(ratio)]
        of = (self.quantiles_of,) if self.quantiles_of else ()
        design = (*self.replicate_weights, *((self.implicate,) if self.implicate else ()))
        return (*(self.columns or ()), *parts, *self.by, *self.bands, *of, *design)

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> EstimateChangeResult:
        self.check(other.original)
        columns = choose_compared_columns(other.original, data, self.columns, self.kind)
        if self.columns is None:
            design = {self.implicate, *self.replicate_weights}
            columns = tuple(c for c in columns if c not in design)
        files = self.files(other.original, data, columns)
        groups = list(self.groups(other.original, data, files))
        rows: list[Row] = []
        for i, group in enumerate(groups):
            ctx.tick(f"estimates: {group.label}", i / len(groups))
            for column, ratio in (
                *((c, False) for c in columns),
                *((r, True) for r in self.ratios),
            ):
                rows += self.rows(files, group, column, ratio=ratio)
        percents = np.array([abs(r.percent) for r in rows])
        known = percents[np.isfinite(percents)]
        summary = {
            "mean": mean_of(percents),
            "median": float(np.median(known)) if len(known) else math.nan,
            "largest": float(known.max()) if len(known) else math.nan,
        }
        pairs = [(r.old.value, r.new.value) for r in rows]
        both = [(a, b) for a, b in pairs if math.isfinite(a) and math.isfinite(b)]
        return EstimateChangeResult(
            kind=self.kind,
            title="Change of estimates",
            value=summary[self.value],
            numbers={
                **{f"{name} percent difference": v for name, v in summary.items()},
                "mean overlap of intervals": mean_of(r.overlap for r in rows),
                "estimates": len(rows),
                "estimates without a percentage": int((~np.isfinite(percents)).sum()),
                "records, original": len(files[0].weights),
                "records, masked": len(files[1].weights),
            },
            frame=as_frame(pa.Table.from_pylist([r.entry() for r in rows])),
            explanation=(
                "Percent differences are 100 (original - masked) / original: negative where masking makes an estimate "
                "larger. The summary is over their absolute values. Overlap 1 means that the 95 % intervals agree."
            ),
            rows=tuple(rows),
            duncan=duncan_utility([a for a, _ in both], [b for _, b in both]) if both else math.nan,
        )

    def files(self, original: Microdata, released: Microdata, columns: Sequence[str]) -> Both:
        """Return the numbers of both files that estimates and groups need."""
        parts = [p for ratio in self.ratios for p in split_ratio(ratio)]
        of = [self.quantiles_of] if self.quantiles_of else []
        wanted = (*columns, *parts, *self.bands, *of)
        names = choose_compared_columns(original, released, wanted, self.kind)
        found = []
        for side in (original, released):
            numbers = dict(zip(names, matrix(side.to_arrow(names), names).T, strict=True))
            for ratio in self.ratios:
                above, below = (numbers[p] for p in split_ratio(ratio))
                with np.errstate(divide="ignore", invalid="ignore"):
                    each = above / below
                numbers[ratio] = np.where(np.isfinite(each), each, np.nan)
            design = self.implicates(side), self.replicates(side)
            found.append(File(numbers, weights_of(side), row_numbers(side), *design))
        if not len(found[0].weights) or not len(found[1].weights):
            raise InputError("estimate_change needs records in both files.")
        return found[0], found[1]

    def implicates(self, side: Microdata) -> Ints | None:
        """Return the completed data set of each record."""
        if self.implicate is None:
            return None
        coded = side.codes(self.implicate)
        if (coded.codes == coded.null).any():
            raise InputError(f"{self.kind}: some records have no {self.implicate!r}")
        if len(np.unique(coded.codes)) == 1:
            raise InputError(
                f"{self.kind}: {self.implicate!r} numbers one completed data set only; leave it out"
            )
        return coded.codes.astype(np.int64)

    def replicates(self, side: Microdata) -> Floats | None:
        """Return replicates x records: the replicate weights."""
        names = self.replicate_weights
        if not names:
            return None
        faults = not_numeric(side, names, self.kind)
        if faults:
            raise faults[0]
        found = matrix(side.to_arrow(names), names).T
        if not (found >= 0).all():
            raise InputError(f"{self.kind}: replicate weights must be known, and not negative")
        return np.ascontiguousarray(found)

    def variance_scale(self) -> tuple[float, Centre]:
        """Return what squared deviations of replicates are multiplied by, and what they deviate from."""
        r = max(len(self.replicate_weights), 1)
        if self.replication == "bootstrap":
            return 1 / max(r - 1, 1), "mean"
        if self.replication == "jackknife":
            return (r - 1) / r, "estimate"
        return 1 / (r * ((1 - self.fay) ** 2 if self.replication == "fay" else 1)), "estimate"

    # -- groups ------------------------------------------------------------------------------

    def groups(self, original: Microdata, released: Microdata, files: Both) -> Iterator[Group]:
        """Yield everybody, then the groups of every column."""
        everyone = tuple(np.ones(len(f.weights), dtype=bool) for f in files)
        yield Group(ALL, ALL, everyone[0], everyone[1])
        for column in self.by:
            require_columns([column], released.columns, "the release")
            for name, old, new in classes_of_both(common_codes(original, released, column)):
                yield self.group(column, name, old, new, files)
        for column, limits in self.bands.items():
            edges = (np.array(limits), np.array(limits))
            between = [f"{a:g} to {b:g}" for a, b in itertools.pairwise(limits)]
            names = [f"below {limits[0]:g}", *between, f"{limits[-1]:g} and above"]
            yield from self.bins(column, edges, names, files)
        if self.quantiles_of:
            column = self.quantiles_of
            ours, theirs = (quantile_limits(f, column, self.cuts) for f in files)
            ends = itertools.pairwise([0.0, *self.cuts, 1.0])
            names = [f"{100 * a:g}-{100 * b:g}" for a, b in ends]
            yield from self.bins(column, (ours, theirs), names, files)

    def bins(
        self,
        column: str,
        limits: tuple[Floats, Floats],
        names: Sequence[str],
        files: Both,
    ) -> Iterator[Group]:
        """Yield the groups between limits, a group's lower limit within it."""
        both = zip((f.numbers[column] for f in files), limits, strict=True)
        bins = [np.where(np.isnan(x), -1, np.searchsorted(edge, x, "right")) for x, edge in both]
        for i, name in enumerate(names):
            yield self.group(column, name, bins[0] == i, bins[1] == i, files)

    def group(self, column: str, name: str, old: Flags, new: Flags, files: Both) -> Group:
        """Return a group; of the original records in both files, when asked for."""
        if self.groups_from == "original":
            at_old, at_new = shared_positions(files[0].rows, files[1].rows)
            new = np.zeros(len(files[1].rows), dtype=bool)
            new[at_new] = old[at_old]
        return Group(column, name, old, new)

    # -- estimates ---------------------------------------------------------------------------

    def rows(
        self, files: tuple[File, File], group: Group, column: str, *, ratio: bool
    ) -> Iterator[Row]:
        """Yield the estimates of a column in a group."""
        parts = [
            f.values(column, inside)
            for f, inside in zip(files, (group.old, group.new), strict=True)
        ]
        counts = (len(parts[0][0]), len(parts[1][0]))
        scale, centre = self.variance_scale()

        def both(of: Callable[[File, Flags], Estimate]) -> tuple[Estimate, Estimate]:
            old, new = (
                estimate_over(f, inside, of, scale, centre)
                for f, inside in zip(files, (group.old, group.new), strict=True)
            )
            return old, new

        every = {name: SIMPLE[name] for name in self.statistics} | {
            f"quantile {share:g}": partial(quantile_estimate, share=share)
            for share in self.quantiles
        }
        for name, estimate in every.items():
            found = both(lambda f, inside, of=estimate: of(*f.values(column, inside)))  # type: ignore[misc]
            yield Row(column, name, group, counts, *found)
        if ratio:
            above, below = split_ratio(column)
            found = both(lambda f, inside: f.ratio(above, below, inside))
            yield Row(column, "ratio of totals", group, counts, *found)


@dataclass(frozen=True, repr=False)
class EstimateChangeResult(Result):
    """Estimates from both files (``rows``), and Duncan's utility of all of them as one vector."""

    rows: tuple[Row, ...] = ()
    duncan: float = math.nan

    def plot(self, column: str | None = None) -> Chart:
        """Return percent differences by group (Figures 1 and 2); of one column, by default the first."""
        known = dict.fromkeys(r.column for r in self.rows)
        chosen = column if column is not None else next(iter(known))
        if chosen not in known:
            raise ColumnNotFound([chosen], list(known), "the columns estimated")
        shown = [r for r in self.rows if r.column == chosen and math.isfinite(r.percent)]
        return grouped_bars(
            ((r.group.name, r.statistic, r.percent) for r in shown),
            title=f"Percent differences of {chosen}",
            subtitle="100 (original - masked) / original; left of 0: larger after masking",
            y="percent difference",
            texts=lambda v: f"{short_number(v)} %",
            step=15,
            alt=f"Percent differences of {chosen} by group",
        )


def split_ratio(ratio: str) -> list[str]:
    """Return the two columns of a ratio."""
    return [p.strip() for p in ratio.split("/")]


def quantile_limits(file: File, column: str, cuts: Sequence[float]) -> Floats:
    """Return the values at which a file's distribution is cut."""
    x, w = file.values(column, np.ones(len(file.weights), dtype=bool))
    if not len(x):
        raise InputError("estimate_change: the column that is cut into groups has no known value.")
    return weighted_quantiles(x, w, cuts)


# -- estimates from both files, by group ----------------------------------------------------------


@dataclass(frozen=True)
class Group:
    """A group of records: which column forms it, its name, and who is in it in either file."""

    column: str
    label: str
    old: Flags
    new: Flags

    @property
    def name(self) -> str:
        """Return the label with its column."""
        return ALL if self.column == ALL else f"{self.column} {self.label}"


class Compared:
    """An estimate from the original and from the masked file."""

    old: Estimate
    new: Estimate

    @property
    def percent(self) -> float:
        """Return the percent difference; NaN where the original is 0."""
        return percent_difference(self.old.value, self.new.value)

    @property
    def standardised(self) -> float:
        """Return the difference in standard errors of the original."""
        return standardised_difference(self.old, self.new)

    @property
    def overlap(self) -> float:
        """Return the overlap of the 95 % confidence intervals."""
        return interval_overlap(self.old, self.new)


@dataclass(frozen=True)
class Row(Compared):
    """One estimate from both files."""

    column: str
    statistic: str
    group: Group
    records: tuple[int, int]
    old: Estimate
    new: Estimate

    def entry(self) -> dict[str, Any]:
        """Return the row as it stands in the frame."""
        return {
            "column": self.column,
            "statistic": self.statistic,
            "group by": self.group.column,
            "group": self.group.label,
            "records, original": self.records[0],
            "records, masked": self.records[1],
            "original": self.old.value,
            "masked": self.new.value,
            "percent difference": self.percent,
            "Duncan utility": duncan_utility(self.old.value, self.new.value),
            "difference in standard errors": self.standardised,
            "overlap of intervals": self.overlap,
        }


def estimate_over(
    file: File, inside: Flags, of: Callable[[File, Flags], Estimate], scale: float, centre: Centre
) -> Estimate:
    """Return an estimate with the error that replicate weights show, combined over implicates.

    ``of`` gives the estimate from some records of a file by its weights; squared deviations of the replicates, from the
    estimate or from their own mean, are multiplied by ``scale``.
    """
    if file.implicate is None:
        return estimate_by_replicates(file, inside, of, scale, centre)
    parts = [
        estimate_by_replicates(file, inside & (file.implicate == number), of, scale, centre)
        for number in np.unique(file.implicate)
    ]
    combined = combine_imputations(
        [np.array([e.value]) for e in parts], [np.array([[e.error**2]]) for e in parts]
    )
    return Estimate(float(combined.values[0]), float(combined.standard_errors[0]))


def estimate_by_replicates(
    file: File, inside: Flags, of: Callable[[File, Flags], Estimate], scale: float, centre: Centre
) -> Estimate:
    """Return an estimate; its error comes from replicate weights where there are any."""
    whole = of(file, inside)
    if file.replicates is None:
        return whole
    values = np.array([of(replace(file, weights=w), inside).value for w in file.replicates])
    middle = whole.value if centre == "estimate" else float(values.mean())
    return Estimate(whole.value, math.sqrt(scale * float(((values - middle) ** 2).sum())))
