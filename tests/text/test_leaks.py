"""Nothing that was found stands in any released byte: texts, marks, report, statement, plan, names of files, output."""

import json
import re
import unicodedata
import warnings

import pytest

import tacit
from letters import write_letters
from tacit.cli import main
from tacit.examples.letters import all_families
from tacit.report.texts import ENGLISH

KINDS = ("name", "nickname", "phone", "id", "email", "url", "hospital", "employer")
WAYS = (
    lambda text: text,
    lambda text: text.replace("\n", "\r\n"),
    lambda text: text.replace("\n", "\r"),
    lambda text: unicodedata.normalize("NFD", text),
)


def stands_in(word, text):
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


@pytest.fixture(scope="module")
def letters():
    """Letters by the name of their file, each with the words that were found in it, and nowhere else in it."""
    scrub, made = tacit.Scrub(), {}
    for i, document in enumerate(write_letters(40, seed=21)):
        text = WAYS[i % len(WAYS)](document.text)
        spans = scrub.find(text)
        rest = list(text)
        for s in spans:
            rest[s.start : s.end] = " " * (s.end - s.start)
        words = {text[s.start : s.end] for s in spans if s.kind in KINDS and s.end - s.start > 3}
        words = {w for w in words if not stands_in(w, "".join(rest))}
        person = next((text[s.start : s.end] for s in spans if s.kind == "name"), "nobody")
        made[re.sub(r"[^\w]+", " ", person) + f" {i}.txt"] = (text, words)
    return made


@pytest.mark.parametrize(
    ("form", "more"),
    [
        ("txt", []),
        ("jsonl", ["--marks", "--mode", "tag"]),
        ("html", ["--marks"]),
        ("brat", ["--marks"]),
        ("html", ["--mode", "mask", "--strict"]),
        ("jsonl", ["--dates", "shift", "--reduction"]),
    ],
)
def test_no_released_byte_tells_what_was_found(tmp_path, letters, form, more, capfd, caplog):
    source, out = tmp_path / "notes", tmp_path / "released"
    source.mkdir()
    for name, (text, _) in letters.items():
        (source / name).write_bytes(text.encode())
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        given = ["--out", str(out), "--review", "--format", form, *more]
        assert main(["scrub", str(source), *given]) == 0
        assert main(["verify", str(out)]) == 0
    told = "".join((*capfd.readouterr(), caplog.text, *(str(w.message) for w in said)))
    told = told.replace(str(tmp_path), "")
    files = [f for f in out.rglob("*") if f.is_file()]
    public = [
        (f.name, f.read_bytes().decode()) for f in files if f.stem != "data" and f.parent == out
    ]
    assert {"report.html", "statement.md", "plan.yaml", "manifest.json"} <= {n for n, _ in public}
    public += [("output", told), ("names", " ".join(f.name for f in files))]
    ledger = next((tmp_path / "released-confidential").glob("*/names.json"))
    names = json.loads(ledger.read_text(encoding="utf-8"))
    texts = dict(read_released(out, form))
    # The examples of the report are letters of the same sort, about other people.
    examples = " ".join(all_families()[f].document(i).text for f, i in ENGLISH)
    for number, name in names.items():
        _, words = letters[name]
        assert not [w for w in words if stands_in(w, texts[number])]
        for word in words:
            held = [n for n, content in public if stands_in(word, content)]
            assert not held or (held == ["report.html"] and stands_in(word, examples))


def read_released(out, form):
    from tacit.io.corpora.writing import read_written

    path = out / "texts" if form in ("brat", "txt") else out / f"data.{form}"
    if form == "brat":
        for file in path.glob("*.ann"):
            text = file.with_suffix(".txt").read_bytes().decode()
            for line in file.read_bytes().decode().splitlines():
                _, where, word = line.split("\t")
                _, start, end = where.split(" ")
                assert text[int(start) : int(end)].split() == word.split()
    return read_written(path, form)
