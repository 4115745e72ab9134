"""Figures 2 to 6 of Garfinkel, Gopal and Thompson (2007), and the sweeps of their section 7.

    python examples/channel_expansion.py [FOLDER] [small | paper | none]

Prints the input channels of Table 2, the costs of the published assignments and of the best ones, what a
query returns, what intruders come to believe, and the sweeps; with a folder, also saves the flow
pictures, tables and charts. The sweeps are small unless told otherwise; "paper" takes minutes.
"""

import sys
from pathlib import Path

import tacit
from studies import channels
from tacit.records.channels import views
from tacit.records.channels.belief_audit import audit

SOURCE = Path(__file__).parents[1] / "tests/fixtures/channel-expansion/table1_microdata.csv"
LIMITS = {"Diabetes": 0.25, "Heart": 0.25, "Diabetes|Heart": 0.30, "Diabetes|Heart|MRSA": 0.18}
HEAVIER = {"Diabetes|Heart": 1.25, "Diabetes|Heart|MRSA": 1.25}
FIGURE_4 = [[1, 2, 3], [4, 5, 6]]
FIGURE_5 = [[1, 2, 6], [4, 5]]
FIGURE_6 = [{1: 3, 2: 2, 3: 2, 6: 2}, [4, 5]]


def study(**changes):
    """The running example: u, b and c of section 5.1."""
    return tacit.ChannelExpansion(
        related=["crp", "cholesterol", "blood_pressure", "glucose"],
        confidential="diagnosis",
        **{"u": LIMITS, "b": 0.6, **changes},
    )


def figures(data):
    """Every figure as an assignment that can be judged, asked and drawn."""
    base, heavier = study(), study(c=HEAVIER)
    table = base.table(data)
    problem = base.problem(table)
    return {
        "figure_2": views.full(table, problem),
        "figure_3": views.minimal(table, problem),
        "figure_4": views.partial(table, problem, FIGURE_4),
        "figure_5": views.partial(table, problem, FIGURE_5, "Figure 5 as printed"),
        "figure_5_best": base.solve(data),
        "figure_6": views.partial(table, heavier.problem(table), FIGURE_6, "Figure 6 as printed"),
        "figure_6_best": heavier.solve(data),
    }


def show(name, answer):
    print(
        f"  {name:<14} cost {answer.cost:>5g}  loss {answer.loss:>7.2%}  "
        f"{'safe' if answer.safe else 'unsafe':<7} {', '.join(answer.channels['members'])}"
    )


def show_sweeps(folder, size):
    tables = channels.run(folder, size=size)
    print(f"\nSection 7 ({size}): loss by proportion at risk and risk tolerance\n")
    rows = tables["tolerance"].rows(named=True)
    for q in dict.fromkeys(row["proportion at risk"] for row in rows):
        losses = [f"{row['loss']:>8.2%}" for row in rows if row["proportion at risk"] == q]
        print(f"  {q:<5}" + "".join(losses))
    print("\nTable 4: candidates, loss, unused\n")
    for row in tables["candidates"].rows(named=True):
        print(f"  {row['candidates']:>5} {row['loss']:>9.2%} {row['unused']:>9.2%}")


def main(folder=None, size="small"):
    data = tacit.read(SOURCE, identifiers="name")
    found = figures(data)
    print("Figures 2 to 6\n")
    for name, answer in found.items():
        show(name, answer)
    print("\nWho is in input channel 1?\n")
    for name in ("figure_4", "figure_5"):
        asked = found[name].query(channels=[1])
        print(f"  {name}: {asked.returned:g} returned, {asked.spurious:g} spurious")
    spans = views.recoding(found["figure_4"]).rows(named=True)[0]["combinations spanned"]
    print(f"\nRecoding column by column, the first set of Figure 4 spans {spans} combinations.")
    print(f"\n{audit(found['figure_6_best'])}")
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, answer in found.items():
            answer.plot().save(Path(folder) / f"{name}.svg")
    if size != "none":
        show_sweeps(folder, size)


if __name__ == "__main__":
    main(*sys.argv[1:3])
