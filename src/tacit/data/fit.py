"""JointFit: a fitted model as data that can be released, with its coefficients and nothing of the records behind it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tacit.arrays import Floats
from tacit.data.base import Action
from tacit.errors import SdcError


@dataclass(frozen=True)
class JointFit:
    """The coefficients of a model, their covariance, and how many records stand behind them."""

    kind: ClassVar[str] = "fit"
    made_by: ClassVar[str] = "a fit: make it with tacit.private.regression"

    model: str
    formula: str
    names: tuple[str, ...]
    beta: Floats
    covariance: Floats
    n_records: int
    statement: str = ""
    source: str = "memory"
    history: tuple[Action, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    def with_action(self, action: Action) -> JointFit:
        """Return the fit with one more step in its history."""
        return replace(self, history=(*self.history, action))

    def materialise(self) -> JointFit:
        """Return the fit: it is in memory."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return what is released, as plain data."""
        return {
            "model": self.model,
            "formula": self.formula,
            "records": self.n_records,
            "terms": list(self.names),
            "coefficients": self.beta.tolist(),
            "standard_errors": np.sqrt(np.diag(self.covariance)).tolist(),
            "covariance": self.covariance.tolist(),
            "statement": self.statement,
        }

    def claim_view(self) -> dict[str, Any]:
        """Return what claims are recomputed on."""
        return self.to_dict()

    def faults_for(self, spec: Any) -> list[SdcError]:
        """Return why a Spec cannot work on a fit, as far as its declarations tell."""
        del spec
        return []
