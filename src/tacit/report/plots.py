"""Protected plots in a report: every plot with what it spent and what is claimed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.report.document import DataTable, Figure, Paragraph, Section
from tacit.result import format_number


def plots_section(plots: Sequence[Any]) -> Section | None:
    """Return the protected plots of a release, for any audience: they hold protected values alone."""
    parts = [
        Section(
            plot.title,
            (
                Figure(plot.plot()),
                Paragraph(plot.explanation),
                DataTable.of(
                    ["number", "value"],
                    [(name, format_number(v)) for name, v in plot.labelled().items()],
                    "Noise and privacy of this plot",
                ),
            ),
        )
        for plot in plots
    ]
    return Section("Protected plots", tuple(parts), "plots") if parts else None
