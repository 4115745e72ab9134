"""Panels: shapes, ragged series, missing values, resampling, pieces, long tables, normalising."""

import itertools
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InputError, SdcWarning
from tacit.series import Panel, advise, from_long, normalise

FOLDER = Path(__file__).parents[1] / "fixtures" / "psd18-time-series-reidentification"
FOOD = json.loads((FOLDER / "food_prices.json").read_text())
PRICES = Panel.of(np.array(list(FOOD["raw"].values()), dtype=float), FOOD["years"])


def test_ranging_by_component_is_table_2():
    found = normalise(PRICES, "component_range").values[:, 0]
    readable = 0
    for row, printed in zip(found, FOOD["published_table2"].values(), strict=True):
        for value, cell in zip(row, printed, strict=True):
            if cell is not None:
                assert round(value, 2) == cell
                readable += 1
    assert readable == 20
    assert found == pytest.approx(np.array(FOOD["componentwise_ranging_exact"]), abs=1e-12)


def test_ranging_by_component_turns_a_rise_into_a_fall():
    raw = FOOD["raw"]["Bread"]
    assert all(a < b for a, b in itertools.pairwise(raw))
    bread = normalise(PRICES, "component_range").values[0, 0]
    printed = [1.00, 0.26, 0.08, 0.02, 0.31, 0.20, 0.00, 0.02, 0.23]
    assert bread.round(2).tolist() == printed
    kept = normalise(PRICES, "series_range").values[0, 0]
    assert all(a < b for a, b in itertools.pairwise(kept))


def test_standardising_by_series():
    found = normalise(PRICES, "series_standard").values[:, 0]
    assert found == pytest.approx(np.array(FOOD["series_standardised_population_sd"]), abs=1e-12)
    sample = normalise(PRICES, "series_standard", ddof=1).values[:, 0]
    assert sample.std(axis=1, ddof=1) == pytest.approx(np.ones(4))


def test_other_normalisations():
    assert normalise(PRICES, "series_max").values.max(axis=2) == pytest.approx(np.ones((4, 1)))
    spread = normalise(PRICES, "component_standard").values
    assert spread.mean(axis=0) == pytest.approx(np.zeros((1, 9)), abs=1e-12)
    assert spread.std(axis=0) == pytest.approx(np.ones((1, 9)))
    assert normalise(PRICES, "none") is PRICES


def test_constant_series_become_zeros():
    panel = Panel.of([[0.1, 0.1, 0.1], [1.0, 2.0, 3.0]])
    for how in ("series_standard", "series_range"):
        with pytest.warns(SdcWarning, match="constant series became zeros"):
            assert normalise(panel, how).values[0, 0].tolist() == [0, 0, 0]
    with pytest.warns(SdcWarning, match="point in time that is constant"):
        normalise(Panel.of([[1.0, 2.0], [1.0, 3.0]]), "component_standard")


def test_what_cannot_be_normalised():
    with pytest.raises(InputError, match="no value above 0"):
        normalise(Panel.of([[-1.0, 0.0]]), "series_max")
    with pytest.raises(InputError, match="equal length"):
        normalise(Panel.of([[1, 2, 3], [1, 2]]), "component_range")


def test_ragged_series_are_normalised_by_themselves():
    whole, part = Panel.of([[1.0, 5, 3, 2], [4.0, 6, 1]]), Panel.of([[4.0, 6, 1]])
    for how in ("series_standard", "series_range", "series_max"):
        assert normalise(whole, how).series(0)[1, :3] == pytest.approx(
            normalise(part, how).series(0)[0]
        )


def test_shapes():
    assert Panel.of(np.ones((3, 4))).values.shape == (3, 1, 4)
    ragged = Panel.of([[[1, 2, 3], [1, 2]], [[1, 2], [5]]])
    assert ragged.lengths.tolist() == [[3, 2], [2, 1]]
    assert not ragged.even
    assert not ragged.holed
    assert Panel.of([[1, np.nan, 3]]).holed
    assert Panel.of([[[1, 2, 3], [1, 2]]] * 2).even
    assert Panel.of([[[1, 2, 3], [1, 2]]]).points().tolist() == [[1, 2, 3, 1, 2]]


BAD = {
    "records x time or records x series x time": np.ones(3),
    "infinite": [[1.0, np.inf]],
    "without any value": [[np.nan, np.nan], [1.0, 2.0]],
    "same number of numeric series": [["a", "b"]],
    "the same number": [[[1.0], [2.0]], [[1.0]]],
}


@pytest.mark.parametrize("sentence", BAD)
def test_bad_values(sentence):
    with pytest.raises(InputError, match=sentence):
        Panel.of(BAD[sentence])


@pytest.mark.parametrize("times", [[0, 1, 1], [0, 2, 1], [0, np.nan, 1]])
def test_times_must_rise(times):
    with pytest.raises(InputError, match="strictly increasing"):
        Panel.of([[1, 2, 3]], times)


