"""Differencing: what can be obtained by subtracting published tables from each other."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.cells.contributions import (
    as_entries,
    concatenate_entries,
    largest,
    merge_contributions,
)
from tacit.data.table import Contributors, Table
from tacit.errors import InputError
from tacit.result import Result
from tacit.tables.rules.minimum_frequency import MinimumFrequency
from tacit.tables.rules.rule import Rule, cells_to_judge

#: What the codes of each variable consist of: variable to code to base codes.
Definitions = Mapping[str, Mapping[str, Sequence[str]]]
Atoms = frozenset[str]
Side = tuple[int, tuple[str, ...]]
Way = tuple[Side, Side, Atoms]


@dataclass(frozen=True, repr=False)
class DifferencingResult(Result):
    """The differences; ``unsafe`` says how many the rule objects to."""

    unsafe: int = 0


def differencing(
    *tables: Table, rule: Rule | None = None, definitions: Definitions | None = None
) -> DifferencingResult:
    """Find cells that are differences between published tables, and judge them.

    Two tables of one population, each safe, may define an age group or a region differently: ages 0-17
    in one and 0-15 in the other publish the ages 16-17 as well. Along one variable at a time, the
    cells are compared by the base codes of which they consist, in three ways: a cell minus one inside
    it; a cell minus all those of the other table inside it; the cells of the other table that cover
    it, minus it. A difference that some table publishes anyway is not listed. Longer chains of
    additions and subtractions are not searched: link the tables and audit them for those.

    Parameters
    ----------
    tables
        Two or more tables of the same response and the same units.
    rule
        The rule by which differences are judged, by default a minimum frequency of 3.
    definitions
        Variable to code to base codes. By default a code consists of the ground codes below it in its
        table's dimension, which only helps when the tables share ground codes.

    Returns
    -------
    DifferencingResult
        One row per difference: how it is made, whether it is unsafe, and whether that is exact (else the
        largest contributions are bounded from above, on the side of caution).
    """
    if len(tables) < 2:
        raise InputError("differencing needs at least two tables")
    if len({t.response for t in tables}) > 1:
        raise InputError("differencing compares tables of the same response")
    if any(not t.dimensions for t in tables):
        raise InputError("differencing needs tables with dimensions, not bare equations")
    judge = rule or MinimumFrequency(n=3)
    worlds = meanings(tables, definitions or {})
    rows: list[Row] = []
    for variable in worlds:
        keys = keys_without(tables, variable, worlds)
        for candidate in candidates(tables, variable, worlds):
            rows += match_difference_cells(tables, candidate, keys)
    unsafe, exact = judge_differences(tables, rows, judge)
    bad = int(unsafe.sum())
    return DifferencingResult(
        kind="differencing",
        title="Differences between tables",
        value=float(bad),
        numbers={"tables": len(tables), "differences": len(rows), "unsafe differences": bad},
        frame=list_differences(tables, rows, unsafe, exact),
        explanation=(
            "Each difference can be had by anyone who subtracts one published table from another. An "
            "unsafe one needs a change of definitions, or a hidden cell in one of the tables."
        ),
        unsafe=bad,
    )


# -- what codes mean -------------------------------------------------------------------------------


def meanings(
    tables: Sequence[Table], definitions: Definitions
) -> dict[str, list[dict[str, Atoms]]]:
    """Return, for each variable and table, the base codes of every code; None stands for absent."""
    variables = list(dict.fromkeys(name for t in tables for name in t.names))
    out: dict[str, list[dict[str, Atoms]]] = {}
    for variable in variables:
        each = [atoms_of(t, variable, definitions.get(variable)) for t in tables]
        full = {frozenset().union(*codes.values()) for codes in each if codes}
        if len(full) > 1:
            raise InputError(
                f"the tables do not consist of the same base codes of {variable!r}: say what each code "
                f"consists of with definitions={{{variable!r}: {{code: [base codes]}}}}"
            )
        everything = next(iter(full))
        out[variable] = [codes or {"": everything} for codes in each]
    return out


def atoms_of(
    table: Table, variable: str, given: Mapping[str, Sequence[str]] | None
) -> dict[str, Atoms]:
    """Return the base codes of every code of a table's variable; nothing when it lacks it."""
    if variable not in table.names:
        return {}
    d = table.dimensions[table.names.index(variable)]
    leaf = [d.codes[i] for i in d.leaves]
    out = {}
    for i, code in enumerate(d.codes):
        ground = [leaf[j] for j in d.closure.indices[d.closure.indptr[i] : d.closure.indptr[i + 1]]]
        if given is None:
            out[code] = frozenset(ground)
        elif code in given:
            out[code] = frozenset(given[code])
        else:
            lacking = [g for g in ground if g not in given]
            if lacking:
                raise InputError(f"definitions of {variable!r} lack the code {lacking[0]!r}")
            out[code] = frozenset(b for g in ground for b in given[g])
    return out


