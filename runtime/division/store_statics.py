"""Hand large static relations to tasks as files, which all workers of a machine map to memory."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from ontoweir.errors import RunError
from ontoweir.runtime.engine.execution import ExecutionContext

LARGEST_PICKLED = 16 << 20
"""Bytes of a static relation's columns in use from which on it is handed over as a file."""


def store_statics(work: ExecutionContext, folder: Path) -> ExecutionContext:
    """The work as tasks get it: large relations are in Arrow files in a folder that all see."""
    small = {n: t for n, t in work.statics.items() if t.nbytes < LARGEST_PICKLED}
    stored = []
    for number, (name, table) in enumerate(work.statics.items()):
        if name not in small:
            file = str(folder / f"static-{number}.arrow")
            with pa.OSFile(file, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
            stored.append((name, file))
    return replace(work, statics=small, stored=tuple(stored))


def open_statics(work: ExecutionContext) -> ExecutionContext:
    """The work with all static relations; those in files are mapped, not copied.

    Raises:
        RunError: a file is not there.
    """
    if not work.stored:
        return work
    opened = dict(work.statics)
    for name, file in work.stored:
        try:
            opened[name] = pa.ipc.open_file(pa.memory_map(file)).read_all()
        except OSError as error:
            raise RunError(
                f"{file} is not there, which holds the static relation {name}",
                why="driver and workers exchange static relations in a folder beside the output",
                fix="write --output to a file system that all of them see",
            ) from error
    return replace(work, statics=opened, stored=())
