"""Protection of linked tables as one system."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tacit.arrays import Flags
from tacit.context import Context
from tacit.data.cells.dimension import Dimension
from tacit.data.cells.linked import LEVELS, link, split
from tacit.data.cells.status import Status
from tacit.data.microdata import Microdata
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.registry import lookup
from tacit.spec import Method
from tacit.tables.suppress.problem import problem_of
from tacit.tables.suppress.repair import repair
from tacit.tables.suppress.suppression import Suppression, count_secondary, protect_from_respondents


def protect_linked(
    *tables: Table,
    method: Method[Table] | None = None,
    variables: Mapping[str, Dimension] | None = None,
    data: Microdata | None = None,
    seed: int | None = None,
    context: Context | None = None,
) -> tuple[Table, ...]:
    """Protect tables that share cells as one system, and return each of them.

    Cells of the same codes are one cell: a dimension that a table lacks stands at its total. What is
    hidden in one table is hidden in all, and the proof is made on the relations of all tables together.
    A method that knows only full products (hypercubes) runs over the tables in turn, shared cells
    carried along, until nothing changes; its joint pattern is then audited and mended.

    Parameters
    ----------
    tables
        Two or more tables of one response, judged by rules where a method needs that.
    method
        How to protect; by default :class:`~tacit.tables.suppress.suppress_linear.SuppressLinear`.
    variables, data
        What tells how tables classify one variable differently, as in :func:`~tacit.tables.link`.
    seed, context
        As in ``apply``.

    Returns
    -------
    tuple of Table
        The tables in the order given, shared cells treated alike. ``history[-1]`` of each tells of the
        joint protection.

    Raises
    ------
    InputError
        When shared cells have different values, classifications cannot be linked, or the method cannot work on linked tables.
    Infeasible
        When no pattern protects every unsafe cell.
    """
    how = method or lookup("suppress_linear")()
    if not isinstance(how, Method):
        raise InputError("protect_linked needs a method for tables, e.g. tacit.SuppressLinear()")
    joint = link(*tables, variables=variables, data=data)
    ctx = context or Context.start(seed)
    together = {k: list(names) for k, names in joint.extra["variables"].items() if len(names) > 1}
    ctx.note(
        linked_tables=len(tables),
        linked_classifications=together,
        taken_as_different_variables=list(joint.extra["apart"]),
    )
    faults = how.faults(joint)
    if faults and not isinstance(how, Suppression):
        raise faults[0]
    if faults and isinstance(how, Suppression):
        for table in tables:
            how.check(table)
        done = in_turn(how, joint, tables, ctx)
    else:
        done = how.apply(joint, context=ctx)
    return tuple(
        part.with_(
            history=(*table.history, *done.history),
            **{name: getattr(done, name)[at] for name in LEVELS},
        )
        for part, table, at in zip(split(done, tables), tables, joint.extra["parts"], strict=True)
    )


def in_turn(method: Suppression, joint: Table, tables: Sequence[Table], ctx: Context) -> Table:
    """Return a joined table, protected by a method that takes its tables one by one."""
    begun = time.perf_counter()
    quiet = replace(ctx, details={})
    proposed, sweeps = sweep_tables(method, joint, tables, quiet)
    problem = problem_of(joint, cost=method.cost, power=method.power, singletons=method.singletons)
    pattern = repair(problem, proposed | problem.start, quiet)
    problem, pattern = protect_from_respondents(problem, pattern, quiet)
    ctx.note(
        primary=int(problem.primary.sum()),
        secondary=count_secondary(joint, pattern),
        price=problem.price(pattern),
        repaired=int((pattern & ~proposed).sum()),
        sweeps=sweeps,
    )
    done = joint.with_hidden(np.flatnonzero(pattern & ~problem.primary))
    claims = tuple(Suppression._claims(method, joint, done))
    for claim in claims:
        claim.require(done, where=method.kind)
    return done.with_action(method._action(ctx, claims, begun))


def sweep_tables(
    method: Suppression, joint: Table, tables: Sequence[Table], ctx: Context
) -> tuple[Flags, int]:
    """Return the cells that a method hides, run over each table until none hides more."""
    hidden = joint.hidden.copy()
    sweeps = 0
    while True:
        sweeps += 1
        before = int(hidden.sum())
        for table, at in zip(tables, joint.extra["parts"], strict=True):
            ctx.tick(f"linked tables, sweep {sweeps}", None)
            status = joint.status[at].copy()
            status[hidden[at] & ~joint.primary[at]] = Status.SECONDARY
            levels = {name: getattr(joint, name)[at] for name in LEVELS}
            own = table.with_(status=status, changed=None, interval=None, **levels)
            hidden[at] |= method._apply(own, ctx).hidden
        if int(hidden.sum()) == before:
            return hidden, sweeps
