"""Invariants of hierarchies: every level nests, binding keeps values, files and plans round-trip."""

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import hierarchy
from tacit.data.hierarchy import Hierarchy

LABEL = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=4)
NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30, unique=True)
WHOLE = st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=30, unique=True)


@st.composite
def trees(draw):
    """Return a valid hierarchy: labels carry their level, parents are drawn."""
    height = draw(st.integers(1, 4))
    n_values = draw(st.integers(1, 12))
    ground = draw(st.lists(LABEL, min_size=n_values, max_size=n_values, unique=True))
    parents = [
        [draw(st.integers(0, 3)) for _ in range(n_values if level == 0 else 4)]
        for level in range(height - 1)
    ]
    paths = []
    for i, label in enumerate(ground):
        path, at = [label], i
        for level, up in enumerate(parents, 1):
            at = up[at]
            path.append(f"group {level}/{at}")  # longer than any ground label
        paths.append([*path, "*"])
    return Hierarchy.from_paths(paths)


def check(h):
    """Check the definition: a label has one parent, one top, and the maps agree with the paths."""
    assert len(h.labels[-1]) == 1
    for level in range(h.height):
        above = {}
        for path in h.paths():
            assert above.setdefault(path[level], path[level + 1]) == path[level + 1]
    for path in h.paths():
        assert h.path(path[0]) == path


@settings(max_examples=60, deadline=None)
@given(trees())
def test_round_trips(tmp_path_factory, h):
    check(h)
    assert hierarchy.load(h.to_dict()).paths() == h.paths()
    path = tmp_path_factory.mktemp("h") / "h.csv"
    assert hierarchy.read_csv(hierarchy.write_csv(h, path), separator=";").paths() == h.paths()
    levels = [h.at(1)] + [
        dict(zip(h.labels[level], (h.labels[level + 1][p] for p in h.parents[level]), strict=True))
        for level in range(1, h.height)
    ]
    assert hierarchy.from_levels(levels).paths() == h.paths()


@settings(max_examples=60, deadline=None)
@given(trees(), st.randoms(use_true_random=False))
def test_bind_mapping_and_lift_agree(h, random):
    values = [v for v in h.labels[0] if random.random() < 0.7]
    random.shuffle(values)
    bound = h.bind(pa.array(values, type=pa.string()), "column")
    lifted = bound.lift(pa.array(values, type=pa.string()))
    for level in range(h.height + 1):
        table = bound.mapping(level)
        mapping = dict(zip(table["old"].to_pylist(), table["new"].to_pylist(), strict=True))
        assert mapping == {v: h.at(level)[v] for v in values}
        assert [h.labels[level][c] for c in lifted[level][:-1]] == [mapping[v] for v in values]


@settings(max_examples=60, deadline=None)
@given(NUMBERS, st.sampled_from([0.1, 0.25, 1, 3, 12.5]), st.integers(1, 4), st.integers(2, 5))
def test_intervals_of_reals_nest_and_hold_their_values(values, width, levels, factor):
    h = hierarchy.intervals(width, levels=levels, factor=factor, integers=False).build(values)
    check(h)
    for value in values:
        for label in h.path(value)[1:-1]:
            start, stop = (float(x) for x in label.strip("[)").split(","))
            assert start <= value < stop


@settings(max_examples=60, deadline=None)
@given(WHOLE, st.integers(1, 50), st.integers(-20, 20), st.booleans())
def test_intervals_of_whole_numbers_nest_and_hold_their_values(values, width, origin, coded):
    ends = {"lower": -100, "upper": 1000} if coded else {}
    h = hierarchy.intervals(width, levels=3, factor=3, origin=origin, **ends).build(values)
    check(h)
    for value in values:
        for label in h.path(value)[1:-1]:
            if label.startswith("<"):
                assert value < -100
            elif label.endswith("+"):
                assert value >= 1000
            else:
                parts = (
                    label.split(" to ")
                    if " to " in label
                    else label.rsplit("-", 1)
                    if "-" in label[1:]
                    else [label]
                )
                assert int(parts[0]) <= value <= int(parts[-1])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.dates(), min_size=1, max_size=20, unique=True))
def test_dates_nest(values):
    check(
        hierarchy.dates(
            levels=["month", "quarter", "year", "5 years", "10 years", "20 years"]
        ).build(values)
    )


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.from_regex(r"[A-Z][0-9]{2}(\.[0-9]{1,2})?", fullmatch=True), min_size=1, unique=True
    )
)
def test_icd_nests(values):
    check(hierarchy.icd(10, other="other").build(values))
