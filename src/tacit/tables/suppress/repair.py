"""The linear-programming heuristic: hide what cheapest movements need until every need is met."""

from __future__ import annotations

import time

from tacit.arrays import Flags
from tacit.context import Context
from tacit.errors import Infeasible
from tacit.tables.attack.attacker import shortfalls
from tacit.tables.suppress.moves.routes import Routes, needs_of
from tacit.tables.suppress.problem import Problem


def repair(problem: Problem, hidden: Flags, ctx: Context) -> Flags:
    """Return a pattern that holds ``hidden`` and meets every need.

    The attacker says which needs the pattern does not meet; what it meets, a larger pattern meets too. For
    each of the others a movement of cells that keeps all relations and bounds is found and checked on the
    whole table; cells that are hidden already cost nothing.

    Infeasible names the cells that no pattern of the cells that may be hidden can protect.
    """
    base = hidden | problem.start
    short = {(s.cell, s.known) for s in shortfalls(problem, base, ctx)}
    if not short:
        return base
    needs = [need for need in needs_of(problem) if (need.cell, need.known) in short]
    routes = Routes(problem, base, base | problem.suppressible, needs)
    require_met(problem, routes, routes.meet_all(ctx))
    routes.require_proof()
    return routes.pattern


def suppress(
    problem: Problem,
    ctx: Context,
    *,
    cleaned: bool = True,
    tries: int = 100,
    limit_seconds: float | None = None,
) -> tuple[Flags, dict[str, float]]:
    """Return a safe pattern of low cost, and how it was found.

    When ``cleaned``, cheaper ways are looked for after the first pattern, and ``tries`` times a part of it is removed and
    re-inserted; when the time is over, that search ends with the best safe pattern so far.
    """
    until = None if limit_seconds is None else time.monotonic() + limit_seconds
    routes = Routes(problem, problem.start, problem.start | problem.suppressible)
    require_met(problem, routes, routes.meet_all(ctx))
    first, spared, anew = routes.total, 0, 0
    if cleaned:
        spared = routes.improve(ctx, until=until)
        anew = routes.reinsert_parts(ctx, tries=tries, until=until)
    routes.require_proof()
    facts: dict[str, float] = {
        "first_price": first,
        "republished": spared,
        "reinserted": anew,
        "programs": routes.flows.solved,
    }
    return routes.pattern, facts


def clean(
    problem: Problem,
    pattern: Flags,
    ctx: Context,
    *,
    limit_seconds: float | None = None,
    work: float = 1.0,
) -> Flags:
    """Return a safe part of a safe pattern from which cells that are not needed are gone.

    Every need gets a movement within the pattern, by preference over cells that are hidden in any
    case; what no movement uses is published. Then the secondaries are tried one by one, the most expensive
    first, until the time is over or ``work`` times the usual number of columns of linear programs is done,
    whatever the machine. A pattern that is not safe comes back as it is.
    """
    until = None if limit_seconds is None else time.monotonic() + limit_seconds
    routes = Routes(problem, problem.start, pattern | problem.start)
    if routes.meet_all(ctx):
        return pattern
    routes.improve(ctx, until=until, work=work)
    routes.require_proof()
    return routes.pattern


def require_met(problem: Problem, routes: Routes, failed: list[int]) -> None:
    """Raise when some needs cannot be met, naming their cells."""
    if not failed:
        return
    hopeless = sorted({routes.needs[n].cell for n in failed})
    names = "; ".join(problem.table.describe_cell(c) for c in hopeless[:10])
    raise Infeasible(
        f"{len(hopeless):,} unsafe cells cannot be protected, whatever else is hidden: "
        f"{names}. Lower their levels, free cells that must be published, or recode the table."
    )
