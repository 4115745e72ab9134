"""A release of protected plots alone: pictures, protected values and a statement, without any record.

On disk it is a folder like that of any release, with a manifest that ``tacit verify`` checks::

    plots/                        public
      plot-1.svg, plot-1.json     the picture, and its Vega-Lite specification
      plots.json                  protected values, noise and queries of every plot
      report.html                 all plots with what is claimed
      statement.md, .json         claims, rho, budget
      manifest.json               fingerprints of the files above
    plots-confidential/<id>/      never released
      queries.json                when it was written, and what was spent
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tacit
from tacit.errors import InputError
from tacit.events import Job, Listener, Phase, Stop, ignore_event, never
from tacit.graphics.base import ProtectedPlot
from tacit.graphics.publish import PLOTS, plot_facts, plot_lines, write_plot_files
from tacit.release.folders import Manifest, refuse_target, resolve_target, write_folders
from tacit.release.signing import OfficeKey
from tacit.report.charts import plots_section
from tacit.report.document import Document

#: The kind that the manifest names.
KIND = "plots"

#: What writing a release of plots consists of.
PARTS = (
    Phase("write", "Writing the plots", 5),
    Phase("write", "Writing what stays inside"),
    Phase("write", "Moving the release into place"),
)


@dataclass(frozen=True)
class PlotRelease:
    """Protected plots that are released together."""

    #: What protected measures gave, without a seed.
    plots: tuple[ProtectedPlot, ...]
    #: Of the report and the statement.
    title: str = "Protected plots"
    #: The file of the data, which the release must not replace.
    source: str = "memory"

    def __post_init__(self) -> None:
        strange = [p for p in self.plots if not isinstance(p, ProtectedPlot)]
        if strange or not self.plots:
            raise InputError("a release of plots takes what protected measures gave, at least one")

    def write(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        sign: str | Path | None = None,
        on_event: Listener = ignore_event,
        should_stop: Stop = never,
    ) -> Path:
        """Write the release folder and, apart from it, what stays inside; refuse plots for study."""
        job = Job(on_event, should_stop, PARTS)
        target, signer = resolve_target(folder), OfficeKey.read(sign)
        refuse_target(target, self.source, force=force)
        return job.watch(lambda: write_folders(self, target, "svg", job, signer, force=force))

    def statement(self) -> dict[str, Any]:
        """Return the statement as data."""
        facts = plot_facts(self.plots)
        return {
            "title": self.title,
            "kind": KIND,
            "tacit": tacit.__version__,
            "rho": math.fsum(p.rho for p in self.plots),
            "claims": [f["claim"] for f in facts],
            "plots": facts,
        }

    def write_public(self, folder: Path, form: str, job: Job) -> Manifest:
        """Write pictures, values, report and statement."""
        del form
        job.begin("write")
        write_plot_files(self.plots, folder)
        facts = self.statement()
        text = json.dumps(facts, indent=2, ensure_ascii=False)
        (folder / "statement.json").write_text(text, encoding="utf-8")
        lines = [
            f"# {self.title}: statement of protection",
            "",
            f"{len(self.plots)} protected plots, which spend rho = {facts['rho']:.4g} together. No record is released.",
            "",
            *plot_lines(facts["plots"]),
            "",
            f"Made with tacit {tacit.__version__}.",
            "",
        ]
        (folder / "statement.md").write_text("\n".join(lines), encoding="utf-8")
        self.report().to_html(folder / "report.html")
        return Manifest.of(folder, KIND, {KIND: PLOTS})

    def report(self) -> Document:
        """Return all plots with what is claimed of them, as a document."""
        found = plots_section(self.plots)
        assert found is not None
        return Document(
            title=self.title,
            subtitle="Protected plots",
            audience="public",
            blocks=(found,),
            about=(f"tacit {tacit.__version__}",),
            footer="This report holds protected values alone and refers to nothing outside itself.",
        )

    def write_private(self, folder: Path, manifest: Manifest) -> None:
        """Write what was spent when."""
        facts = {
            "files": dict(manifest.files),
            "written": dt.datetime.now(tz=dt.UTC).isoformat(timespec="seconds"),
            "source": Path(self.source).name,
            "plots": plot_facts(self.plots),
        }
        text = json.dumps(facts, indent=2, ensure_ascii=False)
        (folder / "queries.json").write_text(text, encoding="utf-8")


def release_plots(
    plots: ProtectedPlot | Sequence[ProtectedPlot],
    folder: str | Path,
    *,
    title: str = "Protected plots",
    force: bool = False,
    sign: str | Path | None = None,
    on_event: Listener = ignore_event,
    should_stop: Stop = never,
) -> Path:
    """Write protected plots as a release: pictures, values, report, statement with claims, rho and budget.

    Parameters
    ----------
    plots
        What protected measures gave, without a seed.
    folder
        Where to; what stays inside lies beside it, under the same name with ``-confidential``.
    title
        Of the report and the statement.
    force
        Replace a release that is there already.
    sign
        File of the office's private key, with which the manifest is signed.
    on_event, should_stop
        Called with events, and asked whether to stop, while writing; see :mod:`tacit.events`.
    """
    every = (plots,) if isinstance(plots, ProtectedPlot) else tuple(plots)
    return PlotRelease(every, title).write(
        folder, force=force, sign=sign, on_event=on_event, should_stop=should_stop
    )
