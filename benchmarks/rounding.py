"""Controlled rounding of the sizes in Salazar's Table 3 and of area tables with groups of areas.

Random tables: a cell is 0 with probability 1 - density/100, else 1..4; base 5; all margins.

python benchmarks/rounding.py [name ...] [seconds]
"""

import sys
import time

import numpy as np

import tacit
from tacit.data.cells.relations import roll_up
from tacit.tables.rounding.controlled_rounding import round_ground_naively, solve_rounding

#: Name to (shape, densities, y that is asked for).
SIZES = {
    "2000x1000": ((2000, 1000), (25, 50, 75, 100), 0),
    "13x13x13": ((13, 13, 13), (50, 100), 0),
    "30x30x30": ((30, 30, 30), (25, 50, 75, 100), 0),
    "3^5": ((3,) * 5, (25, 50, 75, 100), 1),
    "2^8": ((2,) * 8, (25, 50, 75, 100), 1),
    "3^6x2^2": ((3,) * 6 + (2,) * 2, (25, 50, 75, 100), 3),
}
#: Areas and the sizes of the groups that hold them.
AREAS = {"areas-200": (200, (10, 50)), "areas-1000": (1000, (10, 100))}


def random_table(shape, density, seed=1):
    """Return a random table with all its margins."""
    rng = np.random.default_rng(seed)
    ground = np.where(rng.random(shape) * 100 < density, rng.integers(1, 5, shape), 0)
    return tacit.Table.from_array(ground, totals=False)


def area_table(areas, groups, seed=1):
    """Return Poisson(2) counts of areas (in groups of two sizes) by 12 by 10."""
    small, large = groups
    lines = []
    for a in range(0, areas, large):
        lines.append((0, f"L{a}"))
        for b in range(a, min(a + large, areas), small):
            lines.append((1, f"S{b}"))
            lines += [(2, f"a{i}") for i in range(b, min(b + small, areas))]
    dimensions = (
        tacit.Dimension.from_tree("area", lines),
        tacit.Dimension.flat("first", map(str, range(12))),
        tacit.Dimension.flat("second", map(str, range(10))),
    )
    ground = np.random.default_rng(seed).poisson(2.0, (areas, 12, 10))
    return tacit.Table.from_cells(dimensions, roll_up(ground, dimensions), frequency=True)


def report(name, table, base, target, seconds):
    """Round one table and print what came out."""
    begun = time.process_time()
    found = solve_rounding(table, base, time_limit=seconds)
    spent = time.process_time() - begun
    off = table.is_additive(found.values)
    print(
        f"{name:18} {len(table):>9,} cells  {found.strategy:12} {found.status:9} y={found.y} "
        f"(target {target}, bound {found.y_bound}, nearest {round_ground_naively(table, base)['nearest']})  "
        f"objective {found.objective:,.0f}  {spent:6.1f} CPU s  additive {off}",
        flush=True,
    )


def main(names, seconds):
    for name, (shape, densities, target) in SIZES.items():
        if not names or name in names:
            for density in densities:
                report(f"{name} {density}%", random_table(shape, density), 5, target, seconds)
    for name, (areas, groups) in AREAS.items():
        if not names or name in names:
            report(name, area_table(areas, groups), 3, 1, seconds)


if __name__ == "__main__":
    words = sys.argv[1:]
    limit = float(words.pop()) if words and words[-1].replace(".", "").isdigit() else 60.0
    main(words, limit)
