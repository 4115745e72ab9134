"""The claim that every record keeps given rules: structural values, forbidden combinations, sums.

Rules are read here anew, on the released columns, and not by the module that the methods read them with.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Flags
from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame

#: How far a sum may lie from its parts, relative to their size: the error of adding.
DUST = 1e-9
QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`((?:[^`]|``)+)`""", re.DOTALL)
ORDERS: Mapping[type[ast.cmpop], Callable[..., Any]] = {
    ast.Lt: pc.less,
    ast.LtE: pc.less_equal,
    ast.Gt: pc.greater,
    ast.GtE: pc.greater_equal,
}


@check_for("rules-kept")
def keeps_rules(frame: Frame, claim: Claim) -> bool:
    """Return True when no record breaks a rule."""
    table = frame.select(*claim.columns).collect("pyarrow").to_native()
    broken = np.zeros(table.num_rows, dtype=bool)
    for text in claim.parameters["forbid"]:
        broken |= holds(text, table)
    for setting in claim.parameters["settings"]:
        when = holds(setting["when"], table)
        for column, value in setting["set"].items():
            broken |= when & ~equals(table.column(column), value)
    for total, parts in claim.parameters["sums"].items():
        broken |= breaks_sum(table, total, parts)
    return not bool(broken.any())


def holds(text: str, table: pa.Table) -> Flags:
    """Return for each record whether a rule holds; a comparison with a missing value does not."""
    names: dict[str, str] = {}

    def stand_in(found: re.Match[str]) -> str:
        if found.group(1) is None:
            return found.group(0)
        names[f"quoted_{len(names)}_"] = found.group(1).replace("``", "`")
        return f"quoted_{len(names) - 1}_"

    tree = ast.parse(f"({QUOTED.sub(stand_in, text)}\n)", mode="eval").body
    return judge(tree, names, table)


def judge(node: ast.expr, names: Mapping[str, str], table: pa.Table) -> Flags:
    """Return for each record whether a part of a rule holds."""
    if isinstance(node, ast.BoolOp):
        parts = [judge(v, names, table) for v in node.values]
        return np.asarray(
            np.all(parts, axis=0) if isinstance(node.op, ast.And) else np.any(parts, axis=0)
        )
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return ~judge(node.operand, names, table)
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        found = np.ones(table.num_rows, dtype=bool)
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
            found &= compare(
                term(left, names, table), op, term(right, names, table), table.num_rows
            )
        return found
    return equals(term(node, names, table), value=True)


def term(node: ast.expr, names: Mapping[str, str], table: pa.Table) -> Any:
    """Return a column, a constant or a list of constants."""
    if isinstance(node, ast.Name):
        return table.column(names.get(node.id, node.id))
    return ast.literal_eval(node)


def compare(left: Any, op: ast.cmpop, right: Any, n: int) -> Flags:
    """Return where a comparison holds."""
    if isinstance(op, ast.In | ast.NotIn):
        found = np.zeros(n, dtype=bool)
        for value in right:
            found |= equals(left, value)
        return found if isinstance(op, ast.In) else ~found
    if isinstance(op, ast.Eq | ast.Is | ast.NotEq | ast.IsNot):
        column, value = (left, right) if isinstance(left, pa.ChunkedArray) else (right, left)
        same = equals(column, value)
        return same if isinstance(op, ast.Eq | ast.Is) else ~same
    if isinstance(left, pa.ChunkedArray):
        return as_flags(ORDERS[type(op)](left, fit(right, left.type)))
    return as_flags(ORDERS[type(op)](fit(left, right.type), right))


def equals(column: Any, value: Any) -> Flags:
    """Return where a column has a value; None stands for a missing one."""
    if value is None:
        return np.asarray(pc.is_null(column).to_numpy(), dtype=bool)
    return as_flags(pc.equal(column, fit(value, column.type)))


def fit(value: Any, kind: pa.DataType) -> Any:
    """Return a constant in the type of the column that it is compared with, where it has one."""
    if isinstance(value, pa.ChunkedArray):
        return value
    scalar = pa.scalar(value)
    numbers = (pa.types.is_integer(kind) or pa.types.is_floating(kind)) and isinstance(
        value, int | float
    )
    return scalar if numbers else scalar.cast(kind)


def as_flags(found: Any) -> Flags:
    """Return truth values, a missing one as false."""
    return np.asarray(pc.fill_null(found, fill_value=False).to_numpy(), dtype=bool)


def breaks_sum(table: pa.Table, total: str, parts: list[str]) -> Flags:
    """Return where a column is not the sum of others, missing ones counting nothing."""
    columns = [table.column(c).cast(pa.float64()) for c in (total, *parts)]
    known = [np.asarray(pc.is_valid(c).to_numpy(), dtype=bool) for c in columns]
    numbers = [pc.fill_null(c, 0.0).to_numpy() for c in columns]
    some = np.any(known[1:], axis=0)
    size = np.sum([np.abs(x) for x in numbers[1:]], axis=0)
    gap = np.abs(numbers[0] - np.sum(numbers[1:], axis=0)) > DUST * (size + 1.0)
    return np.asarray(np.where(some, gap | ~known[0], known[0]))
