"""Vetting, licences and extracts with a log."""

import datetime as dt
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import tacit
from tacit.census import Application, Grant, Request, build_extract, check_log, licence, vet
from tacit.census.access import CONDITIONS
from tacit.census.extract import draft_beside, expired, log_and_place
from tacit.cli import main
from tacit.errors import ColumnNotFound, DisclosureRefused, InputError

POLICY = json.loads(
    (Path(__file__).parents[1] / "fixtures" / "psd31-ipums-international" / "access_policy.json").read_text()
)  # fmt: skip
GOOD = {
    "name": "A. Researcher",
    "institution": "University",
    "institution_verified": True,
    "ethics_committee": "Board",
    "research_statement": "Households",
    "data_requested": ["XA 2021"],
    "needs_microdata": True,
    "accepts": POLICY["restrictions"],
}
TODAY = dt.date(2026, 6, 1)


@pytest.mark.parametrize("case", POLICY["cases"], ids=lambda c: c["id"])
def test_published_decisions(case):
    changes = dict(case["changes"])
    if changes.get("accepts") == "six of seven":
        changes["accepts"] = POLICY["restrictions"][:6]
    told = vet({**GOOD, **changes}, TODAY)
    assert told.decision == case["decision"]
    assert told.expires_after_days == case.get("expires_after_days")
    assert bool(told) == (case["decision"] == "grant")
    assert told or told.reasons


@pytest.mark.parametrize("field", POLICY["required_fields"])
def test_every_required_field_is_required(field):
    blank = {k: v for k, v in GOOD.items() if k != field}
    assert not vet(blank, TODAY)


def test_conditions_are_the_published_ones():
    assert list(CONDITIONS) == POLICY["restrictions"]
    text = licence("Archive", "A", "B", ["XA 2021"], "study", "2026-06-01", "2027-06-01")
    assert all(words in text for words in CONDITIONS.values())
    assert "Liability of the institution" in text
    assert "365 days" in text


@pytest.fixture
def sample(tmp_path):
    plan = tacit.Plan([tacit.Deidentify(), tacit.SampleHouseholds(interval=5)], output={"format": "parquet"})  # fmt: skip
    return plan.run(tacit.examples.census(1_000)).write(tmp_path / "release") / "data.parquet"


@pytest.fixture
def grant():
    return Grant.of(Application(**GOOD), TODAY)


def test_extracts_are_logged_and_the_log_notices_changes(sample, grant, tmp_path):
    log = tmp_path / "access.jsonl"
    for i, rule in enumerate(("age >= 60", "sex == 'female'"), 1):
        request = Request({"XA 2021": sample}, ["age", "sex"], rule)
        entry = build_extract(request, grant, tmp_path / f"e{i}.csv", log, today=TODAY)
        assert entry["number"] == i
        assert entry["expires"] == "2027-06-01"
    back = tacit.read(tmp_path / "e1.csv")
    assert min(back.column("age").to_pylist()) >= 60
    assert set(back.columns) == {"source", "age", "sex", "household", "sample_weight", "pseudo_stratum"}  # fmt: skip
    assert len(check_log(log)) == 2
    assert log.stat().st_mode & 0o077 == 0
    assert len(expired(check_log(log), dt.date(2027, 6, 2))) == 2
    lines = log.read_text().splitlines()
    for broken in ([lines[1]], [lines[0].replace('"age"', '"sex"', 1), lines[1]], ["nonsense"]):
        log.write_text("\n".join(broken) + "\n")
        with pytest.raises(DisclosureRefused, match="was changed at entry 1"):
            check_log(log)


def test_what_an_extract_may_not_be(sample, grant, tmp_path):
    log, out = tmp_path / "log", tmp_path / "out.csv"
    names = list(tacit.read(sample).columns)
    ask = lambda variables, rule="", name="XA 2021": Request({name: sample}, variables, rule)  # noqa: E731
    for request, day, error, said in (
        (ask(names), TODAY, DisclosureRefused, "the whole file"),
        (ask(["age"]), dt.date(2027, 6, 2), DisclosureRefused, "must be renewed"),
        (ask(["age"], name="XB 2021"), TODAY, DisclosureRefused, "not for XB 2021"),
        (ask(["agee"]), TODAY, ColumnNotFound, "agee"),
        (ask([]), TODAY, InputError, "at least one"),
        (ask(["age"], "age > 500"), TODAY, DisclosureRefused, "fewer than 20 records"),
    ):
        with pytest.raises(error, match=said):
            build_extract(request, grant, out, log, today=day)
        assert not out.exists()
        assert not log.exists()
    build_extract(ask(["age"]), grant, out, log, today=TODAY)
    with pytest.raises(DisclosureRefused, match="not overwritten"):
        build_extract(ask(["age"]), grant, out, log, today=TODAY)


def test_no_extract_without_log(sample, grant, tmp_path):
    with pytest.raises(DisclosureRefused, match="log cannot be written"):
        build_extract(Request({"XA 2021": sample}, ["age"]), grant, tmp_path / "e.csv", tmp_path / "no" / "log", today=TODAY)  # fmt: skip
    assert not (tmp_path / "e.csv").exists()


