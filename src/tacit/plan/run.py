"""The runner: one way from a plan to a release, whatever the kind of data."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.context import Context
from tacit.data.base import Data
from tacit.data.roles import SINGLE
from tacit.errors import PlanError, SdcError, SdcWarning
from tacit.events import Job, Listener, Phase, Stop, Stretch
from tacit.kinds import kind_named, kind_of
from tacit.numerics.streams import fresh_seed
from tacit.plan.model import Plan, changed_elsewhere
from tacit.plan.sections import Roles
from tacit.release.ledger import Ledger
from tacit.release.release import Release
from tacit.result import Result
from tacit.spec import Measure, Method, Spec

#: Measures draw from the children of the seed from here on; steps from those below.
MEASURES = 10_000
#: Protected plots draw from the children of the seed from here on.
PLOTS = 30_000


@dataclass(frozen=True)
class Run:
    """What steps and measures of one run share."""

    #: The run's seed.
    seed: int
    #: The job of the run, divided into parts.
    job: Job
    #: Fingerprint of the source. The numbers of each step then depend on it and on the step's parameters
    #: besides the seed: two runs that differ in either have no noise in common that could be taken out.
    #: Without one they depend on the seed and the step's number alone, for study (see
    #: :mod:`tacit.alternatives.rumap.evaluate`).
    source: str | None = None
    #: The population register, for steps that ask for it.
    register: Data | None = None

    @classmethod
    def for_study(cls, plan: Plan, seed: int, should_stop: Stop, register: Any = None) -> Run:
        """Return a run whose result is looked at and never released: it reports nothing."""
        return cls(seed, Job(should_stop=should_stop, phases=run_parts(plan)), register=register)

    def context(self, step: int, spec: Spec, work: Stretch) -> Context:
        """Return the context of one step or measure."""
        return Context.start(
            self.seed,
            step=step,
            key=None if self.source is None else stream_key(spec, self.source),
            work=work,
        )


def stream_key(spec: Spec, source: str) -> bytes:
    """Return what the random numbers of a step depend on besides seed and place."""
    return json.dumps([source, spec.to_dict()], sort_keys=True, default=str).encode()


def run_parts(plan: Plan) -> tuple[Phase, ...]:
    """Return what running a plan consists of, with what each part usually takes of the whole."""
    n = len(plan.steps)
    return (
        Phase("read", "Reading the data", 2),
        Phase("check", "Checking the plan against the data", 1),
        *(
            Phase("protect", f"Step {i} of {n}: {s.title()}", 10)
            for i, s in enumerate(plan.steps, 1)
        ),
        Phase("protect", "Comparing the protected data with the original", 1),
        Phase("measure", "Measuring before protection", 5),
        Phase("measure", "Measuring after protection", 5),
    )


def run_plan(
    plan: Plan, data: Data | None, *, seed: int | None, on_event: Listener, should_stop: Stop
) -> Release:
    """Read, check, apply the steps, build what they need in between, and measure before and after."""
    job = Job(on_event, should_stop, run_parts(plan))
    return job.watch(lambda: run_parts_of(plan, data, seed, job))


def run_parts_of(plan: Plan, data: Data | None, seed: int | None, job: Job) -> Release:
    """Run a plan, part by part of its job."""
    if plan.map is not None and not plan.steps:
        raise PlanError("the plan has no steps; choose some with tacit map and add them")
    plan, lost = plan.find_files()
    if lost:
        raise PlanError("the plan cannot run", lost)
    job.begin("read")
    source = plan.read() if data is None else data
    job.begin("check")
    plan.check(source)
    root = next((s for s in (seed, plan.seed) if s is not None), None)
    ledger = Ledger.start(fresh_seed() if root is None else root, source)
    asked = any(s.asks_register for s in plan.steps)
    people = kind_of(source).read_register(plan, source) if asked else None
    run = Run(ledger.seed, job, ledger.source_fingerprint, people)
    plan = plan.with_(seed=run.seed, roles=plan.roles if plan.roles.given() else roles_of(source))
    studied = root is not None
    baseline, released, ledger, linked = apply_steps(plan, source, run, ledger)
    told = untold(plan, baseline, linked, released)
    return measure_release(plan, source, baseline, released, ledger, run, told, studied=studied)


# -- steps -------------------------------------------------------------------------------------------


def apply_steps(
    plan: Plan, source: Data, run: Run, ledger: Ledger
) -> tuple[Data, Data, Ledger, Data]:
    """Return what protection is compared with, the protected data, the ledger, and the last data with links to the source."""
    linked: Data | None = None

    def watch(number: int, before: Data, after: Data, warned: Sequence[str]) -> None:
        nonlocal ledger, linked
        if linked is None and number and after.history[-1].details.get("links_lost"):
            linked = before
        if number:
            step = plan.steps[number - 1]
            ledger = ledger.with_step(step, before, after, warned, number)
        else:
            section = plan.table_to_dict(public=False)
            ledger = ledger.with_build(f"build_{after.kind}", section, before, after)

    baseline, released = protect(plan, source, run, watch)
    return baseline, released, ledger, released if linked is None else linked


#: Told of every step: its number (0 where one kind of data is made from another), data before and after, warnings.
Watch = Callable[[int, Data, Data, Sequence[str]], None]


def protect(
    plan: Plan, source: Data, run: Run, watch: Watch = lambda *_: None
) -> tuple[Data, Data]:
    """Apply the steps; return what protection is compared with, and the protected data."""
    out = plan.released_kind(source.kind)
    current, baseline = source, None
    for i, step in enumerate(plan.steps, 1):
        work = run.job.begin("protect")
        current = convert(plan, current, step.acts_on().kind, work, watch)
        if baseline is None and current.kind == out and not step.prepares:
            baseline = current
        ctx = run.context(i, step, work)
        ctx.elsewhere = changed_elsewhere(plan, i, current)
        ctx.register = run.register if step.asks_register else None
        after, warned = apply_step(step, current, ctx, i)
        watch(i, current, after, warned)
        current = after
    current = convert(plan, current, out, run.job.begin("protect"), watch)
    return current if baseline is None else baseline, kind_of(current).withhold(current)


def convert(plan: Plan, current: Data, wanted: str, work: Stretch, watch: Watch) -> Data:
    """Return the data as the kind that the next step needs, built where they are another."""
    if current.kind == wanted:
        return current
    made_of = kind_named(wanted)
    work.tick(f"making {made_of.noun}")
    made = made_of.build(plan, current)
    watch(0, current, made, ())
    return made


def apply_step(step: Method[Any], data: Data, ctx: Context, number: int) -> tuple[Data, list[str]]:
    """Apply one step; keep its warnings, and say where in the plan an error arose."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            after = step.apply(data, context=ctx).materialise()
        except SdcError as error:
            where = f"step {number} ({step.kind})"
            if not str(error).startswith(where):
                error.args = (f"{where}: {error}",)
            raise
    for warning in caught:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return after, [str(w.message) for w in caught]


