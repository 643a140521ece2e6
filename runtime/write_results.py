"""Write results chunk by chunk, to appear whole or not at all."""

import json
import os
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self, assert_never

import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq

from ontoweir.errors import UsageError
from ontoweir.runtime.join_parquet import ParquetJoiner
from ontoweir.runtime.replay_job import OutputFormat

_COMPRESSION = "zstd"
_SAMPLE = 4_096
"""Rows that tell whether a column's values repeat."""


def write_part(table: pa.Table, file: str) -> None:
    """Write rows as a Parquet file that `ResultWriter.append` takes."""
    pq.write_table(table, file, compression=_COMPRESSION, use_dictionary=repeating_columns(table))


def repeating_columns(table: pa.Table) -> list[str]:
    """The columns for which a dictionary pays: of the first rows, at most a quarter are distinct.
    For others it costs more than the whole rest of writing, and makes the file larger."""
    sample = table.slice(0, _SAMPLE)
    return [
        name
        for name, column in zip(sample.column_names, sample.columns, strict=True)
        if 4 * len(column.unique()) <= len(column)
    ]


class ResultWriter:
    """A file of results, written beside its place and moved there by `commit`.

    Raises:
        UsageError: the place is a folder, or cannot be written.
    """

    def __init__(self, output: Path, form: OutputFormat, schema: pa.Schema) -> None:
        self.output, self.form, self.schema = output, form, schema
        self.rows = 0
        if output.is_dir():
            raise UsageError(
                f"the output {output} is a folder",
                why="results are written to one file",
                fix=f"name a file, e.g. --output {output / 'results'}.{form}",
            )
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=f".{output.name}.", dir=output.parent)
        except OSError as error:
            raise UsageError(
                f"the output {output} cannot be written: {error.strerror}",
                why="results are first written beside it",
                fix="choose another place, or its permissions",
            ) from error
        os.close(handle)
        self._temporary = Path(name)
        self._sink = pa.OSFile(name, "wb")
        self._parquet: pq.ParquetWriter | None = None
        self._joiner: ParquetJoiner | None = None
        self._csv = pcsv.CSVWriter(self._sink, schema) if form == "csv" else None

    def write(self, table: pa.Table) -> None:
        """Append rows."""
        if table.num_rows == 0:
            return
        self.rows += table.num_rows
        match self.form:
            case "parquet":
                self._writer(table).write_table(table)
            case "csv":
                assert self._csv is not None
                self._csv.write_table(table)
            case "jsonl":
                for batch in table.to_batches(max_chunksize=65_536):
                    lines = [
                        json.dumps(row, default=plain_json, ensure_ascii=False)
                        for row in batch.to_pylist()
                    ]
                    self._sink.write(("\n".join(lines) + "\n").encode())
            case _:
                assert_never(self.form)

    def append(self, file: Path) -> None:
        """Append the rows of a Parquet file that `write_part` wrote, without decoding them. All of
        a Parquet output's rows come by this, or all by `write`."""
        assert self.form == "parquet"
        assert self._parquet is None
        if self._joiner is None:
            self._joiner = ParquetJoiner(self._sink)
        self.rows += self._joiner.add(file)

    def _writer(self, table: pa.Table) -> pq.ParquetWriter:
        assert self._joiner is None
        if self._parquet is None:
            self._parquet = pq.ParquetWriter(
                self._sink,
                self.schema,
                compression=_COMPRESSION,
                use_dictionary=repeating_columns(table),
            )
        return self._parquet

    def commit(self) -> None:
        """Finish the file and put it in its place."""
        if self._joiner is not None:
            self._joiner.finish()
        elif self.form == "parquet":
            self._writer(self.schema.empty_table())
        self._close()
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(self._temporary, 0o666 & ~mask)
        os.replace(self._temporary, self.output)

    def _close(self) -> None:
        for part in (self._parquet, self._csv):
            if part is not None:
                part.close()
        self._parquet = self._csv = None
        if not self._sink.closed:
            self._sink.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._close()
        finally:
            self._temporary.unlink(missing_ok=True)


def plain_json(value: object) -> str:
    """Times as ISO 8601, decimals as their digits: text loses nothing."""
    shown = getattr(value, "isoformat", None)
    return str(shown()).replace("+00:00", "Z") if shown is not None else str(value)
