"""RUMapResult: a finished risk-utility map, from which a setting is chosen."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from tacit.alternatives.printing import csv_table, text_table
from tacit.alternatives.rumap import frontier as fronts
from tacit.alternatives.rumap.combined import Combination, combine
from tacit.alternatives.rumap.points import (
    Point,
    list_varying_parameters,
    row_of,
    table_of,
    with_interval,
)
from tacit.alternatives.rumap.surface import Surface, surface_of
from tacit.arrays import Flags, Floats
from tacit.errors import Infeasible, InputError, InvalidParameter, explain_target, near_match
from tacit.result import Result, as_json_number, format_number
from tacit.storage.own_folders import refuse_files, write_whole

if TYPE_CHECKING:
    from tacit.alternatives.rumap.ru_map import Maker
    from tacit.plan import Plan
    from tacit.plot.chart import Chart
    from tacit.release.release import Release
    from tacit.report.document import Document


#: What a map writes into its folder.
FILES = ("map.html", "map.svg", "map.png", "map.csv", "plan.yaml")


@dataclass(frozen=True, repr=False)
class RUMapResult(Result):
    """Risk and utility of every candidate, with the frontier and the means to choose.

    Made by :meth:`tacit.RUMap.run`, or from points of any origin with :meth:`from_points`.

    Attributes
    ----------
    points
        Every candidate in the order given, those without a result included.
    reference
        The data as they are: what no masking would give.
    risk_label, utility_label
        What the axes mean.
    max_risk, min_utility
        The cap on risk and the floor of utility.
    higher_utility_is_better
        False where the utility axis is a distortion.
    log_risk
        Draw risk on a logarithmic axis, and look for the knee there.
    plans
        The plan of each candidate, where there is one.
    notes
        What the reader of the map should know.
    maker
        The data, for :meth:`release`.
    choice
        A point chosen by other rules than cap, floor and knee, to be marked as the choice.

    References
    ----------
    Duncan, Keller-McNulty, Stokes (2001), Disclosure risk vs. data utility: the R-U confidentiality map,
    Technical Report 121, National Institute of Statistical Sciences.
    """

    points: tuple[Point, ...] = ()
    reference: Point | None = None
    risk_label: str = "disclosure risk"
    utility_label: str = "data utility"
    max_risk: float | None = None
    min_utility: float | None = None
    higher_utility_is_better: bool = True
    log_risk: bool = False
    plans: tuple[Plan, ...] = field(default=(), compare=False)
    notes: tuple[str, ...] = ()
    maker: Maker | None = field(default=None, compare=False)
    choice: Point | None = None

    @classmethod
    def from_points(
        cls,
        points: Sequence[Point],
        *,
        risk_label: str = "disclosure risk",
        utility_label: str = "data utility",
        reference: Point | None = None,
        max_risk: float | None = None,
        min_utility: float | None = None,
        higher_utility_is_better: bool = True,
        log_risk: bool = False,
        title: str = "Risk-utility map",
        plans: Sequence[Plan] = (),
        notes: Sequence[str] = (),
    ) -> RUMapResult:
        """Make a map from points, whatever they were computed by.

        Parameters
        ----------
        points
            The candidates; those of one curve share their ``method``.
        risk_label, utility_label
            What the axes mean.
        reference
            The data without masking.
        max_risk, min_utility
            Cap on risk, floor of utility (a ceiling where utility is a distortion).
        higher_utility_is_better
            False for a distortion.
        log_risk
            Draw risk on a logarithmic axis.
        title
            One line for headings.
        plans
            The plan of each point, in order, for :meth:`plan`.
        notes
            Sentences for the reader of the map.
        """
        given = tuple(points)
        check_points(given)
        if max_risk is not None and not max_risk >= 0:
            raise InvalidParameter("max_risk must be at least 0")
        draft = cls(
            kind="ru_map",
            title=title,
            value=math.nan,
            points=given,
            reference=reference,
            risk_label=risk_label,
            utility_label=utility_label,
            max_risk=max_risk,
            min_utility=min_utility,
            higher_utility_is_better=higher_utility_is_better,
            log_risk=log_risk,
            plans=tuple(plans),
            notes=tuple(notes),
        )
        return draft._finish_result()

    def _finish_result(self) -> RUMapResult:
        """Return the map with its value, numbers and table."""
        chosen = self.chosen
        return replace(
            self,
            value=chosen.utility if chosen else math.nan,
            numbers=self._numbers(chosen),
            frame=nw.from_native(table_of(self.rows()), eager_only=True),
            explanation=self._explanation(),
        )

    # -- frontier and choice ------------------------------------------------------------------

    @property
    def risks(self) -> Floats:
        """Return the risk of every point; NaN where there is no result."""
        return np.array([p.risk if p.has_result else math.nan for p in self.points], dtype=float)

    @property
    def utilities(self) -> Floats:
        """Return the utility of every point; NaN where there is no result."""
        return np.array([p.utility if p.has_result else math.nan for p in self.points], dtype=float)

    @property
    def frontier(self) -> tuple[Point, ...]:
        """Return the points that no other beats in both risk and utility, by rising risk."""
        return tuple(self.points[i] for i in fronts.pareto(self.risks, self._good(self.utilities)))

    @property
    def chosen(self) -> Point | None:
        """Return the choice under the map's own cap and floor (else the knee), or None if there is none."""
        if self.choice is not None:
            return self.choice
        try:
            return self.choose()
        except Infeasible:
            return None

    def choose(
        self,
        *,
        max_risk: float | None = None,
        min_utility: float | None = None,
        knee: bool = False,
        weight: float | None = None,
        cautious: bool = False,
    ) -> Point:
        """Choose a setting.

        With a cap: the largest utility among the points whose risk is at most the cap. With a floor
        alone: the least risk among the points whose utility is at least the floor. With neither, or with
        ``knee=True``: the knee of the frontier, the point farthest from the chord between its ends, both
        axes scaled to the frontier's range. With ``weight``: the largest
        ``(1 - weight) * utility - weight * risk``, both axes scaled to the range of the points. Cap and
        floor, those of the map included, restrict the knee and the weighted objective as well.

        Parameters
        ----------
        max_risk, min_utility
            Override the map's own cap and floor.
        knee
            Choose the knee among what cap and floor allow.
        weight
            Weight of risk against utility, from 0 (utility alone) to 1 (risk alone).
        cautious
            Judge cap and floor by the unfavourable end of the confidence intervals.

        Raises
        ------
        Infeasible
            When no point satisfies the cap and the floor.
        """
        if knee and weight is not None:
            raise InvalidParameter("choose: give knee or weight, not both")
        if weight is not None and not 0 <= weight <= 1:
            raise InvalidParameter("choose: weight must lie between 0 and 1")
        cap = self.max_risk if max_risk is None else max_risk
        floor = self.min_utility if min_utility is None else min_utility
        allowed = self._allowed(cap, floor, cautious=cautious)
        risk = np.where(allowed, self.risks, math.nan)
        utility = np.where(allowed, self._good(self.utilities), math.nan)
        scaled = risk
        if self.log_risk:  # what has no logarithm is left out
            scaled = np.log10(risk, out=np.full(len(risk), math.nan), where=risk > 0)
        found: int | None
        if weight is not None:
            found = fronts.find_weighted_optimum(scaled, utility, weight)
        elif knee or (cap is None and floor is None):
            found = fronts.knee(scaled, utility)
        elif cap is not None:
            found = fronts.least(-utility, risk)
        else:
            found = fronts.least(risk, -utility)
        if found is None:
            raise Infeasible(self._explain_no_choice(cap, floor))
        return self.points[found]

    def _allowed(self, cap: float | None, floor: float | None, *, cautious: bool) -> Flags:
        """Return which points have a result and keep to the cap and the floor."""
        risk, utility = self.risks, self._good(self.utilities)
        if cautious:
            risk = np.array(
                [take_worst_end(p.risk, p.risk_interval, max) for p in self.points], dtype=float
            )
            bad = min if self.higher_utility_is_better else max
            utility = self._good(
                np.array(
                    [take_worst_end(p.utility, p.utility_interval, bad) for p in self.points], float
                )
            )
        known = ~np.isnan(self.risks)
        known &= True if cap is None else risk <= cap
        if floor is not None:
            known &= utility >= float(self._good(np.array([floor]))[0])
        return known

    def _good(self, utility: Floats) -> Floats:
        """Return utility turned so that higher is better."""
        return utility if self.higher_utility_is_better else -utility

    def _explain_no_choice(self, cap: float | None, floor: float | None) -> str:
        """Say why nothing can be chosen, and what comes nearest."""
        with_result = [p for p in self.points if p.has_result]
        if not with_result:
            return "no candidate gave a result; the reasons are in the map's table"
        wanted = [f"risk at most {format_number(float(cap))}"] if cap is not None else []
        if floor is not None:
            side = "at least" if self.higher_utility_is_better else "at most"
            wanted.append(f"utility {side} {format_number(float(floor))}")
        safest = min(with_result, key=lambda p: p.risk)
        return (
            f"no candidate has {' and '.join(wanted) or 'finite risk and utility'}; the least risky, "
            f"{safest.name}, has risk {format_number(safest.risk)} and utility "
            f"{format_number(safest.utility)}. Add stronger candidates, or move the cap or the floor."
        )

    def plan(self, choice: Point | None = None) -> Plan:
        """Return the plan of a point; by default of the one chosen."""
        point = self.choose() if choice is None else choice
        if not self.plans:
            raise InputError("this map was made from points, so it has no plans to run")
        return self.plans[self.index(point)]

    def release(self, choice: Point | None = None, *, seed: int | None = None) -> Release:
        """Run the plan of a point, by default of the one chosen, to a release.

        A step that depends on chance is redrawn, with numbers that no point of the map has: the map's
        candidates share theirs, and two of them side by side would give the noise away. The release
        measures itself; it differs from the point by chance, within the point's interval where the map has
        replicates. A given ``seed`` is for study.
        """
        point = self.choose() if choice is None else choice
        if self.maker is None:
            raise InputError("this map was made from points, so it has no data to release")
        return self.maker.release(self.plan(point), seed)

    def index(self, point: Point) -> int:
        """Return the position of a point by method and label."""
        for i, other in enumerate(self.points):
            if (other.method, other.label) == (point.method, point.label):
                return i
        raise InputError(f"the map has no point {point.name!r}")

    # -- curves, surfaces ------------------------------------------------------------------------

    @property
    def methods(self) -> tuple[str, ...]:
        """Return the names of the curves."""
        return tuple(dict.fromkeys(p.method for p in self.points))

    def curve(self, method: str) -> tuple[Point, ...]:
        """Return the points of one method, in the order given."""
        found = tuple(p for p in self.points if p.method == method)
        if not found:
            hint = near_match(method, self.methods)
            raise InputError(f"the map has no method {method!r}. {hint}".strip())
        return found

    def envelope(self, method: str) -> tuple[Point, ...]:
        """Return the frontier of one method's own points: its best settings over all its parameters."""
        return replace(self, points=self.curve(method)).frontier

    def curves(self) -> dict[str, tuple[Point, ...]]:
        """Return the points that each method's line runs through.

        One varying number makes a curve; several make a cloud, whose line is its envelope; settings that
        differ otherwise are not joined.
        """
        found: dict[str, tuple[Point, ...]] = {}
        for method in self.methods:
            points = self.curve(method)
            names = list_varying_parameters(points)
            numeric = names and all(
                isinstance(p.parameters.get(n), int | float) for p in points for n in names
            )
            found[method] = (
                () if not numeric else points if len(names) == 1 else self.envelope(method)
            )
        return found

    def surface(self, method: str, x: str | None = None, y: str | None = None) -> Surface:
        """Return risk and utility of a method over two of its parameters, as a grid.

        Settings that differ in further parameters are represented by the best utility of each cell's
        envelope; a cell without a setting is NaN.
        """
        points = self.curve(method)
        names = list_varying_parameters(points)
        first, second = (x, y) if x and y else (x or next(iter(names), ""), y)
        second = second or next((n for n in names if n != first), "")
        for name in (first, second):
            if name not in names:
                raise InvalidParameter(
                    f"surface: {method} varies in {', '.join(names) or 'no parameter'}; "
                    "a surface needs two of them"
                )
        return surface_of(points, first, second, self)

    def combine(
        self,
        *others: RUMapResult,
        how: Combination = "mean",
        weights: Sequence[float] | None = None,
    ) -> RUMapResult:
        """Combine this map with others of the same candidates; see :func:`combine`."""
        return combine((self, *others), how=how, weights=weights)

    # -- showing -----------------------------------------------------------------------------------

    def rows(self) -> list[dict[str, Any]]:
        """Return the table of the map, one dictionary per candidate."""
        front = {p.name for p in self.frontier}
        chosen = self.chosen
        rows = [] if self.reference is None else [row_of(self.reference, "reference")]
        for point in self.points:
            status = "frontier" if point.name in front else ""
            if chosen is not None and point.name == chosen.name:
                status = "chosen"
            elif self.max_risk is not None and point.risk > self.max_risk:
                status = "over the cap"
            rows.append(row_of(point, "no result" if not point.has_result else status))
        details = dict.fromkeys(name for row in rows for name in row["detail"])
        return [
            {
                **{k: v for k, v in row.items() if k not in ("detail", "reason")},
                **{n: row["detail"].get(n) for n in details},
                "reason": row["reason"],
            }
            for row in rows
        ]

    def to_csv(self) -> str:
        """Return the table as CSV text."""
        rows = self.rows()
        return csv_table(rows, list(rows[0]) if rows else ["method"])

    def to_dict(self) -> dict[str, Any]:
        """Return the map as plain data."""
        return {**super().to_dict(), "table": as_json_number(self.rows())}

    def plot(
        self,
        *,
        title: str | None = None,
        interactive: bool = False,
        size: tuple[int, int] | None = None,
    ) -> Chart:
        """Return the map: a curve per method, settings along it, cap, floor, frontier and reference."""
        from tacit.plot.maps.ru_map import ru_chart

        return ru_chart(
            self.points,
            risk_label=self.risk_label,
            utility_label=self.utility_label,
            cap=self.max_risk,
            floor=self.min_utility,
            frontier=self.frontier,
            reference=self.reference,
            chosen=self.chosen,
            curves=self.curves(),
            log_risk=self.log_risk,
            higher_utility_is_better=self.higher_utility_is_better,
            title=self.title if title is None else title,
            interactive=interactive,
            size=size,
        )

    def report(self) -> str:
        """Return the map as a self-contained HTML page, interactive and readable offline."""
        return self.document().to_html()

    def document(self) -> Document:
        """Return the map as a document, to be drawn as HTML, PDF or Word."""
        from tacit.report.map import map_document

        return map_document(self)

    def write(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write ``map.html``, ``map.svg``, ``map.png``, ``map.csv`` and the chosen plan into a folder.

        ``plan.yaml`` has no seed: the release draws its own. It is not written where nothing can be chosen. Files of
        these names are refused; ``force`` replaces those of an earlier map.
        """
        target = Path(folder)
        refuse_files(target, FILES, "map.html", force=force)
        with explain_target(target):
            target.mkdir(parents=True, exist_ok=True)
        chart = self.plot()
        chart.save_if_drawn(target / "map.svg")
        chart.save_if_drawn(target / "map.png")
        write_whole(target / "map.csv", self.to_csv())
        write_whole(target / "map.html", self.report())
        (target / "plan.yaml").unlink(missing_ok=True)
        if self.plans and self.chosen is not None:
            self.plan(self.chosen).with_absolute_paths().with_(seed=None).save(target / "plan.yaml")
        return target

    def _numbers(self, chosen: Point | None) -> dict[str, Any]:
        """Return the few numbers of the summary."""
        missing = sum(not p.has_result for p in self.points)
        floor = "least utility" if self.higher_utility_is_better else "largest distortion"
        return {
            "candidates": len(self.points),
            **({"without a result": missing} if missing else {}),
            "methods": len(self.methods),
            "on the frontier": ", ".join(p.name for p in self.frontier) or "none",
            **({} if self.max_risk is None else {"largest risk allowed": self.max_risk}),
            **({} if self.min_utility is None else {f"{floor} allowed": self.min_utility}),
            "chosen": chosen.name if chosen else "none",
            "its risk": chosen.risk if chosen else None,
            "its utility": chosen.utility if chosen else None,
            **({} if self.reference is None else {"utility unmasked": self.reference.utility}),
        }

    def _explanation(self) -> str:
        better = "" if self.higher_utility_is_better else " (a distortion: less is better)"
        how = (
            "the largest utility under the cap on risk"
            if self.max_risk is not None
            else "the least risk above the floor of utility"
            if self.min_utility is not None
            else "the knee of the frontier"
        )
        text = f"Risk is {self.risk_label}; utility is {self.utility_label}{better}. Chosen: {how}."
        return " ".join([text, *self.notes])

    def __repr__(self) -> str:
        return f"{super().__repr__()}\n\n{self.text_table()}"

    def text_table(self) -> str:
        """Return the map as aligned text."""
        everything = [*([self.reference] if self.reference else []), *self.points]
        shown = [
            {
                "candidate": point.name,
                "risk": with_interval(point.risk, point.risk_interval) if has else "-",
                "utility": with_interval(point.utility, point.utility_interval) if has else "-",
                "": point.reason or row["status"],
            }
            for point, row in zip(everything, self.rows(), strict=True)
            for has in (point.has_result,)
        ]
        return text_table(shown) if shown else "candidate  risk  utility"

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>"
            + "".join(f"<td>{html.escape(format_number(v))}</td>" for v in r.values())
            + "</tr>"
            for r in self.rows()
        )
        head = "".join(f"<th>{html.escape(n)}</th>" for n in (self.rows() or [{}])[0])
        return f"{super()._repr_html_()}<table><tr>{head}</tr>{rows}</table>"


# -- parts ---------------------------------------------------------------------------------------------


def check_points(points: Sequence[Point]) -> None:
    """Refuse points that cannot be told apart."""
    seen: set[tuple[str, str]] = set()
    for p in points:
        if (p.method, p.label) in seen:
            raise InputError(f"the map has two points {p.name!r}; give each setting its own label")
        seen.add((p.method, p.label))


def take_worst_end(value: float, interval: tuple[float, float] | None, pick: Any) -> float:
    """Return the unfavourable end of an interval; the value where there is none."""
    return float(pick(interval)) if interval else value
