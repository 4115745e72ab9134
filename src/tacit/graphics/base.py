"""What all protected plots share: the unit of protection, noise under a budget, and the plot that holds nothing else.

A measure asks the data one or a few *queries*: vectors that one unit moves by a known amount whatever the data are.
Each is entered in the budget before its noise is drawn. What comes back is a :class:`ProtectedPlot`, made from
protected answers and from what the user gave: ranges, bins and bandwidths that nobody gave are protected answers too.
"""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field, model_validator

import tacit
from tacit.arrays import Flags, Floats
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.block import LARGEST, read_block
from tacit.data.microdata import Microdata
from tacit.data.values import not_numeric
from tacit.engine.codes import Coded
from tacit.errors import InputError, LowUtility, RoleMissing, SdcError, WeakProtection
from tacit.fields import PositiveFloat, PositiveInt
from tacit.graphics.budget import Account, BudgetLedger
from tacit.graphics.jackknife import ADVISED, FEWEST
from tacit.graphics.likeness import sketch_columns
from tacit.numerics.streams import KeyedSequence, seed_of
from tacit.result import Result
from tacit.spec import Companions, Measure
from tacit.stats.concentrated import (
    choice_for_rho,
    epsilon_of,
    likelihood_ratio,
    presence_bound,
    rho_of,
)
from tacit.stats.lattice import FINE, Lattice, choose
from tacit.stats.ranks import rank_within

if TYPE_CHECKING:
    from tacit.plot.chart import Chart


#: What a plot spends where neither amplitude nor rho is given: noise as large as one unit's influence.
USUAL_RHO = 0.5
#: Delta for which epsilon is told.
TOLD_DELTA = 1e-6


class Protected(Measure):
    """Base of measures whose result may be published."""

    family: ClassVar[str] = "utility"
    runs_on = "records"
    random = True
    on_household = "used"
    on_weight = "option"
    axis: ClassVar[str] = "rho"
    better: ClassVar[Literal["lower", "higher"] | None] = "lower"
    #: A plan takes it of the original data, once, and publishes what it gives.
    publishes: ClassVar[bool] = True

    rho: PositiveFloat | None = Field(
        default=None,
        description="what the values spend, as zero-concentrated privacy; by default 0.5. Ranges that are not given spend plug_in besides",
    )
    members: PositiveInt = Field(
        default=6,
        description="with a household column the unit of protection is the household: so many of its records count, further ones are left out",
    )
    missing: Literal["refuse", "drop"] = Field(
        default="refuse", description="what is done with records that lack a value"
    )
    weighted: bool = Field(
        default=False, description="count each record with its weight; needs weight_limit"
    )
    weight_limit: PositiveFloat | None = Field(
        default=None,
        description="the largest weight that counts; larger ones are cut to it, and the noise grows with it",
    )
    plug_in: PositiveFloat = Field(
        default=0.1,
        description="rho spent on each column's range and spread where they are not given",
    )
    budget: PositiveFloat | None = Field(
        default=None,
        description="a lower limit than the data holder's for what all plots of the data may spend together (rho); the holder's is 3 unless set by tacit budget",
    )
    dataset: str | None = Field(
        default=None,
        description="the account of the people in the data; by default that in which these data, in whatever order, were first entered",
    )

    @model_validator(mode="after")
    def _weights_are_bounded(self) -> Protected:
        if self.weighted and self.weight_limit is None:
            raise ValueError("weighted needs weight_limit, the largest weight that counts")
        return self

    def numeric_columns(self) -> tuple[str, ...]:
        """Return the columns that must hold numbers."""
        return self.columns_named()

    def _faults(self, data: Microdata) -> list[SdcError]:
        """Return what is wrong with using this on some data."""
        found = super()._faults(data)
        named = ", ".join(repr(c) for c in self.columns_named() if c in data.identifiers)
        if named:
            words = f"{named} is declared as an identifier and is never shown"
            found.append(InputError(f"{self.kind}: {words}"))
        found += not_numeric(data, self.numeric_columns(), self.kind)
        if self.weighted and data.weight is None:
            words = "weighted needs a weight, and the data declare none"
            found.append(RoleMissing(f"{self.kind}: {words}"))
        return found

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> ProtectedPlot:
        del other
        return self._draw(Desk.open(self, data, ctx))

    def _draw(self, desk: Desk) -> ProtectedPlot:
        raise NotImplementedError


