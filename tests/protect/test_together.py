"""Households and linked columns: what an attacker gets back after suppression, PRAM and swapping."""

import warnings
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacit
from tacit.claims import Claim
from tacit.errors import InputError, WeakProtection


def survey(n_homes=400, seed=3):
    """People in households of one to six, with a region, its code, and a year of birth."""
    rng = np.random.default_rng(seed)
    size = rng.choice([1, 2, 3, 4, 5, 6], n_homes, p=[0.3, 0.3, 0.17, 0.15, 0.05, 0.03])
    home = np.repeat(np.arange(n_homes), size)
    region = rng.integers(0, 6, n_homes)
    age = rng.integers(0, 90, len(home))
    return {
        "home": (home * 7 + 11).tolist(),
        "size": size[home].tolist(),
        "region": np.array(["Alp", "Bay", "Cove", "Dale", "Elm", "Fen"])[region][home].tolist(),
        "code": (100 + region * 3)[home].tolist(),
        "age": (age // 5 * 5).tolist(),
        "born": (2020 - age // 5 * 5).tolist(),
        "sex": rng.choice(["f", "m"], len(home)).tolist(),
        "income": np.round(rng.lognormal(9, 1, len(home)), 0).tolist(),
    }


KEYS = ["size", "region", "age", "sex"]
LINKS = [["region", "code"], ["age", "born"], ["home", "size"]]


def read(columns=None, *, keys=KEYS, links=LINKS, **roles):
    source = survey() if columns is None else columns
    return tacit.read(source, household="home", keys=keys, links=links, **roles)


def restored_by_counting(before, after):
    """Return how many missing sizes the number of records of the household gives back."""
    count = Counter(after["home"])
    return sum(
        new is None and home is not None and count[home] == old
        for old, new, home in zip(before["size"], after["size"], after["home"], strict=True)
    )


def restored_by_members(before, after, column):
    """Return how many changed or missing values a majority vote in the released household gives back."""
    votes = defaultdict(Counter)
    for home, value in zip(after["home"], after[column], strict=True):
        if home is not None and value is not None:
            votes[home][value] += 1
    restored = 0
    for old, new, home in zip(before[column], after[column], after["home"], strict=True):
        if old != new and votes[home]:
            restored += votes[home].most_common(1)[0][0] == old
    return restored


def restored_by_link(before, after, column, other):
    """Return how many missing values the linked column of the record gives back."""
    tells = dict(zip(before[other], before[column], strict=True))
    return sum(
        new is None and linked is not None and tells[linked] == old
        for old, new, linked in zip(before[column], after[column], after[other], strict=True)
    )


#: Without it the search would take no value of a household, as many cells go with each.
DEAR = {"age": 30, "sex": 60}
SUPPRESSING = {
    "each": tacit.LocalSuppression(k=3, importance=DEAR),
    "shared": tacit.LocalSuppression(k=3, rule="shared", importance=DEAR),
    "strict": tacit.LocalSuppression(k=3, rule="strict", importance=DEAR),
    "mu_argus": tacit.MuArgus(k=3),
    "rare values": tacit.Suppress(columns=("size", "age", "region"), threshold=70),
    "a rule": tacit.Suppress(columns=("size", "region"), where="age > 80"),
}


@pytest.mark.filterwarnings("ignore:local_suppression. under rule 'shared'")
@pytest.mark.parametrize("how", SUPPRESSING)
def test_what_is_suppressed_stands_nowhere_else(how):
    data = read()
    before = data.to_arrow().to_pydict()
    result = SUPPRESSING[how].apply(data, seed=1)
    after = result.to_arrow().to_pydict()
    assert sum(v is None for v in after["size"]) > 0
    assert restored_by_counting(before, after) == 0
    for column in ("size", "region", "code"):
        assert restored_by_members(before, after, column) == 0
    for one, other in (("region", "code"), ("code", "region"), ("age", "born"), ("born", "age")):
        assert restored_by_link(before, after, one, other) == 0
    claims = result.history[-1].claims
    assert "suppressed-together" in [c.model for c in claims]
    assert all(c.holds(result.frame) for c in claims)
    told = result.history[-1].details
    missing = {c: sum(v is None for v in after[c]) for c in after}
    assert told["suppressed"] == {c: n for c, n in missing.items() if n}


def test_the_search_weighs_what_goes_with_a_cell():
    told = [
        tacit.LocalSuppression(k=3, importance=dear).apply(read()).history[-1].details
        for dear in ({}, {"size": 0.1, "region": 0.1})
    ]
    assert told[0]["cells"] < told[1]["cells"]


def test_without_the_declaration_the_household_number_goes_as_well_and_a_warning_says_so():
    data = read(links=())
    with pytest.warns(WeakProtection, match="'size' counts the members of a household"):
        result = tacit.LocalSuppression(k=3, importance=DEAR).apply(data)
    before, after = data.to_arrow().to_pydict(), result.to_arrow().to_pydict()
    assert after["size"].count(None) > 0
    assert restored_by_counting(before, after) == 0
    assert restored_by_members(before, after, "region") == 0
    (claim,) = [c for c in result.history[-1].claims if c.model == "suppressed-together"]
    assert claim.parameters["counting"] == ["size"]
    assert claim.holds(result.frame)


@pytest.mark.parametrize(
    "method", [tacit.Recode(column="size", breaks=(5,)), tacit.Pram(column="size")]
)
def test_other_methods_warn_that_counting_restores_the_size(method):
    with pytest.warns(WeakProtection, match="counting records with the same 'home' restores it"):
        method.apply(read(), seed=1)


def test_a_majority_vote_restores_nothing_after_pram():
    data = read()
    before = data.to_arrow().to_pydict()
    result = tacit.Pram(column="region", stay=0.7).apply(data, seed=2)
    after = result.to_arrow().to_pydict()
    assert sum(a != b for a, b in zip(before["region"], after["region"], strict=True)) > 50
    assert restored_by_members(before, after, "region") == 0
    assert restored_by_members(before, after, "code") == 0
    assert [c.model for c in result.history[-1].claims] == ["constant-in-households"]


CARRYING = {
    "pram": tacit.Pram(column="region", stay=0.6),
    "rank_swap": tacit.RankSwap(columns=("age",), percent=20),
    "swap": tacit.Swap(columns=("age",), share=0.5),
    "swap both": tacit.Swap(columns=("age", "born"), share=0.5),
    "shuffle": tacit.Shuffle(columns=("age",), given=("income",)),
    "swap_households": tacit.SwapHouseholds(columns=("region",), share=0.5),
    "swap_records": tacit.SwapRecords(
        hierarchy=("region",), similar=(("size",),), k=2, swap_rate=0.3
    ),
}


@pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")
@pytest.mark.parametrize("how", CARRYING)
def test_linked_columns_follow(how):
    data = read()
    before = data.to_arrow().to_pydict()
    result = CARRYING[how].apply(data, seed=4)
    after = result.to_arrow().to_pydict()
    one, other = ("age", "born") if after["age"] != before["age"] else ("region", "code")
    assert after[one] != before[one]
    pairs = set(zip(before[one], before[other], strict=True))
    assert set(zip(after[one], after[other], strict=True)) <= pairs
    assert result.history[-1].details["carried_along"]


def test_a_column_that_does_not_follow_is_warned_of():
    """A province lies in one region; a region has several provinces."""
    columns = survey()
    columns["province"] = [
        f"{r}{h % 2}" for r, h in zip(columns["region"], columns["home"], strict=True)
    ]
    data = read(columns, links=[["region", "province"]])
    with pytest.warns(WeakProtection, match="column 'province' is linked with 'region' and stays"):
        tacit.Pram(column="region").apply(data, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = tacit.Pram(column="province").apply(data, seed=1).to_arrow().to_pydict()
    assert all(p.startswith(r) for p, r in zip(result["province"], result["region"], strict=True))


def test_pram_of_both_columns_is_refused():
    data = read()
    with pytest.raises(InputError, match="'region' and 'code' are linked"):
        tacit.Pram(columns=("region", "code")).apply(data)
    joint = tacit.Pram(columns=("region", "code"), joint=True).apply(data, seed=1)
    assert len(set(zip(*joint.to_arrow(["region", "code"]).to_pydict().values(), strict=True))) == 6


def test_a_kept_column_is_not_suppressed_with_its_partner():
    with pytest.raises(InputError, match="'region' is in 'keep' and linked with 'code'"):
        tacit.LocalSuppression(k=3, keep=("region",)).apply(read(keys=["region", "code", "age"]))
    with pytest.raises(InputError, match="Keep both, or neither"):
        tacit.LocalSuppression(k=3, keep=("born",)).apply(read())


def test_noise_on_two_linked_columns_is_warned_of():
    with pytest.warns(WeakProtection, match="changed at random apart"):
        tacit.AddNoise(columns=("age", "born"), sd=3).apply(read(), seed=1)


def test_the_check_of_the_claim_sees_what_would_give_a_value_back():
    claim = Claim(
        "suppressed-together",
        {"household": "h", "constant": ["r"], "links": [["r", "c"]], "counting": ["n"]},
        "households and linked columns",
        ("r", "c", "n"),
    )
    safe = {
        "h": [1, 1, None, 3],
        "r": ["a", "a", None, "b"],
        "c": [1, 1, None, 2],
        "n": [2, 2, None, 1],
    }
    assert claim.holds(tacit.read(safe).frame)
    for column, value in {"c": 1, "r": "a", "h": 5}.items():
        opened = {**safe, column: [*safe[column][:2], value, safe[column][3]]}
        assert not claim.holds(tacit.read(opened).frame), column
    member = {**safe, "r": ["a", None, None, "b"], "c": [1, None, None, 2]}
    assert not claim.holds(tacit.read(member).frame)
    # Generalised to one label, a column tells no missing value; a column that is gone tells nothing.
    general = {**safe, "r": ["*"] * 4, "c": [1, 1, None, 2]}
    assert claim.holds(tacit.read(general).frame)
    assert claim.holds(tacit.read({"n": [2, 2, None, 1]}).frame)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from([None, 1, 2, 3, 4]),
            st.sampled_from([None, "a", "b", "c"]),
            st.sampled_from([None, "x", "y", "z"]),
            st.sampled_from(["f", "m", None]),
        ),
        min_size=4,
        max_size=14,
    ),
    rule=st.sampled_from(["each", "strict"]),
)
def test_every_small_file_keeps_its_claims(rows, rule):
    """Links that hold badly, missing values, members who differ: the claims hold, whatever the file."""
    home, region, code, sex = map(list, zip(*rows, strict=True))
    columns = {"home": home, "region": region, "code": code, "sex": sex}
    if any(all(v is None for v in columns[c]) for c in ("region", "sex", "home")):
        return
    data = tacit.read(columns, household="home", keys=["region", "sex"], links=[["region", "code"]])
    result = tacit.LocalSuppression(k=2, rule=rule).apply(data)
    for claim in result.history[-1].claims:
        assert claim.holds(result.frame)
