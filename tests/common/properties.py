"""What every Spec promises, as plain functions that take a Spec and fail with a sentence.

The battery calls them for every registered Spec (``test_every_property``), and for toys with one planted
fault each (``test_battery``). A Spec is run once for most of them: :func:`seen` keeps what it gave.
"""

from __future__ import annotations

import functools
import json
import random
import re
import tempfile
import threading
import warnings
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from common.cases import COLUMNS, LETTERS, fitting, people, specs, texts
from tacit.context import Context
from tacit.data.fit import JointFit
from tacit.engine.base import ROW
from tacit.engine.duckdb import DuckDbEngine
from tacit.errors import Cancelled, SdcError
from tacit.result import Result
from tacit.spec import Method

#: A common column of numbers that no parameter, count or share equals by chance.
INCOME = [10.517, 20.253, 30.011, 40.027, 55.039, 61.043, 70.057, 82.061, 90.073, 101.087, 11.093, 12.109]  # fmt: skip
MARKED = {**COLUMNS, "income": INCOME}
#: The marked columns with holes, every column in other records.
HOLES = {
    name: [None if name != "id" and i % 6 == j % 6 else v for i, v in enumerate(values)]
    for j, (name, values) in enumerate(MARKED.items())
}
ORDER = [7, 2, 11, 0, 5, 9, 1, 10, 3, 8, 6, 4]
#: Common data with which a step may go wrong, and may not quote what it met.
BROKEN = {
    "holes": HOLES,
    "one row": {name: v[:1] for name, v in MARKED.items()},
    "no rows": pa.table(MARKED).slice(0, 0),
    "one category": {name: [v[0]] * len(v) for name, v in MARKED.items()},
    "negative": {**MARKED, "income": [-x for x in INCOME]},
    "words": {**MARKED, "income": [f"gout {x}" for x in INCOME]},
}


# -- data and runs --------------------------------------------------------------------------------------


def fit(names=("(constant)", "x1", "x2"), n_records=60):
    """Coefficients of a model with three of them."""
    square = np.eye(len(names)) * 0.04 + 0.01
    return JointFit("linear", "y ~ x", tuple(names), np.arange(len(names)) - 0.5, square, n_records)


def data_for(spec):
    """The common data of the kind that a Spec acts on."""
    kinds = {
        tacit.Microdata: lambda: people(MARKED),
        tacit.Table: lambda: fitting(spec.kind),
        tacit.Corpus: texts,
        JointFit: fit,
    }
    return kinds[spec.acts_on()]()


def is_method(spec):
    """Return True for what protects, False for what measures."""
    return isinstance(spec, Method)


def on_records(spec):
    """Return True for a Spec that acts on records."""
    return spec.acts_on() is tacit.Microdata


def run(spec, data, **given):
    """Apply a method, or measure with the data beside itself."""
    if is_method(spec):
        return spec.apply(data, **given)
    return spec.measure(data, original=data, register=data, **given)


#: A solver asks a few times more in its callbacks before it ends.
ONCE_MORE = 3
#: The thread beside the work, which asks as often as time passes.
WATCH = "tacit events"


class Stop:
    """Asked at every tick whether to stop; says so from one number on, and never to the thread beside the work."""

    def __init__(self, at=None):
        self.asked, self.at = 0, at

    def __call__(self):
        if threading.current_thread().name == WATCH:
            return False
        self.asked += 1
        return self.at is not None and self.asked >= self.at


@dataclass
class Seen:
    """What one run of a Spec gave, and what could be seen of it from outside."""

    result: Any = None
    refusal: SdcError | None = None
    details: dict = field(default_factory=dict)
    warned: list = field(default_factory=list)
    ticks: int = 0
    deaf: bool = False
    drew: bool = False
    touched_global: bool = False

    @property
    def facts(self):
        """What was released or found, as text in which equal numbers are equal to the bit."""
        return facts(self.result) if self.refusal is None else str(self.refusal)


def observe(spec, data, *, seed=5, stop_at=None):
    """Run a Spec and note what it did besides."""
    stop, found = Stop(stop_at), Seen()
    ctx = Context.start(seed, should_stop=stop)
    state, shared = drawn_so_far(ctx), global_state()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found.result = run(spec, data, context=ctx)
        except SdcError as error:
            found.refusal = error
    found.details = dict(ctx.details)
    found.warned = [str(w.message) for w in caught]
    found.ticks = stop.asked - asked_by_base(spec)
    found.deaf = stop_at is not None and stop.asked > stop_at + ONCE_MORE
    found.drew = drawn_so_far(ctx) != state
    found.touched_global = global_state() != shared
    return found


def asked_by_base(spec):
    """How often the base class asks by itself before the work begins."""
    return 3 if is_method(spec) else 1


