"""Direct disclosure: a cell that holds (nearly) all units of a total tells what each of them is."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from tacit.context import Context
from tacit.data.table import Table
from tacit.registry import register
from tacit.tables.rules.nesting import Nesting
from tacit.tables.rules.rule import Verdict


@register
class DirectDisclosure(Nesting):
    """A count is unsafe when at most k units of one of its totals lie elsewhere.

    Of a total n and a part m > 0 of it, n - m units are elsewhere. With n - m = 0 the table says of every
    unit of the total where it is; with n - m <= k, a coalition of the k who are elsewhere can say it of all
    others. The part is unsafe, and outsiders must think that at least k + 1 units could be elsewhere: its
    lower level is k + 1 - (n - m). Nothing is asked above.

    References
    ----------
    Lupp and Langsrud (2021), Suppression of directly-disclosive cells in frequency tables, UNECE expert
    meeting on statistical data confidentiality, Poznan.
    Hundepool et al. (2012), Statistical Disclosure Control, Wiley.
    """

    kind: Literal["direct_disclosure"] = "direct_disclosure"
    k: Annotated[int, Field(ge=0)] = Field(
        default=1, description="units elsewhere who might tell each other where they are"
    )

    def _judge(self, table: Table, ctx: Context) -> Verdict:
        del ctx
        found = self.pairs(table)
        lower = np.zeros(len(table))
        np.maximum.at(lower, found.part, self.k + 1 - found.rest)
        return Verdict(lower > 0, lower, 0.0)
