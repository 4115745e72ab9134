"""Systematic samples of whole households, as census offices draw them for researchers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, model_validator

from tacit.arrays import Flags, Ints
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.in_blocks import Change, change_records, strata, ticker
from tacit.data.microdata import Microdata
from tacit.data.roles import Column
from tacit.data.values import household_faults, not_numeric
from tacit.engine.base import ROW
from tacit.engine.blocks import Done
from tacit.engine.class_index import ClassIndex
from tacit.engine.names import aggregate
from tacit.engine.relational import N, count_rows
from tacit.errors import InputError, SdcError, SdcWarning
from tacit.fields import ColumnName, HouseholdColumn, PositiveFloat, PositiveInt, Secret
from tacit.registry import register
from tacit.reveal import MOST, reveal
from tacit.spec import Method
from tacit.stats.ranks import rank_within
from tacit.stats.systematic import PseudoStrata, Systematic, as_interval
from tacit.treatment import OnHousehold

FACTOR, GROUP = "__factor__", "__group__"
FIRST, LAST = "__first__", "__last__"


@register
class SampleHouseholds(Method):
    r"""Release every n-th household, with all its members, in geographic order.

    Households are listed in file order, stable-sorted by the columns of ``sort_by`` from coarse to fine. With a start u
    drawn from (0, interval] the households numbered

    .. math:: \lceil u + j \cdot interval \rceil, \quad j = 0, 1, 2, \ldots

    are taken. The sample is spread over the country as the list is (implicit stratification), and every household
    has the same weight, the interval. With ``restart`` the count begins anew in each unit of ``sort_by``, and
    the weight is the unit's households over those taken. With ``households`` exactly that many are taken: the interval
    and weight are all households over these.

    Two columns are added: the weight, and pseudo-strata, which are groups of ``group`` consecutive sampled households
    within a unit (a single one joins its neighbours), numbered at random. They serve variance estimation: see
    design_effect.

    References
    ----------
    McCaa, Ruggles, Davern, Swenson, Palipudi (2006), IPUMS-International high precision population census microdata samples:
    balancing the privacy-quality tradeoff by means of restricted access extracts, PSD 2006, LNCS 4302, 375-382, section 3.
    Kish (1965), Survey Sampling, Wiley, section 4.1.
    """

    kind: Literal["sample_households"] = "sample_households"
    interval: Annotated[float, Field(ge=1, allow_inf_nan=False)] | None = Field(
        default=None,
        description="every how many households one is taken, 1 or more, not necessarily whole; or give fraction or households",
    )
    fraction: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None, description="share of the households to take, the inverse of the interval"
    )
    households: PositiveInt | None = Field(
        default=None,
        description="how many households to take, exactly; the interval is all households over these",
    )
    sort_by: tuple[ColumnName, ...] = Field(
        default=(), description="geographic columns, coarse to fine; by default file order alone"
    )
    start: PositiveFloat | None = Secret(
        None, description="the start, above 0 and up to the interval; by default it is drawn"
    )
    restart: bool = Field(default=False, description="begin the count anew in each unit of sort_by")
    weight: ColumnName = Field(
        default="sample_weight",
        description="the column with the weight, where the data declare none",
    )
    group: Annotated[int, Field(ge=2, le=10)] | None = Field(
        default=2, description="sampled households in a pseudo-stratum; null for no such column"
    )
    pseudo_stratum: ColumnName = Field(
        default="pseudo_stratum", description="the column with the pseudo-strata"
    )
    household: HouseholdColumn = None

    on_household = "units"
    on_weight = "changed"
    on_links = "records"
    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("sampling",)
    example: ClassVar[Mapping[str, Any]] = {
        "household": "id",
        "interval": 2.5,
        "sort_by": ["zip"],
    }
    column_fields = ("sort_by", "household")

    @model_validator(mode="after")
    def _consistent(self) -> SampleHouseholds:
        if [self.interval, self.fraction, self.households].count(None) != 2:
            raise ValueError("give either interval, or fraction, or households")
        if self.start is not None and self.households is None and self.start > float(self.step):
            raise ValueError("start must lie above 0 and not beyond the interval")
        if self.restart and self.households is not None:
            raise ValueError("restart does not go with households; give interval or fraction")
        if self.restart and not self.sort_by:
            raise ValueError("restart needs sort_by, the units in which the count begins anew")
        if self.weight == self.pseudo_stratum:
            raise ValueError("weight and pseudo_stratum must be two columns")
        return self

    @property
    def step(self) -> Fraction:
        """Return the interval as an exact fraction, where the parameters give it."""
        if self.interval is not None:
            return as_interval(self.interval)
        return 1 / as_interval(self.fraction or 1.0)

    def step_in(self, total: int) -> Fraction:
        """Return the interval among so many households."""
        return self.step if self.households is None else Fraction(total, self.households)

    @property
    def uses_chance(self) -> bool:
        """Return True unless start and numbering leave nothing to chance."""
        return self.start is None or self.group is not None

    def treats_household(self, data: Microdata) -> OnHousehold:
        """Return that the declared households are the units, unless others are named."""
        return "units" if self.household in (None, data.household) else "records"

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the weight, which is raised."""
        return data.with_role("weight")

    def adds(self, data: Microdata) -> tuple[str, ...]:
        """Return the weight, where none is declared, and the pseudo-strata."""
        weight = (self.weight,) if data.weight is None else ()
        return (*weight, *(() if self.group is None else (self.pseudo_stratum,)))

    def made_from(self, data: Microdata) -> Mapping[str, tuple[str, ...]]:
        """Return that weights which differ by unit tell the unit; the numbers of pseudo-strata are drawn."""
        return {data.weight or self.weight: self.sort_by} if self.restart else {}

    def _faults(self, data: Microdata) -> list[SdcError]:
        """Add: no households, columns that exist already."""
        found = [*super()._faults(data), *household_faults(self, data)]
        found += [
            InputError(
                f"sample_households: column {c!r} exists. Name another with weight= or pseudo_stratum=, or "
                "declare it as the weight."
            )
            for c in self.adds(data)
            if c in data.columns
        ]
        weights = [] if data.weight is None else [data.weight]
        return [*found, *not_numeric(data, weights, self.kind)]

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        home = self.household or data.household
        assert home is not None
        runs = scan_households(data, home, self.sort_by, ctx)
        if runs is None:
            return self.sample_scattered(data, home, ctx)
        draw = self.draw(runs, ctx)
        taken, _ = change_records(data, partial(draw.keep, home), ctx)
        return self.finish(data, taken.frame, draw, ctx)

    def sample_scattered(self, data: Microdata, home: str, ctx: Context) -> Microdata:
        """Sample where members of a household do not stand together: by their first records."""
        pairs = aggregate(data.frame, list(dict.fromkeys([home, *self.sort_by])), nw.len().alias(N))
        if count_rows(pairs) != count_households(data, home):
            refuse_torn(data, home, self.sort_by)
        marked = data.engine.materialise(
            data.frame.with_columns(nw.col(ROW).min().over(home).alias(FIRST))
        )
        names = list(dict.fromkeys([home, *self.sort_by]))
        heads = data.with_frame(marked.filter(nw.col(ROW) == nw.col(FIRST)).select(*names, ROW))
        runs = scan_households(heads, home, self.sort_by, ctx)
        assert runs is not None
        draw = self.draw(runs, ctx)
        taken, _ = change_records(heads, partial(draw.keep, home), ctx)
        chosen = taken.frame.select(nw.col(ROW).alias(FIRST), FACTOR, GROUP)
        return self.finish(data, marked.join(chosen, on=FIRST, how="inner"), draw, ctx)

    def draw(self, runs: Runs, ctx: Context) -> Draw:
        """Draw the start, or one for each unit, and the numbers of the pseudo-strata."""
        households = runs.households
        if self.households is not None and self.households > households:
            raise InputError(
                "sample_households: there are fewer households than are to be taken. Take fewer."
            )
        step = self.step_in(households)
        if self.start is not None and self.start > float(step):
            raise InputError(
                "sample_households: start lies beyond the interval. Choose a smaller one."
            )
        if step > households:
            raise InputError(
                "sample_households: the interval is larger than the number of households, so that a sample "
                "might hold none. Choose a smaller one."
            )
        units = len(runs.sizes)
        if self.restart:
            drawn: Any = ctx.rng.integers(1, step.numerator + 1, units)
        else:
            drawn = int(ctx.rng.integers(1, step.numerator + 1))
        if self.start is not None:
            fixed = Systematic.of(step, Fraction(self.start)).start
            drawn = np.full(units, fixed) if self.restart else fixed
        found = Draw.of(runs, Systematic(step.numerator, step.denominator, drawn), self, ctx)
        empty = int(((found.sampled == 0) & (runs.sizes > 0)).sum())
        if self.restart and empty:
            warnings.warn(
                "sample_households: some units have fewer households than the interval and none was taken in them, "
                "so that weighted totals leave them out; sample without restart, or sort by larger units",
                SdcWarning,
                stacklevel=4,
            )
        return found

    def finish(
        self, data: Microdata, frame: nw.LazyFrame[Any], draw: Draw, ctx: Context
    ) -> Microdata:
        """Return the sample with weight and pseudo-strata, and say what was done."""
        weight = data.weight or self.weight
        raised = nw.col(FACTOR) if data.weight is None else nw.col(weight) * nw.col(FACTOR)
        own = [n for n in data.columns if n != weight or data.weight is None]
        new = [raised.alias(weight)]
        if self.group is not None:
            new.append(nw.col(GROUP).alias(self.pseudo_stratum))
        order = list(dict.fromkeys([*data.columns, weight]))
        order += [] if self.group is None else [self.pseudo_stratum]
        result = data.with_frame(frame.select(*own, *new, ROW).select(*order, ROW)).materialise()
        ctx.note(
            households=int(draw.sampled.sum()),
            interval=draw.sample.interval,
            sampling_fraction=1 / draw.sample.interval,
            sorted_by=list(self.sort_by),
            weight=("" if data.weight is None else "multiplied by ")
            + ("households of a unit over those taken" if self.restart else "the interval"),
            pseudo_strata=0 if self.group is None else draw.strata.total,
            drawn_labels=[] if self.group is None else [self.pseudo_stratum],
        )
        described = {} if data.weight else {weight: Column(weight, frozenset({"weight"}))}
        if self.group is not None and data.stratum is None:
            described[self.pseudo_stratum] = Column(self.pseudo_stratum, frozenset({"stratum"}))
        return result.with_columns_described(described)

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        home = self.household or data.household
        assert home is not None
        chosen = aggregate(result.frame.select(home), [home], nw.len().alias(N)).select(home)
        whole = data.frame.select(home).join(chosen, on=home, how="semi")
        yield Claim(
            "whole-households",
            {"sizes": sizes_of(whole, home)},
            "households",
            (home,),
            ("Records of one household carry the same value of the household column.",),
        )
        if data.weight is None and not self.restart:
            total = 0 if self.households is None else count_households(data, home)
            weight = float(self.step_in(total))
            yield Claim("constant-value", {"value": weight}, "weight", (self.weight,))