def roles_of(data: Data) -> Roles:
    """Return the roles of data as they stand in a plan; data without roles have none."""
    if not hasattr(data, "with_role"):
        return Roles()
    given: dict[str, Any] = {r: data.with_role(r) for r in Roles.model_fields if data.with_role(r)}
    for name in given.keys() & set(SINGLE):
        given[name] = given[name][0]
    if given.get("links"):
        given["links"] = getattr(data, "links", ())
    quasi = getattr(data, "quasi", {})
    if len(quasi) > 1 or (quasi and "keys" not in quasi):
        given["keys"] = dict(quasi)
    return Roles(**given)


# -- measures ----------------------------------------------------------------------------------------


def measure_release(
    plan: Plan,
    source: Data,
    baseline: Data,
    released: Data,
    ledger: Ledger,
    run: Run,
    told: tuple[list[str], list[str]],
    *,
    studied: bool,
) -> Release:
    """Measure before and after, and put the release together; ``told`` is what :func:`untold` found."""
    kind = kind_of(released)
    register = kind.read_register(plan, baseline)
    control = kind.read_control(plan, baseline)
    wanted = plan.measures or kind.measures(baseline)
    usable, omitted = [], []
    for measure in wanted:
        asked = bool(plan.measures)
        reason = None if measure.publishes else why_left_out(measure, released, asked=asked)
        if reason is None:
            usable.append(measure)
        elif reason:
            omitted.append(f"{measure.kind} was left out: {reason}")
    noticed = kind.open_points(released)
    for sentence in (*omitted, *noticed, *told[0]):
        warnings.warn(sentence, SdcWarning, stacklevel=2)
    prepared_only = baseline is released and any(s.prepares for s in plan.steps)

    looking = [m for m in usable if not m.publishes]
    drawn = [m for m in usable if m.publishes]
    alone = [] if prepared_only else [(i, m) for i, m in enumerate(looking) if not m.compares]
    wanted_after = [*enumerate(looking), *enumerate((r.measure for r in plan.require), len(usable))]

    def take(
        numbered: Sequence[tuple[int, Measure[Any]]], data: Data, work: Stretch, done: int = 0
    ) -> list[Result]:
        return [
            measure.measure(
                data,
                original=baseline,
                register=register,
                control=control,
                context=run.context(
                    MEASURES + i,
                    measure,
                    work.part(done + k, done + len(numbered), f"{work.text}: {measure.title()}"),
                ),
            )
            for k, (i, measure) in enumerate(numbered)
        ]

    work = run.job.begin("measure")
    plots = take_plots(drawn, source, run, work.part(0, 1 + len(alone)), studied=studied)
    before = take(alone, baseline, work, 1)
    found = take(wanted_after, released, run.job.begin("measure"))
    after, needed = found[: len(looking)], found[len(looking) :]
    unmet = [s for r, found in zip(plan.require, needed, strict=True) if (s := r.shortfall(found))]
    unmet += told[1]
    return Release(
        plan=plan.with_(measures=tuple(usable)),
        source=source,
        original=baseline,
        data=released,
        before=tuple(before),
        after=tuple(after),
        ledger=ledger,
        omitted=tuple(omitted),
        noticed=tuple(noticed),
        undone=tuple(told[0]),
        unmet=tuple(unmet),
        studied=studied,
        plots=tuple(plots),
    )


