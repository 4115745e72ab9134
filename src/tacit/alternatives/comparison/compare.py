"""compare: protect the same data in several ways and lay the outcomes side by side."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tacit.alternatives.comparison.outcome import KEYS, KeyFacts, Outcome
from tacit.alternatives.comparison.result import ComparisonResult, comparison_result
from tacit.alternatives.comparison.systems import (
    System,
    WrongReturn,
    is_data,
    makes_data,
    protect,
    refuse_other_kind,
)
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.table import Table
from tacit.errors import Cancelled, InputError, RoleMissing, SdcError, SdcWarning
from tacit.events import Job, Listener, Phase, Stop, Stretch, ignore_event, never
from tacit.kept import keep_results
from tacit.kinds import kind_of
from tacit.records.utility.information_loss import InformationLoss
from tacit.result import Result
from tacit.spec import Measure
from tacit.tables.compare.table_comparison import TableComparison

Measures = Mapping[str, Measure[Any]]


@keep_results()
def compare(
    data: Any,
    systems: Mapping[str, System],
    measures: Sequence[Measure[Any]] = (),
    *,
    k: int | None = None,
    seed: int | None = None,
    on_event: Listener = ignore_event,
    should_stop: Stop = never,
) -> ComparisonResult:
    """Protect the same data in several ways and lay the results side by side.

    Parameters
    ----------
    data
        The data to protect: Microdata or a Table. Versions of a table may also be compared as plain
        cells: an array, a frame, or a file (CSV, XLSX, ...).
    systems
        What to compare, by name: methods, plans, functions from data to data, or protected data.
    measures
        Measures of risk and utility; each adds its value as a column, and some add several. By default
        they follow from the data. Records with keys always have precision in three accountings, the
        smallest class, unique records, drops, suppressed cells and levels; other records have
        information loss; a table has the audit and the loss in cells, and, where versions are given as
        data, everything of :class:`~tacit.TableComparison`.
    k
        The class size to judge by; adds a column that says whether it is met.
    seed
        Seed given to every system and measure, so that a comparison can be repeated.
    on_event, should_stop
        Called with events, and asked whether to stop, while working; see :mod:`tacit.events`.

    Returns
    -------
    ComparisonResult
        One row per system. A system that cannot meet its own requirement keeps its row, with the reason.

    References
    ----------
    Sweeney (2000), Foundations of privacy protection from a computer science perspective, Figure 34.
    Templ (2006), Software development for SDC in R, PSD 2006, LNCS 4302, 347-359, section 6.
    Shlomo, Young (2006), Statistical disclosure control methods through a risk-utility framework,
    PSD 2006, LNCS 4302, 68-81.
    """
    if not systems:
        raise InputError("compare: give at least one system, e.g. {'Datafly': tacit.Datafly(k=2)}")
    standing = key_measures(data, k, measures)
    chosen = {**standing, **label_measures(measures or default_measures(data, systems, standing))}
    parts = (
        *(Phase("protect", f"Protecting the data: {name}", 2) for name in systems),
        *(Phase("compare", f"Comparing: {m.title()}") for m in chosen.values()),
    )
    job = Job(on_event, should_stop, parts)

    def run() -> ComparisonResult:
        outcomes = [
            run_system(data, name, system, seed, job.begin("protect"))
            for name, system in systems.items()
        ]
        for label, measure in chosen.items():
            work, n = job.begin("compare"), len(outcomes)
            if isinstance(measure, TableComparison):
                made = {o.name: o.released for o in outcomes if o.released is not None}
                found = measure.measure_versions(made, data) if made else {}
                outcomes = [
                    with_result(o, label, found[o.name]) if o.name in found else o for o in outcomes
                ]
            else:
                outcomes = [
                    measure_one(data, o, label, measure, Context.start(seed, work=work.part(i, n)))
                    for i, o in enumerate(outcomes)
                ]
        return comparison_result(tuple(outcomes), chosen)

    return job.watch(run)


# -- what is measured ----------------------------------------------------------------------------------


def key_measures(data: Any, k: int | None, measures: Sequence[Measure[Any]]) -> Measures:
    """Return the facts about keys, which every comparison of records with keys has.

    They are left out where the records are compared as a table.
    """
    as_table = any(isinstance(m, TableComparison) for m in measures)
    if isinstance(data, Microdata) and data.keys and not as_table:
        return {KEYS: KeyFacts(k=k)}
    if k is not None:
        raise RoleMissing(
            "compare judges k by keys, and the data declare none. Declare them with tacit.read(..., keys=...)."
        )
    return {}


def default_measures(
    data: Any, systems: Mapping[str, System], standing: Measures
) -> Iterable[Measure[Any]]:
    """Return what is measured where nothing is named."""
    if standing:
        return ()
    if isinstance(data, Microdata):
        return (InformationLoss.model_validate({}),)
    if not is_data(data):
        return (TableComparison.model_validate({}),)
    given = [s for s in systems.values() if isinstance(s, Table)]
    # Measures of a version with gaps need a rule for them, which somebody has to choose.
    whole = bool(given) and not any(table.hidden.any() for table in given)
    return (
        *kind_of(data).measures(data),
        *((TableComparison.model_validate({}),) if whole else ()),
    )


def label_measures(measures: Iterable[Measure[Any]]) -> dict[str, Measure[Any]]:
    """Return the measures by kind, numbered where a kind comes more than once."""
    found: dict[str, Measure[Any]] = {}
    for measure in measures:
        same = sum(m.kind == measure.kind for m in found.values())
        found[f"{measure.kind} {same + 1}" if same else measure.kind] = measure
    return found


# -- running -------------------------------------------------------------------------------------------


def run_system(data: Any, name: str, system: System, seed: int | None, work: Stretch) -> Outcome:
    """Protect the data in one way."""
    if not makes_data(system):
        if is_data(data) and is_data(system):
            refuse_other_kind(data, system)
        return Outcome(name, system)
    begun = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            released = protect(data, system, seed, work)
        except (Cancelled, WrongReturn):
            raise
        except SdcError as error:
            return Outcome(name, seconds=time.perf_counter() - begun, reasons=(str(error),))
    return Outcome(name, released, seconds=time.perf_counter() - begun, warnings=told_in(caught))


def measure_one(
    data: Any, outcome: Outcome, label: str, measure: Measure[Any], ctx: Context
) -> Outcome:
    """Return an outcome with one measure more, or with the reason why it has none."""
    if outcome.released is None:
        return outcome
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = measure.measure(outcome.released, original=data, context=ctx)
        except Cancelled:
            raise
        except SdcError as error:
            return replace(outcome, reasons=(*outcome.reasons, f"{label}: {error}"))
    told = dict.fromkeys((*outcome.warnings, *told_in(caught)))
    return replace(with_result(outcome, label, result), warnings=tuple(told))


def with_result(outcome: Outcome, label: str, result: Result) -> Outcome:
    """Return an outcome with the result of one measure more."""
    return replace(outcome, results={**outcome.results, label: result})


def told_in(caught: Iterable[warnings.WarningMessage]) -> tuple[str, ...]:
    """Return our own warnings, each once."""
    ours = (str(w.message) for w in caught if issubclass(w.category, SdcWarning))
    return tuple(dict.fromkeys(ours))
