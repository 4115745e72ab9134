"""RUMap: candidates, measures and limits; running it gives the map."""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.alternatives.rumap.candidates import Candidate, expand
from tacit.alternatives.rumap.evaluate import (
    Bench,
    Gauge,
    Values,
    data_identity,
    evaluation_key,
    gauges_of,
    label_of,
    lower_is_better,
)
from tacit.alternatives.rumap.points import Interval, Point
from tacit.alternatives.rumap.result import RUMapResult
from tacit.alternatives.rumap.runner import Evaluation, Store, run_jobs
from tacit.data.base import Data
from tacit.errors import Infeasible, InvalidParameter, PlanError
from tacit.events import Job, Listener, Phase, Stop, ignore_event, never
from tacit.kept import keep_results
from tacit.kinds import kind_of
from tacit.numerics.streams import fresh_seed
from tacit.plan import Plan
from tacit.plan.map_section import candidates_of, measures_of
from tacit.spec import Measure, Method

if TYPE_CHECKING:
    from tacit.release.release import Release

#: Children of the seed from here on belong to replicates; a plan's own steps use the ones below.
REPLICATES = 1_000_000
Pooling = Literal["max", "mean", "min"]


@dataclass(frozen=True)
class RUMap:
    """The R-U confidentiality map: every candidate's disclosure risk against its data utility.

    Each candidate protects the data, ``replicates`` times where it draws random numbers; risk and utility
    are measured on every result, and the point is the mean with a Student t interval.

    Attributes
    ----------
    candidates
        By curve: a method, a plan, or a list of methods, plans and combinations (lists of methods applied
        in order). :func:`tacit.alternatives.rumap.grid` makes such lists.
    risk, utility
        A registered measure, a function ``(original, released) -> float``, or a list of them. Risk is
        better when lower; utility when higher, unless the measure or function says otherwise by an
        attribute ``better = "lower"``. The measures of a list must agree.
    replicates
        Runs of every candidate that depends on the seed; others are run once.
    max_risk, min_utility
        Cap on risk and floor of utility (ceiling of a distortion).
    workers
        Number of processes; by default one, and as many as there are processors once the first
        evaluations show that the rest will take long. Results do not depend on it.
    before
        Steps that come first in every candidate, such as removing identifiers. The reference point, "no
        masking", has these steps alone.
    register
        A population register, for measures that need one.
    control
        Records of people whom no step has seen, for measures that compare with them.
    risk_pooling, utility_pooling
        How several measures make one number.
    common_random_numbers
        Give every candidate of a replicate the same seed, so that neighbouring settings differ by their
        parameters and not by their luck; else each candidate has seeds of its own.
    confidence
        Level of the intervals.
    log_risk
        Draw risk on a logarithmic axis.
    risk_label, utility_label, title
        Words for the axes and the heading.

    References
    ----------
    Duncan, Keller-McNulty, Stokes (2001), Disclosure risk vs. data utility: the R-U confidentiality map,
    Technical Report 121, National Institute of Statistical Sciences.
    """

    candidates: Mapping[str, Any]
    risk: Any
    utility: Any
    replicates: int = 1
    max_risk: float | None = None
    min_utility: float | None = None
    workers: int | None = None
    before: Sequence[Method] = ()
    register: Any = None
    control: Any = None
    risk_pooling: Pooling = "max"
    utility_pooling: Pooling = "mean"
    common_random_numbers: bool = True
    confidence: float = 0.95
    log_risk: bool = False
    risk_label: str = ""
    utility_label: str = ""
    title: str = "Risk-utility map"
    #: Where the map comes from a plan file: its source, roles and output go into the chosen plan.
    template: Plan = field(default_factory=Plan)

    def __post_init__(self) -> None:
        for name in ("replicates", "workers"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 1):
                raise InvalidParameter(f"{name} must be a whole number from 1")
        if not 0 < self.confidence < 1:
            raise InvalidParameter("confidence must lie between 0 and 1")
        if self.max_risk is not None and not self.max_risk >= 0:
            raise InvalidParameter("max_risk must be at least 0")
        if not lower_is_better(self.risks, "risk"):
            raise InvalidParameter(
                "risk: the measure grows with safety; give a function that turns it into a risk"
            )
        lower_is_better(self.utilities, "utility")
        _ = self.expanded  # what is wrong with a candidate is told at once

    @classmethod
    def from_plan(cls, plan: Plan) -> RUMap:
        """Make the map that a plan's ``map`` section describes; the plan's own steps come first in every candidate."""
        if plan.map is None:
            raise PlanError(
                "the plan has no map section; add one with candidates, risk and utility"
            )
        faults: list[str] = []
        candidates = candidates_of(plan.map, faults)
        risk, utility = (measures_of(plan.map, axis, faults) for axis in ("risk", "utility"))
        if faults:
            raise PlanError("the plan's map has faults", [f"map: {f}" for f in faults])
        options = plan.map.options()
        if plan.title:
            options.setdefault("title", plan.title)
        return cls(candidates, risk, utility, before=plan.steps, template=plan, **options)

    @functools.cached_property
    def expanded(self) -> tuple[Candidate, ...]:
        """Return the candidates, one by one."""
        return tuple(self.complete(c) for c in expand(self.candidates, before=self.before))

    @functools.cached_property
    def _everything(self) -> tuple[Candidate, ...]:
        """Return the data with the common steps alone, which are the reference, and the candidates."""
        return (
            self.complete(Candidate("no masking", "", {}, Plan(tuple(self.before)))),
            *self.expanded,
        )

    def complete(self, candidate: Candidate) -> Candidate:
        """Return a candidate that knows how the template builds its table."""
        if self.template.table is None or candidate.plan.table is not None:
            return candidate
        shared = {"table": self.template.table, "base": self.template.base}
        return replace(candidate, plan=candidate.plan.with_(**shared))

    @property
    def risks(self) -> tuple[Gauge, ...]:
        """Return the measures of risk."""
        return gauges_of(self.risk, "risk")

    @property
    def utilities(self) -> tuple[Gauge, ...]:
        """Return the measures of utility."""
        return gauges_of(self.utility, "utility")

    @keep_results()
    def run(
        self,
        data: Data | None = None,
        *,
        seed: int | None = None,
        on_event: Listener = ignore_event,
        should_stop: Stop = never,
        resume: str | Path | None = None,
    ) -> RUMapResult:
        """Evaluate every candidate and return the map.

        Parameters
        ----------
        data
            The data; by default the source of the plan that the map was made from.
        seed
            Equal seeds give equal maps, whatever the number of workers.
        on_event, should_stop
            Called with events, and asked whether to stop, while working; see :mod:`tacit.events`.
        resume
            A folder for finished evaluations. Running the same map again with the same data and seed goes
            on where it stopped; what is finished is not computed again. It holds aggregates, but keep it
            inside all the same.

        Raises
        ------
        PlanError
            When some candidate or measure cannot work on the data; nothing has been computed then.
        """
        parts = (
            Phase("read", "Reading the data"),
            Phase("check", "Checking the candidates"),
            Phase("map", "Measuring the candidates", 20, sum(map(self._runs, self._everything))),
        )
        job = Job(on_event, should_stop, parts)
        return job.watch(lambda: self._run(data, seed, Store(resume), job))

    def _run(self, data: Data | None, seed: int | None, store: Store, job: Job) -> RUMapResult:
        job.begin("read")
        if data is None:
            data = self.template.read()
        data = data.materialise()
        job.begin("check")
        self.check(data)
        root = next((s for s in (seed, self.template.seed) if s is not None), None)
        root = fresh_seed() if root is None else root
        kind, register, control = kind_of(data), self.register, self.control
        register = kind.read_register(self.template, data) if register is None else register
        control = kind.read_control(self.template, data) if control is None else control
        bench = Bench(data, self.risks, self.utilities, register, control)
        identity = data_identity(bench)
        jobs = [
            Evaluation(i, r, s, evaluation_key(identity, candidate, s))
            for i, candidate in enumerate(self._everything)
            for r in range(self._runs(candidate))
            for s in [self.seed_of(candidate, r, root)]
        ]
        work = job.begin("map")
        done = run_jobs(bench, self._everything, jobs, store, workers=self.workers, work=work)
        return self._result(done, data)

    def is_random(self, candidate: Candidate) -> bool:
        """Return True when repeating a candidate can give another number."""
        gauges = (*self.risks, *self.utilities)
        return candidate.random or any(getattr(g, "random", False) for g in gauges)

    def _runs(self, candidate: Candidate) -> int:
        return self.replicates if self.is_random(candidate) else 1

    def seed_of(self, candidate: Candidate, replicate: int, root: int) -> int:
        """Return the seed of one evaluation: a child of the map's seed."""
        key = [REPLICATES + replicate]
        if not self.common_random_numbers:
            steps = json.dumps([s.to_dict() for s in candidate.steps], sort_keys=True, default=str)
            key.append(int.from_bytes(hashlib.sha256(steps.encode()).digest()[:4], "big"))
        state = np.random.SeedSequence(root, spawn_key=tuple(key)).generate_state(1, np.uint64)
        return int(state[0] >> np.uint64(11))

    def faults(self, data: Data) -> list[str]:
        """Return everything that can be known to be wrong before any work.

        That a candidate cannot meet its own requirement is no fault: it keeps its row, with the reason.
        """
        found: dict[str, None] = {}
        for candidate in self.expanded:
            for step in candidate.steps:
                if step.acts_on().kind != data.kind:
                    continue
                for fault in step.faults(data):
                    if not isinstance(fault, Infeasible):
                        found[f"{candidate.method} ({step.kind}): {fault}"] = None
        has_register = self.register is not None or self.template.population is not None
        for axis, gauges in (("risk", self.risks), ("utility", self.utilities)):
            for g in gauges:
                if isinstance(g, Measure):
                    if g.acts_on().kind != data.kind:
                        continue
                    found.update({f"{axis} ({g.kind}): {fault}": None for fault in g.faults(data)})
                    if g.needs_register and not has_register:
                        found[f"{axis} ({g.kind}): it needs a population register"] = None
        return list(found)

    def check(self, data: Data) -> None:
        """Raise one error that lists every fault."""
        faults = self.faults(data)
        if faults:
            raise PlanError("the map cannot run", faults)

    # -- from values to points ------------------------------------------------------------------

    def _result(self, done: Mapping[Evaluation, Values], data: Data) -> RUMapResult:
        """Put the map together."""
        everything = self._everything
        runs: list[list[Values]] = [[] for _ in everything]
        for job in sorted(done, key=lambda j: (j.candidate, j.replicate)):
            runs[job.candidate].append(done[job])
        points = [self.point(c, values) for c, values in zip(everything, runs, strict=True)]
        made = RUMapResult.from_points(
            points[1:],
            reference=points[0] if points[0].has_result else None,
            risk_label=self.risk_label or axis_label(self.risks, self.risk_pooling),
            utility_label=self.utility_label or axis_label(self.utilities, self.utility_pooling),
            max_risk=self.max_risk,
            min_utility=self.min_utility,
            higher_utility_is_better=not lower_is_better(self.utilities, "utility"),
            log_risk=self.log_risk,
            title=self.title,
            plans=[self.plan_of(c) for c in self.expanded],
            notes=warning_notes(everything, runs),
        )
        return replace(made, maker=Maker(data))

    def point(self, candidate: Candidate, values: Sequence[Values]) -> Point:
        """Return the point of a candidate: means and intervals over its replicates."""
        reasons = [v.reason for v in values if v.reason]
        shared: dict[str, Any] = {
            "method": candidate.method,
            "label": candidate.label,
            "parameters": candidate.parameters,
            "replicates": len(values),
            "seconds": sum(v.seconds for v in values),
        }
        if reasons:
            some = len(values) > 1
            count = f"{len(reasons)} of {len(values)} replicates failed: " if some else ""
            return Point(**shared, risk=math.nan, utility=math.nan, reason=count + reasons[0])
        risk = [pool_measures(v.risk, self.risk_pooling) for v in values]
        utility = [pool_measures(v.utility, self.utility_pooling) for v in values]
        return Point(
            **shared,
            risk=mean(risk),
            utility=mean(utility),
            risk_interval=t_interval(risk, self.confidence),
            utility_interval=t_interval(utility, self.confidence),
            detail=self.detail(values),
        )

    def detail(self, values: Sequence[Values]) -> dict[str, float]:
        """Return each of several measures by name."""
        found: dict[str, float] = {}
        for gauges, name in ((self.risks, "risk"), (self.utilities, "utility")):
            if len(gauges) > 1:
                for i, g in enumerate(gauges):
                    label = label_of(g)
                    key = label if label not in found else f"{label} #{i + 1}"
                    found[key] = mean([getattr(v, name)[i] for v in values])
        return found

    def plan_of(self, candidate: Candidate) -> Plan:
        """Return the plan that releases a candidate, with the map's measures and no seed."""
        base = candidate.plan
        if self.template.source or not base.source:
            base = self.template.with_(steps=base.steps, title=base.title or self.template.title)
        measures = [
            g
            for g in (*self.risks, *self.utilities)
            if isinstance(g, Measure) and (not g.needs_register or base.population is not None)
        ]
        return base.with_(measures=base.measures or tuple(measures), map=None, seed=None)


