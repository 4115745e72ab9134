"""The comparison as one HTML page that opens without a network."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import tacit
from tacit.errors import Infeasible
from tacit.plot.chart import Chart
from tacit.plot.families import grouped_bars
from tacit.plot.lines import lines
from tacit.plot.svg import inline
from tacit.result import format_number
from tacit.tables.compare.measures import GROUPS, MEASURES

if TYPE_CHECKING:
    import jinja2

    from tacit.tables.compare.compare import FrameworkResult

WORDS: dict[str, str] = {
    "summary": "The tables in a few numbers. For suppressed versions they are those after imputation.",
    "risk": "The probability that a small count in the published table is the true one. A small count identifies.",
    "bias": "A small p-value says that protection has shifted the cells, or that a rounding was not drawn with its own probabilities.",
    "distance": "Averages over the rows of the distance between original and protected cells.",
    "totals": "The same for row totals and for chosen sub-totals: what users add up.",
    "variance": "Rounding spreads the cells of a row; swapping flattens them.",
    "association": "X2 and V above the original: protection pretends to more association; below, it hides some. Entropy goes the other way.",
    "ranks": "Whoever ranks areas by a cell sees another order where cells have moved between groups of ranks.",
    "between": "How the target proportion differs between rows. Less than the original: rows look more alike than they are.",
    "loglinear": "How badly the model fits. A ratio above 1: users would reject simple models too often.",
}

#: Percent changes that are drawn side by side.
CHANGES = ("RAV", "RX2", "RCV", "ENTT", "BVR")

TERMS = (
    ("HD", "Hellinger's distance on counts. It weighs changes of small cells most."),
    ("RAD", "Sum over a row of the change relative to the original cell; empty cells are treated as said above."),
    ("RAT", "Change of a total relative to the original; printed as a sum in the paper, the mean is given too."),
    ("RC", "Cells are sorted and cut into groups of equal size; RC counts those in another group than before."),
    ("BVR", "Change of the between variance in percent; the paper's table prints the ratio. Both are given."),
    ("LR", "Ratio of the deviances of one log-linear model, fitted to each table by itself."),
    ("Binomial test", "For rounding to base 3: was a count moved to the nearest multiple two times in three?"),
)  # fmt: skip


def render(result: FrameworkResult, *, title: str = "", max_risk: float | None = None) -> str:
    """Return the comparison as a self-contained HTML page."""
    return templates().get_template("compare.html").render(**view(result, title, max_risk))


@functools.cache
def templates() -> jinja2.Environment:
    """Return the template, and the style that all reports share."""
    import jinja2

    loaders = [jinja2.PackageLoader("tacit.tables.compare"), jinja2.PackageLoader("tacit.report")]
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def view(result: FrameworkResult, title: str, max_risk: float | None) -> dict[str, Any]:
    """Return what the template shows."""
    today = dt.datetime.now(tz=dt.UTC).date()
    mapped = bool(result.candidates())
    return {
        "title": title or result.title,
        "date": f"{today.day} {today:%B %Y}",
        "iso_date": today.isoformat(),
        "version": tacit.__version__,
        "versions": list(result.versions),
        "verdict": verdict(result, max_risk),
        "tiles": list(tiles(result)),
        "map": inline(result.plot(max_risk=max_risk), "map-") if mapped else None,
        "groups": [group_view(result, group) for group in GROUPS if result.table(group)],
        "spread": inline(row_spread(result.by_row), "rows-"),
        "notes": [f"{name}: {text}." for name, texts in result.notes.items() for text in texts],
        "terms": TERMS,
    }


def verdict(result: FrameworkResult, max_risk: float | None) -> dict[str, Any]:
    """Return what the comparison says, in two sentences."""
    found = result.candidates()
    loss = MEASURES[result.loss][1]
    if not found:
        return {
            "mood": "none",
            "heading": "No recommendation",
            "sentences": ["No risk was measured."],
        }
    facts = "; ".join(
        f"{c.method}: {format_number(c.risk)} and {format_number(c.utility)}" for c in found
    )
    about = f"Risk ({MEASURES[result.risk][1]}) and loss ({loss}): {facts}."
    if max_risk is None:
        least, safest = min(found, key=lambda c: c.utility), min(found, key=lambda c: c.risk)
        same = least.method == safest.method
        head = (
            f"{least.method} has the least risk and the least loss"
            if same
            else f"{safest.method} has the least risk, {least.method} the least loss"
        )
        end = "" if same else " Which one to prefer depends on the risk that can be tolerated."
        return {"mood": "none", "heading": head, "sentences": [about + end]}
    unit = " %" if MEASURES[result.risk][1].endswith("%") else ""
    limit = f"a risk of at most {format_number(float(max_risk))}{unit}"
    try:
        chosen = result.recommend(max_risk)
    except Infeasible:
        head = f"No version has {limit}"
        return {"mood": "bad", "heading": head, "sentences": [about]}
    head = f"For {limit}, {chosen} loses least"
    return {
        "mood": "good",
        "heading": head,
        "sentences": [about],
    }


def tiles(result: FrameworkResult) -> Iterator[dict[str, str]]:
    """Yield the few numbers at the top."""
    cells = result.original["cells"] or 1
    yield tile(cells, "internal cells", "")
    for name, what in (("small_cells", "small cells"), ("zeros", "empty cells")):
        count = result.original.get(name)
        if count is not None:
            yield tile(count, what, f"{100 * count / cells:.1f} % of the cells")
    yield tile(result.original["total"], "total information", "sum of the cells")


def tile(number: Any, what: str, note: str) -> dict[str, str]:
    """Return one of the numbers at the top."""
    return {"number": format_number(number), "what": what, "note": note}


def group_view(result: FrameworkResult, group: str) -> dict[str, Any]:
    """Return one group of measures as a table, with a chart where one helps."""
    rows = [
        {
            "measure": row["measure"],
            "symbol": row["symbol"] if row["symbol"][0].isupper() else "",
            "original": "" if row["original"] is None else format_number(row["original"]),
            "versions": [format_number(row[name]) for name in result.versions],
        }
        for row in result.table(group)
    ]
    chart = inline(percent_changes(result), "changes-") if group == "variance" else None
    words = WORDS[group]
    if chart is not None:
        words += " The chart shows all changes that are measured in percent of the original."
    return {
        "id": group,
        "name": GROUPS[group],
        "words": words,
        "rows": rows,
        "chart": chart,
        "has_original": any(row["original"] for row in rows),
    }


# -- charts ----------------------------------------------------------------------------------------


def percent_changes(result: FrameworkResult) -> Chart:
    """Return the changes in percent of each version, side by side."""
    return grouped_bars(
        (
            (f"{m}: {what(m)}", name, float(found))
            for m in CHANGES
            for name in result.versions
            if (found := result.versions[name].get(m)) is not None
        ),
        title="Change against the original",
        subtitle="percent; left of 0: less than it was",
        y="change, %",
        texts="{:.2f} %".format,
    )


def what(symbol: str) -> str:
    """Return what a percent change is a change of."""
    of = {"RAV": "AV", "RX2": "X2", "RCV": "CV", "ENTT": "ENT", "BVR": "BV"}[symbol]
    return MEASURES[of][1]


def row_spread(by_row: Mapping[str, Any]) -> Chart:
    """Return, for each version, the distribution of the rows' distances as a line."""
    edges = np.linspace(0, max([float(v.max()) for v in by_row.values()] + [1e-9]), 31)
    shown = "; ".join(
        f"{name}: median {float(np.median(v)):.3g}, largest {float(v.max()):.3g}"
        for name, v in by_row.items()
    )
    return lines(
        (
            (name, float(at), float(n / len(v)))
            for name, v in by_row.items()
            for at, n in zip(edges, np.histogram(v, edges)[0], strict=False)
        ),
        title="Rows by their distance from the original",
        x="Hellinger's distance of the row",
        y="share of rows",
        y_axis={"axis": {"format": ".0%"}},
        steps=True,
        height=180,
        alt=f"Rows by their distance from the original. {shown}.",
    )


__all__ = ["render"]
