"""The built site: strict, whole without a network, with drawn formulas and a search that works from disk."""

import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built once; a warning of the build is an error."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("docs") / "site"
    build(load_config(str(ROOT / "mkdocs.yml"), strict=True, site_dir=str(folder)))
    return folder


def load_hook():
    spec = importlib.util.spec_from_file_location("site_hook", ROOT / "scripts" / "site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def text_of(page):
    """What a reader of a page sees outside code."""
    content = page.read_text(encoding="utf-8")
    return re.sub(r"<(script|code|pre)\b.*?</\1>", "", content, flags=re.DOTALL)


def test_nothing_is_loaded_from_outside(site):
    outside = re.compile(r'<(?:script|img|link rel="stylesheet")[^>]* (?:src|href)="(?:https?:)?//')
    for page in site.rglob("*.html"):
        assert not outside.search(page.read_text(encoding="utf-8")), page.name


def test_formulas_are_drawn(site):
    drawn = 0
    for page in site.rglob("*.html"):
        text = text_of(page)
        drawn += text.count("<math")
        assert not re.search(r"\\[a-zA-Z(\[]|\$\$|\$[a-zA-Z\\]|formula\d+end", text), page.name
    assert drawn >= 60


def test_a_formula_by_hand():
    found = load_hook().mathml(r"x_1 \ge \tfrac{p}{100}", display=False)
    assert found.startswith("<math")
    assert "<msub><mi>x</mi><mn>1</mn></msub>" in found
    assert re.search(r"<mfrac>.*<mi>p</mi>.*<mn>100</mn>.*</mfrac>", found)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="cannot be drawn"):
        load_hook().mathml(r"\nosuchcommand{x}", display=False)


def test_a_dollar_in_code_is_a_dollar():
    hook = load_hook()
    text = "`$HOME` and `$x$`\n\n```console\n$ tacit run\n$ tacit verify\n```\n"
    assert hook.on_page_markdown(text) == text
    assert "$" not in hook.on_page_markdown("with $k$ and\n\n$$x^2$$\n")


def test_every_page_is_in_the_index(site):
    text = (site / "search_index.js").read_text(encoding="utf-8")
    sections = json.loads(text.removeprefix("window.tacitSections = ").removesuffix(";\n"))
    pages = {url.split("#")[0] for url, *_ in sections}
    written = {p.relative_to(site).as_posix() for p in site.rglob("*.html")} - {"404.html"}
    assert pages == written
    for url, title, heading, words in sections:
        assert title
        assert heading
        assert "<" not in heading
        assert (site / url.split("#")[0]).exists()
        assert isinstance(words, str)


@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium")
def test_the_search_works_from_disk(site, tmp_path):
    page = look_at(f"{(site / 'guides' / 'plans.html').as_uri()}?q=datafly", tmp_path)
    results = re.search(r'class="search-results"[^>]*>(.*?)</form>', page, re.DOTALL)[1]
    assert re.search(r"\d+ sections", results)
    first = re.search(r'<a href="([^"]+)">([^<]+)</a>', results)
    assert first[1] == f"{(site / 'methods' / 'datafly.html').as_uri()}#datafly"
    assert "<mark>" in results
    nothing = look_at(f"{(site / 'index.html').as_uri()}?q=zzyzx", tmp_path)
    assert "Nothing found" in nothing


def look_at(address, tmp_path):
    """The page as it stands once its scripts have run."""
    options = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=10000", "--dump-dom",
    ]  # fmt: skip
    done = subprocess.run(
        [CHROMIUM, *options, address], capture_output=True, text=True, timeout=240, check=True
    )
    return done.stdout
