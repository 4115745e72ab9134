"""Time channel expansion on simulated input channels (Garfinkel, Gopal, Thompson 2007, section 7).

Run: PYTHONPATH=examples python benchmarks/channels.py [channels] [values] [tolerance] [seconds]
"""

import sys

from studies.channels import simulate
from tacit.records.channels import solve

CASES = [(200, 2, 1.0, None), (200, 2, 1.2, None), (2000, 2, 1.2, 120.0), (2000, 3, 1.2, 120.0)]


def report(channels, values, tolerance, seconds):
    problem = simulate(channels, 1_000_000, 0.15, tolerance, seed=1, n_values=values)
    exact = solve(problem, time_limit=seconds)
    drawn = solve(problem, candidates="random")
    print(
        f"R={channels} K={values} RT={tolerance}: exact loss {exact.loss:.4%} "
        f"(gap {exact.gap:.2%}, proven {exact.proven}, {exact.seconds:.1f} s); "
        f"2,048 random sets {drawn.loss:.4%} ({drawn.seconds:.1f} s)",
        flush=True,
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        given = [*sys.argv[1:], *["200", "2", "1.2", "120"][len(sys.argv) - 1 :]]
        report(int(given[0]), int(given[1]), float(given[2]), float(given[3]))
    else:
        for case in CASES:
            report(*case)
