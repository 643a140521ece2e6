"""A task runs beside the main thread: what it returns and raises is the same, and who is
interrupted while waiting for it ends it."""

import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ontoweir.runtime.replay import run_here
from ontoweir.runtime.replay.ranges.replay_range import PreparedWork
from ontoweir.runtime.replay.ranges.run_aside import run_aside


def test_what_a_task_returns_and_tells() -> None:
    told: list[str] = []

    def task(tell: Callable[[], None]) -> str:
        tell()
        tell()
        return threading.current_thread().name

    name = run_aside(task, lambda: told.append("once"))
    assert name.startswith("ontoweir-task")
    assert told == ["once", "once"]


def test_what_a_task_raises() -> None:
    def task(tell: Callable[[], None]) -> None:
        raise BrokenPipeError("gone")

    with pytest.raises(BrokenPipeError, match="gone"):
        run_aside(task, lambda: None)


def test_what_telling_raises() -> None:
    def refuse() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run_aside(lambda tell: tell(), refuse)


@pytest.fixture
def heard() -> Iterator[None]:
    """SIGINT interrupts, also where a shell that starts this in the background has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard")
def test_an_interrupted_wait_ends_the_task() -> None:
    """The task would never end by itself."""
    main = threading.main_thread()
    assert main.ident is not None
    threads: list[threading.Thread] = []

    def task(tell: Callable[[], None]) -> None:
        threads.append(threading.current_thread())
        signal.pthread_kill(main.ident or 0, signal.SIGINT)
        while True:
            tell()

    with pytest.raises(KeyboardInterrupt):
        run_aside(task, lambda: None)
    assert not threads[0].is_alive()


def test_tasks_of_this_process_do_not_run_in_the_main_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    work: Any = None  # nobody looks at it
    task: Any = None
    monkeypatch.setattr(run_here, "prepare_work", lambda work: PreparedWork(work, (), {}))
    monkeypatch.setattr(run_here, "run_task", lambda *_: threading.current_thread())
    with run_here.in_process(work) as run:
        threads: list[Any] = list(run([task, task], lambda: None))
    assert len(threads) == 2
    assert threading.main_thread() not in threads
