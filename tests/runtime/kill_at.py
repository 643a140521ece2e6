"""Kill this process, kill -9, at a stage of a micro-batch: by what Python calls, wherever it is."""

import io
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

STAGES = (
    "after-read",
    "in-kernel",
    "before-state-commit",
    "in-state-commit",
    "after-state-commit",
    "before-output-commit",
    "after-output-commit",
    "after-batch",
    "at-the-disk",
)

_ADVANCE = ("advance_kernel", "advance_tables")
_DISK = frozenset(
    ("rename", "replace", "fsync", "fdatasync", "unlink", "remove", "rmdir", "mkdir", "link")
) | {"open", "write", "writelines", "flush", "close", "truncate", "ftruncate", "copy_file_range"}
"""What changes a disk, or what is known to be on it."""


def kill_at(stage: str, count: int, kill: Callable[[], None] | None = None) -> None:
    """From now on, in all threads to come, the `count`-th time that a stage is reached is the last.

    `in-kernel` is any call, also of numpy's and Arrow's own functions, from within the kernel's
    advance: `count` says how deep in it. `at-the-disk` is any call that changes a file or a folder.
    """
    if stage == "never":
        return
    reached = 0

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal reached
        if _is_at(stage, frame, event, argument):
            reached += 1
            if reached == count:
                if kill is None:
                    os.kill(os.getpid(), signal.SIGKILL)
                else:
                    kill()

    threading.setprofile(profile)
    sys.setprofile(profile)


def _is_at(stage: str, frame: FrameType, event: str, argument: Any) -> bool:
    code = frame.f_code
    match stage:
        case "after-read":
            return event == "call" and code.co_name == "advance_live"
        case "in-kernel":
            return event in ("call", "c_call") and _is_in_kernel(frame)
        case "before-state-commit":
            return event == "call" and code.co_name == "commit_batch"
        case "in-state-commit":
            return event == "c_call" and code.co_name == "commit_batch" and argument is os.rename
        case "after-state-commit":
            return event == "c_return" and code.co_name == "commit_batch" and argument is os.rename
        case "before-output-commit":
            return event == "c_call" and argument is os.replace and _puts_part(frame)
        case "after-output-commit":
            return event == "c_return" and argument is os.replace and _puts_part(frame)
        case "at-the-disk":  # before and behind: commit, publish, restore, check and rotate
            if event not in ("c_call", "c_return") or argument.__name__ not in _DISK:
                return False
            owner = getattr(argument, "__self__", None)  # not str.replace
            return isinstance(owner, ModuleType | io.IOBase)
        case "after-batch":
            return event == "return" and code.co_qualname == "BatchProcessor.advance"
        case _:
            raise ValueError(stage)


def _puts_part(frame: FrameType | None) -> bool:
    """Whether a file of answers is put into its place."""
    for _ in range(5):
        if frame is not None and frame.f_code.co_name == "put_part":
            return True
        frame = None if frame is None else frame.f_back
    return False


def _is_in_kernel(frame: FrameType | None) -> bool:
    """Whether the kernel advances a plan: its calls are at most so deep."""
    for _ in range(16):
        if frame is None:
            return False
        code = frame.f_code
        if code.co_name in _ADVANCE and code.co_filename.endswith("runtime/kernel/kernel.py"):
            return True
        frame = frame.f_back
    return False
