"""A chart of a third party: one function, shown in reports, by name in Python and in the shell."""

import json
import os
import subprocess
import sys

import pytest

import tacit
from tacit.errors import InputError, UnknownMethod
from tacit.plot import registry as charts

#: What a third party would write.
PACKAGE = '''
"""A chart of two numbers."""

from tacit.plot.chart import Chart
from tacit.plot.registry import chart_for


@chart_for("k_anonymity")
def two_numbers(result):
    rows = [{"n": 7.0}, {"n": float(result.value)}]
    spec = {"data": {"values": rows}, "mark": "point", "encoding": {"x": {"field": "n"}}}
    return Chart(spec, alt="Two numbers of a third party.")
'''
#: What users then do, beside the shell.
USE = """
import tacit

data = tacit.read("people.csv", keys=["sex", "job"])
plan = tacit.Plan([tacit.Suppress(columns=["job"], level="attribute")], measures=[tacit.KAnonymity(k=2)])
plan.run(data).write("out")
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "two_numbers.py").write_text(PACKAGE)
    info = tmp_path / "two_numbers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: two-numbers\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tacit.charts]\ntwo = two_numbers\n")
    (tmp_path / "people.csv").write_text("sex,job\nf,cook\nm,cook\nf,nurse\nm,nurse\nf,cook\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])

    def run(*arguments):
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path, "COLUMNS": "400"},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def measure(run, *options):
    keys = ("--k", "2", "--keys", "sex", "job")
    return run("-m", "tacit", "measure", "k-anonymity", "people.csv", *keys, *options)


def test_the_shell_saves_it_by_name(run, tmp_path):
    done = measure(run, "--plot", "it.json", "--chart", "two-numbers")
    assert done.returncode == 0, done.stderr
    assert (
        json.loads((tmp_path / "it.json").read_text())["description"]
        == "Two numbers of a third party."
    )
    wrong = measure(run, "--plot", "no.json", "--chart", "two-number")
    assert wrong.returncode == 2
    assert "there is chart, two_numbers" in " ".join(wrong.stderr.split())
    assert not (tmp_path / "no.json").exists()
    alone = measure(run, "--chart", "two_numbers")
    assert alone.returncode == 2
    assert "give --plot FILE with it" in alone.stderr


def test_reports_show_it(run, tmp_path):
    done = run("-c", USE)
    assert done.returncode == 0, done.stderr
    assert "Two numbers of a third party." in (tmp_path / "out" / "report.html").read_text()


def test_a_misspelt_kind_is_said(monkeypatch):
    monkeypatch.setattr(charts, "_added", {})
    charts.chart_for("k_anonimity")(len)
    with pytest.raises(UnknownMethod, match="Did you mean 'k_anonymity'"):
        charts.load_third_parties.__wrapped__()


def test_a_name_is_given_once_for_a_kind(monkeypatch):
    monkeypatch.setattr(charts, "_added", {})

    def same(result):
        raise AssertionError

    def other(result):
        raise AssertionError

    other.__name__ = "same"
    charts.chart_for("no_such_measure")(same)
    charts.chart_for("no_such_measure")(same)
    with pytest.raises(InputError, match="another chart called 'same'"):
        charts.chart_for("no_such_measure")(other)


def test_charts_of_a_result_by_name():
    data = tacit.read({"age": [30, 41, 41, 52]}, keys=["age"])
    found = tacit.KAnonymity(k=2).measure(data)
    own = list(found.charts())
    named = found.named_charts()
    assert next(iter(named)) == "chart"
    assert [c.alt for c in named.values()][: len(own)] == [c.alt for c in own]
    assert found.chart("chart").alt == found.plot().alt
