"""Anonymise: the best generalisation of whole columns for any list of protection models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import BeforeValidator, Field, PlainSerializer, SkipValidation, WithJsonSchema

from tacit.claims import Claim
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.engine.relational import drop_matching
from tacit.errors import Infeasible, InputError, RoleMissing, SdcError
from tacit.fields import ColumnName, PositiveFloat, PositiveInt, Probability
from tacit.protect.anonymise import (  # noqa: F401 - they register models
    population_condition,
    sample_conditions,
)
from tacit.protect.anonymise.bound import BoxSearch, Found, Limits
from tacit.protect.anonymise.conditions import (
    Setting,
    make_conditions,
    model_faults,
    sensitive_columns,
)
from tacit.protect.anonymise.enumerate import walk
from tacit.protect.anonymise.evaluate import Task
from tacit.protect.anonymise.improve import LocalSearch, gap_of
from tacit.protect.anonymise.lattice import Lattice
from tacit.protect.anonymise.more_claims import claims_of
from tacit.protect.anonymise.more_conditions import further_groups
from tacit.protect.anonymise.objectives import WORDS, Utility, make_objective
from tacit.protect.anonymise.problem import Flags, Levels, Problem, build_problem
from tacit.protect.anonymise.states import States
from tacit.registry import lookup, register
from tacit.spec import Measure, Method, Role

Weights = Literal["records", "weighted_k", "weighted"]
#: Rows merged in the local search, and nodes up to which it is left out.
HEURISTIC_WORK, SMALL = 60_000_000, 3_000
#: Lattices up to this size are judged node by node where no bound holds.
WHOLE = 200_000


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


@register
class Anonymise(Method):
    """Find the levels of all keys that lose least while every model holds, and release the records there.

    Each key is generalised as a whole to one level of its hierarchy (full-domain generalisation); records in
    classes that fail a model are suppressed, at most the share that is allowed. Among all choices of levels the
    one of least cost is searched for by branch and bound. Where the bound settles every node the optimum is
    *proven*; where the work is limited the gap to the bound is stated. Records that fail k-anonymity or distinct
    diversity at a node fail at all nodes below it, which the bound uses; other models do not have this property
    once records are suppressed, and take no part in it.

    Iyengar's loss of a cell is (leaves below its value - 1) / (leaves of its key - 1), 1 in a suppressed record,
    averaged over records and keys.

    References
    ----------
    Samarati (2001), Protecting respondents' identities in microdata release, IEEE TKDE 13(6), 1010-1027.
    Iyengar (2002), Transforming data to satisfy privacy constraints, KDD, 279-288.
    Kohlmayer, Prasser, Eckert, Kemper, Kuhn (2012), Flash: efficient, stable and optimal k-anonymity,
    PASSAT, 708-717.
    """

    kind: Literal["anonymise"] = "anonymise"
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
    target: ColumnName | None = Field(
        default=None, description="utility 'classification' only: the column to be predicted"
    )
    identifiers: Literal["drop", "keep"] = Field(
        default="drop",
        description="drop the identifier columns first, or keep them for a later step that substitutes them",
    )
    effort: PositiveInt = Field(
        default=300,
        description="how much work the search may do before it ends with a gap, in millions of merged rows",
    )
    seconds: PositiveFloat | None = Field(
        default=None,
        description="end the search after this time instead; the answer may then differ from run to run",
    )

    on_household = "by_value"
    on_weight = "option"
    on_stratum = "kept"
    on_links = "warned"
    needs: ClassVar[frozenset[Role]] = frozenset({"keys"})
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"
    example: ClassVar[Mapping[str, Any]] = {
        "models": [{"kind": "k_anonymity", "k": 2}],
        "suppression": 0.2,
    }
    techniques: ClassVar[tuple[str, ...]] = ("generalise values", "suppression (tuple)")

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns of importances and limits, and the target."""
        named = [*self.importance, *self.levels, *([self.target] if self.target else [])]
        return tuple(dict.fromkeys(named))

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: models that cannot be aimed at, keys without hierarchy, limits that are no levels."""
        found = super().faults(data)
        if not isinstance(data, Microdata):
            return found
        found += [InputError(f"anonymise: {clause}.") for clause in model_faults(self.models)]
        if not self.models:
            found.append(InputError("anonymise: give at least one model, e.g. KAnonymity(k=5)."))
        for model in self.models:
            found += model.faults(data)
        found += [
            RoleMissing(
                f"anonymise: key {key!r} has no hierarchy. Give one, or tacit.hierarchy.flat() to allow suppression only."
            )
            for key in data.keys
            if key not in data.hierarchies
        ]
        for key, (low, high) in self.levels.items():
            if key in data.hierarchies and not 0 <= low <= high <= data.hierarchy(key).height:
                found.append(
                    InputError(
                        f"anonymise: levels of {key!r} must lie between 0 and {data.hierarchy(key).height}, "
                        f"the lower first (got {low}, {high})."
                    )
                )
        if self.weights != "records" and data.weight is None:
            found.append(
                RoleMissing(
                    f"anonymise: weights={self.weights!r} needs a column with the weight role."
                )
            )
        if (self.utility == "classification") != (self.target is not None):
            found.append(InputError("anonymise: utility 'classification' and target= go together."))
        if self.utility == "squared_error" and not numeric_keys(data):
            found.append(InputError("anonymise: utility 'squared_error' needs a numeric key."))
        return found

    def pose(self, data: Microdata) -> Task:
        """Return the search problem of some data."""
        quasi = dict(data.quasi)
        extra = [
            c for m in self.models if hasattr(m, "sensitive") for c in sensitive_columns(m, data)
        ]
        if self.target:
            extra.append(self.target)
        groups = {**quasi, **further_groups(self.models, data)}
        problem = build_problem(
            data,
            list(groups.values()),
            tuple(dict.fromkeys(extra)),
            self.levels,
            numeric_keys(data) if self.utility == "squared_error" else (),
        )
        weighted = self.weights == "weighted"
        setting = Setting(
            data,
            weighted_k=self.weights != "records",
            weighted=weighted,
            values={c: problem.cells.keys[c].values for c in problem.sizes},
        )
        conditions = tuple(make_conditions(self.models, setting))
        names = list(groups)
        everything = tuple(range(len(quasi)))
        scopes = tuple(
            everything if c.quasi is None else (names.index(c.quasi),) for c in conditions
        )
        objective = make_objective(
            self.utility,
            problem,
            weighted=weighted,
            importance=self.importance,
            balance=self.balance,
            target=self.target,
        )
        return Task(problem, conditions, objective, self.suppression, weighted, scopes)

    def search(self, data: Microdata, *, context: Context | None = None, top: int = 10) -> Lattice:
        """Search the lattice without changing the data.

        Parameters
        ----------
        data
            The data, with keys and their hierarchies.
        context
            Progress and cancellation, given by a plan run.
        top
            How many of the best nodes are proven to be the best, not the first alone.

        Raises
        ------
        Infeasible
            When no node is safe.
        """
        self.check(data)
        ctx = context or Context.start(None)
        task = self.pose(data)
        problem = task.problem
        if not problem.records:
            raise InputError("anonymise: there are no records.")
        found, states = Found(top), States(problem)

        def tick(share: float) -> None:
            ctx.tick("searching the lattice", share)

        limits = Limits(self.effort * 1e6, self.seconds)
        if task.objective.by_record:
            if problem.n_nodes > SMALL:
                soon = Limits(min(HEURISTIC_WORK, limits.work / 2), half(self.seconds))
                LocalSearch(task, states, found, np.random.default_rng(0), tick).run(soon)
            BoxSearch(task, states, found, tick).run(limits)
        elif problem.n_nodes <= WHOLE:
            for node in walk(task, tick):
                found.note(node)
            found.bound = math.inf
        else:
            LocalSearch(task, states, found, np.random.default_rng(0), tick).run(limits)
        return self.report(task, found)

    def report(self, task: Task, found: Found) -> Lattice:
        """Return what was found, or say that nothing is safe."""
        best = found.incumbent
        proven = math.isinf(found.bound) and found.bound > 0
        if best is None:
            how = "at any choice of levels" if proven else "within the work allowed"
            raise Infeasible(
                f"anonymise: no node of the lattice is safe {how} with suppression = {self.suppression:g}. "
                "Allow more suppression, or ask for less."
            )
        gap = gap_of(best.value, found.bound)
        names = [" ".join(m.kind.split("_")) for m in self.models]
        return Lattice(
            kind=self.kind,
            title=f"Best generalisation for {', '.join(names)}",
            value=best.value,
            numbers={
                "nodes": task.problem.n_nodes,
                "nodes judged": len(found.nodes),
                f"best {self.utility}": best.value,
                **{
                    f"level of {k}": f"{level} of {climb.height}"
                    for k, level, climb in zip(
                        task.problem.keys, best.levels, task.problem.climbs, strict=True
                    )
                },
                "records suppressed": best.suppressed,
                "share suppressed": best.share,
                "classes": best.classes,
                "proven": "yes" if proven else f"no, gap {gap:.1%}",
            },
            explanation=explain(self.utility, self.weights, proven, gap),
            task=task,
            judged=found.nodes,
            proven=proven,
            gap=gap,
            bound=best.value if proven else max(found.bound, 0.0),
            utility=self.utility,
            weights=self.weights,
        )

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        if self.identifiers == "drop":
            data = data.drop(data.identifiers)
        lattice = self.search(data, context=ctx, top=1)
        task = lattice.task
        chosen = tuple(lattice.best.levels.values())
        state, ids = task.problem.raise_state(task.problem.base, chosen)
        alive = task.survivors(state)
        result = data
        for key, level in lattice.best.levels.items():
            result = result.generalise(key, level)
        if not alive.all():
            gone = released_tuples(data, task.problem, chosen, ids, ~alive)
            frame = drop_matching(result.frame, task.problem.keys, gone, data.engine)
            result = result.keep_rows(frame)
        ctx.note(
            levels=dict(lattice.best.levels),
            heights={k: c.height for k, c in zip(lattice.keys, task.problem.climbs, strict=True)},
            dropped=lattice.best.suppressed,
            value=lattice.best.value,
            utility=self.utility,
            weights=self.weights,
            nodes=lattice.n_nodes,
            judged=len(lattice.judged),
            proven=lattice.proven,
            gap=lattice.gap,
        )
        return result.materialise()

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        return claims_of(self.models, self.weights, data, result)


def half(seconds: float | None) -> float | None:
    """Return half of a time limit."""
    return None if seconds is None else seconds / 2


def numeric_keys(data: Microdata) -> tuple[str, ...]:
    """Return the keys that hold numbers."""
    schema = data.frame.collect_schema()
    return tuple(k for k in data.keys if schema[k].is_numeric())


def released_tuples(
    data: Microdata, problem: Problem, levels: Levels, ids: Any, gone: Flags
) -> pa.Table:
    """Return the released key tuples of the classes that are suppressed."""
    # A class is told by any of its cells: all of them climb to the same labels.
    cell_class = ids[problem.base_class]
    member = np.empty(len(gone), dtype=np.int64)
    member[cell_class] = np.arange(len(cell_class))
    picked = member[np.flatnonzero(gone)]
    columns = {}
    for j, key in enumerate(problem.keys):
        column = problem.cells.keys[key]
        ground = column.decode(column.codes[picked])
        lifted = data.hierarchy(key).raise_values(ground, levels[j])
        columns[key] = ground if levels[j] == 0 else lifted
    return pa.table(columns)


def explain(utility: str, weights: Weights, proven: bool, gap: float) -> str:
    """Return what the numbers mean."""
    counted = {
        "records": "Records are counted, not weights.",
        "weighted_k": "k compares sums of weights; the limit, shares and utility count records.",
        "weighted": "k, the suppression limit, shares and utility are weighted.",
    }[weights]
    sure = (
        "No other choice of levels is better: every one was judged or ruled out by a bound."
        if proven
        else f"The search was ended before all choices were ruled out: the best may be {gap:.1%} lower."
    )
    return f"Value: {WORDS[utility]}. {counted} {sure}"
