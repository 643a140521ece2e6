"""The rows that rules reject, in files, for who asks for the rejected rows of a replay."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.ingest.admit_rows import Admitted

_END = ".broken"
_AT = "__at"
_STREAM, _REASON = b"stream", b"reason"


@dataclass(frozen=True, slots=True)
class BrokenRows:
    """Rows of a stream that were rejected for one reason, with their timestamps (µs)."""

    stream: str
    reason: str
    rows: pa.Table
    times: Array


def keep_broken(
    folder: Path,
    now: int | None,
    admitted: Mapping[str, Admitted],
    rejected: Sequence[tuple[str, str, Array]],
) -> None:
    """Write the rows of a chunk that rules reject, if there are any.

    Args:
        folder: where they are written.
        now: the last timestamp of the chunk, in µs.
        admitted: what was admitted before.
        rejected: by stream and reason, their places among that.
    """
    for number, (name, reason, places) in enumerate(rejected):
        index = pa.array(places)
        table = admitted[name].table.take(index)
        times = pa.array(admitted[name].times[places])
        said = {_STREAM: name.encode(), _REASON: reason.encode()}
        table = table.append_column(_AT, times).replace_schema_metadata(said)
        file = folder / f"{now or 0:020d}-{number}{_END}"
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)


def read_broken(folder: Path) -> Iterator[BrokenRows]:
    """What was written into folders of a folder, in the order of time."""
    for file in sorted(folder.glob(f"*/*{_END}"), key=lambda path: path.name):
        with pa.ipc.open_file(pa.BufferReader(file.read_bytes())) as reader:
            table = reader.read_all()
        said = table.schema.metadata
        times = table.column(_AT).to_numpy()
        rows = table.drop_columns([_AT]).replace_schema_metadata(None)
        yield BrokenRows(said[_STREAM].decode(), said[_REASON].decode(), rows, times)
