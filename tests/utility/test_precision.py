"""Precision: levels read off the data, brute force, odd data, engines."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from conftest import filled
from tacit.data.hierarchy import Hierarchy
from tacit.errors import ColumnNotFound, InputError, RoleMissing

TREE = Hierarchy.from_paths(
    [["1", "low", "*"], ["2", "low", "*"], ["3", "high", "*"], ["4", "high", "*"]]
)


def read(numbers, texts, **options):
    table = pa.table({"a": pa.array(numbers, pa.int64()), "b": pa.array(texts, pa.string())})
    return tacit.read(table, keys=["a", "b"], hierarchies={"a": TREE}, **options)


def cell_loss(old, new, tree, height):
    """Level, suppression and loss of one cell, straight from the definition."""
    if old is None and new in (None, "*"):
        return None
    if new is None or new == "*":
        return 1.0
    if old is None:
        return 1.0
    level = tree(old, new)
    return 1.0 if level is None else level / height


def twin(rows, released, accounting):
    """Precision by a loop over cells; ``released`` maps a row number to its two values."""
    trees = [(TREE.level_of, 2), (lambda o, n: 0 if o == n else None, 1)]
    total = 0.0
    for j, (tree, height) in enumerate(trees):
        losses = [cell_loss(rows[i][j], values[j], tree, height) for i, values in released.items()]
        known = [x for x in losses if x is not None]
        if accounting == "legacy":
            left = [x for x in known if x < 1]
            base = min(left) if left else (1.0 if known else 0.0)
            total += base * len(rows)
            total += 0 if base == 1 else sum(1 if x == 1 else x - base for x in known)
        else:
            total += sum(known)
        if accounting != "released":
            total += len(rows) - len(released)
    n = len(rows) if accounting == "strict" else len(released)
    return 1 - total / (2 * n) if n else (0.0 if rows else 1.0)


cells = st.tuples(
    st.sampled_from([1, 2, 3, 4, None]),
    st.sampled_from(["x", "y", None]),
    st.sampled_from(["1", "3", "low", "high", "*", None, "keep"]),
    st.sampled_from(["x", "z", None, "*", "keep"]),
    st.booleans(),
)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(cells, max_size=12).filter(filled(0, 1)),
    st.sampled_from(["strict", "legacy", "released"]),
)
def test_agrees_with_a_loop_over_cells(rows, accounting):
    original = read([r[0] for r in rows], [r[1] for r in rows])
    a = [(None if r[0] is None else str(r[0])) if r[2] == "keep" else r[2] for r in rows]
    b = [r[1] if r[3] == "keep" else r[3] for r in rows]
    kept = np.flatnonzero([r[4] for r in rows])
    released = original.replace(
        {"a": pa.array(a, pa.string()), "b": pa.array(b, pa.string())}
    ).take(kept)
    found = tacit.Precision(accounting=accounting).measure(released, original=original)
    expected = twin([r[:2] for r in rows], {i: (a[i], b[i]) for i in kept}, accounting)
    assert found.precision == pytest.approx(expected)
    assert found.accountings[accounting] == found.precision


def test_the_same_on_every_engine(engine):
    original = read([1, 2, 3, None], ["x", "y", None, "x"], engine=engine)
    released = original.generalise("a", 1).replace(
        {"b": pa.array([None, "y", None, "w"], pa.string())}
    )
    found = tacit.Precision().measure(released, original=original)
    assert found.by_column == pytest.approx({"a": 1 - 1.5 / 4, "b": 0.5})
    assert (found.suppressed, found.off_path) == (1, 1)
    assert found.counts.dropped == 0


def test_two_engines_can_be_compared(tmp_path):
    original = read([1, 2], ["x", "y"])
    other = read([1, 2], ["x", "z"], engine=type(original.engine)())
    assert tacit.Precision().measure(other, original=original).precision == pytest.approx(0.75)


def test_unchanged_and_all_lost(fig28):
    same = tacit.Precision().measure(fig28, original=fig28)
    assert same.precision == 1.0
    assert set(same.accountings.values()) == {1.0}
    nothing = fig28.take(np.array([], dtype=np.int64))
    lost = tacit.Precision().measure(nothing, original=fig28)
    assert set(lost.accountings.values()) == {0.0}
    assert lost.counts.dropped == 12
    none = tacit.Precision().measure(nothing, original=nothing)
    assert none.precision == 1.0


def test_column_dropped_from_the_release_is_lost(fig28):
    found = tacit.Precision().measure(fig28.drop(["ZIP"]), original=fig28)
    assert found.by_column == {"Ethnicity": 1.0, "Birth": 1.0, "Sex": 1.0, "ZIP": 0.0}
    assert found.suppressed == 12
    assert found.accountings["legacy"] == pytest.approx(0.75)


def test_top_and_missing_are_both_suppression(fig28):
    top = fig28.generalise("Sex", 1)
    gone = fig28.replace({"Sex": pa.nulls(12, pa.string())})
    for released in (top, gone):
        found = tacit.Precision().measure(released, original=fig28)
        assert found.by_column["Sex"] == 0.0
        assert found.losses["Sex"].suppressed == 12


def test_perturbed_values_count_as_lost(fig28):
    swapped = fig28.replace({"ZIP": pa.array(["02142", *fig28.column("ZIP").to_pylist()[1:]])})
    found = tacit.Precision().measure(swapped, original=fig28)
    assert found.off_path == 1
    assert found.by_column["ZIP"] == pytest.approx(11 / 12)


def test_added_records_are_left_out(fig28):
    table = fig28.to_arrow(with_row=True)
    extra = table.slice(0, 3).set_column(
        table.column_names.index("__row__"), "__row__", pa.array([100, 101, 102], pa.int64())
    )
    more = fig28.with_table(pa.concat_tables([table, extra]))
    found = tacit.Precision().measure(more, original=fig28)
    assert found.precision == 1.0
    assert found.numbers["records added"] == 3
    assert found.numbers["records dropped"] == 0


def test_columns_chosen(fig28):
    released = fig28.generalise("Birth", 2)
    one = tacit.Precision(columns=["Birth"]).measure(released, original=fig28)
    assert one.precision == pytest.approx(0.6)
    flat = tacit.Precision(columns=["Problem", "Birth"]).measure(released, original=fig28)
    assert flat.precision == pytest.approx(0.8)
    with pytest.raises(ColumnNotFound, match="Birth"):
        tacit.Precision(columns=["Brith"]).measure(released, original=fig28)


def test_refusals(fig28):
    with pytest.raises(InputError, match="pass original="):
        tacit.Precision().measure(fig28)
    plain = tacit.read({"a": [1]})
    with pytest.raises(RoleMissing, match="needs keys"):
        tacit.Precision().measure(plain, original=plain)


def test_dates_and_floats_are_known_by_their_label():
    import datetime as dt

    days = [dt.date(1965, 9, 20), dt.date(1964, 2, 1)]
    data = tacit.read(
        {"d": days, "x": [1.0, 2.5]}, keys=["d", "x"], hierarchies={"d": tacit.hierarchy.dates()}
    )
    released = data.generalise("d", 2).replace({"x": pa.array(["1", "2.5"])})
    assert tacit.Precision().measure(released, original=data).precision == pytest.approx(0.8)


def test_prints_and_plots(fig28):
    found = tacit.Precision().measure(fig28.generalise("Birth", 2), original=fig28)
    assert "precision of Birth" in repr(found)
    assert found.frame["lowest level"].to_list() == [0, 2, 0, 0]
    assert found.plot().svg().startswith("<svg")