@dataclass(frozen=True)
class Maker:
    """What turns a plan of the map into a release: the data."""

    data: Data

    def release(self, plan: Plan, seed: int | None) -> Release:
        """Run the plan of a point with numbers of its own."""
        return plan.run(self.data, seed=seed)


def axis_label(gauges: Sequence[Gauge], pooling: str) -> str:
    """Return the title of an axis; of one measure, what its number is."""
    names = [label_of(g) for g in gauges]
    if len(names) == 1:
        return f"{getattr(gauges[0], 'axis', '')} {names[0]}".strip()
    word = {"max": "largest", "mean": "mean", "min": "least"}[pooling]
    return f"{word} of {', '.join(names)}"


def pool_measures(values: Sequence[float], how: Pooling) -> float:
    """Return several measures as one number."""
    if any(math.isnan(v) for v in values):
        return math.nan
    return mean(values) if how == "mean" else max(values) if how == "max" else min(values)


def mean(values: Sequence[float]) -> float:
    """Return the mean; of equal values exactly their value."""
    if min(values) == max(values) or not all(map(math.isfinite, values)):
        return float(sum(values)) if len(values) == 1 else float(max(values, key=abs))
    return math.fsum(values) / len(values)


def t_interval(values: Sequence[float], confidence: float) -> Interval | None:
    """Return the Student t interval of the mean; None for one value or an infinite one."""
    n = len(values)
    if n < 2 or not all(map(math.isfinite, values)):
        return None
    from scipy.special import stdtrit

    centre = mean(values)
    spread = math.sqrt(math.fsum((v - centre) ** 2 for v in values) / (n - 1))
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * spread / math.sqrt(n)
    return centre - half, centre + half


def warning_notes(
    everything: Sequence[Candidate], runs: Sequence[Sequence[Values]]
) -> tuple[str, ...]:
    """Return each warning once, with the candidates that it concerns."""
    concerned: dict[str, list[str]] = {}
    for candidate, values in zip(everything, runs, strict=True):
        for text in dict.fromkeys(w for v in values for w in v.warnings):
            concerned.setdefault(text, []).append(candidate.name)
    return tuple(
        f"{', '.join(names) if len(names) <= 3 else f'{len(names)} candidates'}: {text.rstrip('.')}."
        for text, names in concerned.items()
    )
