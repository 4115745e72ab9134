"""k-map, null-map, wrong-map, ADS0 and delta-presence against comparing every pair."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tacit
from tacit.data.hierarchy import ground_label
from tacit.errors import ColumnNotFound, Infeasible, InputError, InvalidParameter
from tacit.hierarchy import Hierarchy

# The label "5" repeats itself, as padding does.
ODD = [["1", "0", "*"], ["2", "0", "*"], ["3", "7", "*"], ["4", "7", "*"], ["5", "5", "*"]]
CITY = [["x", "west", "all"], ["y", "west", "all"], ["z", "east", "all"]]
NUMBERS = st.sampled_from([1, 2, 3, 4, 5, None])
PLACES = st.sampled_from(["x", "y", "z", None])
SHOWN = st.tuples(
    st.sampled_from(["1", "2", "3", "4", "5", "0", "7", "*", "token", None]),
    st.sampled_from(["x", "y", "z", "west", "east", "all", "*", "nowhere", None]),
)


TYPES = (pa.int64(), pa.string())


def frame(rows):
    columns = list(zip(*rows, strict=True)) or [(), ()]
    return pa.table(
        {n: pa.array(list(c), t) for n, c, t in zip(("a", "b"), columns, TYPES, strict=True)}
    )


def everyone(rows):
    hierarchies = {"a": Hierarchy.from_paths(ODD), "b": Hierarchy.from_paths(CITY)}
    return tacit.read(frame(rows), keys=["a", "b"], hierarchies=hierarchies)


def agrees(paths, shown, ground):
    top = paths[0][-1]
    if shown is None or shown in ("*", top):
        return True
    path = next((p for p in paths if ground is not None and p[0] == ground_label(ground)), None)
    return path is not None and shown in path


def candidates(shown, rows):
    return [
        i for i, (a, b) in enumerate(rows) if agrees(ODD, shown[0], a) and agrees(CITY, shown[1], b)
    ]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(NUMBERS, PLACES), min_size=3, max_size=12),
    st.lists(st.tuples(NUMBERS, PLACES), max_size=8),
    st.data(),
)
def test_against_every_pair(subjects, others, data):
    assume(all(any(r[i] is not None for r in subjects) for i in (0, 1)))
    released_rows = [data.draw(SHOWN) for _ in subjects]
    population = subjects + others
    original, register = everyone(subjects), everyone(population)
    released = original.replace(
        {
            n: pa.array(c, pa.string())
            for n, c in zip("ab", map(list, zip(*released_rows, strict=True)), strict=True)
        }
    )
    found = [candidates(t, population) for t in released_rows]
    inside = [[c for c in f if c < len(subjects)] for f in found]
    covers = [i in f for i, f in enumerate(found)]
    against = {"original": original, "register": register}
    k_map = tacit.KMap().measure(released, **against)
    assert k_map.linked.candidates.tolist() == [len(f) for f in found]
    assert k_map.linked.in_subjects.tolist() == [len(f) for f in inside]
    assert k_map.linked.covers.tolist() == covers
    assert k_map.k == (min(map(len, found)) if all(covers) else 0)
    assert k_map.linked.pseudo_entities == sum(not f for f in found)
    assert tacit.NullMap().measure(released, **against).holds == (not any(inside))
    wrong = all(len(f) == 1 and not c for f, c in zip(inside, covers, strict=True))
    assert tacit.WrongMap().measure(released, **against).holds == wrong
    expected = [
        "not linked to its subject" if not covers[i]
        else "a" if len(found[i]) > 1
        else "b" if sum(i in f for f in found) > 1
        else "violated"
        for i in range(len(found))
    ]  # fmt: skip
    assert list(tacit.Ads0().measure(released, **against).categories) == expected


def test_engines_agree_with_identifier(engine):
    people = pa.table({"id": [1, 2, 3, 4], "a": [1, 2, 3, 3], "b": ["x", "x", "y", None]})
    hierarchies = {"a": Hierarchy.from_paths(ODD)}
    register = tacit.read(people, keys=["a", "b"], hierarchies=hierarchies, engine=engine)
    subjects = tacit.read(
        people.slice(1, 3),
        identifiers=["id"],
        keys=["a", "b"],
        hierarchies=hierarchies,
        engine=engine,
    )
    released = subjects.generalise("a", 1)
    result = tacit.KMap(subject="id").measure(released, original=subjects, register=register)
    # A missing value matches everybody of the group "7"; the member without b only by missing values.
    assert result.linked.candidates.tolist() == [2, 1, 2]
    assert result.k == 1
    assert (
        tacit.NullMap(subject="id").measure(released, original=subjects, register=register).value
        == 1
    )


def test_register_values_decide_about_the_subject():
    """The original says zip x; the register has the person at y: the release does not reach him."""
    original = tacit.read({"id": [7], "b": ["x"]}, keys=["b"])
    register = tacit.read({"id": [7, 8], "b": ["y", "x"]}, keys=["b"])
    assert tacit.KMap(subject="id").measure(original, original=original, register=register).k == 0
    assert tacit.KMap().measure(original, original=original, register=register).k == 1


def test_several_entries_of_a_subject_are_refused():
    original = tacit.read({"id": [7], "b": ["x"]}, keys=["b"])
    register = tacit.read({"id": [7, 7], "b": ["y", "x"]}, keys=["b"])
    with pytest.raises(InputError, match="several entries"):
        tacit.KMap(subject="id").measure(original, original=original, register=register)


def test_without_companions_the_data_stand_for_the_population():
    data = tacit.read({"b": ["x", "x", "y"]}, keys=["b"])
    result = tacit.KMap().measure(data)
    assert result.k == 1
    assert result.linked.in_subjects is None
    assert "not checked" in result.explanation
    assert result.value == pytest.approx(1 / 3)


def test_faults_are_named():
    data = tacit.read({"b": ["x", "y", "z"]}, keys=["b"])
    with pytest.raises(ColumnNotFound, match="the register"):
        tacit.KMap().measure(data, register=tacit.read({"c": ["x"]}))
    narrow = tacit.read({"b": ["x"]}, keys=["b"], hierarchies={"b": Hierarchy.from_paths(CITY[:1])})
    with pytest.raises(InputError, match="does not cover 2 of the 3"):
        tacit.KMap().measure(narrow, register=data)
    with pytest.raises(InputError, match="compares"):
        tacit.NullMap().measure(data)


@pytest.mark.parametrize("n", [1, 2])
def test_wrong_map_refuses_one_and_two_subjects(n):
    data = tacit.read({"b": ["x", "y", "z"][:n]}, keys=["b"])
    with pytest.raises(Infeasible, match="wrong subject gives"):
        tacit.WrongMap().measure(data, original=data)


def test_facts_may_be_generalised_truth():
    hierarchies = {"city": Hierarchy.from_paths(CITY)}
    data = tacit.read(
        {"k": [1, 2, 3], "city": ["x", "y", "z"]}, keys=["k"], hierarchies=hierarchies
    )
    coarse = tacit.Ads0().measure(data.generalise("city", 1), original=data)
    hidden = tacit.Ads0().measure(data.generalise("city", 2), original=data)
    assert coarse.categories == ("violated",) * 3
    assert coarse.violating == (0, 1, 2)
    assert hidden.categories == ("c",) * 3
    assert tacit.Ads0().measure(data.drop(["city"]), original=data).categories == ("violated",) * 3


def test_dropped_and_reordered_records_keep_their_subjects():
    data = tacit.read({"k": [1, 2, 3, 4], "v": ["p", "q", "r", "s"]}, keys=["k"])
    part = data.take(np.array([3, 1]))
    assert tacit.Ads0().measure(part, original=data).categories == ("violated",) * 2
    assert tacit.KMap().measure(part, original=data).k == 1


@pytest.mark.slow
def test_a_million_people_and_many_level_vectors():
    rng = np.random.default_rng(1)
    n = 1_000_000
    people = pa.table(
        {
            "birth": rng.integers(0, 20_000, n),
            "zip": rng.integers(1000, 1500, n),
            "sex": rng.integers(0, 2, n),
        }
    )
    register = tacit.read(
        people, keys=["birth", "zip", "sex"], hierarchies={"zip": tacit.hierarchy.digits(4)}
    )
    original = tacit.read(
        people.slice(0, 10_000),
        keys=["birth", "zip", "sex"],
        hierarchies={"zip": tacit.hierarchy.digits(4)},
    )
    released = original.generalise("zip", 2).replace(
        {"birth": pa.array([None if i % 3 else i for i in range(10_000)])}
    )
    result = tacit.KMap().measure(released, original=original, register=register)
    assert result.linked.n_register == n


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(NUMBERS, PLACES), min_size=3, max_size=10),
    st.lists(st.tuples(NUMBERS, PLACES), max_size=6),
    st.data(),
)
def test_presence_against_every_pair(subjects, others, data):
    assume(all(any(r[i] is not None for r in subjects) for i in (0, 1)))
    shown = [data.draw(SHOWN) for _ in subjects]
    population = subjects + others
    released = everyone(subjects).replace(
        {
            n: pa.array(c, pa.string())
            for n, c in zip("ab", map(list, zip(*shown, strict=True)), strict=True)
        }
    )
    found = tacit.DeltaPresence(delta_min=0.1, delta_max=0.6).measure(
        released, register=everyone(population)
    )
    cover = [candidates(t, population) for t in shown]
    presence = [min(1.0, sum(1 / len(c) for c in cover if u in c)) for u in range(len(population))]
    assert found.numbers["register"] == len(population)
    assert found.smallest == pytest.approx(min(presence))
    assert found.largest == pytest.approx(max(presence))
    outside = sum(p > 0.6 + 1e-9 or p < 0.1 - 1e-9 for p in presence)
    assert found.value == pytest.approx(outside / len(population))
    assert found.numbers["records that match nobody"] == sum(not c for c in cover)
    assert bool(found.shortfall) == bool(outside)


def test_presence_by_hand():
    # Three of four people of region x, and one of six of y, are in the release.
    register = tacit.read(pa.table({"r": ["x"] * 4 + ["y"] * 6}), keys=["r"])
    released = tacit.read(pa.table({"r": ["x"] * 3 + ["y"]}), keys=["r"])
    found = tacit.DeltaPresence(delta_min=0.1, delta_max=0.5).measure(released, register=register)
    assert (found.smallest, found.largest) == (pytest.approx(1 / 6), pytest.approx(3 / 4))
    assert found.value == pytest.approx(0.4)
    assert "4 of 10 members" in found.shortfall
    assert "presence" in found.plot().alt
    top = released.replace({"r": pa.array(["*"] * 4)})
    assert tacit.DeltaPresence().measure(top, register=register).largest == pytest.approx(0.4)
    with pytest.raises(InvalidParameter, match="delta_min must be at most delta_max"):
        tacit.DeltaPresence(delta_min=0.6)
    with pytest.raises(InputError, match="needs a population register"):
        tacit.DeltaPresence().measure(released)
