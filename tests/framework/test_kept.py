"""Results kept: taken once, missed when anything differs, and never in the clear on disk."""

import stat
import warnings

import pytest

import tacit
from common.cases import COLUMNS, fitting, people
from tacit.context import Context
from tacit.errors import InvalidParameter, UnreadableFile
from tacit.kept import KeptResults, keep_results
from tacit.registry import specs

ROWS = {**COLUMNS, "income": [x + 0.25 for x in COLUMNS["income"]]}


def test_a_second_time_costs_nothing_and_gives_the_same():
    with keep_results() as kept:
        first = tacit.KAnonymity(k=3).measure(people())
        second = tacit.KAnonymity(k=3).measure(people())
        assert (kept.taken, kept.reused) == (1, 1)
        assert second.stored() == first.stored()
    tacit.KAnonymity(k=3).measure(people())
    assert (kept.taken, kept.reused) == (1, 1)


def test_whatever_differs_is_measured(monkeypatch):
    data = people()
    with keep_results() as kept:
        tacit.InformationLoss().measure(data, original=data)
        for count, (spec, one, original) in enumerate(
            [
                (tacit.InformationLoss(), people(ROWS), data),
                (tacit.InformationLoss(), data, people(ROWS)),
                (tacit.InformationLoss(columns=["income"]), data, data),
            ],
            2,
        ):
            spec.measure(one, original=original)
            assert (kept.taken, kept.reused) == (count, 0)
        monkeypatch.setattr(tacit, "__version__", "0.0.0")
        tacit.InformationLoss().measure(data, original=data)
        assert (kept.taken, kept.reused) == (5, 0)


def test_what_was_asked_for_and_roles_count():
    other = tacit.read(COLUMNS, identifiers=["id"], keys=["sex"], sensitive=["disease"])
    with keep_results() as kept:
        for spec, data in [
            (tacit.KAnonymity(), people()),
            (tacit.KAnonymity(k=2), people()),
            (tacit.KAnonymity(), other),
        ]:
            spec.measure(data)
        assert (kept.taken, kept.reused) == (3, 0)


@pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")
def test_chance_counts_where_a_measure_draws():
    drawn = [s for s in specs("risk").values() if s.random and s.data_type() is tacit.Microdata]
    spec = drawn[0](**drawn[0].example)
    data = people()
    with keep_results() as kept:
        for seed, expected in [(1, (1, 0)), (2, (2, 0)), (1, (2, 1))]:
            spec.measure(data, original=data, register=data, seed=seed)
            assert (kept.taken, kept.reused) == expected


def test_tables_too():
    with keep_results() as kept:
        tacit.CellLoss().measure(fitting("cell_loss"))
        tacit.CellLoss().measure(fitting("cell_loss"))
        assert (kept.taken, kept.reused) == (1, 1)


def test_the_least_recently_used_goes():
    data = people()
    with keep_results(KeptResults(most=2)) as kept:
        for k in (2, 3, 2, 4, 2, 3):
            tacit.KAnonymity(k=k).measure(data)
        assert (kept.taken, kept.reused) == (4, 2)


def test_on_disk_it_is_found_again_and_holds_nothing_in_the_clear(tmp_path):
    folder, key = tmp_path / "kept", tmp_path / "secret" / "kept.key"
    with keep_results(KeptResults(folder, key=key)) as kept:
        first = tacit.Suda().measure(people())
        assert kept.taken == 1
    with keep_results(KeptResults(folder, key=key)) as kept:
        second = tacit.Suda().measure(people())
        assert (kept.taken, kept.reused) == (0, 1)
    assert second.stored() == first.stored()
    assert second.frame.to_arrow() == first.frame.to_arrow()
    for file in [folder, *folder.iterdir(), key]:
        assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0
    content = b"".join(f.read_bytes() for f in folder.iterdir())
    for word in (b"02138", b"disease", b"suda", b"result", b"age"):
        assert word not in content
    # Another key finds nothing, and what was changed is measured again.
    with keep_results(KeptResults(folder, key=tmp_path / "other.key")) as kept:
        tacit.Suda().measure(people())
        assert kept.taken == 1
    for file in folder.iterdir():
        file.write_bytes(b"x" + file.read_bytes()[1:])
    with keep_results(KeptResults(folder, key=key)) as kept:
        tacit.Suda().measure(people())
        assert kept.taken == 1


def test_the_folder_is_bounded(tmp_path):
    data = people()
    with keep_results(KeptResults(tmp_path / "a", key=tmp_path / "k", largest=1)) as kept:
        tacit.KAnonymity().measure(data)
        assert kept.taken == 1
    assert not [f for f in (tmp_path / "a").iterdir() if len(f.name) == 64]


def test_a_key_in_the_folder_or_none_is_refused(tmp_path):
    with pytest.raises(InvalidParameter, match="outside their folder"):
        KeptResults(tmp_path, key=tmp_path / "k")
    with pytest.raises(InvalidParameter, match="together"):
        KeptResults(tmp_path)
    (tmp_path / "k").write_bytes(b"no key")
    with pytest.raises(UnreadableFile, match="no key"):
        KeptResults(tmp_path / "a", key=tmp_path / "k")


class Noting(tacit.KAnonymity):
    """A measure that notes and warns."""

    def _measure(self, data, other, ctx):
        ctx.note(looked_at=len(data))
        warnings.warn("look twice", tacit.errors.SdcWarning, stacklevel=2)
        return super()._measure(data, other, ctx)


def test_notes_and_warnings_are_given_again():
    with keep_results() as kept:
        for _ in range(2):
            context = Context.start(1)
            with pytest.warns(tacit.errors.SdcWarning, match="look twice"):
                Noting().measure(people(), context=context)
            assert context.details == {"looked_at": 12}
    assert (kept.taken, kept.reused) == (1, 1)


def test_a_comparison_measures_the_same_data_once():
    data = people()
    with keep_results() as kept:
        tacit.compare(data, {"a": data, "b": data}, [tacit.Uniqueness()])
        assert kept.reused >= 1
