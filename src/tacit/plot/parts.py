"""Parts that every chart is made of: headings, axes, colours, numbers in print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tacit.plot.theme import INK_SOFT, PALETTE

WIDTH = 560
#: Room to the right of the longest bar for its number.
HEADROOM = 1.18
#: Named in words in the alternative text; more would not be listened to.
SPOKEN = 12


def heading(title: str, subtitle: str = "") -> dict[str, Any]:
    """Return a Vega-Lite title."""
    return {"text": title, **({"subtitle": subtitle} if subtitle else {})}


def sheet(
    title: str,
    subtitle: str,
    rows: Sequence[Any] | None,
    layers: Sequence[Any],
    size: tuple[Any, Any],
    **encoding: Any,
) -> dict[str, Any]:
    """Return the specification of a chart: its heading, its rows, and layers on common axes."""
    return {
        "title": heading(title, subtitle),
        **({} if rows is None else {"data": {"values": rows}}),
        "width": size[0],
        "height": size[1],
        **({"encoding": encoding} if encoding else {}),
        "layer": layers,
    }


def quantity(field: str, title: str | None = None, **more: Any) -> dict[str, Any]:
    """Return the encoding of a number."""
    return {"field": field, "type": "quantitative", "title": title or None, **more}


def category(
    field: str, title: str | None = None, order: Sequence[str] | None = None, **more: Any
) -> dict[str, Any]:
    """Return the encoding of a name; in the order of the rows unless another is given."""
    return {
        "field": field,
        "type": "nominal",
        "title": title or None,
        "sort": None if order is None else list(order),
        **more,
    }


def one_each(
    field: str, names: Sequence[str], values: Sequence[Any] = PALETTE, **more: Any
) -> dict[str, Any]:
    """Return an encoding that gives each name its own colour, dash or the like."""
    picked = [values[i % len(values)] for i in range(len(names))]
    return category(field, None, names, scale={"domain": list(names), "range": picked}, **more)


def numbers_axis(values: Sequence[float], title: str) -> dict[str, Any]:
    """Return a horizontal axis of numbers, with room to the right for the numbers in print."""
    finite = [v for v in values if v == v and abs(v) != float("inf")]  # noqa: PLR0124 - NaN
    top, bottom = max([0.0, *finite]), min([0.0, *finite])
    domain = [bottom * HEADROOM, top * HEADROOM] if top > bottom else [0, 1]
    return quantity(
        "value",
        title,
        scale={"domain": domain, "nice": False},
        axis={"format": ",.6~r" if top >= 1e-3 else ".3~g", "tickCount": 4},
    )


def layer(
    mark: str | Mapping[str, Any], rows: Sequence[Any] | None = None, /, **encoding: Any
) -> dict[str, Any]:
    """Return one layer of a chart, on rows of its own or on those of the chart."""
    own = {} if rows is None else {"data": {"values": rows}}
    return {**own, "mark": mark, "encoding": encoding}


def diagonal(
    low: float, high: float, x: str = "x", y: str = "y", dash: Sequence[int] = (4, 3)
) -> dict[str, Any]:
    """Return the line on which both numbers are equal."""
    return layer(
        {"type": "line", "color": INK_SOFT, "strokeWidth": 1, "strokeDash": [*dash]},
        [{x: low, y: low}, {x: high, y: high}],
        x={"field": x, "type": "quantitative"},
        y={"field": y, "type": "quantitative"},
    )


def end_label() -> dict[str, Any]:
    """Return the layer that prints each bar's number at its end."""
    return {
        "mark": {"type": "text", "align": "left", "dx": 5, "color": INK_SOFT},
        "encoding": {"text": {"field": "text"}},
    }


def end_labels(values: Sequence[float]) -> list[dict[str, Any]]:
    """Return the layers that print numbers outside of bars to the right and, where needed, to the left."""
    if not any(v < 0 for v in values):
        return [end_label()]
    right, left = end_label(), end_label()
    left["mark"] |= {"align": "right", "dx": -5}
    return [
        {**right, "transform": [{"filter": "datum.value >= 0"}]},
        {**left, "transform": [{"filter": "datum.value < 0"}]},
    ]


def list_parts(parts: Iterable[str], most: int = SPOKEN) -> str:
    """Return the first parts in a row, for the alternative text."""
    every = list(parts)
    return "; ".join(every[:most])


def short_number(value: float) -> str:
    """Return a number for a label: at most four significant digits after a small whole part."""
    if value != value:  # noqa: PLR0124 - NaN
        return "-"
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 1 else f"{value:,.2f}"


def tick_number(count: int) -> str:
    """Return a count for a narrow column: thousands are shortened from ten thousand on."""
    if count >= 10_000_000:
        return f"{count / 1e6:,.0f}M"
    if count >= 1_000_000:
        return f"{count / 1e6:,.1f}M"
    return f"{count / 1e3:,.1f}".removesuffix(".0") + "k" if count >= 10_000 else f"{count:,}"


def percent(share: float) -> str:
    """Return a share as percent, with digits where it is small."""
    if share >= 0.0995 or share == 0:
        return f"{share:.0%}"
    return f"{share:.1%}" if share >= 0.001 else "<0.1%"


def share_text(part: int, whole: int) -> str:
    """Return a count with its share of the whole."""
    if not part:
        return "none"
    share = part / whole if whole else 0.0
    words = "100%" if part == whole else "<0.1%" if share < 0.001 else f"{min(share, 0.999):.1%}"
    return f"{part:,} ({words})"
