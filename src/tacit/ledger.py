"""The ledger: what was done, step by step, kept by the data holder and never released."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from tacit.data.changes import changes
from tacit.data.fingerprint import fingerprint, table_fingerprint
from tacit.data.microdata import Microdata
from tacit.data.table import Table
from tacit.result import plain

if TYPE_CHECKING:
    from tacit.plan import Plan
    from tacit.spec import Method, TableMethod

PACKAGES = (
    "tacit",
    "numpy",
    "narwhals",
    "duckdb",
    "pyarrow",
    "pydantic",
    "pyspark",
    "numba",
    "highspy",
)


@dataclass(frozen=True)
class Entry:
    """One step: what was asked, what was done, and the fingerprints around it."""

    kind: str
    parameters: dict[str, Any]
    seed_path: tuple[int, int]
    input: str
    output: str
    changes: dict[str, Any]
    seconds: float
    warnings: tuple[str, ...]
    details: dict[str, Any]


@dataclass(frozen=True)
class Ledger:
    """The confidential record of a run."""

    seed: int
    engine: str
    source: str
    source_fingerprint: str
    records: int
    versions: dict[str, str] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()

    @classmethod
    def start(cls, plan: Plan, data: Microdata) -> Ledger:
        """Open a ledger for a plan that is about to run on data."""
        assert plan.seed is not None
        return cls(
            plan.seed, data.engine.name, data.source, fingerprint(data), len(data), versions()
        )

    def with_step(
        self, step: Method, before: Microdata, after: Microdata, warned: Sequence[str]
    ) -> Ledger:
        """Return the ledger with one more step."""
        action = after.history[-1]
        entry = Entry(
            kind=step.kind,
            parameters=step.to_dict(),
            seed_path=(self.seed, len(self.entries) + 1),
            input=self.entries[-1].output if self.entries else self.source_fingerprint,
            output=fingerprint(after),
            changes=changes(before, after),
            seconds=action.seconds,
            warnings=tuple(warned),
            details=dict(action.details),
        )
        return replace(self, entries=(*self.entries, entry))

    @classmethod
    def start_table(cls, plan: Plan, table: Table) -> Ledger:
        """Open a ledger for a plan that is about to run on a ready table."""
        assert plan.seed is not None
        return cls(
            plan.seed, "none", table.source, table_fingerprint(table), len(table), versions()
        )

    def with_table_step(
        self, step: TableMethod, before: Table, after: Table, warned: Sequence[str]
    ) -> Ledger:
        """Return the ledger with one more step on the table."""
        action = after.history[-1]
        entry = Entry(
            kind=step.kind,
            parameters=step.to_dict(),
            seed_path=(self.seed, len(self.entries) + 1),
            input=table_fingerprint(before),
            output=table_fingerprint(after),
            changes={"status before": before.tally(), "status after": after.tally()},
            seconds=action.seconds,
            warnings=tuple(warned),
            details=dict(action.details),
        )
        return replace(self, entries=(*self.entries, entry))

    def to_dict(self) -> dict[str, Any]:
        """Return the ledger as plain data."""
        return {
            "seed": self.seed,
            "engine": self.engine,
            "source": self.source,
            "source_fingerprint": self.source_fingerprint,
            "records": self.records,
            "versions": self.versions,
            "steps": [plain(vars(entry)) for entry in self.entries],
        }


def versions() -> dict[str, str]:
    """Return the versions that a re-run would need to be equal."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
