"""Heat maps: one coloured field for each row and column, with its number in print."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.plot.chart import Chart
from tacit.plot.parts import SPOKEN, category, layer, list_parts, percent, quantity, sheet
from tacit.plot.theme import INK, PALETTE, TRACK, WARNING

#: Columns up to which numbers fit into the fields of a map of changes.
PRINTED = 12


@dataclass(frozen=True)
class Square:
    """One field of a map: its place, its value, what is printed and what is said."""

    row: str
    column: str
    value: float
    text: str = ""
    said: str = ""


def heat_map(
    fields: Iterable[Square],
    *,
    title: str,
    scale: Mapping[str, Any],
    subtitle: str = "",
    x: str = "",
    y: str = "",
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    step: tuple[float, float] = (44, 32),
    white: str = "false",
    legend: Mapping[str, Any] | None = None,
    meaning: str = "",
    grey: Collection[str] = (),
    framed: Collection[tuple[str, str]] = (),
    ground: bool = False,
    printed: bool = True,
    on_top: bool = False,
    angle: int | None = 0,
    alt: str = "",
) -> Chart:
    """Return a map of coloured fields; rows and columns stand in the order of the fields where none is given.

    ``scale`` is that of the colours (``domain`` and ``scheme`` or ``range``), ``meaning`` the title of their ``legend``;
    ``white`` is a test of ``datum.value`` that says when numbers are printed in white. Columns in ``grey`` are of another
    kind and stay grey, the fields (row, column) in ``framed`` get a frame, and with ``ground`` empty fields are drawn, too.
    ``on_top`` and ``angle`` say where the names of columns stand, and how they are turned.
    """
    given = list(fields)
    down = list(rows or dict.fromkeys(f.row for f in given))
    across = list(columns or dict.fromkeys(f.column for f in given))
    values = [
        {
            "row": f.row,
            "column": f.column,
            "value": f.value,
            "text": f.text,
            "grey": f.column in grey,
        }
        for f in given
    ]
    fill = quantity(
        "value", meaning, scale=dict(scale), legend=None if legend is None else dict(legend)
    )
    fill["condition"] = {"test": "datum.grey", "value": TRACK}
    ink = {"condition": {"test": f"!datum.grey && ({white})", "value": "white"}, "value": INK}
    bad = [{"row": r, "column": c} for r, c in framed]
    empty = [{"row": r, "column": c} for r in down for c in across]
    field: dict[str, Any] = {"type": "rect", "stroke": "white", "strokeWidth": 1.5}
    faint = {**field, "color": TRACK, "opacity": 0.5}
    frame = {"type": "rect", "filled": False, "stroke": WARNING, "strokeWidth": 2.5}
    number = layer({"type": "text", "fontSize": 10}, text={"field": "text"}, color=ink)
    layers: list[dict[str, Any]] = [
        *([{"data": {"values": empty}, "mark": faint}] if ground else []),
        {"mark": field, "encoding": {"color": fill}},
        *([{"data": {"values": bad}, "mark": frame}] if bad else []),
        *([number] if printed else []),
    ]
    head: dict[str, Any] = {"labelAngle": angle, "labelLimit": 120, "domain": False}
    head |= {"orient": "top"} if on_top else {}
    axes = {
        "x": category("column", x, across, axis=head),
        "y": category("row", y, down, axis={"domain": False}),
    }
    size = ({"step": step[0]}, {"step": step[1]})
    spec = sheet(title, subtitle, values, layers, size, **axes)
    said = list_parts((f.said or f"{f.row}, {f.column}: {f.text}" for f in given), 3 * SPOKEN)
    return Chart(spec, alt or f"{title}. {said}.")


def change_map(
    columns: Sequence[str], changes: Iterable[tuple[str, str, float]], *, title: str, subtitle: str
) -> Chart:
    """Return changes between pairs of columns: blue where lost, orange where gained."""
    found = [Square(a, b, v, format_signed(v)) for a, b, v in changes]
    size = max([0.01, *(abs(f.value) for f in found)])
    few = len(columns) <= PRINTED
    step = 56 if few else max(12, 520 // len(columns))
    worst = max(found, key=lambda f: abs(f.value), default=Square("", "", 0.0))
    return heat_map(
        found,
        title=title,
        subtitle=subtitle,
        rows=columns,
        columns=columns,
        scale={
            "domain": [-size, 0, size],
            "range": [PALETTE[0], "#f4f5f7", PALETTE[1]],
            "interpolate": "rgb",
        },
        legend={"gradientLength": 160, "format": ".2~g"},
        meaning="change",
        step=(step, step * 0.55 if few else step),
        white=f"datum.value < {-0.6 * size}",
        printed=few,
        angle=-40,
        alt=f"Heat map: {title}, {subtitle}, of {len(columns)} columns. The largest is {worst.value:+.3f}, "
        f"between {worst.row} and {worst.column}.",
    )


def share_map(
    cells: Iterable[tuple[str, str, float]],
    columns: Sequence[str],
    *,
    title: str,
    subtitle: str,
    x: str,
    y: str,
    apart: str = "",
) -> Chart:
    """Return a heat map of shares; the column ``apart`` is of another kind and stays grey."""
    found = [Square(r, c, s, percent(s)) for r, c, s in cells]
    top = max([f.value for f in found if f.column != apart], default=0.0) or 1.0
    return heat_map(
        found,
        title=title,
        subtitle=subtitle,
        x=x,
        y=y,
        columns=columns,
        scale={"scheme": "orangered", "domain": [0, top], "clamp": True},
        step=(108, 28),
        white=f"datum.value > {0.55 * top}",
        grey=(apart,),
        on_top=True,
    )


def format_signed(change: float) -> str:
    """Return a change for a field: three decimals, with a sign unless it is 0 in them."""
    text = f"{change:+.3f}"
    return "0" if float(text) == 0 else text.replace("-", "−")
