"""Public files do not tell apart twin files, which differ only in what protection took out."""

import contextlib
import hashlib
import io
import re
import zipfile
from unittest import mock

import numpy as np
import pytest
from tests.common.cases import build, method_kinds, people, texts
from tests.report.twins import (
    differences,
    same_draws,
    some_people,
    usable_measures,
    with_cells,
    without_row,
    written,
)

import tacit
from tacit.report import board

PEOPLE = some_people()
BARE = tacit.Deidentify()
DATAFLY = (BARE, tacit.Datafly(k=3, max_drop=3))
TOP = (BARE, tacit.TopBottomCode(column="income", top=200.0))
#: What the fast suite measures; the slow one takes every measure that can be taken.
OF_INCOME = (
    tacit.InformationLoss(columns=["income"]),
    tacit.DesignEffect(columns=["income"]),
    build("estimate_precision"),
)
SOME = (build("k_anonymity"), build("precision"), build("margin_change"))

#: Steps, and the twin of the common people that they make the same data of.
TWINS = {
    "another income and disease of a dropped record": (
        DATAFLY,
        with_cells(PEOPLE, -1, income=123.4, disease="gout"),
    ),
    "a category that only a dropped record had": (DATAFLY, with_cells(PEOPLE, -1, job="rare")),
    "other keys of a dropped record": (DATAFLY, with_cells(PEOPLE, -1, age=31, zip="99999")),
    "no dropped record at all": (DATAFLY, without_row(PEOPLE, -1)),
    "another value above the limit": (TOP, with_cells(PEOPLE, -1, income=123_457.0)),
    "a value at the limit": (TOP, with_cells(PEOPLE, -1, income=200.0)),
    "other values of a removed column": (
        (BARE, tacit.RemoveColumns(columns=["job"])),
        {**PEOPLE, "job": PEOPLE["job"][::-1]},
    ),
    "another suppressed value": (
        (BARE, tacit.LocalSuppression(k=2)),
        with_cells(PEOPLE, -1, zip="99502"),
    ),
    "another value in the same group": (
        (BARE, tacit.Recode(column="income", breaks=[30.0, 100.0])),
        with_cells(PEOPLE, -1, income=444.4),
    ),
    "other identifiers": ((BARE,), {**PEOPLE, "id": [f"q{i}" for i in range(61)]}),
}


@pytest.mark.parametrize("name", TWINS)
def test_public_files_of_twins_are_the_same(name, tmp_path):
    steps, twin = TWINS[name]
    measures = SOME if name == "another value in the same group" else (*SOME, *OF_INCOME)
    plan = tacit.Plan(list(steps), list(measures))
    assert differences(plan, people(PEOPLE), people(twin), tmp_path) == []


@pytest.mark.parametrize("how", ["told by another column", "hardly changed"])
def test_what_the_data_holder_is_warned_of_is_not_public(how, tmp_path):
    rng = np.random.default_rng(4)
    places, noise = rng.integers(0, 40, 400), rng.normal(size=400)
    zips, apart = [f"z{p:02}" for p in places], rng.normal(size=400) * 50
    if how == "hardly changed":
        # The same released numbers, of originals that lie near them or far away.
        step = tacit.AddNoise(columns=["x"], sd=1e-6)
        one, other = ({"x": noise - draw} for draw in (noise / 1e7, apart))
        step_result = mock.patch.object(
            tacit.AddNoise, "_apply", return_value=tacit.read({"x": noise})
        )
    else:
        step = tacit.RemoveColumns(columns=["region"])
        one = {"zip": zips, "region": [f"r{p // 8}" for p in places]}
        other = {"zip": zips, "region": [f"r{p}" for p in rng.integers(0, 5, 400)]}
        step_result = contextlib.nullcontext()
    plan = tacit.Plan([step], output={"tells": ["region"]})
    shown, warned = [], []
    with step_result:
        for name, columns in (("one", one), ("other", other)):
            shown.append(written(plan, tacit.read(columns), tmp_path / name))
            with same_draws():
                warned.append(bool(plan.run(tacit.read(columns)).inward))
    assert warned == [True, False]
    names = set(shown[0]) - {"manifest.json", "data.csv"}
    assert [n for n in names if shown[0][n] != shown[1][n]] == []


