"""A topic without a broker: the rows of Parquet files that have arrived, in two partitions."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ontoweir.runtime.live.arrivals.ingest import FAULT
from ontoweir.runtime.live.arrivals.read_stream import STREAM
from ontoweir.runtime.live.model.row_places import OFFSET, PARTITION
from ontoweir.runtime.live.topics import topic_span
from ontoweir.runtime.live.topics.open_topic import Histories, split_rows
from ontoweir.runtime.sources.conform_rows import RAW
from ontoweir.runtime.sources.read_source import BAD

COLUMNS = pa.schema(
    [("ts", pa.timestamp("us")), ("k", pa.int64()), ("a", pa.int64()), ("note", pa.string())]
)


class TopicHere:
    """The topic of one stream, of the same name. Each row is in the partition of its place among
    all; the row at `end` in one, and a heartbeat then in the other. `read`: how many times messages
    were asked for again; `first`: the first offset that is still there."""

    def __init__(self, name: str, folder: Path, end: int) -> None:
        self.name, self.folder, self.end = name, folder, end
        self.read = self.first = 0

    def messages(self) -> list[pa.Table]:
        """The messages that are there, of each partition."""
        files = sorted(self.folder.iterdir(), key=lambda f: f.stat().st_mtime_ns)
        whole = pa.concat_tables([COLUMNS.empty_table(), *map(pq.read_table, files)])
        last = pc.equal(whole["ts"].cast(pa.int64()), self.end * 1_000_000)
        even = pa.array([n % 2 == 0 for n in range(whole.num_rows)], pa.bool_())
        beat = whole.filter(last).slice(0, 1)
        names = [n for n in whole.column_names if n != "ts"]
        for name in names:
            place, form = beat.column_names.index(name), beat.schema.field(name).type
            beat = beat.set_column(place, name, pa.nulls(beat.num_rows, form))
        first = whole.filter(pc.or_(even, last))
        return [first, pa.concat_tables([whole.filter(pc.invert(pc.or_(even, last))), beat])]

    def ends(self) -> Sequence[int]:
        """How many messages each partition has."""
        return [part.num_rows for part in self.messages()]

    def offsets(self, ends: Sequence[int]) -> str:
        """Offsets as Spark writes them."""
        return json.dumps({self.name: {str(n): last for n, last in enumerate(ends)}})

    def frame(self, histories: Histories, start: Sequence[int], end: Sequence[int]) -> pa.Table:
        """The messages from offsets up to others, as Spark gives them for an intake."""
        parts = []
        for number, rows in enumerate(self.messages()):
            first, last = start[number], end[number]
            mine = rows.slice(first, last - first)
            count = mine.num_rows
            made: dict[str, Any] = {
                STREAM: pa.array([self.name] * count, pa.string()),
                PARTITION: pa.array([f"{self.name}/{number}"] * count, pa.string()),
                OFFSET: pa.array(range(first, first + count), pa.int64()),
            }
            for key, history in histories.items():
                for name in history.columns:
                    if name != "ts":
                        made[f"{key}.{name}"] = mine[name]
                made[f"{key}.ts"] = mine["ts"].cast(pa.timestamp("us")).cast(pa.int64())
                for mark in (BAD, FAULT, RAW):
                    made[f"{key}.{mark}"] = pa.nulls(count, pa.string())
            parts.append(pa.table(made))
        return pa.concat_tables(parts)

    def stand_in(self, patch: Callable[[object, str, object], None] = setattr) -> None:
        """From now on messages that are read again are these. `patch`: sets an attribute."""

        def read_range(
            spark: Any, histories: Histories, start: Mapping[str, int], end: Mapping[str, int]
        ) -> dict[str, pa.Table]:
            self.read += 1
            parts = [f"{self.name}/{n}" for n in (0, 1)]
            assert all(start[p] >= self.first for p in parts)
            span = [start[p] for p in parts], [end[p] for p in parts]
            return split_rows(self.frame(histories, *span), histories)

        def list_earliest(spark: Any, stream: Any, partitions: list[str]) -> dict[str, int]:
            return dict.fromkeys(partitions, self.first)

        def list_latest(spark: Any, stream: Any, partitions: list[str]) -> dict[str, int]:
            return {f"{self.name}/{n}": last for n, last in enumerate(self.ends())}

        def list_partitions(spark: Any, stream: Any) -> list[str]:
            return [f"{self.name}/{n}" for n in range(len(self.ends()))]

        for made in (read_range, list_earliest, list_latest, list_partitions):
            patch(topic_span, made.__name__, made)
