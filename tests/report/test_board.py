"""The report for the board: one page to decide on, everything behind it, and nothing that must stay in the ledger."""

import dataclasses
import re
import secrets

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit import examples, kinds
from tacit.errors import SdcWarning
from tacit.kinds.base import Kind
from tacit.plan import Plan
from tacit.report import board, facts, public
from tacit.report.columns import (
    Values,
    category_bins,
    compare_columns,
    kolmogorov,
    number_bins,
    total_variation,
)
from tacit.report.document import DataTable, PageBreak, Paragraph, Section
from tacit.report.view import View, view_of

N, SEED = 1_200, 987_654_321


@pytest.fixture(scope="module")
def release():
    plan = Plan(
        steps=[
            tacit.Deidentify(),
            tacit.Datafly(k=5, max_drop=0.05),
            tacit.Swap(columns=("ward",), share=0.123),
        ],
        measures=[tacit.KAnonymity(k=5), tacit.LDiversity(l=4), tacit.Precision()],
        title="Stays",
        access="SPr",
        seed=SEED,
    )
    # Patients lie in the ward of their diagnosis, so that a swapped ward is told by it.
    with pytest.warns(SdcWarning, match="'diagnosis' in the release"):
        return plan.run(examples.hospital(N, 3))


@pytest.fixture(scope="module")
def report(release):
    return board(release)


@pytest.fixture(scope="module")
def text(report):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", report.to_html()))


def tables(document, caption):
    return [b for b in document.walk() if isinstance(b, DataTable) and caption in b.caption]


def rows_of(table):
    return [[str(words) for _, words in table.words(row)] for row in table.rows]


def test_the_first_page_says_what_to_whom_promise_loss_and_open(report, text):
    kinds = [type(b).__name__ for b in report.blocks]
    assert kinds[:4] == ["Callout", "Tiles", "Section", "PageBreak"]
    brief = next(report.sections())
    terms = [term for term, _ in brief.blocks[0].items]
    assert terms == [
        "What is released",
        "To whom",
        "With which promise",
        "What was lost",
        "What is open",
    ]
    assert "semi-private" in text
    assert "5-anonymity" in text
    assert report.confidential


def test_it_never_holds_the_seed_a_record_or_an_identity(release, report):
    page = report.to_html()
    assert str(SEED) not in page
    original = release.original.to_arrow().to_pydict()
    for column in ("patient_id", "name"):
        assert not any(value in page for value in original[column])


def test_every_parameter_is_told_and_defaults_are_marked(report):
    steps = rows_of(tables(report, "Steps")[0])
    told = {row[0]: row for row in steps}
    assert told["k"][1:3] == ["5", "plan"]
    assert told["share"][1] == "0.123"
    marked = [row for row in steps if "default" in row[2]]
    names = {name for kind in (tacit.Deidentify, tacit.Datafly) for name in kind.model_fields}
    assert names - {"kind"} <= set(told)
    assert len(marked) > 5


def test_secret_parameters_are_for_the_board_alone(release, report):
    assert "0.123" in report.to_html()
    assert "0.123" not in public(release).to_html()


def test_keys_stay_in_the_ledger():
    key = secrets.token_hex(36)
    plan = Plan([tacit.Pseudonymise(key=key)], [tacit.KAnonymity()], seed=1)
    release = plan.run(examples.hospital(200, 3))
    page = board(release).to_html()
    assert key not in page
    assert "kept in the ledger" in page


def test_suppressed_and_recoded_are_counted(release, report):
    rows = {row[0]: row for row in rows_of(tables(report, "Suppressed and recoded values")[0])}
    assert rows["name"][1] == "left out"
    before, after = (d.to_arrow() for d in (release.original, release.data))
    for column in ("zip", "diagnosis", "occupation"):
        assert rows[column][2] == f"{before.column(column).null_count:,}"
        assert rows[column][3] == f"{after.column(column).null_count:,}"
    known = {v for v in after.column("zip").to_pylist() if v is not None}
    assert rows["zip"][6] == f"{len(known):,}"


def test_riskiest_combinations_are_those_of_plain_counting(release):
    found = facts.riskiest_combinations(release, 100)
    frame = release.original.to_pandas()
    for combination in found:
        assert len(combination.columns) <= 3
        sizes = frame.groupby(list(combination.columns), dropna=False).size()
        assert combination.unique[0] == int((sizes == 1).sum())
        assert combination.below[0] == int(sizes[sizes < 5].sum())
    order = [(-c.unique[1], -c.below[1], -c.unique[0]) for c in found]
    assert order == sorted(order)


def test_columns_are_compared_by_plain_numbers(release):
    found = {c.name: c for c in compare_columns(release.original, release.data)}
    cost = release.original.to_pandas()["cost"].dropna()
    mean, sd = found["cost"].before.moments()
    assert mean == pytest.approx(cost.mean())
    assert sd == pytest.approx(cost.std())
    assert found["cost"].before.missing == release.original.to_pandas()["cost"].isna().sum()
    assert found["name"].fate == "left out"


def test_distances():
    a = Values(pa.array([1.0, 2.0, 3.0]), np.array([1.0, 1, 2]), 1)
    b = Values(pa.array([2.0, 4.0]), np.array([3.0, 1]), 0)
    assert kolmogorov(a, b) == pytest.approx(0.25)
    assert total_variation(a, b) == pytest.approx(0.75)
    assert kolmogorov(a, a) == total_variation(a, a) == 0
    assert total_variation(a, Values(pa.array([], pa.float64()), np.array([]), 3)) is None
    assert a.missing_share == pytest.approx(0.2)


