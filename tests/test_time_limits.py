"""A limit of time that was reached is in the ledger, and a re-run that ends elsewhere is no forgery."""

import time

import numpy as np
import pytest
from scipy import sparse

import tacit
from common.cases import firms
from tacit.errors import Approximate
from tacit.records.microaggregation.base import run_jobs
from tacit.release.signing import make_key, trust_key
from tacit.solve import Highs, LinearModel
from tacit.time_limits import LIMIT_REACHED, is_past, seconds_left, watch_limits

HURRIED = tacit.SuppressPartial(time_limit=1e-9)


def test_limits_are_noticed_by_every_watch_around_them():
    with watch_limits() as outer:
        with watch_limits() as inner:
            assert not is_past(None)
            assert not is_past(time.monotonic() + 100)
            assert seconds_left(time.monotonic() + 100) > 0
        assert not inner.reached
        assert seconds_left(time.monotonic() - 1) == 0
    assert outer.reached
    with watch_limits() as later:
        is_past(0.0)
    assert later.reached


def test_limits_in_jobs_side_by_side_are_noticed():
    def work(i):
        is_past(0.0 if i == 3 else None)
        return np.array([i])

    with watch_limits() as watch:
        run_jobs(work, 5)
    assert watch.reached


def test_a_solver_says_that_its_time_was_over():
    rng = np.random.default_rng(1)
    weights = rng.integers(10_000, 99_999, (4, 60)).astype(float)
    model = LinearModel.of(
        -weights.sum(axis=0),
        sparse.csr_array(weights),
        -np.inf,
        weights.sum(axis=1) / 2 + 0.5,
        0.0,
        1.0,
        integer=np.ones(60, dtype=bool),
    )
    with watch_limits() as watch:
        found = Highs(model, options={"mip_rel_gap": 0.0, "mip_abs_gap": 0.0}).solve(time_limit=0.1)
    assert watch.reached == (found.state == "limit")
    assert watch.reached


def test_the_ledger_says_which_step_a_limit_ended():
    with pytest.warns(Approximate):
        short = HURRIED.apply(firms())
    assert short.history[-1].details[LIMIT_REACHED] is True
    assert LIMIT_REACHED not in tacit.SuppressPartial().apply(firms()).history[-1].details


def on_another_machine(monkeypatch):
    """Let the re-run have all the time that it needs."""
    monkeypatch.setattr("tacit.tables.suppress.suppress_partial.is_past", lambda _end: False)


@pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")
def test_a_re_run_on_another_machine_is_not_called_a_forgery(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_KEYS", str(tmp_path / "keys"))
    table = firms()
    make_key(tmp_path / "office")
    release = tacit.Plan([HURRIED]).run(table, seed=1)
    release.write(tmp_path / "plain")
    release.write(tmp_path / "signed", sign=tmp_path / "office")
    on_another_machine(monkeypatch)

    unsigned = tacit.verify(tmp_path / "plain", table)
    (said,) = (remark for name, ok, remark in unsigned.checks if not ok)
    assert "step 1 (suppress_partial) ended at its limit of time" in said
    assert "no sign of a forgery" in said
    assert "only by a signature" in said

    assert not tacit.verify(tmp_path / "signed", table), "anybody can sign with a key of their own"
    trust_key(tmp_path / "office.pub")
    signed = tacit.verify(tmp_path / "signed", table)
    assert signed
    assert "by the signature alone" in repr(signed)


@pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")
def test_a_run_that_had_time_is_not_judged_by_one_that_had_none(tmp_path, monkeypatch):
    """The limit may strike in the re-run alone."""
    table = firms()
    with monkeypatch.context() as patched:
        on_another_machine(patched)
        tacit.Plan([HURRIED]).run(table, seed=1).write(tmp_path / "out")
    (said,) = (
        remark for name, ok, remark in tacit.verify(tmp_path / "out", table).checks if not ok
    )
    assert "no sign of a forgery" in said


def test_without_a_limit_no_clock_decides_the_pattern(monkeypatch):
    """The second pattern of SuppressLinear had sixty seconds, on any machine."""
    table = firms()
    first = tacit.SuppressLinear().apply(table)
    ticks = iter(range(0, 10**9, 1000))
    monkeypatch.setattr("time.monotonic", lambda: float(next(ticks)))
    slow = tacit.SuppressLinear().apply(table)
    assert (slow.hidden == first.hidden).all()
    assert LIMIT_REACHED not in slow.history[-1].details
    short = tacit.SuppressLinear(time_limit=1.0).apply(table)
    assert short.history[-1].details[LIMIT_REACHED] is True
