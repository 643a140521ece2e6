"""What asks the process to end (SIGTERM) ends it as Ctrl-C does: nothing is half written."""

import os
import signal
from types import FrameType


class Terminated(KeyboardInterrupt):
    """The system asked the process to end."""


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
