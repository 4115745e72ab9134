"""The census table experiment of Shlomo and Young (2006), on a simulated population.

    python examples/shlomo_young.py [AREAS] [FOLDER]

The 2001 census table of the paper is secret: 1,472 output areas of about 215 people between 16 and 74, by
sex (2), long-term illness (2) and economic activity (9). Here areas of that size are drawn with profiles
that differ between areas, and people live in households of one to four. The table is then protected
twice: by swapping 10 % of the households within broad areas, and by semi-controlled random rounding to
base 3. The measures are printed beside those of the paper's Table 1. With a folder, the report and the
risk-utility map are written there.
"""

import sys
from pathlib import Path

import numpy as np

import tacit
from tacit.tables.rounding.random_rounding import semi_controlled_rounding

COLUMNS = ["sex", "illness", "activity"]
MODEL = [["sex", "area"], ["illness", "activity"]]
#: Males with no long-term illness who are retired.
TARGET = {"sex": "male", "illness": "no", "activity": "retired"}
ACTIVITIES = (
    "employed", "self-employed", "unemployed", "student", "retired", "home", "sick", "part-time", "other",
)  # fmt: skip

#: Table 1 of the paper: swapping, rounding.
PUBLISHED = {
    "percent_unchanged": (61.1, 0.0),
    "AAD": (0.662, 0.678),
    "HD": (1.405, 2.043),
    "RAT_mean": (0.001, 0.003),
    "RAV": (-1.31, 0.51),
    "RCV": (-3.66, 11.66),
    "columns_moved": (36, 25),
    "BV_ratio": (0.959, 1.061),
    "LR": (0.963, 1.172),
}


def profile():
    """Shares of the 36 cells over all areas: as skewed as a census table is."""
    activity = np.array([0.40, 0.08, 0.035, 0.06, 0.13, 0.07, 0.055, 0.14, 0.03])
    ill = np.array([0.08, 0.10, 0.15, 0.05, 0.35, 0.15, 0.85, 0.10, 0.30])
    male = np.array([0.56, 0.72, 0.60, 0.50, 0.42, 0.06, 0.54, 0.18, 0.45])
    cells = [
        activity * s * i for s in (male, 1 - male) for i in (1 - ill, ill)
    ]  # sex slowest, then illness, then activity
    return np.concatenate(cells)


def population(areas=1472, seed=1):
    """People with area, broad area, household, sex, illness and activity, as Microdata."""
    rng = np.random.default_rng(seed)
    size = np.maximum(30, np.round(rng.lognormal(np.log(215) - 0.25**2 / 2, 0.25, areas))).astype(
        int
    )
    shares = rng.dirichlet(150 * profile(), areas)
    area = np.repeat(np.arange(areas), size)
    cell = np.concatenate([rng.choice(36, n, p=s) for n, s in zip(size, shares, strict=True)])
    # Households of one to four, never across areas.
    household = np.empty(len(area), dtype=np.int64)
    begin = number = 0
    for n in size:
        sizes = rng.choice([1, 2, 3, 4], n, p=[0.3, 0.4, 0.15, 0.15])
        ends = np.searchsorted(np.cumsum(sizes), np.arange(n), side="right")
        household[begin : begin + n] = number + ends
        begin += n
        number += ends[-1] + 1
    broad = area * 16 // areas
    columns = {
        "area": area,
        "broad": broad,
        "household": household,
        "sex": np.array(["male", "female"])[cell // 18],
        "illness": np.array(["no", "yes"])[cell // 9 % 2],
        "activity": np.array(ACTIVITIES)[cell % 9],
    }
    return tacit.read(columns, household="household")


def experiment(areas=1472, seed=1, share=0.1):
    """Protect the table in both ways and compare."""
    people = population(areas, seed)
    swap = tacit.SwapHouseholds(columns=["area"], within=["broad"], match=["sex"], share=share)
    swapped = swap.apply(people, seed=seed)
    original, after_swap = (
        tacit.Table.from_microdata(d, ["area", *COLUMNS], top=1) for d in (people, swapped)
    )
    rng = np.random.default_rng(seed + 1000)
    cells = original.to_array()[1:, 1:, 1:, 1:].reshape(areas, -1)
    rounded = semi_controlled_rounding(cells, 3, rng, within="rows")
    measure = tacit.TableComparison(rounded={"rounding": 3}, target=TARGET, model=MODEL)
    return tacit.compare(original, {"swapping": after_swap, "rounding": rounded}, [measure])


def main(areas=1472, folder=None):
    found = experiment(areas)
    print(f"{'measure':<18} {'swapping':>10} {'paper':>8}   {'rounding':>10} {'paper':>8}")
    for symbol, (swap, rounding) in PUBLISHED.items():
        ours = found["swapping"][symbol], found["rounding"][symbol]
        print(f"{symbol:<18} {ours[0]:>10.4g} {swap:>8g}   {ours[1]:>10.4g} {rounding:>8g}")
    for limit in (80, 50):
        print(f"risk of at most {limit} %: {found.recommend(limit)}")
    if folder is not None:
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        report = found.document(title="Employment table, simulated", max_risk=65)
        report.to_html(target / "report.html")
        found.plot(max_risk=65).save(target / "map.svg")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:3])
