"""Events of every job: heard at any time, never going back; stopped anywhere within a second, with nothing left behind."""

import re
import shutil
import sys
import threading
import time

import numpy as np
import pytest

import tacit
from tacit import events
from tacit.alternatives.rumap.ru_map import RUMap
from tacit.cli import render
from tacit.context import Context
from tacit.engine import get_engine
from tacit.errors import Cancelled, InputError
from tacit.events import Event, Job, Phase, Stretch
from tacit.plan import Plan
from tacit.records.classes.k_anonymity import KAnonymity
from tacit.registry import all_entries
from tacit.release import folders, verification
from tacit.release import release as release_module
from tacit.release.release import Release

KINDS = sorted(entry.kind for entry in all_entries() if "_" in entry.kind)


class Machine(threading.Thread):
    """Counts the time that a busy machine takes away, so that no limit is judged by it."""

    def __init__(self):
        super().__init__(daemon=True)
        self.late, self.over = 0.0, threading.Event()

    def run(self):
        while not self.over.is_set():
            begun = time.monotonic()
            time.sleep(0.02)
            self.late += max(0.0, time.monotonic() - begun - 0.03)


@pytest.fixture(autouse=True)
def machine():
    made = Machine()
    made.start()
    yield made
    made.over.set()
    made.join()


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "people.csv"
    rows = (f"{20 + i % 40},{'mf'[i % 2]},{i % 5},{i * 7 % 101}" for i in range(200))
    file.write_text("age,sex,zip,income\n" + "\n".join(rows) + "\n")
    return file


@pytest.fixture
def plan(source):
    return Plan(
        [tacit.Mdav(k=5, columns=("income",))],
        [tacit.KAnonymity(k=3), tacit.InformationLoss()],
        source={"path": str(source)},
        roles={"keys": ["age", "sex", "zip"]},
        seed=7,
    )


@pytest.fixture
def plain_reports(monkeypatch):
    """Write reports of a word each: drawing charts is most of the work of a small release."""

    def write(_document, stem, _formats):
        stem.with_suffix(".html").write_text("report")

    monkeypatch.setattr(release_module, "write_report", write)


def kept(_original, released):
    """Return the share of values that are still there."""
    return float(released.to_pandas().notna().mean().mean())


class Heard:
    """A listener that keeps events with their times."""

    def __init__(self):
        self.events, self.times = [], []

    def __call__(self, event):
        self.events.append(event)
        self.times.append(time.monotonic())

    @property
    def stages(self):
        return list(dict.fromkeys(e.stage for e in self.events))

    def check(self):
        """Check what holds of every job."""
        shares = [e.share for e in self.events]
        assert shares == sorted(shares)
        assert 0 <= shares[0] <= shares[-1] == 1
        steps = [e.step for e in self.events]
        assert steps == sorted(steps)
        assert {e.of for e in self.events} == {self.events[-1].of}
        assert 1 <= steps[0] <= steps[-1] == self.events[-1].of
        for event in self.events:
            assert event.text[0].isupper()
            assert not [kind for kind in KINDS if re.search(rf"\b{kind}\b", event.text)]


# -- what a job is -------------------------------------------------------------------------------------


def test_parts_are_weighed_and_shares_never_go_back():
    heard = Heard()
    job = Job(heard, phases=(Phase("read", "Reading", 1), Phase("protect", "Masking", 3)))

    def work():
        job.begin("read").tick("half", 0.5)
        span = job.begin("protect")
        for share in (0.5, 0.2, None, 1.0):
            span.part(0, 2).tick("", share)

    job.watch(work)
    heard.check()
    assert heard.events[0] == Event("read", 1, 2, 0.0, "Reading")
    assert next(e.share for e in heard.events if e.stage == "protect") == 0.25
    assert max(e.share for e in heard.events[:-1]) <= 0.625


def test_jobs_within_a_job_have_their_own_steps():
    heard = Heard()
    outer = Job(heard, phases=(Phase("protect", "Running", 1, 3), Phase("write", "Writing", 1, 2)))

    def inner(listener, stages):
        job = Job(listener, phases=tuple(Phase(s, s.title()) for s in stages))
        job.watch(lambda: [job.begin(s) for s in stages])

    inner(outer.begin("protect").listener, ("read", "check", "protect"))
    inner(outer.begin("write").listener, ("check", "write"))
    outer.finish()
    heard.check()
    found = {e.step: (e.stage, e.share) for e in reversed(heard.events)}
    assert [found[i][0] for i in (2, 3, 5)] == ["check", "protect", "write"]
    assert found[2][1] == pytest.approx(1 / 6)


