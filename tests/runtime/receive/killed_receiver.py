"""A receiver that is killed: `killed_receiver.py PROJECT written|acknowledged N`: at the N-th
time that it is about to write messages to the disk, or to acknowledge those that are there."""

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from ontoweir.project.project import load_project
from ontoweir.runtime.receive import receive_stream as module
from ontoweir.runtime.receive.journal import Journal


def main(project: str, what: str, times: int) -> None:
    """Receive until then."""
    (stream,) = load_project(Path(project), environ={}).catalog.streams.values()
    owner: Any = Journal if what == "written" else module._Connection
    name = "append" if what == "written" else "acknowledge"
    usual, left = getattr(owner, name), [times]

    def deadly(self: Any, *given: Any) -> None:
        if what == "written" or self.unacknowledged:
            left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        usual(self, *given)

    setattr(owner, name, deadly)
    options = module.ReceiveOptions(every=0.01)
    module.receive_stream(stream, options, threading.Event())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
