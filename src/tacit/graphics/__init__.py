"""Plots and tables of protected values: what is drawn tells nothing about one person.

Measures live in a file each. The names below serve those who choose noise or keep the budget.
"""

from __future__ import annotations

from tacit.public import publish

_HOMES = {
    "Account": "tacit.graphics.budget",
    "BudgetLedger": "tacit.graphics.budget",
    "ProtectedPlot": "tacit.graphics.base",
    "amplitude_for_ratio": "tacit.stats.concentrated",
    "amplitude_for_rho": "tacit.stats.concentrated",
    "curve_influence": "tacit.graphics.jackknife",
    "epsilon_of": "tacit.stats.concentrated",
    "influence": "tacit.graphics.jackknife",
    "kernel_sums": "tacit.graphics.kde",
    "likelihood_ratio": "tacit.stats.concentrated",
    "local_bandwidths": "tacit.graphics.kde",
    "mass_level": "tacit.graphics.scale",
    "presence_bound": "tacit.stats.concentrated",
    "publish": "tacit.graphics.jackknife",
    "rho_of": "tacit.stats.concentrated",
    "smooth": "tacit.graphics.scale",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - keys are strings
__getattr__, __dir__ = publish("graphics", _HOMES)
