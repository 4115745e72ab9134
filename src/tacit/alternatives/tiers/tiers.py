"""Tiers: several products from the same data for users with different access, each within the next."""

from __future__ import annotations

import hashlib
import html
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa

from tacit.alternatives.comparison.systems import System, protect, refuse_other_kind
from tacit.alternatives.printing import text_table
from tacit.alternatives.tiers.nesting import (
    Published,
    explain_unrecovered,
    nesting_faults,
    read_product,
    table_faults,
    table_treatment,
    treatment,
)
from tacit.data.microdata import Microdata
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.events import Job, Listener, Phase, Stop, ignore_event, never
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.result import Result


@dataclass(frozen=True)
class UserGroup:
    """Who gets a product, what for, and what else they can reach.

    Attributes
    ----------
    name
        The group: researchers under contract, ministries, everybody.
    purpose
        What they need the data for.
    reaches
        The outside registers with which they could link.
    tier
        The product that they are granted.
    """

    name: str
    purpose: str
    reaches: tuple[str, ...]
    tier: str


@dataclass(frozen=True)
class Tiers:
    """Products for different users, the most open first.

    A product is contained in the next when every released column of it is a function of the released
    columns of the next, on the same records: each category is a union of the next one's, no column is
    released that the next drops, and what the next masks is masked as well, by a rule that starts from the
    next one's values. Two maskings of their own of one column are not nested: an intruder who combines
    them would learn more than from each alone. Of tables, each cell that is published must be published in
    the next, and a changed value must follow from the next one's. Whoever holds the more closed product
    then learns nothing from the more open one, and an intruder who combines them no more than from the
    closed one alone.

    Parameters
    ----------
    products
        What makes each product, by name: plans, methods, functions from data to data, or the released
        data themselves.
    groups
        Who gets which.

    References
    ----------
    Trottini, Franconi, Polettini (2006), Italian household expenditure survey: a proposal for data
    dissemination, PSD 2006, LNCS 4302, 318-333, sections 3 to 5.
    """

    products: Mapping[str, System]
    groups: tuple[UserGroup, ...] = ()

    def __post_init__(self) -> None:
        if not self.products:
            raise InputError("Tiers: name at least one product")
        lost = [g.tier for g in self.groups if g.tier not in self.products]
        if lost:
            raise InputError(
                f"Tiers: user groups are granted {', '.join(map(repr, lost))}, which is no product. Products: {', '.join(self.products)}."
            )

    def check(
        self,
        data: Microdata | Table,
        *,
        published: Mapping[str, Published] | None = None,
        seed: int | None = None,
        on_event: Listener = ignore_event,
        should_stop: Stop = never,
    ) -> TiersResult:
        """Make every product of records or of a table and check that each lies within the next.

        ``published`` are tables that are public already, by name; every product of records that holds
        their columns must be able to give them again by counting, so that users find nothing to
        contradict.

        With a ``seed``, each product draws numbers of its own from it, as releases do: products that share their draws
        in the check and not when they are released would only look nested. A plan with a seed of its own keeps it.

        ``on_event`` and ``should_stop`` are called with events, and asked whether to stop; see :mod:`tacit.events`.
        """
        parts = (
            *(Phase("protect", f"Making the product {name}", 4) for name in self.products),
            Phase("compare", "Checking that each product lies within the next"),
        )
        job = Job(on_event, should_stop, parts)

        def work() -> TiersResult:
            made = {
                name: protect(data, product, own_seed(seed, product, name), job.begin("protect"))
                for name, product in self.products.items()
            }
            job.begin("compare")
            for released in made.values():
                refuse_other_kind(data, released)
            if isinstance(data, Table):
                return self.check_tables(made, published)
            return self.check_records(data, made, published or {})

        return job.watch(work)

    def check_tables(
        self, made: Mapping[str, Table], published: Mapping[str, Published] | None
    ) -> TiersResult:
        """Check products of a table."""
        if published:
            raise InputError("Tiers: published= goes with products of records, not of a table")
        counted = {name: table_treatment(table) for name, table in made.items()}
        treatments = {n: {k: f"{v:,}" for k, v in t.items()} for n, t in counted.items()}
        faults = [
            fault
            for open_, closed in itertools.pairwise(made)
            for fault in table_faults(open_, made[open_], closed, made[closed])
        ]
        kept = {name: t["cells as they are"] for name, t in counted.items()}
        return tiers_result(treatments, faults, (), self.groups, kept, "cells")

    def check_records(
        self,
        data: Microdata,
        made: Mapping[str, Microdata],
        published: Mapping[str, Published],
    ) -> TiersResult:
        """Check products of records."""
        read = {name: read_product(product) for name, product in made.items()}
        original = read_product(data)
        treatments = {
            name: {c: treatment(original, product, c) for c in data.columns}
            for name, product in read.items()
        }
        names = list(read)
        faults = [
            fault
            for open_, closed in itertools.pairwise(names)
            for fault in nesting_faults(open_, read[open_], closed, read[closed], treatments)
        ]
        lost = [
            sentence
            for table, columns in published.items()
            for name in names
            for sentence in explain_unrecovered(data, table, columns, name, read[name], original)
        ]
        kept = {n: sum(t == "as it is" for t in c.values()) for n, c in treatments.items()}
        return tiers_result(treatments, faults, lost, self.groups, kept, "columns")