def test_a_step_that_is_silent_is_heard_of(monkeypatch, machine):
    monkeypatch.setattr(events, "SILENCE", 0.2)
    heard = Heard()
    job = Job(heard, phases=(Phase("protect", "Masking"),))
    job.watch(lambda: (job.begin("protect"), time.sleep(1.2)))
    gaps = np.diff(heard.times)
    assert len(heard.events) >= 3 or machine.late > 0.5
    assert gaps.max() < 0.6 + machine.late
    assert events.SILENCE + 2 * events.POLL < 2


@pytest.mark.parametrize("swallowing", [False, True])
def test_a_step_that_never_asks_is_stopped(machine, swallowing):
    job = Job(should_stop=lambda: time.monotonic() > begun + 0.2)

    def work():
        while True:
            try:
                while True:
                    time.sleep(0.01)
            except Exception:
                if not swallowing:
                    raise

    begun = time.monotonic()
    with pytest.raises(Cancelled, match="nothing was written"):
        job.watch(work)
    assert time.monotonic() - begun < 1.2 + machine.late


class Closed:
    """An engine that cannot be told anything any more."""

    def interrupt(self):
        raise RuntimeError("the connection is closed")


@pytest.mark.parametrize("others", [0, 5])
def test_a_query_is_stopped(machine, others):
    closed = [Closed() for _ in range(others)]
    for one in closed:
        events.can_interrupt(one)
    engine = get_engine("duckdb")
    job = Job(should_stop=lambda: time.monotonic() > begun + 0.2)
    query = (
        "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range * b.range % 7 = 3"
    )
    begun = time.monotonic()
    with pytest.raises(Cancelled):
        job.watch(lambda: engine.connection.execute(query).fetchall())
    assert time.monotonic() - begun < 1.2 + machine.late
    assert engine.connection.execute("SELECT 1").fetchall() == [(1,)]


def test_what_must_be_done_wholly_is():
    begun, done = [], []

    @events.never_interrupted
    def whole():
        begun.append(1)
        time.sleep(0.5)
        done.append(1)

    job = Job(should_stop=lambda: bool(begun))
    with pytest.raises(Cancelled):
        job.watch(lambda: (whole(), [time.sleep(0.02) for _ in range(250)], done.append(2)))
    assert done == [1]


def test_folders_being_cleared_are_left_alone(tmp_path):
    def frame(*_):
        found.append(events.is_interruptible(sys._getframe()))

    found = []
    frame()
    (tmp_path / "a").mkdir()
    shutil.copytree(tmp_path, tmp_path / "b", copy_function=frame, ignore=frame_of(frame))
    assert found == [True, False, False]


def frame_of(look):
    def ignore(*_):
        look()
        return ["b"]

    return ignore


def test_a_wish_to_stop_that_was_taken_for_a_fault_is_heeded_at_the_end():
    asked = iter([False, True])
    job = Job(should_stop=lambda: next(asked, False), phases=(Phase("read", "Reading"),))

    def work():
        span = job.begin("read")
        with pytest.raises(Cancelled):
            span.tick()

    with pytest.raises(Cancelled):
        job.watch(work)


def test_a_listener_that_fails_ends_the_job():
    def fail(_event):
        raise ValueError("listener")

    job = Job(fail, phases=(Phase("read", "Reading"),))
    with pytest.raises(ValueError, match="listener"):
        job.watch(lambda: job.begin("read"))


# -- every job -----------------------------------------------------------------------------------------


def test_running_writing_and_verifying(plan, tmp_path):
    ran, wrote, verified = Heard(), Heard(), Heard()
    release = plan.run(on_event=ran)
    release.write(tmp_path / "out", on_event=wrote)
    assert tacit.verify(tmp_path / "out", on_event=verified)
    for heard in (ran, wrote, verified):
        heard.check()
    assert ran.stages == ["read", "check", "protect", "measure"]
    assert wrote.stages == ["check", "write"]
    assert verified.stages == ["verify", "read"]
    texts = [e.text for e in ran.events]
    assert any(t.startswith("Step 1 of 1: Replace numbers by the means") for t in texts)
    assert plan.run().ledger.last_fingerprint == release.ledger.last_fingerprint


