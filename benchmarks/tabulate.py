"""Tabulate enterprise records with all sub-totals and the three largest contributors of each cell.

python benchmarks/tabulate.py [records]
"""

import sys
import time

import tacit
from tacit.examples.firms import activity_tree, firm_columns, region_tree


def main(n):
    data = tacit.read(firm_columns(n, seed=1))
    dimensions = {"region": region_tree(), "activity": activity_tree(), "size": None}
    for options in ({}, {"unit": "firm"}, {"holding": "firm_group"}):
        begun, cpu = time.perf_counter(), time.process_time()
        table = tacit.tables.tabulate(data, dimensions, "turnover", **options)
        print(
            f"{n:,} records, {len(table):,} cells, top 3 {options or 'by record'}: "
            f"{time.perf_counter() - begun:.1f} s, {time.process_time() - cpu:.1f} CPU s"
        )


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000)
