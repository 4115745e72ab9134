"""A plan that releases a table: from a ready one, and from records; written, verified, refused."""

import json

import numpy as np
import pytest

import tacit
from common.cases import FIRMS, firms
from tacit.errors import DisclosureRefused, PlanError
from tacit.plan import Plan

STEPS = [{"kind": "minimum_frequency", "n": 2}, {"kind": "suppress_linear"}]


@pytest.fixture
def ready(tmp_path):
    firms(judged=False).save(tmp_path / "firms.table")
    document = {"tacit": 1, "source": "firms.table", "steps": STEPS, "measures": ["cell_loss"]}
    return Plan.from_dict(document, base=tmp_path)


@pytest.fixture
def records(tmp_path):
    import csv

    with (tmp_path / "firms.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["region", "size", "group", "turnover"])
        writer.writerows(FIRMS)
    (tmp_path / "regions.hrc").write_text("N\n@N1\n@N2\nS\n@S1\n@S2\n")
    document = {
        "tacit": 1,
        "title": "Turnover",
        "source": "firms.csv",
        "table": {
            "dimensions": {"region": "regions.hrc", "size": None},
            "value": "turnover",
            "holding": "group",
        },
        "steps": STEPS,
    }
    return Plan.from_dict(document, base=tmp_path)


def test_a_table_survives_its_file(tmp_path):
    table = tacit.SuppressLinear().apply(firms())
    table = table.with_(extra={"cell_key": np.arange(len(table)) / 100, "note": {"a": ["b"]}})
    again = tacit.Table.load(table.save(tmp_path / "t.table"))
    assert again.status.tolist() == table.status.tolist()
    assert again.value.tolist() == table.value.tolist()
    assert again.codes(5) == table.codes(5)
    assert again.extra["cell_key"].tolist() == table.extra["cell_key"].tolist()
    assert again.extra["note"] == {"a": ["b"]}
    assert again.contributors.top.tolist() == table.contributors.top.tolist()
    assert again.history[-1].claims[0].holds(again)
    assert (again.equations != table.equations).nnz == 0


def test_a_ready_table_is_released_and_verified(ready, tmp_path):
    release = ready.run(seed=3)
    folder = release.write(tmp_path / "out")
    assert {p.name for p in folder.iterdir()} == {
        "table.csv", "plan.yaml", "statement.json", "statement.md", "report.html", "manifest.json",
    }  # fmt: skip
    text = (folder / "table.csv").read_text()
    assert "310" not in text
    assert "310" not in (folder / "report.html").read_text()
    assert tacit.verify(folder)
    shown = tacit.read(folder / "table.csv")
    assert shown.column("turnover").null_count == int(release.data.hidden.sum())


def test_records_become_a_table(records, tmp_path):
    release = records.run(seed=3)
    expected = firms(judged=False)
    assert sorted(release.data.value.tolist()) == sorted(expected.value.tolist())
    folder = release.write(tmp_path / "out")
    assert tacit.verify(folder)
    facts = json.loads((folder / "statement.json").read_text())
    assert facts["claims"][0]["model"] == "protected-intervals"
    assert "audit" in [r.kind for r in release.after]


def test_a_changed_file_does_not_verify(ready, tmp_path):
    folder = ready.run(seed=3).write(tmp_path / "out")
    file = folder / "table.csv"
    file.write_text(file.read_text().replace("x", ""))
    assert not tacit.verify(folder)


def test_an_unprotected_table_is_refused(ready, tmp_path):
    plan = Plan.from_dict({**ready.to_dict(), "steps": STEPS[:1]}, base=tmp_path)
    release = plan.run(seed=1)
    changed = release.data.with_changed(release.data.value)
    from dataclasses import replace

    with pytest.raises(DisclosureRefused, match="unsafe cells would be published"):
        replace(release, data=changed).write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_plan_says_everything_that_is_wrong(tmp_path):
    with pytest.raises(PlanError) as caught:
        Plan.from_dict(
            {
                "tacit": 1,
                "table": {"dimension": ["a"]},
                "steps": [{"kind": "suppress_linear"}, {"kind": "datafly", "k": 2}],
                "measures": ["k_anonymity"],
            },
            base=tmp_path,
        )
    text = str(caught.value)
    assert "'dimension'" in text
    assert "must come before" in text
    assert "k_anonymity" in text


def test_tables_given_in_python():
    plan = Plan([tacit.MinimumFrequency(n=2), tacit.SuppressLinear()], [tacit.CellLoss()])
    release = plan.run(firms(judged=False), seed=1)
    assert release.data.hidden.sum() >= 2
    assert np.isnan(release.data.published).sum() == release.data.hidden.sum()
    assert "cells" in str(release.summary())


def test_a_recoded_table_is_released_with_its_reports(tmp_path):
    from common.cases import firms

    steps = [
        tacit.MinimumFrequency(n=3),
        tacit.RecodeTable(dimension="region", depth=1),
        tacit.SuppressLinear(),
    ]
    release = tacit.Plan(steps).run(firms(judged=False))
    assert (release.write(tmp_path / "out") / "report.html").exists()
