"""What the methods on lattices share: models, utility, weights and limits, and the problem they pose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import BeforeValidator, Field, PlainSerializer, SkipValidation, WithJsonSchema

from tacit.arrays import Floats, Ints
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.hierarchies.intervals import text
from tacit.data.microdata import Microdata
from tacit.data.values import classes as classes_of
from tacit.errors import InputError, RoleMissing, SdcError
from tacit.fields import ColumnName, IdentifierColumns, PositiveFloat, PositiveInt, Probability
from tacit.records.classes.anonymise.evaluate import Task
from tacit.records.classes.anonymise.models import condition, population, values
from tacit.records.classes.anonymise.models.condition import Condition, Made, Parts, Setting
from tacit.records.classes.anonymise.objectives import Entropy, Utility, make_objective
from tacit.records.classes.anonymise.problem import build_problem
from tacit.records.classes.class_values import columns_of_interest
from tacit.registry import lookup
from tacit.spec import Measure, Method, Role
from tacit.stats.class_models import sum_by

Maker = Callable[[Any, Setting], Sequence[Condition]]
Claimer = Callable[[Any, Made], Parts]

ASSUMED = "The quasi-identifier holds every column that an intruder can find in other files."
#: By kind of measure: what makes its conditions, and its claims.
MODELS: Mapping[str, tuple[Maker, Claimer]] = {
    "alpha_k": (values.from_alpha_k, values.claim_alpha_k),
    "attack_risk": (condition.from_attack_risk, condition.claim_attack_risk),
    "beta_likeness": (values.from_values, values.claim_values),
    "delta_disclosure": (values.from_values, values.claim_values),
    "delta_presence": (population.from_delta_presence, population.claim_of_register),
    "individual_risk": (population.from_individual_risk, population.claim_risk),
    "k_anonymity": (condition.from_k_anonymity, condition.claim_k),
    "k_map": (population.from_k_map, population.claim_of_register),
    "l_diversity": (values.from_l_diversity, values.claim_values),
    "lkc": (values.from_lkc, values.claim_values),
    "population_uniqueness": (population.from_population_uniqueness, population.claim_few_uniques),
    "t_closeness": (values.from_values, values.claim_values),
}

Aggregate = Literal["mean", "median", "interval"]
Weights = Literal["records", "weighted_k", "weighted"]


def read_models(given: Any) -> tuple[Measure[Any], ...]:
    """Return the models of a plan: measures, or mappings with their kind."""
    entries = given if isinstance(given, list | tuple) else [given]
    made = []
    for entry in entries:
        if isinstance(entry, Measure):
            made.append(entry)
            continue
        named = {"kind": entry} if isinstance(entry, str) else entry
        if not isinstance(named, Mapping) or not isinstance(named.get("kind"), str):
            raise ValueError("each model has a kind, e.g. {kind: k_anonymity, k: 5}")  # noqa: TRY004 - pydantic's protocol
        values = {str(k): v for k, v in named.items() if k != "kind"}
        model = lookup(named["kind"], values)(**values)
        if not isinstance(model, Measure):
            raise ValueError(f"{model.kind} is not a measure")  # noqa: TRY004 - pydantic's protocol
        made.append(model)
    return tuple(made)


Models = Annotated[
    SkipValidation[tuple[Measure[Any], ...]],
    BeforeValidator(read_models),
    PlainSerializer(lambda models: [m.to_dict() for m in models]),
    WithJsonSchema(
        {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "required": ["kind"]},
        }
    ),
]


class LatticeMethod(Method):
    """Base of methods that generalise keys until every model holds."""

    models: Models = Field(
        description="the protection models that must hold, as measures with their thresholds"
    )
    suppression: Probability = Field(
        default=0.0, description="the largest share of records that may be suppressed"
    )
    utility: Utility = Field(default="loss", description="what is made as small as possible")
    weights: Weights = Field(
        default="records",
        description="what counts: records; the sum of weights in k alone; or weights in k, shares, limit and utility",
    )
    importance: Mapping[str, PositiveFloat] = Field(
        default_factory=dict,
        description="how much the loss of each key counts, beside the others (default 1)",
    )
    balance: Probability = Field(
        default=0.5,
        description="0.5 counts generalisation and suppression in full; towards 0 suppression counts less, towards 1 generalisation does",
    )
    levels: Mapping[str, tuple[int, int]] = Field(
        default_factory=dict, description="lowest and highest level allowed, by key"
    )
    microaggregate: Mapping[str, Aggregate] = Field(
        default_factory=dict,
        description="numeric keys that are not generalised but get the mean, median or interval of their class",
    )
    target: ColumnName | None = Field(
        default=None, description="utility 'classification' only: the column to be predicted"
    )
    identifiers: IdentifierColumns = "drop"
    effort: PositiveInt = Field(
        default=300,
        description="how much work the search may do before it ends with a gap, in millions of merged rows",
    )
    seconds: PositiveFloat | None = Field(
        default=None,
        description="end the search after this time instead; the answer may then differ from run to run",
    )

    on_weight = "option"
    needs: ClassVar[frozenset[Role]] = frozenset({"keys"})
    example: ClassVar[Mapping[str, Any]] = {
        "models": [{"kind": "k_anonymity", "k": 2}],
        "suppression": 0.2,
    }

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns of importances and limits, and the target."""
        named = [*self.importance, *self.levels, *self.microaggregate]
        named += [self.target] if self.target else []
        return tuple(dict.fromkeys(named))

    def _faults(self, data: Microdata) -> list[SdcError]:
        """Add: models that cannot be aimed at, keys without hierarchy, limits that are no levels."""
        return [*super()._faults(data), *self.own_faults(data)]

    def own_faults(self, data: Microdata) -> Iterator[SdcError]:
        """Yield what is wrong with models, keys and limits."""
        known = ", ".join(sorted(MODELS))
        for model in self.models:
            if model.kind not in MODELS:
                yield InputError(
                    f"{self.kind}: {model.kind} is not a model that {self.kind} can aim at; it knows {known}."
                )
        if not self.models:
            yield InputError(f"{self.kind}: give at least one model, e.g. KAnonymity(k=5).")
        for model in self.models:
            yield from model.faults(data)
        for key in self.generalised(data):
            if key not in data.hierarchies:
                yield RoleMissing(
                    f"{self.kind}: key {key!r} has no hierarchy. Give one, or tacit.hierarchy.flat() to allow suppression only."
                )
        yield from [InputError(f"{self.kind}: {clause}.") for clause in self.aggregate_faults(data)]
        for key, (low, high) in self.levels.items():
            if key in data.hierarchies and not 0 <= low <= high <= data.hierarchy(key).height:
                yield InputError(
                    f"{self.kind}: levels of {key!r} must lie between 0 and {data.hierarchy(key).height}, "
                    f"the lower first (got {low}, {high})."
                )
        if self.weights != "records" and data.weight is None:
            yield RoleMissing(
                f"{self.kind}: weights={self.weights!r} needs a column with the weight role."
            )
        if (self.utility == "classification") != (self.target is not None):
            yield InputError(f"{self.kind}: utility 'classification' and target= go together.")
        if self.utility == "squared_error" and not self.numbers(data):
            yield InputError(f"{self.kind}: utility 'squared_error' needs a numeric key.")

    def without_identifiers(self, data: Microdata) -> Microdata:
        """Return the data without direct identifiers, unless they are kept."""
        return data.drop(data.identifiers) if self.identifiers == "drop" else data

    def generalised(self, data: Microdata) -> tuple[str, ...]:
        """Return the keys that are generalised: all but those that get one value a class."""
        return tuple(k for k in data.keys if k not in self.microaggregate)

    def numbers(self, data: Microdata) -> tuple[str, ...]:
        """Return the generalised keys that hold numbers."""
        schema = data.frame.collect_schema()
        return tuple(k for k in self.generalised(data) if schema[k].is_numeric())

    def aggregate_faults(self, data: Microdata) -> Iterator[str]:
        """Yield a clause for each key that cannot get one value a class."""
        schema = data.frame.collect_schema()
        named = [c for c in self.microaggregate if c in data.columns]
        yield from [f"microaggregate={c!r} is no key" for c in named if c not in data.keys]
        for c in named:
            if c in data.keys and not schema[c].is_numeric():
                yield f"key {c!r} is not numeric, so that a class has no mean, median or interval of it"
        for c in named:
            if c in self.importance or c in self.levels:
                yield f"key {c!r} is microaggregated and takes no importance or levels"
        for c in named:
            if sum(c in group for group in data.quasi.values()) > 1:
                yield f"key {c!r} is microaggregated and may stand in one quasi-identifier only"
        if any(all(c in self.microaggregate for c in group) for group in data.quasi.values()):
            yield "at least one key of a quasi-identifier must be left to form classes"
        if self.microaggregate and any(m.kind == "lkc" for m in self.models):
            yield "lkc asks for sets of keys, whose classes have no one value; leave out microaggregate="
        if self.microaggregate and self.asks_register:
            yield "the people of a register are found by hierarchies; leave out microaggregate="

    def aggregate(self, data: Microdata) -> Microdata:
        """Return generalised data with one value a class of the keys that are microaggregated."""
        weight = data.weight if self.weights == "weighted" else None
        for group in data.quasi.values():
            how = {c: h for c, h in self.microaggregate.items() if c in group}
            keys = [c for c in group if c not in how]
            data = aggregate_classes(data, keys, how, weight)
        return data

    @property
    def asks_register(self) -> bool:
        """Return True when a model counts the people of a register."""
        return any(m.kind in population.KINDS for m in self.models)

    def pose(self, data: Microdata, people: Microdata | None = None) -> Task:
        """Return the search problem of some data, with a population register where a model asks for one."""
        if not self.asks_register:
            people = None
        elif people is None:
            kinds = [m.kind for m in self.models if m.kind in population.KINDS]
            raise InputError(
                f"{self.kind}: {' and '.join(kinds)} counts the people of a population register: pass register=, or name "
                "the file in the plan's register section."
            )
        else:
            self.check_type(people, " with register=")
        keys = self.generalised(data)
        quasi = {name: [c for c in group if c in keys] for name, group in data.quasi.items()}
        asked = [m.sensitive for m in self.models if hasattr(m, "sensitive")]
        extra = [c for named in asked for c in columns_of_interest(data, named)]
        if self.target:
            extra.append(self.target)
        groups: dict[str, Sequence[str]] = dict(quasi)
        for model in self.models:
            if model.kind == "lkc":
                # Beside the quasi-identifiers it is judged on sets of few keys.
                groups |= values.few_keys(model, data)
        problem = build_problem(
            data,
            list(groups.values()),
            tuple(dict.fromkeys(extra)),
            self.levels,
            self.numbers(data) if self.utility == "squared_error" else (),
            people,
        )
        weighted = self.weights == "weighted"
        setting = Setting(
            data,
            weighted_k=self.weights != "records",
            weighted=weighted,
            values={c: problem.cells.keys[c].values for c in problem.sizes},
        )
        names, everything = list(groups), tuple(range(len(quasi)))
        conditions = tuple(
            (c, everything if c.quasi is None else (names.index(c.quasi),))
            for model in self.models
            for c in MODELS[model.kind][0](model, setting)
        )
        objective = make_objective(
            self.utility,
            problem,
            weighted=weighted,
            importance=self.importance,
            balance=self.balance,
            target=self.target,
        )
        if isinstance(objective, Entropy):
            problem = objective.placed_in(problem)
        return Task(problem, conditions, objective, self.suppression, weighted)

    def _claims_with(self, data: Microdata, result: Microdata, ctx: Context) -> Iterable[Claim]:
        return claims_of(
            self.models,
            self.weights,
            data,
            result,
            ctx.register if self.asks_register else None,
            ctx.details.get("levels"),
        )


