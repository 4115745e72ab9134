"""Comparison of systems: the table of Figure 34, extended."""

from types import SimpleNamespace

import pytest

import tacit
from tacit import compare
from tacit.errors import InputError, RoleMissing

KEYS = ["Ethnicity", "Birth", "Sex", "ZIP"]


class Twice:
    """A plan, as far as a comparison looks at it."""

    def run(self, data, *, seed=None):
        return SimpleNamespace(data=data.generalise("Birth", 5).generalise("ZIP", 3))


@pytest.fixture
def found(fig28):
    systems = {
        "one dropped": tacit.Datafly(k=2, max_drop=1),
        "none dropped": tacit.Datafly(k=2),
        "as it is": lambda data: data,
        "plan": Twice(),
    }
    return compare(fig28, systems, [tacit.KAnonymity(k=2)], k=2, seed=1)


def test_table(found, fig28, published):
    table = {row["system"]: row for row in found.table()}
    first = table["one dropped"]
    assert first["precision (legacy)"] == pytest.approx(0.709091, abs=1e-6)
    assert first["precision (strict)"] == pytest.approx(0.748611, abs=1e-6)
    assert first["precision (released)"] == pytest.approx(0.816667, abs=1e-6)
    assert (first["k"], first["dropped"], first["uniques"], first["suppressed cells"]) == (
        2,
        1,
        0,
        0,
    )
    levels = published("fig29_datafly")["expected"]["levels"]
    assert first["levels"] == ", ".join(f"{c} {levels[c]}" for c in KEYS)
    assert table["as it is"]["precision (strict)"] == 1.0
    assert table["as it is"]["uniques"] == 12
    assert table["as it is"]["k_anonymity"] == 1.0
    assert table["plan"]["suppressed cells"] == 24
    assert [row["k >= 2"] for row in found.table()] == [True, True, False, False]
    assert "reason" not in first


def test_every_released_table_is_kept(found):
    assert len(found["one dropped"].released) == 11
    with pytest.raises(InputError, match="no system"):
        found["other"]


def test_prints_and_plots(found):
    text = repr(found)
    assert "precision (legacy)" in text
    assert "0.7091" in text
    assert "<td>0.7091</td>" in found._repr_html_()
    assert "one dropped legacy 0.709" in found.plot().alt
    assert found.plot().svg().startswith("<svg")
    assert found.frame.shape[0] == 4
    assert found.to_dict()["table"][0]["system"] == "one dropped"


def test_system_that_cannot_keeps_its_row(fig28):
    found = compare(fig28, {"too much": tacit.Datafly(k=13), "fine": tacit.Datafly(k=2)}, k=2)
    table = found.table()
    assert table[0]["precision (strict)"] is None
    assert "cannot be met" in table[0]["reason"]
    assert table[1]["k"] >= 2
    assert "-" in repr(found)
    alone = compare(fig28, {"too much": tacit.Datafly(k=13)})
    assert "cannot be met" in repr(alone)
    assert alone["too much"].released is None


def test_the_same_on_every_engine(engine, fig28):
    data = tacit.read(
        fig28.to_arrow(), keys=KEYS, hierarchies=dict(fig28.hierarchies), engine=engine
    )
    row = compare(data, {"datafly": tacit.Datafly(k=2, max_drop=1)})["datafly"]
    assert (row.k, row.uniques) == (2, 0)
    assert row.loss.accountings["legacy"] == pytest.approx(0.709091, abs=1e-6)


def test_all_keys_gone(fig28):
    row = compare(fig28, {"none": lambda data: data.drop(KEYS)})["none"]
    assert (row.k, row.uniques, row.loss.value) == (12, 0, 0.0)


def test_recommendation_details_and_report(found):
    assert found.recommend(0) == "one dropped"
    assert found.recommend(12) == "as it is"
    assert found.plot(max_risk=0).svg().startswith("<svg")
    assert found.details("k_anonymity")["system"].to_list() == [row.name for row in found.rows]
    assert len(list(found.charts())) == 2
    page = found.document(title="Twelve people").to_html()
    assert "Twelve people" in page
    assert "as it is" in page


def test_protected_data_are_systems_too(fig28):
    given = tacit.Datafly(k=2).apply(fig28)
    row = compare(fig28, {"given": given}, k=2)["given"]
    assert row.k >= 2
    assert row.released is given
    with pytest.raises(InputError, match="protected data were expected"):
        compare(fig28, {"table": tacit.Table.from_array([[1, 2], [3, 4]], totals=False)})


@pytest.fixture(scope="module")
def table():
    values = [[20, 50, 10], [8, 19, 22], [17, 32, 12]]
    made = tacit.Table.from_array(values, totals=False, upper=500.0)
    return made.with_protection([(1, 2)], lower=5, upper=8)


def test_methods_on_a_table(table):
    systems = {
        "hide": tacit.SuppressLinear(),
        "round": tacit.RandomRounding(base=3),
        "far": tacit.RandomRounding(base=50),
        "cannot": tacit.Adjust(keep_cells=((1, 2),)),
    }
    found = compare(table, systems, seed=1)
    rows = {row["system"]: row for row in found.table()}
    assert rows["hide"]["audit"] == 0
    assert rows["round"]["audit"] == 1
    assert rows["hide"]["cell_loss"] < rows["round"]["cell_loss"]
    assert "among the cells to keep" in rows["cannot"]["reason"]
    assert rows["cannot"]["audit"] is None
    assert found.recommend(0) == max(
        ("hide", "far"), key=lambda n: (rows[n]["audit"] == 0, rows[n]["cell_loss"])
    )
    assert "Risk by system: audit" in [c.spec["title"]["text"] for c in found.charts()]
    assert "cell_loss" in found.document().to_html()


def test_versions_of_a_table_given_as_data(table):
    rounded = tacit.RandomRounding(base=3).apply(table, seed=1)
    changed = rounded.with_changed(rounded.published + 0.0)
    found = compare(table, {"rounded": changed})
    assert {"audit", "cell_loss", "table_comparison"} == set(found.measures)
    assert found["rounded"]["HD"] > 0
    alone = tacit.TableComparison().measure(changed, original=table)
    assert alone["HD"] == found["rounded"]["HD"]
    assert alone.value == found["rounded"]["HD"]
    gaps = compare(table, {"hidden": tacit.SuppressLinear().apply(table)})
    assert "table_comparison" not in gaps.measures


def test_refusals(fig28):
    with pytest.raises(InputError, match="at least one system"):
        compare(fig28, {})
    with pytest.raises(RoleMissing, match="judges k by keys"):
        compare(tacit.read({"a": [1]}), {"same": lambda data: data}, k=2)
    with pytest.raises(InputError, match="protected data were expected"):
        compare(fig28, {"wrong": lambda data: 1})
