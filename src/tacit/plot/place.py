"""Where words go on a chart: beside their points, on top of nothing.

Vega-Lite does not move labels out of each other's way, so they are placed here, in pixels, greedily and
in order of importance; a label without a free place is left out (the tooltip still has it).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

Align = Literal["left", "center", "right"]
Spot = tuple[float, float]
Box = tuple[float, float, float, float]

#: Width of a character relative to the font size, on average, for the fonts of the theme.
EM = 0.6
#: Directions to try, best first: unit steps to the right and down.
AROUND = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))


@dataclass(frozen=True)
class Placed:
    """A label with its offset from the point, in pixels."""

    text: str
    dx: float
    dy: float
    align: Align


@dataclass
class Canvas:
    """The plot area and what is on it already."""

    width: float
    height: float
    hard: list[Box] = field(default_factory=list)
    soft: list[Box] = field(default_factory=list)

    def mark(self, at: Spot, radius: float = 5.0) -> None:
        """Keep words off a marker."""
        x, y = at
        self.hard.append((x - radius, y - radius, x + radius, y + radius))

    def line(self, path: Sequence[Spot], *, hard: bool = False) -> None:
        """Keep words off a line where possible; always, if ``hard``."""
        for (x0, y0), (x1, y1) in itertools.pairwise(path):
            n = max(1, int(np.hypot(x1 - x0, y1 - y0) / 4))
            for t in np.linspace(0, 1, n + 1):
                x, y = x0 + t * (x1 - x0), y0 + t * (y1 - y0)
                (self.hard if hard else self.soft).append((x - 1, y - 1, x + 1, y + 1))

    def place(
        self,
        text: str,
        spots: Iterable[Spot],
        *,
        size: float = 10.0,
        gaps: Sequence[float] = (8.0, 13.0),
        own: float = 5.0,
        clutter: int = 1000,
    ) -> tuple[int, Placed] | None:
        """Return the number of the spot that the label stands at, and the label; None without room.

        ``own`` is the radius of the spot's own marker, which the label may touch but not cover;
        ``clutter`` is how many four-pixel pieces of lines it may cover.
        """
        width, height = text_width(text, size), size * 1.15
        best: tuple[float, int, Placed, Box] | None = None
        for i, (x, y) in enumerate(spots):
            for rank, (gap, (right, down)) in enumerate((g, d) for g in gaps for d in AROUND):
                dx, dy = offset(right, down, gap, height)
                align: Align = "left" if right > 0 else "right" if right < 0 else "center"
                box = box_of(x + dx, y + dy, width, height, align)
                if not self.free(box, (x, y), own):
                    continue
                covered = sum(overlaps(box, line) for line in self.soft)
                cost = i * 3 + rank + 6 * covered
                if covered <= clutter and (best is None or cost < best[0]):
                    best = (cost, i, Placed(text, dx, dy, align), box)
        if best is None:
            return None
        self.hard.append(best[3])
        return best[1], best[2]

    def free(self, box: Box, spot: Spot, own: float) -> bool:
        """Return True when a box is inside the area and on top of nothing but the lines."""
        left, top, right, bottom = box
        if left < 2 or top < 2 or right > self.width - 2 or bottom > self.height - 2:
            return False
        x, y = spot
        core = (x - own + 1, y - own + 1, x + own - 1, y + own - 1)
        roomy = (left - 2, top, right + 2, bottom)
        return not overlaps(box, core) and not any(overlaps(roomy, other) for other in self.hard)


def text_width(text: str, size: float) -> float:
    """Return about how wide a text is."""
    narrow = sum(text.count(c) for c in ".,:;il|!' ")
    return EM * size * (len(text) - 0.45 * narrow)


def offset(right: float, down: float, gap: float, height: float) -> Spot:
    """Return how far from the point a label stands in a direction."""
    if right and down:
        return right * gap * 0.6, down * (gap * 0.45 + height / 2)
    return right * gap, down * (gap * 0.7 + height / 2)


def box_of(x: float, y: float, width: float, height: float, align: Align) -> Box:
    """Return the box of a text whose anchor is at (x, y), middle of its height."""
    left = x - {"left": 0.0, "center": width / 2, "right": width}[align]
    return (left, y - height / 2, left + width, y + height / 2)


def overlaps(one: Box, two: Box) -> bool:
    """Return True when two boxes share an area."""
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]
