"""The scripts of examples/ run, and print the published numbers."""

import importlib.util
import re
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_figures_of_sweeney(tmp_path, capsys):
    load("figures_of_sweeney").main(tmp_path)
    printed = capsys.readouterr().out
    assert "A = 0.9  k = 493" in printed
    rows = re.findall(r"^  (\S.*?) +(0\.\d{4})  (0\.\d{4})  (yes|no)$", printed, re.MULTILINE)
    assert rows == [
        ("Datafly", "0.7091", "0.7486", "yes"),
        ("mu-Argus, printed", "0.8583", "0.8667", "no"),
        ("mu-Argus, corrected", "0.8583", "0.8583", "no"),
        ("k-Similar, greedy", "0.7958", "0.7958", "yes"),
        ("k-Similar, optimal", "0.8278", "0.8278", "yes"),
    ]
    assert len(list(tmp_path.glob("*.svg"))) == 6


def test_choose_k(capsys):
    load("choose_k").main(1000)
    assert len(re.findall(r"^k = \d+ ", capsys.readouterr().out, re.MULTILINE)) == 6


def test_global_risk_experiments(tmp_path):
    load("global_risk_experiments").main(tmp_path, (500,))
    assert len(list(tmp_path.glob("*.svg"))) == 3


def test_channel_expansion(tmp_path, capsys):
    load("channel_expansion").main(tmp_path, "none")
    printed = capsys.readouterr().out
    for cost in ("225", "117", "65", "115", "79"):
        assert cost in printed
    assert list(tmp_path.glob("*.svg"))


def test_every_example_is_tested():
    tests = "\n".join(p.read_text() for p in EXAMPLES.parent.joinpath("tests").rglob("test_*.py"))
    for example in EXAMPLES.glob("*.py"):
        assert example.stem in tests, f"no test runs examples/{example.name}"


@pytest.mark.slow
def test_mask_census(tmp_path):
    census = Path(__file__).parents[1] / "fixtures" / "casc" / "census.csv"
    found = load("mask_census").main(census, tmp_path)
    by_method = {}
    for point in found.points:
        by_method.setdefault(point.method, []).append(point)
    # Larger groups and wider windows are safer and cost more.
    for method in ("MDAV", "rank swap", "correlated noise"):
        risks = [p.risk for p in by_method[method]]
        losses = [p.utility for p in by_method[method]]
        assert risks == sorted(risks, reverse=True)
        assert losses == sorted(losses)
    assert by_method["shuffle"][0].risk < 0.01
    for method in ("z-scores, then MDAV", "z-scores, then rank swap"):
        assert all(p.risk < 0.05 for p in by_method[method])
    assert {p.name for p in tmp_path.glob("*.svg")} == {
        "census_information_loss.svg",
        "census_propensity.svg",
    }
