"""Chart families shared by many results: bars, before and after, class sizes, levels, changes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tacit.plot.chart import Chart
from tacit.plot.parts import (
    HEADROOM,
    SPOKEN,
    WIDTH,
    category,
    end_label,
    end_labels,
    heading,
    layer,
    list_parts,
    numbers_axis,
    one_each,
    quantity,
    share_text,
    sheet,
    short_number,
    tick_number,
)
from tacit.plot.theme import AFTER, BEFORE, GRID, PALETTE, THEME, TRACK, WARNING, WARNING_GROUND

#: Half of the space between the steps of a track, as a share of its length.
GAP = 0.004

#: The layer that prints a number on top of an upright bar.
ON_TOP: dict[str, Any] = layer({"type": "text", "dy": -7, "fontSize": 10}, text={"field": "text"})

WHEN = one_each("when", ["before", "after"], [BEFORE, AFTER])


def bars(
    items: Iterable[tuple[str, float]],
    *,
    title: str,
    y: str,
    x: str = "",
    subtitle: str = "",
    top: float | None = None,
) -> Chart:
    """Return one horizontal bar for each named number; ``top`` fixes the end of the axis."""
    rows: list[dict[str, Any]] = [
        {"name": n, "value": v, "text": short_number(v)} for n, v in items
    ]
    axis = numbers_axis([r["value"] for r in rows] if top is None else [top], y)
    layers = [{"mark": {"type": "bar", "height": {"band": 0.66}}}, end_label()]
    size = (WIDTH - 120, {"step": 26})
    spec = sheet(title, subtitle, rows, layers, size, y=category("name", x), x=axis)
    shown = list_parts(f"{r['name']} {r['text']}" for r in rows)
    return Chart(spec, f"Bar chart: {title}. {shown}.")


def grouped_bars(
    items: Iterable[tuple[str, str, float]],
    *,
    title: str,
    y: str,
    subtitle: str = "",
    colours: Sequence[str] = PALETTE,
    texts: Callable[[float], str] = short_number,
    step: int = 16,
    alt: str = "",
) -> Chart:
    """Return several bars for each name, one for each part: name, part, value."""
    rows: list[dict[str, Any]] = [
        {"name": n, "part": p, "value": v, "text": texts(v)} for n, p, v in items
    ]
    values = [r["value"] for r in rows]
    parts = list(dict.fromkeys(r["part"] for r in rows))
    layers = [layer("bar", color=one_each("part", parts, colours)), *end_labels(values)]
    axes = {
        "y": category("name", scale={"paddingInner": 0.3}),
        "yOffset": {"field": "part", "sort": parts},
        "x": numbers_axis(values, y),
    }
    spec = sheet(title, subtitle, rows, layers, (WIDTH - 120, {"step": step}), **axes)
    shown = list_parts((f"{r['name']} {r['part']} {r['text']}" for r in rows), 2 * SPOKEN)
    return Chart(spec, f"{alt or title}. {shown}.")


def before_after(
    items: Iterable[tuple[str, float, float]], *, title: str, y: str, subtitle: str = ""
) -> Chart:
    """Return paired bars: each named number before and after protection."""
    return grouped_bars(
        ((n, when, v) for n, b, a in items for when, v in (("before", b), ("after", a))),
        title=title,
        y=y,
        subtitle=subtitle,
        colours=(BEFORE, AFTER),
        step=17,
        alt=f"Bars before and after: {title}",
    )


def columns(
    rows: Iterable[tuple[str, int, bool]],
    *,
    title: str,
    x: str,
    subtitle: str = "",
    word: str = "",
) -> Chart:
    """Return upright bars of records: label, records, beyond the limit (in the warning colour)."""
    values = [
        {"size": label, "records": n, "beyond": beyond, "text": tick_number(n) if n else ""}
        for label, n, beyond in rows
    ]
    colour = {"condition": {"test": "datum.beyond", "value": WARNING}, "value": AFTER}
    layers = [layer({"type": "bar", "width": {"band": 0.7}}, color=colour), ON_TOP]
    axes = {"x": size_axis(values, x), "y": count_axis(values)}
    spec = sheet(title, subtitle, values, layers, (WIDTH, 210), **axes)
    shown = "; ".join(
        f"{word}{v['size']}: {v['records']:,} records" for v in values if v["records"]
    )
    return Chart(spec, f"{title}. {shown or 'No records'}.")


# -- class sizes -------------------------------------------------------------------------------

CLASS_SIZE = "records that share the same key values (class size)"
SIZE_EDGES = (1, 2, 3, 4, 5, 10, 20, 50, 100, 1000)

Bin = tuple[str, int, int | None]


def bins_for(k: int | None = None) -> list[Bin]:
    """Return the usual bins of class sizes (label, low, high), cut so that ``k`` begins one."""
    edges = sorted({*SIZE_EDGES, *([k] if k and k > 0 else [])})
    bounds = [
        (f"{low:,}" if above == low + 1 else f"{low:,}–{above - 1:,}", low, above - 1)
        for low, above in itertools.pairwise(edges)
    ]
    return [*bounds, (f"{edges[-1]:,}+", edges[-1], None)]


SIZE_BINS: Sequence[Bin] = tuple(bins_for())


def size_bins(sizes: Mapping[int, int], k: int | None = None) -> list[tuple[str, int, int]]:
    """Return (label, classes, records) by bin; ``sizes`` gives the number of classes of each size."""
    rows = []
    for label, low, high in bins_for(k):
        inside = {s: n for s, n in sizes.items() if s >= low and (high is None or s <= high)}
        rows.append((label, sum(inside.values()), sum(s * n for s, n in inside.items())))
    return rows


def class_sizes(
    records: Mapping[int, int],
    *,
    k: int | None = None,
    title: str = "Records by class size",
    subtitle: str = "",
) -> Chart:
    """Return how many records stand in classes of each size; sizes below ``k`` in the warning colour."""
    rows = [
        (label, n, bool(k and low < k))
        for (label, n, _), (_, low, _) in zip(size_bins(records, k), bins_for(k), strict=True)
    ]
    return columns(rows, title=title, subtitle=subtitle, x=CLASS_SIZE, word="size ")


def class_sizes_before_after(
    before: Mapping[int, int],
    after: Mapping[int, int],
    *,
    k: int | None = None,
    title: str = "Records by class size, before and after",
    subtitle: str = "",
) -> Chart:
    """Return paired columns: records in classes of each size before and after; sizes below ``k`` shaded."""
    low = {label: bound for label, bound, _ in bins_for(k)}
    rows = [
        {"size": label, "when": when, "records": n, "text": tick_number(n) if n else ""}
        for when, sizes in (("before", before), ("after", after))
        for label, _, n in size_bins(sizes, k)
    ]
    small = [label for label, bound in low.items() if k and bound < k]
    top = count_axis(rows)["scale"]["domain"][1]
    axes = {"x": size_axis(rows), "y": count_axis(rows)}
    shade = layer(
        {"type": "bar", "color": WARNING_GROUND, "width": {"band": 1.25}},
        [{"size": label, "records": top} for label in small],
        **axes,
    )
    beside = {"type": "text", "align": "left", "baseline": "top", "dx": -22, "dy": 4}
    note = layer(
        {**beside, "color": WARNING},
        [{"size": s, "records": top, "text": f"below k = {k}"} for s in small[:1]],
        **axes,
        text={"field": "text"},
    )
    pairs = {
        "data": {"values": rows},
        "encoding": {**axes, "xOffset": {"field": "when", "sort": ["before", "after"]}},
        "layer": [{"mark": "bar", "encoding": {"color": WHEN}}, ON_TOP],
    }
    layers = [shade, pairs, note] if small else [pairs]
    spec = sheet(title, subtitle, None, layers, (WIDTH + 60, 230))
    shown = "; ".join(
        f"size {r['size']}, {r['when']}: {r['records']:,} records" for r in rows if r["records"]
    )
    return Chart(spec, f"{title}. {shown or 'No records'}.")


def size_axis(rows: Sequence[Mapping[str, Any]], title: str = CLASS_SIZE) -> dict[str, Any]:
    """Return the axis of class sizes, or of whatever records are sorted by."""
    return category(
        "size",
        title,
        list(dict.fromkeys(r["size"] for r in rows)),
        scale={"paddingInner": 0.2, "paddingOuter": 0.1},
        axis={"labelAngle": 0},
    )


def count_axis(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the axis of record counts, with room for the numbers on top."""
    top = max([r["records"] for r in rows], default=0) * HEADROOM or 1
    return quantity(
        "records",
        "records",
        scale={"domain": [0, top], "nice": False},
        axis={"format": ",d", "tickMinStep": 1},
    )


