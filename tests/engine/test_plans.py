"""Whole plans give the same release on every engine."""

import pytest
import yaml

import tacit
from conftest import FOUNDATIONS
from tacit.data.fingerprint import fingerprint
from tacit.plan import Plan
from test_plan import PLAN


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "fig28.csv").write_bytes((FOUNDATIONS / "fig28_data.csv").read_bytes())
    return tmp_path


def test_a_plan_reads_protects_measures_and_writes_parquet(engine, folder):
    document = {
        **PLAN,
        "engine": engine.name,
        "steps": [{"kind": "generalise", "level": {"Birth": 1}}, {"kind": "datafly", "k": 2, "max_drop": 1}],
        "measures": [{"kind": "k_anonymity"}, {"kind": "l_diversity"}, {"kind": "t_closeness"}, {"kind": "precision"}, {"kind": "uniqueness"}],
        "output": {"folder": "out", "format": "parquet"},
    }  # fmt: skip
    (folder / "plan.yaml").write_text(yaml.safe_dump(document))
    release = Plan.load(folder / "plan.yaml").run()
    embedded = Plan.from_dict({**document, "engine": "duckdb"}, base=folder).run()
    assert fingerprint(release.data) == fingerprint(embedded.data)
    for ours, theirs in zip(release.after, embedded.after, strict=True):
        assert ours.to_dict()["value"] == pytest.approx(theirs.to_dict()["value"])
    target = release.write()
    assert tacit.verify(target)
    again = tacit.read(target / "data.parquet")
    assert sorted(map(str, again.to_arrow().to_pylist())) == sorted(
        map(str, embedded.data.to_arrow().to_pylist())
    )


def test_several_quasi_identifiers_hold_together(engine):
    data = tacit.read(
        {"a": ["x", "x", "y", "y", "z", "z", "z"], "b": [1, 1, 1, 2, 2, 2, 3], "c": ["p", "q", "p", "p", "p", "q", "q"]},
        keys={"one": ["a", "b"], "two": ["b", "c"]},
        hierarchies={"a": tacit.hierarchy.flat(), "b": tacit.hierarchy.flat(), "c": tacit.hierarchy.flat()},
        engine=engine,
    )  # fmt: skip
    released = tacit.Datafly(k=2, max_drop=3).apply(data, seed=1)
    result = tacit.KAnonymity(k=2).measure(released)
    assert result.k >= 2
    assert set(result.parts) == {"one", "two"}
    assert len(released) >= 4
    assert released.history[-1].details["dropped"] == len(data) - len(released)
