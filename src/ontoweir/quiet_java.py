"""Start Java without its greeting: stderr is for what is wrong."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_GREETING = b"WARNING: Using incubator modules: "


@contextmanager
def without_greeting() -> Iterator[None]:
    """Processes started in this block write to stderr through a filter that drops Java's note on
    the incubator modules that Spark asks for; no option of Java turns it off.

    The filter lives as long as these processes; everything else passes at once.
    """
    try:
        stderr = os.dup(2)
    except OSError:  # there is no stderr
        yield
        return
    reader, writer = os.pipe()
    threading.Thread(target=_filter, args=(reader, os.dup(stderr)), daemon=True).start()
    sys.stderr.flush()
    os.dup2(writer, 2)
    os.close(writer)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(stderr, 2)
        os.close(stderr)


def _filter(reader: int, stderr: int) -> None:
    with open(reader, "rb", buffering=0) as lines, open(stderr, "wb", buffering=0) as out:
        while chunk := lines.read(65_536):
            kept = [x for x in chunk.splitlines(keepends=True) if not x.startswith(_GREETING)]
            out.write(b"".join(kept))
