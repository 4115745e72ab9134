"""The release of a table: built or read, judged, protected, measured, written and verified.

On disk it looks like the release of records, with ``table.csv`` in place of the data: codes, published
value (or interval) and a mark; nothing of what is hidden. The full table lies in the confidential folder.
"""

from __future__ import annotations

import datetime as dt
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tacit
from tacit.context import Context, Progress, fresh_seed, silent
from tacit.data.claims import Claim
from tacit.data.fingerprint import fingerprint, table_fingerprint
from tacit.data.microdata import Action, Microdata
from tacit.data.table import Table
from tacit.errors import DisclosureRefused, PlanError, SdcError
from tacit.ledger import Ledger
from tacit.plan import BUILD, Plan, placed, to_yaml
from tacit.registry import lookup
from tacit.release import Panel, keyed, refuse_target, write_folders, write_papers
from tacit.result import Result, Summary, plain
from tacit.spec import Method, TableMeasure, TableMethod

if TYPE_CHECKING:
    from tacit.plot.chart import Chart

#: Endings of files that hold a ready table and nothing else.
READY_FILES = (".table", ".jj", ".csp", ".tab")


@dataclass(frozen=True, repr=False)
class TableRelease:
    """What running a plan for a table gives. Nothing is on disk until :meth:`write`.

    Attributes
    ----------
    judged
        The table after the rules and before protection.
    table
        The protected table.
    """

    plan: Plan
    judged: Table
    table: Table
    before: tuple[Result, ...]
    after: tuple[Result, ...]
    ledger: Ledger
    records: Microdata | None = None

    @property
    def original(self) -> Table:
        """Return the table after the rules and before protection."""
        return self.judged

    @property
    def data(self) -> Table:
        """Return the protected table."""
        return self.table

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Return every claim made by the steps on the table."""
        return tuple(claim for action in self.table.history for claim in action.claims)

    @property
    def history(self) -> tuple[Action, ...]:
        """Return what was done."""
        return self.table.history

    @property
    def size(self) -> str:
        """Return how large the table is and how much of it is hidden, in words."""
        return f"{len(self.table):,} cells, {int(self.table.hidden.sum()):,} of them hidden"

    @property
    def risk(self) -> Panel:
        """Return what an attacker could learn, before and after."""
        return self.panel("attacks")

    @property
    def utility(self) -> Panel:
        """Return the loss."""
        return self.panel("utility")

    def panel(self, family: str) -> Panel:
        """Return the results of one family."""
        return Panel(family, keyed(self.before, family), keyed(self.after, family))

    def summary(self) -> Summary:
        """Return what was done in a few lines."""
        numbers: dict[str, Any] = {
            "table": " x ".join(f"{d.name} ({len(d)})" for d in self.table.dimensions)
            or "equations",
            "cells": len(self.table),
            "status": ", ".join(f"{n:,} {word}" for word, n in self.table.tally().items()),
            "steps": ", ".join(step.kind for step in self.plan.steps),
            "claims": "; ".join(claim.sentence() for claim in self.claims) or "none",
        }
        return Summary({**numbers, **self.risk.summary(), **self.utility.summary()})

    def plot(self) -> Chart:
        """Return risk before and after."""
        return self.risk.plot() if self.risk.after else self.utility.plot()

    def __repr__(self) -> str:
        return f"Release of a table\n------------------\n{self.summary()}"

    # -- writing -----------------------------------------------------------------------------

    def write(
        self,
        folder: str | Path | None = None,
        *,
        format: str | None = None,  # noqa: A002 - the word of the plan file
        force: bool = False,
    ) -> Path:
        """Write the release folder and, apart from it, the confidential ledger and full table.

        Raises
        ------
        DisclosureRefused
            When unsafe cells would go out unchanged, a claim does not hold, or the target is taken.
        """
        given = (
            folder
            if folder is not None
            else self.plan.resolve(self.plan.output.get("folder", "release"))
        )
        target = Path(given).absolute()
        form = format or str(self.plan.output.get("format", "csv"))
        refuse_target(target, self.ledger.source, force=force)
        refuse_unsafe(self.table)
        refuse_unjudged(self.table)
        return write_folders(self, target, form)

    def write_public(self, folder: Path, form: str) -> None:
        """Write what may be given away, then look at it once more as it stands on disk."""
        from tacit.report import public

        file = folder / f"table.{form}"
        write_released(self.table, file)
        refuse_leaks(self.table, file)
        write_papers(folder, self.plan, statement(self), public(self).to_html(), {"table": file.name})

    def write_secret(self, folder: Path, release_id: str, form: str) -> None:
        """Write what must stay with the data holder."""
        plan = self.plan.to_dict()
        if self.plan.source:
            plan["source"]["path"] = str(
                Path(self.plan.resolve(self.plan.source["path"])).resolve()
            )
        dimensions = plan.get("table", {}).get("dimensions")
        if isinstance(dimensions, dict):
            plan["table"]["dimensions"] = {
                c: str(Path(self.plan.resolve(h)).resolve()) if isinstance(h, str) else h
                for c, h in dimensions.items()
            }
        plan["output"] = {**plan.get("output", {}), "format": form}
        (folder / "plan.yaml").write_text(to_yaml(plain(plan)), encoding="utf-8")
        ledger = {
            "release": release_id,
            "written": dt.datetime.now(tz=dt.UTC).isoformat(timespec="seconds"),
            "table_fingerprint": table_fingerprint(self.table),
            **self.ledger.to_dict(),
            "before": [r.to_dict() for r in self.before],
            "after": [r.to_dict() for r in self.after],
        }
        (folder / "ledger.json").write_text(
            json.dumps(plain(ledger), indent=2, ensure_ascii=False, default=str), encoding="utf-8"
        )
        self.table.save(folder / "full.table")


# -- running ---------------------------------------------------------------------------------------


def run(
    plan: Plan,
    data: Microdata | Table | None = None,
    *,
    seed: int | None = None,
    progress: Progress = silent,
    should_stop: Callable[[], bool] = lambda: False,
) -> TableRelease:
    """Run a plan that releases a table."""
    progress("reading", None)
    source = read_source(plan) if data is None else data
    root = next((s for s in (seed, plan.seed) if s is not None), None)
    root = fresh_seed() if root is None else root
    plan = replace(plan, seed=root)
    faults = plan_faults(plan, source)
    if faults:
        raise PlanError("the plan cannot run", faults)

    def context(step: int) -> Context:
        return Context.start(root, step=step, progress=progress, should_stop=should_stop)

    records = source if isinstance(source, Microdata) else None
    if records is not None:
        ledger = Ledger.start(plan, records)
        for i, step in enumerate(plan.steps, 1):
            if isinstance(step, Method):
                after, warned = attempt(step, records, context(i), i)
                ledger = ledger.with_step(step, records, after.materialise(), warned)
                records = after
        progress("tabulating", None)
        table = build(plan, records)
        table = table.with_(history=tuple(records.history))
    else:
        assert isinstance(source, Table)
        table = source
        ledger = Ledger.start_table(plan, table)
    judged, protecting = table, False
    for i, step in enumerate(plan.steps, 1):
        if not isinstance(step, TableMethod):
            continue
        if step.family != "rules" and not protecting:
            judged, protecting = table, True
        after_table, warned = attempt(step, table, context(i), i)
        ledger = ledger.with_table_step(step, table, after_table, warned)
        table = after_table
    if not protecting:
        judged = table
    measures = [m for m in plan.measures if isinstance(m, TableMeasure)] or default_measures(table)
    plan = replace(plan, measures=tuple(measures))

    def measured(now: Table, when: str) -> tuple[Result, ...]:
        results = []
        for i, measure in enumerate(measures):
            if when == "before" and measure.compares:
                continue
            progress(f"measuring {measure.kind} {when}", None)
            results.append(measure.measure(now, original=judged, context=context(10_000 + i)))
        return tuple(results)

    before = measured(judged, "before") if protecting else ()
    return TableRelease(plan, judged, table, before, measured(table, "after"), ledger, records)


def attempt(step: Any, thing: Any, ctx: Context, i: int) -> tuple[Any, list[str]]:
    """Apply one step; keep its warnings, and say where in the plan an error arose."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            after = step.apply(thing, context=ctx)
        except SdcError as error:
            raise placed(error, f"step {i} ({step.kind})") from error
    for warning in caught:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return after, [str(w.message) for w in caught]


