"""How much Python runs: lines and calls of this project, counted whatever the machine's speed."""

import sys
import threading
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

from tests.paths import ROOT

_OURS = (str(ROOT / "runtime"), str(ROOT / "src" / "ontoweir"), str(ROOT / "mappings"))


def count_steps(work: Callable[[], object]) -> Counter[str]:
    """By place, how often the lines of functions, and of loops in them, ran while something was
    done, in any thread: what goes row by row shows as many steps as there are rows."""
    steps: Counter[str] = Counter()

    def local(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            steps[f"{frame.f_code.co_filename}:{frame.f_lineno}"] += 1
        return local

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        steps[f"{frame.f_code.co_filename}:{frame.f_code.co_qualname}"] += 1
        return local if frame.f_code.co_filename.startswith(_OURS) else None

    before = sys.gettrace()
    threading.settrace(trace)
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
        threading.settrace(None)
    return steps
