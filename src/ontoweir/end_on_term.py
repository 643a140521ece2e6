"""What asks the process to end (SIGTERM) ends it as Ctrl-C does: nothing is half written."""

import os
import signal
import threading
from types import FrameType


class Terminated(KeyboardInterrupt):
    """The system asked the process to end."""


class StopEvent(threading.Event):
    """Is set when the process is asked to end (SIGTERM, Ctrl-C), once what it stops has `begun`.
    Before that, Terminated or KeyboardInterrupt is raised, as there is nothing to finish: Spark
    takes seconds to start, and minutes if it downloads packages."""

    begun = False

    def hear(self, number: int, _: object) -> None:
        """What signals call, in the main thread."""
        if number == signal.SIGINT and (not self.begun or self.is_set()):
            raise KeyboardInterrupt  # the second one does not wait
        begun, self.begun = self.begun, True  # another one does not interrupt how it ends
        if not begun:
            raise Terminated
        self.set()


def begin(stop: threading.Event | None) -> None:
    """From now on there is something to finish: what asks for the end sets the event."""
    if isinstance(stop, StopEvent):
        stop.begun = True
        if signal.getsignal(signal.SIGTERM) == stop.hear:  # it is what the process hears by
            signal.signal(signal.SIGINT, stop.hear)  # PySpark had put another in its place


def end_on_term() -> None:
    """Let SIGTERM raise Terminated in the main thread; a second one ends the process at once, and
    one in a process that was forked off ends that at once. A live run hears it itself."""
    own = os.getpid()

    def end(number: int, _: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if os.getpid() != own:
            os.kill(os.getpid(), number)
        raise Terminated

    signal.signal(signal.SIGTERM, end)
