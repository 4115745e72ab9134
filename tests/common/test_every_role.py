"""One battery for every Spec on records, with every role declared: what is stated is what is done."""

import functools
import warnings

import numpy as np
import pytest

import tacit
from common.cases import build, hierarchies, measure_kinds, method_kinds
from tacit.errors import SdcError, WeakProtection
from tacit.registry import specs
from tacit.treatment import ROLES, statements, unstated

ON_DATA = [*method_kinds(), *measure_kinds()]
#: Constant in the households of the file below.
SHARED = ("zip", "area", "size")


def homes():
    """30 people in 12 households of one to four: the common columns, and one for every other role."""
    rng = np.random.default_rng(5)
    sizes = [1, 2, 3, 4, 2, 3, 4, 2, 3, 1, 2, 3]
    home = np.repeat(np.arange(len(sizes)), sizes)
    n = len(home)
    places = np.array(["02138", "02139", "02141", "02142"])
    area = {"02138": "A", "02139": "B", "02141": "C", "02142": "D"}
    zips = places[rng.integers(0, 4, len(sizes))][home]
    age = rng.choice([31, 32, 45, 46], n)
    return {
        "id": [f"p{i}" for i in range(n)],
        "sex": rng.choice(["f", "m"], n).tolist(),
        "age": age.tolist(),
        "zip": zips.tolist(),
        "job": rng.choice(["née", "a", "b"], n).tolist(),
        "income": np.round(rng.lognormal(3, 1, n), 2).tolist(),
        "disease": rng.choice(["flu", "cold", "gout"], n).tolist(),
        "home": [f"h{i}" for i in home],
        "size": np.bincount(home)[home].tolist(),
        "area": [area[z] for z in zips],
        "born": (2000 - age).tolist(),
        "grossing": np.round(rng.uniform(1, 9, len(sizes))[home], 3).tolist(),
        "layer": ["s1" if z < "02140" else "s2" for z in zips],
    }


ROLES_OF_HOMES = {
    "identifiers": ["id"],
    "keys": ["sex", "age", "zip"],
    "sensitive": ["disease"],
    "weight": "grossing",
    "household": "home",
    "stratum": "layer",
    "links": [["zip", "area"], ["age", "born"], ["home", "size"]],
}


@functools.cache
def declared():
    """The file with every role, read once: data are never changed."""
    return tacit.read(homes(), hierarchies=hierarchies(), **ROLES_OF_HOMES)


def run(kind, data):
    """Return the result and the warnings of a Spec with its example parameters."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        spec = build(kind)
        if kind in method_kinds():
            result = spec.apply(data, seed=5)
        else:
            result = spec.measure(data, original=data, register=data, seed=5)
    return result, [str(w.message) for w in caught]


def split_homes(table, column):
    """Return how many households show more than one value, missing being one."""
    values = {}
    for home, value in zip(table["home"], table[column], strict=True):
        if home is not None:
            values.setdefault(home, set()).add(value)
    return sum(len(v) > 1 for v in values.values())


@pytest.mark.parametrize("kind", ON_DATA)
def test_every_spec_states_how_it_treats_roles(kind):
    cls = specs()[kind]
    assert not unstated(cls), f"{kind} must state {', '.join(unstated(cls))} (see tacit.treatment)"
    assert [role for role, _ in statements(cls)] == [role for role, _ in ROLES.values()]


def test_specs_for_tables_state_nothing():
    for cls in specs().values():
        if tacit.Microdata not in cls.data_types():
            assert not list(statements(cls))


@pytest.mark.parametrize("kind", method_kinds())
def test_methods_do_what_they_state(kind):
    data = declared()
    before = data.to_arrow().to_pydict()
    try:
        result, warned = run(kind, data)
    except SdcError as error:
        assert 10 < len(str(error)) < 700
        return
    for claim in result.history[-1].claims:
        assert claim.holds(result.claim_view())
        assert any(text.startswith("Household: ") for text in claim.assumptions)
        assert any(text.startswith("Linked columns: ") for text in claim.assumptions)
    assert data.to_arrow().to_pydict() == before
    spec, after = build(kind), result.to_arrow().to_pydict()
    assert (
        set(after) >= {"home"}
        or spec.treats_household(data) == "new"
        or "home" in spec.targets(data)
    )
    if spec.treats_household(data) != "new" and not spec.cuts_links and len(result) == len(data):
        changed = {c for c in before if c in after and after[c] != before[c]}
        linked = {c for t in spec.targets(data) for c in (*data.linked_with(t), "home")}
        carried = linked if spec.treats_links(data) in ("carried", "suppressed") else set()
        assert changed <= {*spec.targets(data), *carried, *data.identifiers}
    if "home" not in after or spec.treats_household(data) in ("new", "records"):
        return
    for column in SHARED:
        if column in after and split_homes(after, column):
            # A column that follows another is warned of with it.
            names = [repr(c) for c in (column, *data.linked_with(column))]
            told = [w for w in warned if "constant in households" in w]
            assert any(n in w for w in told for n in names), f"{kind} splits households on {column}"


@pytest.mark.parametrize("kind", measure_kinds())
def test_measures_work_with_every_role_declared(kind):
    try:
        result, _ = run(kind, declared())
    except SdcError as error:
        assert 10 < len(str(error)) < 700
        return
    assert result.summary()


@pytest.mark.parametrize("kind", method_kinds())
def test_what_is_left_open_is_said_before_work(kind):
    """Every column a method changes and its links tell is named, or follows, or goes with it."""
    data = declared()
    spec = build(kind)
    if spec.faults(data) or spec.treats_links(data) in ("records", "unused"):
        return
    said = " ".join(spec.cautions(data))
    for column in spec.targets(data):
        for other in data.linked_with(column):
            if spec.treats_links(data) == "warned" and other not in spec.targets(data):
                assert f"column {other!r} is linked with {column!r}" in said
    if spec.treats_links(data) == "warned" and "size" in spec.targets(data):
        assert "column 'size' counts the members" in said


def test_a_plan_says_so_only_where_no_step_treats_the_link():
    data = declared()
    one = tacit.Recode(column="age", breaks=(40,))
    other = tacit.Recode(column="born", breaks=(1960,))
    assert "'born' is linked with 'age'" in tacit.Plan([one]).cautions(data)[0]
    assert tacit.Plan([one, other]).cautions(data) == []
    with pytest.warns(WeakProtection, match="'born' is linked with 'age'"):
        done = one.apply(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other.apply(done)
