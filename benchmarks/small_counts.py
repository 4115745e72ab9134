"""Small count rounding against random rounding, and the cell-key method on many cells.

Counts are Poisson; areas stand in groups of two sizes. Seconds are processor time.

python benchmarks/small_counts.py [small|keys ...]
"""

import sys
import time

import numpy as np

import tacit
from tacit.data.cells.relations import roll_up

#: Areas, the sizes of the groups that hold them, and the mean count.
AREAS = {
    "24,000": (200, (10, 50), 2.0),
    "99,960": (833, (10, 100), 2.0),
    "99,960 sparse": (833, (10, 100), 0.5),
}


def area_table(areas, groups, mean, seed=1):
    """Return Poisson counts of areas (in groups of two sizes) by 12 by 10."""
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
    ground = np.random.default_rng(seed).poisson(mean, (areas, 12, 10))
    return tacit.Table.from_cells(dimensions, roll_up(ground, dimensions), frequency=True)


def timed(spec, table):
    """Return the result and the seconds."""
    begun = time.process_time()
    result = spec.apply(table, seed=1)
    return result, time.process_time() - begun


def report(name, result, table, spent):
    """Print how far margins moved."""
    away = np.abs(result.published - table.value)[~table.ground]
    print(
        f"{name:44s} largest {away.max():6.0f}  mean {away.mean():7.3f}  {spent:6.2f} s", flush=True
    )


def small_counts():
    """Round the area tables."""
    for name, (areas, groups, mean) in AREAS.items():
        table = area_table(areas, groups, mean)
        for focus in ("sum", "largest"):
            result, spent = timed(tacit.RoundSmallCounts(base=3, focus=focus), table)
            report(f"{name}: small counts, focus {focus}", result, table, spent)
            details = result.history[-1].details
            print(
                f"    {details['changed_ground_cells']:,} changed, squares "
                f"{details['sum_of_squares']:,} (bound {details['sum_of_squares_bound']:,})"
            )
        result, spent = timed(tacit.RandomRounding(base=3, totals="sum"), table)
        report(f"{name}: random rounding, summed", result, table, spent)


def keys():
    """Perturb a million counts, and as many magnitudes."""
    rng = np.random.default_rng(1)
    counts = rng.poisson(3, (1000, 1000))
    table = tacit.Table.from_array(counts, totals=False, frequency=True)
    for name, spec in (("counts", tacit.CellKey()), ("counts, D = 10", tacit.CellKey(maximum=10))):
        result, spent = timed(spec, table)
        report(f"cell keys, {len(table):,} {name}", result, table, spent)
    values = tacit.Table.from_array(rng.lognormal(4, 1, (1000, 1000)), totals=False)
    result, spent = timed(tacit.CellKey(scale_by="value"), values)
    report(f"cell keys, {len(values):,} magnitudes", result, values, spent)


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["small", "keys"]
    if "small" in chosen:
        small_counts()
    if "keys" in chosen:
        keys()
