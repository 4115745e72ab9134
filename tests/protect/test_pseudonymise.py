import base64
import datetime as dt
import hashlib
import hmac

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import (
    Infeasible,
    InputError,
    InvalidParameter,
    RoleMissing,
    SdcError,
    WeakProtection,
)
from tacit.records.identifiers.pseudonymise import key_bytes, scramble_digits

KEY = "8f1c5b0e6d2a49b7a3f0c4d5e6978812"


def column(result, name):
    return result.column(name).to_pylist()


def test_tokens_are_hmac_of_the_column_key(engine):
    data = tacit.read({"id": ["é", None, "b"], "x": [1, 2, 3]}, identifiers="id", engine=engine)
    result = tacit.Pseudonymise(key=KEY, bits=64).apply(data)
    key = hmac.digest(bytes.fromhex(KEY), b"tacit/hmac/1\0id", hashlib.sha512)
    expected = [
        hmac.digest(key, t.encode(), hashlib.sha256)[:8].hex() if t else None
        for t in ("é", "", "b")
    ]
    assert column(result, "id") == expected
    assert result.identifiers == ()
    assert data.identifiers == ("id",)


def test_columns_differ_unless_the_domain_is_shared():
    data = tacit.read({"a": ["p"], "b": ["p"]})
    apart = tacit.Pseudonymise(columns=("a", "b"), key=KEY).apply(data)
    joint = tacit.Pseudonymise(columns=("a", "b"), key=KEY, domain="person").apply(data)
    assert column(apart, "a") != column(apart, "b")
    assert column(joint, "a") == column(joint, "b")


def test_numbers_and_text_of_the_same_value_agree():
    one = tacit.Pseudonymise(columns=("a",), key=KEY).apply(tacit.read({"a": [12]}))
    two = tacit.Pseudonymise(columns=("a",), key=KEY).apply(tacit.read({"a": ["12"]}))
    assert column(one, "a") == column(two, "a")


def test_without_key_tokens_follow_the_seed_and_nothing_else():
    data = tacit.read({"a": ["p", "q"]})
    one = tacit.Pseudonymise(columns=("a",)).apply(data, seed=1)
    two = tacit.Pseudonymise(columns=("a",)).apply(data, seed=1)
    assert column(one, "a") == column(two, "a")
    drawn = [tacit.Pseudonymise(columns=("a",)).apply(data) for _ in range(2)]
    assert len({*column(drawn[0], "a"), *column(drawn[1], "a"), *column(one, "a")}) == 6
    assert "drawn" in one.history[-1].details["key"]


def test_reversal_restores_values_and_types():
    data = tacit.read(
        {
            "s": ["é", None, ""],
            "i": [3, -4, None],
            "f": [0.1, 2.0, None],
            "d": [dt.date(2020, 2, 29), None, None],
            "b": [True, None, False],
        }
    )
    method = tacit.Pseudonymise(columns=("s", "i", "f", "d", "b"), method="encrypt", key=KEY)
    hidden = method.apply(data)
    tokens = [t for c in hidden.columns for t in column(hidden, c) if t is not None]
    assert len({len(t) for t in tokens}) == 1
    assert len(set(tokens)) == len(tokens)
    assert method.reverse(hidden).to_arrow().to_pydict() == data.to_arrow().to_pydict()
    other = tacit.Pseudonymise(columns=("s",), method="encrypt", key=KEY[::-1])
    with pytest.raises(InputError, match="no tokens"):
        other.reverse(hidden)
    with pytest.raises(InputError):
        tacit.Pseudonymise(columns=("s",), key=KEY).reverse(hidden)


def test_long_values_are_refused():
    with pytest.raises(InputError, match="width"):
        tacit.Pseudonymise(columns=("s",), method="encrypt", key=KEY).apply(
            tacit.read({"s": ["x" * 100]})
        )