def test_comparing_mapping_and_recommending(plan):
    data = plan.read()
    heard = [Heard() for _ in range(4)]
    tacit.compare(data, {"mine": plan, "none": data}, on_event=heard[0])
    noise = {"noise": [tacit.AddNoise(columns=("income",), relative=r) for r in (0.1, 0.2)]}
    RUMap(noise, tacit.KAnonymity(k=3), tacit.InformationLoss()).run(
        data, seed=1, on_event=heard[1]
    )
    tacit.recommend(
        data,
        risk=tacit.KAnonymity(k=2),
        cap=0.5,
        utility=kept,
        budget=24,
        seed=1,
        methods=["local_suppression"],
        on_event=heard[2],
    )
    tacit.Tiers({"open": plan, "closed": plan}).check(data, seed=1, on_event=heard[3])
    for one in heard:
        one.check()
    assert [one.stages[-1] for one in heard] == ["compare", "map", "recommend", "compare"]


@pytest.mark.parametrize(
    "spec",
    [
        tacit.AddNoise(columns=("income",), relative=0.1),
        tacit.LocalSuppression(k=3),
        tacit.RankSwap(columns=("income",)),
        tacit.GlobalRisk(),
    ],
    ids=lambda s: s.kind,
)
def test_one_spec(plan, spec):
    heard, data = Heard(), plan.read()
    context = Context.start(3, on_event=heard)
    if isinstance(spec, tacit.Method):
        spec.apply(data, context=context)
    else:
        spec.measure(data, original=data, context=context)
    heard.check()
    assert heard.stages == ["protect" if isinstance(spec, tacit.Method) else "measure"]


# -- stopping in the middle ----------------------------------------------------------------------------


class Slow:
    """Makes a function take half a minute of sleep, and says when it has begun."""

    def __init__(self, monkeypatch, place, name):
        self.begun = None
        real = getattr(place, name)

        def slow(*given, **named):
            self.begun = self.begun or time.monotonic()
            end = time.monotonic() + 30
            while time.monotonic() < end:
                time.sleep(0.01)
            return real(*given, **named)

        monkeypatch.setattr(place, name, slow)

    def should_stop(self):
        return self.begun is not None and time.monotonic() > self.begun + 0.1


def is_stopped(slow, machine, work):
    with pytest.raises(Cancelled):
        work({"should_stop": slow.should_stop})
    assert time.monotonic() - slow.begun < 1.1 + machine.late


@pytest.mark.parametrize(
    ("place", "name"),
    [(Plan, "read"), (Plan, "check"), (tacit.Mdav, "_apply"), (KAnonymity, "_measure")],
    ids=["read", "check", "protect", "measure"],
)
def test_a_run_is_stopped(plan, monkeypatch, machine, place, name):
    is_stopped(Slow(monkeypatch, place, name), machine, lambda stop: plan.run(**stop))


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (Release, "_refuse"),
        (Release, "write_data"),
        (Release, "write_papers"),
        (Release, "write_private"),
        (folders, "seal_folder"),
    ],
    ids=["check", "data", "papers", "private", "seal"],
)
@pytest.mark.usefixtures("plain_reports")
def test_writing_is_stopped_and_leaves_nothing(plan, tmp_path, monkeypatch, machine, place, name):
    release = plan.run()
    before = sorted(tmp_path.rglob("*"))
    slow = Slow(monkeypatch, place, name)
    is_stopped(slow, machine, lambda stop: release.write(tmp_path / "out", **stop))
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.usefixtures("plain_reports")
def test_it_is_too_late_to_stop_a_release_that_is_moved_into_place(plan, tmp_path, monkeypatch):
    release, moving = plan.run(), []
    real = folders.swap_into

    def swap(*given):
        moving.append(1)
        time.sleep(0.5)
        real(*given)

    with monkeypatch.context() as patch:
        patch.setattr(folders, "swap_into", swap)
        release.write(tmp_path / "out", should_stop=lambda: bool(moving))
    assert tacit.verify(tmp_path / "out")


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (verification, "file_check"),
        (verification, "claim_checks"),
        (Plan, "run"),
        (verification, "repeated_checks"),
    ],
    ids=["files", "claims", "run", "repeated"],
)
@pytest.mark.usefixtures("plain_reports")
def test_verifying_is_stopped(plan, tmp_path, monkeypatch, machine, place, name):
    plan.run().write(tmp_path / "out")
    before = sorted(tmp_path.rglob("*"))
    slow = Slow(monkeypatch, place, name)
    is_stopped(slow, machine, lambda stop: tacit.verify(tmp_path / "out", **stop))
    assert sorted(tmp_path.rglob("*")) == before