def claims_of(
    models: Sequence[Measure[Any]],
    weights: str,
    data: Microdata,
    result: Microdata,
    register: Microdata | None = None,
    levels: Mapping[str, int] | None = None,
) -> Iterable[Claim]:
    """Yield the claims of all models on all their quasi-identifiers."""
    in_k = None if weights == "records" else data.weight
    in_shares = data.weight if weights == "weighted" else None
    for model in models:
        for name, columns in data.quasi_identifiers(getattr(model, "quasi", None)).items():
            made = Made(data, result, tuple(columns), in_k, in_shares, register, levels or {})
            for part in MODELS[model.kind][1](model, made):
                known = (ASSUMED, *part.assumptions)
                yield Claim(part.model, part.parameters, name, made.columns, known, part.withheld)


def aggregate_classes(
    data: Microdata, keys: Sequence[str], how: Mapping[str, Aggregate], weight: str | None
) -> Microdata:
    """Return the data with each column of ``how`` replaced by one value in each class of the keys.

    Missing values are left out; a class that has no others stays missing. ``weight`` names the column by
    which means and medians are weighted.
    """
    if not how:
        return data
    table = data.to_arrow([*how, *([weight] if weight else [])])
    classes, count = classes_of(data, keys)
    amounts = np.ones(table.num_rows)
    if weight is not None:
        amounts = table.column(weight).to_numpy(zero_copy_only=False).astype(np.float64)
        # In a class without any weight all records count the same.
        amounts = np.where(sum_by(classes, amounts, count)[classes] > 0, amounts, 1.0)
    columns = {}
    for name, wanted in how.items():
        column = table.column(name)
        x = column.to_numpy(zero_copy_only=False).astype(np.float64)
        known = ~np.isnan(x)
        # Sorted by value, sums do not depend on the order of the records.
        order = np.lexsort([amounts, x, classes])
        order = order[known[order]]
        whole = pa.types.is_integer(column.type)
        found = summarise(classes[order], x[order], amounts[order], count, wanted, whole)
        columns[name] = found.take(pa.array(classes))
    return data.replace(columns)


