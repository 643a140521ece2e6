"""The rows of a DataFrame as a table that is mapped to memory: Spark's tasks write it to files."""

import os
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.errors import RunError
from ontoweir.runtime.spark.write_parquet import write_parquet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LARGEST_COLLECTED = 64 << 20
"""Bytes from which on rows are mapped to memory, not collected."""
_CELL = 8
"""About the bytes of a cell."""
_PLAIN = frozenset(
    ("tinyint", "smallint", "int", "bigint", "float", "double", "string", "binary", "boolean")
) | {"date", "timestamp", "timestamp_ntz"}
"""The types that Parquet gives back as Spark's collecting does; decimals are, too."""


def materialize_frame(frame: "DataFrame", folder: Path) -> pa.Table:
    """All rows, in the order of the partitions, without collecting them in this process.

    Tasks write Parquet to the folder, which driver and tasks have to see; what they wrote is turned
    into one Arrow file, a batch at a time, which is mapped and removed: the system keeps its pages
    only while they are used. Where the driver does not see it, rows that are not many are
    collected; and so are types that no column is declared to have (arrays …).

    Raises:
        PySparkException: Spark cannot read the data, or a task cannot write.
        RunError: there is no room; or the driver does not see what tasks have written, and there
            are many rows.
    """
    from pyspark.sql import Observation
    from pyspark.sql import functions as fn

    names = frame.columns
    kinds = [kind for _, kind in frame.dtypes]
    if not all(k in _PLAIN or k == "void" or k.startswith("decimal") for k in kinds):
        return frame.toArrow()
    # Parquet's names differ by more than case, and it has no type of what is NULL everywhere
    plain = frame.toDF(*[f"c{n}" for n in range(len(names))])
    for name, kind in zip(plain.columns, kinds, strict=True):
        if kind == "void":
            plain = plain.withColumn(name, fn.lit(None).cast("string"))
    place, observation = folder / uuid.uuid4().hex, Observation()
    counted = plain.observe(observation, fn.count(fn.lit(1)).alias("rows"))
    # Spark's own file system may be another
    write_parquet(counted, f"file://{place.absolute()}")
    parts = sorted(place.glob("part-*.parquet"))
    rows = observation.get["rows"]
    if not parts or sum(pq.read_metadata(p).num_rows for p in parts) != rows:
        if rows * len(names) * _CELL < LARGEST_COLLECTED:
            return frame.toArrow()
        raise not_written(folder, "the driver does not see what tasks have written there")
    try:
        return _join(parts, str(place / "rows.arrow")).rename_columns(names)
    except OSError as error:
        raise not_written(folder, error) from None


def not_written(folder: Path, error: OSError | str) -> RunError:
    """The error of a place where the rows of static relations cannot be exchanged."""
    because = error if isinstance(error, str) else error.strerror or str(error)
    return RunError(
        f"the rows of a static relation cannot be written to {folder}: {because}",
        why="tasks write the rows of relations that may be large, in a folder beside the output",
        fix="make room, or name an --output on a file system that driver and workers share",
    )


def _join(parts: Sequence[Path], whole: str) -> pa.Table:
    """The rows of Parquet files as one Arrow file, mapped; all are removed."""
    schema = pq.read_schema(parts[0]).remove_metadata()
    with pa.OSFile(whole, "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for part in parts:
            with pq.ParquetFile(part) as opened:
                for batch in opened.iter_batches():
                    writer.write_batch(batch.replace_schema_metadata(None))
            part.unlink()
    table = pa.ipc.open_file(pa.memory_map(whole)).read_all()
    os.unlink(whole)
    return table
