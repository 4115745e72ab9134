"""What users write is type-checked strictly: every Python block of the documentation, and the names of results.

One run of mypy over all pages: a minute with the cache of ``scripts/check``, several without.
"""

import re
import subprocess
import sys

import pytest

from docs.test_code_blocks import PAGES, ROOT, blocks

#: A measure gives its own Result, and wrong data or names are faults.
TYPED = """
from typing import assert_type

import tacit
from tacit.records.utility.information_loss import InformationLossResult
from tacit.tables.compare.cell_loss import CellLossResult


def look(people: tacit.Microdata, table: tacit.Table) -> float:
    found = tacit.InformationLoss().measure(people, original=people)
    assert_type(found, InformationLossResult)
    assert_type(tacit.CellLoss().measure(table), CellLossResult)
    tacit.CellLoss().measure(people)  # type: ignore[arg-type]
    found.il9  # type: ignore[attr-defined]
    tacit.Dataflyy(k=3)  # type: ignore[attr-defined]
    return found.il1
"""


def page_code(page):
    """The Python blocks of a page as one module, on the lines where they are."""
    code = ""
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "python" and not block.mark.startswith("no-run:"):
            code += "\n" * (block.line - code.count("\n")) + block.code
    return code


@pytest.mark.slow
def test_users_code_is_typed(tmp_path):
    (tmp_path / "typed.py").write_text(TYPED, encoding="utf-8")
    for page in PAGES:
        name = re.sub(r"\W", "_", str(page.relative_to(ROOT).with_suffix("")))
        (tmp_path / f"page_{name}.py").write_text(page_code(page), encoding="utf-8")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    settings = re.sub(r"(?m)^packages = .*$", "", project)
    settings = settings.replace('mypy_path = "src"', 'mypy_path = "src:examples"')
    (tmp_path / "mypy.toml").write_text(settings, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", tmp_path / "mypy.toml", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
