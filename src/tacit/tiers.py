"""Tiers: several products from the same data for users with different access, each within the next."""

from __future__ import annotations

import html
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.comparison.printing import text_table
from tacit.comparison.systems import System, protect
from tacit.data.microdata import Microdata
from tacit.data.paired import shared_positions
from tacit.data.values import Ints
from tacit.engine.base import ROW
from tacit.engine.codes import dense_ids, encode
from tacit.errors import ColumnNotFound, InputError
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.result import Result

#: A table that is public already: its columns, or each column with the level of its hierarchy.
Published = Sequence[str] | Mapping[str, int]


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
    released that the next drops, and what the next masks is masked as well. Whoever holds the more
    closed product then learns nothing from the more open one, and an intruder who combines them no more
    than from the closed one alone.

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

    products: Mapping[str, System | Microdata]
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
        data: Microdata,
        *,
        published: Mapping[str, Published] | None = None,
        seed: int | None = None,
    ) -> TiersResult:
        """Make every product and check that each lies within the next.

        ``published`` are tables that are public already, by name; every product that holds their columns
        must be able to give them again by counting, so that users find nothing to contradict.
        """
        made = {
            name: product if isinstance(product, Microdata) else protect(data, product, seed)
            for name, product in self.products.items()
        }
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
            for table, columns in (published or {}).items()
            for name in names
            for sentence in unrecovered(data, table, columns, name, read[name], original)
        ]
        return tiers_result(treatments, faults, lost, self.groups)


@dataclass(frozen=True)
class Product:
    """A product read into memory: row numbers and columns as codes, in record order."""

    rows: Ints
    codes: Mapping[str, Ints]
    values: Mapping[str, pa.Array]


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
    """

    treatments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    unrecovered: tuple[str, ...] = ()
    groups: tuple[UserGroup, ...] = ()

    @property
    def nested(self) -> bool:
        """Return True when each product lies within the next."""
        return not self.faults

    def require(self) -> None:
        """Refuse products that are not nested."""
        if self.faults:
            raise InputError("the products are not nested: " + " ".join(self.faults))

    def table(self) -> list[dict[str, Any]]:
        """Return one row a column, one entry a product."""
        columns = next(iter(self.treatments.values()))
        return [{"column": c, **{n: t[c] for n, t in self.treatments.items()}} for c in columns]

    def plot(self) -> Chart:
        """Return how many columns each product releases as they are."""
        items = [
            (name, float(sum(t == "as it is" for t in columns.values())))
            for name, columns in self.treatments.items()
        ]
        return bars(items, title=self.title, y="columns released as they are")

    def __repr__(self) -> str:
        lines = [self.title, "-" * len(self.title), text_table(self.table())]
        return "\n".join([*lines, *self.faults, *self.unrecovered])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{html.escape(s)}</p>" for s in (*self.faults, *self.unrecovered))
        return f"<h4>{html.escape(self.title)}</h4><pre>{html.escape(text_table(self.table()))}</pre>{notes}"


def tiers_result(
    treatments: Mapping[str, Mapping[str, str]],
    faults: Sequence[str],
    lost: Sequence[str],
    groups: tuple[UserGroup, ...],
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
    )
    rows = draft.table()
    frame = nw.from_native(pa.table({n: [r[n] for r in rows] for n in rows[0]}), eager_only=True)
    return TiersResult(**{**draft.__dict__, "frame": frame})


def read_product(data: Microdata) -> Product:
    """Return a product's columns as codes."""
    table = data.to_arrow(with_row=True)
    coded = {c: encode(table.column(c)) for c in data.columns}
    return Product(
        table.column(ROW).to_numpy().astype(np.int64),
        {c: v.codes.astype(np.int64) for c, v in coded.items()},
        {c: v.values for c, v in coded.items()},
    )


def treatment(original: Product, product: Product, column: str) -> str:
    """Return what a product does to a column, in a few words."""
    if column not in product.codes:
        return "dropped"
    old, new = shared_positions(original.rows, product.rows)
    before, after = original.codes[column][old], product.codes[column][new]
    n_before, n_after = len(original.values[column]), len(product.values[column])
    if same_values(original, product, column, before, after):
        return "as it is"
    missing = (after == n_after) & (before != n_before)
    kept = ~missing
    if missing.any() and same_values(original, product, column, before[kept], after[kept]):
        return "suppressed in part"
    if determines(before, after) and n_after < n_before:
        return f"recoded, {n_after} categories"
    return "masked"


def same_values(
    original: Product, product: Product, column: str, before: Ints, after: Ints
) -> bool:
    """Return True when records have the same values in two files."""
    old, new = original.values[column], product.values[column]
    if old.type != new.type:
        return False
    if old.equals(new):
        return bool((before == after).all())
    return bool(
        old.take(pa.array(before, mask=before == len(old))).equals(
            new.take(pa.array(after, mask=after == len(new)))
        )
    )


def determines(fine: Ints, coarse: Ints) -> bool:
    """Return True when the coarse value is a function of the fine one."""
    if not len(fine):
        return True
    pairs = dense_ids([fine, coarse], [int(fine.max()) + 1, int(coarse.max()) + 1])[1]
    return bool(pairs == len(np.unique(fine)))


def nesting_faults(
    open_: str,
    more_open: Product,
    closed: str,
    more_closed: Product,
    treatments: Mapping[str, Mapping[str, str]],
) -> list[str]:
    """Return what the more open product tells that the more closed one does not."""
    faults = []
    at_open, at_closed = shared_positions(more_open.rows, more_closed.rows)
    if len(at_open) < len(more_open.rows):
        faults.append(f"{open_} holds records that {closed} does not.")
    for c, codes in more_open.codes.items():
        if c not in more_closed.codes:
            faults.append(f"{open_} releases {c!r}, which {closed} drops.")
            continue
        here, there = (treatments[name].get(c, "masked") for name in (open_, closed))
        if there == "masked" and here != "masked":
            faults.append(f"{closed} masks {c!r}, and {open_} does not.")
        elif here != "masked" and not determines(more_closed.codes[c][at_closed], codes[at_open]):
            faults.append(f"{c!r} in {open_} is no coarsening of what it is in {closed}.")
    return faults


def unrecovered(
    data: Microdata,
    table: str,
    columns: Published,
    name: str,
    product: Product,
    original: Product,
) -> list[str]:
    """Return why a product cannot give a published table again; nothing when it can."""
    levels = columns if isinstance(columns, Mapping) else dict.fromkeys(columns, 0)
    unknown = [c for c in levels if c not in data.columns]
    if unknown:
        raise ColumnNotFound(unknown, list(data.columns), "the data")
    if any(c not in product.codes for c in levels):
        return []
    old, new = shared_positions(original.rows, product.rows)
    if len(old) < len(original.rows):
        return [f"{name} lacks records, so that it cannot give the table {table!r} again."]
    lost = []
    for c, level in levels.items():
        wanted = encode(data.generalise(c, level).column(c)).codes.astype(np.int64)
        if not determines(product.codes[c][new], wanted[old]):
            lost.append(c)
    return (
        [
            f"{name} cannot give the table {table!r} again: {', '.join(map(repr, lost))} differs from what is published."
        ]
        if lost
        else []
    )