@dataclass(frozen=True)
class Draw:
    """Which households are taken: by class and number within the class."""

    runs: Runs
    sample: Systematic
    origin: Ints
    sampled: Ints
    factor: Any
    strata: PseudoStrata
    names: Ints

    @classmethod
    def of(cls, runs: Runs, sample: Systematic, spec: SampleHouseholds, ctx: Context) -> Draw:
        """Count what is taken in each class, and number the pseudo-strata at random."""
        before = np.cumsum(runs.sizes) - runs.sizes
        origin = np.zeros_like(before) if spec.restart else before
        sampled = sample.counted(origin + runs.sizes) - sample.counted(origin)
        factor = (
            runs.sizes / np.maximum(sampled, 1)
            if spec.restart
            else np.full(len(sampled), sample.interval)
        )
        strata = PseudoStrata.of(sampled, spec.group or 2)
        names = ctx.rng.permutation(strata.total) + 1
        return cls(runs, sample, origin, sampled, factor, strata, names)

    def keep(self, home: str, block: int, table: pa.Table) -> Change:
        """Return the households of a block that are taken."""
        classes, number = self.runs.number(home, block, table)
        sample, start = self.sample, self.sample.start
        own = start if isinstance(start, int) else np.asarray(start)[classes]
        before = self.origin[classes]
        place = before + number
        rank = sample.counted(place, own) - sample.counted(before, own) - 1
        group = self.names[self.strata.place(classes, np.maximum(rank, 0))]
        factor = pa.array(self.factor[classes])
        columns = {FACTOR: factor, GROUP: pa.array(group.astype(np.int64))}
        return Change(columns, sample.takes(place, own))


