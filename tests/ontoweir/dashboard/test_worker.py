"""The worker: one job after another, and none when it is closed."""

from concurrent.futures import CancelledError
from threading import Event
from typing import Any

import pytest

from ontoweir.dashboard.worker import Worker
from ontoweir.errors import UsageError


def test_close_ends_the_job_under_way_and_leaves_out_the_others() -> None:
    worker = Worker(limit=1e6)
    running = Event()
    progress: Any = None

    def work() -> None:
        running.set()
        while True:
            worker.on_progress(progress)

    first = worker.start(work)
    running.wait()
    others = [worker.start(lambda: None) for _ in range(4)]  # no room is left to wake it
    worker.close()
    assert not worker.thread.is_alive()
    with pytest.raises(UsageError, match="is being stopped"):
        first.result()
    for other in others:
        with pytest.raises(CancelledError):
            other.result()
    with pytest.raises(UsageError, match="is being stopped"):
        worker.do(lambda: None)


def test_close_wakes_a_worker_that_waits() -> None:
    worker = Worker(limit=1e6)
    assert worker.do(lambda: 1) == 1
    worker.close()
    assert not worker.thread.is_alive()
