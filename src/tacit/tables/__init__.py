"""Tables: reading, building, judging, protecting, attacking and writing them.

The methods themselves (``PPercent``, ``SuppressExact``, ``ControlledRounding``, ``Audit``, ...) are
found at the top of the package, as ``tacit.PPercent``; here are the functions around them.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "apply_hst": "tacit.tables.files.hst",
    "audit_releases": "tacit.tables._releases",
    "averaging_posterior": "tacit.tables.effects",
    "calibrate": "tacit.tables.noise_study",
    "chi2_test": "tacit.tables.effects",
    "deducing_pairs": "tacit.tables._exactness",
    "determined": "tacit.tables._exactness",
    "differencing": "tacit.tables.differencing",
    "existence_interval": "tacit.tables.controlled_rounding",
    "link": "tacit.data.linked",
    "Margins": "tacit.tables._two_way",
    "noise_study": "tacit.tables.noise_study",
    "parse_batch": "tacit.tables.files.arb",
    "read_hst": "tacit.tables.files.hst",
    "read_jj": "tacit.tables.files.jj",
    "read_ptable": "tacit.tables.files.p_tables",
    "read_tab": "tacit.tables.files.tab",
    "read_table": "tacit.tables.files.sheets",
    "read_wide": "tacit.tables.files.sheets",
    "round_unbiased": "tacit.tables.controlled_rounding",
    "RoundingRule": "tacit.tables.effects",
    "run_batch": "tacit.tables.files.runner",
    "solve_rounding": "tacit.tables.controlled_rounding",
    "split": "tacit.data.linked",
    "tabulate": "tacit.data.tabulation",
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