def test_times_must_fit():
    with pytest.raises(InputError, match="one for each position"):
        Panel.of([[1, 2, 3]], [0, 1])


rows = st.lists(
    st.lists(st.one_of(st.none(), st.floats(-9, 9)), min_size=5, max_size=5), min_size=1, max_size=4
)


@given(rows)
@settings(max_examples=50, deadline=None)
def test_interpolation_is_linear_in_time(values):
    x = np.array([[1.0, *(np.nan if v is None else v for v in r)] for r in values])
    times = np.array([0, 1, 2.5, 3, 5, 7])
    found = Panel.of(x, times).interpolated()
    assert not found.holed
    for row, new, n in zip(x, found.values[:, 0], found.lengths[:, 0], strict=True):
        known = ~np.isnan(row[:n])
        assert new[:n] == pytest.approx(np.interp(times[:n], times[:n][known], row[:n][known]))
        assert np.isnan(new[n:]).all()


def test_a_missing_beginning_is_refused():
    with pytest.raises(InputError, match="begins with a missing value"):
        Panel.of([[np.nan, 1.0, 2.0]]).interpolated()


@pytest.mark.parametrize("m", [2, 3, 7, 20])
def test_resampling(m):
    rng = np.random.default_rng(m)
    times = np.cumsum(rng.uniform(0.1, 2, 9))
    values = [rng.normal(size=n) for n in (9, 5, 2, 9, 1)]
    found = Panel.of(values, times).resampled(m)
    assert found.even
    assert found.values.shape == (5, 1, m)
    for x, new in zip(values, found.values[:, 0], strict=True):
        at = times[: len(x)]
        assert new == pytest.approx(np.interp(np.linspace(at[0], at[-1], m), at, x))
    with pytest.raises(InputError, match="at least two positions"):
        Panel.of([[1, 2]]).resampled(1)
    with pytest.raises(InputError, match="missing values"):
        Panel.of([[1, np.nan, 2]]).resampled(3)


def test_pieces_are_series():
    cut = Panel.of(np.arange(18.0).reshape(2, 9), np.arange(9) ** 2).pieces(2)
    assert cut.lengths.tolist() == [[5, 4], [5, 4]]
    assert cut.series(0)[1].tolist() == [9, 10, 11, 12, 13]
    assert cut.series(1)[0].tolist() == [5, 6, 7, 8]
    assert cut.times[1, :4].tolist() == [25, 36, 49, 64]
    assert (np.diff(cut.times) > 0).all()
    with pytest.raises(InputError, match="more pieces than they have values"):
        Panel.of([[1, 2]]).pieces(3)
    with pytest.raises(InputError, match="different lengths"):
        Panel.of([[1, 2, 3], [1, 2]]).pieces(2)


LONG = pa.table(
    {
        "id": ["b", "a", "a", "b", "b"],
        "year": [2001, 2000, 2001, 2000, 2002],
        "what": ["x", "x", "y", "y", "x"],
        "amount": [1, 2, 3, 4, 5],
    }
)


def test_long_tables_become_wide():
    wide = from_long(LONG, record="id", time="year", value="amount")
    assert wide.to_pydict() == {
        "id": ["b", "a"],
        "amount_2000": [4, 2],
        "amount_2001": [1, 3],
        "amount_2002": [5, None],
    }
    several = from_long(LONG, record="id", time="year", value="amount", series="what")
    assert several.column_names == ["id", *(f"{w}_{y}" for w in "xy" for y in (2000, 2001, 2002))]
    assert several["y_2000"].to_pylist() == [4, None]


def test_bad_long_tables():
    with pytest.raises(InputError, match="no column 'when'"):
        from_long(LONG, record="id", time="when", value="amount")
    with pytest.raises(InputError, match="two values at the same time"):
        from_long(pa.concat_tables([LONG, LONG]), record="id", time="year", value="amount")
    with pytest.raises(InputError, match="does not hold numbers"):
        from_long(LONG, record="id", time="year", value="what")
    with pytest.raises(InputError, match="'year' has missing values"):
        from_long(
            pa.table({"id": [1], "year": pa.array([None], pa.int64()), "v": [1.0]}),
            record="id",
            time="year",
            value="v",
        )


def test_advice():
    rng = np.random.default_rng(0)
    rising = Panel.of(rng.uniform(0.1, 1, size=(50, 2, 8)).cumsum(axis=2))
    assert advise(rising).distance == "minkowski"
    assert advise(rising).monotone == 1
    level = Panel.of(50 + rng.normal(size=(50, 8)))
    assert advise(level).distance == "sts"
    assert advise(level).level_spread < 0.2
    both = Panel.of(rng.normal(size=(50, 8)) + 9 * rng.normal(size=(50, 1)))
    assert "both worth trying" in advise(both).sentence
    ragged = Panel.of([[1, 2, 3], [3, 1]])
    assert advise(ragged).distance == "dtw"
    assert not advise(ragged).equal_lengths
    flat = advise(Panel.of(np.ones((3, 4))))
    assert (flat.monotone, flat.level_spread) == (0, 0)
