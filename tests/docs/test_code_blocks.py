"""Every code block of the documentation runs.

The ``python`` blocks of a page run top-down in one namespace, and lines of ``console`` and ``bash``
blocks that begin with ``$ tacit`` run through the command line in this process. A page runs in a folder
that holds ``fig28.csv``, ``census.csv`` and the hospital example. A comment on the line before a block may say:

- ``<!-- output -->``: the ``text`` block is what the block before it prints (``...`` stands for anything);
- ``<!-- file: plan.yaml -->``: the block is written to that file;
- ``<!-- exits: 1 -->``: the commands end with that exit code instead of 0;
- ``<!-- needs: spark -->``: left out when the tests run without Spark;
- ``<!-- no-run: reason -->``: not run.

What a ``console`` block shows below a command is compared with what the command prints.
"""

import doctest
import re
import shlex
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest

import tacit.registry
from tacit import examples
from tacit.claims import registry as claims
from tacit.cli import main
from tacit.plot import registry as charts

ROOT = Path(__file__).parents[2]
FIG28 = ROOT / "tests/fixtures/foundations-of-privacy/fig28_data.csv"
CENSUS = ROOT / "tests/fixtures/casc/census.csv"
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])
BLOCK = re.compile(
    r"^(?:<!-- *(?P<mark>[^\n]*?) *-->\n)?```(?P<language>\w+)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    language: str
    code: str
    mark: str
    line: int

    def value(self, word):
        """Return what the mark says about a word: ``exits: 1``."""
        name, _, rest = self.mark.partition(":")
        return rest.strip() if name == word else ""


def blocks(text):
    return [
        Block(m["language"], m["code"], m["mark"] or "", text.count("\n", 0, m.start("code")))
        for m in BLOCK.finditer(text)
    ]


def commands(code):
    """Yield each ``$ tacit`` command of a block with what is shown below it."""
    joined = re.sub(r"\\\n\s*", " ", code)
    for part in re.split(r"^\$ ", joined, flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        words = shlex.split(line, comments=True)
        if words[:1] == ["tacit"]:
            yield words[1:], shown


def page_params():
    for page in PAGES:
        found = {b.value("needs") for b in blocks(page.read_text(encoding="utf-8"))}
        name = str(page.relative_to(ROOT))
        if "spark" in found:
            yield pytest.param(page, id=f"{name} on spark", marks=pytest.mark.spark)
        else:
            yield pytest.param(page, id=name)


@pytest.fixture(scope="session")
def hospital(tmp_path_factory):
    """The hospital example, written once."""
    folder = tmp_path_factory.mktemp("example") / "hospital"
    examples.write_hospital(folder, n=2000, seed=1)
    return folder


@pytest.fixture
def desk(tmp_path, monkeypatch, hospital):
    """A folder with the data that the pages use; what a page registers is forgotten afterwards."""
    shutil.copy(FIG28, tmp_path / "fig28.csv")
    for file in (FIG28, CENSUS):
        # The README names its files as they lie in a checkout.
        (tmp_path / file.relative_to(ROOT)).parent.mkdir(parents=True)
        shutil.copy(file, tmp_path / file.relative_to(ROOT))
    shutil.copy(CENSUS, tmp_path / "census.csv")
    shutil.copytree(hospital, tmp_path / "hospital")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tacit.registry, "_specs", tacit.registry.specs())
    claims.models()  # imported now, and so known after the page as well
    monkeypatch.setattr(claims, "_checks", dict(claims._checks))
    monkeypatch.setattr(charts, "_added", {})
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    return tmp_path


def same(shown, printed, where):
    if shown.strip():
        assert doctest.OutputChecker().check_output(shown, printed, LOOSE), (
            f"{where} prints:\n{printed}"
        )


@pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")
@pytest.mark.parametrize("page", list(page_params()))
def test_page(page, desk, capsys, request):
    engines = request.config.getoption("--engines").split(",")
    namespace = {"__name__": "__page__"}
    printed = ""
    text = page.read_text(encoding="utf-8")
    for block in blocks(text):
        where = f"{page.name}, line {block.line}"
        needs = block.value("needs")
        if block.mark.startswith("no-run:") or (needs and needs not in engines):
            continue
        if block.language == "python":
            capsys.readouterr()
            exec(compile("\n" * block.line + block.code, str(page), "exec"), namespace)
            printed = capsys.readouterr().out
        elif block.language in ("console", "bash"):
            for words, shown in commands(block.code):
                if words == ["example", "hospital"]:
                    # The page writes it itself, and nothing that is there would be replaced.
                    shutil.rmtree(desk / "hospital")
                capsys.readouterr()
                code = main(words)
                out, err = capsys.readouterr()
                printed = out
                assert code == int(block.value("exits") or 0), (
                    f"{where}: tacit {' '.join(words)}\n{err}"
                )
                same(shown, out + err, where)
        elif block.value("file"):
            (desk / block.value("file")).write_text(block.code, encoding="utf-8")
        elif block.mark == "output":
            same(block.code, printed, where)


def test_the_reader_of_pages_understands_the_marks():
    text = "a\n<!-- exits: 2 -->\n```console\n$ tacit check \\\n    x.yaml\nno plan\n```\n\n```python\n1 + 1\n```\n"
    first, second = blocks(text)
    assert (first.language, first.value("exits"), second.mark) == ("console", "2", "")
    assert list(commands(first.code)) == [(["check", "x.yaml"], "no plan\n")]
    assert text.splitlines()[second.line] == "1 + 1"
