"""The report of a comparison: several protected versions of one table against the original.

It holds aggregates of the original: it is for the data holder, not for users.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import Infeasible
from tacit.plot.chart import Chart
from tacit.plot.families import grouped_bars
from tacit.plot.lines import lines
from tacit.report import document as doc
from tacit.report.charts import MAP_SIZE
from tacit.result import format_number
from tacit.tables.compare.measures import GROUPS, MEASURES

if TYPE_CHECKING:
    from tacit.alternatives.comparison.result import ComparisonResult

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

#: Percent changes that are drawn side by side, and what they are changes of.
CHANGES = {"RAV": "AV", "RX2": "X2", "RCV": "CV", "ENTT": "ENT", "BVR": "BV"}

TERMS = (
    ("HD", "Hellinger's distance on counts. It weighs changes of small cells most."),
    ("RAD", "Sum over a row of the change relative to the original cell; empty cells are treated as said above."),
    ("RAT", "Change of a total relative to the original; printed as a sum in the paper, the mean is given too."),
    ("RC", "Cells are sorted and cut into groups of equal size; RC counts those in another group than before."),
    ("BVR", "Change of the between variance in percent; the paper's table prints the ratio. Both are given."),
    ("LR", "Ratio of the deviances of one log-linear model, fitted to each table by itself."),
    ("Binomial test", "For rounding to base 3: was a count moved to the nearest multiple two times in three?"),
)  # fmt: skip


def comparison(
    result: ComparisonResult, *, title: str = "", max_risk: float | None = None
) -> doc.Document:
    """Return the report of a comparison of protected tables."""
    if not result.frameworks:
        return systems_report(result, title)
    blocks: list[doc.Block | None] = [
        summarise_comparison(result, max_risk),
        doc.Tiles(tuple(tiles(result))),
        map_section(result, max_risk),
        *(group_section(result, group) for group in GROUPS if result.by_measure(group)),
        rows_section(result),
        reading_section(result),
    ]
    footer = "This report compares with the original table: it is for the data holder."
    return doc.for_holder(title or result.title, "Comparison of protected tables", blocks, footer)


def systems_report(result: ComparisonResult, title: str) -> doc.Document:
    """Return the report of a comparison by measures of any kind."""
    told = [(row["symbol"], row) for row in result.by_measure()]
    table = measure_table(
        told, [row.name for row in result.rows], "What each system keeps and gives away"
    )
    blocks = (
        doc.Section("Side by side", (doc.Paragraph(result.explanation), table), "systems"),
        doc.Section("Charts", tuple(doc.Figure(chart) for chart in result.charts()), "charts"),
    )
    footer = "This report compares with the original data: it is for the data holder."
    return doc.for_holder(title or result.title, "Comparison of systems", blocks, footer)


def summarise_comparison(result: ComparisonResult, max_risk: float | None) -> doc.Callout:
    """Return what the comparison says, in two sentences."""
    found = result.candidates()
    if not found:
        return doc.Callout("attention", "No recommendation", ("No risk was measured.",))
    facts = "; ".join(
        f"{c.method}: {format_number(c.risk)} and {format_number(c.utility)}" for c in found
    )
    risk, loss = (result.axis(side)[1].words for side in ("risk", "utility"))
    about = f"Risk ({risk}) and loss ({loss}): {facts}."
    if max_risk is None:
        return judge_without_limit(found, about)
    unit = " %" if risk.endswith("%") else ""
    limit = f"a risk of at most {format_number(float(max_risk))}{unit}"
    try:
        return doc.Callout(
            "good", f"For {limit}, {result.recommend(max_risk)} loses least", (about,)
        )
    except Infeasible:
        return doc.Callout("bad", f"No version has {limit}", (about,))


def judge_without_limit(found: Any, about: str) -> doc.Callout:
    """Return the judgement where no risk is set as the limit."""
    least, safest = min(found, key=lambda c: c.utility), min(found, key=lambda c: c.risk)
    if least.method == safest.method:
        head = f"{least.method} has the least risk and the least loss"
        return doc.Callout("attention", head, (about,))
    head = f"{safest.method} has the least risk, {least.method} the least loss"
    end = "Which one to prefer depends on the risk that can be tolerated."
    return doc.Callout("attention", head, (about, end))


def tiles(result: ComparisonResult) -> Iterator[doc.Tile]:
    """Yield the few numbers at the top."""
    cells = result.original["cells"] or 1
    yield doc.Tile(format_number(cells), "internal cells")
    for name, what in (("small_cells", "small cells"), ("zeros", "empty cells")):
        count = result.original.get(name)
        if count is not None:
            yield doc.Tile(format_number(count), what, f"{100 * count / cells:.1f} % of the cells")
    yield doc.Tile(format_number(result.original["total"]), "total information", "sum of the cells")


def map_section(result: ComparisonResult, max_risk: float | None) -> doc.Section | None:
    """Return the map of risk and loss, where a risk was measured."""
    if not result.candidates():
        return None
    intro = (
        "Each version is a point: higher is more risky, further to the right is closer to the original. A "
        "version with another below it and to its right is beaten."
    )
    narrow = result.plot(max_risk=max_risk, size=MAP_SIZE)
    figure = doc.Figure(result.plot(max_risk=max_risk), narrow=narrow)
    return doc.Section("Risk and loss", (doc.Paragraph(intro), figure), "map")


def group_section(result: ComparisonResult, group: str) -> doc.Section:
    """Return one group of measures as a table, with a chart where one helps."""
    found = result.by_measure(group)
    with_original = any(row["original"] is not None for row in found)
    names = [*(["original"] if with_original else []), *result.frameworks]
    table = measure_table([(measure_words(row), row) for row in found], names, GROUPS[group])
    if group != "variance":
        return doc.Section(GROUPS[group], (doc.Paragraph(WORDS[group]), table), group)
    more = " The chart shows all changes that are measured in percent of the original."
    blocks = (doc.Paragraph(WORDS[group] + more), table, doc.Figure(percent_changes(result)))
    return doc.Section(GROUPS[group], blocks, group)


def measure_table(
    told: Sequence[tuple[doc.Words, Mapping[str, Any]]], names: Sequence[str], caption: str
) -> doc.DataTable:
    """Return measures, each told in words, with what they are for each name."""
    rows = [
        (words, *(None if row[n] is None else format_number(row[n]) for n in names))
        for words, row in told
    ]
    return doc.DataTable.of(["measure", *doc.numbers(*names)], rows, caption)


def measure_words(row: Any) -> doc.Words:
    """Return a measure with its symbol, where it has one."""
    words, symbol = row["measure"], row["symbol"]
    return (f"{words} ", doc.Mark(symbol, "soft")) if symbol[0].isupper() else str(words)


def rows_section(result: ComparisonResult) -> doc.Section:
    """Return how far single rows moved."""
    intro = "Averages hide where the loss lies. Hellinger's distance of the single rows:"
    chart = row_spread({name: r.by_row for name, r in result.frameworks.items()})
    return doc.Section("Loss by row", (doc.Paragraph(intro), doc.Figure(chart)), "rows")


def reading_section(result: ComparisonResult) -> doc.Section:
    """Return what was left out, the terms, and the source."""
    notes = tuple(f"{name}: {text}." for name, r in result.frameworks.items() for text in r.notes)
    blocks: list[doc.Block] = (
        [doc.Heading("What was left out"), doc.ItemList(notes)] if notes else []
    )
    blocks += [
        doc.Heading("Terms"),
        doc.Definitions(TERMS),
        doc.Paragraph(
            "Shlomo, Young (2006), Statistical disclosure control methods through a risk-utility framework, "
            "Privacy in Statistical Databases, LNCS 4302, 68-81."
        ),
    ]
    return doc.Section("How to read it", tuple(blocks), "terms")


# -- charts ----------------------------------------------------------------------------------------


def percent_changes(result: ComparisonResult) -> Chart:
    """Return the changes in percent of each version, side by side."""
    return grouped_bars(
        (
            (f"{m}: {MEASURES[of][1]}", name, float(found))
            for m, of in CHANGES.items()
            for name in result.frameworks
            if (found := result.frameworks[name].values.get(m)) is not None
        ),
        title="Change against the original",
        subtitle="percent; left of 0: less than it was",
        y="change, %",
        texts="{:.2f} %".format,
    )


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
