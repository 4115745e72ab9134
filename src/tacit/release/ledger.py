"""The ledger: what was done, step by step, kept by the data holder and never released."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from tacit.data.base import Data
from tacit.kinds import kind_of
from tacit.registry import lookup
from tacit.result import as_json_number
from tacit.spec import Method

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
    parameters: Mapping[str, Any]
    seed_path: tuple[int, int]
    input: str
    output: str
    changes: Mapping[str, Any]
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_build(self) -> bool:
        """Return True where one kind of data was made from another, which is no step of the plan."""
        return self.kind.startswith("build_")

    @property
    def title(self) -> str:
        """Return what was done, in words."""
        if self.is_build:
            return f"Build the {self.kind.removeprefix('build_')}"
        return lookup(self.kind).title()


@dataclass(frozen=True)
class Ledger:
    """The confidential record of a run."""

    seed: int
    engine: str
    source: str
    source_kind: str
    source_fingerprint: str
    records: int
    versions: Mapping[str, str] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()

    @classmethod
    def start(cls, seed: int, data: Data) -> Ledger:
        """Open a ledger for a plan that is about to run on data."""
        engine = getattr(getattr(data, "engine", None), "name", "none")
        print_ = kind_of(data).fingerprint(data)
        return cls(seed, engine, data.source, data.kind, print_, len(data), versions())

    @property
    def last_fingerprint(self) -> str:
        """Return the fingerprint of the data as they stand."""
        return self.entries[-1].output if self.entries else self.source_fingerprint

    def with_step(
        self, step: Method[Any], before: Data, after: Data, warned: Sequence[str], number: int
    ) -> Ledger:
        """Return the ledger with one more step."""
        action, kind = after.history[-1], kind_of(after)
        return self.with_entry(
            kind=step.kind,
            parameters=step.to_dict(),
            seed_path=(self.seed, number),
            output=kind.fingerprint(after),
            changes=kind.compare(before, after),
            seconds=action.seconds,
            warnings=tuple(warned),
            details=dict(action.details),
        )

    def with_build(
        self, what: str, section: Mapping[str, Any], before: Data, after: Data
    ) -> Ledger:
        """Return the ledger with the making of one kind of data from another."""
        sizes = {f"{kind_of(d).noun}": len(d) for d in (before, after)}
        return self.with_entry(
            kind=what,
            parameters=dict(section),
            seed_path=(self.seed, 0),
            output=kind_of(after).fingerprint(after),
            changes=sizes,
        )

    def with_entry(self, **facts: Any) -> Ledger:
        """Return the ledger with one more entry, whose input is the last one's output."""
        return replace(self, entries=(*self.entries, Entry(input=self.last_fingerprint, **facts)))

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Ledger:
        """Return the ledger that :meth:`to_dict` gave as plain data."""
        entries = []
        for step in facts["steps"]:
            seed, number = step["seed_path"]
            told = tuple(step["warnings"])
            entries.append(Entry(**{**step, "seed_path": (seed, number), "warnings": told}))
        plain = {f.name: facts[f.name] for f in fields(cls) if f.name != "entries"}
        return cls(**plain, entries=tuple(entries))

    def to_dict(self) -> dict[str, Any]:
        """Return the ledger as plain data."""
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "entries"}
        steps = [as_json_number(vars(entry)) for entry in self.entries]
        return {**plain, "versions": dict(self.versions), "steps": steps}


def versions() -> dict[str, str]:
    """Return the versions that a re-run would need to be equal."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
