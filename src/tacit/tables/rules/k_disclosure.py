"""k-disclosure: what must not be learned is how few units of a total lie outside one of its parts."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from tacit.claims.gate import COALITION
from tacit.context import Context
from tacit.data.table import Table
from tacit.registry import register
from tacit.tables.rules.nesting import Nesting
from tacit.tables.rules.rule import Verdict


@register
class KDisclosure(Nesting):
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

    def _apply(self, table: Table, ctx: Context) -> Table:
        made = super()._apply(table, ctx)
        found = self.pairs(made)
        ctx.note(differences=len(found.part))
        return made

    def _judge(self, table: Table, ctx: Context) -> Verdict:
        del ctx
        return Verdict(np.zeros(len(table), dtype=bool), 0.0, 0.0)
