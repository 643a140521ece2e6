"""Watches the time that a decision takes: reports how far it is, and stops it when it is over.

Limits counted in steps are what verdicts rest on: they are the same on every machine. The time is
the last resort, for what no such limit caught.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import thread_time

from ontoweir.progress.progress import OnProgress, Progress, ignore_progress

_EVERY = 256


class OutOfTimeError(Exception):
    """The time is over: who set the limit says what that means."""


@dataclass(slots=True)
class Watch:
    """How long a decision may take, and who hears how far it is.

    The phases of a check, in order: "deciding" (disjuncts of the query), "looking for a
    counterexample" (layouts), and of a search for repairs "looking for repairs" (sets of changes).

    `seconds`: of computing, by this thread, so that a busy machine changes no verdict; None or 0 is
    no limit. `clock` gives them, from anywhere. `stopped`: a search was given up because the time
    was over.
    """

    seconds: float | None = None
    on_progress: OnProgress = ignore_progress
    clock: Callable[[], float] = thread_time
    begun: float | None = None
    count: int = 0
    phase: Progress | None = None
    stopped: bool = False

    def tick(self) -> None:
        """Count a little work.

        Raises:
            OutOfTimeError: the time is over.
        """
        self.count += 1
        if self.count % _EVERY == 0:
            self.look()

    def look(self) -> None:
        """Report how far it is, and look at the clock.

        Raises:
            OutOfTimeError: the time is over.
        """
        if self.phase is not None:
            self.on_progress(self.phase)
        if self.is_over():
            raise OutOfTimeError

    def is_over(self) -> bool:
        """Whether the time is over."""
        if not self.seconds or self.begun is None:
            return False
        return self.clock() - self.begun > self.seconds


_current: ContextVar[Watch | None] = ContextVar("watch", default=None)
_inside: ContextVar[bool] = ContextVar("inside", default=False)


@contextmanager
def watching(watch: Watch | None) -> Iterator[None]:
    """What is done inside is watched; None: by who watches already, if anyone does."""
    if watch is None:
        yield
        return
    watch.begun, watch.phase, watch.stopped = watch.clock(), None, False
    token, outer = _current.set(watch), _inside.set(False)
    try:
        yield
    finally:
        _current.reset(token)
        _inside.reset(outer)


@contextmanager
def phase(name: str, total: int) -> Iterator[Callable[[int], None]]:
    """A phase of what is watched: takes how much of it is done. A phase inside another one is part
    of that one, and reports nothing."""
    watch = _current.get()
    if watch is None or _inside.get():
        yield lambda _: None
        return

    def done(count: int) -> None:
        watch.phase = Progress(name, count, total)
        watch.on_progress(watch.phase)

    token = _inside.set(True)
    try:
        done(0)
        yield done
    finally:
        watch.phase = None
        _inside.reset(token)


def look() -> None:
    """Stop here if the time of what is watched is over.

    Raises:
        OutOfTimeError: it is.
    """
    watch = _current.get()
    if watch is not None:
        watch.look()


def tick() -> None:
    """Count a little work of what is watched.

    Raises:
        OutOfTimeError: the time is over.
    """
    watch = _current.get()
    if watch is not None:
        watch.tick()


def show_limit() -> str:
    """The time that what is watched may take, as in "10 s"."""
    watch = _current.get()
    return "no time" if watch is None or watch.seconds is None else f"{watch.seconds:g} s"
