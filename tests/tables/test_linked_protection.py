"""Linked tables protected as one system, proven by programs of another solver."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tables.random_tables import by_hand, random_dimension
from tacit.data.cells.dimension import Dimension
from tacit.data.cells.linked import link
from tacit.data.cells.relations import roll_up
from tacit.errors import InputError
from tacit.registry import lookup
from tacit.tables.agencies.linking import protect_linked
from tacit.tables.suppress.problem import problem_of

#: These tables are made without records, so that nothing tells their dimensions apart.
pytestmark = pytest.mark.filterwarnings("ignore:.*taken as different variables")

ENGINES = [
    "suppress_linear",
    "suppress_exact",
    "suppress_modular",
    "suppress_gauss",
    "suppress_hypercube",
]


def margin(values, dimensions, keep):
    """The table by some of the dimensions, at the total of the others."""
    at = tuple(slice(None) if i in keep else d.total for i, d in enumerate(dimensions))
    return tacit.Table.from_cells([dimensions[i] for i in keep], values[at])


def linked_tables(seed):
    """Two or three tables of one population, some with a second grouping."""
    rng = np.random.default_rng(seed)
    dims = [random_dimension(rng, n) for n in "ab"] + [Dimension.flat("c", ["c0", "c1", "c2"])]
    values = roll_up(rng.integers(1, 30, [len(d.leaves) for d in dims]).astype(float), dims)
    sets = [(0, 1), (0, 2), (1, 2)][: int(rng.integers(2, 4))]
    tables = []
    for keep in sets:
        table = margin(values, dims, keep)
        unsafe = np.flatnonzero(table.ground & (rng.random(len(table)) < 0.15))
        level = 0.2 * table.value[unsafe]
        tables.append(table.with_protection(unsafe, lower=level, upper=level))
    return tables


@pytest.mark.parametrize("by", ENGINES)
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_every_engine_protects_the_joint_system(by, seed):
    tables = linked_tables(seed)
    done = protect_linked(*tables, method=lookup(by)())
    joint = link(*tables)
    hidden = np.zeros(len(joint), dtype=bool)
    for table, at in zip(done, joint.extra["parts"], strict=True):
        hidden[at] |= table.hidden
    for table, at in zip(done, joint.extra["parts"], strict=True):
        assert (table.hidden == hidden[at]).all()
    problem = problem_of(joint)
    for p in np.flatnonzero(joint.primary).tolist():
        assert by_hand(problem, hidden, p, 1) >= problem.need_up[p] * (1 - 1e-5)
        assert by_hand(problem, hidden, p, -1) >= problem.need_down[p] * (1 - 1e-5)


def test_history_and_order_are_kept():
    tables = linked_tables(3)
    done = protect_linked(*tables)
    assert [t.names for t in done] == [t.names for t in tables]
    assert all(t.history[-1].kind == "suppress_linear" for t in done)
    with pytest.raises(InputError, match="method for tables"):
        protect_linked(*tables, method="suppress_linear")
