"""The page of a risk-utility map: interactive, self-contained, readable without scripts.

The page shows the settings of every candidate, also those that are secret in a release: it stays with
the data holder.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

import tacit
from tacit.plot.svg import inline
from tacit.report.html import templates
from tacit.result import format_number

if TYPE_CHECKING:
    from tacit.rumap.points import Interval, Point
    from tacit.rumap.result import RUMapResult


def render_map(ru: RUMapResult) -> str:
    """Return the map as one HTML page."""
    today = dt.datetime.now(tz=dt.UTC).date()
    still, live = ru.plot(), ru.plot(interactive=True)
    chosen = ru.chosen
    everything = [*([ru.reference] if ru.reference else []), *ru.points]
    return (
        templates()
        .get_template("map.html")
        .render(
            title=ru.title,
            date=f"{today.day} {today:%B %Y}",
            iso_date=today.isoformat(),
            version=tacit.__version__,
            map=ru,
            chosen=None if chosen is None else point_view(chosen),
            chosen_name="" if chosen is None else chosen.name,
            frontier=[point_view(p) for p in ru.frontier],
            rows=[
                {**point_view(p), "status": row["status"]}
                for p, row in zip(everything, ru.rows(), strict=True)
            ],
            tiles=tiles(ru, chosen),
            svg=inline(still, "m-"),
            alt=still.alt,
            # Safe: JSON in which nothing can end the script element.
            spec=Markup(embedded(live.full())),  # noqa: S704
            bundle=Markup(bundle()),  # noqa: S704
        )
    )


def tiles(ru: RUMapResult, chosen: Point | None) -> list[tuple[str, str, str]]:
    """Return the few numbers at the top: number, what, note."""
    shown = [
        (
            format_number(len(ru.points)),
            "candidates",
            f"{len(ru.methods)} method{'' if len(ru.methods) == 1 else 's'}",
        ),
        (format_number(len(ru.frontier)), "on the frontier", "no other is better in both"),
    ]
    if chosen is not None:
        cap = "" if ru.max_risk is None else f"allowed: {number(ru.max_risk)}"
        before = "" if ru.reference is None else f"no masking: {number(ru.reference.utility)}"
        shown += [
            (number(chosen.risk), "risk of the choice", cap),
            (number(chosen.utility), "utility of the choice", before),
        ]
    return shown


def point_view(point: Point) -> dict[str, Any]:
    """Return a candidate for a table."""
    return {
        "method": point.method,
        "label": point.label,
        "risk": number(point.risk, point.risk_interval),
        "utility": number(point.utility, point.utility_interval),
        "runs": point.replicates,
        "reason": point.reason,
        "detail": {name: number(value) for name, value in point.detail.items()},
    }


def number(value: float, interval: Interval | None = None) -> str:
    """Return a number for people, with half the width of its interval."""
    text = format_number(float(value))
    if interval is None:
        return text
    half = (interval[1] - interval[0]) / 2
    return f"{text} ± {format_number(float(half))}" if half > 0 else text


def embedded(spec: dict[str, Any]) -> str:
    """Return a chart as JSON for a script element."""
    return json.dumps(spec).replace("<", "\\u003c").replace("&", "\\u0026")


@functools.cache
def bundle() -> str:
    """Return the chart library as one script, so that the page needs no network."""
    import vl_convert

    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")).replace(
        "</script", "<\\/script"
    )
