"""The search: candidates on samples, the better ones in full. A heuristic; only the whole file decides."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tacit.alternatives.recommendation.halving import (
    Quotas,
    combine_best,
    draw_sample,
    find_neighbours,
    is_blind,
    pick_survivors,
    sample_sizes,
    share_out,
    take_turns,
)
from tacit.alternatives.recommendation.proposals import Proposal, faults_of
from tacit.alternatives.rumap.evaluate import gauges_of, label_of
from tacit.alternatives.rumap.points import Point
from tacit.alternatives.rumap.result import RUMapResult
from tacit.alternatives.rumap.ru_map import RUMap
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.errors import Infeasible
from tacit.events import Event
from tacit.plan import Plan
from tacit.spec import Method

#: Neighbours that are tried at a time.
STEP = 4


@dataclass(frozen=True)
class Task:
    """What is asked for."""

    #: The data.
    data: Microdata
    #: risk, utility, cap: the measures, as a map takes them, and the largest risk allowed.
    risk: Any
    utility: Any
    cap: float
    #: Steps that come first in every candidate.
    before: tuple[Method, ...] = ()
    #: The plan whose source, roles, hierarchies and output go into the plans.
    template: Plan = field(default_factory=Plan)
    register: Any = None
    budget: int = 100
    replicates: int = 1
    workers: int | None = None

    @property
    def risk_names(self) -> tuple[str, ...]:
        """Return the names of several measures of risk, under which points keep each; of one, nothing."""
        gauges = gauges_of(self.risk, "risk")
        return tuple(map(label_of, gauges)) if len(gauges) > 1 else ()

    def map_of(self, proposals: Sequence[Proposal], *, replicates: int = 1) -> RUMap:
        """Return the map of some proposals."""
        curves: dict[str, list[Plan]] = {}
        for p in proposals:
            curves.setdefault(p.method, []).append(Plan(p.steps, title=p.label))
        return RUMap(
            curves,
            self.risk,
            self.utility,
            replicates=replicates,
            max_risk=self.cap,
            workers=self.workers,
            before=self.before,
            register=self.register,
            template=self.template,
            title="Candidates measured on the whole file",
        )


@dataclass(frozen=True)
class Trial:
    """One candidate on some of the records."""

    proposal: Proposal
    point: Point
    records: int
    fate: str = ""


@dataclass
class Search:
    """Successive halving over samples of the file, and what it found."""

    task: Task
    context: Context
    left_out: dict[str, str] = field(default_factory=dict)
    #: The last measurement of every candidate that did not get to the whole file, with its fate.
    trials: list[Trial] = field(default_factory=list)
    #: How often data were protected and measured.
    evaluations: int = 0
    #: Methods that the measure of risk does not see.
    blind: set[str] = field(default_factory=set)
    #: Share of the work done, for progress.
    done: float = 0.0
    #: Everything that was measured on the whole file.
    map: RUMapResult = field(init=False)
    proposals: list[Proposal] = field(default_factory=list)
    #: Sizes of the samples.
    samples: tuple[int, ...] = ()
    #: Settings that the budget left no room for.
    untried: int = 0

    def run(self, proposals: Sequence[Proposal]) -> Search:
        """Find what can be measured on the whole file, and what becomes of the rest."""
        data, n = self.task.data, len(self.task.data)
        sizes = sample_sizes(n)
        quotas = share_out(self.task.budget, len(sizes), self.task.replicates)
        samples = [draw_sample(data, s, self.context.seed, i) for i, s in enumerate(sizes)]
        if samples:
            shown, first = self.explore(proposals, samples[0], quotas, 0.4)
            if len(samples) > 1:
                shown = self.keep(shown, first, quotas.middle, len(samples[0]))
                first = self.measure(shown, samples[1], 0.6)
            shown = self.keep(shown, first, quotas.full, len(samples[-1]))
            found = self.measure(shown, data, 0.9, self.task.replicates)
        else:
            shown, found = self.explore(proposals, data, quotas, 0.9, self.task.replicates)
        self.proposals, self.map = self.climb(proposals, shown, found, quotas.climb)
        there = {p.name for p in self.proposals}
        tried = there | {t.proposal.name for t in self.trials}
        self.trials = [t for t in self.trials if t.proposal.name not in there]
        self.untried = sum(p.name not in tried and p.method not in self.blind for p in proposals)
        self.samples = tuple(len(s) for s in samples)
        return self

    def explore(
        self,
        proposals: Sequence[Proposal],
        data: Microdata,
        quotas: Quotas,
        share: float,
        replicates: int = 1,
    ) -> tuple[list[Proposal], RUMapResult]:
        """Measure one setting of each method, further settings of those that matter, then combinations."""
        room = min(quotas.singles, len({p.method for p in proposals}))
        probes = take_turns(proposals, room)
        found = self.measure(probes, data, share / 3, replicates)
        if found.reference is None and not any(p.has_result for p in found.points):
            raise Infeasible(
                f"no candidate gave a result; the first says: {found.points[0].reason}"
            )
        self.blind |= {
            p.method
            for p in found.points
            if p.has_result and is_blind(p, found.reference, self.task.risk_names)
        }
        useful = [p for p in proposals if p.method not in self.blind]
        more = take_turns(useful, quotas.singles - room, without=probes)
        shown, found = self.add(probes, found, more, data, 2 * share / 3, replicates)
        pairs = combine_best(
            shown,
            found.points,
            found.reference,
            quotas.pairs,
            self.task.cap,
            higher=found.higher_utility_is_better,
            risks=self.task.risk_names,
        )
        return self.add(shown, found, pairs, data, share, replicates)

    def add(
        self,
        shown: Sequence[Proposal],
        found: RUMapResult,
        more: Sequence[Proposal],
        data: Microdata,
        until: float,
        replicates: int,
    ) -> tuple[list[Proposal], RUMapResult]:
        """Measure more proposals on the same records and put them on the same map."""
        fit = []
        for proposal in more:
            if clauses := faults_of(proposal, data):
                self.left_out[proposal.name] = clauses[0]
            else:
                fit.append(proposal)
        if not fit:
            return list(shown), found
        return [*shown, *fit], merge(found, self.measure(fit, data, until, replicates))

    def climb(
        self,
        proposals: Sequence[Proposal],
        shown: list[Proposal],
        found: RUMapResult,
        most: int,
    ) -> tuple[list[Proposal], RUMapResult]:
        """Try neighbours of the best, and of what is just above the cap, on the whole file; then again."""
        usable = [p for p in proposals if p.name not in self.left_out]
        while True:
            known = {p.name for p in shown} | set(self.left_out)
            # The most useful of the frontier under the cap, and the safest above it.
            under = [p for p in found.frontier if p.risk <= self.task.cap]
            over = [p for p in found.frontier if p.risk > self.task.cap]
            lists = [
                [p for p in find_neighbours(shown[found.index(point)], usable) if p.name not in known]
                for point in (*under[-1:], *over[:1])
            ]  # fmt: skip
            turns = itertools.chain.from_iterable(itertools.zip_longest(*lists))
            near = list({p.name: p for p in turns if p is not None}.values())
            room = (most - 1) // self.task.replicates
            if not near or room < 1:
                return shown, found
            spent = self.evaluations
            # A few at a time: what they show decides where to go next.
            shown, found = self.add(
                shown, found, near[: min(room, STEP)], self.task.data, 1.0, self.task.replicates
            )
            most -= self.evaluations - spent

    def measure(
        self, proposals: Sequence[Proposal], data: Microdata, until: float, replicates: int = 1
    ) -> RUMapResult:
        """Measure proposals on some records; the points come in the order of the proposals."""
        n = len(data)
        stretch = self.context.work.between(self.done, until)

        def hear(event: Event) -> None:
            stretch.hear(replace(event, text=f"{event.text} on {n:,} records"))

        made, ctx = self.task.map_of(proposals, replicates=replicates), self.context
        found = made.run(data, seed=ctx.seed, on_event=hear, should_stop=ctx.should_stop)
        self.done = until
        self.evaluations += 1 + sum(p.replicates for p in found.points)
        return in_order(found, proposals)

    def keep(
        self, proposals: Sequence[Proposal], found: RUMapResult, most: int, records: int
    ) -> list[Proposal]:
        """Return the candidates that go on, in the order proposed; note what becomes of the others."""
        reference, cap = found.reference, self.task.cap
        useless = [
            p.has_result and reference is not None and p.risk >= reference.risk > cap
            for p in found.points
        ]
        rest = [i for i, none in enumerate(useless) if not none]
        picked = pick_survivors(
            [found.points[i] for i in rest], most, cap, higher=found.higher_utility_is_better
        )
        if not picked:  # nothing helps, so the whole file shall say it
            rest = list(range(len(found.points)))
            picked = pick_survivors(found.points, most, cap, higher=found.higher_utility_is_better)
        if not picked:
            raise Infeasible(
                f"no candidate gave a result; the first says: {found.points[0].reason}"
            )
        kept = {rest[i] for i in picked}
        for i, (proposal, point) in enumerate(zip(proposals, found.points, strict=True)):
            if i not in kept:
                fate = (
                    point.reason
                    or ("it does not lower the risk" if useless[i] else "others did better there")
                )  # fmt: skip
                self.trials.append(Trial(proposal, point, records, fate))
        return [p for i, p in enumerate(proposals) if i in kept]


def in_order(found: RUMapResult, proposals: Sequence[Proposal]) -> RUMapResult:
    """Return a map with its points in the order of the proposals; a map groups them by curve."""
    places = {(p.method, p.label): i for i, p in enumerate(found.points)}
    order = [places[p.method, p.label] for p in proposals]
    return replace(
        found,
        points=tuple(found.points[i] for i in order),
        plans=tuple(found.plans[i] for i in order),
    )


def merge(first: RUMapResult, second: RUMapResult) -> RUMapResult:
    """Return two maps of the same data, measures and seed as one."""
    return replace(
        first,
        points=(*first.points, *second.points),
        plans=(*first.plans, *second.plans),
        notes=tuple(dict.fromkeys([*first.notes, *second.notes])),
    )._finish_result()