def drawn_so_far(ctx):
    """The state of a step's own generator."""
    return repr(ctx.rng.bit_generator.state)


def global_state():
    """The state of every generator that a process shares."""
    return repr((np.random.get_state(), random.getstate()))  # noqa: NPY002 - to see that nobody uses it


_seen: dict[Any, Seen] = {}


def seen(spec, seed=5):
    """What a Spec gave on the common data; run once in a process."""
    key = (type(spec), json.dumps(spec.to_dict(), default=str, sort_keys=True), seed)
    if key not in _seen:
        _seen[key] = observe(spec, data_for(spec), seed=seed)
    return _seen[key]


def facts(thing):
    """All that is released of data, or found by a measure, as text."""
    if isinstance(thing, tacit.Microdata):
        return repr(thing.to_arrow().to_pydict())
    if isinstance(thing, tacit.Table):
        hidden = [thing.status.tolist(), thing.published.tolist(), thing.upper_level.tolist()]
        return repr(hidden)
    if isinstance(thing, tacit.Corpus):
        return repr([(d.name, d.text) for d in thing])
    if isinstance(thing, Result):
        rows = None if thing.frame is None else thing.frame.rows(named=True)
        return repr((thing.to_dict(), rows, thing.explanation))
    return repr(thing.to_dict())


def worked(spec):
    """What the Spec gave; the test ends here where it refuses the common data."""
    found = seen(spec)
    if found.refusal is not None:
        pytest.skip("refuses the common data")
    return found


# -- chance ---------------------------------------------------------------------------------------------


def check_equal_seeds_give_equal_results(spec):
    """Two runs with one seed agree to the bit, and the data are as before."""
    data = data_for(spec)
    before = facts(data)
    again = observe(spec, data)
    assert again.facts == seen(spec).facts, "equal seeds gave different results"
    assert facts(data) == before, "the data were changed in place"
    assert data.history == ()


def check_draws_only_if_it_says_so(spec):
    """A Spec with ``random = False`` draws nothing and gives the same with every seed."""
    if spec.uses_chance:
        return
    assert not seen(spec).drew, "numbers were drawn though random = False"
    assert seen(spec, seed=6).facts == seen(spec).facts, "the seed shows though random = False"


def check_leaves_global_randomness_alone(spec):
    """No generator that a process shares is read or set."""
    # Libraries may draw while they are imported, which happens once.
    touched = seen(spec).touched_global
    if touched:
        np.random.random()  # noqa: NPY002 - a seed that was set shows as a change
        random.random()
        touched = observe(spec, data_for(spec)).touched_global
    assert not touched, "global random state was used"


# -- records --------------------------------------------------------------------------------------------


def by_number(result, order=None):
    """The records by the number of the record they were made from."""
    table = result.to_arrow(with_row=True)
    rows = table.drop_columns([ROW]).to_pylist()
    numbers = table.column(ROW).to_pylist()
    return {n if order is None else order[n]: r for n, r in zip(numbers, rows, strict=True)}


def loses_records(spec, found):
    """Return True where no record of the result is one of the original."""
    return bool(spec.cuts_links or found.details.get("links_lost"))


def check_position_does_not_matter(spec):
    """A record gets the same value wherever it is in the file; a measure finds the same."""
    found = worked(spec)
    if not on_records(spec) or found.drew or seen(spec, seed=6).facts != found.facts:
        return  # each record draws the numbers of its place
    turned = people({name: [values[i] for i in ORDER] for name, values in MARKED.items()})
    other = observe(spec, turned)
    assert other.refusal is None, "refused in another order"
    if not is_method(spec):
        assert other.result.value == pytest.approx(found.result.value, rel=1e-9, nan_ok=True)
        return
    assert len(other.result) == len(found.result)
    assert claims_of(other.result) == claims_of(found.result)
    if not loses_records(spec, found):
        here, there = by_number(found.result), by_number(other.result, ORDER)
        assert same_rows(here, there), "a value depends on the record's place in the file"


def same_rows(here, there):
    """Return True where the same records have the same values, sums in another order apart."""
    if here.keys() != there.keys():
        return False
    return all(
        same_value(v, there[n][c]) for n, row in here.items() for c, v in row.items() if c != "id"
    )


def same_value(one, other):
    """Return True for equal values; floats may differ in the last digits."""
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=1e-9, nan_ok=True)
    return one == other


def claims_of(data):
    """What is claimed of the data."""
    return [c.to_dict() for a in data.history for c in a.claims]


def check_missing_values_stay_missing(spec):
    """Where the original had no value, the result has none, or says so with a word: never a number."""
    if not on_records(spec) or not is_method(spec):
        return
    found = observe(spec, people(HOLES))
    if found.refusal is not None or loses_records(spec, found):
        return
    for number, row in by_number(found.result).items():
        for column, value in row.items():
            was = HOLES[column][number] if column in HOLES and number < len(ORDER) else ...
            assert was is not None or not is_number(value), f"null became a number in {column}"


