"""``tacit compare``, ``tiers``, ``map`` and ``tables``: several ways of protecting the same data, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from tacit.cli.options import SavePlot, Separator, Workers
from tacit.cli.render import console, progress_bar
from tacit.storage.own_folders import refuse_existing, refuse_files


def compare(
    plans: list[Path],
    /,
    *,
    k: int | None = None,
    seed: int | None = None,
    plot: SavePlot = None,
) -> int:
    """Run several plans on the same data and lay precision, k, drops and suppressions side by side.

    Parameters
    ----------
    plans
        The plan files; the source, roles and hierarchies are those of the first.
    k
        The class size to judge by.
    seed
        Seed given to every plan.
    """
    import tacit
    from tacit.plan import Plan

    refuse_existing(plot)
    loaded = {path.stem: Plan.load(path) for path in plans}
    with progress_bar(console) as show:
        data = next(iter(loaded.values())).read()
        result = tacit.compare(data, loaded, k=k, seed=seed, on_event=show)
    console.result(result)
    if plot is not None:
        result.plot().save(plot)
    return 0


def tiers(plans: list[Path], /, *, seed: int | None = None) -> int:
    """Run the plans of several products, the most open first, and check that each lies within the next.

    Parameters
    ----------
    plans
        The plan files; the source, roles and hierarchies are those of the first.
    seed
        Seed given to every plan.
    """
    from tacit.alternatives.tiers import Tiers
    from tacit.plan import Plan

    loaded = {path.stem: Plan.load(path) for path in plans}
    with progress_bar(console) as show:
        data = next(iter(loaded.values())).read()
        result = Tiers(loaded).check(data, seed=seed, on_event=show)
    console.result(result)
    return 0 if result.nested else 1


def ru_map(
    plan: Path,
    /,
    *,
    out: Path | None = None,
    seed: int | None = None,
    workers: Workers = None,
    resume: Path | None = None,
    max_risk: float | None = None,
    min_utility: float | None = None,
    force: bool = False,
) -> int:
    """Draw the risk-utility map of a plan's candidates, and choose one.

    Parameters
    ----------
    plan
        The plan file (YAML or TOML) with a map section: candidates, risk, utility.
    out
        Folder for map.html, map.svg, map.png, map.csv and the chosen plan; by default nothing is written.
    seed
        Overrides the plan's seed.
    resume
        Folder that keeps finished evaluations; an interrupted run goes on from there.
    max_risk
        Overrides the map's cap on risk.
    min_utility
        Overrides the map's floor of utility.
    force
        Replace a map that is already there.
    """
    from dataclasses import replace

    from tacit.alternatives.rumap import RUMap
    from tacit.alternatives.rumap.result import FILES
    from tacit.plan import Plan

    if out is not None:
        refuse_files(out, FILES, "map.html", force=force)
    made = RUMap.from_plan(Plan.load(plan))
    given: dict[str, Any] = {"workers": workers, "max_risk": max_risk, "min_utility": min_utility}
    made = replace(made, **{k: v for k, v in given.items() if v is not None})
    with progress_bar(console) as show:
        result = made.run(seed=seed, on_event=show, resume=resume)
    console.result(result)
    if out is not None:
        result.write(out, force=force)
        console.say(
            f"\nThe map is in {out / 'map.html'}; it shows the settings, so keep it inside."
        )
        chosen = out / "plan.yaml"
        console.say(
            f"The chosen plan is {chosen}: tacit run {chosen}"
            if chosen.exists()
            else "No candidate can be chosen, so there is no plan."
        )
    return 0


def tables(
    original: Path,
    versions: list[Path],
    /,
    *,
    rows: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    columns: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    value: str | None = None,
    rounded: int | None = None,
    impute: Literal["zero", "row_average", "weighted_row_average"] | None = None,
    max_risk: float | None = None,
    separator: Separator = None,
    encoding: str | None = None,
    missing: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    out: Path | None = None,
) -> int:
    """Compare protected versions of a table with the original: every loss, small-cell risk, the map.

    Parameters
    ----------
    original
        The original table (long or wide CSV or Excel), internal cells only.
    versions
        The protected versions, of the same layout.
    rows
        Variables that form the rows, for a table in long form.
    columns
        Variables that form the columns, for a table in long form.
    value
        Column with the cell values, for a table in long form.
    rounded
        Base to which the versions were rounded, for the exact binomial test.
    impute
        What stands for suppressed cells.
    max_risk
        Largest share of unprotected small cells, in percent, for the recommendation.
    encoding
        Encoding of text; by default utf-8.
    missing
        Texts that stand for a cell without a value.
    out
        Write the report (HTML) to this file.
    """
    import tacit
    from tacit.cli.tables import read_records

    refuse_existing(out)
    reading = {"rows": rows, "columns": columns, "value": value}
    measure = tacit.TableComparison.model_validate(
        {**reading, "rounded": rounded, "impute": impute}
    )

    def load(path: Path) -> Any:
        if separator or encoding or missing:
            return read_records(path, separator, encoding, missing).to_arrow()
        return path

    versions_by_name = {path.stem: load(path) for path in versions}
    result = tacit.compare(load(original), versions_by_name, [measure])
    console.result(result)
    if out is not None:
        result.document(title=original.stem, max_risk=max_risk).to_html(out)
        console.say(f"wrote the report to {out}; it is confidential")
    return 0