#: Steps that cut the link to the original and leave every value as it was, the numbers of households apart.
ORDERS_ONLY = frozenset({"scramble", "shuffle_households", "remove_columns"})


def untold(plan: Plan, baseline: Data, linked: Data, released: Data) -> tuple[list[str], list[str]]:
    """Return where the released data tell what was hidden: what is to be noted, and what forbids a release.

    Records that are made anew cannot be followed, and tell no value of one. Records in a new order are followed up to
    there; what later steps have changed counts as hidden, and what they have left as shown.
    """
    after = released.history[len(linked.history) :]
    if baseline.kind != linked.kind or linked.kind != released.kind or baseline is released:
        return [], []
    if after and after[0].kind not in ORDERS_ONLY:
        return [], []
    later = [s for s in plan.steps[len(plan.steps) - len(after) :] if s.kind not in ORDERS_ONLY]
    return kind_of(released).undone(baseline, linked, released, later, plan.output.tells)


def take_plots(
    measures: Sequence[Measure[Any]], source: Data, run: Run, work: Stretch, *, studied: bool
) -> list[Any]:
    """Take what is published by itself, of the source: its noise protects, and its budget is that of the source."""
    found: list[Any] = []
    for i, measure in enumerate(measures):
        part = work.part(i, len(measures), f"Drawing: {measure.title()}")
        plot: Any = measure.measure(source, context=run.context(PLOTS + i, measure, part))
        found.append(plot.for_study() if studied else plot)
    return found


def why_left_out(measure: Measure[Any], released: Data, *, asked: bool) -> str | None:
    """Return why a measure cannot be taken of the released data; None when it can.

    A measure that nobody asked for falls away silently (an empty reason) with the column that it needs.
    """
    if measure.compares and any(a.details.get("links_lost") for a in released.history):
        return "it follows single records, and a step has cut the link to the original"
    if not asked and measure.faults(released):
        return ""
    return None
