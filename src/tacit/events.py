"""Events: what a job says about itself while it works, and how it is stopped.

A job (running a plan, writing a release, verifying one, a map, a comparison, a recommendation) is divided into weighted
parts, and whatever happens inside a part moves the share of the whole, which never goes back. Every job takes the same
two arguments: ``on_event`` is called with an :class:`Event` at most :data:`SILENCE` seconds after the last one, and
``should_stop`` is asked often; once it returns True the job ends with :class:`tacit.errors.Cancelled`, at most a
second later, with nothing half-written.

Two things make that hold where a method says nothing for long. Each ``tick`` of a method reports and asks. Beside the work a
thread, the :class:`Watch`, repeats the last event in silence and asks as well. To stop, it interrupts the work as
Ctrl-C does: an exception arises in the working thread, and DuckDB, Spark and the solvers are told to end what they
compute. It waits while modules are imported, while folders are cleared and while a release is moved into place, so
that none of these is left half done. One call into another library (fitting a model with scikit-learn, sorting an
array) cannot be interrupted: the job stops when that call returns, and events go on meanwhile as far as the library lets
other threads run.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from types import CodeType, FrameType
from typing import Any, Literal, ParamSpec, Protocol, TypeVar

from tacit.errors import Cancelled

Stage = Literal[
    "read", "check", "protect", "measure", "write", "verify", "map", "compare", "recommend"
]
P = ParamSpec("P")
T = TypeVar("T")
Item = TypeVar("Item")

CANCELLED = "the run was cancelled; nothing was written"
#: Seconds without an event after which the last one is repeated.
SILENCE = 1.0
#: Seconds between two events of one part, at least: a listener may write to a disk.
PAUSE = 0.1
#: Seconds between two questions whether to stop.
POLL = 0.1
#: Seconds after which work that is still going on is interrupted again.
AGAIN = 1.0


@dataclass(frozen=True)
class Event:
    """What a job is doing.

    Attributes
    ----------
    stage
        What sort of work it is.
    step, of
        The number of the step within the whole job, from 1, and how many there are.
    share
        How much of the whole job is done, in [0, 1]; it never goes back.
    text
        What is being done, for people. It holds no values of records.
    """

    stage: Stage
    step: int
    of: int
    share: float
    text: str


Listener = Callable[[Event], None]
Stop = Callable[[], bool]


def ignore_event(_event: Event) -> None:
    """Ignore an event."""


def never() -> bool:
    """Go on."""
    return False


@dataclass(frozen=True)
class Phase:
    """A part of a job: what is done, how much of the whole it is, and how many steps a job inside it has."""

    stage: Stage
    text: str
    weight: float = 1.0
    steps: int = 1


class Job:
    """A job, divided into parts; its events go to one listener.

    Parameters
    ----------
    on_event
        Called with each event, from the working thread or from the thread beside it, never from both at once.
    should_stop
        Returns True when the job is to end; asked from both threads.
    phases
        What the job consists of, in order.
    """

    def __init__(
        self,
        on_event: Listener = ignore_event,
        should_stop: Stop = never,
        phases: Sequence[Phase] = (),
    ) -> None:
        self.on_event, self.should_stop = on_event, should_stop
        self.phases = tuple(phases)
        self._at = -1
        self._share = 0.0
        self._event: Event | None = None
        self._told = 0.0
        #: True from when a tick has found that the job is to stop.
        self.stopped = False
        #: True from when what was done remains, so that it is too late to stop.
        self.settled = False
        self._lock = threading.Lock()

    @property
    def heard(self) -> bool:
        """Return True when somebody listens."""
        return self.on_event is not ignore_event

    @property
    def silent(self) -> bool:
        """Return True when nobody listens and nobody stops it."""
        return not self.heard and self.should_stop is never

    def begin(self, stage: Stage) -> Stretch:
        """Begin the next part of a stage, leaving out those before it."""
        later = range(self._at + 1, len(self.phases))
        self._at = next((i for i in later if self.phases[i].stage == stage), max(self._at, 0))
        total = sum(part.weight for part in self.phases)
        before, here = sum(part.weight for part in self.phases[: self._at]), self.phases[self._at]
        span = Stretch(self, before / total, (before + here.weight) / total, here.text)
        self.ask()
        if self.heard:
            self.tell(span.text, span.start, urgent=True)
        return span

    def ask(self) -> None:
        """Raise Cancelled when the job is to stop."""
        if self.should_stop():
            self.stopped = True
            raise Cancelled(CANCELLED)

    def tell(
        self, text: str, share: float | None, *, inside: Event | None = None, urgent: bool = False
    ) -> None:
        """Tell the listener what is done; ``inside`` is the event of a job inside the present part."""
        with self._lock:
            self._share = max(self._share, min(share or 0.0, 1.0))
            known, part = self._event, self.phases[self._at]
            stage, step = part.stage, 1 + sum(p.steps for p in self.phases[: self._at])
            if inside is not None and part.steps > 1:
                stage, step = inside.stage, step + min(inside.step, part.steps) - 1
            step = step if known is None else max(known.step, step)
            self._event = Event(stage, step, sum(p.steps for p in self.phases), self._share, text)
            moved = known is None or known.step != step
            if urgent or moved or time.monotonic() - self._told > PAUSE:
                self._send(self._event)

    def repeat(self) -> None:
        """Say again what is done, after a silence."""
        with self._lock:
            if self._event is not None and time.monotonic() - self._told > SILENCE:
                self._send(self._event)

    def finish(self) -> None:
        """Tell the listener that everything is done."""
        with self._lock:
            if self._event is not None:
                self._event = replace(self._event, share=1.0, step=self._event.of)
                self._send(self._event)

    def _send(self, event: Event) -> None:
        self._told = time.monotonic()
        self.on_event(event)

    def watch(self, work: Callable[[], T]) -> T:
        """Do the work of the job, watched: it is heard of at any time, and can be stopped.

        Raises
        ------
        Cancelled
            When it was stopped, whatever that interrupted.
        """
        found = work() if self.silent or current() is not None else self._watched(work)
        if self.stopped and not self.settled:
            # Somewhere the wish was taken for a fault, and the work went on.
            raise Cancelled(CANCELLED)
        self.finish()
        return found

    def _watched(self, work: Callable[[], T]) -> T:
        watch = Watch(self)
        try:
            try:
                watch.start()
                return work()
            finally:
                try:
                    watch.end()
                except Interruption:  # one that was on its way
                    watch.end()
        except (Interruption, Exception) as error:
            if self.stopped and not isinstance(error, Cancelled):
                raise Cancelled(CANCELLED) from None
            raise


@dataclass(frozen=True)
class Stretch:
    """A stretch of a job, from one share of the whole to another."""

    job: Job
    start: float = 0.0
    end: float = 1.0
    text: str = ""

    def tick(self, message: str = "", share: float | None = None) -> None:
        """Report a share of this stretch, and stop here if the user asked for it."""
        self.job.ask()
        if self.job.heard and self.job.phases:
            extra = message if message.lower() not in self.text.lower() else ""
            self.job.tell(": ".join(filter(None, (self.text, extra))), self._whole(share))

    def _whole(self, share: float | None) -> float | None:
        if share is None:
            return None
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def part(self, number: int, of: int, text: str = "") -> Stretch:
        """Return one of several equal stretches of this one, from 0, and report its beginning."""
        n = max(of, 1)
        found = replace(self.between(number / n, (number + 1) / n), text=text or self.text)
        found.tick("", 0.0)
        return found

    def between(self, start: float, end: float) -> Stretch:
        """Return a stretch of this one."""
        width = self.end - self.start
        return Stretch(self.job, self.start + start * width, self.start + end * width, self.text)

    def hear(self, event: Event) -> None:
        """Report an event of a job inside this stretch: its share is one of this stretch."""
        if self.job.heard:
            self.job.tell(event.text, self._whole(event.share), inside=event)

    @property
    def listener(self) -> Listener:
        """Return what a job inside this stretch reports to."""
        return self.hear if self.job.heard else ignore_event

    def quiet(self) -> Stretch:
        """Return what reports nothing and is stopped with this."""
        return Stretch(Job(should_stop=self.job.should_stop))


# -- the watch ---------------------------------------------------------------------------------------


class Interruption(KeyboardInterrupt):
    """Arises in a thread whose job is to stop; everything that heeds Ctrl-C heeds it."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)
        watch = current()
        if watch is not None:
            watch.arrived = time.monotonic()


