"""Three experiments on global disclosure risk (Truta, Fotouhi, Barth-Jones 2004, Figures 4.1 to 4.3).

    python examples/global_risk_experiments.py [FOLDER] [RECORDS ...]

Simulates billing records with age, sex and ZIP code, masks one key at a time ever more, and draws the
minimal and the maximal risk. The paper's sizes are 1000 5000 25000; the default is 1000.

Noise on age buys less and less; changing the sex of rare records soon buys nothing, because an intruder
does better without it; recoding ZIP codes, the key with most values, lowers the risk most.
"""

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import tacit
from tacit.plot.chart import Chart
from tacit.records.global_risk.global_risk import GlobalRiskResult

KEYS = ["age", "sex", "zip"]
MEASURE = tacit.GlobalRisk(kinds={"age": "ordered", "sex": "unordered", "zip": {"prefix": 5}})
NOISE = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
FLIPS = (0, 2, 5, 10, 15, 20, 30, 40, 50)


@dataclass(frozen=True)
class Point:
    """One masked file: the parameter of its masking, and its risk."""

    x: float
    result: GlobalRiskResult


def patients(n, seed=1):
    """Return simulated records; ZIP codes have Zipf frequencies under at most twenty prefixes."""
    rng = np.random.default_rng(seed)
    age = np.clip(np.rint(rng.gamma(4, 11, n)), 0, 100).astype(np.int64)
    prefixes = rng.choice(np.arange(100, 1000), 20, replace=False)
    codes = rng.choice(20 * 100, 120, replace=False)
    names = np.array([f"{prefixes[c // 100]}{c % 100:02d}" for c in codes])
    shares = 1 / np.arange(1, 121) ** 0.7
    columns = {
        "age": age,
        "sex": rng.choice(["F", "M"], n),
        "zip": rng.choice(names, n, p=shares / shares.sum()),
    }
    return tacit.read({k: v.tolist() for k, v in columns.items()}, keys=KEYS, types={"zip": "text"})


def noise_curve(data, constants=NOISE, seed=2):
    """Add noise of variance c Var(age) to age, rounded, with bottom and top codes 0 and 100."""
    age = data.column("age").to_numpy().astype(float)
    draws = np.random.default_rng(seed).normal(size=len(age))
    noisy = {
        c: np.clip(np.rint(age + np.sqrt(c) * age.std() * draws), 0, 100).astype(np.int64)
        for c in constants
    }
    return curve(data, "age", noisy)


def flip_curve(data, percents=FLIPS):
    """Reverse the sex of the p per cent of records whose key values are rarest."""
    rows = [tuple(row.values()) for row in data.to_arrow(KEYS).to_pylist()]
    sizes = Counter(rows)
    order = np.argsort([sizes[row] for row in rows], kind="stable")
    sex = np.array([row[1] for row in rows])
    other = np.where(sex == "F", "M", "F")
    flipped = {}
    for p in percents:
        values = sex.copy()
        chosen = order[: round(len(sex) * p / 100)]
        values[chosen] = other[chosen]
        flipped[p] = values
    return curve(data, "sex", flipped)


def recoding_curve(data, thresholds):
    """Take the last two digits off ZIP codes that occur less often than a threshold."""
    codes = np.array(data.column("zip").to_pylist())
    names, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    short = np.array([name[:3] + "**" for name in names])
    recoded = {t: np.where(counts < t, short, names)[inverse] for t in thresholds}
    return curve(data, "zip", recoded)


def curve(data, column, masked):
    """Measure the risk of each masked version of one column."""
    return [
        Point(x, MEASURE.measure(data.replace({column: values}), original=data))
        for x, values in masked.items()
    ]


def drawn(curves, title, x, *, log=False):
    """Return the minimal and maximal risk against the parameter, a line a file size and measure."""
    rows = [
        {
            "x": p.x,
            "risk": getattr(p.result, m).value,
            "measure": name,
            "records": f"{n:,}",
        }
        for n, points in curves.items()
        for p in points
        for name, m in (("minimal", "minimum"), ("maximal", "maximum"))
    ]
    number = {"type": "quantitative"}
    spec = {
        "title": title,
        "data": {"values": rows},
        "width": 460,
        "height": 260,
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {**number, "field": "x", "title": x, "scale": {"type": "log"} if log else {}},
            "y": {
                **number,
                "field": "risk",
                "title": "disclosure risk",
                "scale": {"domain": [0, 1]},
            },
            "color": {"field": "records", "title": "records", "sort": None},
            "strokeDash": {"field": "measure", "title": None},
        },
    }
    last = "; ".join(
        f"{r['measure']} risk of {r['records']} records ends at {r['risk']:.2f}" for r in rows[-2:]
    )
    return Chart(spec, f"Line chart: {title}. {last}.")


def main(folder=None, sizes=(1000,)):
    target = Path(folder or "global-risk")
    target.mkdir(parents=True, exist_ok=True)
    files = {n: patients(n) for n in sizes}
    largest = {n: int(max(data.cells(["zip"]).n)) for n, data in files.items()}
    figures = {
        "noise on age": (
            {n: noise_curve(d) for n, d in files.items()},
            "c: variance of the noise in units of the variance of age",
        ),
        "change of sex": (
            {n: flip_curve(d) for n, d in files.items()},
            "records changed, in per cent, rarest first",
        ),
        "recoding of ZIP": (
            {
                n: recoding_curve(d, [int(s * largest[n]) + 1 for s in (0, 0.1, 0.25, 0.5, 1, 1.2)])
                for n, d in files.items()
            },
            "threshold: codes that occur less often lose two digits",
        ),
    }
    for number, (name, (curves, x)) in enumerate(figures.items(), 1):
        print(f"Figure 4.{number}: {name}")
        for n, points in curves.items():
            for p in points:
                risks = f"{p.result.minimum.value:.3f}  {p.result.maximum.value:.3f}"
                print(f"  {n:>6} {p.x:>8}  {risks}  {'+'.join(p.result.maximum.keys)}")
        chart = drawn(curves, f"Disclosure risk: {name}", x, log=number == 1)
        chart.save(target / f"figure_4_{number}.svg")


if __name__ == "__main__":
    main(*sys.argv[1:2], *([tuple(map(int, sys.argv[2:]))] if sys.argv[2:] else []))
