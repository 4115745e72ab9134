"""``tacit table``: build, rules, protect, audit, convert, show, batch; and the generated commands."""

import csv
import stat

import pytest

import tacit
from common.cases import FIRMS, firms
from tacit.cli.app import main

REGIONS = "N\n@N1\n@N2\nS\n@S1\n@S2\n"


@pytest.fixture
def folder(tmp_path):
    with (tmp_path / "firms.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["region", "size", "group", "turnover"])
        writer.writerows(FIRMS)
    (tmp_path / "regions.hrc").write_text(REGIONS)
    return tmp_path


def run(*arguments):
    return main([str(a) for a in arguments])


def build(folder):
    return run(
        "table", "build", folder / "firms.csv",
        "--dimension", f"region={folder / 'regions.hrc'}", "size",
        "--value", "turnover", "--holding", "group", "--out", folder / "t.table",
    )  # fmt: skip


def test_from_records_to_a_published_table(folder, capsys):
    assert build(folder) == 0
    assert stat.S_IMODE((folder / "t.table").stat().st_mode) == 0o600
    judged, safe = folder / "judged.table", folder / "safe.table"
    rules = ("--rule", "p_percent p=10", "minimum_frequency n=2")
    assert run("table", "rules", folder / "t.table", *rules, "--out", judged) == 0
    assert run("table", "audit", judged) == 1
    assert run("table", "protect", judged, "--method", "suppress_linear", "--out", safe) == 0
    assert (
        run("table", "audit", safe, "--out", folder / "audit.csv", "--plot", folder / "a.svg") == 0
    )
    assert run("table", "convert", safe, folder / "safe.csv") == 0
    assert run("table", "convert", safe, folder / "safe.jj") == 0
    assert run("table", "show", safe) == 0
    shown = capsys.readouterr().out
    assert "310" not in (folder / "safe.csv").read_text()
    assert "310" not in shown
    assert "holds: protected-intervals" in shown
    again = tacit.tables.read_jj(folder / "safe.jj")
    assert len(again) == len(tacit.Table.load(safe))
    assert (folder / "a.svg").read_text().startswith("<svg")


def test_generated_commands_work_on_tables(folder, capsys):
    firms(judged=False).save(folder / "t.table")
    out = folder / "j.table"
    assert run("apply", "minimum-frequency", folder / "t.table", "--n", "2", "--out", out) == 0
    assert run("measure", "cell-loss", out) == 0
    assert "share of cells hidden" in capsys.readouterr().out
    assert tacit.Table.load(out).primary.sum() == 1


def test_mistakes_get_one_sentence(folder, capsys):
    firms(judged=False).save(folder / "t.table")
    table = folder / "t.table"
    faults = [
        (("table", "rules", table, "--out", folder / "x.table"), "say what"),
        (("table", "rules", table, "--rule", "p_percnt", "--out", folder / "x.table"), "p_percent"),
        (("table", "rules", table, "--rule", "p_percent p", "--out", folder / "x.table"), "name=value"),
        (("table", "show", folder / "none.table"), "there is no file"),
        (("table", "show", folder / "firms.csv"), "not a table file"),
        (("table", "build", folder / "firms.csv", "--out", folder / "x.table"), "dimensions"),
        (("table", "protect", table, "--method", "datafly k=2", "--out", folder / "x.table"), "does not work on tables"),
        (("table", "convert", table, table), "exists already"),
    ]  # fmt: skip
    for arguments, words in faults:
        assert run(*arguments) in (1, 2)
        captured = capsys.readouterr()
        assert words in captured.out + captured.err
    assert not (folder / "x.table").exists()


def test_nothing_goes_out_before_it_is_judged(folder, capsys):
    firms(judged=False).save(folder / "t.table")
    assert run("table", "convert", folder / "t.table", folder / "out.csv") == 1
    assert "no rule has judged" in capsys.readouterr().err
    assert not (folder / "out.csv").exists()
    out = folder / "j.table"
    assert run("table", "rules", folder / "t.table", "--rule", "suppress_linear", "--out", out) == 2
    assert "not a rule" in capsys.readouterr().err
    assert (
        run("table", "protect", folder / "t.table", "--method", "suppress_linear", "--out", out)
        == 0
    )
    assert "no cell of this table is unsafe" in capsys.readouterr().err


def test_an_unprotected_table_is_not_published(folder, capsys):
    table = firms().with_changed(firms().value)
    table.save(folder / "t.table")
    assert run("table", "convert", folder / "t.table", folder / "out.csv") == 1
    assert "unsafe cells would be published" in capsys.readouterr().err
    assert not (folder / "out.csv").exists()


def test_records_in_another_encoding_are_tabulated(folder, monkeypatch):
    monkeypatch.chdir(folder)
    text = "område;storlek;value\n" + "".join(
        f"{a};{b};{v}\n" for a, b, v in [("Skåne", "l", 3), ("Norr", "s", 4), ("?", "s", 9)] * 5
    )
    (folder / "r.csv").write_bytes(text.encode("latin-1"))
    command = ["table", "build", "r.csv", "--dimension", "område", "storlek", "--value", "value"]
    assert main([*command, "--out", "r.table"]) == 2
    options = ["--encoding", "latin-1", "--separator", ";", "--missing-codes", "?"]
    assert main([*command, *options, "--missing", "none", "--out", "r.table"]) == 0
    table = tacit.Table.load(folder / "r.table")
    assert set(table.dimensions[0].codes) == {"Total", "Skåne", "Norr", "none"}


def test_kinds_are_understood_with_underscores(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "k.csv").write_text("a,b\n1,x\n1,y\n")
    for kind in ("k_anonymity", "k-anonymity"):
        assert main(["measure", kind, "k.csv", "--keys", "a"]) == 0
        assert "smallest class (k)" in capsys.readouterr().out
