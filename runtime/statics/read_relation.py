"""Read a static relation's local CSV files without Spark; many rows are mapped to memory."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa

from ontoweir.mappings.model.catalog import Relation
from ontoweir.runtime.sources.read_source import Located, drop_empty
from ontoweir.runtime.spark.materialize_frame import LARGEST_COLLECTED, not_written
from ontoweir.runtime.text.convert_text import NotPlain
from ontoweir.runtime.text.read_text import read_text_rows


def read_relation(
    relation: Relation, located: Located, find_folder: Callable[[], Path]
) -> pa.Table | None:
    """All rows in their declared types, with BAD, as read_source and Spark give them.

    Args:
        relation: what is declared.
        located: its files.
        find_folder: gives a folder for rows that take much memory.

    Returns:
        None: only Spark is certain to read these files as Spark does.

    Raises:
        DataError: a file lacks a column or cannot be read.
        RunError: the disk does not take them.
    """
    if relation.data.format != "csv" or not located.files:
        return None
    files = drop_empty(relation.data, located.files)
    held: list[pa.Table] = []
    size = 0
    coming = _read(relation, files)
    try:
        for table in coming:
            held.append(table)
            size += table.nbytes
            if size >= LARGEST_COLLECTED:
                return _map_rows(held, coming, find_folder())
    except NotPlain:
        return None
    return pa.concat_tables(held) if held else None


def _read(relation: Relation, files: list[str]) -> Iterator[pa.Table]:
    for file in files:
        yield from read_text_rows(relation.data, file, relation.columns, None)


def _map_rows(held: list[pa.Table], coming: Iterator[pa.Table], folder: Path) -> pa.Table:
    """The rows as an Arrow file, mapped and removed: the system keeps pages while they are used."""
    whole = str(folder / "text.arrow")
    schema = held[0].schema
    try:
        with pa.OSFile(whole, "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            while held:
                writer.write_table(held.pop(0))
            for table in coming:
                writer.write_table(table)
        table = pa.ipc.open_file(pa.memory_map(whole)).read_all()
    except OSError as error:
        raise not_written(folder, error) from None
    finally:
        if os.path.exists(whole):
            os.unlink(whole)
    return table
