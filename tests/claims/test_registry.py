"""Checks are found by name, import no method, and third parties can bring their own."""

import subprocess
import sys

import pytest

from tacit.claims import Claim, check_for, find_check, models, registry
from tacit.errors import DisclosureRefused, UnknownClaim

RECORDS = {
    "absent-columns",
    "categories",
    "channel-safety",
    "individual-risk",
    "k-agreement",
    "k-anonymity",
    "k-combinations",
    "l-agreement",
    "margins-met",
    "within-limits",
}


def test_every_model_has_a_file_of_its_name():
    named = {m for m in models() if m.replace("-", "_") in registry.files()}
    assert named >= RECORDS
    assert {"protected-intervals", "not-deducible", "additive", "rounded", "cell-keys"} <= named


@pytest.mark.parametrize("model", sorted(RECORDS))
def test_models_of_records_say_so(model):
    assert Claim(model, {}, "q", ("a",)).about == ("records",)


def test_models_of_tables_say_so():
    assert Claim("protected-intervals", {}, "q", ("a",)).about == ("table",)


def test_finding_a_check_imports_no_method():
    code = (
        "import sys; from tacit.claims import find_check; find_check('k-anonymity'); "
        "find_check('protected-intervals'); "
        "wrong = [m for m in sys.modules if m.startswith(('tacit.protect', 'tacit.tables', 'tacit.risk',"
        " 'tacit.spec'))]; assert not wrong, wrong"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_unknown_model_is_named_with_a_hint():
    with pytest.raises(UnknownClaim, match=r"k-anonymity"):
        find_check("k-anonimity")


def test_third_parties_bring_their_own(monkeypatch):
    monkeypatch.setattr(registry, "_checks", dict(registry._checks))
    monkeypatch.setattr(registry, "_data", dict(registry._data))

    @check_for("largest-value")
    def small(frame, claim):
        return max(frame) <= claim.parameters["most"]

    claim = Claim("largest-value", {"most": 3}, "values", ("x",))
    assert claim.holds([1, 2, 3])
    with pytest.raises(DisclosureRefused, match="largest-value"):
        claim.require([4], where="here")


def test_entry_points_are_loaded(monkeypatch):
    monkeypatch.setattr(registry, "_checks", dict(registry._checks))
    monkeypatch.setattr(registry, "_data", dict(registry._data))

    class Entry:
        def load(self):
            check_for("from-afar", of="table")(lambda table, claim: bool(table))

    monkeypatch.setattr(registry, "entry_points", lambda group: [Entry()])
    registry.load_third_parties.cache_clear()
    assert Claim("from-afar", {}, "all", ()).holds(1)
    registry.load_third_parties.cache_clear()


def test_claims_survive_plain_data():
    claim = Claim("k-anonymity", {"k": 3}, "people", ("age", "sex"), ("all keys are named",))
    assert Claim.from_dict(claim.to_dict()) == claim


def test_no_folder_hides_a_public_function():
    shown = subprocess.run(
        [
            sys.executable,
            "-c",
            "from tacit.registry import specs; import tacit.claims as c; specs(); c.find_check('k-anonymity'); assert len(c.models()) > 50",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