def sizes_of(frame: nw.LazyFrame[Any], home: str) -> list[list[int]]:
    """Return how many households there are of each size."""
    homes = aggregate(frame, [home], nw.len().cast(nw.Int64).alias(N))
    told = aggregate(homes.select(N), [N], nw.len().cast(nw.Int64).alias("__homes__"))
    return sorted(
        [int(a), int(b)] for a, b in told.select(N, "__homes__").collect("pyarrow").rows()
    )


# -- households numbered in geographic order while the records stream by, in memory that does not grow with them ---

# Records of a household stand together in a census file. One pass counts, block by block, how many households begin in
# each class of the geographic columns; their sums give every household its number in the order that a stable
# sort of the file by geography would have, without sorting anything. A second pass then knows each number.


@dataclass(frozen=True)
class BlockStart:
    """What a block must know of those before it.

    ``classes`` are those whose households begin in the block, ``before`` how many of each began in earlier blocks. The block
    ``goes_on`` when its first record belongs to the last household of an earlier one, which has this ``number`` in its class.
    """

    classes: Ints
    before: Ints
    goes_on: bool
    number: int


@dataclass(frozen=True)
class Runs:
    """Households of a file by class of the geographic columns: the classes, their sizes, and what each block must know."""

    index: ClassIndex
    sizes: Ints
    starts: Mapping[int, BlockStart]

    @property
    def households(self) -> int:
        """Return the number of households."""
        return int(self.sizes.sum())

    def number(self, home: str, block: int, table: pa.Table) -> tuple[Ints, Ints]:
        """Return class and number within its class (1, 2, ...) of the household of each record of a block."""
        new = opens_household(table.column(home))
        classes = self.index.find(table)
        if not len(new):
            return classes, classes
        start = self.starts[block]
        counted = new.copy()
        counted[0] = not start.goes_on
        begins = np.flatnonzero(counted)
        own = classes[begins]
        at = np.searchsorted(start.classes, own)
        numbers = start.before[at] + rank_within(own) + 1
        run = np.cumsum(counted) - 1
        found = np.full(len(new), start.number, dtype=np.int64)
        inside = run >= 0
        found[inside] = numbers[run[inside]]
        return classes, found


