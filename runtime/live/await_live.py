"""Wait for the end of a live run, or stop it."""

import contextlib
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from ontoweir.runtime.live.model.live_errors import java_gone, stopped

if TYPE_CHECKING:
    from ontoweir.runtime.live.run_live import LiveRun


def await_live(
    run: "LiveRun",
    stop: threading.Event | None = None,
    mask: Callable[[str], str] = str,
) -> None:
    """Wait for the end of a run: that of its input, an error, or `stop`. `mask` takes secrets out
    of Spark's messages.

    Raises:
        OntoweirError: the error that ended it.
    """
    while not wait_live(run, 1.0, mask):
        if stop is not None and stop.is_set():
            stop_live(run)
            return


def wait_live(run: "LiveRun", seconds: float, mask: Callable[[str], str] = str) -> bool:
    """Whether a run ends within so many seconds.

    Raises:
        OntoweirError: the error that ended it.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import StreamingQueryException

    try:
        if run.taker.is_worn and run.taker.failed is None:
            run.rotate()
        run.watch_listing()
        # with a timeout: without one, the call would keep Spark from calling foreachBatch back
        over = bool(run.query.awaitTermination(seconds))  # type: ignore[arg-type]  # takes parts
        return over and not run.taker.is_worn
    except StreamingQueryException as error:
        if run.taker.failed is not None:
            raise run.taker.failed from None
        if run.taker.closed:
            return True  # it has been asked to stop, between two micro-batches
        # all of it, since the logger of our sessions leaves it out
        print(mask(str(error)), file=sys.stderr)
        lines = [x.strip() for x in str(error).splitlines() if x.strip()]
        raise stopped(mask(lines[0][:300])) from None
    except (Py4JError, ConnectionError, EOFError):
        raise java_gone() from None


def stop_live(run: "LiveRun") -> None:
    """Stop a run; when this returns, nothing of it writes any more."""
    from py4j.protocol import Py4JError

    run.taker.closed = True
    for _ in range(2):  # it may go on from new logs at this moment
        with contextlib.suppress(Py4JError, ConnectionError, EOFError):  # its Java process has gone
            run.query.stop()
        run.taker.close()
