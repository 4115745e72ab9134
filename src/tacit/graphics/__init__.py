"""Plots and tables of protected values: what is drawn tells nothing about one person.

Measures live in a file each. The names below serve those who choose noise, try attacks or keep the budget.
"""

from __future__ import annotations

from tacit.renamed import find_names

_HOMES = {
    "Account": "tacit.graphics.budget",
    "BudgetLedger": "tacit.graphics.budget",
    "ProtectedPlot": "tacit.graphics.base",
    "amplitude_for_error": "tacit.graphics.attacks",
    "amplitude_for_ratio": "tacit.stats.concentrated",
    "amplitude_for_rho": "tacit.stats.concentrated",
    "attack_density": "tacit.graphics.attacks",
    "attack_histogram": "tacit.graphics.attacks",
    "curve_influence": "tacit.graphics.jackknife",
    "density_attack_error": "tacit.graphics.attacks",
    "density_efficiency": "tacit.graphics.efficiency",
    "draw_synthetic": "tacit.graphics.attacks",
    "epsilon_of": "tacit.stats.concentrated",
    "guess_presence": "tacit.graphics.attacks",
    "histogram_attack_error": "tacit.graphics.attacks",
    "histogram_efficiency": "tacit.graphics.efficiency",
    "influence": "tacit.graphics.jackknife",
    "invert_density": "tacit.graphics.attacks",
    "kernel_sums": "tacit.graphics.kde",
    "likelihood_ratio": "tacit.stats.concentrated",
    "local_bandwidths": "tacit.graphics.kde",
    "mass_level": "tacit.graphics.curves",
    "presence_advantage": "tacit.graphics.attacks",
    "presence_bound": "tacit.stats.concentrated",
    "publish": "tacit.graphics.jackknife",
    "rho_of": "tacit.stats.concentrated",
    "smooth": "tacit.graphics.curves",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - keys are strings
__getattr__ = find_names("graphics", _HOMES)
