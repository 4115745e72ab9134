"""The map section of plans, ``tacit map``, and the page."""

import html
import json
import re

import jsonschema
import pytest
from tacit.rumap import Point, RUMap, RUMapResult

import tacit
from tacit.cli import main
from tacit.errors import PlanError
from tacit.examples import write_hospital
from tacit.plan import schema

PLAN = """
tacit: 1
title: Which extract
source: hospital.csv
roles:
  identifiers: [patient_id, name]
  keys: [sex, zip]
hierarchies:
  sex: {kind: flat}
  zip: {kind: digits, length: 5, mask: [1, 2]}
steps: [deidentify]
map:
  candidates:
    noise: {kind: add_noise, columns: [cost], relative: [0.1, 0.2]}
    levels: {kind: generalise, level: [{zip: 1}, {zip: 2}]}
    noise and swap:
      - [{kind: add_noise, columns: [cost], sd: 5}, {kind: swap, columns: [zip], share: [0.1, 0.3]}]
      - datafly
  risk: {kind: k_anonymity, k: 20}
  utility: [precision]
  max_risk: 0.1
seed: 7
"""


@pytest.fixture
def folder(tmp_path):
    write_hospital(tmp_path, n=300)
    (tmp_path / "map.yaml").write_text(
        PLAN.replace("      - datafly\n", "      - {kind: datafly, k: 2}\n")
    )
    return tmp_path


def test_a_plan_describes_a_map(folder):
    plan = tacit.Plan.load(folder / "map.yaml")
    ru = RUMap.from_plan(plan)
    assert [c.name for c in ru.expanded] == [
        "noise relative 0.1",
        "noise relative 0.2",
        "levels zip 1",
        "levels zip 2",
        "noise and swap add noise + swap, share 0.1",
        "noise and swap add noise + swap, share 0.3",
        "noise and swap datafly",
    ]
    assert [s.kind for s in ru.expanded[0].steps] == ["deidentify", "add_noise"]
    assert tacit.Plan.from_dict(plan.to_dict(), base=plan.base) == plan
    assert "map" not in plan.to_dict(public=True)
    jsonschema.validate(plan.to_dict(), schema())
    result = ru.run()
    assert result.title == "Which extract"
    assert coordinates(result) == coordinates(ru.run())
    assert result.plan().source.path == "hospital.csv"
    assert result.plan().map is None
    assert result.reference.method == "no masking"


def coordinates(result):
    return [(p.name, p.risk, p.utility) for p in result.points]


def test_the_command_writes_the_map_and_prints_the_choice(folder, capsys):
    code = main(
        ["map", str(folder / "map.yaml"), "--out", str(folder / "out"), "--max-risk", "0.2"]
    )
    printed = capsys.readouterr().out
    assert code == 0
    assert "largest risk allowed  0.2" in printed
    assert re.search(r"on the frontier +\S", printed)
    assert re.search(r"chosen +\S", printed)
    names = {p.name for p in (folder / "out").iterdir()}
    assert names == {"map.html", "map.svg", "map.png", "map.csv", "plan.yaml"}
    assert (folder / "out/map.csv").read_text().count("\n") == 9
    assert main(["map", str(folder / "map.yaml"), "--out", str(folder / "out")]) == 1
    assert "--force" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (("relative", "relativ"), "Did you mean 'relative'?"),
        (("  risk: {kind: k_anonymity, k: 20}\n", ""), "risk is missing"),
        (("kind: k_anonymity, k: 20", "kind: datafly, k: 2"), "datafly is not a risk measure"),
        (("max_risk: 0.1", "max_risc: 0.1"), "Did you mean 'max_risk'?"),
        (("max_risk: 0.1", "max_risk: low"), "max_risk must be a number"),
        (("max_risk: 0.1", "replicates: 0"), "replicates must be at least 1"),
        (("kind: add_noise, columns: [cost], relative: [0.1, 0.2]", "columns: [cost]"), "no kind"),
    ],
)
def test_faults_of_the_section_are_told(folder, change, fault):
    (folder / "bad.yaml").write_text((folder / "map.yaml").read_text().replace(*change))
    with pytest.raises(PlanError, match=re.escape(fault)) as caught:
        tacit.Plan.load(folder / "bad.yaml")
    assert "map: " in str(caught.value)