@dataclass(frozen=True, repr=False)
class TiersResult(Result):
    """Whether the products are nested.

    Attributes
    ----------
    treatments
        What each product does to each column.
    faults
        What breaks the nesting, in sentences.
    unrecovered
        Published tables that a product cannot give again.
    groups
        Who gets which product.
    kept, unit
        By product, how many columns or cells it releases as they are.
    """

    treatments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    unrecovered: tuple[str, ...] = ()
    groups: tuple[UserGroup, ...] = ()
    kept: Mapping[str, int] = field(default_factory=dict)
    unit: str = "columns"

    @property
    def nested(self) -> bool:
        """Return True when each product lies within the next."""
        return not self.faults

    def require(self) -> None:
        """Refuse products that are not nested."""
        if self.faults:
            raise InputError("the products are not nested: " + " ".join(self.faults))

    def table(self) -> list[dict[str, Any]]:
        """Return one row per column (or sort of cell), one entry per product."""
        columns = next(iter(self.treatments.values()))
        head = "column" if self.unit == "columns" else "cells"
        return [{head: c, **{n: t[c] for n, t in self.treatments.items()}} for c in columns]

    def plot(self) -> Chart:
        """Return how much each product releases as it is."""
        items = [(name, float(n)) for name, n in self.kept.items()]
        return bars(items, title=self.title, y=f"{self.unit} released as they are")

    def __repr__(self) -> str:
        lines = [self.title, "-" * len(self.title), text_table(self.table())]
        return "\n".join([*lines, *self.faults, *self.unrecovered])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{html.escape(s)}</p>" for s in (*self.faults, *self.unrecovered))
        return f"<h4>{html.escape(self.title)}</h4><pre>{html.escape(text_table(self.table()))}</pre>{notes}"


def own_seed(seed: int | None, product: System, name: str) -> int | None:
    """Return the seed of one product, a child of the check's seed by the product's name."""
    if seed is None or getattr(product, "seed", None) is not None:
        return None
    digest = hashlib.sha256(f"tacit/alternatives/tiers\0{seed}\0{name}".encode()).digest()
    return int.from_bytes(digest[:16])


def tiers_result(
    treatments: Mapping[str, Mapping[str, str]],
    faults: Sequence[str],
    lost: Sequence[str],
    groups: tuple[UserGroup, ...],
    kept: Mapping[str, int],
    unit: str,
) -> TiersResult:
    """Put the result together."""
    draft = TiersResult(
        kind="tiers",
        title=f"{len(treatments)} products, "
        + ("not nested" if faults else "each within the next"),
        value=float(len(faults)),
        numbers={
            "products": len(treatments),
            "breaks of nesting": len(faults),
            "published tables not recovered": len(lost),
        },
        explanation="Whoever holds a product can compute every more open one from it, so that together they tell no more than the most closed.",
        treatments=treatments,
        faults=tuple(faults),
        unrecovered=tuple(lost),
        groups=groups,
        kept=kept,
        unit=unit,
    )
    rows = draft.table()
    frame = nw.from_native(pa.table({n: [r[n] for r in rows] for n in rows[0]}), eager_only=True)
    return TiersResult(**{**draft.__dict__, "frame": frame})
