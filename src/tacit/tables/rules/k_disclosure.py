"""k-disclosure: what must not be learned is how few units of a total lie outside one of its parts."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from tacit.claims.gate import COALITION
from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import SdcError
from tacit.fields import PositiveInt
from tacit.registry import register
from tacit.tables.rules.nesting import find_nearly_whole_parts, free_empty_cells, nesting_faults
from tacit.tables.rules.rule import Rule, Verdict


@register
class KDisclosure(Rule):
    """No coalition of k units may learn from a table of counts what all others of a group are.

    Of a total n and a part m > 0 of it, n - m units are elsewhere. Where n - m <= k, the k who are elsewhere
    know of all others. What is unsafe is not a cell but the difference n - m: outsiders must think that it
    could be k + 1 or more, whether n, m, both or the cells between them are hidden. No cell is called
    unsafe; the suppression methods look up this rule in the table's history, hide what leaves every such
    difference open, and claim ``k-disclosure``. A table with open differences is not released.

    References
    ----------
    Lupp and Langsrud (2021), Suppression of directly-disclosive cells in frequency tables, UNECE expert
    meeting on statistical data confidentiality, Poznan.
    Langsrud and Lupp (2024), GaussSuppression: tabular data suppression using Gaussian elimination, R
    package, function SuppressKDisclosure.
    """

    kind: Literal["k_disclosure"] = "k_disclosure"
    k: Annotated[int, Field(ge=0)] = Field(
        default=COALITION,
        description="size of the coalition that must not learn what all others are",
    )
    dimensions: tuple[str, ...] = Field(
        default=(), description="the dimensions whose categories disclose something; by default all"
    )
    up_to: PositiveInt | None = Field(
        default=None, description="larger groups are no secret; by default none is too large"
    )
    zeros: bool = Field(
        default=True,
        description="empty cells may be hidden: nobody knows beforehand that they are empty",
    )

    def faults(self, data: object) -> list[SdcError]:
        """Return what is wrong: units must be counted, and the dimensions exist."""
        return super().faults(data) + nesting_faults(self.kind, data, self.dimensions)

    def _apply(self, table: Table, ctx: Context) -> Table:
        made = super()._apply(free_empty_cells(table) if self.zeros else table, ctx)
        found = find_nearly_whole_parts(made, self.k, self.dimensions, self.up_to)
        ctx.note(differences=len(found.part))
        return made

    def _judge(self, table: Table, ctx: Context) -> Verdict:
        del ctx
        return Verdict(np.zeros(len(table), dtype=bool), 0.0, 0.0)
