"""Joint fits in a release: coefficients, covariance and statement, as JSON or as a table."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from tacit.data.fit import JointFit
from tacit.errors import InputError, PlanError
from tacit.kinds.base import Kind


class Fits(Kind[JointFit]):
    """A fitted model."""

    name: ClassVar[str] = "fit"
    noun: ClassVar[str] = "coefficients"
    formats: ClassVar[tuple[str, ...]] = ("json",)
    stem: ClassVar[str] = "fit"

    def holds_source(self, plan: Any) -> bool:
        """Return False: a fit comes from a joint computation, never from a file."""
        del plan
        return False

    def read(self, plan: Any) -> JointFit:
        """Refuse: see :meth:`holds_source`."""
        del plan
        raise PlanError("a fit is not read from a file: make it with tacit.private.regression")

    def fingerprint(self, data: JointFit) -> str:
        """Return the SHA-256 of what is released."""
        return hashlib.sha256(json.dumps(data.to_dict(), sort_keys=True).encode()).hexdigest()

    def compare(self, before: JointFit, after: JointFit) -> dict[str, Any]:
        """Return how many coefficients differ."""
        return {"changed": int((before.beta != after.beta).sum())}

    def describe(self, data: JointFit) -> dict[str, Any]:
        """Return the public facts."""
        return {
            "model": data.model,
            "formula": data.formula,
            "records": data.n_records,
            "statement": data.statement,
            "columns": list(data.names),
        }

    def write_public(self, data: JointFit, folder: Path, form: str) -> dict[str, str]:
        """Write the fit as JSON, and its coefficients as a table beside it."""
        facts = data.to_dict()
        name = f"{self.stem}.{form}"
        (folder / name).write_text(
            json.dumps(facts, indent=2, ensure_ascii=False), encoding="utf-8"
        )
        with (folder / "coefficients.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["term", "coefficient", "standard_error"])
            writer.writerows(
                zip(facts["terms"], facts["coefficients"], facts["standard_errors"], strict=True)
            )
        return {"fit": name, "coefficients": "coefficients.csv"}

    def read_back(self, data: JointFit | None, folder: Path, names: Mapping[str, str]) -> Any:
        """Return the released fit; the table beside it must agree."""
        del data
        try:
            facts = json.loads((folder / names["fit"]).read_text(encoding="utf-8"))
            with (folder / names["coefficients"]).open(newline="", encoding="utf-8") as file:
                rows = list(csv.reader(file))[1:]
            told = [(t, float(b), float(e)) for t, b, e in rows]
            kept = list(
                zip(facts["terms"], facts["coefficients"], facts["standard_errors"], strict=True)
            )
        except (OSError, ValueError, KeyError, TypeError):
            raise InputError("the released fit cannot be read") from None
        if told != kept:
            raise InputError("the table of coefficients does not agree with the fit")
        return facts


KIND = Fits()
