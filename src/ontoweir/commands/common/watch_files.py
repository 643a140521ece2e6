"""Run something again whenever files change."""

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

OFTEN = 0.5
"""Seconds between two looks at the files."""
_SKIPPED = {"data", "out", "node_modules", "__pycache__"}
"""Folders that hold no text of a project's."""
_TEXTS = {
    *(
        ".toml",
        ".rq",
        ".sparql",
        ".rspql",
        ".csparql",
        ".starql",
        ".sql",
        ".ttl",
        ".owl",
        ".obda",
        ".nt",
        ".rdf",
        ".ofn",
        ".owx",
    ),
    *(".xml", ".py"),
}
_MOST = 5_000
"""So many files are looked at."""


def watch_files(
    run: Callable[[], int],
    places: Iterable[Path],
    *,
    rounds: int | None = None,
    wait: Callable[[float], None] = time.sleep,
) -> int:
    """Run something, and again after each change of a project's texts, until Ctrl-C.

    Args:
        run: what is run; its exit code.
        places: files, and folders whose texts are watched (queries, mappings, ontologies, catalog).
        rounds: stop after so many runs (None: never).
        wait: waits for some seconds.

    Returns:
        the last exit code.
    """
    known = list(places)
    while True:
        seen = _look(known)
        code = run()
        rounds = None if rounds is None else rounds - 1
        if rounds == 0:
            return code
        print(f"exit code {code}; watching {len(seen):,} files (Ctrl-C ends)", file=sys.stderr)
        sys.stdout.flush()
        while _look(known) == seen:
            wait(OFTEN)


def _look(places: Iterable[Path]) -> dict[Path, tuple[int, int]]:
    """The files, each with when it was changed, and its size."""
    found: dict[Path, tuple[int, int]] = {}
    open_places = list(places)
    while open_places and len(found) < _MOST:
        place = open_places.pop()
        try:
            if place.is_dir():
                inside = place.iterdir()
                open_places += [
                    p
                    for p in inside
                    if not p.name.startswith(".")
                    and (p.suffix.lower() in _TEXTS or (p.is_dir() and p.name not in _SKIPPED))
                ]
                continue
            state = place.stat()
        except OSError:
            continue  # it is gone, which is a change
        found[place] = (state.st_mtime_ns, state.st_size)
    return found
