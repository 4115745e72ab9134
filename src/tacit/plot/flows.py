"""Flow pictures: how many subjects go from each node on the left to each node on the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.plot.chart import Chart
from tacit.plot.parts import SPOKEN, layer, sheet, short_number
from tacit.plot.theme import INK_SOFT, PALETTE, WARNING

WIDTH = 360
#: Height of the picture for each node on the fuller side.
STEP = 52
#: White space between nodes, as a share of the picture's height, shared out between them: usually,
#: and at most (where small nodes need room for their words).
SPACE, MOST_SPACE = 0.3, 0.75
#: Height of the words beside a node.
WORDS = 31
#: Points along a band; enough for a smooth curve.
POINTS = 25
#: A node's width, as a share of the picture's.
NODE = 0.03

TONES: Mapping[str, str] = {"risky": WARNING, "safe": PALETTE[0], "unsafe": WARNING}
#: The colour of a tone.
COLOUR = {
    "field": "tone",
    "type": "nominal",
    "scale": {"domain": list(TONES), "range": list(TONES.values())},
    "legend": None,
}


@dataclass(frozen=True)
class Node:
    """One node of a flow picture."""

    #: The first line beside the node.
    label: str
    #: The second line, smaller; may be empty.
    note: str = ""
    #: ``"safe"``, ``"risky"`` or ``"unsafe"``: what the colour says.
    tone: str = "safe"


def flows(
    left: Sequence[Node],
    right: Sequence[Node],
    links: Mapping[tuple[int, int], float],
    *,
    title: str,
    subtitle: str = "",
    unit: str = "subjects",
) -> Chart:
    """Return bands from left nodes to right nodes (from top to bottom), as wide as what flows.

    ``links`` says how many of a ``unit`` flow from left node i to right node j; a zero is drawn as a hair line, for a
    member that is named in a set without giving anybody to it.
    """
    sizes = [
        [sum(v for (i, _), v in links.items() if i == n) for n in range(len(left))],
        [sum(v for (_, j), v in links.items() if j == n) for n in range(len(right))],
    ]
    height = STEP * max(len(left), len(right), 2)
    space = max(space_for(side, height) for side in sizes)
    places = [stack_nodes(side, space) for side in sizes]
    layers = [
        layer(
            {"type": "area", "opacity": 0.38, "interpolate": "linear", "line": False},
            bands(left, links, places, (1 - space) / (sum(sizes[0]) or 1.0)),
            x=axis("x", [0, 1]),
            y=axis("low", [1, 0]),
            y2={"field": "high"},
            detail={"field": "band"},
            color=COLOUR,
        ),
        *side_layers(left, sizes[0], places[0], at=0.0, unit=unit),
        *side_layers(right, sizes[1], places[1], at=1.0, unit=unit),
    ]
    spec = sheet(title, subtitle, None, layers, (WIDTH, height))
    parts = []
    for j, node in enumerate(right[:SPOKEN]):
        sources = ", ".join(
            f"{short_number(size)} from {left[i].label}"
            for (i, to), size in sorted(links.items())
            if to == j
        )
        parts.append(f"{node.label} ({node.tone}) receives {sources or 'nobody'}")
    more = f" and {len(right) - SPOKEN} more" if len(right) > SPOKEN else ""
    return Chart(spec, f"Flow picture of {unit}: {title}. {'; '.join(parts)}{more}.")


def space_for(sizes: Sequence[float], height: float) -> float:
    """Return the share of white space with which the words beside nodes do not touch."""
    total, n = sum(sizes) or 1.0, len(sizes)
    smallest = min(sizes, default=total) / total
    # n gaps take the space: space / n + (1 - space) * smallest >= WORDS / height.
    needed = (WORDS / height - smallest) / (1 / n - smallest) if n and smallest < 1 / n else 0.0
    return min(MOST_SPACE, max(SPACE, needed))


def stack_nodes(sizes: Sequence[float], space: float = SPACE) -> list[tuple[float, float]]:
    """Return where each node begins and ends, from 0 (top) to 1."""
    total = sum(sizes) or 1.0
    gap = space / max(len(sizes), 1)
    scale = (1 - space) / total
    ends: list[tuple[float, float]] = []
    at = gap / 2
    for size in sizes:
        ends.append((at, at + size * scale))
        at += size * scale + gap
    return ends


def bands(
    left: Sequence[Node],
    links: Mapping[tuple[int, int], float],
    places: Sequence[Sequence[tuple[float, float]]],
    scale: float,
) -> list[dict[str, Any]]:
    """Return the outline of every band, point by point; ``scale`` is the height of one subject."""
    used_left = [start for start, _ in places[0]]
    used_right = [start for start, _ in places[1]]
    starts: dict[tuple[int, int], tuple[float, float]] = {}
    for i, j in sorted(links):
        starts[i, j] = (used_left[i], 0.0)
        used_left[i] += links[i, j] * scale
    for i, j in sorted(links, key=lambda link: (link[1], link[0])):
        starts[i, j] = (starts[i, j][0], used_right[j])
        used_right[j] += links[i, j] * scale
    rows = []
    for (i, j), (top_left, top_right) in starts.items():
        thick = max(links[i, j] * scale, 0.002)
        for step in range(POINTS):
            share = step / (POINTS - 1)
            bend = share * share * (3 - 2 * share)
            low = top_left + (top_right - top_left) * bend
            rows.append(
                {
                    "band": f"{i}-{j}",
                    "x": round(NODE + share * (1 - 2 * NODE), 5),
                    "low": round(low, 5),
                    "high": round(low + thick, 5),
                    "tone": left[i].tone,
                }
            )
    return rows


def side_layers(
    nodes: Sequence[Node],
    sizes: Sequence[float],
    places: Sequence[tuple[float, float]],
    *,
    at: float,
    unit: str,
) -> list[dict[str, Any]]:
    """Return the nodes of one side as bars, with their words outside."""
    first = at == 0.0
    rows = [
        {
            "from": at if first else at - NODE,
            "to": NODE if first else at,
            "low": round(low, 5),
            "high": round(max(high, low + 0.002), 5),
            "middle": round((low + high) / 2, 5),
            "tone": node.tone,
            "label": f"{node.label}: {short_number(size)} {unit}",
            "note": node.note,
        }
        for node, size, (low, high) in zip(nodes, sizes, places, strict=True)
    ]
    align, dx = ("right", -8) if first else ("left", 8)
    words = {"type": "text", "align": align, "dx": dx, "limit": 420}
    place = {"x": axis("from" if first else "to", [0, 1]), "y": axis("middle", [1, 0])}
    noted = [row for row in rows if row["note"]]
    return [
        layer(
            {"type": "rect"},
            rows,
            x=axis("from", [0, 1]),
            x2={"field": "to"},
            y=axis("low", [1, 0]),
            y2={"field": "high"},
            color=COLOUR,
        ),
        layer(words, [row for row in rows if not row["note"]], **place, text={"field": "label"}),
        layer({**words, "dy": -6}, noted, **place, text={"field": "label"}),
        layer(
            {**words, "dy": 7, "fontSize": 10, "color": INK_SOFT},
            noted,
            **place,
            text={"field": "note"},
        ),
    ]


def axis(field: str, domain: list[int]) -> dict[str, Any]:
    """Return a bare axis from 0 to 1."""
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"domain": domain, "nice": False, "zero": False},
        "axis": None,
    }
