"""Run a task in a thread of its own, while the main one waits.

Arrow's jemalloc gives what the main thread frees in arrays of 8 MB and more back to the system at
once, whatever it is told to keep (measured with pyarrow 26.0.1); so each of them there is made of
new pages, and to be given these takes longer than to fill them. In other threads pages are used
again.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event
from typing import TypeVar

_Result = TypeVar("_Result")
_LOOK_SECONDS = 0.2
"""How long to wait at once: a signal that comes just before Python begins to wait is seen only when
the wait is over."""


class _Stopped(BaseException):
    """Nobody waits for the task any more."""


def run_aside(
    task: Callable[[Callable[[], None]], _Result], on_progress: Callable[[], None]
) -> _Result:
    """What a task returns. If whoever waits is interrupted, the task ends when it tells its
    progress next, and is waited for.

    Args:
        task: is given what tells its progress.
        on_progress: called when it does.

    Raises:
        BaseException: what the task raises.
    """
    stopped = Event()

    def tell() -> None:
        if stopped.is_set():
            raise _Stopped
        on_progress()

    with ThreadPoolExecutor(1, thread_name_prefix="ontoweir-task") as pool:
        try:
            pool.submit(stopped.is_set).result()  # a thread is waited for once it has started
            future = pool.submit(task, tell)
            while not wait([future], _LOOK_SECONDS).done:
                pass
            return future.result()
        except BaseException:
            stopped.set()
            raise
