"""Several releases of overlapping tables, attacked together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.context import Context
from tacit.data.cells.dimension import Dimension
from tacit.data.cells.linked import link
from tacit.data.microdata import Microdata
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.tables.attack.audit import Audit, AuditResult
from tacit.tables.attack.knowledge import Knowledge, state_problem


def audit_releases(
    *tables: Table,
    variables: Mapping[str, Dimension] | None = None,
    data: Microdata | None = None,
    seed: int | None = None,
    context: Context | None = None,
    **options: Any,
) -> AuditResult:
    """Audit several releases together: what their differences and sums give away.

    Cells of the same name are one cell. A cell counts as hidden only when every release that holds it
    hides it, and is bounded by all that any release says of it; the relations of all releases bind.
    Each may be safe on its own while together they are not.

    Parameters
    ----------
    tables
        The releases, as protected; of the same response, with the same values where they overlap.
    variables, data
        What tells how releases classify one variable differently, as in :func:`~tacit.tables.link`.
    seed, context
        As in ``measure``.
    options
        Parameters of :class:`~tacit.tables.attack.audit.Audit`.

    Returns
    -------
    AuditResult
        Cells are named by all dimensions together; a release stands at the total of those it lacks.

    """
    if len(tables) < 2:
        raise InputError("audit_releases needs at least two tables; use Audit for one")
    spec = Audit(**options)
    known = joint_knowledge(tables, spec, variables, data)
    found = spec.conclude(known, context or Context.start(seed))
    apart = known.problem.table.extra["apart"]
    if not apart:
        return found
    return replace(
        found,
        explanation=f"{found.explanation} Taken as different variables: {', '.join(apart)}; if one of two "
        "classifies the other, give data= or variables=.",
    )


def joint_knowledge(
    tables: Sequence[Table],
    spec: Audit,
    variables: Mapping[str, Dimension] | None = None,
    data: Microdata | None = None,
) -> Knowledge:
    """Return what an attacker knows who has all releases."""
    joined = link(*tables, variables=variables, data=data)
    n = len(joined)
    hidden = np.ones(n, dtype=bool)
    low, high = np.array(joined.lower), np.array(joined.upper)
    for table, part in zip(tables, joined.extra["parts"], strict=True):
        own = spec.known(table)
        hidden[part[~own.hidden]] = False
        np.maximum.at(low, part, table.value - own.problem.down)
        np.minimum.at(high, part, table.value + own.problem.up)
    return Knowledge(state_problem(joined, low, high, singletons=spec.singletons), hidden)
