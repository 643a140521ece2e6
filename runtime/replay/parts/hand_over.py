"""The rows of a chunk that one process reads, in a file for each other part, which maps it."""

import pickle
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from ontoweir.files.replace_file import replacing
from ontoweir.runtime.chunks.read_chunk import Chunk
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.times.steps import Steps

ROWS = ".rows"
"""How the names of these files end; whoever has read one removes it."""
_PAUSE = 0.005
"""Seconds between two looks for a file."""
_TIMES = "-times-"
_ALIGNED = 64


def give_rows(folder: Path, part: int, number: int, chunk: Chunk, rows: "Rows") -> None:
    """Write the rows of a part in a chunk."""
    about = {n: (a.steps.step_us, a.marks, a.filled) for n, a in rows.items()}
    head = pickle.dumps((replace(chunk, slices={}), about))
    head += b" " * (-(len(head) + 8) % _ALIGNED)
    with (
        replacing(_rows_file(folder, part, number), shared=True) as scratch,
        pa.OSFile(str(scratch), "wb") as sink,
    ):
        sink.write(len(head).to_bytes(8, "little"))
        sink.write(head)
        for admitted in rows.values():
            table = _write_out(admitted.table).append_column(_TIMES, pa.array(admitted.times))
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)


def take_rows(
    folder: Path, part: int, number: int, on_wait: Callable[[], None]
) -> tuple[Chunk, dict[str, Admitted]]:
    """The rows of a part in a chunk, when they are there. `on_wait` is called meanwhile."""
    file = _rows_file(folder, part, number)
    while not file.exists():
        on_wait()
        time.sleep(_PAUSE)
    with pa.memory_map(str(file)) as source:
        head = source.read(int.from_bytes(source.read(8), "little"))
        chunk, about = pickle.loads(head)
        found = {}
        for name, (step_us, marks, filled) in about.items():
            table = pa.ipc.open_stream(source).read_all()
            pieces = [np.zeros(0, np.int64), *(c.to_numpy() for c in table[_TIMES].chunks)]
            times = pieces[1] if len(pieces) == 2 else np.concatenate(pieces)
            steps = Steps(times, step_us)
            table = table.drop_columns([_TIMES])
            read = len(times)
            found[name] = Admitted(steps, times, table, read, {}, marks=marks, filled=filled)
    return chunk, found


def drop_rows(folder: Path, part: int, number: int) -> None:
    """The rows of a chunk have been used."""
    _rows_file(folder, part, number).unlink()


Rows = Mapping[str, Admitted]


def _rows_file(folder: Path, part: int, number: int) -> Path:
    return folder / f"{part:04d}-{number:08d}{ROWS}"


def _write_out(table: pa.Table) -> pa.Table:
    """A table whose texts are written out where the texts of all parts are more than its rows."""
    for place, column in enumerate(table.columns):
        if not pa.types.is_dictionary(column.type):
            continue
        if sum(len(chunk.dictionary) for chunk in column.chunks) > table.num_rows:
            name = table.column_names[place]
            table = table.set_column(place, name, column.cast(column.type.value_type))
    return table