def is_number(value):
    """Return True for a number that is one."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value  # noqa: PLR0124 - NaN


def check_changes_what_it_declares(spec):
    """No column changes, comes or goes but those declared."""
    if not on_records(spec) or not is_method(spec):
        return
    found, data = worked(spec), data_for(spec)
    before, after = data.to_arrow().column_names, found.result.to_arrow().column_names
    assert set(after) - set(before) <= set(spec.adds(data)), "a column came undeclared"
    gone = set(before) - set(after)
    assert gone <= {*spec.removes(data), *data.identifiers}, "a column went undeclared"
    if loses_records(spec, found):
        return
    allowed = {*spec.targets(data), *spec.adds(data), *data.identifiers}
    was = by_number(data)
    for number, row in by_number(found.result).items():
        for column in row.keys() - allowed:
            old = was[number][column] if number in was else row[column]
            assert row[column] == old, f"{column} changed, and is not declared"


def check_claims_hold(spec):
    """What is claimed is true of the result, recomputed, and of its storage."""
    if not is_method(spec):
        return
    found = seen(spec)
    assert "does not hold on the output" not in str(found.refusal), "what is claimed is false"
    if found.refusal is not None:
        return
    for claim in found.result.history[-1].claims:
        assert claim.holds(found.result.claim_view()), "what is claimed is false"
        assert type(claim).from_dict(claim.to_dict()).holds(found.result.claim_view())
        assert claim.sentence()


# -- confidentiality ------------------------------------------------------------------------------------


def secrets_of(spec):
    """Texts and numbers that are values of the common data, and of no parameter."""
    if spec.acts_on() is tacit.Corpus:
        words = {"Townsend", "Kowalski", "48213375", "Huntington", "bert.k"}
        return words & set(re.findall(r"[\w.]+", " ".join(LETTERS.values()))) | {"bert.k"}, set()
    if not on_records(spec):
        return set(), set()
    given = json.dumps(spec.to_dict(), default=str, ensure_ascii=False)
    words = {*MARKED["zip"], *MARKED["disease"], "née", "p11", "p10"} | set(map(str, INCOME))
    return {w for w in words if w not in given}, {x for x in INCOME if str(x) not in given}


def leaves(thing):
    """Every text and number in nested data, names included."""
    if isinstance(thing, dict):
        for key, value in thing.items():
            yield from leaves(key)
            yield from leaves(value)
    elif isinstance(thing, list | tuple | set | frozenset):
        for part in thing:
            yield from leaves(part)
    elif isinstance(thing, np.ndarray | np.generic):
        yield from leaves(thing.tolist())
    else:
        yield thing


def leak_in(spec, thing):
    """Return True where something holds a value of a record."""
    words, numbers = secrets_of(spec)
    for leaf in leaves(thing):
        if isinstance(leaf, float) and any(abs(leaf - x) < 1e-9 for x in numbers):
            return True
        if not isinstance(leaf, int | float) and any(
            re.search(rf"(?<![\w.]){re.escape(w)}(?![\w])", str(leaf)) for w in words
        ):
            return True
    return False


def check_nothing_of_records_is_noted(spec):
    """Notes, warnings, the ledger's entry and the sentences of a result hold no value of a record."""
    found = seen(spec)
    assert not leak_in(spec, found.details), "a note holds a value of a record"
    assert not leak_in(spec, found.warned), "a warning holds a value of a record"
    if found.refusal is not None:
        return
    if not is_method(spec):
        result = found.result
        said = [result.title, result.explanation, result.shortfall, dict(result.labels)]
        assert not leak_in(spec, [*said, list(result.numbers)]), "a result's words hold a value"
        return
    action = found.result.history[-1]
    assert action.kind == spec.kind
    assert action.techniques or not on_records(spec)
    written = [dict(action.details), dict(action.parameters), [c.to_dict() for c in action.claims]]
    assert not leak_in(spec, written), "the ledger holds a value of a record"


def check_hard_data_give_a_result_or_a_sentence(spec):
    """On data with which it cannot work, a Spec says so in a sentence without a value; else its claims hold."""
    if not on_records(spec):
        return
    for case in BROKEN.values():
        try:
            data = people(case)
        except SdcError:
            continue
        found = observe(spec, data)
        if found.refusal is not None:
            assert 10 < len(str(found.refusal)) < 900
            assert not leak_in(spec, str(found.refusal)), "an error quotes a value"
        elif is_method(spec):
            facts(found.result)
            for claim in (c for a in found.result.history for c in a.claims):
                assert claim.holds(found.result.claim_view()), "what is claimed is false"
        else:
            facts(found.result)
        assert not leak_in(spec, found.warned), "a warning quotes a value"


