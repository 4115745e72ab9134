"""From the ``map`` section of a plan to the map."""

from __future__ import annotations

from tacit.alternatives.rumap.ru_map import RUMap
from tacit.errors import PlanError
from tacit.plan import Plan
from tacit.plan.map_section import candidates_of, measures_of


def build(plan: Plan) -> RUMap:
    """Return the map of a plan; the plan's own steps come first in every candidate."""
    if plan.map is None:
        raise PlanError("the plan has no map section; add one with candidates, risk and utility")
    faults: list[str] = []
    candidates = candidates_of(plan.map, faults)
    risk, utility = (measures_of(plan.map, axis, faults) for axis in ("risk", "utility"))
    if faults:
        raise PlanError("the plan's map has faults", [f"map: {f}" for f in faults])
    options = plan.map.options()
    if plan.title:
        options.setdefault("title", plan.title)
    return RUMap(candidates, risk, utility, before=plan.steps, template=plan, **options)
