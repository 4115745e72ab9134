"""Release: the protected data, what was done, and risk and utility before and after.

On disk a release is a folder that may be given away, and beside it a folder that may not::

    release/                      public
      data.csv (table.csv)        the protected data
      plan.yaml                   the plan without seed, secrets, folders and passwords
      statement.md, .json         techniques, public parameters, protection claims, assumptions
      report.html (.pdf, .docx)   the report, self-contained
      matrices.json               transition matrices, where columns were randomised
      manifest.json               fingerprints of the files above
      manifest.sig, signer.pub    the office's signature, where a key was given
    release-confidential/<id>/    never released; one folder for each release written there
      ledger.json, plan.yaml      seed, secrets, changes, fingerprints, versions, warnings
      board.html (.pdf, .docx)    the confidential report for the board
"""

from __future__ import annotations

import datetime as dt
import functools
import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from typing_extensions import TypeVar

from tacit.claims import Claim
from tacit.context import Context
from tacit.data.base import Action, Data, claims_of
from tacit.errors import DisclosureRefused, InputError
from tacit.events import Job, Listener, Stop, ignore_event, never
from tacit.kinds import Kind, kind_of
from tacit.registry import lookup
from tacit.release.folders import (
    WRITING,
    Manifest,
    refuse_target,
    resolve_target,
    to_yaml,
    write_folders,
)
from tacit.release.ledger import Ledger
from tacit.release.signing import OfficeKey
from tacit.release.statement import statement, statement_text
from tacit.result import Result, Summary, as_json_number, format_number
from tacit.spec import is_risk

if TYPE_CHECKING:
    from tacit.plan import Plan
    from tacit.plot.chart import Chart
    from tacit.report import Document

__all__ = ["Ledger", "Panel", "Release"]

D = TypeVar("D", bound=Data, default=Any)

#: Access classes whose releases anybody may see.
PUBLIC = ("Pu", "SPu")
#: Text formats that a spreadsheet opens, and runs formulas in.
SPREADSHEET_TEXT = ("csv", "tsv", "txt")
#: The child of the seed from which the order of released records is drawn.
ORDER = 20_000
STUDY_REFUSAL = (
    "the seed was given and steps depend on chance, so whoever tries that seed can undo them; leave the "
    "seed out, or ask for it by name with study_seed=True (--study-seed)"
)


