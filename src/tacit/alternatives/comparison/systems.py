"""Systems: whatever makes protected data, and protected data themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast, runtime_checkable

from tacit.context import Context
from tacit.data.base import Data
from tacit.data.microdata import Microdata
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.events import Stretch
from tacit.plan import Plan
from tacit.spec import Method


class WrongReturn(InputError):
    """A system returned something else than data: a mistake in the call, not a finding."""


@runtime_checkable
class PlanLike(Protocol):
    """Anything that runs on data and returns the protected data, or a release that holds them."""

    def run(self, data: Any, *, seed: int | None = None) -> Any:
        """Run on data."""


#: A method, a plan, a function from data to data, or the protected data.
System = Method[Any] | PlanLike | Callable[[Any], Any] | Microdata | Table | Any


def makes_data(system: System) -> bool:
    """Return True for a system that has yet to be run; False for protected data."""
    return isinstance(system, Method | PlanLike) or callable(system)


def protect(data: Any, system: System, seed: int | None = None, work: Stretch | None = None) -> Any:
    """Return the data as one system protects them."""
    if not makes_data(system):
        return system
    if isinstance(system, Method):
        made = system.apply(data, context=Context.start(seed, work=work))
    elif isinstance(system, Plan) and work is not None:
        made = system.run(data, seed=seed, on_event=work.listener, should_stop=work.job.should_stop)
    elif isinstance(system, PlanLike):
        made = system.run(data, seed=seed)
    else:
        made = cast("Callable[[Any], Any]", system)(data)
    released = made if same_kind(data, made) else getattr(made, "data", made)
    refuse_other_kind(data, released)
    return cast("Data", released).materialise() if is_data(released) else released


def is_data(given: Any) -> bool:
    """Return True for data of any kind; False for plain values such as arrays."""
    return isinstance(getattr(given, "kind", None), str)


def same_kind(data: Any, released: Any) -> bool:
    """Return True when a release is of the kind of data that it was made from; plain values always are."""
    kind = getattr(data, "kind", None)
    return kind is None or getattr(released, "kind", None) == kind


def refuse_other_kind(data: Any, released: Any) -> None:
    """Refuse what a system returned when it is no data of that kind."""
    if released is None or not same_kind(data, released):
        raise WrongReturn(
            f"compare: a system returned {type(released).__name__} where protected data were expected"
        )
