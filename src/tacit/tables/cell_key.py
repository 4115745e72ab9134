"""The cell-key method: consistent noise for counts and magnitudes, looked up by the key of a cell."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from tacit.context import Context
from tacit.data.claims import Claim, check_for
from tacit.data.status import Status
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.fields import NaturalInt, PositiveFloat, PositiveInt, Secret
from tacit.registry import register
from tacit.spec import TableMethod
from tacit.tables import _ptable
from tacit.tables._cell_noise import Scaling, count_changes, magnitude_changes
from tacit.tables._rounding_model import basis, rolled
from tacit.tables.cell_keys import digits_of, rotated
from tacit.tables.files.p_tables import PTable, read_ptable

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Share = Annotated[float, Field(gt=0, le=1)]

#: Decimals of keys that are drawn: their sums over a table stay exact.
DRAWN = 8
#: Magnitudes that the claim's check computes one by one.
CHECKED = 2000


@register
class CellKey(TableMethod):
    """Add noise that a cell's key looks up, so that a cell is changed alike wherever it appears.

    Every record has a key in [0, 1); the key of a cell is the sum of its records' keys modulo 1. A count n
    becomes n + v, with v from the first row of the perturbation table for min(n, largest i) whose
    cumulative bound exceeds the key; a weighted count becomes (n + v) times the mean weight. A magnitude
    X becomes

        X + sum_j Delta_j v_j,   Delta_j = m_j |x_j|,

    with x_j its largest contributions (or its mean, range or value), m_j the scaling, and v_j drawn at
    |x_j| / Delta_j with the digits of the key turned to the left j times. Empty cells and cells that must
    be published stay as they are; all others go out changed, unsafe ones as well. Totals are changed by
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

    kind: Literal["cell_key"] = "cell_key"
    ptable: str | None = Secret(
        None, description="file of the perturbation table; by default one is made from what follows"
    )
    small_ptable: str | None = Secret(
        None, description="file of the perturbation table for contributions below the separation point"
    )
    maximum: PositiveInt = Secret(5, description="largest change D of the perturbation table")
    variance: PositiveFloat | None = Secret(
        None, description="variance of the changes; by default 3 for counts and 1 for magnitudes"
    )
    small: NaturalInt = Secret(2, description="published counts 1 to this one do not occur")
    stay: Annotated[float, Field(ge=0, lt=1)] | None = Secret(
        None, description="probability that a count stays as it is; by default the entropy decides"
    )
    scale_by: Literal["top", "mean", "range", "value"] = Field(
        "top",
        description="what scales the noise of a magnitude: the largest contributions, or the cell's "
        "mean, range or value",
    )
    top: PositiveInt = Secret(1, description="how many of the largest contributions draw noise")
    scaling: Literal["simple", "flex"] = Field(
        "simple", description="noise in proportion, or in a share that falls beyond xstar"
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
    q: Annotated[float, Field(ge=1)] = Secret(
        3.0, description="flex scaling: how fast the share falls beyond xstar"
    )
    epsilon: tuple[Annotated[float, Field(ge=0, le=1)], ...] = Secret(
        (), description="weights of the 2nd, 3rd, ... largest contribution against the largest"
    )
    separation: bool = Field(
        False, description="give noise of fixed size to contributions below the separation point"
    )
    zeros: bool = Field(
        True, description="let records whose value is 0 take part in the key of a magnitude"
    )
    parity: bool = Field(
        False, description="use the even or odd rows of the perturbation table by number of contributors"
    )
    mu_c: Annotated[float, Field(ge=0)] = Secret(
        0.0, description="added to the absolute change of the largest contribution in unsafe cells"
    )
    digits: Annotated[int, Field(ge=2, le=15)] | None = Field(
        None, description="decimals of the keys; by default as many as they have, at most 15"
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
        still = unchanged(table)
        plan = self.count_plan(table) if table.frequency else self.magnitude_plan(table)
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
        facts = json.dumps({k: packed(v) for k, v in plan.items()})
        return table.with_changed(published).with_(extra={**table.extra, "perturbation": facts})

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        yield Claim(
            "cell-keys",
            {},
            "all cells",
            result.names or ("equations",),
            ("record keys and perturbation table stay secret",),
        )

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
            keys, digits = drawn_keys(table, ctx.rng), DRAWN
            ctx.note(keys="drawn for this table")
        else:
            keys = np.asarray(given, dtype=np.float64).ravel()
            if len(keys) != len(table) or not ((keys >= 0) & (keys < 1)).all():
                raise InputError("the table's cell keys must be one number in [0, 1) a cell")
            digits = self.digits or digits_of(keys)
            keys = rotated(keys, 0, digits)
            ctx.note(keys="of the records")
        return table.with_(extra={**table.extra, name: keys, "used_key": name, "digits": digits})

    # -- counts ----------------------------------------------------------------------------------------

    def count_plan(self, table: Table) -> dict[str, Any]:
        """Return the perturbation table of counts."""
        if self.ptable is not None:
            main = read_ptable(self.ptable)
        else:
            main = _ptable.count_ptable(self.maximum, self.variance or 3.0, self.small, self.stay)
        require_sound(main, counts=True)
        return {"main": main}

    def counts(self, table: Table, main: PTable, still: Flags) -> Floats:
        """Return perturbed counts; weighted ones in proportion."""
        n = records(table)
        keys = table.extra["cell_key"]
        change = np.zeros(len(table))
        change[~still] = count_changes(n[~still], keys[~still], main)
        if not is_weighted(table):
            return np.asarray(table.value + change)
        mean = np.divide(table.value, n, out=np.zeros(len(n)), where=n > 0)
        return np.where(change == 0, table.value, (n + change) * mean)

    # -- magnitudes ------------------------------------------------------------------------------------

    def magnitude_plan(self, table: Table) -> dict[str, Any]:
        """Return everything that the noise of magnitudes depends on."""
        if self.ptable is not None:
            main = read_ptable(self.ptable)
        else:
            main = _ptable.magnitude_ptable(self.maximum, self.variance or 1.0)
        require_sound(main, counts=False)
        small = None
        if self.small_ptable is not None:
            small = read_ptable(self.small_ptable)
        elif self.separation:
            small = _ptable.magnitude_ptable(self.maximum, 2 * (self.variance or 1.0))
        if small is not None:
            require_sound(small, counts=False)
        if self.parity and not {"even", "odd"} <= set(main.blocks):
            raise InputError(
                "parity=True needs a perturbation table with even and odd rows: give ptable="
            )
        if not self.parity and "all" not in main.blocks:
            raise InputError("the perturbation table has even and odd rows only: set parity=True")
        return {
            "main": main,
            "small": small,
            "scaling": Scaling(
                self.sigma1,
                self.sigma0 if self.scaling == "flex" else None,
                self.xstar if self.scaling == "flex" else None,
                self.q,
                tuple(self.epsilon),
            ),
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


def unchanged(table: Table) -> Flags:
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


def contributions(table: Table, scale_by: str, top: int) -> Floats:
    """Return what scales the noise: cells x draws."""
    if scale_by == "top":
        behind = table.contributors
        if behind is None or behind.t < top:
            raise InputError(
                f"scale_by='top' needs the {top} largest contributions of each cell: build the table "
                f"with tacit.Table.from_microdata(..., top={top}), or set scale_by='mean' or 'value'"
            )
        parts = behind.top[:, :top]
        return np.array(parts if behind.weight is None else parts * behind.weight[:, :top])
    if scale_by == "value":
        return np.array(table.value[:, None])
    if scale_by == "mean":
        if (table.count < 0).any():
            raise InputError("scale_by='mean' needs the number of contributors of each cell")
        return np.array((table.value / np.maximum(table.count, 1))[:, None])
    spans = table.extra.get("value_range")
    if spans is None:
        raise InputError(
            "scale_by='range' needs the range of values in each cell: attach it with "
            "tacit.tables.with_cell_keys(table, data, ...)"
        )
    return np.array(np.asarray(spans, dtype=np.float64)[:, None])


def drawn_keys(table: Table, rng: np.random.Generator) -> Floats:
    """Draw a key for every ground cell that is not empty, and add them up for the others."""
    free, expansion, _ = basis(table)
    units = rng.integers(0, 10**DRAWN, len(free))
    units[table.empty[free]] = 0
    if expansion is None:
        sums = rolled(table, units)
    else:
        sums = np.rint(expansion @ units).astype(np.int64)
    return np.asarray((sums % 10**DRAWN) / 10.0**DRAWN)


def require_sound(table: PTable, *, counts: bool) -> None:
    """Refuse a perturbation table that is biased or leads to negative counts."""
    faults = _ptable.ptable_faults(table, counts=counts)
    if faults:
        raise InputError("the perturbation table cannot be used: " + "; ".join(faults))


def packed(part: Any) -> Any:
    """Return a part of the plan as plain data, for the check of the claim."""
    if isinstance(part, PTable):
        return {
            "i": part.i.tolist(),
            "v": part.v.tolist(),
            "bound": part.bound.tolist(),
            "kind": list(part.kind),
        }
    return dict(vars(part)) if isinstance(part, Scaling) else part


def stored(table: Table) -> PTable:
    """Return the perturbation table that a table was changed with."""
    facts = table.extra.get("perturbation")
    if facts is None:
        raise InputError("the table was not changed by the cell-key method")
    rows = json.loads(facts)["main"]
    i, v, bound = (np.array(rows[name], dtype=np.float64) for name in ("i", "v", "bound"))
    return PTable(i, i + v, np.diff(bound, prepend=0.0), v, bound, tuple(rows["kind"]))


# -- the claim: computed anew from the definition ------------------------------------------------------


@check_for("cell-keys")
def is_looked_up(table: Table, claim: Claim) -> bool:
    """Return True when every published value is the truth plus what the key looks up.

    Where the keys are no longer at hand, every change must be one that the perturbation table has.
    """
    del claim
    facts = table.extra.get("perturbation")
    if facts is None or table.changed is None or np.isnan(table.changed).any():
        return False
    plan = json.loads(facts)
    fixed = (table.status == Status.PROTECTED) | (table.status >= Status.EMPTY_NON_STRUCTURAL)
    if (table.changed[fixed] != table.value[fixed]).any():
        return False
    keys = table.extra.get(table.extra.get("used_key", "cell_key"))
    moving = np.flatnonzero(~fixed)
    if table.frequency:
        return counts_agree(table, plan["main"], keys, moving)
    return magnitudes_agree(table, plan, keys, moving)


def counts_agree(table: Table, rows: Mapping[str, Any], keys: Any, cells: Any) -> bool:
    """Return True when the changes of counts are those of the rows, line by line."""
    whole = "weighted_count" not in table.extra and (table.value % 1 == 0).all()
    n = (table.value if whole else table.count.astype(np.float64))[cells]
    published = np.asarray(table.changed)[cells]
    mean = np.divide(table.value[cells], n, out=np.ones(len(n)), where=n > 0)
    change = published / np.where(mean > 0, mean, 1.0) - n
    starts, moves, bounds = (np.array(rows[k]) for k in ("i", "v", "bound"))
    line = np.minimum(n, starts.max())
    for i in np.unique(line):
        at = line == i
        own = starts == i
        if i == 0:
            agree = np.abs(change[at]) < 1e-6
        elif keys is None:
            agree = np.isin(np.rint(change[at]), moves[own])
        else:
            first = np.searchsorted(bounds[own], np.asarray(keys)[cells][at], side="right")
            expected = moves[own][np.minimum(first, own.sum() - 1)]
            agree = np.abs(change[at] - expected) < 1e-6 * np.maximum(1.0, n[at])
        if not agree.all():
            return False
    return True


def magnitudes_agree(table: Table, plan: Mapping[str, Any], keys: Any, cells: Any) -> bool:
    """Return True when changes stay within their limits, and a sample of cells is as defined."""
    parts = contributions(table, plan["scale_by"], len(plan["scaling"]["epsilon"]) + 1)
    change = np.asarray(table.changed) - table.value
    reach = max(abs(v) for name in ("main", "small") if plan[name] for v in plan[name]["v"])
    widest = np.abs(parts) * plan["scaling"]["sigma1"] + (1.0 if plan["small"] else 0.0)
    limit = (widest * (reach + plan["mu_c"])).sum(axis=1)
    if (np.abs(change[cells]) > limit[cells] * (1 + 1e-9) + 1e-6).any():
        return False
    if keys is None:
        return True
    for c in cells[:: max(1, len(cells) // CHECKED)]:
        expected = one_change(
            float(table.value[c]),
            [float(x) for x in parts[c]],
            f"{float(keys[c]):.{table.extra['digits']}f}"[2:],
            plan,
            mu=plan["mu_c"] if Status.UNSAFE <= table.status[c] <= Status.UNSAFE_MANUAL else 0.0,
            even=bool(table.count[c] % 2 == 0),
        )
        if abs(change[c] - expected) > 1e-7 * max(1.0, abs(float(table.value[c]))):
            return False
    return True


def one_change(
    value: float, parts: list[float], key: str, plan: Mapping[str, Any], *, mu: float, even: bool
) -> float:
    """Return the change of one magnitude, step by step as defined."""
    s = plan["scaling"]
    epsilon = [1.0, *s["epsilon"]]
    point = 0.0
    if plan["small"]:
        spread = last_variance(plan["main"]) * sum(e * e for e in epsilon)
        point = float(np.sqrt(last_variance(plan["small"]) / spread)) / s["sigma1"]
    kind = ("even" if even else "odd") if plan["parity"] else "all"
    left = value
    for j, part in enumerate(parts):
        key = key[1:] + key[:1]
        x = abs(part)
        share = s["sigma1"]
        if s["xstar"] is not None and x > s["xstar"]:
            far = (s["sigma1"] * x - s["sigma0"] * s["xstar"]) / (s["sigma0"] * s["xstar"])
            share = s["sigma0"] * (1 + far * (2 * s["xstar"] / (s["xstar"] + x)) ** s["q"])
        tiny = x < point
        delta = 1.0 if tiny else epsilon[j] * share * x
        if abs(left) < delta:
            x = abs(left) / (s["sigma1"] * epsilon[j])
            tiny = x < point
            delta = 1.0 if tiny else abs(left)
        if part == 0 or delta == 0 or left == 0 or (tiny and j > 0):
            continue
        at = float("0." + key)
        v = between(plan["small" if tiny else "main"], x / delta, at, "all" if tiny else kind)
        if j == 0 and mu > 0:
            side = (1 if at < 0.5 else -1) if v == 0 else (1 if v > 0 else -1)
            v = side * (mu + abs(v))
        moved = abs(left) + delta * v
        left = float(np.sign(left)) * max(moved, 0.0)
    return left - value


def last_variance(rows: Mapping[str, Any]) -> float:
    """Return the variance of the change at the largest i."""
    kind = rows["kind"][0]
    own = [r for r in zip(rows["i"], rows["v"], rows["bound"], rows["kind"], strict=True)]
    own = [r for r in own if r[3] == kind]
    last = [r for r in own if r[0] == max(o[0] for o in own)]
    below, mean, square = 0.0, 0.0, 0.0
    for _, v, bound, _ in last:
        mean, square, below = mean + (bound - below) * v, square + (bound - below) * v * v, bound
    return square - mean * mean


def between(rows: Mapping[str, Any], a: float, key: float, kind: str) -> float:
    """Return the change at a, linear between the nearest i."""
    kinds = set(rows["kind"])
    wanted = kind if kind in kinds else "all"
    lines: dict[float, float] = {}
    for i, v, bound, own in zip(rows["i"], rows["v"], rows["bound"], rows["kind"], strict=True):
        if own == wanted and i not in lines and key < bound:
            lines[i] = v
    steps = sorted(lines)
    lower = max(i for i in steps if i <= a)
    upper = min((i for i in steps if i > a), default=lower)
    share = 0.0 if upper == lower else (a - lower) / (upper - lower)
    return (1 - share) * lines[lower] + share * lines[upper]
