"""Views of the same data, and their flow pictures."""

import numpy as np
import pytest

import tacit
from tacit.plot.flows import Node, flows, stack_nodes
from tacit.records.channels import views
from tacit.records.channels.table import ChannelTable


@pytest.fixture
def table():
    combinations = {"bp": ["L", "N", "H"], "glucose": ["N", "N", "H"]}
    return ChannelTable.of([6, 8, 4], [[0], [1], [3]], ["ill"], combinations)


@pytest.fixture
def problem(table):
    return table.problem({"ill": 0.3})


def test_three_views(table, problem):
    full, least = views.full(table, problem), views.minimal(table, problem)
    some = views.partial(table, problem, [[1, 3]])
    assert [full.loss, some.loss, least.loss] == pytest.approx([0, 100 / 324, 1])
    assert [full.safe, some.safe, least.safe] == [False, True, True]
    assert some.sets == ((0, 2), (1,))


def test_recoding_spans_the_product_of_value_sets(table, problem):
    found = views.recoding(views.minimal(table, problem)).rows(named=True)
    assert found == [
        {
            "channel": 1,
            "members": "{1, 2, 3}",
            "combinations named": 3,
            "combinations spanned": 6,
        }
    ]


def test_picture_says_what_it_shows(table, problem):
    chart = views.partial(table, problem, [[1, 3]]).plot()
    assert "{1, 3} (safe) receives 6 from 1 (L, N), 4 from 3 (H, H)" in chart.alt
    svg = chart.svg()
    assert "3 (H, H): 4 subjects" in svg
    assert "ill 75%" in svg
    assert "loss 30.86%" in svg


def test_picture_of_an_unsafe_view_says_so(table, problem):
    chart = views.full(table, problem).plot()
    assert "1 of 3 output channels unsafe" in chart.svg()
    assert "{3} (unsafe)" in chart.alt


def test_picture_joins_what_does_not_fit():
    rng = np.random.default_rng(1)
    m = rng.integers(50, 200, 60)
    counts = np.where(np.arange(60) < 4, m // 2, m // 50)[:, None]
    table = ChannelTable.of(m, counts, ["x"])
    answer = tacit.ChannelExpansion(related=["channel"], confidential="v", u={"x": 0.3}).solve(
        table
    )
    svg = answer.plot(most=10).svg()
    assert "51 other input channels" in svg
    assert "other output channels" in svg


def test_bands_leave_and_arrive_in_full():
    chart = flows([Node("a"), Node("b")], [Node("c")], {(0, 0): 3, (1, 0): 1}, title="t")
    rows = chart.spec["layer"][0]["data"]["values"]
    widths = {
        (row["band"], end): row["high"] - row["low"]
        for row in rows
        for end in ("left", "right")
        if row["x"] in (0.03, 0.97)
    }
    assert widths["0-0", "left"] == pytest.approx(3 * widths["1-0", "left"], abs=1e-4)
    assert stack_nodes([]) == []