# -- differences along one variable ----------------------------------------------------------------


@dataclass(frozen=True)
class Candidate:
    """A difference along one variable: codes of one table minus codes of another."""

    variable: str
    plus: Side
    minus: Side
    atoms: Atoms


def candidates(
    tables: Sequence[Table], variable: str, worlds: Mapping[str, list[dict[str, Atoms]]]
) -> list[Candidate]:
    """Return the differences between codes of two tables that no table publishes anyway."""
    each = worlds[variable]
    published = {atoms for codes in each for atoms in codes.values()}
    found: dict[Atoms, Candidate] = {}
    for a, b in itertools.permutations(range(len(tables)), 2):
        for code, atoms in each[a].items():
            inside = {c: s for c, s in each[b].items() if s < atoms}
            packed = disjoint_family(inside)
            cover = disjoint_family({c: s for c, s in each[b].items() if s & atoms}, smallest=True)
            ways: list[Way] = [((a, (code,)), (b, (c,)), atoms - s) for c, s in inside.items()]
            if len(packed) > 1:
                union = frozenset().union(*(inside[c] for c in packed))
                ways.append(((a, (code,)), (b, packed), atoms - union))
            if cover:
                union = frozenset().union(*(each[b][c] for c in cover))
                if union > atoms:
                    ways.append(((b, cover), (a, (code,)), union - atoms))
            for plus, minus, rest in ways:
                if rest and rest not in published:
                    found.setdefault(rest, Candidate(variable, plus, minus, rest))
    return list(found.values())


def disjoint_family(sets: Mapping[str, Atoms], *, smallest: bool = False) -> tuple[str, ...]:
    """Return disjoint sets, the largest (or smallest) first."""
    taken: set[str] = set()
    family = []
    order = sorted(sets, key=lambda c: (len(sets[c]) if smallest else -len(sets[c]), c))
    for code in order:
        if not sets[code] & taken:
            family.append(code)
            taken |= sets[code]
    return tuple(family)


@dataclass(frozen=True, eq=False)
class Row:
    """One difference: the cells that are added and those that are subtracted."""

    candidate: Candidate
    plus: Ints
    minus: Ints


def match_difference_cells(
    tables: Sequence[Table], c: Candidate, keys: Sequence[Ints]
) -> list[Row]:
    """Return the cells of a difference for every combination of the other variables in both tables."""
    sides = [
        [key_published_cells(tables[at], c.variable, code, keys[at]) for code in codes]
        for at, codes in (c.plus, c.minus)
    ]
    common = functools.reduce(np.intersect1d, [k for side in sides for k, _ in side])
    plus, minus = (
        np.stack([cells[np.searchsorted(k, common)] for k, cells in side], axis=1) for side in sides
    )
    return [Row(c, plus[i], minus[i]) for i in range(len(common))]


def key_published_cells(table: Table, variable: str, code: str, keys: Ints) -> tuple[Ints, Ints]:
    """Return the published cells with a code of a variable, with what they mean otherwise; sorted."""
    cells = np.flatnonzero(~table.hidden)
    if variable in table.names:
        axis = table.names.index(variable)
        cells = cells[table.places[cells, axis] == table.dimensions[axis].position[code]]
    found, first = np.unique(keys[cells], return_index=True)
    return found, cells[first]


def keys_without(
    tables: Sequence[Table], variable: str, worlds: Mapping[str, list[dict[str, Atoms]]]
) -> list[Ints]:
    """Return for each cell of each table a number for what it means in all variables but one."""
    out = [np.zeros(len(t), dtype=np.int64) for t in tables]
    for name, each in worlds.items():
        if name == variable:
            continue
        number: dict[Atoms, int] = {}
        for codes in each:
            for atoms in codes.values():
                number.setdefault(atoms, len(number))
        for at, table in enumerate(tables):
            if name in table.names:
                axis = table.names.index(name)
                own = np.array([number[each[at][c]] for c in table.dimensions[axis].codes])
                ids = own[table.places[:, axis]]
            else:
                ids = np.full(len(table), number[each[at][""]])
            out[at] = out[at] * len(number) + ids
    return out


# -- judging ---------------------------------------------------------------------------------------


