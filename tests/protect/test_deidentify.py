import pytest

import tacit
from tacit.errors import ColumnNotFound, RoleMissing


def test_drops_the_declared_identifiers(fig28, engine):
    data = tacit.read(fig28.to_arrow(), identifiers="SSN", keys=["ZIP"], engine=engine)
    result = tacit.Deidentify().apply(data)
    assert "SSN" not in result.columns
    assert result.column("ZIP") == data.column("ZIP")
    assert result.history[-1].claims[0].model == "absent-columns"
    assert "SSN" in data.columns


def test_substitutes_instead(fig28):
    result = tacit.Deidentify(how="substitute").apply(fig28, seed=1)
    assert result.identifiers == ()
    old, new = fig28.column("SSN").to_pylist(), result.column("SSN").to_pylist()
    assert not set(old) & set(new)
    assert len(set(new)) == 12
    assert not result.history[-1].claims


def test_named_columns_and_faults(fig28):
    assert "Problem" not in tacit.Deidentify(columns=("Problem",)).apply(fig28).columns
    with pytest.raises(ColumnNotFound):
        tacit.Deidentify(columns=("SNN",)).apply(fig28)
    with pytest.raises(RoleMissing):
        tacit.Deidentify().apply(tacit.read({"x": [1]}))
