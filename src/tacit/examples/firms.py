"""A made-up population of enterprises, for examples, tests and measurements of tables.

Enterprises are spread over 36 activities (the leaves of a four-level tree of 53 codes, shaped like
NACE) and 16 districts in four states; shares of the activities are uneven, those of the districts
less so, and turnover is lognormal, as in official business statistics. About a tenth of the
enterprises belong to groups that own several.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from tacit.data.cells.dimension import Dimension
from tacit.data.microdata import Microdata
from tacit.engine.base import Engine
from tacit.examples.plans import write_plan
from tacit.io.hrc import write_hrc
from tacit.io.read import read

SIZES = ("0-9", "10-49", "50-249", "250+")


def firms(
    n: int = 2_600, seed: int = 1, *, weights: bool = False, engine: str | Engine = "duckdb"
) -> Microdata:
    """Return enterprises with region, activity, size class, turnover and employees.

    Columns: firm, firm_group (the holding), region (a district), activity (a class), size, turnover,
    employees and, if asked for, a sampling weight: small enterprises stand for several. Equal seeds give equal data;
    the trees of the codes are :func:`region_tree` and :func:`activity_tree`.
    """
    columns = firm_columns(n, seed, weights=weights)
    return read(columns, identifiers=["firm"], weight="weight" if weights else None, engine=engine)


def region_tree(name: str = "region") -> Dimension:
    """Return the regions: country, four states, four districts each."""
    lines = [(0, f"S{s}") for s in range(1, 5)]
    tree = [
        line
        for depth, code in lines
        for line in [(depth, code), *((1, f"{code}{d}") for d in "abcd")]
    ]
    return Dimension.from_tree(name, tree)


def activity_tree(name: str = "activity") -> Dimension:
    """Return the activities: total, 4 sections, 12 divisions, 36 classes; 53 codes on four levels."""
    tree = []
    for section in "CDFG":
        tree.append((0, section))
        for division in range(1, 4):
            tree.append((1, f"{section}{division}"))
            tree += [(2, f"{section}{division}{c}") for c in range(1, 4)]
    return Dimension.from_tree(name, tree)


def leaf_codes(dimension: Dimension) -> list[str]:
    """Return the ground codes of a dimension."""
    return [dimension.codes[i] for i in dimension.leaves]


def firm_columns(n: int, seed: int = 1, *, weights: bool = False) -> pa.Table:
    """Return the enterprises as an Arrow table.

    Activity shares are Dirichlet(0.7), district shares Dirichlet(3), turnover is lognormal(4, 1.6).
    """
    rng = np.random.default_rng(seed)
    classes, districts = leaf_codes(activity_tree()), leaf_codes(region_tree())
    activity = rng.choice(len(classes), n, p=rng.dirichlet(np.full(len(classes), 0.7)))
    region = rng.choice(len(districts), n, p=rng.dirichlet(np.full(len(districts), 3.0)))
    turnover = np.maximum(np.rint(rng.lognormal(4.0, 1.6, n)), 1.0)
    employees = np.maximum(np.rint(turnover / 12 * rng.lognormal(0.0, 0.5, n)), 1.0).astype(
        np.int64
    )
    size = np.digitize(employees, [10, 50, 250])
    owned = rng.random(n) < 0.1
    owner = np.where(owned, n + rng.integers(0, max(n // 40, 1), n), np.arange(n))
    table = pa.table(
        {
            "firm": np.char.add("F", np.arange(n).astype(str)),
            "firm_group": np.char.add("G", owner.astype(str)),
            "region": np.asarray(districts)[region],
            "activity": np.asarray(classes)[activity],
            "size": np.asarray(SIZES)[size],
            "turnover": turnover,
            "employees": employees,
        }
    )
    if weights:
        drawn = np.where(size == 0, 4.0, np.where(size == 1, 2.0, 1.0))
        table = table.append_column("weight", pa.array(drawn))
    return table


def write_firms(folder: str | Path, n: int = 2_600, seed: int = 1) -> Path:
    """Write the example as files and return the path of its plan.

    The folder, made where needed, receives ``firms.csv``, the hierarchies ``activity.hrc`` and
    ``region.hrc``, and ``firms.yaml``, which is returned.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    pa_csv.write_csv(firm_columns(n, seed), target / "firms.csv")
    write_hrc(activity_tree(), target / "activity.hrc")
    write_hrc(region_tree(), target / "region.hrc")
    return write_plan(target, "firms.yaml")
