import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import ColumnNotFound, InputError
from tacit.records.generalisation.entropy_distortion import rank_techniques


def distortion(released, original, *columns):
    return tacit.EntropyDistortion(columns=columns).measure(released, original=original).value


def test_whole_column_generalisation_is_conditional_entropy(fig28, engine):
    data = tacit.read(
        fig28.to_arrow(),
        keys=["ZIP"],
        hierarchies={"ZIP": tacit.hierarchy.digits(5, mask=[1, 2])},
        engine=engine,
    )
    released = tacit.Generalise(level=1).apply(data)
    found = tacit.EntropyDistortion().measure(released, original=data)
    counts = {"02138": 7, "02139": 3, "02141": 2}
    h = -sum(n / 12 * math.log2(n / 12) for n in counts.values())
    inside = -sum(n / 12 * math.log2(n / 10) for n in (7, 3))
    assert found.value == pytest.approx(inside / h, abs=1e-12)
    assert found.numbers["share of cells changed"] == 1.0


def test_dropped_columns_and_records_count_as_suppressed(fig28):
    assert distortion(tacit.Deidentify().apply(fig28), fig28, "SSN") == 1
    part = tacit.Suppress(level="tuple", where="Sex == 'm'").apply(fig28)
    cells = tacit.Suppress(columns=("ZIP",), where="Sex == 'm'").apply(fig28)
    assert distortion(part, fig28, "ZIP") == pytest.approx(distortion(cells, fig28, "ZIP"))


def test_label_used_as_pseudonym_means_nothing():
    data = tacit.read({"s": ["m", "f", "f"]}, hierarchies={"s": tacit.hierarchy.flat()})
    swapped = data.replace({"s": ["f", "m", "m"]})
    assert distortion(swapped, data) == 0
    mixed = data.replace({"s": ["f", "m", "f"]})
    assert distortion(mixed, data) > 0


def test_missing_values_are_not_lost_twice():
    data = tacit.read({"s": ["m", None, "f", "f"]})
    assert distortion(data, data) == 0
    gone = tacit.Suppress(level="attribute", columns=("s",)).apply(data)
    assert distortion(gone, data) == 1
    assert distortion(data, tacit.read({"s": ["m"] * 4})) == 0


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.sampled_from(["02138", "02139", "02141", None]), min_size=1, max_size=20),
    st.integers(0, 3),
)
def test_between_none_and_all(zips, level):
    data = (
        tacit.read({"zip": zips}, hierarchies={"zip": tacit.hierarchy.digits(5, mask=[1, 2])})
        if any(zips)
        else None
    )
    if data is None:
        return
    values = [
        distortion(tacit.Generalise(columns=("zip",), level=i).apply(data), data) for i in range(4)
    ]
    assert values == sorted(values)
    assert values[0] == 0
    assert 0 <= values[level] <= 1 + 1e-12


def test_scrambled_records_cannot_be_compared(fig28):
    with pytest.raises(InputError):
        distortion(tacit.Scramble().apply(fig28, seed=1), fig28)
    with pytest.raises(ColumnNotFound):
        distortion(fig28, fig28, "Zip")
    with pytest.raises(InputError):
        tacit.EntropyDistortion().measure(fig28)


def test_ranking(fig28):
    methods = [
        tacit.Suppress(level="attribute", columns=("ZIP",)),
        tacit.Scramble(),
        tacit.Generalise(columns=("ZIP",), level=1),
        tacit.Suppress(cells=((8, "ZIP"),)),
        tacit.Swap(columns=("ZIP",), share=0.123),
    ]
    found = rank_techniques(fig28, methods, seed=1, columns=["ZIP"])
    values = found.frame["distortion"].to_list()
    assert found.frame["method"].to_list()[-1] == "scramble"
    assert values[-1] is None
    assert values[:-1] == sorted(values[:-1])
    assert values[-2] == 1
    assert "0.123" not in str(found.frame.rows())
    assert "suppress" in found.plot().svg()
