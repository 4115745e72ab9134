"""Five ways of masking the Census file of the CASC project, and two combinations, on one risk-utility map.

The file has 1,080 records with thirteen tax and income variables. Risk is the share of records that the strongest
Mahalanobis attack links correctly; utility is information loss, or the propensity score. Charts go to a folder:

    python examples/mask_census.py census.csv figures
"""

import sys
from pathlib import Path

from tacit.rumap import grid

import tacit


def candidates(columns, *, short=False):
    """The methods and their settings; ``short`` keeps one setting each."""
    first = tacit.SortByZscores(k=3)
    found = {
        "MDAV": grid(tacit.Mdav, k=[3, 5, 10, 20]),
        "individual ranking": [tacit.IndividualRanking(k=k) for k in (10, 60, 120)],
        "correlated noise": [
            tacit.CorrelatedNoise(columns=columns, lambda_squared=v) for v in (0.15, 0.5, 1.0)
        ],
        "rank swap": [tacit.RankSwap(columns=columns, percent=p) for p in (5, 10, 20, 40)],
        "shuffle": [tacit.Shuffle(columns=columns)],
        "z-scores, then MDAV": [
            tacit.TwoStage(first=first, second=tacit.Mdav(k=k)) for k in (10, 5)
        ],
        "z-scores, then rank swap": [
            tacit.TwoStage(first=first, second=tacit.RankSwap(columns=columns, percent=p))
            for p in (1, 10)
        ],
    }
    return {name: settings[:1] if short else settings for name, settings in found.items()}


def risk_utility_map(data, utility, label, *, short=False):
    """The map of all candidates."""
    return tacit.RUMap(
        candidates(list(data.columns), short=short),
        risk=tacit.DistanceLinkage(metric="mahalanobis"),
        utility=utility,
        title="Masking the Census file",
        log_risk=True,
        max_risk=0.05,
        risk_label="share of records linked correctly",
        utility_label=label,
    ).run(data, seed=1)


def main(file="census.csv", folder="figures", *, short=False):
    """Draw both maps and print their tables."""
    out = Path(folder)
    out.mkdir(exist_ok=True)
    data = tacit.read(file)
    loss = risk_utility_map(data, tacit.InformationLoss(measures=["il1"]), "IL1", short=short)
    loss.plot().save(out / "census_information_loss.svg")
    print(loss)
    if not short:
        fit = risk_utility_map(data, tacit.Propensity(degree=2), "propensity score, pMSE")
        fit.plot().save(out / "census_propensity.svg")
        print(fit)
    return loss


if __name__ == "__main__":
    main(*sys.argv[1:3])
