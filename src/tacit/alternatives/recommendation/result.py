"""Recommendation: plans ranked by utility under a cap on risk, with the reasons."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import pyarrow as pa

from tacit.alternatives.printing import csv_table, html_table, text_table
from tacit.alternatives.recommendation.words import Account, tell_reasons
from tacit.alternatives.rumap.points import Point
from tacit.alternatives.rumap.result import RUMapResult
from tacit.errors import Infeasible, InputError, explain_target
from tacit.plan import Plan
from tacit.result import Result, as_json_number
from tacit.storage.own_folders import refuse_files, write_whole

if TYPE_CHECKING:
    from tacit.alternatives.recommendation.search import Search, Task
    from tacit.plot.chart import Chart
    from tacit.release.release import Release
    from tacit.report.document import Document

#: What a recommendation writes into its folder, beside a plan for every choice.
FILES = ("recommendation.html", "map.svg", "map.png", "candidates.csv", "runner-up.yaml")


@dataclass(frozen=True)
class Choice:
    """One recommended plan."""

    #: Its place, from 1; 0 for one that another beats in both risk and utility.
    rank: int
    #: Where it lies on the map.
    point: Point
    #: The plan, ready to be saved and run; it refuses a release over the cap.
    plan: Plan
    #: What it offers, in a sentence.
    reason: str

    @property
    def name(self) -> str:
        """Return method and setting."""
        return self.point.name

    @property
    def risk(self) -> float:
        """Return the risk on the whole file."""
        return self.point.risk

    @property
    def utility(self) -> float:
        """Return the utility on the whole file."""
        return self.point.utility


@dataclass(frozen=True, repr=False)
class Recommendation(Result):
    """What a search recommends: plans under the cap that no other beats, the most useful first.

    Attributes
    ----------
    choices
        The frontier under the cap, best first; empty when nothing keeps it.
    runner_up
        The best that keeps the cap without all methods of the first choice.
    safe_already
        Whether the data keep the cap without protection; the plans then lower the risk further.
    reasons
        Why this one, what it costs, what the runner-up was, and how the search went.
    map
        The risk-utility map of everything measured on the whole file.
    """

    choices: tuple[Choice, ...] = ()
    runner_up: Choice | None = None
    safe_already: bool = False
    reasons: tuple[str, ...] = ()
    map: RUMapResult = field(default_factory=lambda: RUMapResult.from_points([]))

    @property
    def plans(self) -> list[Plan]:
        """Return the plans, best first."""
        return [c.plan for c in self.choices]

    @property
    def best(self) -> Choice | None:
        """Return the first choice; None when nothing keeps the cap."""
        return self.choices[0] if self.choices else None

    def release(self, choice: Choice | None = None, *, seed: int | None = None) -> Release:
        """Run a plan, by default the best, on the data to a release with numbers of its own."""
        chosen = choice or self.best
        if chosen is None:
            raise Infeasible(self.reasons[0])
        if self.map.maker is None:
            raise InputError("this recommendation has no data to release; run its plans")
        return self.map.maker.release(chosen.plan, seed)

    def plot(self) -> Chart:
        """Return the map: a curve per method, the cap, the frontier and the choice."""
        return self.map.plot(title=self.title)

    def document(self) -> Document:
        """Return the recommendation as a document, to be drawn as HTML, PDF or Word."""
        from tacit.report.map import recommendation_document

        return recommendation_document(self)

    def report(self) -> str:
        """Return the recommendation as a self-contained HTML page."""
        return self.document().to_html()

    def write(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write the page, the map, the table and a plan file for every choice into a folder.

        The plans name their files by absolute paths. All of it shows the settings of protection: keep it
        inside. Files of these names are refused; ``force`` replaces those of an earlier recommendation.
        """
        target = Path(folder)
        plans = refuse_replacing(target, force=force)
        with explain_target(target):
            target.mkdir(parents=True, exist_ok=True)
        chart = self.plot()
        chart.save_if_drawn(target / "map.svg")
        chart.save_if_drawn(target / "map.png")
        write_whole(target / "recommendation.html", self.report())
        write_whole(target / "candidates.csv", self.to_csv())
        for old in (*plans, "runner-up.yaml"):
            (target / old).unlink(missing_ok=True)
        for choice in self.choices:
            choice.plan.with_absolute_paths().save(target / f"plan-{choice.rank}.yaml")
        if self.runner_up is not None:
            self.runner_up.plan.with_absolute_paths().save(target / "runner-up.yaml")
        return target

    def to_csv(self) -> str:
        """Return every candidate as CSV text."""
        assert self.frame is not None
        return csv_table(self.frame.rows(named=True), self.frame.columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the recommendation as plain data."""
        assert self.frame is not None
        return {
            **super().to_dict(),
            "reasons": list(self.reasons),
            "table": as_json_number(self.frame.rows(named=True)),
        }

    def ranking(self) -> list[dict[str, Any]]:
        """Return the ranked frontier as rows."""
        return [
            {"rank": c.rank, "plan": c.name, "risk": c.risk, "utility": c.utility}
            for c in self.choices
        ]

    def __repr__(self) -> str:
        parts = [f"{self.title}\n{'-' * len(self.title)}", str(self.summary())]
        if self.choices:
            parts.append(text_table(self.ranking()))
        parts.append("\n".join(f"- {reason}" for reason in self.reasons))
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        ranked = html_table(self.ranking()) if self.choices else ""
        reasons = "".join(f"<li>{html.escape(reason)}</li>" for reason in self.reasons)
        title = html.escape(self.title)
        return f"<h4>{title}</h4>{self.summary()._repr_html_()}{ranked}<ul>{reasons}</ul>"


def make_result(
    task: Task,
    found: Search,
    choices: Sequence[Choice],
    runner_up: Choice | None,
    accounts: Mapping[str, Account],
) -> Recommendation:
    """Put the recommendation together."""
    best = choices[0] if choices else None
    records = len(task.data)
    evaluations = found.evaluations + len(accounts)
    reasons = tell_reasons(
        found, list(choices), runner_up, accounts, records=records, evaluations=evaluations
    )
    reference = found.map.reference
    is_safe = reference is not None and reference.risk <= task.cap
    title = f"Recommended: {best.name}" if best else "No candidate keeps the cap"
    return Recommendation(
        kind="recommendation",
        title="The data keep the cap as they are" if is_safe else title,
        value=best.utility if best else math.nan,
        numbers={
            "risk": found.map.risk_label,
            "utility": found.map.utility_label
            + ("" if found.map.higher_utility_is_better else " (less is better)"),
            "largest risk allowed": task.cap,
            "recommended": best.name if best else "none",
            "its risk": best.risk if best else None,
            "its utility": best.utility if best else None,
            **(
                {}
                if reference is None
                else {"risk unmasked": reference.risk, "utility unmasked": reference.utility}
            ),
            "runner-up": runner_up.name if runner_up else "none",
            "candidates": len(found.map.points) + len(found.trials),
            "of them on the whole file": len(found.map.points),
            "evaluations": evaluations,
        },
        frame=make_frame(found, choices, records),
        choices=tuple(choices),
        runner_up=runner_up,
        safe_already=is_safe,
        reasons=tuple(reasons),
        map=found.map,
    )


def make_frame(found: Search, choices: Sequence[Choice], records: int) -> nw.DataFrame[Any]:
    """Return one row per candidate: ranked ones first, then the rest of the file's, then those of samples."""
    ranks = {c.name: c.rank for c in choices}
    status = {(r["method"], r["label"]): r["status"] for r in found.map.rows()}
    rows = [
        (ranks.get(p.name), p, records, status[p.method, p.label], p.reason)
        for p in found.map.points
    ]
    rows.sort(key=lambda row: row[0] or math.inf)
    rows += [(None, t.point, t.records, "dropped on a sample", t.fate) for t in found.trials]
    table = {
        "rank": pa.array([r[0] for r in rows], pa.int64()),
        "method": pa.array([r[1].method for r in rows], pa.string()),
        "setting": pa.array([r[1].label for r in rows], pa.string()),
        "risk": pa.array([r[1].risk if r[1].has_result else None for r in rows], pa.float64()),
        "utility": pa.array([r[1].utility if r[1].has_result else None for r in rows], pa.float64()),
        "records": pa.array([r[2] for r in rows], pa.int64()),
        "status": pa.array([r[3] for r in rows], pa.string()),
        "reason": pa.array([r[4] for r in rows], pa.string()),
    }  # fmt: skip
    return nw.from_native(pa.table(table), eager_only=True)


def refuse_replacing(folder: Path, *, force: bool) -> list[str]:
    """Refuse a folder with files that a recommendation would replace; return the plans of an earlier one."""
    with explain_target(folder):
        found = sorted(p.name for p in folder.glob("plan-*.yaml"))
    plans = [name for name in found if re.fullmatch(r"plan-\d+\.yaml", name)]
    refuse_files(folder, [*FILES, *plans], "recommendation.html", force=force)
    return plans
