"""Read a file of Arrow or Avro with all columns that it has, as answers are looked at."""

from collections.abc import Iterator
from typing import Literal, assert_never

import pyarrow as pa

from ontoweir.errors import DataError, Source
from ontoweir.runtime.packed.read_arrow import read_batches


def read_whole(file: str, form: Literal["arrow", "avro"]) -> Iterator[pa.Table]:
    """All rows, some at a time; one table at least, which has the columns.

    Raises:
        DataError: it is no such file; or it is one of Avro whose values are no columns.
        UsageError: fastavro is not installed.
        OSError: Arrow cannot read it.
        ValueError: it is cut off.
    """
    match form:
        case "arrow":
            yield from _read_arrow(file)
        case "avro":
            yield from _read_avro(file)
        case _:
            assert_never(form)


def _read_arrow(file: str) -> Iterator[pa.Table]:
    with pa.OSFile(file) as source:
        whole = source.read(6) == b"ARROW1"
        source.seek(0)
        opened = pa.ipc.open_file(source) if whole else pa.ipc.open_stream(source)
        yield opened.schema.empty_table()
        for batch in read_batches(source, whole=whole):
            yield pa.Table.from_batches([batch])


def _read_avro(file: str) -> Iterator[pa.Table]:
    from ontoweir.runtime.packed.read_avro import read_avro
    from ontoweir.runtime.packed.write_avro import require_avro

    require_avro(file)
    held = read_avro(file, ())
    if held.nested:
        name, what = next(iter(held.nested.items()))
        raise DataError(
            f"its column {name} is of the type {what}",
            why="answers have a plain value in each column",
            fix="name a file that `replay` or `run` has written, or one of plain columns",
            source=Source(file),
        )
    yield held.schema.empty_table()
    yield from read_avro(file, held.schema.names).rows
