"""What the command line prints: rich on a terminal, plain lines elsewhere."""

from __future__ import annotations

import functools
import inspect
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.result import Result, format_number
from tacit.treatment import statements

if TYPE_CHECKING:
    from tacit.catalogue import Entry
    from tacit.events import Event, Listener
    from tacit.release.release import Panel, Release
    from tacit.spec import Spec


class Console:
    """Standard output for answers, standard error for progress, notes and errors."""

    def rich(self, *, stderr: bool = False) -> Any:
        """Return the rich console for a stream, made when first used."""
        from rich.console import Console as RichConsole

        stream = sys.stderr if stderr else sys.stdout
        width = None if stream.isatty() else 120
        return RichConsole(file=stream, width=width, highlight=False, soft_wrap=True)

    def say(self, text: str) -> None:
        """Print plain text."""
        self.rich().print(text, markup=False)

    def note(self, text: str) -> None:
        """Print a note on standard error."""
        self.rich(stderr=True).print(f"note: {text}", markup=False, style="yellow")

    def error(self, text: str) -> None:
        """Print an error on standard error."""
        self.rich(stderr=True).print(f"error: {text}", markup=False, style="bold red")

    def result(self, result: Result) -> None:
        """Print a result."""
        self.say(repr(result))

    def action(self, data: Any) -> None:
        """Print what the last step did, and what holds."""
        action = data.history[-1]
        self.say(f"{action.kind}: {describe(action.details) or 'done'}")
        for claim in action.claims:
            self.say(f"holds: {claim.sentence()}")

    def release(self, release: Release, folder: Path) -> None:
        """Print what was done, risk and utility before and after, and where to look."""
        out = self.rich()
        plain = functools.partial(out.print, markup=False)
        title = release.plan.title or "Release"
        out.print(f"\n[bold]{title}[/bold]: {release.size}\n")
        out.print("[bold]What was done[/bold]")
        for i, action in enumerate(release.history, 1):
            plain(f"  {i}. {action.kind}: {describe(action.details) or 'done'}")
        out.print("\n[bold]What is claimed[/bold] (recomputed on the released file)")
        for claim in release.claims:
            plain(f"  holds: {claim.sentence()}")
        if not release.claims:
            out.print("  no protection model is claimed")
        if release.plots:
            out.print("\n[bold]Protected plots[/bold]")
        for plot in release.plots:
            told = "for study, nothing is claimed" if plot.claim is None else plot.claim.sentence()
            plain(f"  {plot.title}: {told}")
        for panel in (release.risk, release.utility):
            if panel.after:
                self.panel(panel)
        if release.attention:
            out.print("\n[bold]To be noted[/bold]")
            for sentence in release.attention:
                plain(f"  {sentence}")
        secret = folder.with_name(folder.name + "-confidential")
        out.print("\n[bold]Where to look[/bold]")
        plain(f"  {folder / 'report.html'}    the report, for reading")
        plain(f"  {folder}    may be given away")
        plain(f"  {secret}    must not: seed, ledger, full plan\n")

    def panel(self, panel: Panel) -> None:
        """Print one family's numbers before and after."""
        from rich.table import Table

        table = Table(
            title=panel.name.capitalize(),
            title_justify="left",
            title_style="bold",
            header_style="",
            box=None,
            pad_edge=False,
            padding=(0, 2),
        )
        table.add_column("measure")
        table.add_column("")
        table.add_column("before", justify="right")
        table.add_column("after", justify="right")
        last = ""
        for measure, label, before, after in panel.rows():
            table.add_row(
                measure if measure != last else "",
                label,
                "" if before is None else format_number(before),
                format_number(after),
            )
            last = measure
        self.rich().print()
        self.rich().print(table)

    def spec_list(self, found: Iterable[Entry]) -> None:
        """Print the registry as a table."""
        from rich.table import Table

        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2))
        for heading in ("kind", "family", "runs on", "what it does"):
            table.add_column(heading)
        for entry in sorted(found, key=lambda e: (e.family, e.kind)):
            table.add_row(entry.kind, entry.family, entry.runs_on, entry.title)
        self.rich().print(table)

    def spec(self, cls: type[Spec]) -> None:
        """Print one Spec: what it does, its parameters, where it runs."""
        out = self.rich()
        out.print(
            f"[bold]{cls.model_fields['kind'].default}[/bold] ({cls.family}, tacit.{cls.__name__})\n"
        )
        out.print(inspect.cleandoc(cls.__doc__ or ""), markup=False)
        out.print("\nParameters")
        for name, info in cls.model_fields.items():
            if name != "kind":
                default = format_number(info.get_default(call_default_factory=True)) or "none"
                need = "required" if info.is_required() else f"default {default}"
                out.print(f"  {name}: {info.description} ({need})", markup=False)
        needs = ", ".join(sorted(cls.needs)) or "no roles"
        out.print(f"\nNeeds: {needs}. Runs on: {cls.runs_on}.", markup=False)
        for role, words in statements(cls):
            out.print(f"  {role}: {words}", markup=False)


#: The one console of the command line.
console = Console()


def describe(details: Mapping[str, Any]) -> str:
    """Return the short facts of a step."""
    short = {
        k: v
        for k, v in details.items()
        if not isinstance(v, list | tuple) and (not isinstance(v, Mapping) or 0 < len(v) <= 8)
    }
    return "; ".join(
        f"{k.replace('_', ' ')} {format_number(v)}"
        for k, v in short.items()
        if k not in ("heights", "register")
    )


#: Seconds between two lines of progress where there is no terminal; shorter jobs say nothing.
LINES = 5.0


@contextmanager
def progress_bar(console: Console) -> Iterator[Listener]:
    """Show events as a bar on a terminal, and as a line every few seconds elsewhere."""
    if not sys.stderr.isatty():
        yield Lines(console)
        return
    from rich import progress

    with progress.Progress(
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.TimeElapsedColumn(),
        console=console.rich(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("starting", total=1.0)
        yield lambda event: bar.update(task, description=event.text[:70], completed=event.share)


class Lines:
    """Prints a line on standard error now and then, for logs."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.last = time.monotonic()

    def __call__(self, event: Event) -> None:
        """Print what a job is doing, unless the last line is recent."""
        if time.monotonic() - self.last < LINES:
            return
        self.last = time.monotonic()
        text = f"{event.share:4.0%}  step {event.step} of {event.of}: {event.text}"
        self.console.rich(stderr=True).print(text, markup=False)