def test_the_judge_sees_what_is_told():
    # The board's report holds exact figures: twins must differ there, or the judge looks at nothing.
    plan = tacit.Plan(list(TOP), [build("information_loss")])
    told = []
    for columns in (PEOPLE, with_cells(PEOPLE, -1, income=123_457.0)):
        with same_draws():
            told.append(board(plan.run(people(columns))).to_html().split("fingerprint")[0])
    assert told[0] != told[1]


def test_written_reports_in_other_formats_tell_no_more(tmp_path):
    steps, twin = TWINS["another value above the limit"]
    plan = tacit.Plan(list(steps), [build("information_loss")], output={"reports": ["pdf", "docx"]})
    shown = []
    for name, columns in (("one", PEOPLE), ("other", twin)):
        files = written(plan, people(columns), tmp_path / name)
        shown.append((text_of_pdf(files["report.pdf"]), parts_of_word(files["report.docx"])))
    assert shown[0] == shown[1]


@pytest.mark.parametrize("form", ["tsv", "parquet", "xlsx", "sav", "dta", "asc", "saf"])
@pytest.mark.parametrize(
    "name", ["a category that only a dropped record had", "another value above the limit"]
)
def test_data_files_of_twins_are_the_same_in_every_format(form, name, tmp_path):
    """Lists of categories, widths, ranges and descriptions follow from the released values."""
    steps, twin = TWINS[name]
    plan = tacit.Plan(list(steps), [build("k_anonymity")], output={"format": form})
    one, other = (
        {n: without_time(n, c) for n, c in written(plan, people(columns), tmp_path / n).items()}
        for n, columns in (("one", PEOPLE), ("other", twin))
    )
    assert any(n.startswith("data") for n in one)
    for files in (one, other):
        del files["manifest.json"]
    assert one == other


def without_time(name, content):
    """A data file without what only tells when it was written."""
    if name.endswith(".xlsx"):
        return parts_of_word(content)
    if name.endswith(".sav"):
        # The header ends with a date and a time, a label and filler.
        return content[:92] + content[109:]
    return re.sub(rb"<timestamp>.*?</timestamp>", b"", content)


def text_of_pdf(content):
    """The file without what only tells when it was written."""
    return re.sub(rb"\d{4}-\d\d-\d\dT[\d:+Z.-]+|D:\d{14}[^)]*|/ID ?\[[^]]*\]|<xmpMM:.*?>[^<]*<|startxref\s+\d+", b"", content)  # fmt: skip


def parts_of_word(content):
    """The parts of a Word file, without when it was written."""
    with zipfile.ZipFile(io.BytesIO(content)) as word:
        parts = {name: word.read(name) for name in word.namelist()}
    return {n: re.sub(rb"\d{4}-\d\d-\d\dT[\d:]+Z", b"", part) for n, part in parts.items()}


def test_no_public_file_holds_a_fingerprint_of_the_original(tmp_path):
    # A digest without a secret can be tried against guesses of the original.
    source = tmp_path / "people.csv"
    source.write_text("age,zip,income\n" + "".join(f"{30 + i % 3},0213{i % 2},{i}\n" for i in range(60)))  # fmt: skip
    data = tacit.read(source, keys=["age", "zip"])
    release = tacit.Plan([tacit.RemoveColumns(columns=["income"])]).run(data)
    folder = release.write(tmp_path / "out")
    secret = {
        release.ledger.source_fingerprint,
        *(e.output for e in release.ledger.entries),
        hashlib.sha256(source.read_bytes()).hexdigest(),
        *(hashlib.sha256(f.read_bytes()).hexdigest() for f in (tmp_path / "out-confidential").rglob("*") if f.is_file()),
    }  # fmt: skip
    told = b"".join(f.read_bytes() for f in folder.rglob("*") if f.is_file()).decode("latin-1")
    assert not [s for s in secret if s[:16] in told]


