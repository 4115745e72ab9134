"""One battery for every Spec that acts on tables."""

import re

import numpy as np
import pytest

import tacit
from common.cases import build, firms, fitting, table_measure_kinds, table_method_kinds
from tacit.errors import InputError, SdcError

METHODS, MEASURES = table_method_kinds(), table_measure_kinds()
ALL = [*METHODS, *MEASURES]


def run(kind, table, seed=5):
    spec = build(kind)
    if kind in METHODS:
        return spec.apply(table, seed=seed)
    return spec.measure(table, original=table, seed=seed)


def facts(result):
    if isinstance(result, tacit.Table):
        return (
            result.status.tolist(),
            np.nan_to_num(result.published, nan=-1.0).tolist(),
            result.upper_level.tolist(),
        )
    return result.to_dict()


def one_cell():
    return tacit.Table.from_array([[3.0, 3.0], [3.0, 3.0]], count=[[1, 1], [1, 1]])


def zeros():
    return tacit.Table.from_array(np.zeros((3, 3)), count=np.zeros((3, 3), dtype=int))


def equations():
    table = firms()
    return tacit.Table.from_cells(
        (),
        table.value,
        count=table.count,
        equations=table.equations,
        status=table.status,
        lower_level=table.lower_level,
        upper_level=table.upper_level,
    )


def negative():
    return tacit.Table.from_array(
        [[4.0, -3.0, 1.0], [2.0, 5.0, 7.0], [6.0, 2.0, 8.0]],
        lower=-50.0,
        upper=50.0,
        count=[[5, 5, 10], [5, 5, 10], [10, 10, 20]],
    ).with_protection([(0, 0)], lower=1, upper=1)


HARD = {
    "one cell": one_cell,
    "all zero": zeros,
    "bare equations": equations,
    "negative values": negative,
    "nothing unsafe": lambda: firms(judged=False),
    "three dimensions": lambda: tacit.Table.from_array(
        np.arange(1, 28).reshape(3, 3, 3), totals=False, count=np.full((3, 3, 3), 4)
    ).with_protection([(0, 0, 0)], lower=1, upper=1),
}


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("case", HARD)
def test_hard_tables_work_or_are_refused_in_a_sentence(kind, case):
    try:
        result = run(kind, HARD[case]())
    except SdcError as error:
        assert 10 < len(str(error)) < 700
        return
    facts(result)
    if isinstance(result, tacit.Table):
        for claim in result.history[-1].claims:
            assert claim.holds(result)


@pytest.mark.parametrize("kind", ALL)
def test_microdata_are_refused_kindly(kind):
    data = tacit.read({"a": [1, 2]})
    # table_comparison tabulates records itself, and says what it needs for it.
    said = "a table of microdata needs rows=" if kind == "table_comparison" else "works on a table"
    with pytest.raises(InputError, match=said):
        run(kind, data)


@pytest.mark.parametrize("kind", MEASURES)
def test_results_print_and_plot_themselves(kind):
    result = run(kind, fitting(kind))
    assert result.title in repr(result)
    assert result.summary()
    svg = result.plot().svg()
    assert svg.startswith("<svg")
    assert result.plot().alt


@pytest.mark.parametrize("kind", ALL)
def test_repr_has_no_hidden_value(kind):
    if kind not in METHODS:
        return
    result = run(kind, fitting(kind))
    if result.hidden.any():
        assert not re.search(r"\b310\b", repr(result))
