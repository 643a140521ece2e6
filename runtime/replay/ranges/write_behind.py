"""Do in another thread what need not be waited for: writing answers while the next are found."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager


@contextmanager
def write_behind() -> Iterator[Callable[[Callable[[], None]], None]]:
    """What takes jobs, which are done in order, one at a time. It waits until the one before is
    done, so that little waits in memory, and raises what that raised; so does the end."""
    waiting: list[Future[None]] = []

    def do(job: Callable[[], None]) -> None:
        settle()
        waiting.append(pool.submit(job))

    def settle() -> None:
        while waiting:
            waiting.pop().result()

    with ThreadPoolExecutor(1, thread_name_prefix="ontoweir-write") as pool:
        yield do
        settle()