def default_measures(table: Table) -> list[TableMeasure]:
    """Return what is measured when a plan names nothing."""
    del table
    kinds = ["audit", "cell_loss"]
    return [m for m in (lookup(k)() for k in kinds) if isinstance(m, TableMeasure)]


def read_source(plan: Plan) -> Microdata | Table:
    """Read the records, or the ready table, that the plan names."""
    if not plan.source:
        raise PlanError("the plan names no source; give it one, or pass data to run()")
    path = plan.resolve(plan.source["path"])
    suffix = Path(str(path)).suffix.lower()
    if suffix == ".table":
        return Table.load(path)
    if suffix in (".jj", ".csp"):
        from tacit.tables import read_jj

        return read_jj(path)
    options = {k: v for k, v in plan.table.items() if k != "ready"}
    if suffix == ".tab":
        from tacit.tables import read_tab

        metadata = options.get("metadata")
        return read_tab(path, plan.resolve(metadata) if metadata else None)
    if plan.table.get("ready"):
        from tacit.tables import read_table

        options["dimensions"] = resolved(plan, options.get("dimensions"))
        return read_table(path, **options)
    return plan.read()


def build(plan: Plan, records: Microdata) -> Table:
    """Tabulate the records as the table section says."""
    options = {k: v for k, v in plan.table.items() if k in BUILD}
    dimensions = resolved(plan, options.pop("dimensions", None))
    if not dimensions:
        raise PlanError("the table section names no dimensions")
    return Table.from_microdata(records, dimensions, options.pop("value", None), **options)


