"""Log-linear models: closed form against fitting, and fitting against its defining equations."""

import math

import numpy as np
import pytest

from tacit.errors import ColumnNotFound, InputError
from tacit.tables.compare.distributions import from_array
from tacit.tables.compare.layout import Layout, Side
from tacit.tables.compare.loglinear import (
    deviance,
    find_maximal_margins,
    proportional_fitting,
    separators,
)


@pytest.fixture
def table():
    rng = np.random.default_rng(5)
    cells = rng.poisson(3.0, size=(4, 12)).astype(float)
    return from_array(cells, rows={"area": 4}, columns={"sex": 2, "ill": 2, "job": 3})


MODELS = [
    [["area"], ["sex", "ill", "job"]],
    [["sex", "area"], ["ill", "job"]],
    [["area", "sex"], ["sex", "ill"], ["ill", "job"]],
    [["area", "sex"]],
    [["job"]],
    [["area", "sex", "ill", "job"]],
]


@pytest.mark.parametrize("model", MODELS)
def test_closed_form_equals_fitting(table, model):
    fit = deviance(table.layout, table.cells, model)
    assert fit.rounds == 0
    fitted, _, converged = proportional_fitting(
        table.layout, table.cells, find_maximal_margins(table.layout, model)
    )
    assert converged
    o = table.cells.ravel()
    loops = 2 * sum(x * math.log(x / e) for x, e in zip(o, fitted, strict=True) if x)
    assert fit.deviance == pytest.approx(loops, abs=1e-8)


def test_independence_is_g_squared(table):
    o = table.cells
    e = np.outer(o.sum(axis=1), o.sum(axis=0)) / o.sum()
    g2 = 2 * sum(x * math.log(x / y) for x, y in zip(o.ravel(), e.ravel(), strict=True) if x)
    assert deviance(table.layout, o, [["area"], ["sex", "ill", "job"]]).deviance == pytest.approx(
        g2
    )


def test_fitted_margins_of_a_model_without_closed_form(table):
    model = [("area", "sex"), ("sex", "job"), ("area", "job")]
    assert separators(model) is None
    fitted, rounds, converged = proportional_fitting(table.layout, table.cells, model)
    assert converged
    assert rounds > 2
    cube = fitted.reshape(4, 2, 2, 3)
    o = table.cells.reshape(4, 2, 2, 3)
    assert cube.sum(axis=(2, 3)) == pytest.approx(o.sum(axis=(2, 3)), rel=1e-8)
    assert cube.sum(axis=(0, 2)) == pytest.approx(o.sum(axis=(0, 2)), rel=1e-8)
    assert cube.sum(axis=(1, 2)) == pytest.approx(o.sum(axis=(1, 2)), rel=1e-8)
    # The variable that the model leaves out is spread evenly.
    assert cube[:, :, 0] == pytest.approx(cube[:, :, 1])


def test_decomposable_models():
    assert separators([("a", "b"), ("b", "c"), ("c", "d")]) is not None
    assert separators([("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")]) is None
    assert separators([("a",), ("b",)]) == [()]
    assert sorted(separators([("a", "b", "c"), ("b", "c", "d"), ("c", "e")])) == [
        ("b", "c"),
        ("c",),
    ]


def test_models_name_variables_of_the_table(table):
    assert find_maximal_margins(table.layout, [["sex"], ["job", "sex"], ["sex", "job"]]) == [
        ("sex", "job")
    ]
    with pytest.raises(ColumnNotFound, match="no column 'sx'"):
        find_maximal_margins(table.layout, [["sx"]])
    with pytest.raises(InputError, match="at least one margin"):
        find_maximal_margins(table.layout, [])


def test_empty_margins_and_structural_zeros(table):
    cells = table.cells.copy()
    cells[1] = 0
    model = [["area", "sex"], ["sex", "job"], ["area", "job"]]
    fit = deviance(table.layout, cells, model)
    kept = from_array(
        np.delete(cells, 1, axis=0), rows={"area": 3}, columns={"sex": 2, "ill": 2, "job": 3}
    )
    assert fit.deviance == pytest.approx(deviance(kept.layout, kept.cells, model).deviance)
    assert deviance(table.layout, np.zeros_like(cells), model).deviance == 0
    # Rows that lack combinations: what does not exist cannot be fitted.
    nested = from_array(
        table.cells.reshape(8, 6), rows={"area": 4, "sex": 2}, columns={"ill": 2, "job": 3}
    )
    kept = [0, 1, 3, 4, 5, 6]
    rows = nested.layout.rows
    part = Side(rows.names, tuple(c[kept] for c in rows.codes), rows.categories)
    layout = Layout(part, nested.layout.columns)
    fit = deviance(layout, nested.cells[kept], [["area"], ["sex"], ["ill", "job"]])
    assert fit.rounds > 0
    assert fit.converged
