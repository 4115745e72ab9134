"""The ``map`` section of a plan: candidates and measures built from plain data, with their faults.

::

    map:
      candidates:
        noise: {kind: add_noise, columns: [cost], relative: [0.05, 0.1, 0.2]}
        noise and swap:
          - [{kind: add_noise, columns: [cost], relative: 0.1}, {kind: swap, share: [0.05, 0.1]}]
      risk: {kind: k_anonymity, k: 3}
      utility: [precision]
      replicates: 5
      max_risk: 0.05
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.data.base import Data
from tacit.errors import Infeasible, SdcError
from tacit.plan.entries import collect
from tacit.plan.grids import from_entry
from tacit.plan.sections import MapSpec
from tacit.spec import Measure, Method


def map_faults(section: MapSpec | None) -> list[str]:
    """Return what is wrong with a map section that needs no data to be seen."""
    if section is None:
        return []
    faults: list[str] = []
    candidates_of(section, faults)
    for axis in ("risk", "utility"):
        measures_of(section, axis, faults)
    return [f"map: {f}" for f in faults]


def unfit_candidates(section: MapSpec | None, data: Data) -> list[str]:
    """Return the candidates and measures that cannot work on the data."""
    if section is None:
        return []
    found = [
        f"{name} ({step.kind}): {fault}"
        for name, entries in candidates_of(section, []).items()
        for steps in entries
        for step in steps
        for fault in step.faults(data)
        # That a candidate cannot meet its own requirement is no fault: it keeps its place on the map.
        if not isinstance(fault, Infeasible)
    ]
    found += [
        f"{axis} ({measure.kind}): {fault}"
        for axis in ("risk", "utility")
        for measure in measures_of(section, axis, [])
        for fault in measure.faults(data)
    ]
    return [f"map: {f}" for f in dict.fromkeys(found)]


def candidates_of(section: MapSpec, faults: list[str]) -> dict[str, list[tuple[Method[Any], ...]]]:
    """Return the candidates by curve, adding a fault for each that is wrong."""
    given = section.candidates
    if not isinstance(given, Mapping) or not given:
        faults.append(
            "candidates must be a mapping from name to steps, e.g. "
            "{noise: {kind: add_noise, columns: [cost], relative: [0.1, 0.2]}}"
        )
        return {}
    found: dict[str, list[tuple[Method[Any], ...]]] = {}
    for name, entry in given.items():
        entries = entry if isinstance(entry, list) else [entry]
        for i, one in enumerate(entries, 1):
            try:
                found.setdefault(str(name), []).extend(from_entry(one))
            except SdcError as error:
                where = f"{name!r}, entry {i}" if isinstance(entry, list) else f"{name!r}"
                faults.append(f"candidates {where}: {error}")
    return found


def measures_of(section: MapSpec, axis: str, faults: list[str]) -> list[Measure[Any]]:
    """Return the measures of an axis, adding a fault for each that is wrong."""
    given = getattr(section, axis)
    if not given:
        faults.append(f"{axis} is missing; name a measure, e.g. {axis}: {{kind: ...}}")
        return []
    entries = given if isinstance(given, list) else [given]
    return collect(entries, Measure, f"{axis} measure", faults)