def summarise(
    classes: Ints, x: Floats, amounts: Floats, count: int, how: Aggregate, whole: bool
) -> pa.Array:
    """Return one value a class, null where it has none; rows ascend by class and value."""
    if not len(classes):
        return pa.nulls(count, pa.string() if how == "interval" else pa.float64())
    begins = np.flatnonzero(np.diff(classes, prepend=-1))
    present = classes[begins]
    ends = np.append(begins[1:], len(classes))
    place = np.full(count, -1, dtype=np.int64)
    place[present] = np.arange(len(present))
    if how == "interval":
        spans = [span(a, b, whole) for a, b in zip(x[begins], x[ends - 1], strict=True)]
        values = pa.array(spans, pa.string())
    elif how == "mean":
        sums = np.add.reduceat(amounts * x, begins) / np.add.reduceat(amounts, begins)
        # Rounding must not carry a mean out of its class.
        values = pa.array(np.clip(sums, x[begins], x[ends - 1]))
    else:
        values = pa.array(middle(x, amounts, begins, ends))
    return values.take(pa.array(place, mask=place < 0))


def middle(x: Floats, amounts: Floats, begins: Ints, ends: Ints) -> Floats:
    """Return the median of each class: the mean of the values on both sides of half the weight."""
    total = np.cumsum(amounts)
    before = total[begins] - amounts[begins]
    half = before + (total[ends - 1] - before) / 2
    room = 1e-12 * max(float(total[-1]), 1.0)
    low = np.minimum(np.searchsorted(total, half - room), ends - 1)
    high = np.minimum(np.searchsorted(total, half + room), ends - 1)
    return np.asarray((x[low] + x[high]) / 2)


def span(low: float, high: float, whole: bool) -> str:
    """Return an interval as text, both ends in it; a single value as itself."""
    first, last = (text(Decimal(repr(int(v) if whole else float(v)))) for v in (low, high))
    if low == high:
        return first
    if not whole:
        return f"[{first}, {last}]"
    return f"{first} to {last}" if low < 0 else f"{first}-{last}"
