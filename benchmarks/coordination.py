"""Co-ordination models and engines on made-up enterprises: what each hides, and what it leaves at risk.

python benchmarks/coordination.py [--seeds 1 2 3] [--engines linear modular ...] [--n 2600] [--mixed]

2,600 enterprises in 36 activities (53 codes on four levels) and 4 states of 4 districts; a cell is
unsafe by the p% rule with p = 10, outsiders know values to lie between 0 and ten times the largest cell.
For each model: secondary cells on the federal, state and district level, the share of value that is
secondary, unsafe cells at risk when all relations are used, and processor seconds. At the end the
comparisons of Giessing and Dittrich (2006) that hold for any data of this kind.
"""

import argparse
import time
import warnings

import numpy as np

import tacit
from tacit.examples.firms import activity_tree, firms, region_tree
from tacit.tables.suppress.pattern_reports import information_loss, pattern_changes, risk_report

MODELS = ("central", "decentral", "dec_w", "block", "partition")
ENGINES = {
    "linear": {"kind": "suppress_linear"},
    "modular": {"kind": "suppress_modular"},
    "exact": {"kind": "suppress_exact", "time_limit": 120},
    "gauss": {"kind": "suppress_gauss"},
    "hypercube": {"kind": "suppress_hypercube"},
    "hyper0": {"kind": "suppress_hypercube", "variant": "exact"},
    "hyperseq": {"kind": "suppress_hypercube", "variant": "sequence"},
}


def enterprises(seed, n=2_600, *, drift=0):
    """Return the table; with ``drift`` that share of the enterprises is new (another period)."""
    data = firms(n, seed)
    if drift:
        data = drifted(n, seed, drift)
    dimensions = {"region": region_tree(), "activity": activity_tree()}
    table = tacit.Table.from_microdata(data, dimensions, "turnover")
    largest = float(table.value.max())
    table = table.with_bounds(np.arange(len(table)), 0.0, 10 * largest)
    return tacit.PPercent(p=10).apply(table)


def drifted(n, seed, drift):
    """Return the enterprises of the period before: values differ a little, some enterprises do."""
    import pyarrow as pa

    from tacit.examples.firms import firm_columns

    rng = np.random.default_rng(seed + 1_000)
    now = firm_columns(n, seed)
    turnover = np.maximum(np.rint(np.asarray(now["turnover"]) * rng.lognormal(0, 0.1, n)), 1.0)
    keep = rng.random(n) >= drift
    then = now.set_column(now.column_names.index("turnover"), "turnover", pa.array(turnover))
    return tacit.read(then.filter(pa.array(keep)), identifiers=["firm"])


def run(table, model, engine, previous):
    """Return the protected table and the processor seconds it took."""
    spec = tacit.Coordinate(
        region="region",
        model=model,
        engine=engine,
        previous=previous if model == "dec_w" else None,
    )
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        safe = spec.apply(table, seed=1)
    return safe, time.process_time() - begun


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--engines", nargs="*", default=["linear", "hypercube", "hyper0"])
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--n", type=int, default=2_600)
    parser.add_argument("--mixed", action="store_true")
    parser.add_argument("--no-singletons", action="store_true")
    options = parser.parse_args()
    print(
        f"{'seed':>4} {'engine':>9} {'model':>9} {'federal':>7} {'state':>6} {'district':>8} "
        f"{'value %':>7} {'at risk %':>9} {'kept %':>6} {'cpu s':>6}"
    )
    for seed in options.seeds:
        table = enterprises(seed, options.n)
        before = enterprises(seed, options.n, drift=0.05)
        found = {}
        for name in options.engines:
            engine = dict(ENGINES[name])
            if options.no_singletons:
                engine["singletons"] = False
            previous, _ = run(before, "central", engine, None)
            for model in options.models:
                safe, seconds = run(table, model, engine, previous)
                found[name, model] = row(seed, name, model, safe, previous, seconds)
        if options.mixed:
            begun = time.process_time()
            mixed = tacit.MixedStrategy(region="region").apply(table, seed=1)
            d = mixed.history[-1].details
            print(seed, "mixed", d, f"{time.process_time() - begun:.1f} s", flush=True)
        verdicts(found)


def row(seed, name, model, safe, previous, seconds):
    """Print one line and return its numbers."""
    loss, risk = information_loss(safe, "region").numbers, risk_report(safe).value
    kept = 100 * pattern_changes(previous, safe).value
    print(
        f"{seed:>4} {name:>9} {model:>9} {loss['federal']:>7} {loss['totals of agencies']:>6} "
        f"{loss['below']:>8} {loss['value secondary (per cent)']:>7.2f} {risk:>9.1f} {kept:>6.1f} "
        f"{seconds:>6.1f}",
        flush=True,
    )
    return {**loss, "risk": risk}


def verdicts(found):
    """Print which of the published relations hold."""
    central, apart = found.get(("linear", "central")), found.get(("linear", "decentral"))
    if central and apart:
        wide = apart["federal"] >= 2.5 * max(1, central["federal"])
        costly = apart["value secondary (per cent)"] > central["value secondary (per cent)"]
        print(f"     decentral federal >= 2.5 x central: {wide}; more value hidden: {costly}")
        print(f"     at risk, central and decentral: {central['risk']:g}, {apart['risk']:g}")
    cubes = found.get(("hypercube", "central"))
    if central and cubes:
        print(
            f"     hypercube hides more than central: {cubes['secondary'] > central['secondary']}"
        )


if __name__ == "__main__":
    main()
