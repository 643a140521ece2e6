"""One thread that runs long jobs, one after another, each with a time limit."""

import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import suppress
from queue import Empty, Full, Queue
from threading import Thread
from typing import Any, TypeVar

from ontoweir.errors import UsageError
from ontoweir.progress.progress import Progress

T = TypeVar("T")
_WAITING = 4
"""Jobs that may wait; fewer than the server has threads, so that pages go on."""


class Worker:
    """Runs jobs in a thread of its own: requests wait for them, the server does not.

    A job that is not done after `limit` seconds ends at its next progress report, and its request
    stops waiting. Close it before the process ends: an interpreter that ends while a thread is in
    a parser's native code aborts, or never ends.
    """

    def __init__(self, limit: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit, self.clock = limit, clock
        self.deadline = float("inf")
        self.jobs: Queue[tuple[Future[Any], Callable[[], Any]]] = Queue(_WAITING)
        self.closed = False
        self.thread = Thread(target=self._work, name="ontoweir checks", daemon=True)
        self.thread.start()

    def start(self, job: Callable[[], T]) -> "Future[T]":
        """Queue a job after those that wait.

        Raises:
            UsageError: too many wait, or the worker is closed.
        """
        if self.closed:
            raise _stopped()
        future: Future[T] = Future()
        try:
            self.jobs.put_nowait((future, job))
        except Full:
            raise UsageError(
                "too many checks are waiting",
                why="checks run one after another",
                fix="try again in a moment",
            ) from None
        return future

    def close(self) -> None:
        """End the job under way at its next progress report, leave out those that wait, and
        return when the thread has ended."""
        self.closed = True
        with suppress(Full):  # else it looks after the next job anyway
            self.jobs.put_nowait((Future(), _nothing))
        self.thread.join()

    def do(self, job: Callable[[], T]) -> T:
        """Wait for a job.

        Raises:
            UsageError: too many wait, or it took longer than the limit.
        """
        future = self.start(job)
        try:
            return future.result(self.limit + 1.0)
        except (NotYet, CancelledError):
            future.cancel()
            raise self._late() from None

    def on_progress(self, progress: Progress) -> None:
        """Called periodically by a job.

        Raises:
            UsageError: the job has had its time, or the worker is closed.
        """
        if self.closed:
            raise _stopped()
        if self.clock() > self.deadline:
            raise self._late()

    def _late(self) -> UsageError:
        return UsageError(
            f"the check took longer than {self.limit:g} s",
            why="checks of the dashboard have a time limit, because others wait",
            fix="make the query smaller, or check it by `ontoweir check`",
        )

    def _work(self) -> None:
        while True:
            future, job = self.jobs.get()
            if self.closed:
                future.cancel()
                break
            if not future.set_running_or_notify_cancel():
                continue
            self.deadline = self.clock() + self.limit
            try:
                future.set_result(job())
            except BaseException as error:
                future.set_exception(error)
            self.deadline = float("inf")
        with suppress(Empty):
            while True:
                self.jobs.get_nowait()[0].cancel()


def _nothing() -> None:
    """The job that wakes a worker."""


def _stopped() -> UsageError:
    return UsageError(
        "the dashboard is being stopped",
        why="its process ends, and no check begins any more",
        fix="start it again with `ontoweir ui`",
    )
