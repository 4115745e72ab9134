"""Charts of an audit: how wide an attacker's intervals are, by cell or by code."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.plot.heat import Square, heat_map
from tacit.plot.parts import short_number

if TYPE_CHECKING:
    from tacit.tables.attack.audit import AuditResult

#: Codes of a dimension up to which a heat map can be read.
READABLE = 60
#: Bars at most.
BARS = 24
#: Relative widths from here on have one colour.
WIDEST = 2.0
TITLE = "Width of the attacker's intervals"
WORDS = "Interval width as a share of its middle"


def widths_chart(result: AuditResult) -> Chart:
    """Return a heat map for a two-way table that can be read, else bars."""
    if len(result.shape) == 2 and max(len(codes) for _, codes in result.shape) <= READABLE:
        return width_map(result)
    return code_bars(result) if result.shape else class_bars(result)


def width_map(result: AuditResult) -> Chart:
    """Return one square per cell: published ones pale, exposed ones framed."""
    (y_name, y_codes), (x_name, x_codes) = result.shape
    exposed = set(result.exposed)
    fields = [
        Square(codes[0], codes[1], min(share, WIDEST), *words_of(codes, share, codes in exposed))
        for codes, share in relative_widths(result)
    ]
    small = len(x_codes) <= 14
    first = "; ".join(f.said for f in fields[:12]) or "no cell is hidden"
    more = f"; and {len(fields) - 12} more" if len(fields) > 12 else ""
    return heat_map(
        fields,
        title=TITLE,
        subtitle=f"{WORDS}; pale: published, framed: exposed",
        x=x_name,
        y=y_name,
        rows=y_codes,
        columns=x_codes,
        step=(46, 26) if small else (16, 16),
        scale={"domain": [0, WIDEST], "scheme": "blues"},
        legend={"format": ".0%", "values": [0, 0.5, 1, 1.5, 2]},
        meaning="width",
        white=f"datum.value > {0.6 * WIDEST}",
        framed=sorted((f.row, f.column) for f in fields if (f.row, f.column) in exposed),
        ground=True,
        printed=small,
        angle=0 if len(x_codes) <= 10 else -45,
        alt=f"Heat map of interval widths, {y_name} by {x_name}. {WORDS}: {first}{more}.",
    )


def words_of(codes: Sequence[str], share: float, exposed: bool) -> tuple[str, str]:
    """Return what is printed in a cell and what is said of it."""
    text = f"{share:.0%}" if np.isfinite(share) else "no limit"
    printed = text if np.isfinite(share) else "∞"
    return printed, f"{' x '.join(codes)} {text}{', exposed' if exposed else ''}"


def code_bars(result: AuditResult) -> Chart:
    """Return the middle width of the intervals under each code of each dimension."""
    found: dict[tuple[int, str], list[float]] = {}
    for codes, share in relative_widths(result):
        for i, code in enumerate(codes):
            found.setdefault((i, code), []).append(min(share, WIDEST))
    items = [
        (f"{result.shape[i][0]}: {code}", float(np.median(shares)))
        for (i, code), shares in sorted(found.items(), key=lambda item: np.median(item[1]))[:BARS]
    ]
    note = f"{WORDS}, median by code, narrowest first (2 stands for 2 and more)"
    return bars(items or [("no hidden cells", 0.0)], title=TITLE, y="width", subtitle=note)


def class_bars(result: AuditResult) -> Chart:
    """Return how many intervals are how wide."""
    shares = np.array([share for _, share in relative_widths(result)])
    edges = [0.0, 1e-9, 0.1, 0.25, 0.5, 1.0, 2.0, np.inf]
    items = []
    for low, high in itertools.pairwise(edges):
        inside = (shares >= low) & ((shares < high) | (np.isinf(high) & (shares >= low)))
        name = (
            "exact"
            if high <= 1e-9
            else f"{short_number(low if low > 1e-9 else 0)} to "
            + ("no limit" if np.isinf(high) else short_number(high))
        )
        items.append((name, float(inside.sum())))
    return bars(items, title=TITLE, x=WORDS, y="cells")


def relative_widths(result: AuditResult) -> Iterable[tuple[tuple[str, ...], float]]:
    """Yield each cell's codes, and the width of its interval by its middle."""
    assert result.frame is not None
    names = [name for name, _ in result.shape] or ["cell"]
    for row in result.frame.iter_rows(named=True):
        middle = abs(row["high"] + row["low"]) / 2
        width = row["width"]
        share = (
            width / middle if np.isfinite(width) and middle > 0 else 0.0 if width == 0 else np.inf
        )
        yield tuple(row[n] for n in names), float(share)