def judge_differences(
    tables: Sequence[Table], rows: Sequence[Row], rule: Rule
) -> tuple[Flags, Flags]:
    """Return which differences the rule calls unsafe, and which of these verdicts are exact."""
    n = len(rows)
    if not n:
        return np.zeros(0, dtype=bool), np.zeros(0, dtype=bool)
    value, count = np.zeros(n), np.zeros(n, dtype=np.int64)
    known = np.ones(n, dtype=bool)
    for i, row in enumerate(rows):
        a, b = tables[row.candidate.plus[0]], tables[row.candidate.minus[0]]
        value[i] = a.value[row.plus].sum() - b.value[row.minus].sum()
        known[i] = (a.count[row.plus] >= 0).all() and (b.count[row.minus] >= 0).all()
        count[i] = a.count[row.plus].sum() - b.count[row.minus].sum()
    count = np.where(known, np.maximum(count, 0), -1)
    behind, exact = contributors_of(tables, rows, value, count)
    table = cells_to_judge(value, count, tables[0], contributors=behind)
    plain = rule.model_copy(update={"level": "record"}) if hasattr(rule, "level") else rule
    found = plain.faults(table)
    if found:
        raise found[0]
    return np.asarray(plain._judge(table, Context.start(0)).unsafe), exact


def contributors_of(
    tables: Sequence[Table], rows: Sequence[Row], value: Floats, count: Ints
) -> tuple[Contributors | None, Flags]:
    """Return upper bounds of the largest contributions of differences, and where they are exact."""
    behind = [table.contributors for table in tables if table.contributors is not None]
    if len(behind) < len(tables):
        return None, np.ones(len(rows), dtype=bool)
    t = min(c.t for c in behind)
    tops, exact = np.zeros((len(rows), t)), np.zeros(len(rows), dtype=bool)
    for i, row in enumerate(rows):
        more, less = behind[row.candidate.plus[0]], behind[row.candidate.minus[0]]
        tops[i], exact[i] = bound_contributions(more, less, row, value[i], t)
    names = np.where(tops > 0, np.arange(tops.size).reshape(tops.shape), -1)
    return Contributors(count, tops, names), exact


def bound_contributions(
    more: Contributors, less: Contributors, row: Row, value: float, t: int
) -> tuple[Floats, bool]:
    """Return the t largest contributions that a difference can have, and whether they are certain."""
    added = as_entries(more, row.plus)
    taken = as_entries(less, row.minus)
    added = added.moved(np.zeros(len(added), dtype=np.int64))
    taken = taken.moved(np.zeros(len(taken), dtype=np.int64))
    ours = set(added.who[added.who >= 0].tolist())
    mine = taken.take(np.array([w in ours for w in taken.who.tolist()], dtype=bool))
    minus = type(mine)(
        mine.cell, mine.who, -mine.value, -mine.weighted, mine.weight, mine.asked, mine.waived
    )
    left = largest(merge_contributions(concatenate_entries(added, minus)), len(added) + 1)
    values = np.sort(np.clip(left.value, 0.0, max(value, 0.0)))[::-1]
    complete = all(
        bool(((c.count[cells] <= c.t) & (c.count[cells] >= 0)).all())
        for c, cells in ((more, row.plus), (less, row.minus))
    )
    known = bool((added.who >= 0).all()) and bool((taken.who >= 0).all())
    out = np.zeros(t)
    out[: min(t, len(values))] = values[:t]
    if not (complete and known):
        # Units that are not listed can be as large as the smallest that is.
        unseen = float(more.top[row.plus, -1].sum())
        out = np.sort(np.maximum(out, min(unseen, max(value, 0.0))))[::-1]
    return out, complete and known


def list_differences(
    tables: Sequence[Table], rows: Sequence[Row], unsafe: Flags, exact: Flags
) -> nw.DataFrame[Any]:
    """Return the differences as a frame."""

    def text(at: int, cells: Ints) -> str:
        parts = " + ".join(tables[at].describe_cell(int(c)) for c in cells[:6])
        more = f" + {len(cells) - 6} more" if len(cells) > 6 else ""
        return f"table {at + 1}: {parts}{more}"

    columns = {
        "variable": pa.array([r.candidate.variable for r in rows], pa.string()),
        "from": pa.array([text(r.candidate.plus[0], r.plus) for r in rows], pa.string()),
        "minus": pa.array([text(r.candidate.minus[0], r.minus) for r in rows], pa.string()),
        "base codes": pa.array(
            [", ".join(sorted(r.candidate.atoms)[:12]) for r in rows], pa.string()
        ),
        "unsafe": unsafe,
        "exact": exact,
    }
    return nw.from_native(pa.table(columns), eager_only=True)
