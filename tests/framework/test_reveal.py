"""What an error may show: never a value in the sentence; values on the holder's screen, when asked."""

import sys

import pytest

import tacit
from tacit.cli.app import main
from tacit.errors import HierarchyError, SdcError
from tacit.reveal import MOST

SECRETS = ["?x9q1", "?x9q2"]
MISSES = {
    "a file": lambda: tacit.Hierarchy.from_columns([["a", "b"], ["*", "*"]]),
    "dates": lambda: tacit.hierarchy.dates("%Y"),
    "intervals": lambda: tacit.hierarchy.intervals(5),
    "prefix": lambda: tacit.hierarchy.prefix([1, 2]),
    "icd": lambda: tacit.hierarchy.icd(10),
}


@pytest.mark.parametrize("case", MISSES)
def test_values_stay_out_of_the_error_and_are_shown_when_asked(case, capsys):
    rule = MISSES[case]()
    with pytest.raises(HierarchyError) as plain:
        tacit.read({"c": [*SECRETS, "a"]}, hierarchies={"c": rule})
    assert "--show-values" in str(plain.value)
    assert not any(s in repr(vars(plain.value)) + str(plain.value) for s in SECRETS)
    assert not any(s in capsys.readouterr().err for s in SECRETS)
    with tacit.show_values(), pytest.raises(HierarchyError) as asked:
        tacit.read({"c": [*SECRETS, "a"]}, hierarchies={"c": rule})
    assert not any(s in repr(vars(asked.value)) + str(asked.value) for s in SECRETS)
    assert SECRETS[0] in capsys.readouterr().err
    with pytest.raises(HierarchyError, match="--show-values"):
        tacit.read({"c": [*SECRETS, "a"]}, hierarchies={"c": rule})


def test_a_dimension_that_lacks_codes_does_not_name_them(capsys):
    data = tacit.read({"c": [*SECRETS, "a"]})
    dimension = tacit.Dimension.flat("c", ["a", "b"])
    with pytest.raises(SdcError) as plain:
        tacit.Table.from_microdata(data, {"c": dimension})
    assert not any(s in str(plain.value) for s in SECRETS)
    with tacit.show_values(), pytest.raises(SdcError):
        tacit.Table.from_microdata(data, {"c": dimension})
    assert SECRETS[1] in capsys.readouterr().err


def test_a_long_list_is_cut(capsys):
    values = [f"v{i:03}" for i in range(MOST + 5)]
    with tacit.show_values(), pytest.raises(HierarchyError):
        tacit.read({"c": values}, hierarchies={"c": tacit.hierarchy.dates()})
    shown = capsys.readouterr().err
    assert "and 5 more" in shown
    assert values[-1] not in shown


def test_the_shell_shows_values_on_a_terminal_alone(tmp_path, capsys, monkeypatch):
    (tmp_path / "d.csv").write_text("c\nx9q1\na\n")
    (tmp_path / "h.csv").write_text("a,*\nb,*\n")
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "source: d.csv\nroles: {keys: [c]}\nhierarchies: {c: h.csv}\nsteps: [{kind: datafly, k: 2}]\n"
    )
    assert main(["check", str(plan)]) == 2
    assert "x9q1" not in capsys.readouterr().err
    assert main(["check", str(plan), "--show-values"]) == 2
    piped = capsys.readouterr().err
    assert "on a terminal alone" in piped
    assert "x9q1" not in piped
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["check", str(plan), "--show-values"]) == 2
    assert "x9q1" in capsys.readouterr().err
