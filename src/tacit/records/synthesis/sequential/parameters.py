"""What a synthesis is told: its parameters, how they go together, and what is wrong with data for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from tacit.data.base import Action
from tacit.data.margins import Totals
from tacit.data.margins import columns_of as columns_of_totals
from tacit.data.microdata import Microdata
from tacit.data.where import WhereRule
from tacit.data.where import columns_of as columns_of_rule
from tacit.errors import InputError, RoleMissing, SdcError
from tacit.fields import ColumnName, ColumnNames, PositiveFloat, PositiveInt
from tacit.records.samples.weights.design import Design, WeightWay
from tacit.records.synthesis.sequential.rules import Setting
from tacit.records.synthesis.sequential.sequence import Way
from tacit.spec import Method
from tacit.treatment import OnHousehold

Joint = Literal["copula", "ipf"]
#: Methods that draw all columns together.
JOINT = ("copula", "ipf")
#: Methods for numbers alone.
OF_NUMBERS = ("linear", "spline", "count")
#: The column that numbers the copies.
COPY = "_copy"


class SynthesisParameters(Method):
    """The parameters of a synthesis."""

    columns: ColumnNames | None = Field(
        default=None,
        description="the columns that are replaced; by default all but identifiers, weight and household",
    )
    method: Way | Joint = Field(default="cart", description="the model of every column")
    methods: Mapping[ColumnName, Way] = Field(
        default_factory=dict, description="another model for some columns"
    )
    copies: PositiveInt = Field(default=1, le=1000, description="how many times all is drawn")
    order: tuple[ColumnName, ...] = Field(
        default=(),
        description="the order in which columns are drawn; by default categories before numbers, few categories first",
    )
    predictors: Mapping[ColumnName, tuple[ColumnName, ...]] = Field(
        default_factory=dict,
        description="the columns that a column is drawn given; by default all left alone and all drawn before it",
    )
    categorical: tuple[ColumnName, ...] = Field(
        default=(), description="columns of numbers that are codes of categories"
    )
    leaf: PositiveInt = Field(
        default=5, ge=2, description="cart: smallest number of records in a leaf"
    )
    smooth: bool = Field(
        default=True,
        description="cart and copula: spread numbers within their leaf, or between neighbours, rather than repeat original ones",
    )
    degree: Literal[1, 2, 3] = Field(
        default=1, description="regressions: predictors multiplied in a term"
    )
    proper: bool = Field(
        default=False, description="cart: fit the models of every copy to another bootstrap sample"
    )
    within: tuple[ColumnName, ...] = Field(
        default=(), description="sample: take values only from records of the same class of these"
    )
    margins: tuple[ColumnNames, ...] = Field(
        default=(), description="ipf: the margins of the table; by default all pairs of columns"
    )
    bins: PositiveInt = Field(default=20, ge=2, description="ipf: cells of a column of numbers")
    rho: PositiveFloat | None = Field(
        default=None,
        description="ipf: noise for zero-concentrated differential privacy with this rho, over all margins together",
    )
    categories: Mapping[ColumnName, tuple[bool | int | float | str | None, ...]] = Field(
        default_factory=dict,
        description="ipf with rho: the values that a column may take, chosen without the data, null for a missing one; by default the value labels of the file. Whatever is not listed counts as the last",
    )
    rules: tuple[Setting, ...] = Field(
        default=(),
        description="structural values: {when: age < 16, set: {income: 0, job: null}}",
    )
    forbid: tuple[WhereRule, ...] = Field(
        default=(), description="combinations that no synthetic record may show"
    )
    sums: Mapping[ColumnName, ColumnNames] = Field(
        default_factory=dict,
        description="columns that are the sum of others: {total: [wage, pension]}",
    )
    ranges: Mapping[ColumnName, tuple[float | None, float | None]] = Field(
        default_factory=dict, description="smallest and largest value of columns of numbers"
    )
    head: WhereRule | None = Field(
        default=None,
        description="what marks the head of a household, who is drawn first; by default its first record",
    )
    unlike: bool = Field(
        default=False,
        description="draw records again that repeat an original record which is unique in the original",
    )
    weights: WeightWay = Field(
        default="rcal",
        description="weights of the synthetic records: rcal (computed again), cpp (copied from a record of the same cell), oldw (as they are), unw (none)",
    )
    design: Design | None = Field(
        default=None,
        description="how the sample was drawn; by default stratified by the stratum, where one is declared",
    )
    calibrate: tuple[Totals, ...] = Field(
        default=(), description="known totals to which the weights of every copy are raked"
    )
    allow_disclosure: bool = Field(
        default=False,
        description="release old weights although they tell the sizes that were replaced",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        named = [*(self.columns or ())]
        if len(set(named)) < len(named):
            raise ValueError("columns must name each column once")
        if self.method in JOINT:
            self._check_joint()
        elif self.rho is not None or self.margins:
            raise ValueError("margins and rho are for the method ipf")
        for low, high in self.ranges.values():
            if low is not None and high is not None and low > high:
                raise ValueError("a range is given as [low, high]")
        if self.order and self.columns and set(self.order) != set(self.columns):
            raise ValueError("order must name the columns that are replaced, each once")
        for column, given in self.predictors.items():
            if column in given:
                raise ValueError(f"column {column!r} cannot be drawn given itself")
        if self.columns:
            replaced = set(self.columns)
            ruled = {c for s in self.rules for c in s.values} | set(self.sums)
            stray = [c for c in (*self.methods, *self.predictors, *ruled) if c not in replaced]
            if stray:
                raise ValueError(
                    f"column {stray[0]!r} has a method, predictors or a rule, and is not among the columns that are replaced"
                )
        if self.calibrate and self.weights == "unw":
            raise ValueError("without weights there is nothing to calibrate")
        return self

    def _check_joint(self) -> None:
        """Refuse what models of all columns together cannot do."""
        given: dict[str, Any] = {
            "methods": self.methods, "order": self.order, "predictors": self.predictors,
            "within": self.within, "head": self.head,
        }  # fmt: skip
        if self.method == "ipf":
            given["degree"] = self.degree if self.degree != 1 else ()
        else:
            given |= {"margins": self.margins, "rho": self.rho}
        used = [name for name, value in given.items() if value]
        if used:
            raise ValueError(
                f"the method {self.method} draws all columns together and takes no {used[0]}"
            )
        if any(c in self.sums for m in self.margins for c in m):
            raise ValueError("a sum follows from its parts, and is no column of a margin")
        if self.categories and self.rho is None:
            raise ValueError(
                "categories are listed for rho; without it those of the data are drawn"
            )
        for column, listed in self.categories.items():
            if not listed or len(set(map(repr, listed))) < len(listed):
                raise ValueError("categories must be different, and at least one a column")
            if column in self.ranges:
                raise ValueError(f"column {column!r} has categories or a range, not both")
        if self.rho is not None and self.unlike:
            raise ValueError("unlike compares with the original, which rho does not allow for")

    # -- what is concerned ---------------------------------------------------------------------------

    def replaced(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns that are synthesised."""
        return self.columns or self.record(data)

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns that change: those synthesised, and the weight."""
        changed = self.weights != "oldw" or bool(self.calibrate)
        weight = data.with_role("weight") if changed else ()
        return (*self.replaced(data), *weight)

    def columns_named(self) -> tuple[str, ...]:
        """Return every column that a parameter names."""
        named = [
            *(self.columns or ()), *self.methods, *self.order, *self.predictors, *self.categorical,
            *(c for given in self.predictors.values() for c in given), *self.within,
            *(c for m in self.margins for c in m), *self.sums, *self.ranges, *self.categories,
            *(c for parts in self.sums.values() for c in parts),
            *(c for s in self.rules for c in (*s.values, *s.columns())),
            *(c for text in self.forbid for c in columns_of_rule(text)),
            *columns_of_rule(self.head), *(self.design.columns if self.design else ()),
            *(c for t in self.calibrate for c in columns_of_totals(t)),
        ]  # fmt: skip
        return tuple(dict.fromkeys(named))

    def treats_household(self, data: Microdata) -> OnHousehold:
        """Return that the models of all columns together know no households."""
        del data
        return "apart" if self.method in JOINT else "together"

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: columns that cannot be synthesised, methods that do not fit, weights that are not there."""
        return super().faults(data) or list(self.own_faults(data, self.replaced(data)))

    def own_faults(self, data: Microdata, replaced: tuple[str, ...]) -> Iterator[SdcError]:
        """Yield what is wrong with synthesising these columns."""
        if data.copies is not None:
            yield InputError("synthesise: the data hold copies already; synthesise the original")
            return
        for c in replaced:
            if c in {*data.identifiers, data.weight, data.household}:
                yield InputError(
                    f"synthesise: column {c!r} is an identifier, the weight or the household, and cannot be replaced. Drop it, or leave it as it is."
                )
        if not replaced:
            yield InputError("synthesise: there is no column to replace")
        if COPY in data.columns and self.copies > 1:
            yield InputError(f"synthesise: column {COPY!r} exists already; rename it")
        for c in dict.fromkeys(self.ruled()):
            if c not in replaced:
                yield InputError(
                    f"synthesise: column {c!r} has a rule, range, method, predictors or margin, and is not among the columns that are replaced"
                )
        schema = data.frame.collect_schema()
        for c, what in self.numbers_wanted(replaced):
            if not schema[c].is_numeric():
                yield InputError(f"synthesise: column {c!r} does not hold numbers, and {what}")
        if (self.design or self.calibrate) and data.weight is None:
            yield RoleMissing(
                "synthesise: a design and totals are for weights, and the data declare none. Declare them with tacit.read(..., weight=...)."
            )
        if self.head is not None and data.household is None:
            yield RoleMissing("synthesise: head needs households; declare household=...")
        if self.rho is not None:
            yield from self.private_faults(data, replaced)

    def ruled(self) -> Iterator[str]:
        """Yield the columns that have a rule, range, method, predictors or margin."""
        yield from (c for s in self.rules for c in s.values)
        for part in (self.sums, self.ranges, self.methods, self.predictors, *self.margins):
            yield from part
        yield from self.categories

    def private_faults(self, data: Microdata, replaced: tuple[str, ...]) -> Iterator[SdcError]:
        """Yield what would tell more of a record than rho allows for."""
        kept = [c for c in data.columns if c not in replaced]
        if kept:
            yield InputError(
                f"synthesise: rho covers the columns that are replaced, and {len(kept)} others would be released as they are. Drop them first."
            )
        yield from self.unlisted(data, replaced)
        before = [a.kind for a in data.history if not leaves_out(a)]
        if before:
            yield InputError(
                f"synthesise: rho is for one record of the data as they are read, and {before[0]} before it may change or drop others for the sake of one. Synthesise first; what comes after it costs nothing."
            )

    def unlisted(self, data: Microdata, replaced: Iterable[str]) -> Iterable[SdcError]:
        """Yield the columns of which categories or limits would have to be taken from the data."""
        schema = data.frame.collect_schema()
        for c in replaced:
            if c in self.ranges or c in self.sums or self.listed(data, c):
                continue
            if schema[c].is_numeric() or schema[c].is_temporal():
                yield InputError(
                    f"synthesise: private margins of the numbers in {c!r} need limits that do not come from the data; give ranges={{{c!r}: [low, high]}}"
                )
            else:
                yield InputError(
                    f"synthesise: private margins of {c!r} need its categories, as those of the data would tell which values occur; give categories={{{c!r}: [...]}}"
                )

    def listed(self, data: Microdata, column: str) -> tuple[Any, ...]:
        """Return the categories of a column: given, or the labels of the file; nothing for numbers in limits."""
        if column in self.ranges:
            return ()
        return tuple(self.categories.get(column) or data.columns[column].labels)

    def numbers_wanted(self, replaced: Iterable[str]) -> Iterable[tuple[str, str]]:
        """Yield columns that must hold numbers, and why."""
        for c in replaced:
            way = self.methods.get(c, self.method)
            if way in OF_NUMBERS:
                yield c, f"the method {way} is for numbers"
        for total, parts in self.sums.items():
            for c in (total, *parts):
                yield c, "it is part of a sum"

    def record(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns that a full synthesis replaces: what a record says."""
        apart = {*data.identifiers, data.weight, data.household, data.copies}
        return tuple(c for c in data.columns if c not in apart)

    def tables(self, data: Microdata) -> tuple[tuple[str, ...], ...]:
        """Return the margins of an ipf synthesis: those given, or all pairs."""
        replaced = tuple(c for c in self.replaced(data) if c not in self.sums)
        if self.margins:
            return self.margins
        pairs = tuple((a, b) for i, a in enumerate(replaced) for b in replaced[i + 1 :])
        return pairs or (replaced,)


def leaves_out(action: Action) -> bool:
    """Return True for a step that left columns out and looked at no value."""
    dropped = action.kind == "deidentify" and action.parameters.get("how", "drop") == "drop"
    return dropped or action.kind == "remove_columns"