class Interrupted(Protocol):
    """What computes outside of Python and can be told to end it."""

    def interrupt(self) -> None:
        """End what is being computed, if anything is."""


_here = threading.local()
_engines: weakref.WeakSet[Interrupted] = weakref.WeakSet()
_whole: set[CodeType] = set()


def current() -> Watch | None:
    """Return the watch over the work of this thread, if there is one."""
    found: Watch | None = getattr(_here, "watch", None)
    return found


def stop_asked() -> bool:
    """Return True when the job that this thread works on is to stop; for solvers, which ask by themselves."""
    watch = current()
    return watch is not None and watch.job.stopped


def stop_for(given: Stop | None) -> Stop | None:
    """Return what a solver asks while it works: what it was given, and what stops the job of this thread."""
    watch = current()
    if watch is None or watch.job.should_stop is never:
        return given
    return stop_asked if given is None else lambda: stop_asked() or given()


def can_interrupt(engine: Interrupted) -> None:
    """Have an engine end what it computes when a job is to stop."""
    _engines.add(engine)


def never_interrupted(function: Callable[P, T]) -> Callable[P, T]:
    """Have a function, and everything that it calls, done wholly or not at all when a job is to stop."""
    _whole.add(function.__code__)
    return function


def side_by_side(work: Callable[[Item], T], items: Iterable[Item], workers: int) -> Iterator[T]:
    """Yield what work gives for each of several items, in their order, done in threads.

    Waiting for them is interrupted when the job is to stop; what has not begun then is left out.
    """
    pool = ThreadPoolExecutor(workers)
    try:
        # What a piece of work reports reaches whoever waits for all of them.
        for future in [pool.submit(copy_context().run, work, item) for item in items]:
            yield result_of(future)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def result_of(future: Future[T]) -> T:
    """Return the result of a future; waiting for it is interrupted when the job is to stop."""
    while not future.done():
        wait([future], timeout=POLL)
    return future.result()