def test_key_sources(tmp_path, monkeypatch):
    data = tacit.read({"a": ["p"]})
    direct = column(tacit.Pseudonymise(columns=("a",), key=KEY).apply(data), "a")
    encoded = base64.b64encode(bytes.fromhex(KEY)).decode()
    (tmp_path / "key").write_text(encoded + "\n")
    monkeypatch.setenv("TACIT_TEST_KEY", KEY)
    assert (
        column(tacit.Pseudonymise(columns=("a",), key_file=str(tmp_path / "key")).apply(data), "a")
        == direct
    )
    assert (
        column(tacit.Pseudonymise(columns=("a",), key_env="TACIT_TEST_KEY").apply(data), "a")
        == direct
    )
    with pytest.raises(InputError):
        tacit.Pseudonymise(columns=("a",), key_file=str(tmp_path / "none")).apply(data)
    with pytest.raises(InputError):
        tacit.Pseudonymise(columns=("a",), key_env="TACIT_TEST_NONE").apply(data)


@pytest.mark.parametrize(
    "key",
    [
        "",
        "abc",
        "zz" * 20 + "!",
        "00" * 15,
        "00" * 32,
        "ab" * 16,
        "0123456789abcdef" * 2,
        "000102030405060708090a0b0c0d0e0f",
    ],
)
def test_bad_keys(key):
    with pytest.raises(InputError):
        key_bytes(key)
    with pytest.raises(InvalidParameter) as error:
        tacit.Pseudonymise(columns=("a",), key=key)
    assert not key or key not in str(error.value)


def test_key_stays_out_of_sight():
    method = tacit.Pseudonymise(columns=("a",), key=KEY)
    assert KEY not in repr(method)
    assert "key" not in method.to_dict(public=True)
    with pytest.raises(InvalidParameter):
        tacit.Pseudonymise(columns=("a",), key=KEY, key_env="X")
    with pytest.raises(InvalidParameter):
        tacit.Pseudonymise(columns=("a",), method="encrypt")
    with pytest.raises(InvalidParameter):
        tacit.Pseudonymise(columns=("a",), bits=32)
    with pytest.raises(RoleMissing):
        tacit.Pseudonymise(key=KEY).apply(tacit.read({"a": [1]}))


def test_scrambling_digits_warns():
    data = tacit.read({"a": ["12-345", None]})
    with pytest.warns(WeakProtection):
        result = tacit.Pseudonymise(columns=("a",), method="scramble", key=KEY).apply(data)
    assert sorted(column(result, "a")[0].replace("-", "")) == list("12345")


@pytest.mark.filterwarnings("ignore::tacit.errors.WeakProtection")
@pytest.mark.parametrize("value", ["Smith", "77", "A-7"])
def test_scrambling_refuses_what_it_would_leave_as_it_is(value):
    data = tacit.read({"a": ["123-4567", value]}, identifiers=["a"])
    with pytest.raises(Infeasible, match="released as they are") as caught:
        tacit.Pseudonymise(method="scramble", key=KEY).apply(data)
    assert value not in str(caught.value)


@settings(max_examples=50, deadline=None)
@given(st.sets(st.from_regex(r"[0-9]{6}", fullmatch=True), max_size=30))
def test_scrambling_is_one_to_one(values):
    assert len({scramble_digits(v, b"k" * 16) for v in values}) == len(values)


def test_weights_stay_numbers():
    data = tacit.read({"a": ["x", "y"], "w": [1.5, 2.5]}, weight="w")
    with pytest.raises(InputError, match="'w' is the weight, and tokens cannot be added up"):
        tacit.Pseudonymise(columns=("a", "w"), key=KEY).apply(data)
    plan = tacit.Plan([tacit.Pseudonymise(columns=("w",), key=KEY)], [tacit.KAnonymity()])
    with pytest.raises(SdcError, match="tokens cannot be added up"):
        plan.run(data)


def test_no_step_may_leave_weights_that_are_no_numbers():
    data = tacit.read({"a": ["x", "y"], "w": [1.5, 2.5]}, weight="w")
    with pytest.raises(InputError, match="'w' would not be numbers any more"):
        tacit.Recode(column="w", breaks=(2,)).apply(data)
