"""Differences of cells that must not be learned: cells of their own, which are never published."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Flags, Floats
from tacit.claims import Claim
from tacit.claims.outsiders import describe_outsiders, outsider_bounds
from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import Infeasible
from tacit.tables.attack.attacker import shortfalls
from tacit.tables.rules.k_disclosure import KDisclosure
from tacit.tables.rules.nesting import Nested, find_nearly_whole_parts
from tacit.tables.suppress.problem import Problem
from tacit.tables.suppress.repair import suppress
from tacit.tables.suppress.whole_numbers import protect_whole_numbers

#: How often part of what is hidden for differences is chosen anew.
TRIES = 10


def rules_of(table: Table) -> list[KDisclosure]:
    """Return the rules on differences in the history of a table."""
    kind = KDisclosure.model_fields["kind"].default
    return [
        KDisclosure(**{k: v for k, v in action.parameters.items() if k != "kind"})
        for action in table.history
        if action.kind == kind
    ]


def protect_differences(table: Table, problem: Problem, pattern: Flags, ctx: Context) -> Flags:
    """Return a pattern that hides more, so that differences which a rule names stay open.

    Parameters
    ----------
    table
        The table with its own bounds.
    problem
        What hiding a cell costs, and which cells may not be hidden.
    pattern
        Cells that are hidden in any case.
    ctx
        The context.

    Raises
    ------
    Infeasible
        Naming the parts whose distance from a total nothing can hide.
    """
    for rule in rules_of(table):
        found = find_nearly_whole_parts(table, rule.k, rule.dimensions, rule.up_to)
        if not len(found.part):
            continue
        wide = with_differences(table, problem, pattern, found, rule.k)
        require_possible(table, wide, found, ctx)
        before = pattern
        open_to_all = suppress(wide, ctx, tries=TRIES)[0]
        pattern = protect_whole_numbers(wide, open_to_all, ctx)[: len(table)]
        ctx.note(for_differences=int((pattern & ~before).sum()))
        if (pattern & ~before).any() and ctx.details.get("answer") == "optimal":
            ctx.note(answer="optimal before cells were hidden for differences")
    return pattern


def with_differences(
    table: Table, problem: Problem, pattern: Flags, found: Nested, k: int
) -> Problem:
    """Return the problem with a cell for each difference, which must be able to rise to k + 1."""
    n, more = len(table), len(found.part)
    rows = np.arange(more)
    relations = sparse.csr_array(
        (
            np.concatenate([-np.ones(more), np.ones(2 * more)]),
            (np.tile(rows, 3), np.concatenate([found.total, found.part, n + rows])),
        ),
        shape=(more, n + more),
    )
    wide = sparse.hstack([table.equations, sparse.csr_array((table.equations.shape[0], more))])
    equations = sparse.csr_array(sparse.vstack([wide, relations], format="csr"))

    def longer(given: Floats, added: npt.ArrayLike) -> Floats:
        return np.concatenate([given, np.broadcast_to(np.asarray(added, dtype=float), (more,))])

    low, high = outsider_bounds(table)
    nothing = np.zeros(n)
    need = longer(nothing, k + 1 - found.rest)
    virtual = np.arange(n + more) >= n
    bare = Table(
        dimensions=(),
        value=longer(table.value, found.rest),
        count=np.full(n + more, -1, dtype=np.int64),
        status=np.ones(n + more, dtype=np.int8),
        lower=longer(low, 0.0),
        upper=longer(high, np.inf),
        lower_level=np.zeros(n + more),
        upper_level=need,
        sliding_level=np.zeros(n + more),
        given=equations,
        frequency=True,
    )
    return Problem(
        table=bare,
        equations=equations,
        down=longer(np.maximum(table.value - low, 0.0), found.rest),
        up=longer(np.maximum(high - table.value, 0.0), np.inf),
        need_down=np.zeros(n + more),
        need_up=need,
        need_width=np.zeros(n + more),
        cost=longer(problem.cost, 0.0),
        primary=virtual,
        forced=np.concatenate([pattern, np.zeros(more, dtype=bool)]),
        fixed=np.concatenate([problem.fixed & ~pattern, np.zeros(more, dtype=bool)]),
        pairs=np.zeros((0, 2), dtype=np.int64),
        whole=problem.whole,
    )


def require_possible(table: Table, wide: Problem, found: Nested, ctx: Context) -> None:
    """Raise when a difference follows even from a table that hides all that may be hidden."""
    lost = sorted({s.cell for s in shortfalls(wide, wide.start | wide.suppressible, ctx)})
    if lost:
        parts = found.part[np.array(lost) - len(table)]
        names = "; ".join(table.describe_cell(int(c)) for c in parts[:10])
        raise Infeasible(
            f"{len(lost):,} groups fall nearly whole into one category, and no pattern hides it: "
            f"{names}. Let empty cells be hidden (zeros=True), free cells that must be published, or "
            "recode the table."
        )


def claim_differences(table: Table, result: Table) -> Iterator[Claim]:
    """Yield what is claimed of the differences that rules in the history name."""
    for rule in rules_of(table):
        yield Claim(
            "k-disclosure",
            {"k": rule.k, "dimensions": list(rule.dimensions)}
            | ({} if rule.up_to is None else {"up_to": rule.up_to}),
            "all totals and their parts",
            result.names or ("equations",),
            (
                *describe_outsiders(result),
                "members of a coalition know where they are themselves, and nothing of others",
            ),
        )