class WithAmplitude(Protected):
    """Base of measures that add noise of one amplitude to all values."""

    amplitude: PositiveFloat | None = Field(
        default=None,
        description="standard deviation of the noise, in records; by default one unit's influence on the whole plot",
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> WithAmplitude:
        if self.amplitude is not None and self.rho is not None:
            raise ValueError("give amplitude or rho, not both: one follows from the other")
        return self


@dataclass
class Desk:
    """One measurement: the records that count, the noise, and what was spent."""

    spec: Protected
    data: Microdata
    ctx: Context
    study: bool
    members: int
    unit: str
    keep: Flags
    weights: Floats | None
    dataset: str = ""
    account: Account | None = None
    queries: list[dict[str, Any]] = field(default_factory=list)
    #: The number of the group that is asked, where groups share no record: together they spend what one of them spends.
    group: int | None = None

    @classmethod
    def open(cls, spec: Protected, data: Microdata, ctx: Context) -> Desk:
        """Return the desk: which records count, with which weight, under which account."""
        ctx.tick(spec.title(), 0.0)
        sequence = seed_of(ctx.rng)
        study = not isinstance(sequence, KeyedSequence)
        keep, weights = np.ones(len(data), dtype=bool), None
        members, unit = 1, "record"
        if data.household is not None:
            keep &= first_members(data.codes(data.household), spec.members)
            members, unit = spec.members, "household"
        if spec.weighted:
            assert data.weight is not None
            assert spec.weight_limit is not None
            weights = bounded_weights(data, data.weight, spec.weight_limit, spec.kind)
        account = ""
        if not study:
            ledger = BudgetLedger.open()
            account = ledger.enter(spec.dataset, lambda salt: sketch_columns(data, salt), spec.kind)
        return cls(spec, data, ctx, study, members, unit, keep, weights, account)

    @property
    def reach(self) -> float:
        """Return how much one unit counts at most, in records of weight 1."""
        return self.members * (self.spec.weight_limit or 1.0 if self.spec.weighted else 1.0)

    # -- reading -----------------------------------------------------------------------------

    def numbers(self, columns: Sequence[str]) -> tuple[Floats, Floats | None]:
        """Return the records that count, one column each, and their weights."""
        kind = self.spec.kind
        block = read_block(
            self.data,
            columns,
            kind,
            missing="refuse" if self.spec.missing == "refuse" else "keep",
            otherwise=", or give missing='drop'",
        )
        return self.counted(block.values, block.complete)

    def chosen(self, values: npt.NDArray[Any], columns: Sequence[str]) -> Any:
        """Return some values of the records that :meth:`numbers` gives of the columns."""
        block = read_block(self.data, columns, self.spec.kind, missing="keep")
        return values[block.complete & self.keep]

    def require_known(self, known: Flags, column: str) -> None:
        """Refuse missing values where the policy says so."""
        if self.spec.missing == "refuse" and not known.all():
            raise InputError(
                f"{self.spec.kind}: {column!r} has missing values. Impute them first, or give missing='drop'."
            )

    def counted(self, values: npt.NDArray[Any], complete: Flags) -> tuple[Any, Floats | None]:
        """Return what counts of some values: complete records, and not too many of a household."""
        chosen = complete & self.keep
        self.require_enough(int(chosen.sum()))
        return values[chosen], None if self.weights is None else self.weights[chosen]

    def require_enough(self, n: int) -> None:
        """Refuse a handful of records, and say that a few more are still too few."""
        if n < FEWEST:
            raise InputError(f"{self.spec.kind} needs at least {FEWEST} records that count")
        if n < ADVISED:
            warnings.warn(
                f"{self.spec.kind}: with fewer than {ADVISED} records the noise hides nearly everything",
                LowUtility,
                stacklevel=2,
            )

    # -- asking ------------------------------------------------------------------------------

    def add_noise(
        self,
        what: str,
        values: npt.NDArray[np.generic],
        bound: Mapping[str, Any],
        *,
        rho: float | None = None,
        amplitude: float | None = None,
        main: bool = True,
    ) -> Floats:
        """Return a vector with noise, after entering what it spends.

        ``bound`` says how far a record of weight 1 moves the vector: ``{"of": "counts"}`` for cells of which it
        falls into one, or the form of a kernel with its ``norm``. Exactly one of rho and amplitude decides.
        """
        norm = float(bound.get("norm", 1.0)) * self.reach
        counts = bound["of"] == "counts" and self.weights is None
        size = int(np.size(values))
        if amplitude is None:
            assert rho is not None
            # The step of the lattice is at most 2^-24 amplitudes, and rounding adds two steps a value.
            extra = 0.0 if counts else 2 * math.sqrt(size) * 2.0**-FINE
            amplitude = norm / (math.sqrt(2 * rho) - extra)
        lattice = Lattice.of(amplitude, counts=counts)
        moved = lattice.sensitivity(norm, size)
        spent = rho_of(moved, amplitude)
        self.charge(spent)
        rng = self.ctx.block_rng(0, len(self.queries) + 1)
        noisy = lattice.protect(values, rng)
        self.queries.append(
            {
                "what": what,
                "mechanism": "discrete gaussian",
                "bound": dict(bound),
                "entries": size,
                "sensitivity": moved,
                "amplitude": amplitude,
                "step": lattice.step,
                "rho": spent,
                "main": main,
                **({"published": noisy.tolist()} if main else {}),
            }
        )
        return noisy

    def choose(self, what: str, scores: Floats, bound: float, rho: float) -> int:
        """Return one of some candidates by the exponential mechanism; what it spends was entered before."""
        epsilon = choice_for_rho(rho)
        assert self.study or self.account is not None, "charge first"
        rng = self.ctx.block_rng(0, len(self.queries) + 1)
        place = choose(scores, epsilon, bound * self.reach, rng)
        self.queries.append(
            {
                "what": what,
                "mechanism": "exponential",
                "bound": {"of": "rank", "norm": bound},
                "entries": len(scores),
                "sensitivity": bound * self.reach,
                "epsilon": epsilon,
                "rho": rho,
                "main": True,
                **({} if self.group is None else {"group": self.group}),
            }
        )
        return place

    def draw_again(self, noisy: Floats, times: int) -> Floats:
        """Return protected values with new noise of the same amplitude on them, for bands."""
        rng = self.ctx.block_rng(1)
        amplitude = self.queries[-1]["amplitude"]
        return np.asarray(noisy + amplitude * rng.standard_normal((times, *noisy.shape)))

    def main_noise(self, what: str, values: Floats, bound: Mapping[str, Any]) -> Floats:
        """Return the vector that is drawn, with the noise that the user asked for."""
        spec = self.spec
        assert isinstance(spec, WithAmplitude)
        counts = bound["of"] == "counts"
        if spec.amplitude is not None:
            if spec.amplitude < 0.5 * float(bound.get("norm", 1.0)):
                warnings.warn(
                    f"{spec.kind}: noise of less than half of one record's influence hides little",
                    WeakProtection,
                    stacklevel=2,
                )
            return self.add_noise(what, values, bound, amplitude=spec.amplitude)
        if spec.rho is None and counts:
            return self.add_noise(what, values, bound, amplitude=self.reach)
        return self.add_noise(what, values, bound, rho=spec.rho or USUAL_RHO)

    def charge(self, rho: float) -> None:
        """Enter what the next query spends; a query for study spends nothing and protects nothing."""
        self.ctx.tick("protecting", None)
        if self.study:
            return
        sequence = seed_of(self.ctx.rng)
        assert isinstance(sequence, KeyedSequence)
        place = b"".join(p.to_bytes(8, "little") for p in sequence.path)
        stream = hashlib.sha256(b"tacit/budget/1" + sequence.secret + place).hexdigest()
        asked = {k: v for k, v in self.spec.to_dict().items() if k != "budget"}
        told = [tacit.__version__, self.dataset, asked, stream, len(self.queries)]
        query = hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()
        ledger = BudgetLedger.open()
        self.account = ledger.charge(self.dataset, query, rho, self.spec.kind, self.spec.budget)

    # -- finishing ---------------------------------------------------------------------------

    def finish(
        self,
        title: str,
        chart: str,
        columns: Sequence[str],
        values: npt.NDArray[np.generic],
        facts: Mapping[str, Any],
        frame: Mapping[str, Any],
        numbers: Mapping[str, Any] | None = None,
    ) -> ProtectedPlot:
        """Return the plot: protected values, what they spent, and what is claimed of them."""
        # Groups after the first share no record with it.
        rho = math.fsum(q["rho"] for q in self.queries if not q.get("group"))
        counted, account = self.spec.weighted, self.account
        budget = None if account is None else {"spent": account.spent, "limit": account.limit}
        record: dict[str, Any] = {
            "kind": self.spec.kind,
            "title": title,
            "chart": chart,
            "columns": list(columns),
            "values": np.asarray(values).tolist(),
            **facts,
            "unit": self.unit,
            "members": self.members,
            "weight_limit": self.spec.weight_limit if counted else None,
            "queries": self.queries,
            "rho": rho,
            "study": self.study,
            "budget": budget,
        }
        main = next((q for q in self.queries if q["main"]), self.queries[-1])
        told = dict(numbers or {})
        if "amplitude" in main:
            told["amplitude"] = main["amplitude"]
            told["sensitivity"] = main["sensitivity"]
            if main["bound"]["of"] == "counts":
                told["likelihood ratio"] = likelihood_ratio(main["amplitude"] / self.reach)
        told["rho"] = rho
        told["epsilon"] = epsilon_of(rho, TOLD_DELTA)
        if account is not None:
            told["budget left"] = account.left
        return ProtectedPlot(
            kind=self.spec.kind,
            title=title,
            value=rho,
            numbers=told,
            frame=nw.from_native(pa.table(dict(frame)), eager_only=True),
            explanation=explain(record),
            labels=LABELS,
            record=record,
        )


LABELS = {
    "amplitude": "amplitude of the noise",
    "sensitivity": "largest change by one unit (L2)",
    "likelihood ratio": "likelihood of one unit more or less, at worst",
    "rho": "spent (rho, zCDP)",
    "epsilon": "epsilon at delta 1e-6",
    "budget left": "budget left (rho)",
}


@dataclass(frozen=True, repr=False)
class ProtectedPlot(Result):
    """A plot that may be published: it holds protected values and what the user gave, and nothing else.

    Attributes
    ----------
    record
        All that is public, as plain data: values, axes, noise, queries, what was spent.
    """

    record: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    @property
    def values(self) -> Floats:
        """Return the protected values, as an array."""
        return np.asarray(self.record["values"], dtype=np.float64)

    @property
    def rho(self) -> float:
        """Return what the plot spent."""
        return float(self.record["rho"])

    @property
    def study(self) -> bool:
        """Return True when the seed was given: whoever tries it takes the noise off."""
        return bool(self.record["study"])

    @property
    def claim(self) -> Claim | None:
        """Return what is guaranteed; nothing of a plot for study."""
        return None if self.study else make_claim(self.record)

    def for_study(self) -> ProtectedPlot:
        """Return the plot marked as one whose seed was given."""
        record = {**self.record, "study": True}
        return replace(self, record=record, explanation=explain(record))

    def plot(self) -> Chart:
        """Return the chart, drawn from protected values alone."""
        from tacit.plot.protected import draw

        return draw(self.record)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, protected values included."""
        return {**super().to_dict(), "record": dict(self.record)}


def make_claim(record: Mapping[str, Any]) -> Claim:
    """Return the claim of a plot."""
    unit = record["unit"]
    size = f", of which {record['members']} records count" if unit == "household" else ""
    return Claim(
        "zcdp",
        {"rho": round_up(record["rho"]), "unit": unit, "members": record["members"]},
        f"one {unit} more or less{size}",
        tuple(record["columns"]),
        (
            "Noise of other plots of the same data adds up: see the budget.",
            "Ranges, bins and bandwidths that were given do not come from the data.",
            f"All that a {unit} contributes is in these data once.",
            "It is about the plot: data that are published beside it have claims of their own.",
        ),
    )


def round_up(rho: float) -> float:
    """Return what is spent to six digits, never less than it is."""
    unit = 10.0 ** (math.floor(math.log10(rho)) - 5)
    # Less than a billionth too much is what sums of decimal numbers leave.
    return float(f"{math.ceil(rho / unit * (1 - 1e-10)) * unit:.6g}")


def explain(record: Mapping[str, Any]) -> str:
    """Return what the numbers mean, for people."""
    unit = record["unit"]
    if record["study"]:
        return (
            "For study: the seed was given, so that whoever tries it takes the noise off. Nothing is claimed, "
            "and nothing was entered in the budget."
        )
    of = f" ({record['members']} records of it count at most)" if unit == "household" else ""
    spread = (
        "twice" if all(q["bound"]["of"] == "counts" for q in record["queries"]) else "four times"
    )
    guess = 100 * presence_bound(record["rho"])
    return (
        f"Whoever knows all other data and this plot guesses rightly whether one {unit}{of} is in the data in at most "
        f"{guess:.0f} of 100 cases (50 by chance): rho = {record['rho']:.3g}, zCDP. For a {unit} that is changed and not left "
        f"out, rho is {spread} that. Noise lies on a lattice that does not depend on the data."
    )


def first_members(coded: Coded, most: int) -> Flags:
    """Return the records that count: the first of each household; those without one are units by themselves."""
    codes = np.asarray(coded.codes)
    return np.asarray((rank_within(codes) < most) | (codes == coded.null))


def bounded_weights(data: Microdata, column: str, limit: float, kind: str) -> Floats:
    """Return the weights, cut at the limit."""
    block = read_block(data, [column], kind, missing="refuse", otherwise="")
    weights = block.values[:, 0]
    if (weights < 0).any():
        raise InputError(f"{kind}: the weight {column!r} has negative values")
    return np.minimum(weights, min(limit, LARGEST))
