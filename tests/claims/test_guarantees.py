"""The guide on guarantees says of every claim against whom it holds, what it assumes and how it is checked."""

import re
from pathlib import Path

import tacit.claims

GUIDE = Path(__file__).parents[2] / "docs" / "explain" / "guarantees.md"
FILES = Path(tacit.claims.__file__).parent


def entries():
    """Lines of tables by the model that they begin with, in words or as code."""
    lines = re.findall(r"^\| .*$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    named = {
        re.split(r" \(| \|", line[2:])[0].strip("` ").replace(" ", "-"): line for line in lines
    }
    named.pop("model")
    return named


def own_models():
    """Models with a check in tacit itself; tests may have registered others."""
    return {
        model
        for file in FILES.rglob("*.py")
        for model in re.findall(r'@check_for\("([a-z-]+)"', file.read_text(encoding="utf-8"))
    }


def test_every_model_has_its_line_and_every_line_a_model():
    assert set(entries()) == own_models()


def test_every_line_says_against_whom_what_it_assumes_and_how_it_is_checked():
    for model, line in entries().items():
        cells = [c.strip() for c in line.strip("|").split("|")]
        assert len(cells) == 4, model
        assert all(cells), model
