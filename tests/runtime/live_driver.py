"""A live run in a process of its own that kills itself: `live_driver.py FOLDER STAGE BATCH`."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import ontoweir.runtime.run_live as module
from ontoweir.run_options import RunOptions
from ontoweir.running import run_queries
from tests.runtime.test_run_live import QUERIES, open_queries


def kill_at(stage: str, batch: int) -> None:
    """Wrap what a micro-batch calls, so that the batch-th call of a stage is the last."""
    calls = 0

    def wrap(name: str, *, before: bool) -> None:
        whole: Callable[..., Any] = getattr(module, name)

        def wrapped(*arguments: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            if before and calls == batch:
                os.kill(os.getpid(), signal.SIGKILL)
            made = whole(*arguments, **named)
            if not before and calls == batch:
                os.kill(os.getpid(), signal.SIGKILL)
            return made

        setattr(module, name, wrapped)

    match stage:
        case "after-read":
            wrap("advance_live", before=True)
        case "in-kernel":
            wrap("advance_live", before=False)
        case "before-commit":
            wrap("commit_batch", before=True)
        case "after-commit":
            wrap("commit_batch", before=False)
        case "after-publish":
            wrap("_publish", before=False)
        case _:
            assert stage == "never"


def main() -> None:
    """Run to the end, unless killed."""
    folder, stage, batch = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    kill_at(stage, batch)
    workspace, compiled = open_queries(folder, list(QUERIES))
    options = RunOptions(folder / "check", folder / "out", once=True, progress=False)
    run_queries(workspace, compiled, options)


if __name__ == "__main__":
    main()