def resolved(plan: Plan, dimensions: Any) -> Any:
    """Return the dimensions with file names relative to the plan."""
    if not isinstance(dimensions, Mapping):
        return dimensions
    return {c: str(plan.resolve(h)) if isinstance(h, str) else h for c, h in dimensions.items()}


def plan_faults(plan: Plan, data: Microdata | Table | None = None) -> list[str]:
    """Return what can be known to be wrong before work is done."""
    if data is None:
        try:
            data = read_source(plan)
        except SdcError as error:
            return [str(error)]
    found = []
    if isinstance(data, Microdata):
        for i, step in enumerate(plan.steps, 1):
            if isinstance(step, Method):
                found += [f"step {i} ({step.kind}): {f}" for f in step.faults(data)]
        named = plan.table.get("dimensions") or ()
        columns = [
            *named,
            *(
                plan.table.get(k)
                for k in (
                    "value",
                    "holding",
                    "unit",
                    "weight",
                    "request",
                    "waiver",
                    "cost",
                    "shadow",
                )
            ),
        ]
        missing = [c for c in columns if isinstance(c, str) and c not in data.columns]
        if not named:
            found.append("table: name the dimensions, such as {dimensions: {region: regions.hrc}}")
        found += [f"table: there is no column {c!r} in the data" for c in missing]
    elif any(isinstance(s, Method) for s in plan.steps):
        found.append("a ready table has no records: only steps on tables can be applied")
    return found


# -- refusals ----------------------------------------------------------------------------------------


def refuse_unsafe(table: Table) -> None:
    """Refuse a table whose unsafe cells would go out as they are."""
    open_cells = table.primary & ~table.hidden
    if table.changed is not None:
        open_cells &= table.changed == table.value
        needed = (table.lower_level > 0) | (table.upper_level > 0) | (table.sliding_level > 0)
        open_cells &= needed
    if open_cells.any():
        raise DisclosureRefused(
            f"{int(open_cells.sum()):,} unsafe cells would be published unchanged; protect the table first"
        )


