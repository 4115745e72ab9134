"""Microaggregation: MDAV through a tree against a scan of all distances, improvement, blocks.

Run: python benchmarks/microaggregation.py [--records 100000] [--columns 5] [--k 3] [--scan 20000] [--large]

CPU seconds on standard normal records. The scan is the definition in NumPy; its time at the full size is
what it takes at --scan records times the square of the ratio. With --large come a million records in 3 and,
with blocks, in 10 columns.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from tacit.records.microaggregation.grouping import loss
from tacit.records.microaggregation.grouping.improve import improve
from tacit.records.microaggregation.grouping.mdav_groups import form_groups_by_scan, mdav
from tacit.records.microaggregation.mdav import automatic_blocks, blocked_mdav
from tacit.records.microaggregation.v_mdav import VMdav


def silent(_message, _share):
    pass


def normal(n, p):
    return np.random.default_rng(0).normal(size=(n, p))


def whole(labels):
    """Return the labels with the records left over as the last group."""
    return np.where(labels < 0, labels.max() + 1, labels)


def timed(name, x, function):
    """Group once, print what it took and lost, and return the labels and the seconds."""
    begun = time.process_time()
    labels = function(x)
    seconds = time.process_time() - begun
    n, p = x.shape
    print(
        f"{name:<28} {n:>9,} x {p:<3} {seconds:>8.2f} {loss(x, labels).percent:>9.4f}", flush=True
    )
    return labels, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=5)
    parser.add_argument("--k", type=int, default=3)
    parser.add_argument("--scan", type=int, default=20_000)
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    k, rng = options.k, np.random.default_rng(1)

    def exact(x):
        return mdav(x, k, rng=rng, tick=silent)

    for compiling in (exact, lambda x: VMdav(k=k).groups(x, rng, silent)):
        compiling(normal(4000, 2))
    improve(normal(300, 2), exact(normal(300, 2)), k, rng=rng, tick=silent)

    print("                               records x columns  CPU s    loss %")
    small = normal(options.scan, options.columns)
    slow, scan_seconds = timed(
        "MDAV, scan", small, lambda x: whole(form_groups_by_scan(x, k, 2, 2 * k, silent))
    )
    fast, _ = timed("MDAV, tree", small, exact)
    assert (slow == fast).all()
    x = normal(options.records, options.columns)
    groups, seconds = timed("MDAV, tree", x, exact)
    scaled = scan_seconds * (options.records / options.scan) ** 2
    print(f"a scan of that size: about {scaled:.0f} CPU s, {scaled / seconds:.0f} times as much")
    timed("V-MDAV", x, lambda x: VMdav(k=k).groups(x, rng, silent))
    timed("improvement of MDAV", x, lambda x: improve(x, groups, k, rng=rng, tick=silent))
    for p in (2, 10):
        timed("MDAV, tree", normal(options.records, p), exact)
    if options.large:
        timed("MDAV, tree", normal(1_000_000, 3), exact)
        wide = normal(1_000_000, 10)
        found = []

        def blocked(x):
            found.append(blocked_mdav(x, k, automatic_blocks(*x.shape), tick=silent))
            return found[0].labels

        timed("MDAV, blocks", wide, blocked)
        print(f"{found[0].blocks} blocks, estimated gap {100 * found[0].gap:.1f} %")


if __name__ == "__main__":
    main()