def opens_household(ids: pa.ChunkedArray) -> Flags:
    """Return which records begin another household than the record before them has; the first always does."""
    differs = compare_next(pc.not_equal, ids, ids, unknown=True)
    return np.concatenate([np.ones(min(len(ids), 1), dtype=bool), differs])


def compare_next(
    compare: Callable[..., Any], one: pa.ChunkedArray, other: pa.ChunkedArray, *, unknown: bool
) -> Flags:
    """Return how each entry of one column but the first compares with the entry before it of another."""
    found = compare(one.slice(1), other.slice(0, max(len(one) - 1, 0)))
    return np.asarray(pc.fill_null(found, unknown).to_numpy(zero_copy_only=False), dtype=bool)


def scan_households(
    data: Microdata, home: str, sort_by: Sequence[str], ctx: Context
) -> Runs | None:
    """Count households by class and block; None when members of a household do not stand together.

    Records without household, and households in several places, are refused.
    """
    index, _ = strata(data, sort_by)
    frame = data.frame.select(*dict.fromkeys([home, *sort_by]), ROW)
    sample = data.engine.to_arrow(frame.head(0))
    ids = sample.schema.field(home).type

    def scan(block: int, table: pa.Table) -> Done:
        edges, tally = scan_block(index, home, block, table)
        return Done(edges, tally)

    schema = pa.schema([(ROW, pa.int64()), (FIRST, ids), (LAST, ids)])
    mapped = data.engine.map_blocks(frame, scan, schema, ticker(ctx))
    if any(t["lacking"] for t in mapped.tallies):
        raise InputError(
            f"sample_households: some records have no household in column {home!r}. Give every record one, or drop them first."
        )
    edges = data.engine.to_arrow(mapped.records).sort_by(ROW)
    return join_blocks(index, mapped.tallies, edges, data, home, sort_by)


