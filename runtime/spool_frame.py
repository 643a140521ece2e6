"""The rows of a DataFrame as a table that is mapped to memory: Spark's tasks write it to files."""

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def spool_frame(frame: "DataFrame") -> pa.Table:
    """All rows, in the order of the partitions, without collecting them in this process.

    Tasks write Parquet to a temporary folder; what they wrote is turned into one Arrow file, a
    batch at a time, which is mapped and removed: the system keeps its pages only while they are
    used.
    Where the tasks run on machines with another temporary folder, the rows are collected.

    Raises:
        PySparkException: Spark cannot read the data, or a task cannot write.
    """
    from pyspark.sql import Observation
    from pyspark.sql import functions as fn

    frame.sparkSession.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    folder = Path(tempfile.mkdtemp(prefix="ontoweir-static-"))
    try:
        seen = Observation()
        frame.observe(seen, fn.count(fn.lit(1)).alias("rows")).write.parquet(str(folder / "parts"))
        parts = sorted((folder / "parts").glob("part-*.parquet"))
        if not parts or sum(pq.read_metadata(p).num_rows for p in parts) != seen.get["rows"]:
            return frame.toArrow()
        schema = pq.read_schema(parts[0]).remove_metadata()
        file = str(folder / "rows.arrow")
        with pa.OSFile(file, "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            for part in parts:
                with pq.ParquetFile(part) as opened:
                    for batch in opened.iter_batches():
                        writer.write_batch(batch.replace_schema_metadata(None))
                part.unlink()
        return pa.ipc.open_file(pa.memory_map(file)).read_all()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
