"""The example of a magnitude table as files: enterprises, two hierarchies and a plan."""

from __future__ import annotations

from pathlib import Path

from tacit.data.cells.dimension import Dimension
from tacit.examples.firms import activity_tree, firm_columns, region_tree
from tacit.examples.plans import write_plan


def write_firms(folder: str | Path, n: int = 2_600, seed: int = 1) -> Path:
    """Write the example as files and return the path of its plan.

    The folder, made where needed, receives ``firms.csv``, the hierarchies ``activity.hrc`` and
    ``region.hrc``, and ``firms.yaml``, which is returned.
    """
    import pyarrow.csv

    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    pyarrow.csv.write_csv(firm_columns(n, seed), target / "firms.csv")
    write_hrc(activity_tree(), target / "activity.hrc")
    write_hrc(region_tree(), target / "region.hrc")
    return write_plan(target, "firms.yaml")


def write_hrc(dimension: Dimension, path: Path) -> None:
    """Write a tree as an ``.hrc`` file: one code per line, depth by leading @."""
    below = {s.parent: s.children for s in dimension.sums}
    lines: list[str] = []

    def visit(code: int, depth: int) -> None:
        for child in below.get(code, ()):
            lines.append("@" * depth + dimension.codes[child])
            visit(child, depth + 1)

    visit(dimension.total, 0)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
