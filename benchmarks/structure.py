"""Block-angular structure: width of the border, and what it saves in the normal equations.

Times are CPU seconds of one run each, after the kernels were compiled. The normal equations
(A Theta A') dy = g have Theta lognormal (sigma 2) and g in their range; "set up" is the factorisation,
"solve" one right-hand side with its refinement, whose iterations are added up. They are solved for small
instances only: --solve and --pcg give the numbers of relations. --audit compares an audit by blocks.

PYTHONPATH=examples python benchmarks/structure.py [--solve 6000] [--pcg 4000] [--audit] [name ...]
"""

import argparse
import dataclasses
import time

import numpy as np
from audit import SHAPES, table_of
from scipy import sparse

from studies.instances import NAMES, instance
from tacit.tables.attack.attacker import shortfalls
from tacit.tables.structure.detection import (
    detect_structure,
    independent_rows,
    matrix_of,
    normal_eq_solver,
    statistics,
)
from tacit.tables.suppress.problem import problem_of

#: Forms and numbers of blocks whose border is measured.
ASKED = (("dual", 2), ("dual", 4), ("primal", 2), ("primal", 4))
#: Shapes and seeds of the tables that are audited.
AUDITED = (("10^4, 2-D", 1), ("10^4, 3-D", 1), ("10^4, 3-D", 2))
#: Relations up to which the normal equations are solved, and up to which by conjugate gradients.
SMALL, ITERATED = 6000, 4000


def clocked(work):
    """Return what a function returns, and its CPU seconds."""
    begun = time.process_time()
    found = work()
    return found, time.process_time() - begun


def borders(name, table):
    """Print the size of an instance, the share of its linking part, and the time to find it."""
    facts = statistics(table)
    shown = []
    for form, k in ASKED:
        found, spent = clocked(lambda form=form, k=k: detect_structure(table, form, k, seed=1))
        if found.stray():
            raise AssertionError(f"{name}: entries outside the blocks and the border")
        shown.append(f"{form} k={k} {found.share:6.1%} {spent:5.2f} s")
    print(
        f"{name:14} {facts['m']:6,} rows {facts['n']:6,} columns {facts['nnz']:7,} entries "
        f"rank {facts['rank']:6,}  " + "  ".join(shown),
        flush=True,
    )


def solves(name, matrix, label, methods):
    """Print the time of the normal equations whole, by Schur complements and by conjugate gradients."""
    rng = np.random.default_rng(1)
    m, n = matrix.shape
    theta = rng.lognormal(0.0, 2.0, n)
    g = matrix @ (theta * (matrix.T @ rng.standard_normal(m)))
    ways = [("whole", None, "direct")]
    for form in ("dual", "primal"):
        found = detect_structure(matrix, form, 2, seed=1)
        ways += [(f"{form} {method}", found, method) for method in methods]
    for way, found, method in ways:
        solver, begun = clocked(
            lambda found=found, method=method: normal_eq_solver(matrix, theta, found, method)
        )
        dy, spent = clocked(lambda solver=solver: solver(g))
        off = np.abs(solver.apply(dy) - g).max() / np.abs(g).max()
        print(
            f"{name:14} {label:11} {m:5,} rows  {way:12} set up {begun:6.3f} s  solve {spent:7.3f} s  "
            f"border {solver.border:5,}  fill {solver.fill:9,}  iterations {solver.iterations:5,}  "
            f"residual {off:.0e}",
            flush=True,
        )


def audits(name, seed, unsafe=2000):
    """Print the time to audit a table whole, and with its linking cells known at first.

    Known cells only help an attacker: what is protected then is protected, and the rest is asked again.
    """
    table = table_of(SHAPES[name], unsafe, seed)
    problem, hidden = problem_of(table), table.hidden
    whole, spent = clocked(lambda: shortfalls(problem, hidden, workers=1))
    cells = np.flatnonzero(hidden)
    matrix = sparse.csr_array(problem.by_cell[:, cells])
    matrix = matrix[np.diff(matrix.indptr) > 0]
    found, seconds = clocked(lambda: detect_structure(matrix, "dual", 2, seed=1))
    fewer = hidden.copy()
    linking = cells[found.linking]
    fewer[linking[~problem.primary[linking]]] = False
    open_, first = clocked(lambda: shortfalls(problem, fewer, workers=1))
    asked = np.zeros(len(hidden), dtype=bool)
    asked[[s.cell for s in open_]] = True
    rest = dataclasses.replace(problem, primary=problem.primary & asked)
    left, second = clocked(lambda: shortfalls(rest, hidden, workers=1))
    if {s.cell for s in left} != {s.cell for s in whole}:
        raise AssertionError("the two audits disagree")
    print(
        f"audit {name}, seed {seed}: whole {spent:.2f} s; structure {seconds:.2f} s ({found}), by blocks {first:.2f} s, "
        f"{len(open_):,} cells asked again {second:.2f} s",
        flush=True,
    )


def main():
    """Run the instances that were asked for, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--solve", type=int, default=SMALL, help="relations to solve for at most")
    parser.add_argument("--pcg", type=int, default=ITERATED, help="the same, by iterations")
    parser.add_argument("--audit", action="store_true", help="compare audits, and nothing else")
    asked = parser.parse_args()
    for name in ("targus", "jjtabeltest"):
        for form, k in ASKED:
            detect_structure(instance(name), form, k, seed=1)
    if asked.audit:
        shortfalls(problem_of(instance("targus")), instance("targus").hidden, workers=1)
        for name, seed in AUDITED:
            audits(name, seed)
        return
    tables = {name: instance(name) for name in asked.names}
    for name, table in tables.items():
        borders(name, table)
    for name, table in tables.items():
        matrix = matrix_of(table)
        if matrix.shape[0] <= asked.solve:
            methods = ("schur", "pcg") if matrix.shape[0] <= asked.pcg else ("schur",)
            solves(name, matrix, "all", methods)
            solves(name, matrix[independent_rows(table.dimensions)], "independent", methods)


if __name__ == "__main__":
    main()
