"""Clean-up: publish again the secondary cells that no unsafe cell needs."""

from __future__ import annotations

import time

from tacit.arrays import Flags
from tacit.context import Context
from tacit.tables.suppress.moves.routes import Routes
from tacit.tables.suppress.problem import Problem


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
    first. A pattern that is not safe comes back as it is.

    Parameters
    ----------
    problem
        The problem.
    pattern
        The hidden cells; the result hides no other.
    ctx
        The context.
    limit_seconds
        Time after which the best safe pattern so far is returned.
    work
        The same as a multiple of the usual number of columns of linear programs, whatever the machine.
    """
    until = None if limit_seconds is None else time.monotonic() + limit_seconds
    routes = Routes(problem, problem.start, pattern | problem.start)
    if routes.meet_all(ctx):
        return pattern
    routes.improve(ctx, until=until, work=work)
    routes.require_proof()
    return routes.pattern