def test_bins_add_up_and_name_nothing_rare():
    n = np.array([50.0, 30, 3, 1])
    a = Values(pa.array(["common", "usual", "rare", "unique"]), n, 0)
    bins = category_bins(a, a)
    assert [b[0] for b in bins] == ["common", "usual", "all others"]
    assert sum(b[1] for b in bins) == pytest.approx(1)
    x = np.concatenate([np.arange(100.0), [987_654.0]])
    numbers = Values(pa.array(x), np.ones(len(x)), 0)
    drawn = number_bins(numbers, numbers)
    assert sum(b[1] for b in drawn) == pytest.approx(1)
    assert not any("987" in b[0] for b in drawn)


def test_lost_links_are_said_and_not_counted(release):
    action = dataclasses.replace(release.data.history[-1], details={"links_lost": True})
    data = dataclasses.replace(release.data, history=(*release.data.history[:-1], action))
    made = board(dataclasses.replace(release, data=data))
    table = tables(made, "Suppressed and recoded values")[0]
    assert "cut the link" in table.note
    assert {row[4] for row in rows_of(table)} == {"-"}


# -- thresholds ----------------------------------------------------------------------------------------


def test_a_measure_that_misses_its_threshold_is_said_at_the_top(fig28):
    plan = Plan(
        [tacit.Deidentify(), tacit.Datafly(k=2, max_drop=1)],
        [tacit.KAnonymity(), tacit.LDiversity(l=9, column="Problem")],
    )
    release = plan.run(fig28)
    for made in (public(release), board(release)):
        head = made.blocks[0]
        assert head.mood == "attention"
        assert head.title == "Both claims hold, but a measure misses its threshold"
        assert any("fall short of what was asked for (9)" in str(s) for s in head.sentences)


def test_figures_of_the_original_are_for_the_board_alone(fig28):
    plan = Plan([tacit.Deidentify(), tacit.Datafly(k=2, max_drop=1)], [tacit.KAnonymity(), tacit.Precision()])  # fmt: skip
    release = plan.run(fig28)
    titles = [{s.title for s in made(release).sections()} for made in (public, board)]
    assert {"Risk", "Measured and withheld"} <= titles[0]
    assert {"Risk before and after", "Utility"} <= titles[1]


# -- tables --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table_release():
    values = [[20, 50, 10, 5], [8, 19, 22, 31], [17, 32, 12, 9]]
    table = tacit.Table.from_array(np.array(values, dtype=float), totals=False).with_protection(
        [(0, 3), (1, 0)], 4
    )
    return Plan([tacit.SuppressGauss()], seed=SEED).run(table)


def test_a_table_goes_through_the_same_functions(table_release):
    for made, word in (
        (public(table_release), "Protection report"),
        (board(table_release), "Report for the board"),
    ):
        page = made.to_html()
        assert made.subtitle == word
        assert "Intervals wide enough" in page
        assert str(SEED) not in page
    assert any(isinstance(b, PageBreak) for b in board(table_release).blocks)


def test_only_the_board_tells_unsafe_from_secondary_cells(table_release):
    shown = board(table_release)
    status = rows_of(tables(shown, "Cells by status")[0])
    assert any("secondary" in row[0] for row in status)
    page = public(table_release).to_html()
    assert "secondary" not in page
    assert "unsafe cells</th>" not in page


def test_the_table_as_published_hides_what_is_hidden(table_release):
    published = next(
        b
        for b in public(table_release).walk()
        if isinstance(b, DataTable) and "as published" in b.caption
    )
    hidden = table_release.data.hidden.reshape(table_release.data.shape)
    for i, row in enumerate(published.rows):
        for j, cell in enumerate(row.cells[1:]):
            assert (getattr(cell, "text", cell) == "x") == bool(hidden[i, j])


# -- a kind of its own ---------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Corpus:
    """A kind of data that the reports know nothing of."""

    texts: tuple[str, ...]
    history: tuple = ()
    kind = "corpus"

    def __len__(self):
        return len(self.texts)


class CorpusKind(Kind):
    name, noun, formats = "corpus", "texts", ("txt",)

    def report_blocks(self, release, audience):
        return [Section("The texts", (Paragraph(f"{len(release.data)} for the {audience}"),))]


def test_a_third_kind_gets_a_full_report(release, monkeypatch):
    monkeypatch.setitem(kinds._kinds, "corpus", CorpusKind())
    history = tuple(dataclasses.replace(a, claims=()) for a in release.history)
    data = Corpus(("a", "b"), history)
    other = dataclasses.replace(release, source=data, original=data, data=data)
    assert type(view_of(other)) is View
    shown, inside = public(other), board(other)
    assert [s.title for s in shown.sections()] == [
        "What was done",
        "The texts",
        "Measured and withheld",
        "Assumptions and limits",
        "How to verify",
    ]
    assert "2 for the public" in shown.to_html()
    assert "1,200 texts in, 2 out" in inside.to_html()
    assert "2 for the board" in inside.to_html()
    assert {"In brief", "Parameters", "How it was made"} <= {s.title for s in inside.sections()}
