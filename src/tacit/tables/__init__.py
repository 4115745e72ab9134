"""Tables: reading, building, judging, protecting, attacking and writing them.

The methods themselves (``PPercent``, ``SuppressExact``, ``ControlledRounding``, ``Audit``, ...) are
found at the top of the package, as ``tacit.PPercent``; here are the functions around them.
"""

from __future__ import annotations

from tacit.renamed import find_names

_HOMES = {
    "added_variance": "tacit.tables.rounding.counts",
    "adjustment_statistics": "tacit.tables.adjust.adjustment_report",
    "apply_hst": "tacit.io.hst",
    "audit_releases": "tacit.tables.attack.releases",
    "averaging_posterior": "tacit.tables.rounding.effects",
    "calibrate": "tacit.tables.noise.noise_study",
    "capped": "tacit.tables.margins.two_way",
    "cell_key_study": "tacit.tables.noise.cell_keys",
    "chi2_test": "tacit.tables.rounding.effects",
    "count_ptable": "tacit.tables.noise.ptable",
    "deducing_pairs": "tacit.tables.attack.exactness",
    "detect_structure": "tacit.tables.structure.detection",
    "determined": "tacit.tables.attack.exactness",
    "differencing": "tacit.tables.attack.differencing",
    "discrimination_information": "tacit.tables.adjust.mdi",
    "entropy": "tacit.tables.adjust.mdi",
    "entry_bounds": "tacit.tables.margins.entry_bounds",
    "existence_interval": "tacit.tables.rounding.controlled_rounding",
    "graver_basis": "tacit.tables.margins.nfold",
    "graver_complexity": "tacit.tables.margins.nfold",
    "implied_relations": "tacit.tables.rules.select_cells",
    "independent_rows": "tacit.tables.structure.detection",
    "information_loss": "tacit.tables.suppress.pattern_reports",
    "link": "tacit.data.cells.linked",
    "magnitude_ptable": "tacit.tables.noise.ptable",
    "margin_advice": "tacit.tables.margins.margins",
    "margin_families": "tacit.tables.margins.entry_bounds",
    "Margins": "tacit.tables.margins.two_way",
    "MarginSet": "tacit.tables.margins.margins",
    "narrow": "tacit.tables.margins.two_way",
    "nfold_matrix": "tacit.tables.margins.nfold",
    "nfold_optimise": "tacit.tables.margins.nfold",
    "noise_study": "tacit.tables.noise.noise_study",
    "normal_eq_solver": "tacit.tables.structure.detection",
    "parse_batch": "tacit.argus.arb",
    "pattern_changes": "tacit.tables.suppress.pattern_reports",
    "protect_linked": "tacit.tables.agencies.linking",
    "ptable_faults": "tacit.tables.noise.ptable",
    "published_interval": "tacit.tables.adjust.publish_intervals",
    "raised": "tacit.tables.margins.two_way",
    "random_search_size": "tacit.tables.adjust.mdi",
    "read_hst": "tacit.io.hst",
    "read_jj": "tacit.io.jj",
    "read_ptable": "tacit.io.p_tables",
    "read_tab": "tacit.io.tab",
    "read_table": "tacit.io.sheets",
    "read_wide": "tacit.io.sheets",
    "risk_report": "tacit.tables.suppress.pattern_reports",
    "roll_up": "tacit.data.cells.relations",
    "round_unbiased": "tacit.tables.rounding.controlled_rounding",
    "RoundingRule": "tacit.tables.rounding.effects",
    "run_batch": "tacit.argus.runner",
    "semi_controlled_rounding": "tacit.tables.rounding.counts",
    "small_cell_adjustment": "tacit.tables.rounding.counts",
    "smallest_base": "tacit.tables.margins.two_way",
    "solve_rounding": "tacit.tables.rounding.controlled_rounding",
    "split": "tacit.data.cells.linked",
    "Structure": "tacit.tables.structure.detection",
    "tabulate": "tacit.data.cells.tabulation",
    "with_cell_keys": "tacit.tables.noise.cell_keys",
    "witness_tables": "tacit.tables.margins.entry_bounds",
    "write_argus": "tacit.argus.outputs",
    "write_batch": "tacit.argus.arb",
    "write_hst": "tacit.io.hst",
    "write_jj": "tacit.io.jj",
    "write_ptable": "tacit.io.p_tables",
    "write_table": "tacit.io.released",
}

__all__ = list(_HOMES)
__getattr__ = find_names("tables", _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
