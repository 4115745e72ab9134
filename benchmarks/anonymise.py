"""The best generalisation of whole columns, against judging all nodes one by one, and local recoding.

python benchmarks/anonymise.py [file ...]

Each file has keys alone, parted by semicolons, and its hierarchies beside it: adult.csv, adult_hierarchy_age.csv, ...
By default a sample of the adult file; the targets are for all of it, as ARX ships it (30,162 records). Larger
lattices are in github.com/arx-deidentifier/genetic-benchmark (mach2019_int.csv, creditcard_int.csv).
"""

import math
import sys
import time
import warnings
from pathlib import Path

import pyarrow as pa

import tacit
from tacit.records.classes.anonymise.search import WHOLE, walk

SAMPLE = Path(__file__).parents[1] / "tests/fixtures/adult/adult.csv"
RECORDS = 1_000_000
METHODS = ("top_down", "iterative", "mondrian")


def timed(work):
    """Return what some work returns and the CPU seconds it took."""
    begun = time.process_time()
    result = work()
    return result, time.process_time() - begun


def read_file(source):
    """Return a file of which every column is a key, as text, with its hierarchies beside it."""
    keys = source.read_text(encoding="utf-8").partition("\n")[0].strip().split(";")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tacit.SdcWarning)
        trees = {
            k: tacit.hierarchy.read_csv(f"{source.with_suffix('')}_hierarchy_{k}.csv") for k in keys
        }
    texts = dict.fromkeys(keys, "text")
    return tacit.read(source, keys=keys, hierarchies=trees, types=texts)


def judge_all(task):
    """Return the least value of all safe nodes, judged one by one."""
    return min(node.value for node in walk(task, lambda _: None) if node.safe)


def search(data, k, suppression):
    """Return the lattice after a search for the best node."""
    spec = tacit.Anonymise(models=[tacit.KAnonymity(k=k)], suppression=suppression)
    return spec.search(data, top=1)


def time_small(name, data):
    """Print the search on a file, on copies of it, and with all nodes judged."""
    copies = max(1, RECORDS // len(data))
    table = pa.concat_tables([data.to_arrow()] * copies)
    large = tacit.read(table, keys=list(data.keys), hierarchies=dict(data.hierarchies))
    search(data, 5, 0.05)  # kernels are compiled once
    for suppression, target in ((0.05, 1.0), (1.0, 3.0)):
        found, ours = timed(lambda s=suppression: search(data, 5, s))
        least, every = timed(lambda lattice=found: judge_all(lattice.task))
        copied, many = timed(lambda s=suppression: search(large, 5 * copies, s))
        assert abs(least - found.best.value) < 1e-9 > abs(least - copied.best.value)
        print(
            f"{name}, k = 5, suppression {suppression:g}: {ours:.2f} s CPU (target {target}), loss {found.best.value:.4f}, "
            f"{len(found.judged)} of {found.n_nodes:,} nodes judged; all of them {every:.2f} s, {every / ours:.1f} times as long"
        )
        print(f"  {len(large):,} records: {many:.2f} s, ratio {many / ours:.2f} (target 2)")
    time_local(name, data, 0.05, 300)


def time_large(name, data):
    """Print the search on a lattice too large to judge all nodes."""
    found, seconds = timed(lambda: search(data, 5, 1.0))
    print(
        f"{name}, k = 5: {seconds:.1f} s CPU, loss {found.best.value:.4f}, gap {found.gap:.1%}, {found.n_nodes:,} nodes"
    )
    time_local(name, data, 1.0, 60)


def time_local(name, data, suppression, effort):
    """Print what local recoding loses."""
    for method in METHODS:
        spec = tacit.LocalRecode(
            models=[tacit.KAnonymity(k=5)], suppression=suppression, method=method, effort=effort
        )
        found, seconds = timed(lambda s=spec: s.search(data))
        print(
            f"{name}, {method}: {seconds:.1f} s CPU, loss {found.value:.4f}, granularity {granularity(found):.3f}; "
            f"whole columns {found.global_value:.4f}"
        )


def granularity(found):
    """Return 1 - (S - m) / (1 - m), S being the mean share of ground values that a cell stands for."""
    rows, release = found.task.problem.base, found.release
    total, least, shares = rows.n.sum(), [], []
    for j, climb in enumerate(found.task.problem.climbs):
        covered = release.words[j].leaves[release.codes[:, j]] / climb.domain
        covered[~release.alive] = 1.0
        shares.append(float((rows.n * covered).sum() / total))
        least.append(1 / climb.domain)
    mean, low = sum(shares) / len(shares), sum(least) / len(least)
    return 1 - (mean - low) / (1 - low)


def main(files):
    for source in files or [SAMPLE]:
        data = read_file(Path(source))
        nodes = math.prod(data.hierarchy(k).height + 1 for k in data.keys)
        (time_small if nodes <= WHOLE else time_large)(Path(source).stem, data)


if __name__ == "__main__":
    main(sys.argv[1:])
