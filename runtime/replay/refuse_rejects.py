"""Refuses a replay that rejected most of a stream for one reason: the declaration is wrong, not the
data."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import Stream
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.runtime.located.data_files import local_path
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.times.late_rows import LateRows, late_reason
from ontoweir.runtime.times.suggest_format import suggest_format
from ontoweir.runtime.verified.find_wrong import WrongDeclaration, find_wrong

_SAMPLE = 20


def refuse_rejects(histories: Sequence[History], rejected: Mapping[str, int]) -> None:
    """Nothing, if no reason rejected half of a stream's rows.

    Args:
        histories: of the streams, which have been read.
        rejected: how many rows were rejected, by reason.

    Raises:
        DataError: one did; with the declaration that would read them.
    """
    for wrong in find_wrong([(h.stream, h.rows + h.late.rows) for h in histories], rejected):
        stream = wrong.stream
        history = next(h for h in histories if h.stream == stream)
        seen = _sample(history) if wrong.is_time else []
        raise DataError(
            f"{wrong}, such as {seen[0]!r}" if seen else str(wrong),
            why="where half or more have one thing wrong, the declaration is, and answers over the "
            "rest would mislead; nothing is written",
            fix=_suggest(wrong, seen, history.late),
            source=stream.source,
        )


def _suggest(wrong: WrongDeclaration, seen: Sequence[str], late: LateRows) -> str:
    if wrong.reason == late_reason(wrong.stream):
        return f'declare lateness = "{show_duration(late.needed_us)}", which all of them keep'
    if not wrong.is_time:
        return "correct what the catalog declares of it: the type, domain, key or reference"
    form = suggest_format(seen)
    if form is None:
        return 'say how it is written: timestamp = { …, format = "%d/%m/%Y %H:%M:%S" }'
    fix = f'declare timestamp = {{ column = "{wrong.stream.timestamp}", …, format = "{form}" }}'
    return f"{fix}, if the day comes first" if form.startswith("%d/%m") else fix


def _sample(history: History) -> list[str]:
    """Some timestamps as a file has them, where it can be looked at here."""
    if len(history.stream.time_columns) > 1 or not history.pieces:
        return []
    (name,) = history.stream.time_columns
    shown = local_path(history.pieces[0].shown)
    path = next((p for p in _files(Path(shown)) if p.is_file()), None)
    try:
        texts = [] if path is None else list(islice(_values(path, name, history.stream), _SAMPLE))
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        pa.ArrowException,
    ):
        return []  # it only makes the message better; a time of no year has no text
    return [t for t in texts if t]


def _files(path: Path) -> Iterator[Path]:
    yield path
    if path.is_dir():
        yield from sorted(path.rglob("*"))


def _values(path: Path, name: str, stream: Stream) -> Iterator[str]:
    match stream.data.format:
        case "csv":
            with path.open(newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    yield row[name]
        case "json":
            with path.open(encoding="utf-8") as file:
                for line in file:
                    yield str(json.loads(line)[name])
        case "parquet":
            with pq.ParquetFile(path) as opened:
                cells = opened.read_row_group(0, columns=[name]).column(name)
                if pa.types.is_timestamp(cells.type):  # Python's end at microseconds
                    cells = cells.cast(pa.string())
                for cell in cells.to_pylist():
                    yield "" if cell is None else str(cell)
        case _:
            return
