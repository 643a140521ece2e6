"""Run the parts of a replay: the first in this process, each of the others in one of its own.

Where no other thread could be halfway through something (and on Linux), processes are forked off:
modules, plans and static relations are there. Else they start anew.
"""

import os
import pickle
import signal
import subprocess
import sys
import time
import traceback
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
from ontoweir.runtime.replay.parts.hand_over import ROWS
from ontoweir.runtime.replay.parts.may_fork import may_fork
from ontoweir.runtime.replay.parts.replay_part import replay_part
from ontoweir.runtime.replay.ranges.replay_range import PreparedWork, prepare_work
from ontoweir.runtime.replay.ranges.run_aside import run_aside
from ontoweir.runtime.spark.explain_java import describe_cause

_AHEAD = 2
"""Chunks that are handed over to a part and not used yet, at most."""
_PAUSE = 0.005
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
    children: list[subprocess.Popen[bytes] | _Forked] = []
    try:
        keep_pages()
        if may_fork():
            prepared = prepare_work(work)
            for part in range(1, division.parts):
                children.append(_fork(prepared, division, part, folder))
        else:
            _write_work(work, division, folder)
            for part in range(1, division.parts):
                children.append(_start(folder, part))
            prepared = prepare_work(work)

        def on_chunk() -> None:
            _check(children, folder)
            look()
            while len(list(folder.glob(f"*{ROWS}"))) > _AHEAD * len(children):
                _check(children, folder)
                time.sleep(_PAUSE)

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
            f"the replay failed: {describe_cause(error)}",
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
    place = Path(folder)
    keep_pages()

    def prepare() -> tuple[PreparedWork, Division]:
        work, division = pickle.loads(_work_file(place).read_bytes())
        return prepare_work(open_statics(work)), division

    if not _run_part(prepare, part, place, os.getppid()):
        sys.exit(1)


def _run_part(
    prepare: "Callable[[], tuple[PreparedWork, Division]]", part: int, folder: Path, parent: int
) -> bool:
    """Whether a part comes to its end."""

    def on_chunk() -> None:
        if os.getppid() != parent:  # nobody is there any more who wants the answers
            os._exit(1)

    try:
        prepared, division = prepare()
        run_aside(partial(replay_part, prepared, division, part, folder), on_chunk)
    except OntoweirError as error:
        failure = describe_failure(error)
        scratch = _failure_file(folder, part).with_suffix(".writing")
        scratch.write_bytes(pickle.dumps(failure))
        scratch.rename(_failure_file(folder, part))
        return False
    return True


class _Forked:
    """A process that was forked off, as Popen has those that it starts."""

    def __init__(self, process: int) -> None:
        self.process = process
        self.code: int | None = None

    def poll(self) -> int | None:
        """What it ended with (None: it runs)."""
        return self._look(os.WNOHANG)

    def wait(self) -> int | None:
        """What it ends with."""
        return self._look(0)

    def kill(self) -> None:
        """End it."""
        os.kill(self.process, signal.SIGKILL)

    def _look(self, how: int) -> int | None:
        if self.code is None:
            ended, status = os.waitpid(self.process, how)
            self.code = os.waitstatus_to_exitcode(status) if ended else None
        return self.code


def _fork(prepared: PreparedWork, division: Division, part: int, folder: Path) -> _Forked:
    """A process for a part, which has what this one has. Ctrl-C ends it without a word."""
    parent = os.getpid()
    log = os.open(_log_file(folder, part), os.O_CREAT | os.O_WRONLY)
    child = os.fork()
    if child:
        os.close(log)
        return _Forked(child)
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.dup2(log, 1)
        os.dup2(log, 2)
        code = 0 if _run_part(lambda: (prepared, division), part, folder, parent) else 1
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


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


def _check(children: "Sequence[subprocess.Popen[bytes] | _Forked]", folder: Path) -> None:
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
