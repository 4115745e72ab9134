"""Differential privacy: beside the noised output nothing public depends on the data.

The noise is put out of play: whatever is asked, the answer is the same fixed one. What then differs between the public
folders of two neighbouring files was not paid for.
"""

import json
from unittest import mock

import numpy as np
import pytest
from tests.common.cases import build, measure_kinds, people
from tests.report.twins import differences, same_draws, some_people, with_cells, without_row

import tacit

PEOPLE = some_people(n=80)
SYNTHETIC = ["sex", "job", "income"]
LISTED = {"sex": ["f", "m"], "job": ["née", "a", "b", None]}
#: What another person may have: usual values, and those that nobody else has.
OTHERS = [
    {"job": "a", "income": 20.0},
    {"sex": "f"},
    {"job": "the only one", "sex": "x"},
    {"job": None},
    {"income": None},
    {"income": 1e9},
    {"income": 20.123456},
]
PLOTS = [k for k in measure_kinds() if build(k).publishes]


@pytest.fixture
def fixed_answers():
    """Every noisy answer is the same, whatever was counted."""
    answer = lambda self, values, rng: np.full(np.shape(values), 40.0)  # noqa: E731
    with (
        mock.patch("tacit.stats.lattice.Lattice.protect", answer),
        mock.patch("tacit.graphics.base.choose", return_value=2),
        # Bands are drawn around the noisy answers.
        mock.patch(
            "tacit.context.Context.block_rng", side_effect=lambda *_: np.random.default_rng(5)
        ),
    ):
        yield


@pytest.mark.usefixtures("fixed_answers")
@pytest.mark.parametrize("changed", OTHERS)
def test_synthetic_records_of_neighbouring_files(changed, tmp_path):
    plan = tacit.Plan(
        [tacit.Synthesise(method="ipf", rho=0.5, categories=LISTED, ranges={"income": [0, 200]})],
        [tacit.KAnonymity(k=3), tacit.MarginChange(columns=["job"])],
    )
    one, other = (
        tacit.read({c: source[c] for c in SYNTHETIC}, keys=["sex", "job"], sensitive=["income"])
        for source in (PEOPLE, with_cells(PEOPLE, -1, **changed))
    )
    assert differences(plan, one, other, tmp_path) == []


#: Whom a neighbouring file may have besides: somebody with values that nobody else has, and one of whom nothing is known.
MORE = {
    "unheard of": {"sex": "x", "age": -5.5, "zip": "0", "job": "only", "income": -1e8, "disease": "plague"},
    "unknown": dict.fromkeys(("sex", "age", "zip", "job", "income", "disease")),
}  # fmt: skip


@pytest.mark.usefixtures("fixed_answers")
@pytest.mark.parametrize("kind", PLOTS)
def test_plots_of_neighbouring_files(kind, tmp_path, monkeypatch):
    neighbours = {"one": PEOPLE, "fewer": without_row(PEOPLE, -1)}
    for name, person in MORE.items():
        neighbours[name] = {c: [*v, {"id": "z1", **person}[c]] for c, v in PEOPLE.items()}
    spec = build(kind)
    if "missing" in type(spec).model_fields:
        spec = spec.model_copy(update={"missing": "drop"})
    told = {}
    for name, columns in neighbours.items():
        home = tmp_path / name
        home.mkdir()
        # Offices of their own: in one, the second file would be known for nearly the first.
        monkeypatch.setenv("TACIT_BUDGET", str(home / "budget.json"))
        with (
            same_draws(),
            mock.patch("tacit.release.plots.PlotRelease.write_private", return_value=None),
        ):
            folder = tacit.release_plots(spec.measure(people(columns)), home / "out")
        told[name] = {f.name: f.read_bytes() for f in folder.iterdir()}
        manifest = json.loads(told[name].pop("manifest.json"))
        # Drawn anew for each release, and the digest of what holds it.
        del manifest["release"], manifest["ledger"]
        told[name]["manifest.json"] = manifest
    for name in neighbours:
        assert told[name] == told["one"], name
