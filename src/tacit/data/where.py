"""Rules over columns: ``age > 90 and region == 'N'``, read safely and run on any engine.

The language is a small part of Python's own grammar: comparisons (chained ones too), ``and``, ``or``,
``not``, ``in [...]``, numbers, text, ``True``, ``False`` and ``None``. A column is written by its name;
a name that is not a Python word stands in backticks (doubled inside it): `` `age at death` > 90 ``.
Nothing is evaluated: the rule is parsed, every node is checked against that list, and it becomes one narwhals expression.

A rule is either true or false, never unknown: a comparison with a missing value is false, and ``not``
(and ``!=``, ``not in``) is its exact opposite. So a rule and its negation always split the records.
"""

from __future__ import annotations

import ast
import datetime as dt
import functools
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import narwhals.stable.v2 as nw
from pydantic import AfterValidator, Field

from tacit.engine.base import ROW
from tacit.errors import ColumnNotFound, InputError, InvalidParameter

MAX_LENGTH = 10_000
MAX_DEPTH = 60

QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`((?:[^`]|``)+)`""", re.DOTALL)

LANGUAGE = (
    "A rule compares columns with numbers, 'text' or None by ==, !=, <, <=, >, >= and in [...], "
    "joined by and, or, not; a column name with spaces stands in `backticks`"
)

ORDER: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
EQUAL = (ast.Eq, ast.Is)
UNEQUAL = (ast.NotEq, ast.IsNot)

Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Rule:
    """A rule bound to the types of some data: ``expr`` is true or false for every record."""

    text: str
    columns: tuple[str, ...]
    expr: nw.Expr


class Term(NamedTuple):
    """One side of a comparison: a column, or, without one, a constant."""

    column: str | None = None
    value: Any = None


def where(text: str, schema: Schema) -> Rule:
    """Read a rule for data with that schema (``frame.collect_schema()``).

    Refused is what is no rule, names a column that does not exist, or compares things of different kinds.
    """
    tree = parse_rule(text)
    columns = names_in(tree)
    missing = [c for c in columns if c not in schema or c == ROW]
    if missing:
        raise ColumnNotFound(
            missing, [n for n in schema if not n.startswith("__")], "the rule's data"
        )
    return Rule(text, columns, condition(tree, schema))


def columns_of(text: str | None) -> tuple[str, ...]:
    """Return the columns that a rule names, in order; none for no rule."""
    return () if text is None else names_in(parse_rule(text))


def check_rule_text(text: str) -> str:
    """Return a rule's text if it can be read; used as a field validator."""
    parse_rule(text)
    return text


#: A field that holds a rule; a rule that cannot be read is refused when the Spec is made.
WhereRule = Annotated[
    str, Field(min_length=1, json_schema_extra={"widget": "rule"}), AfterValidator(check_rule_text)
]


# -- reading -----------------------------------------------------------------------------------


def parse_rule(text: str) -> ast.expr:
    """Return the checked syntax tree, with the names that stood in backticks."""
    if len(text) > MAX_LENGTH:
        raise InvalidParameter(f"a rule may have at most {MAX_LENGTH} characters")
    names: dict[str, str] = {}

    def stand_in(match: re.Match[str]) -> str:
        if match.group(1) is None:
            return match.group(0)
        key = f"__quoted{len(names)}__"
        names[key] = match.group(1).replace("``", "`")
        return key

    source = QUOTED.sub(stand_in, text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(f"({source}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidParameter(f"the rule cannot be read. {LANGUAGE}") from None
    if depth(tree) > MAX_DEPTH:
        raise InvalidParameter(
            "the rule is nested too deeply; write it with fewer brackets and nots"
        )
    check(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return tree


def depth(tree: ast.expr) -> int:
    """Return how deeply a tree is nested, without recursion."""
    deepest, waiting = 0, [(tree, 1)]
    while waiting:
        node, level = waiting.pop()
        deepest = max(deepest, level)
        waiting += [
            (child, level + 1)
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.expr)
        ]
    return deepest


def names_in(tree: ast.expr) -> tuple[str, ...]:
    """Return every column named in a tree, each once, in the order of writing."""
    found = sorted(
        (n for n in ast.walk(tree) if isinstance(n, ast.Name)),
        key=lambda n: (n.lineno, n.col_offset),
    )
    return tuple(dict.fromkeys(n.id for n in found))


def check(node: ast.expr) -> None:
    """Refuse every construct that is not in the language."""
    match node:
        case ast.BoolOp():
            for part in node.values:
                check(part)
        case ast.UnaryOp(op=ast.Not()):
            check(node.operand)
        case ast.Compare():
            terms = [node.left, *node.comparators]
            for left, op, right in zip(terms, node.ops, terms[1:], strict=False):
                check_comparison(left, op, right)
        case ast.Name():
            pass
        case _:
            raise InvalidParameter(f"the rule has a part that is no condition. {LANGUAGE}")


def check_comparison(left: ast.expr, op: ast.cmpop, right: ast.expr) -> None:
    """Refuse operands that are not names, constants or, after ``in``, a list of constants."""
    terms = [term(left)]
    if isinstance(op, ast.In | ast.NotIn):
        members(right)
    else:
        terms.append(term(right))
    if all(t.column is None for t in terms):
        raise InvalidParameter("the rule compares two constants; name a column")
    if Term() in terms and type(op) in ORDER:
        raise InvalidParameter("the rule asks for an order with None; use == None or != None")


def term(node: ast.expr) -> Term:
    """Return a name or a constant; refuse everything else."""
    match node:
        case ast.Name():
            return Term(node.id)
        case ast.Constant(value=None | bool() | int() | float() | str()):
            return Term(value=node.value)
        case ast.UnaryOp(
            op=ast.USub() | ast.UAdd(), operand=ast.Constant(value=int() | float() as value)
        ) if not isinstance(value, bool):
            return Term(value=-value if isinstance(node.op, ast.USub) else value)
        case _:
            raise InvalidParameter(
                f"the rule compares something that is no column and no constant. {LANGUAGE}"
            )


def members(node: ast.expr) -> list[Any]:
    """Return the constants of a list."""
    listed = isinstance(node, ast.List | ast.Tuple | ast.Set)
    terms = [term(e) for e in node.elts] if listed else [Term("")]  # type: ignore[attr-defined]
    if any(t.column is not None for t in terms):
        raise InvalidParameter("after 'in' the rule needs a list of constants, e.g. in [1, 2]")
    return [t.value for t in terms]


# -- compiling ---------------------------------------------------------------------------------


def condition(node: ast.expr, schema: Schema) -> nw.Expr:
    """Return the expression of a condition; it is never null."""
    match node:
        case ast.BoolOp():
            parts = [condition(v, schema) for v in node.values]
            join = operator.and_ if isinstance(node.op, ast.And) else operator.or_
            return functools.reduce(join, parts)
        case ast.UnaryOp():
            return ~condition(node.operand, schema)
        case ast.Name():
            return flag(node.id, schema)
        case ast.Compare():
            terms = [node.left, *node.comparators]
            pairs = [
                comparison(left, op, right, schema)
                for left, op, right in zip(terms, node.ops, terms[1:], strict=False)
            ]
            return functools.reduce(operator.and_, pairs)
    raise AssertionError("checked above")


def flag(name: str, schema: Schema) -> nw.Expr:
    """Return a column of true and false as a condition."""
    if family(schema[name]) != "true or false":
        raise InputError(
            f"the rule uses column {name!r} as a condition, but it does not hold true or false; compare it with something"
        )
    return ~nw.col(name).is_null() & nw.col(name)


def comparison(left: ast.expr, op: ast.cmpop, right: ast.expr, schema: Schema) -> nw.Expr:
    """Return the expression of one comparison."""
    first = term(left)
    if isinstance(op, ast.In | ast.NotIn):
        found = membership(str(first.column), members(right), schema)
        return ~found if isinstance(op, ast.NotIn) else found
    second = term(right)
    a, b = operand(first, second, schema), operand(second, first, schema)
    for value, other in ((a, second), (b, first)):
        if value is None:
            absent = nw.col(str(other.column)).is_null()
            return absent if isinstance(op, EQUAL) else ~absent
    known = functools.reduce(
        operator.and_,
        [~nw.col(t.column).is_null() for t in (first, second) if t.column is not None],
    )
    if isinstance(op, EQUAL):
        return known & (a == b)
    if isinstance(op, UNEQUAL):
        return ~(known & (a == b))
    return known & ORDER[type(op)](a, b)


def membership(column: str, values: list[Any], schema: Schema) -> nw.Expr:
    """Return whether a column's value is in a list."""
    absent = nw.col(column).is_null()
    some = [coerce_constant(v, column, schema) for v in values if v is not None]
    found = ~absent & nw.col(column).is_in(some) if some else ~absent & absent
    return found | absent if None in values else found


def operand(one: Term, other: Term, schema: Schema) -> Any:
    """Return one side of a comparison, typed like the other side."""
    if one.column is None:
        nothing = one.value is None
        return None if nothing else nw.lit(coerce_constant(one.value, str(other.column), schema))
    if other.column is not None and family(schema[one.column]) != family(schema[other.column]):
        raise InputError(
            f"the rule compares columns {one.column!r} and {other.column!r}, which are of different kinds"
        )
    return nw.col(one.column)


def coerce_constant(value: Any, column: str, schema: Schema) -> Any:
    """Return a constant in the kind of a column; dates are written as text, ``'2020-01-31'``."""
    kind = family(schema[column])
    if kind == "numbers" and isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if kind == "text" and isinstance(value, str):
        return value
    if kind == "true or false" and isinstance(value, bool):
        return value
    if kind in {"dates", "times"} and isinstance(value, str):
        try:
            return (
                dt.date.fromisoformat(value)
                if kind == "dates"
                else dt.datetime.fromisoformat(value)
            )
        except ValueError:
            raise InputError(
                f"the rule compares column {column!r} with text that is no date; write it like '2020-01-31'"
            ) from None
    given = (
        "text"
        if isinstance(value, str)
        else "true or false"
        if isinstance(value, bool)
        else "a number"
    )
    raise InputError(f"the rule compares column {column!r}, which holds {kind}, with {given}")


def family(dtype: Any) -> str:
    """Return the kind of a type in words."""
    if dtype.is_numeric():
        return "numbers"
    if dtype == nw.Boolean:
        return "true or false"
    if dtype == nw.Date:
        return "dates"
    if dtype == nw.Datetime:
        return "times"
    return "text"
