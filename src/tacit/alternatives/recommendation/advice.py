"""recommend: from data, a risk with its cap and a utility to plans, ranked and explained."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tacit.alternatives.recommendation.proposals import MAKERS, Ground, find_numbers, propose
from tacit.alternatives.recommendation.result import Choice, Recommendation, make_result
from tacit.alternatives.recommendation.search import Search, Task
from tacit.alternatives.recommendation.words import Account, compare_choices
from tacit.alternatives.rumap.evaluate import gauges_of
from tacit.alternatives.rumap.points import Point
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.errors import ColumnNotFound, InputError, InvalidParameter, SdcWarning, near_match
from tacit.events import Job, Listener, Phase, Stop, ignore_event, never
from tacit.kept import keep_results
from tacit.kinds import kind_of
from tacit.plan import Plan
from tacit.plan.entries import Requirement
from tacit.plan.run import Run, protect
from tacit.records.identifiers.deidentify import Deidentify
from tacit.spec import Measure


@keep_results()
def recommend(
    data: Microdata | Plan,
    *,
    risk: Any,
    cap: float,
    utility: Any,
    budget: int = 100,
    replicates: int = 1,
    methods: Sequence[str] | None = None,
    numbers: Sequence[str] | None = None,
    register: Any = None,
    template: Plan | None = None,
    workers: int | None = None,
    seed: int | None = None,
    on_event: Listener = ignore_event,
    should_stop: Stop = never,
) -> Recommendation:
    """Search methods, settings and combinations of two for the most utility under a cap on risk.

    Candidates come from the roles and types of the columns. Each is evaluated on a small random sample of the
    file, the better ones on a larger one, and what is left on the whole file (successive halving, Jamieson
    and Talwalkar 2016, with layers of the risk-utility frontier in the place of one score). Files of fewer
    than 4,000 records are searched in full. The search is a heuristic: it does not try everything, and says how
    much it tried. Ranks and caps are judged on the whole file alone, as the risk of a sample is not the risk
    of the file.

    Parameters
    ----------
    data
        Records with their roles, or a plan that reads them; the plan's own steps then come first in every
        candidate, and its source, roles, hierarchies and output go into the plans.
    risk, utility
        A measure each, a function ``(original, released) -> float``, or a list of them, as a
        :class:`tacit.RUMap` takes them.
    cap
        The largest risk allowed.
    budget
        How many evaluations the search may make; each protects and measures some or all records once.
    replicates
        Runs of every candidate that depends on chance, on the whole file; the mean is judged.
    methods
        Which methods to try; by default all that fit.
    numbers
        Columns of numbers that may be masked; by default those with more than 20 different numbers.
    register
        A population register, for measures that need one.
    template
        A plan whose source, roles, hierarchies and output go into the plans.
    workers
        Number of processes; by default as many as pay.
    seed
        Equal seeds give equal recommendations. The plans hold none: a release draws its own numbers.
    on_event, should_stop
        Called with events, and asked whether to stop, while working; see :mod:`tacit.events`.

    Returns
    -------
    Recommendation
        ``plans``, best first; ``best``, ``runner_up``, ``reasons``, ``frame``, ``map``.

    References
    ----------
    Duncan, Keller-McNulty, Stokes (2001), Disclosure risk vs. data utility: the R-U confidentiality map,
    Technical Report 121, National Institute of Statistical Sciences.
    Jamieson, Talwalkar (2016), Non-stochastic best arm identification and hyperparameter optimization,
    AISTATS, 240-248.
    """
    job = Job(on_event, should_stop, PARTS)

    def search() -> Recommendation:
        job.begin("read")
        plan, records = (data, data.read()) if isinstance(data, Plan) else (template, data)
        if not isinstance(records, Microdata):
            raise InputError("recommend works on records: read them with tacit.read(...)")
        job.begin("check")
        known, base = records.materialise(), plan or Plan()
        task = pose(
            Task(known, risk, utility, cap, (), base, register, budget, replicates, workers)
        )
        ground = survey(task, numbers)
        proposals, left_out = propose(ground, check_methods(methods))
        if not proposals:
            why = "; ".join(f"{m}: {reason}" for m, reason in left_out.items())
            raise InputError(f"no method fits the data. {why}")
        task.map_of(proposals).check(task.data)
        ctx = Context.start(seed, work=job.begin("recommend"))
        found = Search(task, ctx, left_out).run(proposals)
        job.begin("recommend")
        return conclude(task, found, ctx)

    return job.watch(search)


#: What a recommendation consists of.
PARTS = (
    Phase("read", "Reading the data"),
    Phase("check", "Looking for methods that fit the data"),
    Phase("recommend", "Trying methods and settings", 20),
    Phase("recommend", "Accounting for what the best would change", 2),
)


def pose(task: Task) -> Task:
    """Return the task with what comes first: the steps of the template, or that identifiers go."""
    cap, data = task.cap, task.data
    if isinstance(cap, bool) or not isinstance(cap, int | float) or not 0 <= cap < math.inf:
        raise InvalidParameter(f"cap must be a number from 0 (got {cap!r})")
    if not len(data):
        raise InputError("recommend: there are no records")
    before = tuple(task.template.steps) or ((Deidentify(),) if data.identifiers else ())
    return replace(task, cap=float(cap), before=before)


def survey(task: Task, numbers: Sequence[str] | None) -> Ground:
    """Return what proposals are made from."""
    data = task.data.drop(task.data.identifiers)
    if numbers is not None:
        missing = [c for c in numbers if c not in data.columns]
        if missing:
            raise ColumnNotFound(missing, list(data.columns), "the data")
    masked = find_numbers(data) if numbers is None else tuple(numbers)
    return Ground(data, len(data), gauges_of(task.risk, "risk"), task.cap, masked)


def check_methods(methods: Sequence[str] | None) -> list[str] | None:
    """Return the names of methods as proposals have them."""
    if methods is None:
        return None
    known = {name.replace(" ", "_").replace("-", "_"): name for name in MAKERS}
    asked = [m.replace(" ", "_").replace("-", "_") for m in methods]
    for name in asked:
        if name not in known:
            hint = near_match(name, known) or f"They are {', '.join(known)}."
            raise InvalidParameter(f"methods: recommend does not try {name!r}. {hint}")
    return [known[name] for name in asked]


# -- from the map to the choice ----------------------------------------------------------------------


def conclude(task: Task, found: Search, ctx: Context) -> Recommendation:
    """Rank what keeps the cap, account for what the best would change, and say it."""
    ru = found.map
    turned = 1 if ru.higher_utility_is_better else -1

    def merit(point: Point) -> tuple[float, float, int]:
        return -turned * point.utility, point.risk, ru.index(point)

    # Data that keep the cap as they are need no protection; what is recommended then lowers the risk further.
    unmasked = math.inf if ru.reference is None else ru.reference.risk
    safe = sorted(
        (p for p in ru.points if p.has_result and p.risk <= task.cap and p.risk < unmasked),
        key=merit,
    )
    # Of candidates with the same risk and utility the first stands for all.
    first = {(p.risk, p.utility): p for p in reversed(safe)}
    front = {p.name for p in ru.frontier}
    ranked = [p for p in safe if p.name in front and first[p.risk, p.utility] is p]
    # What has all methods of the best is no alternative to it.
    parts = set(ranked[0].method.split(" + ")) if ranked else set()
    others = [p for p in safe if ranked and not parts <= set(p.method.split(" + "))]
    if ranked and ru.chosen != ranked[0]:
        found.map = ru = replace(ru, choice=ranked[0])._finish_result()

    def offer(p: Point) -> Choice:
        rank = ranked.index(p) + 1 if p in ranked else 0
        reason = compare_choices(ru, p, None if rank == 1 else ranked[0])
        return Choice(rank, p, ready_plan(task, ru.plan(p), p), reason)

    choices = [offer(p) for p in ranked]
    runner_up = offer(others[0]) if others else None
    accounts = {c.name: account(task, found, c.point, ctx) for c in (*choices[:1], runner_up) if c}
    return make_result(task, found, choices, runner_up, accounts)


def ready_plan(task: Task, plan: Plan, point: Point) -> Plan:
    """Return a plan that refuses a release over the cap, with no seed in it."""
    required = tuple(
        Requirement(g, at_most=task.cap)
        for g in gauges_of(task.risk, "risk")
        if isinstance(g, Measure) and (not g.needs_register or plan.population is not None)
    )
    title = f"{task.template.title}: {point.name}" if task.template.title else point.name
    return plan.with_(title=title, require=(*plan.require, *required), seed=None)


def account(task: Task, found: Search, point: Point, ctx: Context) -> Account:
    """Return what a candidate changed in the draw that was measured first."""
    proposal = next(p for p in found.proposals if (p.method, p.label) == (point.method, point.label))  # fmt: skip
    made = task.map_of([proposal])
    candidate = made.expanded[0]
    run = Run.for_study(candidate.plan, made.seed_of(candidate, 0, ctx.seed), ctx.should_stop)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        original, released = protect(candidate.plan, task.data, run)
    told = dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, SdcWarning))
    return Account(
        kind_of(released).compare(original, released),
        by_chance=candidate.random,
        warnings=tuple(told),
    )