def test_denied_applications_get_no_grant():
    with pytest.raises(DisclosureRefused, match="purpose is not scholarly"):
        Grant.of(Application(**{**GOOD, "purpose": "commercial"}), TODAY)


def test_the_whole_way_in_the_shell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["example", "census", "--records", "5000"]) == 0
    assert main(["census", "check", "census/profile.yaml"]) == 0
    assert main(["census", "plan", "census/profile.yaml", "census/census.parquet", "--out", "plan.yaml"]) == 0  # fmt: skip
    assert main(["check", "plan.yaml"]) == 0
    assert main(["run", "plan.yaml"]) == 0
    assert main(["verify", "release"]) == 0
    assert main(["census", "statement", "plan.yaml", "--out", "controls.md"]) == 0
    assert "0.02" not in Path("controls.md").read_text()
    assert main(["census", "vet", "census/application.yaml", "--grant", "grant.yaml"]) == 0
    assert main(["census", "licence", "grant.yaml", "--archive", "Archive", "--out", "licence.md"]) == 0  # fmt: skip
    extract = ["census", "extract", "XA 2021=release/data.parquet", "--variables", "age", "sex", "--grant", "grant.yaml", "--log", "log.jsonl", "--out", "e.csv"]  # fmt: skip
    assert main([*extract, "--where", "age > 30"]) == 0
    assert main(["census", "log", "log.jsonl"]) == 0
    assert main(["census", "diff", "census/profile.yaml", "census/profile.yaml"]) == 0
    assert "say the same" in capsys.readouterr().out
    text = Path("census/application.yaml").read_text().replace("scholarly\n", "commercial\n")
    Path("no.yaml").write_text(text)
    assert main(["census", "vet", "no.yaml"]) == 1
    assert main(["census", "plan", "census/profile.yaml", "x.parquet", "--out", "plan.yaml"]) == 1


def test_the_example_is_as_large_as_asked():
    data = tacit.examples.census(2_000, seed=3)
    assert len(data) == 2_000
    again = tacit.examples.census(2_000, seed=3)
    assert data.to_arrow() == again.to_arrow()
    tacit.SampleHouseholds(interval=20).apply(data, seed=1)


def test_extracts_belong_to_their_owner(sample, grant, tmp_path):
    build_extract(Request({"XA 2021": sample}, ["age"]), grant, tmp_path / "e.csv", tmp_path / "log", today=TODAY)  # fmt: skip
    assert (tmp_path / "e.csv").stat().st_mode & 0o777 == 0o600
    assert {f.name for f in tmp_path.iterdir()} == {
        "release",
        "release-confidential",
        "e.csv",
        "log",
        "log.lock",
    }


def test_several_writers_share_one_log(tmp_path):
    log = tmp_path / "access.jsonl"

    def make(name):
        target = tmp_path / name
        with draft_beside(target) as draft:
            draft.write_text(name)
            entry = {"file": name, "expires": "2027-06-01"}
            try:
                return log_and_place(log, entry, draft, target)["number"]
            except DisclosureRefused as error:
                return str(error)

    names = [f"e{i}.csv" for i in range(20)] + ["same.csv"] * 5
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(make, names))
    assert sorted(n for n in told if isinstance(n, int)) == list(range(1, 22))
    assert sum("not overwritten" in str(n) for n in told) == 4
    assert sorted(e["file"] for e in check_log(log)) == sorted(set(names))
    assert all((tmp_path / n).read_text() == n for n in names)
    assert {f.name for f in tmp_path.iterdir()} == {*names, "access.jsonl", "access.jsonl.lock"}


def test_extracts_are_taken_of_verified_releases_only(sample, grant, tmp_path):
    raw = tmp_path / "raw.parquet"
    census = tacit.examples.census(1_000)
    tacit.io.write(census, raw)
    log, out = tmp_path / "log", tmp_path / "out.csv"
    ask = lambda path, variables, rule="": build_extract(Request({"XA 2021": path}, variables, rule), grant, out, log, today=TODAY)  # noqa: E731  # fmt: skip
    for path, variables, rule, said in (
        (raw, ["name", "address"], "", "not in a release"),
        (raw, ["age"], "person == 1", "not in a release"),
        (sample.parent / "plan.yaml", ["age"], "", "not the data of the release"),
        (sample, ["age"], "age == 34 and sex == 'female'", "fewer than 20 records of XA 2021"),
        (sample.parent, ["age"], "age == 34 and sex == 'female'", "fewer than 20 records"),
    ):
        with pytest.raises(DisclosureRefused, match=said):
            ask(path, variables, rule)
        assert not out.exists()
    # The raw file in place of the released one does not verify.
    sample.write_bytes(raw.read_bytes())
    with pytest.raises(DisclosureRefused, match="does not verify: files are as released"):
        ask(sample, ["name"])
    assert not out.exists()
    assert not log.exists()
