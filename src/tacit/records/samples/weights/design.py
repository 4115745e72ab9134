"""Survey weights after design variables were synthesised or swapped: recalculated, copied, old, or none.

A weight is a formula of the design: N_h / n_h in a stratified sample, X / (n x) in a sample with probability
proportional to size, (C / c) (M_c / m_c) in a sample of clusters and then of their members. When the stratum, size or
cluster of a record is replaced, its old weight no longer fits and tells what was replaced. ``rcal`` computes the formula
again with the released values, ``cpp`` copies the weight of an original record in the same cell of the design.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from tacit.arrays import Floats, Ints
from tacit.data.margins import Totals, columns_of, place_totals
from tacit.data.values import as_numbers
from tacit.engine.codes import Coded, dense_ids, encode
from tacit.errors import Infeasible, InputError, InvalidParameter
from tacit.fields import ColumnNames, PositiveFloat
from tacit.numerics.algebra import dot
from tacit.reveal import reveal


def read_way(value: Any) -> Any:
    """Return the names in use for a name: old for oldw, none for unw."""
    return {"old": "oldw", "none": "unw"}.get(value, value) if isinstance(value, str) else value


WeightWay = Annotated[Literal["rcal", "cpp", "oldw", "unw"], BeforeValidator(read_way)]


class Design(BaseModel):
    """How the sample was drawn: what its weights are a formula of."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str = Field(
        default="stratified",
        description="stratified, pps (probability proportional to size), two_stage, or a formula of your own",
    )
    columns: ColumnNames = Field(description="the stratum, the size or the cluster of a record")
    population: Totals | None = Field(
        default=None,
        description="members of the population in each stratum or cluster; by default the sums of the old weights",
    )
    clusters: PositiveFloat | None = Field(
        default=None, description="two_stage: number of clusters in the population"
    )
    total: PositiveFloat | None = Field(
        default=None,
        description="pps: sum of the sizes in the population; by default what the old weights estimate it to be",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Design:
        if self.kind not in FORMULAS:
            raise ValueError(f"no design {self.kind!r}; there are: {', '.join(FORMULAS)}")
        if self.kind == "pps" and len(self.columns) != 1:
            raise ValueError("a pps design has one column of sizes")
        if self.population is not None and columns_of(self.population) != self.columns:
            raise ValueError(
                "population lists the columns of the design, in their order, and 'count'"
            )
        if self.kind == "two_stage" and (self.clusters is None) != (self.population is None):
            raise ValueError("two_stage takes clusters and population, or neither")
        return self

    @property
    def is_size(self) -> bool:
        """Return True when a weight tells the size of its record."""
        return self.kind == "pps"


@dataclass(frozen=True)
class Drawn:
    """What a formula may look at: the design, old weights, and the design's columns before and after."""

    design: Design
    weights: Floats
    before: pa.Table
    after: pa.Table

    def cells(self) -> tuple[Ints, Ints, int, dict[str, Coded]]:
        """Return the cell of the design of each record before and after, their number, and the columns coded."""
        names = list(self.design.columns)
        n = self.before.num_rows
        both = pa.concat_tables([self.before.select(names), self.after.select(names)])
        coded = {c: encode(both.column(c)) for c in names}
        ids, size, cells = cells_of(coded)
        return ids[:n], ids[n:], size, cells


def cells_of(coded: Mapping[str, Coded]) -> tuple[Ints, int, dict[str, Coded]]:
    """Return the cell of each record, the number of cells, and the columns coded by cell."""
    ids, size = dense_ids([c.codes for c in coded.values()], [c.size for c in coded.values()])
    first = np.full(size, len(ids), dtype=np.int64)
    np.minimum.at(first, ids, np.arange(len(ids)))
    return ids, size, {c: Coded(v.codes[first], v.values) for c, v in coded.items()}


#: A formula gives the weights of the released records.
Formula = Callable[[Drawn], Floats]
FORMULAS: dict[str, Formula] = {}


def design_formula(kind: str) -> Callable[[Formula], Formula]:
    """Name a formula, so that designs can ask for it: the hook for designs of your own."""

    def keep(formula: Formula) -> Formula:
        FORMULAS[kind] = formula
        return formula

    return keep


@design_formula("stratified")
def weigh_strata(drawn: Drawn) -> Floats:
    """Return N_h / n_h with the released number of records of each stratum."""
    old, new, size, cells = drawn.cells()
    n = np.bincount(new, minlength=size).astype(np.float64)
    amount = population_of(drawn, old, size, cells)
    refuse_empty(amount, n, cells, "stratum")
    return np.asarray((amount / np.maximum(n, 1.0))[new])


@design_formula("two_stage")
def weigh_clusters(drawn: Drawn) -> Floats:
    """Return (C / c) (M_c / m_c) with the released number of records of each cluster."""
    old, new, size, cells = drawn.cells()
    m = np.bincount(new, minlength=size).astype(np.float64)
    sampled = np.bincount(old, minlength=size) > 0
    if ((m > 0) & ~sampled).any():
        raise InputError(
            "weights: a synthetic record lies in a cluster that was not sampled; synthesise clusters among the sampled ones"
        )
    # Without known sizes the old weights of a cluster sum to (C / c) M_c.
    factor = drawn.design.clusters / int(sampled.sum()) if drawn.design.clusters else 1.0
    amount = population_of(drawn, old, size, cells) * factor
    refuse_empty(np.where(sampled, amount, 0.0), m, cells, "cluster")
    return np.asarray((amount / np.maximum(m, 1.0))[new])


@design_formula("pps")
def weigh_sizes(drawn: Drawn) -> Floats:
    """Return X / (n x) with the released sizes x."""
    [name] = drawn.design.columns
    sizes = as_numbers(drawn.after.column(name), name)
    x = sizes.values.astype(np.float64)
    if not sizes.known.all() or not (x > 0).all():
        raise Infeasible(
            f"weights: synthetic sizes of column {name!r} must be known and above 0; give ranges={{{name!r}: [low, null]}} with a low above 0"
        )
    total = drawn.design.total
    if total is None:
        before = as_numbers(drawn.before.column(name), name).values.astype(np.float64)
        total = float(dot(drawn.weights, before))
    return np.asarray(total / (len(x) * x))


def population_of(drawn: Drawn, old: Ints, size: int, cells: Mapping[str, Coded]) -> Floats:
    """Return the members of the population in each cell: as listed, or as the old weights sum."""
    if drawn.design.population is None:
        return np.bincount(old, weights=drawn.weights, minlength=size).astype(np.float64)
    margin = place_totals(drawn.design.population, cells, np.ones(size, dtype=bool), "weights")
    return margin.total[margin.group]


def refuse_empty(amount: Floats, n: Floats, cells: Mapping[str, Coded], noun: str) -> None:
    """Refuse where a stratum or cluster of the population has no released record to stand for it."""
    empty = np.flatnonzero((amount > 0) & (n == 0))
    if len(empty):
        names = [
            tuple(
                c.values[int(c.codes[at])].as_py() if c.codes[at] < len(c.values) else None
                for c in cells.values()
            )
            for at in empty
        ]
        shown = reveal(f"{noun} without a synthetic record", names)
        raise Infeasible(
            f"weights: {len(empty):,} {noun}(s) of the population have no synthetic record, so that no weight can stand for them. "
            f"Collapse them with others before, or draw again with another seed. {shown}"
        )


def recalculate(design: Design, weights: Floats, before: pa.Table, after: pa.Table) -> Floats:
    """Return the design's weights of the released records (RCAL)."""
    check_weights(weights)
    return FORMULAS[design.kind](Drawn(design, weights, before, after))


def copy_weights(
    design: Design, weights: Floats, before: pa.Table, after: pa.Table, rng: np.random.Generator
) -> Floats:
    """Return the weight of an original record in the same cell of the design (CPP), a random one where they vary."""
    check_weights(weights)
    if design.is_size:
        raise InvalidParameter(
            "weights: sizes have no cells to copy weights within; recalculate them with weights='rcal'"
        )
    old, new, size, _ = Drawn(design, weights, before, after).cells()
    count = np.bincount(old, minlength=size)
    lonely = int(((np.bincount(new, minlength=size) > 0) & (count == 0)).sum())
    if lonely:
        raise Infeasible(
            f"weights: {lonely:,} cells of the design have synthetic records and no original one whose weight could be copied. Use weights='rcal'."
        )
    order = np.argsort(old, kind="stable")
    start = np.cumsum(count) - count
    at = start[new] + np.floor(rng.random(len(new)) * count[new]).astype(np.int64)
    return weights[order[at]]


def check_weights(weights: Floats) -> None:
    """Refuse weights that are no weights."""
    if not np.isfinite(weights).all() or (weights <= 0).any():
        raise InputError("weights: survey weights must be known, finite and above 0")
