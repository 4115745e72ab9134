"""Comparing several versions: options, suppression, recommendation, map and report."""

import re

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.errors import Infeasible, InputError
from tacit.tables.compare.distributions import from_array
from tacit.tables.rounding.random_rounding import random_rounding, semi_controlled_rounding


def compare_tables(original, versions, **options):
    """Versions of a table against the original, by the measures of the framework."""
    return tacit.compare(original, versions, [tacit.TableComparison(**options)])


COLUMNS = {"sex": ["f", "m"], "age": 3}


@pytest.fixture
def original():
    return np.random.default_rng(1).poisson(4, size=(30, 6)).astype(float)


@pytest.fixture
def found(original):
    rng = np.random.default_rng(2)
    rounded = semi_controlled_rounding(original, 3, rng)
    noisy = np.maximum(original + rng.integers(-1, 2, original.shape), 0)
    return compare_tables(
        original,
        {"rounded": rounded, "noisy": noisy},
        columns=COLUMNS,
        rounded={"rounded": 3},
        target={"sex": "m", "age": "2"},
        base={"sex": "m"},
        subtotals={"men": {"sex": "m"}},
        association=(["sex"], ["age"]),
    )


def test_frame_and_summary(found):
    names = list(found.by_measure()[0])
    assert names == ["group", "symbol", "measure", "original", "rounded", "noisy"]
    rows = {r["symbol"]: r for r in found.by_measure()}
    one = {r["system"]: r for r in found.frame.rows(named=True)}
    assert one["rounded"]["HD"] == rows["HD"]["rounded"]
    details = found.details("table_comparison")
    assert details["HD"].to_list() == [found[n]["HD"] for n in ("rounded", "noisy")]
    assert rows["HD"]["rounded"] == found["rounded"]["HD"]
    assert rows["AT (men)"]["measure"] == "average absolute distance per sub-total men"
    assert found.to_dict()["table"][1]["AAD"] == found["noisy"]["AAD"]
    assert "rounded: HD: Hellinger's distance" in str(found.summary())
    assert "HD" in repr(found)
    noisy = found.frameworks["noisy"]
    assert len(noisy.by_row) == len(noisy.rows) == 30
    assert noisy.by_row.mean() == pytest.approx(found["noisy"]["HD"])


def test_identical_version_has_no_loss(original):
    same = compare_tables(original, {"same": original}, columns=COLUMNS, target=0)["same"]
    for symbol in ("HD", "AAD", "RAD", "AT", "RAT", "RAV", "RX2", "RCV", "ENTT", "RC", "BVR"):
        assert same[symbol] == 0, symbol
    assert same["LR"] == same["BV_ratio"] == 1
    assert same["spearman"] == pytest.approx(1)
    assert same["percent_unchanged"] == 100
    assert same["sign_p"] is None


def test_association_of_chosen_variables(found, original):
    table = from_array(original, columns=COLUMNS).layout.rearrange_cells(original, ["sex"], ["age"])
    other = compare_tables(table, {"same": table})
    assert other.original["total"] == original.sum()
    assert found.original["CV"] == pytest.approx(other.original["CV"])


def test_recommendation(found):
    assert found.recommend(0) == "rounded"
    assert found.recommend(100) == min(("rounded", "noisy"), key=lambda n: found[n]["HD"])
    with pytest.raises(Infeasible, match="no system"):
        compare_tables([[1, 2]], {"same": [[1, 2]]}).recommend(50)


def test_map(found):
    chart = found.plot(max_risk=50)
    assert "rounded" in chart.alt
    assert chart.svg().startswith("<svg")
    assert found.plot(loss="LR").alt != chart.alt
    with pytest.raises(InputError, match="choose one of"):
        found.plot(loss="hellinger")
    with pytest.raises(InputError, match="no map"):
        found.plot(risk="tau1")


