"""What every kind of data has in common: the protocol that Specs, plans and releases rely on.

Records (:class:`~tacit.data.microdata.Microdata`) and tables (:class:`~tacit.data.table.Table`) have these
few members; how a kind is read, written, compared and described stands in its adapter in ``tacit.kinds``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self

from tacit.claims import Claim
from tacit.errors import SdcError

#: The note in which a step tells how it randomised columns; their matrices are published with the data.
RANDOMISED = "randomised"


@dataclass(frozen=True)
class Action:
    """One step that was done to the data: for the ledger, the statement and the report."""

    kind: str
    parameters: Mapping[str, Any]
    techniques: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    seconds: float = 0.0
    #: All parameters, secret ones too: for steps that do an earlier one again. Never written in public.
    private: Mapping[str, Any] = field(default_factory=dict, repr=False)


class Data(Protocol):
    """Data that can be protected, measured and released. Never changed: every verb returns new data."""

    #: The name of the kind, and of its adapter in ``tacit.kinds``.
    kind: ClassVar[str]
    #: What a Spec that got other data tells the user to do: "microdata: read them with tacit.read(...)".
    made_by: ClassVar[str]

    @property
    def history(self) -> tuple[Action, ...]:
        """Return what has been done since the data were read."""
        ...

    @property
    def source(self) -> str:
        """Return where the data came from, for the ledger."""
        ...

    def __len__(self) -> int:
        """Return the number of records, cells, documents."""
        ...

    def with_action(self, action: Action) -> Self:
        """Return the data with one more step in its history."""
        ...

    def materialise(self) -> Self:
        """Return the data computed once, so that later steps do not repeat earlier ones."""
        ...

    def claim_view(self) -> Any:
        """Return what claims are recomputed on."""
        ...

    def faults_for(self, spec: Any) -> list[SdcError]:
        """Return why a Spec cannot work on these data, as far as its declarations tell."""
        ...


def claims_of(data: Data) -> tuple[Claim, ...]:
    """Return every claim made by the steps."""
    return tuple(claim for action in data.history for claim in action.claims)
