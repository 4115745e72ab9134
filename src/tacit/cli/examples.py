"""``tacit example`` and ``tacit experiment``: made-up data to begin with, and published experiments again."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from tacit.cli.render import console, progress_bar
from tacit.cli.studies import EXPERIMENTS, run_study
from tacit.errors import explain_target
from tacit.events import Job, Phase
from tacit.storage.own_folders import move_files, note_begun, refuse_existing

if TYPE_CHECKING:
    Experiment = str
else:
    Experiment = Literal[tuple(EXPERIMENTS)]


def example(
    folder: Path,
    /,
    *,
    of: Literal["hospital", "firms", "census", "notes", "parties"] | None = None,
    records: int | None = None,
    seed: int = 1,
) -> int:
    """Write example data: a generated hospital file, enterprises, a census, letters, or three parties; with a plan.

    Parameters
    ----------
    folder
        Where to write; made when it does not exist. A folder called after an example gets that one.
    of
        ``hospital``: patients, a register and hierarchies. ``firms``: enterprises and two hierarchies. ``census``:
        half a million persons in households and three levels of geography. ``notes``: letters, and a table with a
        column of notes. ``parties``: three hospitals that may not pool their files, for a joint fit. By default the
        name of the folder says it, or else hospital.
    records
        Number of patients, enterprises, persons or letters.
    seed
        Seed of the generator.
    """
    named = folder.name if folder.name in EXAMPLES else "hospital"
    chosen = of or named
    with explain_target(folder):
        folder.mkdir(parents=True, exist_ok=True)
        # Written aside first: nothing of the same name is replaced.
        with TemporaryDirectory(prefix=".example-", dir=folder) as room:
            note_begun(room)
            module, name, usual = EXAMPLES[chosen]
            write = getattr(import_module(module), name)
            plan: Path = write(Path(room), n=records or usual, seed=seed)
            move_files(Path(room), folder)
    if chosen == "parties":
        console.say(f"Wrote three hospitals to {folder}; try: tacit party trial {folder}")
    else:
        console.say(f"Wrote the {chosen} example to {folder}; try: tacit run {folder / plan.name}")
    return 0


#: Where each example is written from, and how many records it has.
EXAMPLES = {
    "hospital": ("tacit.examples", "write_hospital", 25_000),
    "firms": ("tacit.examples.firms", "write_firms", 2_600),
    "census": ("tacit.examples.country", "write_census", 500_000),
    "notes": ("tacit.examples.notes", "write_notes", 60),
    "parties": ("tacit.private.example", "write_parties", 600),
}


def experiment(
    name: Experiment,
    /,
    *,
    out: Path,
    size: Literal["small", "paper"] = "small",
    seed: int = 0,
) -> int:
    """Run a published experiment again and write its tables and charts.

    Parameters
    ----------
    name
        ``channels``: the sweeps of Garfinkel, Gopal and Thompson (2007), section 7.
        ``swap-or-shuffle``: both simulations of Muralidhar, Sarathy and Dandekar (2006).
        ``blanking``: the four designs of Flossmann and Lechner (2006).
        ``grouping``: methods of microaggregation on growing files, Fayyoumi and Oommen (2006).
        ``series``: distances that find time series again, Nin and Torra (2006), on simulated series.
        ``dictionaries``: risk by size of the attacker's dictionary, Lebanon et al. (2006), on simulated items.
        ``synthetic-weights``: coverage with synthetic design variables, Mitra and Reiter (2006).
        ``individual-risk``: three estimators against the truth, Di Consiglio and Polettini (2006), on an invented census.
        ``protected-plots``: noise, attacks and efficiency of plots, Heitzig (2006), Figures 2, 3 and 5.
        ``sample-uniques``: population uniques among sample uniques by smoothing, Rinott and Shlomo (2006), on drawn tables.
        ``two-stage``: six maskings in one or two stages on eight data sets, Oganian and Karr (2006), on drawn data.
        ``two-groups``: groups of two on the CASC files and ratios to the optimum, Domingo-Ferrer and Sebé (2006).
        ``pram``: fifty matrices on a register, de Wolf (2006), on a drawn register.
        ``mahalanobis``: synthetic releases of Census and EIA against five distances, Torra et al. (2006).
    out
        Folder for the tables (csv) and charts (svg).
    size
        ``small`` takes seconds, ``paper`` has the size of the paper and takes minutes.
    seed
        Seed of the simulated data.
    """
    if not out.is_dir() or any(out.iterdir()):
        refuse_existing(out, "choose another folder")
    with progress_bar(console) as show:
        job = Job(show, phases=(Phase("measure", f"Running the study {name}"),))
        tables = job.watch(
            lambda: run_study(name, out, size=size, seed=seed, tick=job.begin("measure").tick)
        )
    for title, table in tables.items():
        console.say(f"{title}: {len(table)} rows")
    console.say(f"wrote tables and charts to {out}")
    return 0
