"""Read a file of Arrow or Avro, or a table of Delta or Iceberg, whole, as answers are looked at."""

from collections.abc import Callable, Collection, Iterator
from importlib.util import find_spec
from typing import Literal, assert_never

import pyarrow as pa

from ontoweir.errors import DataError, Source, UsageError
from ontoweir.runtime.packed.packed_file import PackedFile
from ontoweir.runtime.packed.read_arrow import read_batches
from ontoweir.runtime.packed.read_packed import PACKAGES


def read_whole(file: str, form: Literal["arrow", "avro", "delta", "iceberg"]) -> Iterator[pa.Table]:
    """All rows, some at a time; one table at least, which has the columns.

    Raises:
        DataError: it is no such file or table; or one with values that are not plain.
        UsageError: the package that reads it is not installed.
        OSError: Arrow cannot read it.
        ValueError: it is cut off.
    """
    match form:
        case "arrow":
            yield from _read_arrow(file)
        case "avro" | "delta" | "iceberg":
            yield from _read_packed(file, form)
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


def _read_packed(file: str, form: Literal["avro", "delta", "iceberg"]) -> Iterator[pa.Table]:
    read = _find_reader(file, form)
    held = read(file, ())
    if held.nested:
        name, what = next(iter(held.nested.items()))
        raise DataError(
            f"its column {name} is of the type {what}",
            why="answers have a plain value in each column",
            fix="name what `replay` or `run` has written, or a file or table of plain columns",
            source=Source(file),
        )
    yield held.schema.empty_table()
    yield from read(file, held.schema.names).rows


def _find_reader(
    file: str, form: Literal["avro", "delta", "iceberg"]
) -> Callable[[str, Collection[str]], PackedFile]:
    """What reads some columns of a file or table."""
    _require(file, form)
    match form:
        case "avro":
            from ontoweir.runtime.packed.read_avro import read_avro

            return read_avro
        case "delta":
            from ontoweir.runtime.packed.read_delta import read_delta

            return lambda path, names: read_delta(path, (), names)
        case "iceberg":
            from ontoweir.runtime.packed.read_iceberg import read_iceberg

            return lambda path, names: read_iceberg(path, (), names)
        case _:
            assert_never(form)


def _require(file: str, form: Literal["avro", "delta", "iceberg"]) -> None:
    package = PACKAGES[form]
    if find_spec(package) is None:
        raise UsageError(
            f"answers in {form.capitalize()} need {package}, which is not installed",
            why="it is optional for ontoweir",
            fix=f"pip install 'ontoweir[{form}]', or pip install {package}",
            source=Source(file),
        )
