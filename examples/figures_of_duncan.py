"""The two R-U maps of Duncan, Keller-McNulty and Stokes, recomputed.

    python examples/figures_of_duncan.py [FOLDER]

Prints the numbers behind Figures 1 and 2; with a folder, also saves the figures as SVG and PNG.
Duncan, Keller-McNulty, Stokes (2001), Disclosure risk vs. data utility: the R-U confidentiality map.
"""

import sys
from pathlib import Path

from studies.additive_noise import AdditiveNoiseMap, Combination, Slope

MEAN = Combination.of("salary")
DIFFERENCE = Combination.of("income", minus="salary")
NAIVE = Slope("drugs", "drink")
CORRECTED = Slope("drugs", "drink", known=True)


def teachers():
    """Household income and salary of 1000 teachers, in thousand dollars; both are masked."""
    sigma = [[17.5**2, 8.3**2], [8.3**2, 13.3**2]]
    return AdditiveNoiseMap(sigma, n=1000, names=("income", "salary"))


def medical(r_squared):
    """A masked regressor and an unmasked response of 200 patients, slope and variance 1."""
    response = 1 / r_squared
    return AdditiveNoiseMap(
        [[1, 1], [1, response]], n=200, names=("drink", "drugs"), sensitive=("drink",)
    )


def figure_1():
    """Mean salary and extra income; an intruder should be wrong by 5 thousand dollars at least."""
    return teachers().plot(
        [MEAN, DIFFERENCE],
        "salary",
        max_risk=5.0**-2,
        mark=0.15,
        title="Figure 1: salary and extra-salary household income",
    )


def figure_2(r_squared):
    """What a user gains who is told lambda squared."""
    return medical(r_squared).plot(
        [NAIVE, CORRECTED],
        "drink",
        mark=0.15,
        title=f"Figure 2: the value of knowing λ², R² = {r_squared}",
    )


def main(folder=None):
    model = teachers()
    smallest = model.lambda_for_error({"salary": 5.0})
    print("Figure 1: noise that leaves an intruder a root mean squared error of $5K on salary\n")
    print(f"  smallest multiplier     {smallest:.5f}")
    print(f"  R at 0.15               {model.risk('salary', 0.15):.6f}  (cap 0.04)")
    for task in (MEAN, DIFFERENCE):
        masked, unmasked = model.utility(task, 0.15), model.utility(task, 0)
        print(f"  {task.label:<28} U {masked:.5f}, {unmasked:.5f} unmasked")
    strong = model.lambda_for_error({"salary": 5.0}, intruder="bayes")
    print(f"  against an intruder who knows the distribution: {strong:.5f}\n")
    print("Figure 2: utility of a slope at 0.15, as it is and corrected\n")
    for r_squared in (0.3, 0.5):
        patients = medical(r_squared)
        naive, told = patients.utility(NAIVE, 0.15), patients.utility(CORRECTED, 0.15)
        print(f"  R2 = {r_squared}  {naive:.3f}  {told:.3f}  gain {told / naive:.3f}")
    if folder is not None:
        save(Path(folder))


def save(folder):
    """Save the figures."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = {
        "figure-1": figure_1(),
        "figure-2-weak": figure_2(0.3),
        "figure-2-strong": figure_2(0.5),
    }
    for name, chart in figures.items():
        chart.save(folder / f"{name}.svg")
        chart.save(folder / f"{name}.png")
    print(f"\nCharts are in {folder}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
