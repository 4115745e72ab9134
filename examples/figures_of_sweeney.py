"""The figures of Sweeney's report on Datafly, mu-Argus and k-Similar, recomputed.

    python examples/figures_of_sweeney.py [FOLDER]

Prints Figures 27, 29, 30 (with its correction), 33 (with its optimum) and 34; with a folder, also saves
the charts. Sweeney (2000), Foundations of Privacy Protection from a Computer Science Perspective.
"""

import sys
import warnings
from pathlib import Path

import pyarrow as pa

import tacit
from tacit.errors import SdcWarning
from tacit.records.generalisation.datafly import k_for_level

SOURCE = Path(__file__).parents[1] / "tests/fixtures/foundations-of-privacy/fig28_data.csv"
KEYS = ["Ethnicity", "Birth", "Sex", "ZIP"]
RATINGS = {"Birth": "more", "Sex": "more", "ZIP": "more", "Ethnicity": "identifying"}


def figure_28():
    """The twelve tuples, with the hierarchies behind the printed figures."""
    return tacit.read(
        SOURCE,
        identifiers=["SSN"],
        keys=KEYS,
        sensitive=["Problem"],
        hierarchies={
            "Ethnicity": tacit.hierarchy.flat(),
            "Birth": tacit.hierarchy.dates("%m/%d/%y"),
            "Sex": tacit.hierarchy.flat(),
            "ZIP": tacit.hierarchy.digits(5, mask=[1, 2]),
        },
    )


def figure_30_as_printed(data):
    """Birth to the year, then Ethnicity and Birth of tuple 8 suppressed."""
    years = data.generalise("Birth", 2)
    values = years.to_arrow(["Ethnicity", "Birth"]).to_pydict()
    for column in values.values():
        column[7] = None
    return years.replace({name: pa.array(column) for name, column in values.items()})


def show(title, data):
    print(f"\n{title}\n")
    for row in data.to_arrow(KEYS).to_pylist():
        print("  " + "".join(f"{row[key] or '':<12}" for key in KEYS))


def main(folder=None):
    warnings.simplefilter("ignore", SdcWarning)
    data = figure_28()

    print("Figure 27: k for an anonymity level, N = 54,805\n")
    for tenth in range(9, 0, -1):
        print(f"  A = {tenth / 10}  k = {k_for_level(tenth / 10, 54_805)}")

    datafly = tacit.Datafly(k=2, max_drop=1).apply(data)
    show("Figure 29: Datafly, k = 2; tuple 8 is dropped", datafly)

    printed = figure_30_as_printed(data)
    show("Figure 30: mu-Argus as printed; (f, 02139) of tuple 8 is still unique", printed)
    argus = tacit.MuArgus(k=2, ratings=RATINGS, recode={"Birth": 2}).apply(data)
    show("Figure 30, corrected: mu-Argus, k = 2", argus)
    left = tacit.KAnonymity(k=2).measure(argus).uniques
    print(f"\n  Still unique on all four columns: {left} tuples")

    greedy = tacit.KSimilar(k=2, method="greedy").apply(data)
    show("Figure 33: k-Similar, k = 2, by greedy merging", greedy)
    exact = tacit.KSimilar(k=2, method="exact").apply(data)
    show("Figure 33, optimal: the total distance is 8.267 instead of 9.8", exact)

    systems = {
        "Datafly": datafly,
        "mu-Argus, printed": printed,
        "mu-Argus, corrected": argus,
        "k-Similar, greedy": greedy,
        "k-Similar, optimal": exact,
    }
    print("\nFigure 34: precision (printed: 0.71, 0.86, 0.80)\n")
    print(f"  {'system':<20} legacy  strict  2-anonymous")
    for name, released in systems.items():
        precision = tacit.Precision().measure(released, original=data).accountings
        safe = "yes" if tacit.KAnonymity(k=2).measure(released).k >= 2 else "no"
        print(f"  {name:<20} {precision['legacy']:.4f}  {precision['strict']:.4f}  {safe}")
    if folder is not None:
        save_charts(Path(folder), data, systems)


def save_charts(folder, data, systems):
    """Save the class sizes of each table, before and after."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in {"Figure 28": data, **systems}.items():
        chart = tacit.KAnonymity(k=2).measure(table).plot()
        chart.save(folder / f"{name.lower().replace(', ', '-').replace(' ', '-')}.svg")
    print(f"\nCharts are in {folder}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
