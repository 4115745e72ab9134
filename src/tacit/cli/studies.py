"""Studies of papers: they lie beside the package in the source tree, not in it.

A study that ``tacit experiment`` can run is a module with ``run(size=, seed=, tick=)``, which returns tables by
name, and perhaps ``charts(tables)``.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from tacit.errors import InputError

FOLDER = Path(__file__).parents[3] / "examples" / "studies"


#: What can be run again, and the file that it lies in.
EXPERIMENTS = {
    "channels": "channels",
    "swap-or-shuffle": "swap_or_shuffle",
    "blanking": "blanking_and_noise",
    "grouping": "grouping_methods",
    "series": "series_distances",
    "dictionaries": "dictionary_size",
    "individual-risk": "individual_risk",
    "protected-plots": "protected_plots",
    "sample-uniques": "sample_uniques",
    "two-stage": "two_stage",
    "two-groups": "two_groups",
    "pram": "pram_register",
    "mahalanobis": "mahalanobis",
    "synthetic-weights": "weights_after_synthesis",
}


def run_study(name: str, folder: Path, *, size: str, seed: int, tick: Any) -> dict[str, Any]:
    """Run an experiment, write its tables (csv) and charts (svg), and return the tables."""
    import pyarrow.csv

    study = load_study(EXPERIMENTS[name])
    tables: dict[str, Any] = study.run(size=size, seed=seed, tick=tick)
    folder.mkdir(parents=True, exist_ok=True)
    for title, table in tables.items():
        pyarrow.csv.write_csv(table.to_arrow(), folder / f"{title.replace(' ', '_')}.csv")
    if hasattr(study, "charts"):
        for title, chart in study.charts(tables).items():
            chart.save(folder / f"{title}.svg")
    return tables


def load_study(name: str, folder: Path = FOLDER) -> ModuleType:
    """Return a study as a module, or say where it lies when this is no source tree."""
    file = folder / f"{name}.py"
    if not file.is_file():
        raise InputError(
            f"the study {name!r} is not part of the installed package: it lies in examples/studies/{name}.py "
            "of the source tree. Run this command from a checkout, installed with: pip install -e ."
        )
    spec = importlib.util.spec_from_file_location(f"studies.{name}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their own module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