@pytest.mark.parametrize("max_risk", [None, 50, -1])
def test_report(found, tmp_path, max_risk):
    page = found.document(title="A <test>", max_risk=max_risk).to_html(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == page
    assert "A &lt;test&gt;" in page
    figures = re.findall(r"<figure.*?</figure>", page, re.DOTALL)
    assert len(figures) == 3
    assert all("<svg" in figure for figure in figures)
    assert not re.search(r"""(src|href)=["'](?!#)|https?://|@import|<script""", page)
    assert len(set(re.findall(r'\bid="([^"]+)"', page))) == len(re.findall(r'\bid="([^"]+)"', page))
    words = {None: "least risk", 50: "For a risk of at most 50 %", -1: "No version has"}
    assert words[max_risk] in page
    assert f"{found['rounded']['HD']:.4f}" in page


def test_suppression(original):
    cube = original.reshape(30, 2, 3)
    table = tacit.Table.from_array(cube, totals=False, names=["area", "sex", "age"])
    shown = table.to_array().copy()
    shown[0, 0, :2] = np.nan
    shown[3, 0, 1] = np.nan
    shown[5, -1, -1] = np.nan
    version = table.with_changed(shown)
    holes = shown[:-1, :-1, :-1].reshape(30, 6)
    for rule in ("zero", "row_average", "weighted_row_average"):
        ours = compare_tables(table, {"v": version}, impute=rule)["v"]
        assert ours["suppressed_cells"] == 3
        assert ours["suppressed_margins"] == 1
        gone = original[0, :2].sum() + original[3, 1]
        assert ours["suppressed_contributors"] == ours["suppressed_information"] == gone
        assert ours["AT_published"] == 0
        assert ours["not_additive"] == (0 if rule != "zero" else 2)
    along = compare_tables(table, {"v": version}, impute="row_average", along="columns")["v"]
    assert along["RAT"] > 0
    small = (original == 1) | (original == 2)
    kept = small & ~np.isnan(holes)
    assert ours["small_unchanged"] == kept.sum()
    with pytest.raises(InputError, match="choose impute="):
        compare_tables(table, {"v": version})
    with pytest.raises(InputError, match="its totals"):
        compare_tables(original, {"v": holes}, impute="row_average")
    frame = pd.DataFrame(holes, columns=list("abcdef")).assign(T=original.sum(axis=1))
    with pytest.raises(InputError, match="totals of the columns"):
        compare_tables(original, {"v": frame}, total="T", impute="weighted_row_average")


def test_magnitudes(original):
    pay = original * 10.5
    found = compare_tables(
        pay, {"v": np.round(pay)}, cells="magnitude", contributors=original, small={1}
    )
    assert found.original["small_cells"] == (original == 1).sum()
    assert found.original["contributors"] == original.sum()
    assert found.original["total"] == pytest.approx(pay.sum())
    with pytest.raises(InputError, match="contributors"):
        compare_tables(pay, {"v": pay}, cells="magnitude")
    free = compare_tables(pay, {"v": pay}, cells="magnitude", small=())
    assert "percent_unchanged" not in free["v"]
    assert free.candidates() == []
    assert "No recommendation" in report_of(free)


def report_of(result):
    return result.document().to_html()


def test_known_population(original):
    population = original * 2
    found = compare_tables(original, {"v": original}, population=population)
    assert found["v"]["tau1"] == 0
    assert found["v"]["tau2"] == 0.5 * (original == 1).sum()
    assert found.plot(risk="tau2").alt


def test_zero_rows_are_skipped_and_counted():
    o = np.array([[0.0, 0, 0], [1, 2, 3], [4, 0, 1]])
    found = compare_tables(o, {"v": o}, target=0)
    assert found["v"]["RAT_mean"] == 0
    text = " ".join(found.frameworks["v"].notes)
    assert "1 rows with an empty total are left out of RAT" in text
    assert "1 rows without a base" in text
    assert "empty rows of the version" in text


def test_one_row_and_one_column():
    for o in ([[3.0, 1.0]], [[3.0], [1.0]], [[2.0]]):
        ours = compare_tables(o, {"v": o}, target=0)["v"]
        assert ours["CV"] is None
        assert ours["HD"] == 0


def test_files_frames_and_microdata_give_the_same(tmp_path, engine):
    people = {"area": list("aabbbc"), "sex": list("fmfmmf"), "n": [1, 2, 3, 1, 1, 2]}
    swapped = {**people, "area": list("babbac")}
    data = [tacit.read(p, engine=engine) for p in (people, swapped)]
    micro = compare_tables(data[0], {"v": data[1]}, rows=["area"], columns=["sex"])
    frames = [pd.crosstab(p["area"], p["sex"], rownames=["area"]).reset_index() for p in
              (pd.DataFrame(people), pd.DataFrame(swapped))]  # fmt: skip
    table = compare_tables(frames[0], {"v": frames[1]}, rows="area")
    for symbol, value in table["v"].values.items():
        assert micro["v"][symbol] == pytest.approx(value), symbol


ROUNDED = random_rounding([[1, 2, 3]], 3, np.random.default_rng(1))
REFUSED = [
    (lambda: compare_tables([[1]], {}), "at least one system"),
    (lambda: compare_tables([[0, 0]], {"v": [[0, 0]]}), "all zero"),
    (lambda: compare_tables([[1, float("nan")]], {"v": [[1, 1]]}), "must be complete"),
    (lambda: compare_tables([[1, 2, 3]], {"v": [[1, 2, 3]]}, rounded=3), "no multiples"),
    (lambda: compare_tables([[1, 2, 3]], {"v": ROUNDED}, rounded=1), "at least 2"),
    (lambda: compare_tables([[1, 2, 3]], {"v": ROUNDED}, rounded={"w": 3}), "no version"),
    (lambda: compare_tables([[1, 2]], {"v": [[1]]}), "differ in shape"),
    (lambda: compare_tables([[1, 2]], {"v": [[1, 2]]}, rank_groups=1), "rank_groups"),
    (lambda: compare_tables([[1, 2]], {"v": [[1, 2]]}, rank_threshold=20), "between 0 and 1"),
    (lambda: compare_tables([[1, 2]], {"v": [[1, 2]]}, small={0}), "at least 1"),
    (lambda: compare_tables([[1, 2]], {"v": [[1, 2]]}, target=0, base=1), "part of its base"),
    (lambda: compare_tables([[1, 2]], {"v": [[1, 2]]}, loss="L2"), "choose one of"),
    (lambda: compare_tables([[1]], {"v": tacit.read({"a": [1]})}), "microdata with microdata"),
    (lambda: compare_tables([[1]], {"v": [[1]]})["w"], "no system 'w'"),
]


@pytest.mark.parametrize(("action", "words"), REFUSED, ids=[w for _, w in REFUSED])
def test_refusals_are_one_sentence(action, words):
    with pytest.raises(InputError, match=words) as refused:
        action()
    assert len(str(refused.value)) < 300
