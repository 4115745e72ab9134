"""The report: self-contained, labelled, true to the release, and silent on what must not be told."""

import dataclasses
import re
from html.parser import HTMLParser

import pytest

import tacit
from tacit import examples
from tacit.claims import Claim
from tacit.plan import Plan
from tacit.plot.chart import Chart
from tacit.plot.svg import inline
from tacit.report import facts, public, record_words

N, SEED = 1_500, 987_654_321
VOID = {"meta", "br", "link", "img", "hr", "input"}


def html_of(release):
    return public(release).to_html()


class Page(HTMLParser):
    """Keeps what the tests ask about, and fails on tags that are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.headings, self.ids, self.words = [], [], [], [], []
        self.feed(text)
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if "id" in dict(attrs):
            self.ids.append(dict(attrs)["id"])
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> without a start"
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def named(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def plan(**changes):
    base = Plan(
        steps=[tacit.Deidentify(), tacit.Datafly(k=5, max_drop=0.05)],
        measures=[tacit.KAnonymity(k=5), tacit.LDiversity(l=2), tacit.Precision()],
        title="Stays & <stories>",
        access="SPr",
        seed=SEED,
    )
    return base.with_(**changes)


@pytest.fixture(scope="module")
def release():
    return plan().run(examples.hospital(N, 3))


@pytest.fixture(scope="module")
def text(release):
    return html_of(release)


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_nothing_outside_is_referred_to(text, page):
    for _, attributes in page.tags:
        for name, value in attributes.items():
            if name in {"src", "href", "xlink:href", "action", "data", "srcset"}:
                assert value.startswith("#"), value
    assert not re.search(r"url\((?!#)|@import|//[a-z]", text)
    assert not page.named("script") + page.named("link") + page.named("img") + page.named("iframe")


def test_links_and_clip_paths_have_targets(text, page):
    assert len(page.ids) == len(set(page.ids))
    wanted = {a["href"][1:] for a in page.named("a")} | set(re.findall(r"url\(#([^)]+)\)", text))
    assert wanted <= set(page.ids)


def test_claims_stand_in_words(page, release):
    assert "Both claims hold" in page.text
    assert "5-anonymity" in page.text
    assert "Every combination of sex, birth, zip and ethnicity" in page.text
    assert "explicit identifiers, patient_id and name, are not in the file" in page.text
    assert all(claim.holds(release.data.frame) for claim in release.claims)


def test_columns_are_told_as_the_release_shows_them(release, fig28):
    def told(made):
        cell = r"<td[^>]*>([^<]*)</td>"
        rows = re.findall(rf"<tr><th[^>]*>(\w+)</th>{cell}{cell}</tr>", html_of(made))
        return {name: values for name, _, values in rows}

    became = told(release)
    levels = release.history[-1].details["levels"]
    assert became["patient_id"] == "left out"
    assert became["ward"] == "as collected"
    for column, level in levels.items():
        assert became[column].startswith(f"raised to level {level}" if level else "as collected")
    shown = {v for v in release.data.to_arrow().column("zip").to_pylist() if v}
    stars = {len(v) - len(v.rstrip("*")) for v in shown}
    if levels["zip"] and stars < {1, 2, 3, 4}:
        assert became["zip"].endswith(f"first {5 - stars.pop()} of 5 characters")
    # Single values may have been taken out beside the level.
    step = tacit.MuArgus(k=2, ratings={"Birth": 3, "Sex": 1, "ZIP": 2}, recode={"Birth": 2})
    some = told(Plan([tacit.Deidentify(), step], [tacit.KAnonymity()]).run(fig28))
    assert {some[c] for c in ("Birth", "Sex", "ZIP")} == {"protected"}


def test_broken_claim_is_shouted(release):
    claim = Claim("k-anonymity", {"k": N}, "keys", ("sex",))
    action = dataclasses.replace(release.data.history[-1], claims=(claim,))
    data = dataclasses.replace(release.data, history=(*release.data.history[:-1], action))
    page = Page(html_of(dataclasses.replace(release, data=data)))
    assert "do not release" in page.text
    assert page.named("section")[0]["class"] == "verdict bad"
    assert "does not hold" in page.text


def test_removing_names_is_not_called_anonymity(fig28):
    text = html_of(Plan([tacit.Deidentify()], [tacit.KAnonymity()]).run(fig28))
    assert 'class="verdict attention"' in text
    assert "no anonymity is claimed" in text
    assert "100% of the released records are unique" in text


def test_unique_records_temper_a_claim(fig28):
    step = tacit.MuArgus(k=2, ratings={"Birth": 3, "Sex": 1, "ZIP": 2}, recode={"Birth": 2})
    released = Plan([tacit.Deidentify(), step], [tacit.KAnonymity()]).run(fig28)
    text = html_of(released)
    assert facts.class_sizes(released)[0].after.unique_share > 0
    assert "but unique records remain" in text
    assert "Birth 2" in Page(text).text


def test_no_claim_is_said(fig28):
    released = Plan([tacit.Deidentify(how="drop")], [tacit.KAnonymity()]).run(fig28)
    history = [dataclasses.replace(a, claims=()) for a in released.data.history]
    bare = dataclasses.replace(
        released, data=dataclasses.replace(released.data, history=tuple(history))
    )
    assert "No protection is claimed" in Page(html_of(bare)).text


def test_no_seed_no_identity_no_record(text, release):
    assert str(SEED) not in text
    original = release.original.to_arrow().to_pydict()
    for column in ("patient_id", "name", "birth", "admission"):
        assert not any(value in text for value in original[column])
    codes = set(original["zip"])
    assert not codes & set(re.findall(r"\b\d{5}\b", text))


def test_headings_go_down_one_at_a_time(page):
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert all(b <= a + 1 for a, b in zip(page.headings, page.headings[1:], strict=False))


def test_tables_have_captions_and_scopes(text, page):
    assert len(page.named("table")) == len(page.named("caption")) > 3
    assert all(a.get("scope") in ("row", "col") for a in page.named("th"))


def test_charts_are_labelled(text, page):
    charts = [a for a in page.named("svg") if a.get("role") == "img"]
    assert len(charts) == len(page.named("svg")) >= 4
    assert all(len(a["aria-label"]) > 20 for a in charts)
    assert text.count("<title>") == len(charts) + 1


def test_title_is_escaped(text):
    assert "Stays &amp; &lt;stories&gt;" in text
    assert "<stories>" not in text


def test_numbers_agree_with_the_release(page, release):
    assert f"{len(release.data):,} records are released" in page.text
    levels = release.data.history[-1].details["levels"]
    for column, level in levels.items():
        assert f"{column} {level}" in page.text
    part = facts.class_sizes(release)[0]
    assert part.after.records == len(release.data)
    assert part.after.smallest >= 5
    assert part.before.below(2) == tacit.KAnonymity().measure(release.original).uniques


def test_access_class_and_version(page):
    assert f"tacit {tacit.__version__}" in page.text
    assert "SPr" in page.text


def test_sql_check_gives_the_same_answer(release, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    check = record_words.sql_check(release)[0]
    released = release.data.to_arrow()  # noqa: F841 - DuckDB finds it by name
    smallest = duckdb.sql(check["query"].replace("'data.csv'", "released")).fetchall()[0][0]
    assert smallest == facts.class_sizes(release)[0].after.smallest >= int(check["at_least"])


def test_engines_tell_the_same(engine):
    data = examples.hospital(300, 4, engine)
    released = plan().run(data)
    part = facts.class_sizes(released)[0]
    assert part.before.records == 300
    found = facts.changes(released)
    assert found.dropped == 300 - len(released.data)
    assert found.removed == ["patient_id", "name"]
    assert found.cells["sex"] in (0, len(released.data))


def test_levels_of_single_values_are_averaged(fig28):
    released = Plan(
        [tacit.Deidentify(), tacit.KSimilar(k=2, method="greedy")], [tacit.KAnonymity()]
    ).run(fig28)
    rows = {
        column: (level, height, meaning)
        for column, level, height, meaning in facts.levels(released)
    }
    assert rows["ZIP"][1] == 3
    assert 0 < rows["ZIP"][0] < 3
    assert rows["ZIP"][2] == "on average"


def test_several_quasi_identifiers_are_told_apart():
    keys = {"register": ["sex", "birth"], "home": ["zip", "ethnicity"]}
    data = tacit.read(
        examples.hospital(500, 2),
        identifiers=examples.IDENTIFIERS,
        keys=keys,
        hierarchies=examples.hospital_hierarchies(),
    )
    text = Page(html_of(plan(measures=[tacit.KAnonymity(k=5)]).run(data))).text
    assert "5-anonymity on register" in text
    assert "5-anonymity on home" in text
    assert "Class sizes on home" in text


def test_what_was_before_is_not_told(page, release):
    part = facts.class_sizes(release)[0]
    assert "before" not in page.text.split("How to verify")[0].replace("before protection", "")
    assert f"{part.before.records:,}" not in page.text
    assert "How many were dropped" in page.text
    assert "Precision" in page.text.split("Measured and withheld")[-1]


def test_parameters_of_secret_steps_are_withheld(release, monkeypatch):
    monkeypatch.setattr(tacit.Datafly, "secret_fields", classmethod(lambda cls: frozenset({"k"})))
    # A release of its own: what a report has worked out is kept with the release.
    page = Page(html_of(dataclasses.replace(release)))
    assert "Parameters that would help an intruder are withheld" in page.text


def test_no_records_left(fig28):
    import narwhals.stable.v2 as nw

    released = Plan([tacit.Deidentify(), tacit.Datafly(k=2, max_drop=1)], [tacit.KAnonymity()]).run(
        fig28
    )
    empty = released.data.filter(nw.col("Sex") == "nobody")
    text = Page(html_of(dataclasses.replace(released, data=empty))).text
    assert "0 records are released" in text


def test_charts_of_nought_are_left_out():
    from tacit.plot.families import bars
    from tacit.report.view import is_blank

    assert is_blank(bars([("a", 0.0), ("b", 0.0)], title="t", y=""))
    assert not is_blank(bars([("a", 0.0), ("b", 0.1)], title="t", y=""))
    assert not is_blank(Chart({"mark": "bar"}, "no data"))


def test_two_charts_do_not_share_identifiers():
    spec = {
        "data": {"values": [{"a": 1}]},
        "mark": {"type": "bar", "clip": True},
        "encoding": {"x": {"field": "a", "type": "quantitative"}},
    }
    one, two = (inline(Chart(spec, "A & B <c>"), p) for p in ("a-", "b-"))
    ids = [set(re.findall(r'id="([^"]+)"', svg)) for svg in (one, two)]
    assert ids[0]
    assert not ids[0] & ids[1]
    assert 'aria-label="A &amp; B &lt;c&gt;"' in one


def test_written_beside_the_data(release, tmp_path):
    folder = release.write(tmp_path / "release")
    assert "Both claims hold" in (folder / "report.html").read_text(encoding="utf-8")