def scan_block(
    index: ClassIndex, home: str, block: int, table: pa.Table
) -> tuple[pa.Table, dict[str, Any]]:
    """Return first and last household of a block, and what is counted in it."""
    ids, classes = table.column(home), index.find(table)
    new = opens_household(ids)
    begins = np.flatnonzero(new)
    found, counts = np.unique(classes[begins], return_counts=True)
    torn = int(np.count_nonzero((classes[1:] != classes[:-1]) & ~new[1:]))
    rises = compare_next(pc.greater_equal, ids, ids, unknown=False)
    # Taken, not sliced: a slice would keep the whole block in memory.
    first, last = pa.array([0]), pa.array([len(ids) - 1])
    edges = pa.table(
        {ROW: table.column(ROW).take(first), FIRST: ids.take(first), LAST: ids.take(last)}
    )
    return edges, {
        "block": block,
        "lacking": int(ids.null_count),
        "torn": torn,
        "rising": bool(rises.all()),
        "classes": found.tolist(),
        "counts": counts.tolist(),
        "runs": len(begins),
        "ends": [int(classes[0]), int(classes[-1])],
    }


def join_blocks(
    index: ClassIndex,
    tallies: Sequence[Mapping[str, Any]],
    edges: pa.Table,
    data: Microdata,
    home: str,
    sort_by: Sequence[str],
) -> Runs | None:
    """Put the counts of blocks together."""
    follows = compare_next(pc.equal, edges.column(FIRST), edges.column(LAST), unknown=False)
    goes_on = [False, *follows]
    between = compare_next(pc.greater_equal, edges.column(FIRST), edges.column(LAST), unknown=False)
    rising = all(t["rising"] for t in tallies) and bool(between.all())
    sizes = np.zeros(index.size, dtype=np.int64)
    starts: dict[int, BlockStart] = {}
    torn, number, last_class = False, 0, -1
    for i, told in enumerate(tallies):
        classes = np.asarray(told["classes"], dtype=np.int64)
        counts = np.asarray(told["counts"], dtype=np.int64)
        torn |= bool(told["torn"]) or bool(goes_on[i] and told["ends"][0] != last_class)
        starts[told["block"]] = BlockStart(classes, sizes[classes], bool(goes_on[i]), number)
        if goes_on[i]:
            counts = counts - (classes == told["ends"][0])
        sizes[classes] += counts
        last_class = told["ends"][1]
        if not goes_on[i] or told["runs"] > 1:
            # The last household of a block is the last of its class so far.
            number = int(sizes[last_class])
    if torn:
        refuse_torn(data, home, sort_by)
    if not rising and count_households(data, home) != int(sizes.sum()):
        return None
    return Runs(index, sizes, starts)


def count_households(data: Microdata, home: str) -> int:
    """Return the number of different households."""
    return count_rows(aggregate(data.frame.select(home, ROW), [home], nw.len().alias(N)))


def refuse_torn(data: Microdata, home: str, sort_by: Sequence[str]) -> None:
    """Say that members of one household differ in geography, and list the households to who asks."""
    pairs = aggregate(data.frame, list(dict.fromkeys([home, *sort_by])), nw.len().alias(N))
    several = aggregate(pairs.select(home), [home], nw.len().alias(N)).filter(nw.col(N) > 1)
    shown = several.select(home).head(MOST).collect("pyarrow").get_column(home).to_list()
    columns = ", ".join(repr(c) for c in sort_by)
    raise InputError(
        f"sample_households: members of one household differ in {columns}; a household lives in one place. "
        + reveal("households in several places", shown)
    )
