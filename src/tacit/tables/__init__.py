"""Tables: reading, building, judging, protecting, attacking and writing them.

The methods themselves (``PPercent``, ``SuppressExact``, ``ControlledRounding``, ``Audit``, ...) are
found at the top of the package, as ``tacit.PPercent``; here are the functions around them.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "adjustment_statistics": "tacit.tables.adjustment_report",
    "advise": "tacit.tables._advice",
    "apply_hst": "tacit.tables.files.hst",
    "audit_releases": "tacit.tables._releases",
    "averaging_posterior": "tacit.tables.effects",
    "calibrate": "tacit.tables._noise_study",
    "capped": "tacit.tables._two_way",
    "cell_key_study": "tacit.tables.cell_keys",
    "chi2_test": "tacit.tables.effects",
    "deducing_pairs": "tacit.tables._exactness",
    "detect_structure": "tacit.tables.structure",
    "determined": "tacit.tables._exactness",
    "differencing": "tacit.tables._differencing",
    "discrimination_information": "tacit.tables._mdi",
    "entropy": "tacit.tables._mdi",
    "entry_bounds": "tacit.tables._entry_bounds",
    "existence_interval": "tacit.tables.controlled_rounding",
    "gap_instance": "tacit.tables._universality",
    "graver_basis": "tacit.tables._nfold",
    "graver_complexity": "tacit.tables._nfold",
    "independent_rows": "tacit.tables.structure",
    "information_loss": "tacit.tables._pattern_reports",
    "instance": "tacit.tables.instances",
    "lift": "tacit.tables._universality",
    "link": "tacit.data.linked",
    "margin_advice": "tacit.tables._margins",
    "margin_families": "tacit.tables._entry_bounds",
    "Margins": "tacit.tables._two_way",
    "MarginSet": "tacit.tables._margins",
    "narrow": "tacit.tables._two_way",
    "nfold_matrix": "tacit.tables._nfold",
    "nfold_optimise": "tacit.tables._nfold",
    "noise_study": "tacit.tables._noise_study",
    "normal_eq_solver": "tacit.tables.structure",
    "parse_batch": "tacit.tables.files.arb",
    "pattern_changes": "tacit.tables._pattern_reports",
    "protect_linked": "tacit.tables.linking",
    "published_interval": "tacit.tables.publish_intervals",
    "raised": "tacit.tables._two_way",
    "random_search_size": "tacit.tables._mdi",
    "read_hst": "tacit.tables.files.hst",
    "read_jj": "tacit.tables.files.jj",
    "read_ptable": "tacit.tables.files.p_tables",
    "read_tab": "tacit.tables.files.tab",
    "read_table": "tacit.tables.files.sheets",
    "read_wide": "tacit.tables.files.sheets",
    "risk_report": "tacit.tables._pattern_reports",
    "round_unbiased": "tacit.tables.controlled_rounding",
    "RoundingRule": "tacit.tables.effects",
    "run_batch": "tacit.tables.files.runner",
    "smallest_base": "tacit.tables._two_way",
    "solve_rounding": "tacit.tables.controlled_rounding",
    "split": "tacit.data.linked",
    "Structure": "tacit.tables.structure",
    "subset_sum_instance": "tacit.tables._universality",
    "tabulate": "tacit.data.tabulation",
    "triangle_instance": "tacit.tables._universality",
    "with_cell_keys": "tacit.tables.cell_keys",
    "witness_tables": "tacit.tables._entry_bounds",
    "write_argus": "tacit.tables.files.outputs",
    "write_batch": "tacit.tables.files.arb",
    "write_hst": "tacit.tables.files.hst",
    "write_jj": "tacit.tables.files.jj",
    "write_table": "tacit.tables.files.sheets",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tacit.tables' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
