"""What is made from the code and kept in the repository is what the code says."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts/generate.py"


@pytest.fixture(scope="module")
def generate():
    spec = importlib.util.spec_from_file_location("generate", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_nothing_is_stale(generate):
    assert list(generate.stale()) == [], "run: scripts/generate"


def test_what_is_stale_is_named_and_written(generate, tmp_path, monkeypatch, capsys):
    file = tmp_path / "list.txt"
    file.write_text("old")
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    monkeypatch.setattr(generate, "GENERATED", {"list.txt": lambda: "new"})
    monkeypatch.setattr(generate.sys, "argv", ["generate", "--check"])
    assert generate.main() == 1
    assert "list.txt is stale" in capsys.readouterr().out
    assert file.read_text() == "old"
    monkeypatch.setattr(generate.sys, "argv", ["generate"])
    assert generate.main() == 0
    assert file.read_text() == "new"
    assert generate.stale() == {}