# -- tables and texts ----------------------------------------------------------------------------------


def hidden_table(shift):
    """A table whose hidden cells are shifted round a rectangle, so that all that is published stays."""
    values = np.array(
        [[20, 50, 10, 5], [8, 19, 22, 31], [17, 32, 12, 9], [45, 101, 44, 45]], dtype=float
    )
    values[0, 0] += shift
    values[0, 3] -= shift
    values[1, 0] -= shift
    values[1, 3] += shift
    return tacit.Table.from_array(values[:3], totals=False).with_protection(
        [(0, 0), (0, 3), (1, 0), (1, 3)], 2
    )


def test_twin_tables_with_hidden_cells(tmp_path):
    plan = tacit.Plan([tacit.SuppressGauss()], [tacit.Audit(), tacit.CellLoss()])
    assert differences(plan, hidden_table(0), hidden_table(1), tmp_path) == []


def counts(*cells):
    values = np.array(cells).reshape(2, 3)
    return tacit.Table.from_array(values, count=values, totals=False, frequency=True)


def test_twin_tables_with_rounded_cells(tmp_path):
    # 0 and 1 are both published as 0; a mark for what was empty before would tell them apart.
    plan = tacit.Plan([tacit.MinimumFrequency(n=3), tacit.HalfRounding(base=5)], [tacit.CellLoss()])
    one, other = counts(0, 7, 11, 12, 6, 9), counts(1, 7, 11, 12, 6, 9)
    assert differences(plan, one, other, tmp_path) == []


def test_twin_texts(tmp_path):
    letter = "Dear colleague,\n\nI saw Mrs {} on February 2, 1994 for diabetes mellitus.\n"
    plan = tacit.Plan([tacit.Scrub(mode="tag")])
    one, other = (texts({"a": letter.format(n)}) for n in ("Virginia Townsend", "Xyqua Zzorbel"))
    assert differences(plan, one, other, tmp_path) == []


# -- every method and every measure --------------------------------------------------------------------


def mutants(rng, columns, n):
    """Sources that differ from one in a few hidden-looking places: the odd record, or any cell."""
    for _ in range(n):
        row = -1 if rng.random() < 0.6 else int(rng.integers(len(columns["id"])))
        column = str(rng.choice([c for c in columns if c != "id"]))
        values = columns[column]
        new = values[int(rng.integers(len(values)))]
        if column == "income" and rng.random() < 0.5:
            new = round(float(rng.lognormal(6, 2)), 1)
        yield (
            without_row(columns, row)
            if rng.random() < 0.2
            else with_cells(columns, row, **{column: new})
        )


def search_twins(kind, tmp_path, tries, measures=None):
    """Compare the public files of all twins that are found for a method; return how many there were."""
    rng = np.random.default_rng(len(kind))
    steps = (BARE,) if kind == "deidentify" else (BARE, build(kind))
    found = 0
    for i, twin in enumerate(mutants(rng, PEOPLE, tries)):
        plan = tacit.Plan(list(steps))
        if differences(plan, people(PEOPLE), people(twin), tmp_path / f"bare{i}") is None:
            continue
        found += 1
        taken = usable_measures(steps, PEOPLE, twin) if measures is None else measures
        told = differences(plan.with_(measures=tuple(taken)), people(PEOPLE), people(twin), tmp_path / f"{i}")  # fmt: skip
        assert told in ([], None), (kind, i)
        if measures is None:
            break
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", method_kinds())
def test_no_twin_of_any_method_is_told_apart(kind, tmp_path):
    search_twins(kind, tmp_path, 8, [build(k) for k in ("k_anonymity", "precision")])


@pytest.mark.slow
@pytest.mark.parametrize("name", TWINS)
def test_no_measure_tells_twins_apart(name, tmp_path):
    steps, twin = TWINS[name]
    plan = tacit.Plan(list(steps), usable_measures(steps, PEOPLE, twin))
    assert differences(plan, people(PEOPLE), people(twin), tmp_path) == []
