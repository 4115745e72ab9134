"""The gate of rounded and perturbed tables asks what the audit asks: does the interval reach the levels?"""

import numpy as np
import pytest

import tacit
from tacit.claims.gate import table_gate
from tacit.tables.noise.cell_keys import with_cell_keys

ROUNDINGS = [
    tacit.RandomRounding(base=10),
    tacit.RandomRounding(base=10, rule="conventional"),
    tacit.RandomRounding(base=10, rule="up"),
    tacit.RandomRounding(base=10, rule="down", totals="sum"),
    tacit.ControlledRounding(base=10),
    tacit.ControlledRounding(base=10, mode="conventional"),
]


def judged(seed, level, *, frequency):
    rng = np.random.default_rng(seed)
    table = tacit.Table.from_array(rng.integers(1, 60, (3, 4)), totals=False, frequency=frequency)
    cells = np.flatnonzero(table.ground)[rng.choice(12, 3, replace=False)]
    names = tuple(table.codes(int(c)) for c in cells)
    return tacit.SetStatus(cells=names, status="unsafe", lower=level, upper=level).apply(table)


@pytest.mark.parametrize("frequency", [False, True])
@pytest.mark.parametrize("method", ROUNDINGS, ids=lambda m: f"{m.kind} {m.to_dict()}")
@pytest.mark.filterwarnings("ignore::tacit.errors.Approximate")
def test_the_gate_agrees_with_the_audit(method, frequency):
    for seed, level in enumerate((0.5, 2, 3, 5, 8, 12, 2000)):
        table = method.apply(judged(seed, float(level), frequency=frequency), seed=seed)
        exposed = tacit.Audit(singletons=False).measure(table).exposed
        assert bool(table_gate(table)) == bool(exposed), (seed, level)


def test_cell_keys_must_be_able_to_reach_the_levels():
    data = tacit.read({"a": [*"xxyyz"], "b": [*"uvuvu"]})
    data = tacit.RecordKeys().apply(data, seed=1)
    table = with_cell_keys(tacit.Table.from_microdata(data, ["a", "b"]), data, "record_key")
    for level, safe in ((1.0, True), (500.0, False)):
        marked = tacit.SetStatus(cells=[("x", "u")], status="unsafe", lower=level, upper=level)
        done = tacit.CellKey(maximum=3, monotony=False).apply(marked.apply(table), seed=1)
        assert (table_gate(done) == []) == safe
