"""The simulation study of Oganian and Karr (2006): eight data sets, six maskings, tables 1 and 2.

What the paper leaves open about its data is settled in ``examples/studies/two_stage.py``.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from tacit.rumap.frontier import pareto

from studies.two_stage import DATASETS, METHODS, mask_all

FIXTURES = Path(__file__).parents[1] / "fixtures/psd10-method-combinations"
N = 10_000
NEARLY_FREE = METHODS[1:4] + METHODS[5:]


def study(residual, datasets=DATASETS, n=N):
    """Loss and risk, methods by data sets: tables 2 and 1 of the paper."""
    rows = [mask_all(n, which, residual, 20060615) for which in datasets]
    assert all([r["method"] for r in made] == list(METHODS) for made in rows)
    return tuple(
        np.array([[r[what] for r in made] for made in rows]).T for what in ("loss", "risk")
    )


def test_small_files_show_it_too():
    loss, risk = study("reflect", DATASETS[:1], n=800)
    assert (loss[1:4] < 0.2 * loss[0]).all()
    assert (risk <= 1).all()


@pytest.mark.slow
def test_reflected_residuals_restore_utility_without_risk():
    loss, risk = study("reflect")
    print("\nloss\n", loss.round(1), "\nrisk\n", risk.round(4))
    first = METHODS.index("micz03")
    for i, name in enumerate(METHODS):
        if name == "micz03":
            continue
        share = 0.05 if name in NEARLY_FREE else 0.5
        assert (loss[i] <= share * loss[first]).all(), name
        assert (risk[i] <= 1.3 * risk[first]).all(), name


@pytest.mark.slow
def test_restored_residuals_give_the_file_back():
    some = [
        ("nonsymmetric", "high", "neg"),
        ("nonsymmetric", "low", "pos"),
        ("symmetric", "low", "neg"),
    ]
    _, risk = study("restore", some)
    print("\nrisk\n", risk.round(4))
    for name in ("micz03-micmul10", "micz03-micpcp03"):
        assert (risk[METHODS.index(name)] > 0.8).all()


def test_published_tables_and_their_frontiers():
    tables = json.loads((FIXTURES / "risk_utility_tables.json").read_text())
    assert tuple(tables["methods"]) == METHODS
    assert tuple(tables["datasets"]) == tuple("/".join(d) for d in DATASETS)
    risk, loss = np.array(tables["risk"]), np.array(tables["propensity_loss"])
    without = []
    for j, name in enumerate(tables["datasets"]):
        front = {METHODS[i] for i in pareto(risk[:, j], -loss[:, j])}
        assert front == set(tables["expected_frontier"][name])
        if "micz03" not in front:
            without.append(name)
    assert without == tables["expected_datasets_without_micz03"]