def refuse_unjudged(table: Table) -> None:
    """Refuse to publish a table as it is when nobody has looked for unsafe cells."""
    judged = any(lookup(action.kind).family == "rules" for action in table.history)
    if judged or table.changed is not None or table.hidden.any() or table.interval is not None:
        return
    raise DisclosureRefused(
        "no rule has judged this table, and all of it would be published as it is; apply a rule first "
        "(p_percent, dominance, minimum_frequency, ...)"
    )


def write_released(table: Table, file: Path) -> None:
    """Write what may be given away."""
    import pyarrow.csv
    import pyarrow.parquet

    frame = table.released().to_native()
    form = file.suffix[1:]
    if form == "csv":
        pyarrow.csv.write_csv(frame, file)
    elif form == "parquet":
        pyarrow.parquet.write_table(frame, file)
    elif form == "xlsx":
        write_excel(frame, file)
    else:
        raise DisclosureRefused(f"a table is released as csv, parquet or xlsx (got {form!r})")


def write_excel(frame: Any, file: Path) -> None:
    """Write a frame as a sheet."""
    try:
        import openpyxl
    except ImportError:
        from tacit.errors import require

        raise require("openpyxl", "files", "writing Excel") from None
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("table")
    sheet.append(frame.column_names)
    for row in zip(*(c.to_pylist() for c in frame.columns), strict=True):
        sheet.append(list(row))
    book.save(file)


def refuse_leaks(table: Table, file: Path) -> None:
    """Read the released file again: hidden cells must have no value in it."""
    from tacit.io.read import read

    column = read(file).column(table.response)
    if len(column) != len(table) or (~column.is_null().to_numpy() & table.hidden).any():
        raise DisclosureRefused(
            "the released file does not match the pattern; nothing was released"
        )


# -- statement ---------------------------------------------------------------------------------------


def statement(release: TableRelease) -> dict[str, Any]:
    """Return the public statement as data."""
    table = release.table
    return {
        "title": release.plan.title or "Release of a table",
        "tacit": tacit.__version__,
        "access": release.plan.access,
        "cells": len(table),
        "records": len(table),
        "columns": [*table.names, table.response],
        "steps": [
            {
                "kind": a.kind,
                "techniques": list(a.techniques),
                "public_parameters": {k: v for k, v in a.parameters.items() if k != "kind"},
            }
            for a in table.history
        ],
        "claims": [plain(claim.to_dict()) for claim in release.claims],
    }


# -- verifying -------------------------------------------------------------------------------------------


def verify_checks(
    target: Path, manifest: Mapping[str, Any], data: Microdata | Table | None
) -> Sequence[tuple[str, bool, str]]:
    """Check a released table: claims on the full table, the file against it, and a re-run."""
    secret = target.with_name(f"{target.name}-confidential") / manifest["release"]
    if not (secret / "full.table").exists():
        return [("claims and re-run", True, "left out: the confidential folder is not here")]
    from tacit.registry import discover

    discover()
    full = Table.load(secret / "full.table")
    checks: list[tuple[str, bool, str]] = []
    for claim in (c for a in full.history for c in a.claims):
        try:
            checks.append((f"claim holds: {claim.sentence()}", claim.holds(full), ""))
        except KeyError:
            checks.append((f"claim: {claim.sentence()}", True, "checked on the records only"))
    try:
        refuse_leaks(full, target / manifest["table"])
        checks.append(("the file shows what the pattern allows", True, ""))
    except DisclosureRefused as error:
        checks.append(("the file shows what the pattern allows", False, str(error)))
    ledger = json.loads((secret / "ledger.json").read_text(encoding="utf-8"))
    plan = Plan.load(secret / "plan.yaml")
    if data is None and not plan.source:
        return [*checks, ("re-run", True, "left out: the data were given in Python")]
    try:
        source = read_source(plan) if data is None else data
    except SdcError as error:
        return [*checks, ("source can be read", False, str(error))]
    now = table_fingerprint(source) if isinstance(source, Table) else fingerprint(source)
    same = now == ledger["source_fingerprint"]
    checks.append(("source is the one protected", same, "" if same else "it has changed since"))
    if same:
        again = table_fingerprint(run(plan, source).table)
        checks.append(("re-run gives the same table", again == ledger["table_fingerprint"], ""))
    return checks