def test_comparing_mapping_and_recommending_are_stopped(plan, monkeypatch, machine):
    data, risk = plan.read(), tacit.KAnonymity(k=3)

    def try_(work):
        with monkeypatch.context() as patch:
            is_stopped(Slow(patch, KAnonymity, "_measure"), machine, work)

    try_(lambda stop: tacit.compare(data, {"mine": plan}, [risk], **stop))
    curves = {"hide": [tacit.LocalSuppression(k=3)]}
    try_(lambda stop: RUMap(curves, risk, kept).run(data, seed=1, **stop))
    try_(
        lambda stop: tacit.recommend(
            data, risk=risk, cap=0.5, utility=kept, methods=["local_suppression"], seed=1, **stop
        )
    )


# -- the shell -----------------------------------------------------------------------------------------


def test_a_pipe_gets_a_line_every_few_seconds(plan, tmp_path, monkeypatch, capsys):
    from tacit.cli.app import app

    file = tmp_path / "plan.yaml"
    plan.with_(seed=None).save(file)
    monkeypatch.setattr(render, "LINES", 0.0)
    assert app(["run", str(file), "--out", str(tmp_path / "out")]) in (0, None, 3)
    lines = [x for x in capsys.readouterr().err.splitlines() if "% " in x]
    shares = [int(x.split("%")[0]) for x in lines]
    assert shares == sorted(shares)
    assert shares[-1] == 100
    assert re.match(r" *0%  step 1 of 12: ", lines[0]), lines[:3]
    assert any("Writing the report" in x for x in lines)


def test_a_short_job_says_nothing_in_a_pipe(capsys):
    with render.progress_bar(render.Console()) as show:
        show(Event("read", 1, 1, 0.5, "Reading"))
    assert capsys.readouterr().err == ""


def test_spans_without_a_listener_cost_nothing():
    span = Stretch(Job())
    span.tick("word", 0.5)
    assert span.listener is events.ignore_event
    assert span.quiet().job.should_stop is events.never


# -- read back -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("plain_reports")
def test_a_release_is_read_back(plan, tmp_path):
    release = plan.run()
    release.write(tmp_path / "out")
    back = Release.load(tmp_path / "out")
    assert back.claims == release.claims
    assert back.ledger == release.ledger
    assert back.attention == release.attention
    assert back.plan.steps == release.plan.steps
    assert back.data.keys == release.data.keys
    assert sorted(back.data.to_pandas()["income"]) == sorted(release.data.to_pandas()["income"])
    for old, new in ((release.before, back.before), (release.after, back.after)):
        assert [(r.kind, r.value) for r in new] == [(r.kind, pytest.approx(r.value)) for r in old]
    assert len(back.risk.summary()) == len(release.risk.summary())
    with pytest.raises(InputError, match="does not hold the data before protection"):
        back.write(tmp_path / "again")


@pytest.mark.usefixtures("plain_reports")
def test_a_recipient_reads_what_is_public(plan, tmp_path):
    release = plan.run()
    release.write(tmp_path / "out")
    shutil.rmtree(tmp_path / "out-confidential")
    back = Release.load(tmp_path / "out")
    assert [c.sentence() for c in back.claims] == [c.sentence() for c in release.claims]
    assert back.after == ()
    assert "records" in back.summary()
    with pytest.raises(InputError, match="which is not here"):
        back.ledger.seed  # noqa: B018


@pytest.mark.usefixtures("plain_reports")
def test_what_is_no_release_is_not_read(plan, tmp_path):
    with pytest.raises(InputError, match="is not a release"):
        Release.load(tmp_path)
    plan.run().write(tmp_path / "out")
    ledger = next((tmp_path / "out-confidential").rglob("ledger.json"))
    ledger.write_text(ledger.read_text() + " ")
    with pytest.raises(InputError, match="not the one written with this release"):
        Release.load(tmp_path / "out")


def test_a_misspelt_name_is_a_plain_fault(plan):
    with pytest.raises(AttributeError, match="has no attribute 'tabel'"):
        plan.run().tabel  # noqa: B018
