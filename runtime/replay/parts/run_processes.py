"""Run the parts of a replay: the first in this process, each of the others in one of its own."""

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa

from ontoweir.errors import OntoweirError, RunError
from ontoweir.runtime.division.division import Division
from ontoweir.runtime.division.store_statics import open_statics, store_statics
from ontoweir.runtime.division.task_failure import TaskFailure, describe_failure
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.replay.keep_pages import keep_pages
from ontoweir.runtime.replay.parts.replay_part import replay_part
from ontoweir.runtime.replay.ranges.replay_range import prepare_work
from ontoweir.runtime.replay.ranges.run_aside import run_aside

_PAUSE = 0.02
"""Seconds between two looks at what other processes have written."""
_START = (
    "import sys; from ontoweir.runtime.replay.parts.run_processes import run_child; "
    "run_child(sys.argv[1], int(sys.argv[2]))"
)


def run_processes(
    work: ExecutionContext,
    division: Division,
    folder: Path,
    look: Callable[[], bool],
) -> None:
    """Run all parts, and look at what they have written until that is all.

    Args:
        work: what is replayed.
        division: of its rows.
        folder: where parts write, and find what they replay.
        look: is called again and again; whether all is there.

    Raises:
        OntoweirError: a part ended with it.
        RunError: a process died.
    """
    children: list[subprocess.Popen[bytes]] = []
    try:
        _write_work(work, division, folder)
        for part in range(1, division.parts):
            children.append(_start(folder, part))
        keep_pages()

        def on_chunk() -> None:
            _check(children, folder)
            look()

        prepared = prepare_work(work)
        run_aside(partial(replay_part, prepared, division, 0, folder), on_chunk)
        while not look():
            _check(children, folder)
            time.sleep(_PAUSE)
        for child in children:
            child.wait()
    except (OSError, MemoryError, pa.ArrowException) as error:
        if isinstance(error, BrokenPipeError):
            raise  # whoever read the answers has enough of them
        raise RunError(
            f"the replay failed: {type(error).__name__}: {str(error)[:300]}",
            why="the parts of a history are replayed by processes, which exchange files",
            fix="make room, or restore what is missing, and start again",
        ) from error
    finally:
        for child in children:
            if child.poll() is None:
                child.kill()
            child.wait()


def run_child(folder: str, part: int) -> None:
    """Replay a part, in a process of its own; an error of ours is left in a file."""
    place, parent = Path(folder), os.getppid()
    keep_pages()

    def on_chunk() -> None:
        if os.getppid() != parent:  # nobody is there any more who wants the answers
            os._exit(1)

    try:
        work, division = pickle.loads(_work_file(place).read_bytes())
        prepared = prepare_work(open_statics(work))
        run_aside(partial(replay_part, prepared, division, part, place), on_chunk)
    except OntoweirError as error:
        failure = describe_failure(error)
        scratch = _failure_file(place, part).with_suffix(".writing")
        scratch.write_bytes(pickle.dumps(failure))
        scratch.rename(_failure_file(place, part))
        sys.exit(1)


def _write_work(work: ExecutionContext, division: Division, folder: Path) -> None:
    _work_file(folder).write_bytes(pickle.dumps((store_statics(work, folder), division)))


def _start(folder: Path, part: int) -> "subprocess.Popen[bytes]":
    """A process for a part, which finds modules where this one does."""
    path = os.pathsep.join(p for p in sys.path if p)
    with _log_file(folder, part).open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-c", _START, str(folder), str(part)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "PYTHONPATH": path},
        )


def _check(children: "Sequence[subprocess.Popen[bytes]]", folder: Path) -> None:
    """Raise the error that a process ended with."""
    for part, child in enumerate(children, 1):
        code = child.poll()
        if not code:
            continue
        failed = _failure_file(folder, part)
        if failed.exists():
            failure: TaskFailure = pickle.loads(failed.read_bytes())
            raise failure.error
        lines = _log_file(folder, part).read_text(errors="replace").strip().splitlines()
        raise RunError(
            f"a process that replays a part of the history ended with {code}: "
            f"{lines[-1][:300] if lines else 'it said nothing'}",
            why="the replay cannot go on without its part",
            fix="start again with `--parts 1`, which needs no other process; if memory was short, "
            "with fewer parts",
        )


def _work_file(folder: Path) -> Path:
    return folder / "work"


def _failure_file(folder: Path, part: int) -> Path:
    return folder / f"{part:04d}.failure"


def _log_file(folder: Path, part: int) -> Path:
    return folder / f"{part:04d}.log"
