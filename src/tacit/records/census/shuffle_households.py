"""Random order of households, with new numbers that tell nothing of the old ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.arrays import Ints
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import drop_stale_descriptions, household_faults, unused_row_number
from tacit.engine.arrow import set_columns
from tacit.engine.base import ROW
from tacit.engine.coded import densify
from tacit.engine.memory import held_table, reorder_held
from tacit.errors import InputError, SdcError
from tacit.fields import HouseholdColumn
from tacit.registry import register
from tacit.spec import Method
from tacit.treatment import OnHousehold

NEW, HOME = "__new__", "__home__"


@register
class ShuffleHouseholds(Method):
    """Release the households in a uniformly random order, numbered 1, 2, ... in that order.

    Members stay together and in their order. Census files come in the order in which streets were walked, so
    that place and number of a household tell where it lives; the new ones tell nothing. The links of the records to the
    original are cut: measure before this step, and let it be the last one. A release keeps this order.

    References
    ----------
    McCaa, Ruggles, Davern, Swenson, Palipudi (2006), IPUMS-International high precision population census microdata samples:
    balancing the privacy-quality tradeoff by means of restricted access extracts, PSD 2006, LNCS 4302, 375-382, section 5.
    """

    kind: Literal["shuffle_households"] = "shuffle_households"
    household: HouseholdColumn = None

    on_household = "units"
    on_links = "records"
    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("scramble tuples",)
    example: ClassVar[Mapping[str, Any]] = {"household": "id"}
    column_fields = ("household",)

    @property
    def cuts_links(self) -> bool:
        """Return True: records get new row numbers."""
        return True

    def treats_household(self, data: Microdata) -> OnHousehold:
        """Return that the declared households are the units, unless others are named."""
        return "units" if self.household in (None, data.household) else "records"

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the household column, which gets new numbers."""
        home = self.household or data.household
        return () if home is None else (home,)

    def _faults(self, data: Microdata) -> list[SdcError]:
        """Add: no households."""
        scramble = "; scramble takes records one by one"
        return [*super()._faults(data), *household_faults(self, data, scramble)]

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        home = self.household or data.household
        assert home is not None
        coded = data.codes(home)
        if bool((coded.codes == coded.null).any()):
            raise InputError(
                f"shuffle_households: some records have no household in column {home!r}. Give every record one, or drop them first."
            )
        order, number = shuffled(coded.codes.astype(np.int64), ctx.rng)
        ctx.note(links_lost=True, new_numbers=[home], households=int(number.max(initial=0)))
        result = renumbered(data, home, order, number)
        lose = "identifiers" if home in data.identifiers else None
        return drop_stale_descriptions(result, [home], lose=lose)

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        del result
        home = self.household or data.household
        assert home is not None
        yield Claim("numbered-in-order", {}, "households", (home,))


def shuffled(homes: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the records in their new order, and the new number of the household of each of these.

    Households are drawn in the order of their first records, so that how they were coded does not matter.
    """
    appearance, households = densify(homes)
    place = rng.permutation(households)[appearance]
    order = np.argsort(place, kind="stable")
    return order, place[order] + 1


def renumbered(data: Microdata, home: str, order: Ints, number: Ints) -> Microdata:
    """Return the records in another order, with row numbers that none has carried and new households."""
    rows = pa.array(unused_row_number(data) + np.arange(len(order), dtype=np.int64))
    moved = reorder_held(data.frame, order) if held_table(data.frame) is not None else None
    if moved is not None:
        return data.with_table(set_columns(moved, {home: pa.array(number), ROW: rows}))
    old = data.to_arrow([], with_row=True).column(ROW).take(pa.array(order))
    drawn = data.engine.from_arrow(pa.table({NEW: rows, HOME: pa.array(number), "__old__": old}))
    joined = data.frame.join(drawn, left_on=ROW, right_on="__old__", how="inner")
    replaced = [nw.col(HOME).alias(home) if c == home else nw.col(c) for c in data.columns]
    return data.with_frame(joined.select(*replaced, nw.col(NEW).alias(ROW))).materialise()
