"""Put a Parquet file of answers into a Delta table, in one transaction."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.errors import RunError, Source, UsageError
from ontoweir.runtime.times.give_zone import give_zone

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


def name_application(query: str) -> str:
    """By what name a Delta table knows the live run of a query, whose last micro-batch it notes."""
    return f"ontoweir:{query}"


@contextmanager
def putting_table(place: str) -> Iterator[str]:
    """A Parquet file that is to be written, whose rows are then all that a table has: it is made,
    or replaced, in one transaction.

    Args:
        place: the table's folder, or its address in an object store.

    Raises:
        UsageError: there is something else; or deltalake is not installed.
        RunError: the table cannot be reached, or written; it is as it was before.
    """
    _require(place)
    with tempfile.TemporaryDirectory(prefix="ontoweir-table-") as folder:
        file = Path(folder, "answers.parquet")
        yield str(file)
        _put(file, place)


def refuse_live_table(place: str, query: str) -> None:
    """Refuse the table of a live run of a query, which would go on with other rows in it.

    Raises:
        UsageError: it is one.
        RunError: it cannot be reached.
    """
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        there = DeltaTable.is_deltatable(place)
        live = there and DeltaTable(place).transaction_version(name_application(query)) is not None
    except (DeltaError, OSError, ValueError) as error:
        raise _failed(place, error) from error
    if live:
        raise _refused(place, f"a live run of {query} writes into it", "name another one")


def _require(place: str) -> None:
    if find_spec("deltalake") is None:
        raise UsageError(
            "answers in a Delta table need deltalake, which is not installed",
            why="it is optional for ontoweir",
            fix="pip install 'ontoweir[delta]', or pip install deltalake",
            source=Source("--format"),
        )
    if place == "-" or not place:
        raise _refused(place, "a table is a folder of files", "name one, or an address")
    if "://" in place:
        return
    folder, fix = Path(place), "name a folder that is not there, or a Delta table"
    if folder.exists() and not folder.is_dir():
        raise _refused(place, "that is a file", fix)
    if not folder.absolute().parent.is_dir():
        raise _refused(place, f"there is no folder {folder.absolute().parent}", "make it")
    if folder.is_dir() and not (folder / "_delta_log").is_dir() and any(folder.iterdir()):
        raise _refused(place, "the folder has something else", fix)


def _put(file: Path, place: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from deltalake import write_deltalake
    from deltalake.exceptions import DeltaError

    try:
        with pq.ParquetFile(file) as answers:
            schema = give_zone(answers.schema_arrow.empty_table()).schema
            rows = pa.RecordBatchReader.from_batches(schema, _read(answers))
            write_deltalake(place, rows, mode="overwrite", schema_mode="overwrite")
    except (DeltaError, OSError, ValueError, pa.ArrowException) as error:
        raise _failed(place, error) from error


def _read(answers: "pq.ParquetFile") -> "Iterator[pa.RecordBatch]":
    for group in range(answers.num_row_groups):
        yield from give_zone(answers.read_row_group(group)).to_batches()


def _refused(place: str, why: str, fix: str) -> UsageError:
    what = f"cannot write the Delta table {place}"
    return UsageError(what, why=why, fix=fix, source=Source("--output"))


def _failed(place: str, error: Exception) -> RunError:
    said = next((x.strip() for x in str(error).splitlines() if x.strip()), "it fails")[:300]
    return RunError(
        f"the Delta table {place} cannot be written: {said}",
        why="a table that was there before is as it was",
        fix="check the place, and what the environment says of the store, or name another",
        source=Source("--output"),
    )