# -- levels and changes ------------------------------------------------------------------------


def levels(
    items: Iterable[tuple[str, float, int, str]],
    *,
    title: str = "Generalisation of each column",
    subtitle: str = "",
) -> Chart:
    """Return one track per column, filled up to the level that was reached.

    Items are the column, the level reached (on average, where values differ in level), the height of its hierarchy, and
    what the level means (may be empty).
    """
    given = [(n, lv, max(int(h), 1), meaning) for n, lv, h, meaning in items]
    tallest = max([h for _, _, h, _ in given], default=1)
    rows = [
        {"name": n, "from": start, "to": end, "filled": filled}
        for n, level, h, _ in given
        for start, end, filled in track(level, h)
    ]
    words = [
        {"name": n, "at": 1, "text": f"{lv:.2g} of {h}{': ' + m if m else ''}"}
        for n, lv, h, m in given
    ]
    name = category("name", None, [g[0] for g in given], axis={"domain": False})
    along = {
        "type": "quantitative",
        "scale": {"domain": [0, 1], "nice": False},
        "axis": {
            "values": [0, 1],
            "labelExpr": "datum.value == 0 ? 'as collected' : 'suppressed'",
            "grid": False,
            "domain": False,
            "labelFlush": True,
        },
        "title": None,
    }
    layers = [
        layer(
            {"type": "bar", "height": 13, "cornerRadius": 1},
            rows,
            y=name,
            x={**along, "field": "from"},
            x2={"field": "to"},
            color={"condition": {"test": "datum.filled", "value": AFTER}, "value": TRACK},
        ),
        layer(
            {"type": "text", "align": "left", "dx": 10},
            words,
            y=name,
            x={**along, "field": "at"},
            text={"field": "text"},
        ),
    ]
    size = (min(WIDTH - 160, 60 * tallest + 120), {"step": 26})
    spec = sheet(title, subtitle, None, layers, size)
    shown = "; ".join(f"{w['name']} level {w['text']}" for w in words)
    return Chart(spec, f"{title}. {shown}.")


