"""The ledger: what was done, step by step, kept by the data holder and never released."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from tacit.data.fingerprint import fingerprint, table_fingerprint
from tacit.data.microdata import Microdata
from tacit.data.table import Table
from tacit.engine import relational
from tacit.engine.base import ROW
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


def changes(before: Microdata, after: Microdata) -> dict[str, Any]:
    """Return how many records were dropped or added and how many cells changed, by column."""
    if after.history and after.history[-1].details.get("links_lost"):
        return {"records_before": len(before), "records_after": len(after), "links_lost": True}
    shared = [c for c in after.columns if c in before.columns]
    left = before.frame.select(ROW, *[nw.col(c).alias(f"b{i}") for i, c in enumerate(shared)])
    right = after.frame.select(ROW, *[nw.col(c).alias(f"a{i}") for i, c in enumerate(shared)])
    joined = left.join(right, on=ROW, how="inner")
    schema = joined.collect_schema()
    counts = [nw.len().cast(nw.Int64).alias("kept")]
    counts += [
        differs(f"b{i}", f"a{i}", same=schema[f"b{i}"] == schema[f"a{i}"]).alias(f"n{i}")
        for i in range(len(shared))
    ]
    facts = joined.select(*counts).collect("pyarrow").rows(named=True)[0]
    kept = int(facts["kept"])
    return {
        "records_before": len(before),
        "records_after": relational.count_rows(after.frame),
        "dropped": len(before) - kept,
        "added": relational.count_rows(after.frame) - kept,
        "columns_removed": [c for c in before.columns if c not in after.columns],
        "columns_added": [c for c in after.columns if c not in before.columns],
        "cells": {c: int(facts[f"n{i}"] or 0) for i, c in enumerate(shared) if facts[f"n{i}"]},
    }


def differs(old: str, new: str, *, same: bool) -> nw.Expr:
    """Count the rows in which two columns differ; null equals null."""
    a, b = (
        (nw.col(old), nw.col(new))
        if same
        else (nw.col(old).cast(nw.String), nw.col(new).cast(nw.String))
    )
    null_change = nw.col(old).is_null() != nw.col(new).is_null()
    value_change = (a != b).fill_null(value=False)
    return (null_change | value_change).cast(nw.Int64).sum()