class Watch:
    """Repeats the last event of a job in silence, and interrupts its thread when it is to stop."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._worker = threading.get_ident()
        #: When the interruption arose; None while it has not.
        self.arrived: float | None = None
        self._sent = False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tacit events", daemon=True)

    def start(self) -> None:
        """Begin watching the present thread."""
        _here.watch = self
        self._thread.start()

    @never_interrupted
    def end(self) -> None:
        """Stop watching; nothing is interrupted after this."""
        _here.watch = None
        self._over.set()
        self._thread.join()
        interrupt_thread(self._worker, None)

    def _run(self) -> None:
        # What the listener raises here, it raises in the working thread too, at the next event.
        with suppress(Exception):
            while not self._over.wait(POLL):
                self.job.repeat()
                self.job.stopped = self.job.stopped or self.job.should_stop()
                if self.job.stopped:
                    self._interrupt()

    def _interrupt(self) -> None:
        if self.arrived is not None and time.monotonic() - self.arrived < AGAIN:
            return
        if self._sent and self.arrived is None:
            # The thread waits for something outside of Python. What that raises when it is ended takes the place of
            # the interruption, which would arise in the first function called to clear up.
            self._sent = False
            interrupt_thread(self._worker, None)
            for engine in list(_engines):
                with suppress(
                    Exception
                ):  # one that was closed meanwhile must not keep others from ending
                    engine.interrupt()
        elif is_interruptible(frame_of(self._worker)):
            self._sent, self.arrived = True, None
            interrupt_thread(self._worker, Interruption)


def frame_of(thread: int) -> FrameType | None:
    """Return what a thread is at."""
    return sys._current_frames().get(thread)


def interrupt_thread(thread: int, error: type[BaseException] | None) -> None:
    """Have an exception arise in a thread, at its next step in Python; None takes back one that has not arisen."""
    what: Any = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), what)


#: Work that must not end in the middle: imports, folders being cleared, listeners, and what opens or closes other work.
UNDISTURBED = ("shutil.py", "tempfile.py", "weakref.py")
IMPORTS = "<frozen importlib"
PAIRED = frozenset({"__enter__", "__exit__", "__del__", "close", "shutdown"})


def is_interruptible(frame: FrameType | None) -> bool:
    """Return True unless a thread is at something that has to be done wholly."""
    while frame is not None:
        code = frame.f_code
        named = code.co_filename.endswith(UNDISTURBED) or code.co_filename.startswith(IMPORTS)
        if named or code in _whole or code.co_name in PAIRED:
            return False
        frame = frame.f_back
    return True


never_interrupted(Job._send)
