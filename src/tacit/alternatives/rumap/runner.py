"""Running many evaluations: stored as they finish, in this process or in several, until told to stop."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tacit.alternatives.rumap.candidates import Candidate
from tacit.alternatives.rumap.evaluate import Bench, Values
from tacit.errors import Cancelled, InputError
from tacit.events import Event, Interruption, Stop, Stretch, never_interrupted
from tacit.solve.processes import POLL, bare_main

#: Serial work of this many seconds pays for starting further processes (measured: about 2.5 s each).
WORTH_STARTING = 8.0


@dataclass(frozen=True)
class Evaluation:
    """One evaluation to be done."""

    candidate: int
    replicate: int
    seed: int
    key: str


class Store:
    """Finished evaluations in a folder, one small JSON file each; without a folder, in memory."""

    def __init__(self, folder: str | Path | None) -> None:
        self.folder = None if folder is None else Path(folder)
        if self.folder is not None:
            try:
                self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            except OSError as error:
                raise InputError(
                    f"cannot keep evaluations in {str(folder)!r}: {error.strerror}"
                ) from None

    def get(self, key: str) -> Values | None:
        """Return a finished evaluation; None when there is none, or the file was cut short."""
        if self.folder is None:
            return None
        try:
            found = json.loads((self.folder / f"{key}.json").read_text(encoding="utf-8"))
            return Values(
                tuple(found["risk"]),
                tuple(found["utility"]),
                found["seconds"],
                found["reason"],
                tuple(found["warnings"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, values: Values) -> None:
        """Keep an evaluation; the file appears whole or not at all."""
        if self.folder is None:
            return
        draft = self.folder / f".{key}.{os.getpid()}"
        draft.write_text(json.dumps(asdict(values)), encoding="utf-8")
        draft.replace(self.folder / f"{key}.json")


#: Whether serial work should give way to several processes, after so many jobs and seconds.
GiveWay = Callable[[int, float], bool]


def run_jobs(
    bench: Bench,
    candidates: Sequence[Candidate],
    jobs: Sequence[Evaluation],
    store: Store,
    *,
    workers: int | None,
    work: Stretch,
) -> dict[Evaluation, Values]:
    """Return the values of every job; those in the store are not computed again.

    The values do not depend on the number of workers or on the order in which jobs finish.
    """
    done: dict[Evaluation, Values] = {}
    for job in jobs:
        if (kept := store.get(job.key)) is not None:
            done[job] = kept
    todo = [job for job in jobs if job not in done]

    @never_interrupted
    def finish(job: Evaluation, values: Values) -> None:
        store.put(job.key, values)
        done[job] = values
        n, of = len(done), len(jobs)
        work.hear(
            Event("map", min(n + 1, of), of, n / of, f"Measured {candidates[job.candidate].name}")
        )

    should_stop = work.job.should_stop

    def serial(jobs: Sequence[Evaluation], give_way: GiveWay) -> list[Evaluation]:
        """Evaluate in this process; return what is left when others should take over."""
        seconds = 0.0
        for i, job in enumerate(jobs):
            if give_way(i, seconds):
                return list(jobs[i:])
            stop_if(should_stop)
            values = bench.evaluate(candidates[job.candidate], job.seed, should_stop)
            seconds += values.seconds
            finish(job, values)
        return []

    try:
        left = serial(todo, decide_when_to_fork(bench, workers, todo))
        if left:
            packed = pickle_for_workers(bench, candidates)
            if packed is not None:
                n = workers or os.cpu_count() or 1
                left = parallel(packed, left, finish, should_stop, min(n, len(left)))
            serial(left, lambda _done, _seconds: False)
    except (Cancelled, KeyboardInterrupt) as error:
        kept_words = (
            f"{len(done)} of {len(jobs)} evaluations are kept, and the same call goes on from there"
            if store.folder is not None
            else "give a resume folder to keep finished evaluations"
        )
        if isinstance(error, KeyboardInterrupt) and not isinstance(error, Interruption):
            raise
        raise Cancelled(f"the map was cancelled; {kept_words}") from None
    return done


def decide_when_to_fork(bench: Bench, workers: int | None, todo: Sequence[Evaluation]) -> GiveWay:
    """Return when serial work should give way to several processes."""
    # What lives in memory has no engine.
    engine = getattr(getattr(bench.data, "engine", None), "name", "none")
    several = (workers or os.cpu_count() or 1) > 1 and engine in ("duckdb", "none")
    if not several or len(todo) < 2:
        return lambda _done, _seconds: False
    if workers is not None:
        return lambda _done, _seconds: True
    # The first few evaluations tell how long the rest would take.
    return lambda done, seconds: done >= 2 and seconds / done * (len(todo) - done) > WORTH_STARTING


def stop_if(should_stop: Stop) -> None:
    """Raise Cancelled when the user wants to stop."""
    if should_stop():
        raise Cancelled("the map was cancelled")


# -- several processes -----------------------------------------------------------------------------------


def pickle_for_workers(bench: Bench, candidates: Sequence[Candidate]) -> bytes | None:
    """Return bench and candidates for other processes; None when they hold what only this one knows."""
    try:
        with bare_main():
            return pickle.dumps((bench, tuple(candidates)))
    except (pickle.PicklingError, AttributeError, TypeError):
        return None


def parallel(
    packed: bytes,
    jobs: Sequence[Evaluation],
    finish: Callable[[Evaluation, Values], None],
    should_stop: Stop,
    workers: int,
) -> list[Evaluation]:
    """Evaluate in several processes, each with an engine of its own; return what could not be done."""
    from concurrent.futures.process import BrokenProcessPool

    stop_if(should_stop)
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    left = dict.fromkeys(jobs)
    pool = ProcessPoolExecutor(
        workers, mp_context=context, initializer=begin_worker, initargs=(packed, stop)
    )
    try:
        with bare_main():
            started = [pool.submit(is_worker_ready) for _ in range(workers)]
        first: set[Future[bool]] = set()
        while not first:
            stop_if(should_stop)
            first, _ = wait(started, timeout=POLL, return_when=FIRST_COMPLETED)
        if not all(future.result() for future in first):
            return list(left)
        running: dict[Future[Values], Evaluation] = {
            pool.submit(evaluate_job, job.candidate, job.seed): job for job in jobs
        }
        while running:
            finished, _ = wait(running, timeout=POLL, return_when=FIRST_COMPLETED)
            for future in finished:
                job = running.pop(future)
                finish(job, future.result())
                del left[job]
            stop_if(should_stop)
    except BrokenProcessPool:
        return list(left)
    except BaseException:
        stop.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return []


_worker: dict[str, Any] = {}


def begin_worker(packed: bytes, stop: Any) -> None:
    """Unpack the bench in a new process."""
    try:
        bench, candidates = pickle.loads(packed)  # noqa: S301 - made by our own parent process
    except (ImportError, AttributeError):  # made of code that cannot be imported here
        return
    _worker.update(bench=bench, candidates=candidates, stop=stop)


def is_worker_ready() -> bool:
    """Return True when this process can work; asking for it starts one."""
    return bool(_worker)


def evaluate_job(candidate: int, seed: int) -> Values:
    """Evaluate one job in a process of the pool."""
    bench: Bench = _worker["bench"]
    return bench.evaluate(_worker["candidates"][candidate], seed, _worker["stop"].is_set)
