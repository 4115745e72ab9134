"""What every kind of data has in common: the protocol that Specs, plans and releases rely on.

Records (:class:`~tacit.data.microdata.Microdata`) and tables (:class:`~tacit.data.table.Table`) have these
few members; how a kind is read, written, compared and described stands in its adapter in ``tacit.kinds``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from tacit.claims import Claim
from tacit.context import Context
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

    @property
    def source(self) -> str:
        """Return where the data came from, for the ledger."""

    def __len__(self) -> int:
        """Return the number of records, cells, documents."""

    def with_action(self, action: Action) -> Self:
        """Return the data with one more step in its history."""

    def materialise(self) -> Self:
        """Return the data computed once, so that later steps do not repeat earlier ones."""

    def claim_view(self) -> Any:
        """Return what claims are recomputed on."""

    def faults_for(self, spec: Any) -> list[SdcError]:
        """Return why a Spec cannot work on these data, as far as its declarations tell."""


T = TypeVar("T", bound=Data)
#: How a method does its work, and what it then claims: its ``_apply`` and ``_claims_with``.
Apply = Callable[[T, Context], T]
Claims = Callable[[T, T, Context], Iterable[Claim]]


class Around(Generic[T]):
    """What a kind of data does around the work of a Spec; this one does the work and nothing else.

    Data that do more have a verb ``around(spec)``, which returns a subclass: records look after households,
    linked columns and copies.
    """

    def __init__(self, data: T, spec: Any = None) -> None:
        self.data = data
        self.spec = spec

    def check(self) -> None:
        """Refuse what the method must not be applied to."""

    def parts(self) -> Sequence[T]:
        """Return data that a measure takes one by one instead of all at once; nothing for data that are whole."""
        return ()

    def cautions(self, elsewhere: frozenset[str] = frozenset()) -> list[str]:
        """Return what the method leaves open, in sentences, before any work; others change ``elsewhere``."""
        del elsewhere
        return []

    def work(self, apply: Apply[T], claims: Claims[T], ctx: Context) -> tuple[T, tuple[Claim, ...]]:
        """Do the work; return the result and what is claimed of it."""
        result = apply(self.data, ctx)
        return result, tuple(claims(self.data, result, ctx))

    def doubts(self) -> list[str]:
        """Return what the claims take for granted though nothing says so, in sentences."""
        return []

    def assumptions(self) -> Iterable[str]:
        """Return what the claims rest on besides their own assumptions."""
        return ()

    def judge(self, result: T, ctx: Context) -> T:
        """Return the result; refuse it where the method was to change values and changed none."""
        del ctx
        return result

    def extremes(self) -> list[str]:
        """Return the columns that hold numbers whose squares leave the range of a double."""
        return []


#: Said of linked tables when nothing tells whether two of their dimensions are one variable.
APART = (
    "{pair} are taken as different variables, as no table has both; if one classifies the other, cells may follow "
    "from the tables together. Give data= or variables= when the tables are linked."
)


class AroundTable(Around[Any]):
    """What a table does: pairs of dimensions that claims take as different variables are doubts about linked ones."""

    def doubts(self) -> list[str]:
        """Return the pairs of dimensions that are taken as different variables, though nothing says so."""
        return [APART.format(pair=pair) for pair in self.data.extra.get("apart", ())]

    def assumptions(self) -> Iterable[str]:
        """Yield that these pairs are different variables."""
        for pair in self.data.extra.get("apart", ()):
            yield f"{pair} are different variables: none classifies the other"


def around_of(data: T, spec: Any = None) -> Around[T]:
    """Return what the data do around the work of a Spec."""
    own: Callable[[Any], Around[T]] | None = getattr(data, "around", None)
    return Around(data, spec) if own is None else own(spec)


def claims_of(data: Data) -> tuple[Claim, ...]:
    """Return every claim made by the steps."""
    return tuple(claim for action in data.history for claim in action.claims)