class NotStored:
    """Stands for a part of a release that the folder it was read from does not hold."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise InputError(f"this release was read from its folder, which does not hold {self.what}")


@dataclass(frozen=True, repr=False)
class Panel:
    """Results of one family, before and after."""

    name: str
    before: Mapping[str, Result]
    after: Mapping[str, Result]

    def rows(self) -> Iterator[tuple[str, str, Any, Any]]:
        """Yield (measure, number, before, after); before is None for what only compares."""
        for key, result in self.after.items():
            old = self.before[key].numbers if key in self.before else {}
            for label, value in result.numbers.items():
                yield result.title, result.label(label), old.get(label), value

    def summary(self) -> Summary:
        """Return the numbers before and after."""
        return Summary(
            {
                f"{title}: {label}": format_number(after)
                if before is None
                else f"{format_number(before)} -> {format_number(after)}"
                for title, label, before, after in self.rows()
            }
        )

    def plot(self) -> Chart:
        """Return the compared value of each measure before and after."""
        from tacit.plot.families import bars, before_after

        pairs = [
            (value_words(r), self.before[k].value, r.value)
            for k, r in self.after.items()
            if k in self.before
        ]
        if pairs:
            return before_after(
                pairs, title=f"{self.name.capitalize()} before and after", y="value"
            )
        return bars(
            [(value_words(r), r.value) for r in self.after.values()],
            title=self.name.capitalize(),
            y="value",
        )

    def __repr__(self) -> str:
        return f"{self.name.capitalize()} before -> after\n{self.summary()}"


def value_words(result: Result) -> str:
    """Return what the compared value of a result is: a bare title would name another number."""
    return f"{getattr(lookup(result.kind), 'axis', '')} {result.title}".strip()


@dataclass(frozen=True, repr=False)
class Release(Generic[D]):
    """What running a plan gives. Nothing is on disk until :meth:`write`.

    A plan may make a table from records, so that only the plan's author knows what a run on records gives:
    ``release: tacit.Release[tacit.Microdata] = plan.run()`` tells type checkers what ``release.data`` is.

    Attributes
    ----------
    plan
        The plan as it was run, with the seed that was used.
    source
        The data as they came in.
    original
        What protection is compared with: the data before the first protecting step.
    data
        The protected data.
    before, after
        The results of the measures.
    ledger
        What was done, step by step. Confidential.
    omitted
        Measures that were asked for and could not be taken, in sentences.
    unmet
        Requirements of the plan that the release does not keep, in sentences; it is not written then.
    studied
        True when the seed was given and not drawn: whoever knows it can draw the same numbers.
    plots
        Protected plots of the source, which are published with the data.
    noticed
        What the released data themselves show and nobody asked about, in sentences: columns of free text that
        no step has searched for names.
    undone
        Which released columns tell hidden values of others, in sentences. It follows from hidden values, and is not for
        the public.
    written_at
        When it was written, by the clock of the world; reports name that day, whenever they are made again.
    """

    plan: Plan
    source: Data
    original: D
    data: D
    before: tuple[Result, ...]
    after: tuple[Result, ...]
    ledger: Ledger
    omitted: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()
    studied: bool = False
    plots: tuple[Any, ...] = ()
    noticed: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()
    written_at: str = ""

    @property
    def kind(self) -> Kind[Any]:
        """Return the adapter of the released data."""
        return kind_of(self.data)

    @property
    def title(self) -> str:
        """Return the plan's title, or a plain one."""
        plain_titles = {"table": "Release of a table", "corpus": "Release of texts"}
        return self.plan.title or plain_titles.get(self.kind.name, "Release")

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Return every claim made by the steps."""
        return claims_of(self.data)

    @property
    def history(self) -> tuple[Action, ...]:
        """Return what was done."""
        return tuple(self.data.history)

    @property
    def size(self) -> str:
        """Return how much came in and goes out, in words."""
        if isinstance(self.ledger, NotStored):
            return f"{len(self.data):,} {self.kind.noun}"
        return self.kind.size(self.ledger.records, self.data)

    @property
    def shortfalls(self) -> tuple[str, ...]:
        """Return the measures that miss their own threshold on the released data, in sentences."""
        return tuple(r.shortfall for r in self.after if r.shortfall)

    @property
    def attention(self) -> tuple[str, ...]:
        """Return everything that the data holder must not overlook, in sentences."""
        return (*self.unmet, *self.shortfalls, *self.remarks, *self.inward)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what nobody must overlook and the plan or the released data themselves show, in sentences."""
        study = ("the seed was given and not drawn: this release is for study",)
        kept = self.kind.order_warning(self.data)
        return (
            *self.omitted,
            *self.noticed,
            *self.kind.held_back(self.data),
            *(study if self.for_study else ()),
            *([kept] if kept and not self.order_drawn else ()),
        )

    @property
    def inward(self) -> tuple[str, ...]:
        """Return what follows from a comparison with the original, so that it is for the data holder alone, in sentences."""
        weak = (a.details["weak"] for a in self.history if a.details.get("weak"))
        return (*self.undone, *weak)

    @property
    def random(self) -> bool:
        """Return True when a step depends on chance."""
        return any(step.uses_chance for step in self.plan.steps) or bool(self.plots)

    @property
    def for_study(self) -> bool:
        """Return True when a step depends on chance and the seed was given."""
        return self.studied and self.random

    @property
    def order_drawn(self) -> bool:
        """Return True when the records are published in a drawn order and not in that of the source."""
        return self.plan.output.order == "drawn"

    @property
    def risk(self) -> Panel:
        """Return the risk measures before and after."""
        return self.panel("risk")

    @property
    def utility(self) -> Panel:
        """Return the utility measures."""
        return self.panel("utility")

    def panel(self, family: str) -> Panel:
        """Return the results about risk or about utility."""
        return Panel(family, key_results(self.before, family), key_results(self.after, family))

    def summary(self) -> Summary:
        """Return what was done in a few lines."""
        numbers: dict[str, Any] = {
            **(
                {self.kind.noun: f"{len(self.data):,}"}
                if isinstance(self.ledger, NotStored)
                else self.kind.outline(self.ledger.records, self.data)
            ),
            "steps": ", ".join(step.kind for step in self.plan.steps),
            "claims": "; ".join(claim.sentence() for claim in self.claims) or "none",
        }
        if self.attention:
            numbers["attention"] = "; ".join(self.attention)
        return Summary({**numbers, **self.risk.summary(), **self.utility.summary()})

    def plot(self) -> Chart:
        """Return risk before and after."""
        return self.risk.plot() if self.risk.after else self.utility.plot()

    def __repr__(self) -> str:
        return f"{self.title}\n{'-' * len(self.title)}\n{self.summary()}"

    # -- reading back ------------------------------------------------------------------------

    @classmethod
    def load(cls, folder: str | Path) -> Release[Any]:
        """Read a release that was written: data, plan, claims, and from the confidential folder ledger and results.

        The data before protection are not stored, so that a release that was read back is shown and looked at, and
        not written again; whatever needs them says so. Results come back with their numbers, not with their detail,
        and protected plots not at all: they lie in the folder as pictures. Where the confidential folder is not here,
        as with whoever was given the public one alone, there are no results and no ledger either. Nothing is
        verified by this but that both folders belong together; see :func:`tacit.verify`.

        Parameters
        ----------
        folder
            The release, with its confidential folder beside it where that is at hand.

        Raises
        ------
        InputError
            When the folder is no release, is damaged, or the confidential folder is not the one written with it.
        """
        # Plans know of releases, and reading one back needs its plan.
        stored = importlib.import_module("tacit.release.stored")
        found: Release[Any] = stored.load_release(Path(folder))
        return found

    # -- writing -----------------------------------------------------------------------------

    def write(
        self,
        folder: str | Path | None = None,
        *,
        format: str | None = None,  # noqa: A002 - the word of the plan file
        force: bool = False,
        sign: str | Path | None = None,
        study_seed: bool = False,
        on_event: Listener = ignore_event,
        should_stop: Stop = never,
    ) -> Path:
        """Write the release folder and, apart from it, the confidential ledger.

        Everything is written beside the target first and moved into place in one step: a crash or a
        full disk leaves the old release or the new one, never a mixture.

        Parameters
        ----------
        folder
            The folder; by default the plan's own.
        format
            The format of the data; by default the plan's own, or csv.
        force
            Replace a release that is there already.
        sign
            File of the office's private key (see ``tacit key``), with which the manifest is signed.
        study_seed
            Write for the public although the seed was given: whoever tries it draws the same numbers.
        on_event, should_stop
            Called with events, and asked whether to stop, while writing; see :mod:`tacit.events`. From when the
            release is moved into place it is too late to stop.

        Raises
        ------
        DisclosureRefused
            When the data hold what may not be published, a claim does not hold on the file as written, a
            requirement of the plan is not met, the seed of a public release was given, the target is or
            holds the source, or a release is there already and ``force`` is not set.
        """
        given = folder if folder is not None else self.plan.resolve(self.plan.output.folder)
        target = resolve_target(given)
        signer = OfficeKey.read(sign)
        form = format or self.plan.output.format or self.kind.formats[0]
        if form not in self.kind.formats:
            listed = ", ".join(self.kind.formats)
            raise DisclosureRefused(f"{self.kind.noun} are released as {listed} (got {form!r})")
        refuse_target(target, self.ledger.source, force=force)
        job = Job(on_event, should_stop, WRITING)

        def work() -> Path:
            job.begin("check")
            self._refuse(study_seed=study_seed)
            # Whatever the format was asked with, plan and report name the file that is written.
            output = self.plan.output.model_copy(update={"format": form})
            plan, now = self.plan.with_(output=output), dt.datetime.now(tz=dt.UTC)
            written = replace(self, plan=plan, written_at=now.isoformat(timespec="seconds"))
            return write_folders(written, target, form, job, signer, force=force)

        return job.watch(work)

    def _refuse(self, *, study_seed: bool) -> None:
        """Refuse to publish data that hold what may not be, or miss what the plan requires."""
        refusals = [
            *self.unmet,
            *self.kind.check(self.data),
            *self.kind.undeclared(self.data, self.original, self.plan.output.allowed),
        ]
        if self.for_study and self.plan.access in PUBLIC and not study_seed:
            refusals.append(STUDY_REFUSAL)
        if refusals:
            raise DisclosureRefused("; ".join(refusals))

    def write_public(self, folder: Path, form: str, job: Job) -> Manifest:
        """Write what may be given away, then recompute every claim on the file as written."""
        job.begin("write")
        names = self.write_data(folder, form)
        job.begin("write")
        view = self.kind.read_back(self.as_shown(form), folder, names)
        for claim in self.claims:
            claim.require(view, where="release")
        job.begin("write")
        if self.plots and not self.for_study:
            from tacit.graphics.publish import write_plot_files

            write_plot_files(self.plots, folder)
        self.write_papers(folder)
        return Manifest.of(folder, self.kind.name, names)

    def write_data(self, folder: Path, form: str) -> dict[str, str]:
        """Write the protected data alone; return the files by name."""
        return self.kind.write_public(self.as_shown(form), folder, form)

    def as_shown(self, form: str) -> Any:
        """Return the data as they are written in a format: formulas are disarmed where the plan asks for it."""
        escape = self.plan.output.formulas == "escape" and form in SPREADSHEET_TEXT
        return self.kind.escape_formulas(self.written) if escape else self.written

    def write_papers(self, folder: Path) -> None:
        """Write what is published beside the data: plan, statement and report."""
        from tacit.report import public

        facts = statement(self)
        write_text(folder / "plan.yaml", to_yaml(self.plan.to_dict(public=True)))
        text = json.dumps(facts, indent=2, ensure_ascii=False)
        write_text(folder / "statement.json", text)
        write_text(folder / "statement.md", statement_text(facts))
        write_report(public(self), folder / "report", self.plan.output.reports)

    @functools.cached_property
    def written(self) -> Any:
        """Return the data in the order in which they are written."""
        return self.kind.shuffle(self.data, self.order_rng()) if self.order_drawn else self.data

    def order_rng(self) -> np.random.Generator:
        """Return the generator of the order of records: the seed alone gives it again."""
        key = f"order\0{self.ledger.last_fingerprint}".encode()
        return Context.start(self.ledger.seed, step=ORDER, key=key).rng

    def write_private(self, folder: Path, manifest: Manifest) -> None:
        """Write what must stay with the data holder."""
        from tacit.report import board

        plan = self.plan.with_absolute_paths()
        write_text(folder / "plan.yaml", to_yaml(as_json_number(plan.to_dict())))
        ledger = {"written": self.written_at, **self.document(manifest)}
        text = json.dumps(as_json_number(ledger), indent=2, ensure_ascii=False, default=str)
        write_text(folder / "ledger.json", text)
        write_report(board(self), folder / "board", self.plan.output.reports)
        self.kind.write_private(self.written, folder)

    def document(self, manifest: Manifest) -> dict[str, Any]:
        """Return what the ledger on disk says of the run, but for its time."""
        return {
            "files": dict(manifest.files),
            "data_fingerprint": self.ledger.last_fingerprint,
            "studied": self.studied,
            "attention": list(self.attention),
            "claims": [claim.to_dict() for claim in self.claims],
            **self.ledger.to_dict(),
            "before": [r.to_dict() for r in self.before],
            "after": [r.to_dict() for r in self.after],
            **({"plots": [r.to_dict() for r in self.plots]} if self.plots else {}),
        }


def write_report(document: Document, stem: Path, formats: Sequence[str]) -> None:
    """Write a report as HTML and in the further formats that the plan names."""
    document.to_html(stem.with_suffix(".html"))
    if "pdf" in formats:
        document.to_pdf(stem.with_suffix(".pdf"))
    if "docx" in formats:
        document.to_word(stem.with_suffix(".docx"))


def write_text(file: Path, text: str) -> None:
    """Write a text file."""
    file.write_text(text, encoding="utf-8")


def key_results(results: Sequence[Result], family: str) -> dict[str, Result]:
    """Return the results of a family under stable keys (a measure may stand twice in a plan)."""
    found: dict[str, Result] = {}
    for result in results:
        if is_risk(lookup(result.kind)) == (family == "risk"):
            n = sum(key.startswith(f"{result.kind}#") for key in found)
            found[f"{result.kind}#{n}"] = result
    return found
