"""Record linkage of synthetic releases with five distances, on the Census and EIA files.

Some columns are replaced by IPSO in its variants A (fitted values), B and C (with residuals that keep more). An intruder
who knows some of the replaced columns links each original to the nearest released record. In the paper the headings of the
two Mahalanobis columns are exchanged; here ``true`` has the covariance of the two files and ``zero`` has none.

References
----------
Torra, Abowd, Domingo-Ferrer (2006), Using Mahalanobis distance-based record linkage for disclosure risk assessment, PSD
2006, LNCS 4302, 233-242: Tables 3 to 6.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.arrays import Floats
from tacit.cli.studies import load_study
from tacit.records.linkage.attack import (
    Files,
    attack,
    distance_standardised,
    make_standardised_metric,
    polynomial,
    true_covariance,
    zero_covariance,
)
from tacit.records.synthesis.ipso import Regression, ipso_b, ipso_c, regress

casc_files = load_study("casc_files")

#: File, scenario, replaced columns, and the sets of columns that the intruder knows; columns count from 1.
SCENARIOS = (
    (
        "census",
        "S1",
        (1, 3, 4, 6, 7, 9, 11, 12, 13),
        (
            (7, 12),
            (4, 7, 11, 12),
            (4, 7, 12, 13),
            (4, 7, 11, 12, 13),
            (1, 3, 4, 6, 7, 9, 11, 12, 13),
        ),
    ),
    ("census", "S2", (4, 7, 12, 13), ((7, 12), (4, 13), (7, 12, 13), (4, 7, 12, 13))),
    ("eia", "S", (1, 2, 7, 8, 9), ((1,), (1, 7, 8), (1, 2, 7, 8, 9))),
)
METHODS = ("DBRL1", "DBRL2", "Mahalanobis, true", "Mahalanobis, zero", "kernel")
#: Scenarios that are gone through.
SIZES = {"small": ("S2",), "paper": ("S1", "S2", "S")}


def run(*, size: str = "small", seed: int = 0, tick: Any = None) -> dict[str, Any]:
    """Return the correct links of every distance, for each release and each set of known columns."""
    rows = []
    for i, (name, scenario, replaced, known) in enumerate(SCENARIOS):
        if scenario not in SIZES[size]:
            continue
        data = casc_files.read_numbers(name)
        for variant in "ABC":
            if tick is not None:
                tick(f"{name} {scenario}, IPSO-{variant}", i / len(SCENARIOS))
            files = release(data, [c - 1 for c in replaced], variant, seed)
            for columns in known:
                told = files.columns(np.array(columns) - 1)
                counts = count_links(told)
                rows.append(
                    {"file": name, "scenario": scenario, "release": f"IPSO-{variant}"}
                    | {"known columns": ",".join(map(str, columns)), "records": len(data)}
                    | counts
                )
    return {"correct links": nw.from_native(pa.Table.from_pylist(rows), eager_only=True)}


def release(data: Floats, replaced: list[int], variant: str, seed: int) -> Files:
    """Return the original and the released file, some columns of which are synthetic."""
    rest = [j for j in range(data.shape[1]) if j not in replaced]
    fit = regress(data[:, rest], data[:, replaced])
    out = data.copy()
    out[:, replaced] = synthesise(fit, variant, np.random.default_rng(seed))
    everyone = np.arange(len(data))
    return Files(data, out, everyone, everyone, kept=data[:, rest])


def synthesise(fit: Regression, variant: str, rng: np.random.Generator) -> Floats:
    """Return the replaced columns by one of the three variants of IPSO."""
    if variant == "A":
        return fit.fitted
    z = rng.standard_normal(fit.fitted.shape)
    return ipso_b(fit, z) if variant == "B" else ipso_c(fit, z)


def count_links(files: Files) -> dict[str, int]:
    """Return the correct links of the five distances; the first of several nearest records counts."""
    metrics = (
        make_standardised_metric(files),
        distance_standardised(files, "all"),
        true_covariance(files),
        zero_covariance(files),
        polynomial(files, degree=2, gamma=1.0, coef0=1.0),
    )
    return {
        name: int(attack(files, metric).count("first"))
        for name, metric in zip(METHODS, metrics, strict=True)
    }
