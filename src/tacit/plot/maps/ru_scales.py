"""Places on a risk-utility map: axes, styles, and from risk and utility to pixels and back."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tacit.plot.parts import quantity
from tacit.plot.place import Spot
from tacit.plot.theme import PALETTE

if TYPE_CHECKING:
    from typing import TypeAlias

    from tacit.alternatives.comparison.result import Candidate
    from tacit.alternatives.rumap.points import Point

    Place: TypeAlias = Point | Candidate

WIDTH, HEIGHT = 600, 400
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")
#: A curve with more points than this is drawn as a line with a few markers.
DENSE = 25
#: Settings named along a dense curve.
NAMED = 6


@dataclass(frozen=True)
class Scales:
    """From risk and utility to pixels."""

    utility: tuple[float, float]
    risk: tuple[float, float]
    log_risk: bool = False
    reverse: bool = False
    width: int = WIDTH
    height: int = HEIGHT

    def x(self, utility: float) -> float:
        """Return the pixel of a utility."""
        low, high = self.utility
        share = (utility - low) / (high - low)
        return self.width * (1 - share if self.reverse else share)

    def y(self, risk: float) -> float:
        """Return the pixel of a risk; high risk is at the top."""
        low, high = self.risk
        if self.log_risk:
            low, high, risk = math.log10(low), math.log10(high), math.log10(risk)
        return self.height * (1 - (risk - low) / (high - low))

    def at(self, point: Place) -> Spot:
        """Return the pixels of a point."""
        return self.x(point.utility), self.y(point.risk)

    def back(self, at: Spot) -> tuple[float, float]:
        """Return utility and risk of a place in pixels."""
        share = at[0] / self.width
        low, high = self.utility
        utility = low + (1 - share if self.reverse else share) * (high - low)
        low, high = self.risk
        if self.log_risk:
            low, high = math.log10(low), math.log10(high)
        risk = low + (1 - at[1] / self.height) * (high - low)
        return utility, 10.0**risk if self.log_risk else risk

    def encoding(self, risk_label: str, utility_label: str) -> dict[str, Any]:
        """Return the two axes."""
        shown = {"domain": True, "ticks": True, "format": ",~r"}
        kind = {"type": "log"} if self.log_risk else {}
        ticks = {"values": log_ticks(*self.risk)} if self.log_risk else {"tickCount": 6}
        return {
            "x": quantity(
                "utility",
                utility_label,
                scale={"domain": list(self.utility), "nice": False, "reverse": self.reverse},
                axis={"tickCount": 6, **shown},
            ),
            "y": quantity(
                "risk",
                risk_label,
                scale={"domain": list(self.risk), "nice": False, **kind},
                axis={**ticks, **shown, "labelOverlap": not self.log_risk},
            ),
        }


@dataclass
class ShownMap:
    """What the layers are made from."""

    points: Sequence[Place]
    lines: Mapping[str, Sequence[Place]]
    frontier: Sequence[Place]
    reference: Place | None
    chosen: Place | None
    cap: float | None
    floor: float | None
    scales: Scales
    styles: Mapping[str, tuple[str, str]]
    unnamed: list[str] = field(default_factory=list)

    @property
    def marked(self) -> list[Place]:
        """Return the points that get a marker: all, but of a dense line only those to be named."""
        dense = {m: line for m, line in self.lines.items() if len(line) > DENSE}
        picked = {id(p) for line in dense.values() for p in space_along_curve(line, self.scales)}
        on_dense = {id(p) for line in dense.values() for p in line}
        return [
            p for p in self.points if id(p) not in on_dense or id(p) in picked or is_chosen(self, p)
        ]


def is_drawable(point: Place, *, log_risk: bool) -> bool:
    """Return True when a point has a place on the axes."""
    finite = math.isfinite(point.risk) and math.isfinite(point.utility)
    return finite and (point.risk > 0 or not log_risk)


def by_method(points: Sequence[Place]) -> dict[str, list[Place]]:
    """Return the points of each method in their order."""
    found: dict[str, list[Place]] = {}
    for p in points:
        found.setdefault(p.method, []).append(p)
    return found


def styles_of(points: Sequence[Place]) -> dict[str, tuple[str, str]]:
    """Return colour and shape of each method; both differ, so that grey print can be read."""
    return {
        m: (PALETTE[i % len(PALETTE)], SHAPES[(i + i // len(PALETTE)) % len(SHAPES)])
        for i, m in enumerate(by_method(points))
    }


def scales_of(
    points: Sequence[Place],
    reference: Place | None,
    cap: float | None,
    floor: float | None,
    log_risk: bool,
    upward: bool,
) -> Scales:
    """Return axes that hold everything, with some room."""
    everything = [*points, *([reference] if reference else [])]
    risks = [r for p in everything for r in (p.risk, *(p.risk_interval or ()))]
    utilities = [u for p in everything for u in (p.utility, *(p.utility_interval or ()))]
    risks += [] if cap is None else [cap]
    utilities += [] if floor is None else [floor]
    usable = [r for r in risks if math.isfinite(r) and (r > 0 or not log_risk)]
    if log_risk:
        low, high = (math.log10(v) for v in (min(usable, default=0.1), max(usable, default=1.0)))
        low, high = pad_range(low, high, 0.07)
        risk = (10.0**low, 10.0**high)
    else:
        low, high = min(usable, default=0.0), max(usable, default=1.0)
        risk = pad_range(low, high, 0.07)
        # An axis that would begin just below or above nought begins at it.
        if low >= 0 and low <= 0.25 * high:
            risk = (-0.07 * high, risk[1])
    known = [u for u in utilities if math.isfinite(u)]
    return Scales(
        pad_range(min(known, default=0.0), max(known, default=1.0), 0.09),
        risk,
        log_risk,
        not upward,
    )


def log_ticks(low: float, high: float) -> list[float]:
    """Return round numbers for a logarithmic axis: powers of ten, with 2 and 5 on a short one."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= 4 else (1,)
    found = [float(f"{s}e{e}") for e in range(first, last + 1) for s in steps]
    return [v for v in found if low <= v <= high]


def pad_range(low: float, high: float, room: float) -> tuple[float, float]:
    """Return a range with room on both sides."""
    if high == low:
        pad = abs(low) * 0.1 or 0.5
        return low - pad, high + pad
    return low - room * (high - low), high + room * (high - low)


def space_along_curve(line: Sequence[Place], scales: Scales) -> list[Place]:
    """Return a few points of a dense curve at equal distances along it."""
    spots = [scales.at(p) for p in line]
    steps = itertools.starmap(math.dist, itertools.pairwise(spots))
    along = list(itertools.accumulate(steps, initial=0.0))
    wanted = [along[-1] * i / (NAMED - 1) for i in range(NAMED)]
    return [line[min(range(len(line)), key=lambda i, w=w: abs(along[i] - w))] for w in wanted]  # type: ignore[misc]


def trace_frontier_corners(frontier: Sequence[Place]) -> list[tuple[float, float]]:
    """Return the corners of the frontier: from each point up to the next one's risk, then across."""
    corners: list[tuple[float, float]] = []
    for p in sorted(frontier, key=lambda p: p.risk):
        if corners:
            corners.append((corners[-1][0], p.risk))
        corners.append((p.utility, p.risk))
    return corners


def is_chosen(shown: ShownMap, point: Place) -> bool:
    """Return True for the chosen point."""
    c = shown.chosen
    return c is not None and (c.method, c.label) == (point.method, point.label)
