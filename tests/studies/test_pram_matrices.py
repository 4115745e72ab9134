"""Many matrices side by side."""

import numpy as np
import pytest

import tacit
from studies.pram_matrices import dense_table, rate_matrices, simulate_table
from tacit.errors import ColumnNotFound, InvalidParameter
from tacit.records.pram import cell_risk, equal, expected, parse


@pytest.fixture(scope="module")
def cells():
    rng = np.random.default_rng(2)
    n = 4000
    data = tacit.read(
        {
            "region": rng.choice(12, n, p=np.arange(12, 0, -1) / 78),
            "marital": rng.choice(["d", "m", "s", "w"], n, p=[0.1, 0.5, 0.35, 0.05]),
            "sex": rng.choice(["f", "m", None], n, p=[0.49, 0.49, 0.02]),
        }
    )
    return data.cells(["region", "marital", "sex"])


CANDIDATES = {
    "G": {"sex": "2E(0.7)"},
    "M": {"marital": "4F(0.7)"},
    "MG": {"marital": "4F(0.7)", "sex": equal(2, 0.7)},
    "R": {"region": "Block(2;5E(0.8);7B(0.8;3))"},
    "rows": {"sex": [[0.9, 0.1], [0.1, 0.9]]},
}


def test_numbers_are_those_of_the_parts(cells):
    found = rate_matrices(cells, CANDIDATES, tau=50, rng=np.random.default_rng(1))
    table = dense_table(cells)
    assert table.sum() == cells.n[cells.keys["sex"].codes < 2].sum()
    by_name = {c.label: c for c in found.candidates}
    matrices = [None, parse("4F(0.7)", table.sum(axis=(0, 2))), None]
    assert by_name["M"].unsafe == int(cell_risk(table, matrices, 50).unsafe.sum())
    assert by_name["G"].changed == pytest.approx(0.3)
    assert by_name["MG"].changed == pytest.approx(1 - 0.7 * 0.7)
    assert by_name["MG"].epsilon == pytest.approx(by_name["M"].epsilon + by_name["G"].epsilon)
    assert found.rare == int(((table > 0) & (table < 50)).sum())
    assert all(c.unsafe <= found.rare for c in found.candidates)
    frame = found.frame.to_native().to_pydict()
    assert frame["candidate"] == list(CANDIDATES)
    assert sum(frame["on_frontier"]) == len(found.frontier) >= 1
    for chart in found.charts():
        assert chart.svg().startswith("<svg")
    assert "unsafe" in found.plot().alt


def test_the_frontier_is_not_beaten(cells):
    found = rate_matrices(cells, CANDIDATES, tau=50)
    for c in found.candidates:
        beaten = any(
            o.unsafe <= c.unsafe
            and o.information_loss <= c.information_loss
            and (o.unsafe, o.information_loss) != (c.unsafe, c.information_loss)
            for o in found.candidates
        )
        assert beaten != (c.label in found.frontier)
    with pytest.raises(InvalidParameter, match="needs a simulated release"):
        found.against("rd")
    with pytest.raises(InvalidParameter, match="no loss is called"):
        found.against("beauty")


def test_excluded_categories_are_not_counted(cells):
    all_ = rate_matrices(cells, {"G": {"sex": "2E(0.7)"}}, tau=50)
    some = rate_matrices(cells, {"G": {"sex": "2E(0.7)"}}, tau=50, exclude={"marital": ["w"]})
    assert 0 < some.rare < all_.rare


def test_simulated_tables_have_the_expected_counts():
    rng = np.random.default_rng(4)
    table = np.array([[50.0, 10.0], [5.0, 20.0], [30.0, 8.0]])
    matrices = [parse("3B(0.6;2)"), equal(2, 0.8)]
    runs = np.mean([simulate_table(table, matrices, rng) for _ in range(400)], axis=0)
    assert runs == pytest.approx(expected(table, matrices), abs=1.0)


def test_strangers_are_refused(cells):
    with pytest.raises(ColumnNotFound, match="candidate 'x'"):
        rate_matrices(cells, {"x": {"age": "2E(0.5)"}})
    with pytest.raises(InvalidParameter, match="for 3 categories"):
        rate_matrices(cells, {"x": {"sex": "3E(0.5)"}})
