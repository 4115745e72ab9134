"""Plans from others are data: whatever stands in them, ``check`` and ``run`` answer in sentences."""

import copy
import re

import pytest
import yaml

import tacit
from tacit.cli.app import main
from tacit.errors import SdcError
from tacit.plan import Plan

PEOPLE = """id,sex,age,zip,income
p1,f,31,02138,10.5
p2,m,32,02138,20.0
p3,f,31,02139,30.0
p4,m,32,02139,40.0
p5,f,31,02138,12.5
p6,m,32,02138,22.0
"""

RECORDS = {
    "tacit": 1,
    "title": "people",
    "source": {"path": "people.csv", "separator": ",", "missing": ["NA"], "types": {"zip": "text"}},
    "register": {"path": "people.csv", "roles": {"keys": ["sex"]}},
    "roles": {"identifiers": ["id"], "keys": ["sex", "zip"], "sensitive": ["income"]},
    "hierarchies": {"sex": {"kind": "flat"}, "zip": {"kind": "digits", "digits": 5}},
    "steps": [
        {"kind": "datafly", "k": 2, "max_drop": 4},
        {"kind": "add_noise", "columns": ["income"], "sd": 2},
    ],
    "measures": ["k_anonymity", {"kind": "information_loss", "columns": ["age", "income"]}],
    "require": [{"kind": "k_anonymity", "at_least": 2}],
    "output": {"folder": "out", "format": "csv", "reports": []},
    "engine": "duckdb",
}
TABLE = {
    "source": "people.csv",
    "table": {"dimensions": {"sex": {"kind": "flat"}, "zip": None}, "value": "income", "top": 2},
    "steps": [{"kind": "minimum_frequency", "n": 2}, "suppress_modular"],
    "measures": ["cell_loss"],
}
MAP = {
    "source": "people.csv",
    "roles": {"keys": ["sex"]},
    "map": {
        "candidates": {"noise": {"kind": "add_noise", "columns": ["income"], "sd": [1, 2]}},
        "risk": {"kind": "distance_linkage", "columns": ["income"]},
        "utility": [{"kind": "information_loss", "columns": ["age", "income"]}],
        "max_risk": 0.5,
    },
}
PLANS = {"records": RECORDS, "table": TABLE, "map": MAP}

WRONG = [
    None, True, 0, -1, 10**30, 1.5, float("nan"), float("inf"), "", "no such thing", "\0", "a" * 300,
    [], {}, [None], [[]], [{}], {"kind": None}, {"kind": "no_such_thing"}, {"a": 1}, {1: 2}, [1, "b"],
]  # fmt: skip


def places(node, path=()):
    """Every place of a document."""
    yield path
    if isinstance(node, dict | list):
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            yield from places(child, (*path, key))


def changed(document, path, value):
    """The document with another value at one place; with none at all for ``places``."""
    if not path:
        return value
    made = copy.deepcopy(document)
    node = made
    for key in path[:-1]:
        node = node[key]
    if value is places:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return made


def malformed():
    for name, document in PLANS.items():
        for path in places(document):
            for value in [places, *WRONG]:
                if path or value is not places:
                    yield name, path, value
            if path and isinstance(path[-1], str):
                yield name, (*path[:-1], "no_such_option"), 1


ALL = list(malformed())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("plans")
    (made / "people.csv").write_text(PEOPLE)
    return made


def check_sentence(text):
    assert text
    assert len(text) < 4000
    assert not re.search(
        r"something went wrong inside|Traceback|object has no attribute|Exception|unhashable|pydantic|"
        r"assertion failed|not iterable|positional argument|<class",
        text,
    ), text


def answer(document, folder):
    """Return the faults of a document as ``tacit check`` finds them, or run it."""
    if not isinstance(document, dict):
        return
    try:
        plan = Plan.from_dict(document, base=folder)
        plan.check()
        plan.to_dict()
    except SdcError as error:
        check_sentence(str(error))


def test_every_place_of_a_plan_may_be_wrong(folder):
    """Sampled evenly here; all of them in the slow suite."""
    for name, path, value in ALL[::40]:
        answer(changed(PLANS[name], path, value), folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
def test_every_place_of_every_plan_may_be_wrong(name, folder):
    for _, path, value in (case for case in ALL if case[0] == name):
        try:
            answer(changed(PLANS[name], path, value), folder)
        except Exception as error:
            raise AssertionError((path, value)) from error


@pytest.mark.slow
def test_what_check_finds_ready_runs_or_is_refused_in_a_sentence(folder):
    for name, path, value in [c for c in ALL if c[0] == "records"][::5]:
        document = changed(PLANS[name], path, value)
        if not isinstance(document, dict):
            continue
        try:
            Plan.from_dict(document, base=folder).run()
        except SdcError as error:
            check_sentence(str(error))


TEXTS = [
    "", "[]", "3", "steps", "- a", "steps: [", "steps: {kind: datafly}", "tacit: 2", "tacit: true", "? [a]\n: b",
    "source: people.csv\nsteps:\n  - datafly\n  -", "steps: !!python/object:os.system {}", "a: &x [1]\nb: *x",
    "steps: [datafly]\nsteps: [mdav]", "1: 2", "null: 1", "steps: [{kind: [a]}]", "\t", "source: {path: 2020-01-01}",
    "seed: .nan", "seed: 1e3", "seed: -1", "output: /proc/none/x\nsource: people.csv\nsteps: [deidentify]",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_the_shell_answers_in_a_line(text, folder, tmp_path, capsys):
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "plan.yaml").write_text(text)
    for verb in ("check", "run"):
        code = main([verb, str(tmp_path / "plan.yaml")])
        check_sentence(capsys.readouterr().err or "nothing to say")
        assert code in (1, 2)


def test_check_names_in_one_round_all_that_run_would_refuse(tmp_path):
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "file").write_text("")
    document = {
        "source": "people.csv",
        "register": "no.csv",
        "roles": {"keys": ["sex", "nokey"], "weight": "noweight"},
        "hierarchies": {"sex": "nohierarchy.csv", "nocolumn": {"kind": "flat"}},
        "steps": [
            {"kind": "add_noise", "columns": ["sex"], "sd": 1},
            {"kind": "mdav", "columns": ["nonumber"]},
        ],
        "measures": [{"kind": "information_loss", "columns": ["nomeasure"]}],
        "output": "file/out",
    }
    with pytest.raises(SdcError) as refused:
        Plan.from_dict(document, base=tmp_path).check()
    said = str(refused.value)
    for part in (
        "nokey", "noweight", "nohierarchy.csv", "nocolumn", "no.csv", "'sex' does not hold numbers",
        "nonumber", "nomeasure", "cannot write",
    ):  # fmt: skip
        assert part in said, part


def test_a_file_of_titles_alone_gives_no_release(tmp_path):
    (tmp_path / "people.csv").write_text(PEOPLE.splitlines()[0] + "\n")
    document = {
        "source": "people.csv",
        "roles": {"keys": ["sex"]},
        "hierarchies": {"sex": {"kind": "flat"}},
        "steps": [{"kind": "datafly", "k": 2}],
    }
    with pytest.raises(SdcError, match="no records"):
        Plan.from_dict(document, base=tmp_path).check()
    with pytest.raises(SdcError, match="no records"):
        Plan.from_dict(document, base=tmp_path).run()
    empty = tacit.read(tmp_path / "people.csv", keys=["sex"])
    with pytest.raises(SdcError, match="no records"):
        Plan(["deidentify"]).run(empty)
    assert yaml.safe_load("a: 1")
