"""Gap and proof are those of the final answer: brute force on small cases."""

import itertools

import numpy as np
import pytest

import tacit
from claims.plain import plainly_short
from tacit.data.cells.dimension import Dimension
from tacit.data.cells.relations import roll_up
from tacit.records.channels import solve_counts
from tacit.tables.structure.detection import detect_structure

TREE = [("Total", ["g", "h"]), ("g", ["1", "2"]), ("h", ["3", "4"])]
CROSSED = [*TREE, ("Total", ["u", "v"]), ("u", ["1", "3"]), ("v", ["2", "4"])]


def sliding_table(seed):
    """A small table, flat, hierarchical or with two groupings, whose unsafe cells have sliding levels."""
    rng = np.random.default_rng(seed)
    dimensions = [
        [Dimension.flat("a", ["1", "2"]), Dimension.flat("b", ["1", "2", "3"])],
        [Dimension.from_relations("a", TREE)],
        [Dimension.from_relations("a", CROSSED)],
    ][seed % 3]
    base = rng.integers(1, 9, [len(d.leaves) for d in dimensions]).astype(float)
    table = tacit.Table.from_cells(dimensions, roll_up(base, dimensions))
    if seed % 2:
        table = table.with_(upper=np.maximum(1.5 * table.value, table.value + 1))
    unsafe = rng.choice(len(table), 2, replace=False)
    up = np.minimum(rng.integers(0, 3, 2), table.upper[unsafe] - table.value[unsafe])
    return table.with_protection(unsafe, rng.integers(0, 3, 2), up, rng.integers(2, 9, 2) * 1.0)


def cheapest(table):
    """The price of the cheapest safe pattern, by trying all of them."""
    down, up = table.value - table.lower, table.upper - table.value
    cells = np.flatnonzero(~table.primary)
    patterns = [
        np.array(some, dtype=int)
        for size in range(len(cells) + 1)
        for some in itertools.combinations(cells.tolist(), size)
    ]
    for some in sorted(patterns, key=lambda p: table.value[p].sum()):
        hidden = table.primary.copy()
        hidden[some] = True
        if not plainly_short(table, hidden, down, up):
            return table.value[some].sum()
    return np.inf


@pytest.mark.parametrize(
    "seed", [1, 4, 8, *(pytest.param(s, marks=pytest.mark.slow) for s in (0, 2, 3, 5, 6, 7))]
)
@pytest.mark.filterwarnings("ignore::tacit.errors.Approximate")
def test_no_engine_is_cheaper_than_the_optimum_and_exact_ones_meet_it(seed):
    table = sliding_table(seed)
    best = cheapest(table)
    for method in (
        tacit.SuppressExact(engine="highs", singletons=False),
        tacit.SuppressExact(engine="auto", singletons=False),
        tacit.SuppressLinear(singletons=False),
        tacit.SuppressModular(singletons=False),
    ):
        try:
            found = method.apply(table).history[-1].details
        except tacit.errors.Infeasible:
            assert best == np.inf
            continue
        assert found["price"] >= best - 1e-9
        assert found.get("bound", 0.0) <= best * (1 + 1e-9)
        if found.get("proven") or found.get("answer") == "optimal":
            assert found["price"] == pytest.approx(best)
        if method.kind == "suppress_exact":
            assert found["proven"]
            assert found["gap"] == 0


def test_exact_suppression_hides_only_what_is_allowed():
    table = sliding_table(0)
    masks = ({"a": ("1", "2")},)
    try:
        safe = tacit.SuppressExact(allowed=masks).apply(table)
    except tacit.errors.Infeasible:
        return
    secondary = safe.hidden & ~safe.primary
    assert not secondary[table.places[:, 0] == table.dimensions[0].total].any()


# -- structure -----------------------------------------------------------------------------------


def fewest_linking(matrix, eps):
    """The least number of columns that two blocks of rows share, both within the limit."""
    m = len(matrix)
    limit = int(np.ceil((1 + eps) * m / 2 - 1e-9))
    best = np.inf
    for mask in range(1, 2 ** (m - 1)):
        side = (mask >> np.arange(m) & 1).astype(bool)
        if max(side.sum(), m - side.sum()) <= limit:
            shared = (matrix[side] != 0).any(axis=0) & (matrix[~side] != 0).any(axis=0)
            best = min(best, int(shared.sum()))
    return best


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("form", ["dual", "primal"])
def test_exact_detection_is_exact_with_empty_rows(seed, form):
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(3, 9)), int(rng.integers(3, 9))
    matrix = (rng.random((m, n)) < 0.35).astype(float)
    matrix[rng.random(m) < 0.4] = 0.0
    matrix[:, rng.random(n) < 0.2] = 0.0
    if not matrix.any():
        return
    eps = float(rng.choice([0.0, 0.1, 0.3, 1.0]))
    found = detect_structure(matrix, form, eps=eps, method="exact")
    assert found.l == fewest_linking(matrix if form == "dual" else matrix.T, eps)
    assert found.stray() == 0
    assert min(np.bincount(found.row_block if form == "dual" else found.column_block)) > 0


# -- channels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_gap_and_proof_of_whole_subjects_agree(seed):
    rng = np.random.default_rng(seed)
    m = rng.integers(3, 9, 4)
    counts = np.minimum(m, rng.integers(0, 4, 4))[:, None]
    try:
        answer = solve_counts(m, counts, 0.5, integer=True)
    except tacit.errors.Infeasible:
        return
    assert answer.proven == (answer.gap == 0)
    assert answer.bound <= answer.cost
    fractions = solve_counts(m, counts, 0.5)
    assert fractions.cost <= answer.cost * (1 + 1e-9)