def track(level: float, height: int) -> Iterator[tuple[float, float, bool]]:
    """Yield the pieces of a track of the length 1: start, end, and whether it is filled."""
    for step in range(height):
        start, end = step / height + GAP, (step + 1) / height - GAP
        filled = min(max(level - step, 0.0), 1.0)
        middle = start + filled * (end - start)
        if filled > 0:
            yield start, middle, True
        if filled < 1:
            yield middle, end, False


def column_changes(
    items: Iterable[tuple[str, int, int]],
    *,
    title: str = "Released values that differ from the original",
    subtitle: str = "",
) -> Chart:
    """Return, for each column, the share of released values that were changed: column, values changed, released."""
    rows = [
        {
            "name": name,
            "share": changed / total if changed and total else 0.0,
            "text": share_text(changed, total),
            "full": 1.0,
        }
        for name, changed, total in items
    ]
    ticks = {"format": ".0%", "values": [0, 0.25, 0.5, 0.75, 1], "gridColor": GRID}
    full, share = (
        quantity(name, "share of released values", scale={"domain": [0, 1]}, axis=ticks)
        for name in ("full", "share")
    )
    layers = [
        layer({"type": "bar", "height": 12, "color": TRACK}, x=full),
        layer({"type": "bar", "height": 12}, x=share),
        layer({"type": "text", "align": "left", "dx": 8}, x=full, text={"field": "text"}),
    ]
    size = (WIDTH - 160, {"step": 24})
    spec = sheet(title, subtitle, rows, layers, size, y=category("name"))
    shown = "; ".join(f"{r['name']} {r['text']}" for r in rows[: 2 * SPOKEN])
    return Chart(spec, f"{title}. {shown}.")


SMALL_WIDTH = 150


def column_chart(name: str, bins: Sequence[tuple[str, float, float]]) -> Chart:
    """Return paired bars of shares before and after; ``bins`` are (label, before, after)."""
    rows = [
        {"value": label, "when": when, "share": share}
        for label, before, after in bins
        for when, share in (("before", before), ("after", after))
    ]
    spec: dict[str, Any] = {
        "title": heading(name, ""),
        "data": {"values": rows},
        "width": SMALL_WIDTH,
        "height": {"step": 9},
        "mark": "bar",
        "encoding": {
            "y": category(
                "value",
                None,
                [b[0] for b in bins],
                axis={"labelLimit": 90},
                scale={"paddingInner": 0.25},
            ),
            "yOffset": {"field": "when", "sort": ["before", "after"]},
            "x": quantity("share", axis={"format": ".0%", "tickCount": 3}),
            "color": WHEN,
        },
        "config": {**THEME, "padding": {"left": 1, "top": 2, "right": 14, "bottom": 2}},
    }
    shown = "; ".join(f"{b[0]} {b[1]:.0%} before, {b[2]:.0%} after" for b in bins[:SPOKEN])
    return Chart(spec, f"Shares of {name} before and after. {shown}.")
