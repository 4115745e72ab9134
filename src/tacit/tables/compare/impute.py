"""What a user would put in place of suppressed cells (section 2.1)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from tacit.arrays import Flags, Floats
from tacit.errors import InputError
from tacit.tables.compare.distributions import Distributions

Rule = Literal["zero", "row_average", "weighted_row_average"]
RULES: tuple[Rule, ...] = ("zero", "row_average", "weighted_row_average")


def fill_suppressed(
    table: Distributions, rule: Rule | None, along: Literal["rows", "columns"] = "rows"
) -> Floats:
    """Return the cells of a table with suppressed ones imputed; ``along`` columns transposes."""
    if table.hidden is None or not table.hidden.any():
        return table.cells
    if rule is None:
        raise InputError(
            f"the table has suppressed cells: choose impute= {', '.join(RULES)}, as its users would"
        )
    cells, mask = table.cells, table.hidden
    own, across = table.row_totals, table.column_totals
    if along == "columns":
        return impute_rows(cells.T, mask.T, rule, across, own).T
    return impute_rows(cells, mask, rule, own, across)


def impute_rows(
    cells: Floats,
    suppressed: Flags,
    rule: Rule,
    row_totals: Floats | None = None,
    column_totals: Floats | None = None,
) -> Floats:
    r"""Return cells with those suppressed in each row replaced.

    With z = 1 where a cell is suppressed and m_k. the published total of row k, the information lost
    is :math:`l_k = m_{k.} - \sum_j m_{kj}(1 - z_{kj})`, at least 0. ``zero`` puts 0;
    ``row_average`` puts :math:`l_k / \sum_j z_{kj}`; ``weighted_row_average`` puts
    :math:`l_k w_j / \sum_j w_j z_{kj}`, where :math:`w_j` is the average cell of column j. Both keep
    the row total. A margin that is itself withheld is taken as 1. The paper prints
    :math:`w_j = m_{.j}/J`; an average over K rows needs the divisor K, but the constant cancels, so the
    column margins serve as weights. Where all weights of a row are 0 the simple average is used.
    """
    known = np.where(suppressed, 0.0, cells)
    if rule == "zero":
        return known
    if row_totals is None:
        raise InputError(
            f"impute={rule!r} spreads what is missing from the published totals of the rows: "
            "give a version with its totals, or use impute='zero'"
        )
    lost = np.maximum(np.where(np.isnan(row_totals), 1.0, row_totals) - known.sum(axis=1), 0.0)
    weight = suppressed.astype(np.float64)
    if rule == "weighted_row_average":
        if column_totals is None:
            raise InputError(
                "impute='weighted_row_average' weighs by the published totals of the columns: "
                "give a version with its totals, or use impute='row_average'"
            )
        heavy = weight * np.where(np.isnan(column_totals), 1.0, column_totals)
        weight = np.where(heavy.sum(axis=1, keepdims=True) > 0, heavy, weight)
    base = weight.sum(axis=1)
    share = weight * np.divide(lost, base, out=np.zeros_like(lost), where=base > 0)[:, None]
    return np.where(suppressed, share, known)
