"""Rules whose parameters stand in a plan as they are."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar


@dataclass(frozen=True)
class PlainRule:
    """A rule that a plan writes as its kind and its parameters."""

    kind: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as it stands in a plan; parameters at their defaults are left out."""
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        told = {f.name: given[f.name] for f in fields(self) if given[f.name] != f.default}
        return {
            "kind": self.kind,
            **{k: list(v) if isinstance(v, tuple) else v for k, v in told.items()},
        }