# -- cancellation ---------------------------------------------------------------------------------------


def check_can_be_cancelled_in_the_middle(spec):
    """The work itself asks whether to stop, and stops there; the data are as before."""
    whole = seen(spec).ticks
    assert whole > 0, "nothing asks whether to stop while the work is done"
    middle = asked_by_base(spec) + (whole + 1) // 2
    data = data_for(spec)
    before = facts(data)
    stopped = observe(spec, data, stop_at=middle)
    assert isinstance(stopped.refusal, Cancelled), "the request to stop was not heard"
    assert not stopped.deaf, "the work went on after the request to stop"
    assert facts(data) == before


def check_can_be_cancelled_at_once(spec):
    """A method that is to stop before it starts does nothing."""
    if is_method(spec):
        assert isinstance(observe(spec, data_for(spec), stop_at=1).refusal, Cancelled)


# -- storage --------------------------------------------------------------------------------------------


def check_result_survives_storing(spec):
    """A result that is stored and read again is the same, field by field."""
    if is_method(spec):
        return
    found = worked(spec).result
    stored = json.loads(json.dumps(found.stored(), allow_nan=False))
    again = (type(found) if on_toys(spec) else Result).from_dict(stored)
    assert type(again) is type(found)
    assert again.stored() == stored, "a field is lost"
    for name, value in vars(found).items():
        # What has no text of its own, and frames, which libraries show in their own way, are compared as stored.
        if " at 0x" not in repr(value) and name != "frame":
            assert repr(getattr(again, name)) == repr(value), f"{name} is lost"
    assert json.dumps(again.to_dict()) == json.dumps(found.to_dict())
    assert repr(again) == repr(found)
    assert str(again.labelled()) == str(found.labelled())
    assert [c.full() for c in again.charts()] == [c.full() for c in found.charts()]


def on_toys(spec):
    """Return True for a Spec that is not registered, whose results are found by their own class alone."""
    return spec.kind not in specs()


# -- where the work is done -----------------------------------------------------------------------------

COPIES = 40
#: Every verb of DuckDB by which records leave the engine; readers hand over batches, which is bounded.
WAYS_OUT = (
    *("fetchall", "fetchone", "fetchmany", "fetchnumpy", "fetchdf", "df", "to_df", "pl"),
    *("arrow", "to_arrow_table", "fetch_arrow_table", "torch", "tf"),
)


@functools.cache
def many_people():
    """Each person several times, in a file, on an engine that keeps nothing but tiny frames in memory."""
    columns = {c: v * COPIES for c, v in COLUMNS.items()}
    columns["id"] = [f"p{i}" for i in range(12 * COPIES)]
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "people.parquet"
    pq.write_table(pa.table(columns), path)
    engine = DuckDbEngine()
    engine._scratch.in_memory = 1000
    engine.folder = folder  # lives as long as the engine
    return people(path, engine=engine)


def size_of(answer):
    """How many records an answer of the engine may hold."""
    if isinstance(answer, pa.Table):
        return answer.num_rows
    if isinstance(answer, dict):
        return max((len(v) for v in answer.values()), default=0)
    return len(answer) if hasattr(answer, "__len__") else 0


@contextmanager
def watched_exits():
    """Note the size of everything that leaves the engine, by whatever way."""
    sizes = []

    def spied(verb):
        @functools.wraps(verb)
        def spy(*args, **kwargs):
            answer = verb(*args, **kwargs)
            sizes.append(size_of(answer))
            return answer

        return spy

    ways = [
        *((duckdb.DuckDBPyRelation, n) for n in WAYS_OUT),
        *((duckdb.DuckDBPyConnection, n) for n in WAYS_OUT),
        *((DuckDbEngine, n) for n in ("to_arrow", "in_order")),
        (tacit.Microdata, "to_arrow"),
    ]
    with ExitStack() as stack:
        for owner, name in ways:
            if hasattr(owner, name):
                stack.enter_context(mock.patch.object(owner, name, spied(getattr(owner, name))))
        # A sample of that size may be fetched to see whether a step changed anything.
        stack.enter_context(mock.patch("tacit.data.paired.LOOKED_AT", 40))
        yield sizes


def check_records_are_gathered_only_if_it_says_so(spec):
    """What runs on the engine or on coded cells never fetches as many records as there are."""
    if not on_records(spec) or spec.runs_on == "records":
        return
    data = many_people()
    with watched_exits() as sizes, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(spec, data, seed=1)
    assert max(sizes, default=0) < len(data), "records were gathered though runs_on says otherwise"


#: Every property, by the name under which a Spec may be excused from it.
PROPERTIES = {
    name.removeprefix("check_"): check
    for name, check in list(globals().items())
    if name.startswith("check_")
}
