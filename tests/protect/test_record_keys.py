"""Record keys: drawn or kept, uniform, and secret."""

import numpy as np
import pytest

import tacit
from tacit.errors import InputError, InvalidParameter
from tacit.records.identifiers.record_keys import RecordKeys

SECRET = "8f1c5b0e6d2a49b7a3f0c4d5e6978812"


def firms(n=2000):
    return tacit.read({"firm": [f"f{i}" for i in range(n)], "size": [i % 7 for i in range(n)]})


def keys_of(data, column="record_key"):
    return np.array(data.column(column).to_pylist())


def test_drawn_keys_are_uniform_and_follow_the_seed():
    one, two = (RecordKeys().apply(firms(), seed=s) for s in (1, 1))
    keys = keys_of(one)
    assert (keys == keys_of(two)).all()
    assert (keys != keys_of(RecordKeys().apply(firms(), seed=2))).all()
    assert ((keys >= 0) & (keys < 1)).all()
    counts = np.histogram(keys, bins=10, range=(0, 1))[0]
    assert ((counts - 200) ** 2 / 200).sum() < 27.9  # chi-square, 9 degrees of freedom, 0.001


def test_kept_keys_do_not_depend_on_seed_or_other_records():
    spec = RecordKeys(identifier="firm", key=SECRET)
    whole = keys_of(spec.apply(firms(), seed=1))
    part = firms().take(np.array([1500, 3, 900]))
    result = spec.apply(part, seed=2)
    at = [int(name[1:]) for name in result.column("firm").to_pylist()]
    assert sorted(at) == [3, 900, 1500]
    assert (keys_of(result) == whole[at]).all()
    counts = np.histogram(whole, bins=10, range=(0, 1))[0]
    assert ((counts - 200) ** 2 / 200).sum() < 27.9
    assert len(np.unique(whole)) == 2000


def test_another_secret_gives_other_keys():
    one = keys_of(RecordKeys(identifier="firm", key=SECRET).apply(firms(50)))
    two = keys_of(RecordKeys(identifier="firm", key=SECRET[::-1]).apply(firms(50)))
    assert (one != two).all()


def test_secret_from_a_file_or_the_environment(tmp_path, monkeypatch):
    (tmp_path / "key").write_text(SECRET)
    monkeypatch.setenv("KEYS_OF_RECORDS", SECRET)
    expected = keys_of(RecordKeys(identifier="firm", key=SECRET).apply(firms(9)))
    for given in ({"key_file": str(tmp_path / "key")}, {"key_env": "KEYS_OF_RECORDS"}):
        assert (keys_of(RecordKeys(identifier="firm", **given).apply(firms(9))) == expected).all()
    with pytest.raises(InputError, match="does not exist"):
        RecordKeys(identifier="firm", key_file=str(tmp_path / "none")).apply(firms(9))
    with pytest.raises(InputError, match="is not set"):
        RecordKeys(identifier="firm", key_env="NOTHING_HERE").apply(firms(9))


def test_digits_and_names():
    keys = keys_of(RecordKeys(digits=6, into="rk").apply(firms(100), seed=3), "rk")
    assert (np.round(keys, 6) == keys).all()


def test_what_is_refused():
    with pytest.raises(InvalidParameter, match="both identifier and a secret"):
        RecordKeys(identifier="firm")
    with pytest.raises(InvalidParameter, match="both identifier and a secret"):
        RecordKeys(key=SECRET)
    with pytest.raises(InputError, match="already"):
        RecordKeys(into="size").apply(firms(5))
    gaps = tacit.read({"firm": ["a", None, "b"]})
    with pytest.raises(InputError, match="some records have no 'firm'"):
        RecordKeys(identifier="firm", key=SECRET).apply(gaps)


def test_the_secret_stays_out_of_the_history():
    result = RecordKeys(identifier="firm", key=SECRET).apply(firms(5))
    assert SECRET not in str(result.history)
    assert SECRET not in repr(RecordKeys(identifier="firm", key=SECRET))