def test_a_plan_with_a_map_alone_can_be_mapped_but_not_run(folder):
    text = (folder / "map.yaml").read_text().replace("steps: [deidentify]\n", "")
    (folder / "alone.yaml").write_text(text)
    plan = tacit.Plan.load(folder / "alone.yaml")
    assert len(RUMap.from_plan(plan).expanded) == 7
    assert main(["check", str(folder / "alone.yaml")]) == 0
    (folder / "wrong.yaml").write_text(text.replace("columns: [cost]", "columns: [costs]"))
    assert tacit.Plan.load(folder / "wrong.yaml").faults()[0].startswith("map: noise (add_noise)")
    with pytest.raises(PlanError, match="tacit map"):
        plan.run()
    with pytest.raises(PlanError, match="no map section"):
        RUMap.from_plan(tacit.Plan([tacit.Deidentify()]))


# -- the page and the picture ---------------------------------------------------------------------------


def sample_map(**options):
    points = [
        Point("noise", "sd <1>", {"sd": 1}, 0.5, 0.9, (0.45, 0.55), (0.88, 0.92), 5),
        Point("noise", "sd 2", {"sd": 2}, 0.3, 0.8, (0.25, 0.35), (0.78, 0.82), 5),
        Point("swap & more", "10%", {"share": 0.1}, 0.6, 0.85),
        Point("swap & more", "20%", {"share": 0.2}, float("nan"), float("nan"), reason="too few"),
    ]
    reference = Point("no masking", "", {}, 0.8, 1.0)
    return RUMapResult.from_points(points, reference=reference, max_risk=0.4, **options)


def test_the_page_is_whole_and_readable_without_scripts_or_network():
    page = sample_map(title="A <b> & c").report()
    assert "<script src" not in page
    assert not re.search(r'(src|href)="https?:', page)
    assert "vegaEmbed" in page
    assert "A &lt;b&gt; &amp; c" in page
    still = re.search(r"<noscript>(.*?)</noscript>", page, re.DOTALL)[1]
    assert still.startswith("<svg")
    assert "largest risk allowed 0.4" in still
    assert "too few" in page
    spec = json.loads(re.search(r'class="spec">(.*?)</script>', page, re.DOTALL)[1])
    assert spec["description"] in html.unescape(page)
    assert "0.3000 ± 0.0500" in page


def test_the_picture_names_curves_settings_cap_frontier_and_reference():
    chart = sample_map(min_utility=0.7).plot()
    drawn = html.unescape(chart.svg())
    for text in (
        "noise",
        "swap & more",
        "sd <1>",
        "chosen: sd 2",
        "10%",
        "no masking",
        "frontier",
        "largest risk allowed 0.4",
        "least utility allowed 0.7",
    ):
        assert f">{text}<" in chart.svg() or f">{text}</text>" in drawn, text
    assert "1 of 4 candidates" in drawn
    assert "noise, 2 settings, from sd <1> (risk 0.5, utility 0.9)" in chart.alt
    assert chart.png()[:4] == b"\x89PNG"


def test_a_distortion_runs_backwards_so_that_better_is_to_the_right():
    points = [Point("a", str(i), {"i": i}, 1 - i / 4, i / 3) for i in range(4)]
    result = RUMapResult.from_points(points, higher_utility_is_better=False, min_utility=0.5)
    spec = result.plot().spec
    assert spec["encoding"]["x"]["scale"]["reverse"]
    assert "largest distortion allowed 0.5" in result.plot().svg()
    assert result.choose().label == "1"


def test_labels_do_not_cover_each_other():
    from tacit.plot.place import Canvas, box_of, overlaps, text_width

    canvas = Canvas(300, 200)
    spots = [(50 + 12 * i, 100 + 3 * i) for i in range(12)]
    for at in spots:
        canvas.mark(at)
    boxes = []
    for i, (x, y) in enumerate(spots):
        found = canvas.place(f"label {i}", [(x, y)])
        if found:
            placed = found[1]
            width = text_width(placed.text, 10)
            boxes.append(box_of(x + placed.dx, y + placed.dy, width, 11.5, placed.align))
    assert len(boxes) > 4
    assert not any(overlaps(a, b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_a_dense_curve_has_a_few_named_settings():
    points = [Point("curve", f"{i}", {"i": i}, 1 / (1 + i), 1 / (1 + i / 50)) for i in range(100)]
    drawn = RUMapResult.from_points(points, log_risk=True).plot().svg()
    named = sum(f">{i}</text>" in drawn for i in range(3, 99))
    assert 2 <= named <= 12
    assert "curve" in drawn
