"""The cell-key method: consistent noise for counts and magnitudes, looked up by the key of a cell."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Flags, Floats
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.cells.status import Status
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.fields import NaturalInt, PositiveFloat, PositiveInt, Secret
from tacit.io.p_tables import PTable, read_ptable
from tacit.registry import register
from tacit.spec import Method, Where
from tacit.tables.adjust.claims import claim_on
from tacit.tables.noise import ptable as _ptable
from tacit.tables.noise.cell_keys import (
    Scaling,
    contributions,
    digits_of,
    magnitude_changes,
    rotate_digits,
)
from tacit.tables.rounding.model import basis

Share = Annotated[float, Field(gt=0, le=1)]

#: Decimals of keys that are drawn: their sums over a table stay exact.
DRAWN = 8


@register
class CellKey(Method[Table]):
    """Add noise that a cell's key looks up, so that a cell is changed alike wherever it appears.

    Every record has a key in [0, 1); the key of a cell is the sum of its records' keys modulo 1. A count n
    becomes n + v, with v from the first row of the perturbation table for min(n, largest i) whose
    cumulative bound exceeds the key; a weighted count becomes (n + v) times the mean weight. A magnitude
    X becomes

        X + sum_j Delta_j v_j,   Delta_j = m_j |x_j|,

    with x_j its largest contributions (or its mean, range or value), m_j the scaling, and v_j drawn at
    |x_j| / Delta_j with the digits of the key turned to the left j times. Empty cells and cells that must
    be published stay as they are; all others are published changed, unsafe ones as well. Totals are changed by
    themselves: the result does not add up, by design. Attach keys with
    :func:`tacit.tables.with_cell_keys`; without any they are drawn from the seed, which protects this
    table but not two tables against each other.

    References
    ----------
    Fraser and Wooton (2005), A proposed method for confidentialising tabular output to protect against
    differencing, UNECE/Eurostat work session on statistical data confidentiality, Geneva.
    Marley and Leaver (2011), A method for confidentialising user-defined tables: statistical properties
    and a risk-utility analysis, Proceedings of the 58th World Statistical Congress of the ISI, 1072-1081.
    Giessing and Tent (2019), Concepts for generalising tools implementing the cell key method to the case
    of continuous variables, UNECE/Eurostat work session, The Hague.
    """

    family: ClassVar[str] = "tables"
    runs_on: ClassVar[Where] = "cells"

    kind: Literal["cell_key"] = "cell_key"
    ptable: str | None = Secret(
        None, description="file of the perturbation table; by default one is made from what follows"
    )
    small_ptable: str | None = Secret(
        None,
        description="file of the perturbation table for contributions below the separation point",
    )
    maximum: PositiveInt = Secret(5, description="largest change D of the perturbation table")
    variance: PositiveFloat | None = Secret(
        None, description="variance of the changes; by default 3 for counts and 1 for magnitudes"
    )
    small: NaturalInt = Secret(2, description="published counts 1 to this one do not occur")
    stay: Annotated[float, Field(ge=0, lt=1)] | None = Secret(
        None, description="probability that a count stays as it is; by default the entropy decides"
    )
    monotony: bool | tuple[bool, ...] = Secret(
        default=True,
        description="let probabilities rise from the largest decrease to no change: for every row of "
        "the perturbation table, or one answer a row",
    )
    scale_by: Literal["top", "mean", "range", "value"] = Field(
        default="top",
        description="what scales the noise of a magnitude: the largest contributions, or the cell's "
        "mean, range or value",
    )
    top: PositiveInt = Secret(1, description="how many of the largest contributions draw noise")
    scaling: Literal["simple", "flex"] = Field(
        default="simple", description="noise in proportion, or in a share that falls beyond xstar"
    )
    sigma1: Share = Secret(
        0.1, description="standard deviation of the noise as a share of a (small) contribution"
    )
    sigma0: Share | None = Secret(
        None, description="flex scaling: the share that very large contributions approach"
    )
    xstar: PositiveFloat | None = Secret(
        None, description="flex scaling: the contribution up to which the share is sigma1"
    )
    q: Annotated[float, Field(gt=1)] = Secret(
        3.0,
        description="flex scaling: how fast the share falls beyond xstar; from 2 sigma1 / (sigma1 - "
        "sigma0) on it falls at once",
    )
    epsilon: tuple[Annotated[float, Field(ge=0, le=1)], ...] = Secret(
        (), description="weights of the 2nd, 3rd, ... largest contribution against the largest"
    )
    separation: bool = Field(
        default=False,
        description="give noise of fixed size to contributions below the separation point",
    )
    zeros: bool = Field(
        default=True, description="let records whose value is 0 take part in the key of a magnitude"
    )
    parity: bool = Field(
        default=False,
        description="use the even or odd rows of the perturbation table by number of contributors",
    )
    mu_c: Annotated[float, Field(ge=0)] = Secret(
        0.0, description="added to the absolute change of the largest contribution in unsafe cells"
    )
    digits: Annotated[int, Field(ge=2, le=15)] | None = Field(
        default=None,
        description="decimals of the keys; by default as many as they have, at most 15",
    )

    #: Only where the table has no keys.
    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("cell keys", "additive noise")

    @model_validator(mode="after")
    def _sensible(self) -> CellKey:
        if self.scaling == "flex":
            if self.sigma0 is None or self.xstar is None:
                raise ValueError("flex scaling needs sigma0 and xstar")
            if self.sigma0 > self.sigma1:
                raise ValueError("sigma0, for large contributions, must not exceed sigma1")
        if self.scale_by == "top" and len(self.epsilon) != self.top - 1:
            raise ValueError("epsilon needs one weight for each contribution but the largest")
        if self.scale_by != "top" and (self.top > 1 or self.epsilon):
            raise ValueError("top and epsilon go with scale_by='top' only")
        return self

    def _apply(self, table: Table, ctx: Context) -> Table:
        table = self.keyed(table, ctx)
        ctx.tick("looking up changes", 0.3)
        still = find_unperturbed_cells(table)
        plan = self.count_plan() if table.frequency else self.magnitude_plan()
        if table.frequency:
            published = self.counts(table, plan["main"], still)
        else:
            published = self.magnitudes(table, plan, still)
        moved = published - table.value
        gap = table.equations @ published
        ctx.note(
            cells=len(table),
            left_as_they_are=int(still.sum()),
            share_unchanged=float((moved[~still] == 0).mean()) if (~still).any() else 1.0,
            mean_change=float(np.abs(moved).mean()) if len(moved) else 0.0,
            additive=False,
            largest_gap_of_sums=float(np.abs(gap).max(initial=0.0)),
        )
        facts = json.dumps({k: pack_plan_part(v) for k, v in plan.items()})
        return table.with_changed(published).with_(extra={**table.extra, "perturbation": facts})

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        del table
        secret = ("record keys and perturbation table stay secret",)
        yield claim_on(result, "cell-keys", cells="all cells", assumptions=secret)

    # -- keys ------------------------------------------------------------------------------------------

    def keyed(self, table: Table, ctx: Context) -> Table:
        """Return the table with keys in [0, 1) of a known number of digits."""
        name = "cell_key"
        if not table.frequency and not self.zeros and "cell_key_nonzero" in table.extra:
            name = "cell_key_nonzero"
        given = table.extra.get(name)
        if given is None:
            if not table.frequency and not self.zeros and "cell_key" in table.extra:
                raise InputError(
                    "zeros=False needs the keys of records with a value: attach them with "
                    "tacit.tables.with_cell_keys(table, data, ...)"
                )
            keys, digits = draw_keys(table, ctx.rng), DRAWN
            ctx.note(keys="drawn for this table")
        else:
            keys = np.asarray(given, dtype=np.float64).ravel()
            if len(keys) != len(table) or not ((keys >= 0) & (keys < 1)).all():
                raise InputError("the table's cell keys must be one number in [0, 1) a cell")
            digits = self.digits or digits_of(keys)
            keys = rotate_digits(keys, 0, digits)
            ctx.note(keys="of the records")
        return table.with_(extra={**table.extra, name: keys, "used_key": name, "digits": digits})

    # -- counts ----------------------------------------------------------------------------------------

    def count_plan(self) -> dict[str, Any]:
        """Return the perturbation table of counts."""
        main = given_or_made(
            self.ptable,
            lambda: _ptable.count_ptable(
                self.maximum, self.variance or 3.0, self.small, self.stay, self.monotony
            ),
            counts=True,
        )
        return {"main": main}

    def counts(self, table: Table, main: PTable, still: Flags) -> Floats:
        """Return perturbed counts; weighted ones in proportion."""
        n = records(table)
        keys = table.extra["cell_key"]
        change = np.zeros(len(table))
        change[~still] = main.lookup(n[~still], keys[~still])
        if not is_weighted(table):
            return np.asarray(table.value + change)
        mean = np.divide(table.value, n, out=np.zeros(len(n)), where=n > 0)
        return np.where(change == 0, table.value, (n + change) * mean)

    # -- magnitudes ------------------------------------------------------------------------------------

    def magnitude_plan(self) -> dict[str, Any]:
        """Return everything that the noise of magnitudes depends on."""

        def of_variance(variance: float) -> Callable[[], PTable]:
            return lambda: _ptable.magnitude_ptable(self.maximum, variance, monotony=self.monotony)

        variance, small = self.variance or 1.0, None
        main = given_or_made(self.ptable, of_variance(variance), counts=False)
        if self.small_ptable is not None or self.separation:
            small = given_or_made(self.small_ptable, of_variance(2 * variance), counts=False)
        if self.parity and not {"even", "odd"} <= set(main.blocks):
            raise InputError(
                "parity=True needs a perturbation table with even and odd rows: give ptable="
            )
        if not self.parity and "all" not in main.blocks:
            raise InputError("the perturbation table has even and odd rows only: set parity=True")
        ends = (self.sigma0, self.xstar) if self.scaling == "flex" else (None, None)
        return {
            "main": main,
            "small": small,
            "scaling": Scaling(self.sigma1, *ends, self.q, tuple(self.epsilon)),
            "scale_by": self.scale_by,
            "mu_c": self.mu_c,
            "parity": self.parity,
        }

    def magnitudes(self, table: Table, plan: Mapping[str, Any], still: Flags) -> Floats:
        """Return perturbed magnitudes."""
        parts = contributions(table, self.scale_by, self.top)
        parts[still] = 0.0
        even = None
        if self.parity:
            if (table.count < 0).any():
                raise InputError("parity=True needs the number of contributors of each cell")
            even = table.count % 2 == 0
        change = magnitude_changes(
            table.value,
            parts,
            table.extra[table.extra["used_key"]],
            plan["scaling"],
            plan["main"],
            digits=table.extra["digits"],
            small=plan["small"],
            extra=np.where(table.primary, self.mu_c, 0.0) if self.mu_c else None,
            even=even,
        )
        return np.asarray(table.value + change)


def find_unperturbed_cells(table: Table) -> Flags:
    """Return the cells that are not perturbed: empty ones and those that must be published."""
    still = table.empty | (table.status == Status.PROTECTED)
    return still | (records(table) == 0) if table.frequency else still


def records(table: Table) -> Floats:
    """Return the number of records behind every count: the count itself, unless it is weighted."""
    n = table.value if not is_weighted(table) else table.count.astype(np.float64)
    if (n < 0).any() or (n != np.rint(n)).any():
        raise InputError(
            "the cell-key method perturbs whole counts that are not negative; weighted counts need the "
            "number of records of each cell (count)"
        )
    return np.asarray(n, dtype=np.float64)


def is_weighted(table: Table) -> bool:
    """Return True when the counts of a table are sums of weights."""
    return "weighted_count" in table.extra or bool((table.value != np.rint(table.value)).any())


def draw_keys(table: Table, rng: np.random.Generator) -> Floats:
    """Draw a key for every ground cell that is not empty, and add them up for the others."""
    cells = basis(table)
    units = rng.integers(0, 10**DRAWN, len(cells.free))
    units[table.empty[cells.free]] = 0
    return np.asarray((cells.spread(units) % 10**DRAWN) / 10.0**DRAWN)


def given_or_made(file: str | None, make: Callable[[], PTable], *, counts: bool) -> PTable:
    """Return a perturbation table that was given or made; refuse one that is biased or leads to negative counts."""
    table = make() if file is None else read_ptable(file)
    faults = _ptable.ptable_faults(table, counts=counts)
    if faults:
        raise InputError("the perturbation table cannot be used: " + "; ".join(faults))
    return table


def pack_plan_part(part: Any) -> Any:
    """Return a part of the plan as plain data, for the check of the claim."""
    if isinstance(part, PTable):
        arrays = {name: getattr(part, name).tolist() for name in ("i", "v", "bound")}
        return {**arrays, "kind": list(part.kind)}
    return dict(vars(part)) if isinstance(part, Scaling) else part


def read_stored_ptable(table: Table) -> PTable:
    """Return the perturbation table that a table was changed with."""
    facts = table.extra.get("perturbation")
    if facts is None:
        raise InputError("the table was not changed by the cell-key method")
    rows = json.loads(facts)["main"]
    i, v, bound = (np.array(rows[name], dtype=np.float64) for name in ("i", "v", "bound"))
    kind = np.array(rows["kind"])
    begins = np.r_[True, (np.diff(i) != 0) | (kind[1:] != kind[:-1])]
    before = np.where(begins, 0.0, np.r_[0.0, bound[:-1]])
    return PTable(i, i + v, bound - before, v, bound, tuple(rows["kind"]))
