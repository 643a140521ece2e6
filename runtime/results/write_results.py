"""Write results chunk by chunk, to appear whole or not at all."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol, Self, TypeAlias, assert_never

import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq

from ontoweir.errors import RunError, Source, UsageError
from ontoweir.files.find_output import (
    FileOutput,
    FoundOutput,
    StreamOutput,
    choose_mode,
    find_output,
    name_scratch,
    open_stream,
)
from ontoweir.runtime.packed.write_avro import AvroWriter, require_names
from ontoweir.runtime.rdf.encode_rows import RowEncoder, name_scope
from ontoweir.runtime.rdf.find_terms import AnswerTerms, RdfFormat
from ontoweir.runtime.results.join_parquet import ParquetJoiner
from ontoweir.runtime.results.plain_json import plain_json

OutputFormat: TypeAlias = Literal["parquet", "csv", "jsonl", "arrow", "avro"] | RdfFormat
"""How results are written."""


_COMPRESSION = "zstd"
_SAMPLE = 4_096
"""Rows that are looked at to see whether a column's values repeat."""


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


class TableWriter(Protocol):
    """Writes tables of one schema."""

    def write_table(self, table: pa.Table) -> None:
        """Append rows."""

    def close(self) -> None:
        """Write what is left."""


class RowSink(Protocol):
    """Takes results: tables of rows, or files that write_part wrote."""

    @property
    def rows(self) -> int:
        """Rows taken."""

    def write(self, table: pa.Table) -> None:
        """Append rows."""

    def append(self, file: Path) -> None:
        """Append the rows of a file."""


class ResultWriter:
    """Results: a file, written next to its place and moved there by `commit`; or a pipe or a
    character device, written to as they come.

    Raises:
        UsageError: the place is neither, or cannot be written; or Parquet is wanted in a pipe; or a
            column has a name that the format does not have.
    """

    def __init__(
        self,
        output: Path,
        form: OutputFormat,
        schema: pa.Schema,
        terms: AnswerTerms | None = None,
    ) -> None:
        self.output, self.form, self.schema = output, form, schema
        self._rows = 0
        if form == "avro":
            require_names(schema.names)
        self._place = find_output(output)
        self._temporary: Path | None = None
        self._stream = ExitStack()
        self._sink = self._open_sink(self._place)
        self._parquet: pq.ParquetWriter | None = None
        self._joiner: ParquetJoiner | None = None
        self._tables = self._open_tables()
        self._rdf: RowEncoder | None = None
        if form == "srj" or form == "nq":
            terms = terms or AnswerTerms()
            self._rdf = RowEncoder(form, schema, terms, name_scope(terms.name))
            self._sink.write(self._rdf.begin().encode())

    @property
    def rows(self) -> int:
        """Rows written."""
        return self._rows

    @property
    def beside(self) -> Path:
        """The folder that the file is in; of a pipe, that of temporary files."""
        match self._place:
            case FileOutput(path=path):
                return path.parent
            case StreamOutput():
                return Path(tempfile.gettempdir())

    def _open_sink(self, place: FoundOutput) -> pa.NativeFile:
        try:
            match place:
                case FileOutput(path=path):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    handle, name = tempfile.mkstemp(prefix=name_scratch(path), dir=path.parent)
                    os.close(handle)
                    self._temporary = Path(name)
                    return pa.OSFile(name, "wb")
                case StreamOutput():
                    if self.form == "parquet":
                        raise refuse_parquet(self.output)
                    opened = self._stream.enter_context(open_stream(place))
                    return pa.PythonFile(opened, "w")
        except OSError as error:
            raise UsageError(
                f"the output {self.output} cannot be written: {error.strerror}",
                why="results are first written beside it",
                fix="choose another place, or its permissions",
            ) from error

    def _open_tables(self) -> "TableWriter | None":
        """What takes tables of rows as they come. Arrow has a format for files, which can be read
        from any place, and one for pipes."""
        writer: TableWriter | None = None
        match self.form:
            case "csv":
                writer = pcsv.CSVWriter(self._sink, self.schema)
            case "avro":
                writer = AvroWriter(self._sink, self.schema)
            case "arrow":
                whole = isinstance(self._place, FileOutput)
                writer = (pa.ipc.new_file if whole else pa.ipc.new_stream)(self._sink, self.schema)
            case "parquet" | "jsonl" | "srj" | "nq":
                pass
            case _:
                assert_never(self.form)
        return writer

    def write(self, table: pa.Table) -> None:
        """Append rows.

        Raises:
            RunError: they cannot be written.
        """
        if table.num_rows == 0:
            return
        self._rows += table.num_rows
        with self._guarded():
            self._write(table)

    def _write(self, table: pa.Table) -> None:
        match self.form:
            case "parquet":
                self._writer(table).write_table(table)
            case "csv" | "arrow" | "avro":
                assert self._tables is not None
                self._tables.write_table(table)
            case "jsonl":
                for batch in table.to_batches(max_chunksize=65_536):
                    lines = [
                        json.dumps(row, default=plain_json, ensure_ascii=False)
                        for row in batch.to_pylist()
                    ]
                    self._sink.write(("\n".join(lines) + "\n").encode())
            case "srj" | "nq":
                assert self._rdf is not None
                for portion in self._rdf.portions(table):
                    self._sink.write(portion)
            case _:
                assert_never(self.form)

    def append(self, file: Path) -> None:
        """Append the rows of a Parquet file that `write_part` wrote, without decoding them. All of
        a Parquet output's rows come by this, or all by `write`."""
        assert self.form == "parquet"
        assert self._parquet is None
        with self._guarded():
            if self._joiner is None:
                self._joiner = ParquetJoiner(self._sink)
            self._rows += self._joiner.add(file)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """What the system does not let be written is reported with the place.

        Raises:
            RunError: that is so; but whoever reads a pipe may have enough of it.
        """
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise RunError(
                f"cannot write the output: {error.strerror or error}",
                why="a file that was there before is intact",
                fix="make room, or choose another place",
                source=Source(str(self.output)),
            ) from error

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
        """Finish the file and put it in its place.

        Raises:
            RunError: it cannot be written.
        """
        with self._guarded():
            self._commit()

    def _commit(self) -> None:
        if self._joiner is not None:
            self._joiner.finish()
        elif self.form == "parquet":
            self._writer(self.schema.empty_table())
        elif self._rdf is not None:
            self._sink.write(self._rdf.end().encode())
        self._close()
        match self._place:
            case FileOutput() as place:
                assert self._temporary is not None
                os.chmod(self._temporary, choose_mode(place))
                os.replace(self._temporary, place.path)
            case StreamOutput():
                self._stream.close()

    def _close(self) -> None:
        for part in (self._parquet, self._tables):
            if part is not None:
                part.close()
        self._parquet = self._tables = None
        if isinstance(self._place, FileOutput) and not self._sink.closed:
            self._sink.close()  # a stream is its own: standard output stays open

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with ExitStack() as rest:
            if kind is not None:  # what cannot be written cannot be finished either
                rest.enter_context(suppress(OSError))
                if self.form == "arrow":  # its end would say that all is there
                    self._tables = None
            rest.callback(self._stream.close)
            if self._temporary is not None:
                rest.callback(self._temporary.unlink, missing_ok=True)
            self._close()


def refuse_parquet(output: Path) -> UsageError:
    """The error of Parquet that is to go through a pipe."""
    return UsageError(
        f"Parquet cannot be written to {output}",
        why="it is not a file, and Parquet is complete only at its end",
        fix="write --format csv, jsonl, arrow or avro, or name a file",
        source=Source("--output"),
    )
