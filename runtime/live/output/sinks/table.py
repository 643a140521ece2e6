"""Answers as a table of what holds: one row for each key, replaced by later ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ontoweir.errors import RunError, Source, UsageError
from ontoweir.files.replace_file import replace_file
from ontoweir.runtime.live.checkpoint.sync_files import sync_files
from ontoweir.runtime.live.output.sinks.sink import MessageSink, SinkKind, tell_gone

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_BATCH = b"ontoweir.batch"
_HOLDS = "_holds"


@dataclass(frozen=True)
class TableSink(MessageSink):
    """A Parquet file for each query, `folder/<query>.parquet`, with the rows that hold after the
    last micro-batch, which its metadata numbers: so each is taken once. It is replaced as a whole:
    who reads it sees one state or the next. Its cost is that of all its rows."""

    irrevocable: ClassVar[bool] = True
    folder: Path
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    there: set[str] = field(default_factory=set, compare=False)

    def describe(self, query: str) -> str:
        """The file."""
        return str(self._place(query).absolute())

    def begin(self, query: str) -> None:
        """Refuse the table of another run: of a new run nothing is there.

        Raises:
            UsageError: there is one.
        """
        place = self._place(query)
        if place.exists():
            raise UsageError(
                f"the table {place} is of another run",
                why="the checkpoint is new, and rows that it does not know would stay",
                fix="name another --output, or move the file away",
                source=Source(str(place)),
            )

    def publish(
        self, query: str, batch: int, answers: "pa.Table", spark: "SparkSession | None"
    ) -> None:
        """Put what has changed into the table."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        from ontoweir.runtime.live.output.upserts.reduce_changes import reduce_changes

        place = self._place(query)
        try:
            before = pq.read_table(place) if place.exists() else None
            if before is None and query in self.there:
                tell_gone(f"the table {place}", holds=True)
            self.there.add(query)
            if before is not None and int(before.schema.metadata[_BATCH]) >= batch:
                return
            changed = reduce_changes(answers, self.keys[query])
            held = [] if before is None else [before.replace_schema_metadata(None)]
            rows = changed.rows.replace_schema_metadata(None)
            # what was held is an update, too, of the time before
            holds = [pa.array([True] * t.num_rows, pa.bool_()) for t in held]
            whole = pa.concat_tables([*held, rows])
            kept = pa.chunked_array([*holds, changed.holds])
            marked = whole.append_column(_HOLDS, kept)
            last = reduce_changes(marked, self.keys[query]).rows
            table = last.filter(last.column(_HOLDS)).drop_columns([_HOLDS])
            table = table.replace_schema_metadata({_BATCH: str(batch).encode()})
            sink = pa.BufferOutputStream()
            pq.write_table(table, sink)
            place.parent.mkdir(parents=True, exist_ok=True)
            replace_file(place, sink.getvalue().to_pybytes(), durable=True)
            # before the commit says that it is published: after a power cut it would stay behind
            sync_files([place.parent, place.parent.parent])
        except (OSError, pa.ArrowException, KeyError, TypeError) as error:
            raise RunError(
                f"the table {place} cannot be brought up to date: {error}",
                why="its answers are committed, but not where they belong yet",
                fix="make room, or restore the table, and start again",
            ) from error

    def _place(self, query: str) -> Path:
        return self.folder / f"{query}.parquet"


def _make(folder: Path, options: Mapping[str, str]) -> TableSink:
    return TableSink(folder)


TABLE = SinkKind("table", "a Parquet file with the row of each group that holds", _make)
